"""The order of steps and the memory of values: the workspace is shared, outputs are written in place."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, make, planned, spec
from nxkernel import primitives as p
from nxkernel.compilers.plan.buffer_assignment import ALIGNMENT
from nxkernel.compilers.plan.locations import Location, MemoryKind


def places(plan):
    """Where each value that a step writes lives, in the order of the steps."""
    return [plan.place[node] for step in plan.steps for node in dict.fromkeys(step.writes)]


def test_a_single_step_needs_no_workspace():
    plan = planned(lambda x: nx.exp(x) + 1, spec("f32", 9))
    assert (len(plan.steps), plan.workspace, plan.outputs) == (1, 0, [Location.output(0)])
    assert plan.place[plan.steps[0].reads[0]] == Location.input(0)
    assert places(plan) == [Location.output(0)]


def test_values_that_never_live_together_share_memory():
    def function(x):
        for _ in range(9):
            x = nx.dot(x, x)
        return x

    plan = planned(function, spec("f32", 64, 64))
    assert len(plan.steps) == 9
    # Each is read while the next is written; every other one is in the output's own array.
    assert plan.workspace == 64 * 64 * 4
    assert places(plan) == [Location.output(0), Location.workspace(0)] * 4 + [Location.output(0)]


def test_values_that_live_together_do_not():
    def function(x):
        parts = [nx.transpose(nx.exp(x * number)) for number in range(5)]
        return nx.sum(nx.concatenate([nx.reshape(part, (4096,)) for part in parts]))

    plan = planned(function, spec("f32", 64, 64))
    live = {}
    for time, step in enumerate(plan.steps):
        for node in (*step.reads, *step.writes):
            if plan.place[node].memory is MemoryKind.WORKSPACE:
                first, _ = live.get(node, (time, time))
                live[node] = (first, time)
    for one, (a, b) in live.items():
        for other, (c, d) in live.items():
            if one is not other and a <= d and c <= b:
                low, high = sorted((one, other), key=lambda node: plan.place[node][1])
                size = int(np.prod(low.shape)) * low.type.size
                assert plan.place[low][1] + size <= plan.place[high][1]
    agree(function, np.random.default_rng(0).random((64, 64), "f4"), rtol=1e-5)


def test_places_are_aligned():
    plan = planned(lambda x: nx.sum(nx.exp(x), axes=[0]) + nx.sum(nx.sin(x), axes=[1])[:3], spec("f64", 7, 3))
    assert all(where % ALIGNMENT == 0 for kind, where in plan.place.values() if kind is MemoryKind.WORKSPACE)


def test_a_value_is_overwritten_by_what_is_computed_of_it():
    def function(x, w):
        return nx.exp(nx.dot(x, w) + 1)

    plan = planned(function, spec("f32", 70, 80), spec("f32", 80, 90))
    assert len(plan.steps) == 2
    assert plan.workspace == 0
    assert places(plan) == [Location.output(0), Location.output(0)]
    rng = np.random.default_rng(0)
    agree(function, rng.random((70, 80), "f4") / 80, rng.random((80, 90), "f4"), rtol=1e-5)


def test_a_value_is_not_overwritten_by_what_reads_it_elsewhere():
    def turned(x, w):
        return nx.transpose(nx.dot(x, w)) + 1

    def backwards(x, w):
        return nx.reverse(nx.dot(x, w)) + nx.dot(x, w)

    rng = np.random.default_rng(0)
    arrays = rng.integers(-3, 4, (80, 80)).astype("f4"), rng.integers(-3, 4, (80, 80)).astype("f4")
    for function in (turned, backwards):
        assert planned(function, *[spec("f32", 80, 80)] * 2).workspace > 0
        agree(function, *arrays)


def test_outputs_of_one_value_are_one_array():
    plan = planned(lambda x: (nx.exp(x), nx.reshape(nx.exp(x), (9, 1)), nx.sin(x), nx.exp(x)), spec("f32", 9))
    assert plan.outputs == [Location.output(place) for place in (0, 0, 1, 0)]
    assert len(plan.arrays) == 2


def test_an_output_that_others_are_computed_of():
    def function(x):
        e = nx.exp(x)
        return nx.sum(e, axes=[0]), e, nx.transpose(e) * 2

    plan = planned(function, spec("f32", 30, 40))
    assert plan.workspace == 0
    agree(function, np.random.default_rng(0).random((30, 40), "f4"), rtol=1e-5)


def test_steps_follow_what_they_read():
    def function(x):
        for _ in range(12):
            x = nx.concatenate([x[1:], nx.sum(x, axes=[0], keep_axes=True) * 0.5], axis=0)
        return x

    plan = planned(function, spec("f32", 8, 5))
    written = set()
    for step in plan.steps:
        assert all(node in written for node in step.reads if plan.place[node].memory is not MemoryKind.INPUT)
        written.update(step.writes)
    agree(function, np.random.default_rng(0).integers(-8, 8, (8, 5)).astype("f4"), rtol=1e-5)


def test_pieces_of_a_buffer_are_written_in_order():
    plan = planned(lambda x: nx.pad(x, 7, [(2, 1, 1)]), spec("f32", 5))
    filled, kept = plan.steps
    assert filled.writes == kept.writes
    assert filled in kept.after
    (found,) = agree(lambda x: nx.pad(x, 7, [(2, 1, 1)]), np.arange(5, dtype="f4"))
    np.testing.assert_array_equal(found, [7, 7, 0, 7, 1, 7, 2, 7, 3, 7, 4, 7])


@pytest.mark.parametrize(
    "config", [(-1, -2, 0), (-1, 3, 2), (2, -3, 1), (-3, -3, 1), (0, 0, 3), (-9, 9, 0), (5, -5, 0)]
)
def test_paddings_that_crop(config):
    x = np.arange(1, 8, dtype="i4")
    agree(lambda x: make(p.pad, x, nx.s32(-1), config=(config,)), x)


def test_an_unused_input_is_passed_and_not_read():
    executable = compiled(lambda x, y: y + 1, spec("f32", 3), spec("f32", 4))
    (found,) = executable.run([np.zeros(3, "f4"), np.ones(4, "f4")])
    np.testing.assert_array_equal(found, [2, 2, 2, 2])


def test_outputs_that_are_numbers():
    found = compiled(lambda x: (nx.broadcast(3.0, (2, 2)), x, nx.f32(1.5)), spec("f32", 3)).run([np.ones(3, "f4")])
    assert [array.tolist() for array in found] == [[[3, 3], [3, 3]], [1, 1, 1], 1.5]
