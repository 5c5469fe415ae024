from dataclasses import replace

import pytest

from nxkernel.definitions.observe.compilation_report import KernelTime, KernelView, Measurement
from nxkernel_lab.rendering.kernel_speed import bound, machine, pace, share, whole

KERNEL = KernelView(0, "map", "map of 10", "nxk", "memory", 0.1, moved=4_000_000, operations=1_000_000)


def measured(seconds, runs=1):
    return Measurement(2 * seconds, {0: KernelTime(seconds, runs)}, "one run", 2e10, 1e11)


def test_nothing_is_said_of_what_was_not_measured():
    assert (pace(KERNEL, None), share(KERNEL, None)) == ("", 0.0)
    other = Measurement(1.0, {3: KernelTime(1.0, 1)}, "one run", 1.0, 1.0)
    assert (pace(KERNEL, other), share(KERNEL, other)) == ("", 0.0)


def test_time_share_and_what_is_reached():
    assert share(KERNEL, measured(0.0002)) == 0.5
    assert (
        pace(KERNEL, measured(0.0002))
        == "50 % of the time on made-up inputs, 200 µs, 20.0 GB/s, 5.0 Gflop/s, memory bound"
    )
    assert pace(KERNEL, measured(0.02, 100)) == (
        "50 % of the time on made-up inputs, 100 runs of 200 µs, 20.0 GB/s, 5.0 Gflop/s, memory bound"
    )


@pytest.mark.parametrize(
    ("seconds", "moved", "done", "text"),
    [
        (1e-6, 1e9, 1e9, "too short to tell what holds it back"),
        (1e-3, 1e9, 9e10, "compute bound"),
        (1e-3, 1.5e10, 1e9, "memory bound"),
        (1e-3, 9e10, 1e9, "out of the cache"),
        (1e-3, 1e9, 1e9, "below what memory and arithmetic allow"),
    ],
)
def test_what_holds_a_kernel_back(seconds, moved, done, text):
    assert bound(seconds, moved, done, measured(1.0)) == text


def test_it_says_on_what_inputs():
    on_a_call = replace(measured(0.0002), inputs="your call")
    assert pace(KERNEL, on_a_call).startswith("50 % of the time on your call, 200 µs, ")
    assert whole(measured(0.01)) == "One run takes 20 ms: one run"


def test_what_the_machine_reaches():
    assert machine(measured(1.0)) == (
        "this machine reaches 20.0 GB/s from memory, 100.0 Gflop/s in products of f32; functions such as exp count as "
        "one operation"
    )


def test_a_simulator_reaches_nothing():
    simulated = Measurement(0.002, {0: KernelTime(0.001, 1)}, "one run", 0.0, 0.0)
    assert pace(KERNEL, simulated) == "50 % of the time on made-up inputs, 1.0 ms"
    assert machine(simulated) == ""
