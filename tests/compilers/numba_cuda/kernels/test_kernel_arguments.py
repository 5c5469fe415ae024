"""What kernels of nests take, and where elements are."""

import pytest

import nxkernel as nx
from emulated_gpu.loop_nests import planned_nests
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import KernelArguments, total


def arguments(function, *specs):
    (step,) = planned_nests(graph_of(function, *specs)).steps
    return KernelArguments(step.work)


def test_pointers_and_then_scalars():
    found = arguments(lambda x, y: x * 2.0 + nx.transpose(y), spec("f32", 7, 5), spec("f32", 5, 7))
    assert found.names == ["a", "b", "d", "n0", "n1", "a_0", "a_1", "c0"]
    assert found.values == [7, 5, 1, 7, 2.0]
    assert found.sizes == [7, 5]
    assert found.parameters == ("f32*", "f32*", "f32*", "s64", "s64", "s64", "s64", "f32")
    assert [offset for _, offset in found.memory] == [0, 0, 0]


def test_half_width_and_complex_numbers():
    found = arguments(lambda x: x * 2.0, spec("bf16", 7))
    assert (found.parameters[0], found.parameters[-1]) == ("u16*", "f32")
    found = arguments(lambda x: x * (2 + 3j), spec("c64", 7))
    assert (found.parameters[0], found.parameters[-2:], found.values[-2:]) == ("f32*", ("f32", "f32"), [2.0, 3.0])


def test_where_elements_are():
    found = arguments(lambda x: nx.reverse(x, axes=[1])[:, ::2] + 1.0, spec("f32", 7, 9))
    # The last element of the first row is the first that is read.
    assert found.values[found.names.index("a_start") - 2] == 8
    assert found.step(0, 0) == 9
    assert found.step(0, 1) == -2
    assert found.terms(0, {0: "i", 1: "j"}) == ["i * a_0", "j * a_1"]
    assert found.terms(found.nest.memory[1], {1: "j"}) == ["j"]


def test_memory_of_a_step():
    found = arguments(lambda x: x + 1.0, spec("f32", 7))
    assert found.reserve("table", "s32*", 5) == "table"
    assert found.reserve("row", "f64*", 3) == "row"
    assert found.memory[-2:] == [(None, 0), (None, 32)]
    assert found.scratch == 64
    assert found.names[:4] == ["a", "b", "table", "row"]


@pytest.mark.parametrize(("terms", "text"), [([], "0"), ([None, "a"], "a"), (["a", None, "b * 2"], "a + b * 2")])
def test_sums(terms, text):
    assert total(terms) == text
