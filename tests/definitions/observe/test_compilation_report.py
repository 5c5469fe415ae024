"""Compilations as data for display: plain records that hold no arrays and cannot be changed."""

import dataclasses

import pytest

import nxkernel as nx
from nxkernel.definitions.observe.compilation_report import CompilationView, KernelView, NodeView


@pytest.mark.parametrize("kind", [CompilationView, KernelView, NodeView])
def test_records_are_frozen(kind):
    fields = dataclasses.fields(kind)
    record = kind(*[None] * len(fields))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, fields[0].name, 1)


def test_a_compilation_is_told_in_full():
    f = nx.jit(lambda t: nx.exp(t) + 1, compiler="numba_cpu")
    f(nx.iota((5,), type="f32"))
    (view,) = f.compilations()
    assert [(node.id, node.label, node.operands) for node in view.nodes if node.role != "constant"] == [
        ("a", "t", ()),
        ("b", "exp", ("a",)),
        ("c", "add", ("b", next(node.id for node in view.nodes if node.role == "constant"))),
    ]
    (kernel,) = view.kernels
    assert (kernel.kind, kernel.title, kernel.moved) == ("map", "map of 5, 1 read, 1 write", 40)
    assert kernel.symbol.startswith("nxk_")
    assert kernel.operations >= 10
    assert sorted(kernel.texts) == ["LLVM", "Numba source", "assembly"]
    assert view.lower_ms > 0


def test_the_evaluator_has_no_kernels():
    f = nx.jit(lambda t: t + 1)
    f(1.0)
    (view,) = f.compilations()
    assert (view.kernels, view.compiler) == ((), "evaluator")
