"""The compiler ``numba``: what it runs, what it tells, and that it agrees with the others."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of
from nxkernel import passes
from nxkernel.compilers import registry
from nxkernel.compilers.numba_njit.module_source import ModuleSource, verify_source
from nxkernel.errors import CompilationError, NxValueError, VerificationError

X = np.linspace(-1, 1, 12).reshape(3, 4)


@nx.defn(compiler="numba")
def halved(x):
    return x / 2, nx.sum(x, axes=[1])


def test_a_definition_by_numba():
    half, total = halved(X)
    np.testing.assert_array_equal(np.asarray(half), X / 2)
    np.testing.assert_allclose(np.asarray(total), X.sum(axis=1))
    (view,) = halved.compilations()
    (kernel,) = view.kernels
    assert (view.compiler, kernel.kind, kernel.title) == ("numba", "program", "the whole program by numba.njit")
    assert kernel.texts["Numba source"]() == nx.to_numba_source(halved, X) == view.module()
    assert "define" in kernel.texts["LLVM"]()
    assert str(halved.why(X)).startswith("halved: answered from the cache")


def test_what_it_would_do():
    why = halved.why(X[:, :2])
    assert "kernel 1 (the whole program by numba.njit): new" in str(why)


@pytest.mark.slow
def test_the_same_source_is_compiled_once():
    compiler = registry.get("numba")
    graph = passes.SIMPLIFY(graph_of(lambda x: x + 1, X))
    first = compiler.compile(graph)
    second = compiler.compile(passes.SIMPLIFY(graph_of(lambda x: x + 1, X)))
    assert [each.kernels[0].origin for each in (first, second)] == ["compiled", "memory"]
    sizes = [each.size for each in compiler.code_in_memory()]
    assert sizes
    assert min(sizes) > 100
    assert compiler.forget_code() == len(sizes)
    assert compiler.foresee(graph)[0].origin == "compiled"
    np.testing.assert_array_equal(first.run([X])[0], X + 1)


def test_half_widths_are_refused():
    with pytest.raises(CompilationError, match="Numba has no numbers of type f16 on processors"):
        halved(X.astype("f2"))


def test_more_threads_than_there_are():
    with pytest.raises(NxValueError, match=r"Numba has \d+ threads, got 0"):
        registry.get("numba").set_threads(0)


def test_a_source_that_is_none():
    with pytest.raises(VerificationError, match="after the pass 'source': f: expected a module of Python"):
        verify_source(ModuleSource("def f(:", "f", ()), "source")


def changed(x, y):
    x[0] = y + 1
    return x * 2


@pytest.mark.slow
@pytest.mark.parametrize("strided", [False, True])
def test_arguments_that_are_assigned_into(strided):
    x = np.arange(12.0)[::2] if strided else np.arange(6.0)
    want, given = x.copy(), x.copy() if not strided else x
    found = nx.defn(compiler="numba")(changed)(given, 3.0)
    np.testing.assert_array_equal(found, changed(want, 3.0))
    np.testing.assert_array_equal(given, want)
