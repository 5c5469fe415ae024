"""Loops whose turns become one kernel of one block: what they compute, and which loops these are."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.programs import agree, compiled, done
from nxkernel.compilers.numba_cuda.kernels import group_reductions
from nxkernel.compilers.numba_cuda.program import launch_modes, single_block_loops
from nxkernel.compilers.numba_cuda.program.host_steps import LaunchStep
from nxkernel.compilers.numba_cuda.toolchain.object_code import ptx
from nxkernel.compilers.plan.program_plan import LaunchMode
from nxkernel.ops.programs import control_flow

X = np.arange(12.0).reshape(3, 4)


def relaxed(x):
    """A rod whose ends are held, until it changes little."""

    def body(s):
        inner = (s[0][:-2] + s[0][2:]) * 0.5
        after = nx.put_slice(s[0], [1], inner)
        return [after, nx.reduce_max(nx.abs(after - s[0])), s[2] + 1]

    going = lambda s: nx.logical_and(nx.greater(s[1], 0.2), nx.less(s[2], 100))  # noqa: E731
    return tuple(control_flow.run_while([x, nx.f64(9.0), 0], going, body, "xdi"))


def test_a_loop_until_little_changes_is_one_launch(device, monkeypatch):
    x = np.array([0.0, 0, 0, 0, 0, 8.0])
    executable = agree(relaxed, x, rtol=1e-12, times=3)
    assert [(kernel.kind, kernel.title) for kernel in executable.kernels][-1] == (
        "loop",
        "loop of at most 100 turns, by one block",
    )
    steps, results = done(executable, [x])
    loop = steps[-1]
    assert isinstance(loop, LaunchStep)
    assert (loop.launch.grid, loop.launch.block) == ((1,), (single_block_loops.SIMULATED,))
    assert results[2] > 3
    monkeypatch.setattr(device, "read", None)
    executable.run([x])
    for arch in ("sm_80", "sm_90"):
        assert f".target {arch}" in ptx(loop.launch.source, arch)


def turns(count, body, *state):
    after = control_flow.run_while(
        [0, *state],
        lambda s: nx.less(s[0], count),
        lambda s: [s[0] + 1, *body(s[0], s[1:])],
        "ixyzabc"[: len(state) + 1],
    )
    return tuple(after[1:])


#: What turns do: reductions over rows and columns, transposes, elements that move, types of all widths.
BODIES = {
    "rows": (lambda i, s: [s[0] / nx.new_axis(nx.sum(s[0], axes=[1]), 1)], [X + 1]),
    "columns": (lambda i, s: [s[0] - nx.sum(s[0], axes=[0]) * 0.1], [X]),
    "a transpose": (lambda i, s: [nx.transpose(s[0]) + 1], [X[:, :3]]),
    "softmax": (lambda i, s: [nx.exp(s[0]) / nx.new_axis(nx.sum(nx.exp(s[0]), axes=[1]), 1)], [X]),
    "changing places": (lambda i, s: [s[1], s[0] + s[2], s[2] * 2], [X, 2 * X, 3 * X]),
    "one becomes all": (lambda i, s: [s[1], s[1] * 1.5, s[1] * 2], [X, 2 * X, 3 * X]),
    "half width": (lambda i, s: [nx.as_type(s[0] * s[0] + 1, "f16") * nx.f16(0.25)], [X.astype(np.float16) / 12]),
    "bytes": (lambda i, s: [s[0] * 3 + nx.as_type(i, "u8"), s[1] + s[0]], [X.astype(np.uint8), X.astype(np.uint8)]),
    "complex": (lambda i, s: [s[0] * s[0] + s[1], s[1] * 0.5], [X * 0.05j, X * 0.02]),
    "a row from a row": (lambda i, s: [nx.put_slice(s[0], [i, 0], nx.new_axis(s[0][i + 1] * 2, 0))], [X]),
    "sums": (lambda i, s: [s[0] + nx.sum(s[1]) * 0.01, s[1] + s[0]], [np.float64(2), X]),
    "the greatest": (lambda i, s: [s[0] + nx.argmax(s[1]), s[1] * -1], [np.int64(2), X]),
}


@pytest.mark.sampled(every=4, lane="simulator")
@pytest.mark.parametrize(("body", "state"), BODIES.values(), ids=BODIES)
def test_turns(body, state, device):
    executable = agree(
        lambda *values: turns(2, body, *values), *state, rtol=1e-3 if state[0].dtype == np.float16 else 1e-12
    )
    assert executable.kernels[-1].title == "loop of at most 2 turns, by one block"
    for arch in ("sm_80", "sm_90"):
        assert ".entry" in ptx(executable.program.launched[-1].launch.source, arch)


def choose(x, i):
    even = nx.equal(nx.remainder(nx.as_type(nx.sum(x), "s64") + i, 2), 0)
    return control_flow.choose(even, lambda: [x[0, 0] + 1, nx.s64(3)], lambda: [x[1, 1], i])


#: What turns have inside of them.
INSIDE = {
    "a loop": lambda i, s: [turns(2, lambda j, t: [t[0] * 0.5 + nx.as_type(j, "f64")], s[0])[0] + 1],
    "a loop of numbers": lambda i, s: [s[0] + turns(3, lambda j, t: [t[0] * 2 + s[0][j, i]], nx.f64(0.0))[0]],
    "a choice of numbers": lambda i, s: [s[0] * choose(s[0], i)[0] + nx.as_type(choose(s[0], i)[1], "f64")],
    "a loop until it is enough": lambda i, s: [
        control_flow.run_while([s[0]], lambda t: nx.less(nx.sum(t[0]), 90), lambda t: [t[0] * 2], "x")[0] * 0.5
    ],
    "turns that threads share": lambda i, s: [
        turns(3, lambda j, t: [nx.put_slice(t[0], [j, j], nx.reshape(t[0][j, j] + 1, (1, 1)))], s[0])[0] * 0.5
    ],
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("body", INSIDE.values(), ids=INSIDE)
def test_loops_and_choices_inside(body, device):
    executable = agree(lambda x: turns(3, body, x), X, rtol=1e-12, times=2)
    loops = [kernel for kernel in executable.kernels if kernel.kind in ("loop", "choice")]
    assert [loop.title for loop in loops] == ["loop of at most 3 turns, by one block"]
    assert ".entry" in loops[0].texts["PTX"]()


def test_a_number_that_is_an_argument(device):
    def function(x, n, k):
        return turns(n, lambda i, s: [s[0] * nx.as_type(k + 1, "f64") + nx.as_type(i, "f64")], x)

    agree(function, X, np.int64(3), np.int64(2))
    executable = compiled(function, X, np.int64(3), np.int64(2))
    (found,) = executable.run([X, device.upload(np.array(2)), device.upload(np.array(1))])
    np.testing.assert_array_equal(found.host(), (X * 2 + 0) * 2 + 1)


def test_loops_over_more_are_launched_turn_by_turn(device, monkeypatch):
    monkeypatch.setattr(launch_modes, "COUNTING", 8)
    executable = agree(lambda x: turns(3, lambda i, s: [s[0] * 2], x), X)
    assert [kernel.kind for kernel in executable.kernels] == ["map"]
    monkeypatch.setattr(launch_modes, "WAITING", 8)
    executable = agree(relaxed, np.linspace(0, 8.0, 12) ** 2, rtol=1e-12)
    assert "loop" not in [kernel.kind for kernel in executable.kernels]


def test_what_does_not_fit_a_block_is_launched(device, monkeypatch):
    def refused(name, value):
        """Why the host runs the loop where one block has less."""
        with monkeypatch.context() as patch:
            patch.setattr(single_block_loops, name, value)
            executable = agree(relaxed, np.array([0.0, 0, 0, 0, 0, 8.0]), rtol=1e-12, times=3)
        assert "loop" not in [kernel.kind for kernel in executable.kernels]
        (loop,) = executable.plan.controls.values()
        assert loop.launch.mode is LaunchMode.HOST
        assert loop.launch.reads_back
        return loop.launch.reason

    assert refused("ARGUMENTS", 3) == "its kernel has 29 arguments"
    assert refused("SHARED", 128) == "it takes 256 bytes of shared memory"


def test_the_host_counts_where_a_block_does_not_fit(device, monkeypatch):
    monkeypatch.setattr(single_block_loops, "ARGUMENTS", 3)
    executable = agree(lambda x: turns(3, lambda i, s: [s[0] * 2 + nx.as_type(i, "f64")], x), X)
    (loop,) = executable.plan.controls.values()
    assert (loop.launch.known_results, loop.launch.reads_back) == ({0}, False)
    monkeypatch.setattr(device, "read", None)
    executable.run([X])


def test_a_loop_around_one_that_does_not_fit_is_launched(device, monkeypatch):
    monkeypatch.setattr(single_block_loops, "ARGUMENTS", 3)
    executable = agree(lambda x: turns(2, INSIDE["a loop"], x), X, rtol=1e-12)
    (outer,) = executable.plan.controls.values()
    (inner,) = outer.parts[1].controls.values()
    assert outer.launch.reason == "the host runs a loop inside"
    assert inner.launch.reason.endswith("arguments")


def test_columns_without_room_for_all_threads_are_launched(device, monkeypatch):
    monkeypatch.setattr(group_reductions, "STATIC", 32 * 8)
    monkeypatch.setattr(single_block_loops, "SIMULATED", 64)
    executable = agree(lambda x: turns(2, *BODIES["columns"][:1], x), np.ones((40, 4)), rtol=1e-12)
    assert "loop" not in [kernel.kind for kernel in executable.kernels]
    (loop,) = executable.plan.controls.values()
    assert loop.launch.reason == "a kernel has no room for 64 threads"


def test_a_loop_with_a_product_is_launched(device):
    square = np.random.default_rng(0).random((20, 20)) / 20
    executable = agree(lambda x: turns(2, lambda i, s: [nx.dot(s[0], s[0])], x), square, rtol=1e-12)
    assert "loop" not in [kernel.kind for kernel in executable.kernels]
