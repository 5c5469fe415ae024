"""Whole operations: which there are, and that a call writes what is wanted and nothing else."""

import numpy as np
import pytest

from graph_comparison.compiled_graphs import inputs, make, planned, spec
from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.compilers.numba_cpu.routines import routine_table
from nxkernel.compilers.numba_cpu.routines.routine_table import HostCall, Launch
from nxkernel.compilers.plan.program_plan import OpaqueStep
from nxkernel.compilers.schedule.fusion import WHOLE


def test_there_is_a_routine_for_every_whole_operation():
    assert set(routine_table.ROUTINES) == {
        primitive for primitive in p.TABLE.values() if primitive.family in WHOLE and primitive.family != "control"
    }
    assert {"cumulative", "sorting", "library"} <= set(WHOLE)


def test_registering():
    def function(node):
        return routine_table.NativeRoutine(())

    primitive = p.Primitive("new", "library", lambda x: x)
    try:
        assert routine_table.routine(primitive)(function) is function
        assert routine_table.ROUTINES[primitive] is function
    finally:
        del routine_table.ROUTINES[primitive]


def tuple_of(primitive, *arrays, **params):
    """The node of a primitive on parameters like these arrays."""
    return make(primitive, *inputs(*arrays), **params)


def test_a_call_writes_its_result():
    a = np.array([[4.0, 2.0], [2.0, 5.0]])
    out = np.full((2, 2), np.nan)
    HostCall(tuple_of(p.cholesky, a)).run([a], [out])
    np.testing.assert_allclose(out, [[2, 0], [1, 2]])


@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True), (False, False)], ids=str)
def test_a_call_writes_only_what_is_wanted(wanted):
    a = np.random.default_rng(0).random((4, 3))
    node = tuple_of(p.qr, a, mode="reduced")
    expected = MEANING[p.qr](node.spec, a, mode="reduced")
    out = [np.full(part.shape, np.nan) if want else None for part, want in zip(node.spec, wanted, strict=True)]
    HostCall(node).run([a], out)
    for place, value in zip(out, expected, strict=True):
        if place is not None:
            np.testing.assert_array_equal(place, value)


def test_a_call_leaves_its_operands_as_they_are():
    a, b = np.random.default_rng(0).random((2, 3, 3))
    before = a.copy(), b.copy()
    HostCall(tuple_of(p.solve, a, b)).run([a, b], [np.empty((3, 3))])
    np.testing.assert_array_equal((a, b), before)


def launches(function, *specs):
    """What the whole operations of a function launch."""
    steps = [step.work for step in planned(function, *specs).steps]
    return [launch for work in steps if isinstance(work, OpaqueStep) for launch in work.routine.launches]


def test_libraries_are_called_and_scans_launched():
    (call,) = launches(lambda a: make(p.fft, a, axes=(0,), inverse=False), spec("f32", 9))
    assert isinstance(call, HostCall)
    found = launches(lambda a: make(p.cumulative_sum, a, axis=0, reverse=False), spec("f32", 90))
    assert found
    assert all(isinstance(launch, Launch) and launch.symbol.startswith("nxk_") for launch in found)


def test_a_kernel_of_an_operation_knows_no_sizes():
    def scan(*shape):
        found = launches(lambda a: make(p.cumulative_sum, a, axis=0, reverse=False), spec("f32", *shape))
        return [(launch.symbol, launch.scalars) for launch in found]

    first, second = scan(90, 40), scan(100, 50)
    assert [symbol for symbol, _ in first] == [symbol for symbol, _ in second]
    assert first != second
