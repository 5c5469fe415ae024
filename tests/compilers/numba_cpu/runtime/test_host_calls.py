"""Calls of Python from native programs: what goes wrong there is raised here, and nothing is left of it."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, make, spec
from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.compilers.numba_cpu.routines import routine_table
from nxkernel.compilers.numba_cpu.runtime import host_calls


@pytest.fixture(autouse=True)
def _by_way_of_python(monkeypatch):
    """Operations that have kernels otherwise are called as those without any are."""
    for primitive in (p.cholesky, p.solve, p.svd):
        monkeypatch.setitem(routine_table.ROUTINES, primitive, routine_table.by_library)


def positive(n, type_="f8"):
    """A positive definite matrix."""
    a = np.random.default_rng(0).random((n, n))
    return (a @ a.T + n * np.eye(n)).astype(type_)


def cholesky(a):
    return make(p.cholesky, a)


class Broken(Exception):
    """What the meanings of these tests raise."""


def breaking(monkeypatch, *primitives):
    """Let primitives raise, and count how often they were asked."""
    asked = []

    def broken(out, *operands, **params):
        asked.append(out)
        raise Broken(f"call {len(asked)}")

    for primitive in primitives:
        monkeypatch.setitem(routine_table.MEANING, primitive, broken)
    return asked


def test_an_error_of_a_call_is_raised_by_the_program_and_the_next_run_is_as_ever(monkeypatch):
    a = positive(5)
    executable = compiled(lambda a: cholesky(a + 1) * 2, a)
    (before,) = executable.run([a])
    with monkeypatch.context() as context:
        breaking(context, p.cholesky)
        for _ in range(2):
            with pytest.raises(Broken, match="call"):
                executable.run([a])
    (after,) = executable.run([a])
    np.testing.assert_array_equal(after, before)
    np.testing.assert_allclose(after, 2 * np.linalg.cholesky(a + 1))


def test_calls_after_the_first_that_fails_are_not_made(monkeypatch):
    a = positive(6)
    executable = compiled(lambda a: make(p.solve, cholesky(a), a), a)
    asked = breaking(monkeypatch, p.cholesky, p.solve)
    with pytest.raises(Broken, match="call 1"):
        executable.run([a])
    assert len(asked) == 1


def test_an_interruption_is_raised_too(monkeypatch):
    a = positive(6)
    executable = compiled(cholesky, a)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setitem(routine_table.MEANING, p.cholesky, interrupted)
    with pytest.raises(KeyboardInterrupt):
        executable.run([a])


def test_functions_raise_what_their_calls_raise(monkeypatch):
    a, function = positive(6), nx.jit(lambda a: nx.linalg.cholesky(a) + 1)
    expected = function(a).to_numpy()
    with monkeypatch.context() as context:
        breaking(context, p.cholesky)
        with pytest.raises(Broken):
            function(a)
    np.testing.assert_array_equal(function(a).to_numpy(), expected)


def test_programs_that_run_within_a_call(monkeypatch):
    """A call may run programs of its own; their errors are theirs, and what they raise passes through."""
    a = positive(6)
    inner = compiled(lambda a: make(p.solve, a, a), a)
    outer = compiled(lambda a: cholesky(a) + 1, a)
    meaning, seen = MEANING[p.cholesky], []

    def nested(out, x):
        seen.append(inner.run([x])[0])
        return meaning(out, x)

    monkeypatch.setitem(routine_table.MEANING, p.cholesky, nested)
    np.testing.assert_allclose(outer.run([a])[0], np.linalg.cholesky(a) + 1)
    np.testing.assert_allclose(seen[0], np.eye(6), atol=1e-12)

    def handled(out, x):
        with pytest.raises(Broken, match="call"):
            inner.run([x])
        return meaning(out, x)

    breaking(monkeypatch, p.solve)
    monkeypatch.setitem(routine_table.MEANING, p.cholesky, handled)
    np.testing.assert_allclose(outer.run([a])[0], np.linalg.cholesky(a) + 1)
    monkeypatch.setitem(routine_table.MEANING, p.cholesky, nested)
    with pytest.raises(Broken, match="call"):
        outer.run([a])


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2), (2, 1, 0)], ids=str)
def test_results_that_nobody_wants(wanted):
    a = np.random.default_rng(0).random((3, 5, 4))

    def parts(a):
        found = nx.linalg.svd(a, full_matrices=False)
        return [abs(found[index]) for index in wanted]

    agree(parts, a, rtol=1e-12)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (2, 0, 0), (3, 0, 4, 4)], ids=str)
def test_arrays_without_elements(shape):
    agree(lambda a: cholesky(a) + 1, np.zeros(shape))
    agree(lambda a: make(p.solve, a, a), np.zeros(shape, "f4"))


def test_calls_see_the_memory_of_the_program():
    def function(operands, results):
        seen.append([operand.tolist() for operand in operands])
        results[0][...] = operands[0] * 2
        assert results[1] is None

    seen = []
    call = host_calls.HostRequest(function, [spec("f32", 2, 3), spec("u8")], [spec("f32", 2, 3), None])
    assert call.width == 3
    x, number, out = np.arange(6, dtype="f4").reshape(2, 3), np.array(7, "u1"), np.zeros((2, 3), "f4")
    call([array.ctypes.data for array in (x, number, out)])
    assert seen == [[[[0, 1, 2], [3, 4, 5]], 7]]
    assert (out == 2 * x).all()


def test_every_call_has_a_number_of_its_own():
    first, second = (host_calls.HostRequest(lambda operands, results: None, [], []) for _ in range(2))
    assert first.number != second.number


def test_a_launch_that_asks_for_nothing_raises_nothing():
    assert host_calls.raising(lambda *arrays: len(arrays) == 2)(1, 2) is True
