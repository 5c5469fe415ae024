"""What kernels take: on made-up inputs, and on those of a call, which neither change nor stay."""

import gc
import weakref

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.observe import kernel_timing
from nxkernel.definitions.observe.compilation_report import KernelTime, Measurement
from nxkernel.errors import NxValueError

pytestmark = pytest.mark.usefixtures("little_garbage")


@nx.defn(compiler="numba_cpu")
def powers(x, *, turns=70):
    for _ in range(turns):
        x[1:] = x[1:] * 0.5 + x[:-1]
    return x


@nx.defn(compiler="numba_cpu")
def halvings(x):
    turns = 0
    while nx.sum(x) > 1.0:
        x = x / 2.0
        turns = turns + 1
    return x, turns


@nx.defn(compiler="numba_cpu")
def assign(x):
    x[0] = 5.0
    return x


def test_the_evaluator_has_no_kernels_to_measure():
    slow = nx.jit(lambda x: x + 1, compiler="evaluator")
    slow(1.0)
    for measure in (slow.compilations()[0].measure, lambda: slow.measure(1.0)):
        with pytest.raises(NxValueError, match="no kernels to measure"):
            measure()


def test_each_kernel_of_a_program_is_timed_in_all_its_runs():
    powers(np.ones(4000), turns=70)
    view = powers.compilations()[-1]
    found = view.measure()
    times = [found.kernels[kernel.index] for kernel in view.kernels if kernel.index in found.kernels]
    assert {70} <= {time.runs for time in times}
    assert 0 < sum(time.seconds for time in times) <= found.seconds
    assert found.bandwidth > 1e8
    assert found.arithmetic > 1e8
    assert found.inputs == "made-up inputs"
    assert "made-up inputs of the same types and shapes" in found.how


def test_measuring_changes_nothing_of_the_programs():
    x = np.ones((3, 4))
    assign(x)
    before = assign.cache_info()
    assign.compilations()[0].measure()
    assert assign.cache_info() == before
    np.testing.assert_array_equal(x[1:], np.ones((2, 4)))


def test_loops_that_wait_for_values_are_not_run_on_made_up_ones():
    halvings.clear_cache()
    halvings(np.ones(64))
    with pytest.raises(NxValueError) as refused:
        halvings.compilations()[0].measure()
    first, where, hint = str(refused.value).splitlines()
    assert first == "How often its loop runs depends on values, so made-up inputs would say nothing."
    assert "while nx.sum(x) > 1.0:" in where
    assert hint == "  Measure it on a call of yours: f.measure(...), or %nx inspect f(...) in a notebook."


@pytest.mark.parametrize("turns", [3, 11])
def test_a_loop_takes_the_turns_that_it_takes_on_the_data(turns):
    x = np.full(256, 2.0 ** (turns - 8))
    view = halvings.measure(x)
    assert view.measurement.inputs == "your call"
    assert "on the inputs of your call" in view.measurement.how
    assert turns in {time.runs for time in view.measurement.kernels.values()}
    assert view.signature == "halvings(x: f64[256])"


def test_a_call_that_is_measured_is_compiled_but_not_counted():
    assign.clear_cache()
    view = assign.measure(np.zeros((2, 3)))
    again = assign.measure(np.zeros((2, 3)))
    assert (view.signature, view.calls, again.reason) == ("assign(x: f64[2][3])", 0, ("first call",))
    info = assign.cache_info()
    assert (info.entries, info.misses, info.hits) == (1, 1, 0)
    assert len(assign.compilations()) == 1
    assert assign.compilations()[0].measurement is None


def test_arguments_and_captured_arrays_do_not_change():
    table = np.zeros(4)

    @nx.defn(compiler="numba_cpu")
    def write(x, y):
        x[0] = 7.0
        return x + y + table

    x, y = np.zeros((4, 4)), nx.tensor([1.0, 2.0, 3.0, 4.0], type="f64")
    across = x.T
    write.measure(x, y)
    write.measure(across, y)
    np.testing.assert_array_equal(x, np.zeros((4, 4)))
    np.testing.assert_array_equal(table, np.zeros(4))
    assert y.to_list() == [1.0, 2.0, 3.0, 4.0]


def test_a_read_only_array_can_be_measured():
    x = np.zeros(3)
    x.flags.writeable = False
    assert assign.measure(x).measurement.seconds > 0


def test_arguments_are_not_kept():
    class Watched(np.ndarray):
        """An array that can be watched."""

    x = np.ones(1000)
    whole = x.view(Watched)
    watched = weakref.ref(whole)
    view = powers.measure(np.asarray(whole), turns=3)
    del x, whole
    gc.collect()
    assert watched() is None
    assert view.measurement.seconds > 0


def test_hooks_are_not_called():
    seen = []

    @nx.defn(compiler="numba_cpu")
    def watched(x):
        return nx.hook(x * 2, "twice", seen.append)

    watched.measure(np.ones(3))
    assert seen == []
    watched(np.ones(3))
    assert len(seen) == 1


def test_compilations_are_short_when_printed():
    assign.clear_cache()
    assign(np.zeros(3))
    assert repr(assign.compilations()) == "[<compilation assign(x: f64[3]): 1 kernel>]"
    assert repr(assign.measure(np.zeros(3))).startswith("<compilation assign(x: f64[3]): 1 kernel, ")
    slow = nx.jit(lambda x: x + 1, compiler="evaluator")
    slow(1.0)
    assert repr(slow.compilations()[0]) == "<compilation <lambda>(x: f32): by the evaluator>"


def test_what_kernels_of_one_group_took_is_told_together():
    found = Measurement(1.0, {0: KernelTime(0.5, 2), 1: KernelTime(0.2, 3), 2: KernelTime(0.3, 3)}, "", 1.0, 1.0)
    assert kernel_timing.grouped(found, [0, 1, 1]).kernels == {0: KernelTime(0.5, 2), 1: KernelTime(0.5, 3)}
