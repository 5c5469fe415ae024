"""The memory of loops: which buffers change places, and what is needed besides."""

import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.compilers.numba_cpu.program.graph_compilation import planner
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.loop_buffers import loop_buffers_of, swaps_of
from nxkernel.compilers.plan.program_plan import Control
from nxkernel.ops.programs import control_flow

SHAPE = spec("f64", 8)


def loop(body, count):
    """The plan of a loop over arrays."""

    def function(*arrays):
        after = control_flow.run_while(
            [0, *arrays],
            lambda s: nx.less(s[0], 5),
            lambda s: [s[0] + 1, *body(*s[1:])],
            ["i", *(f"x{place}" for place in range(count))],
        )
        return tuple(after[1:])

    # As it was recorded: what never changes would be carried no more.
    plan = planner().program(graph_of(function, *[SHAPE] * count))
    return next(step.work for step in plan.steps if isinstance(step.work, Control))


A, B, C = Location.input(1), Location.input(2), Location.input(3)


@pytest.mark.parametrize(
    ("body", "count", "copies", "moves", "tangled"),
    [
        (lambda x: [x * 2], 1, [], {A: Location.output(1), Location.output(1): A}, []),
        (lambda x, y: [y, x], 2, [], {A: B, B: A}, [1, 2]),
        (lambda x, y: [y, y], 2, [(B, A)], {A: B, B: A}, [1, 2]),
        (lambda x, y, z: [y, z, x], 3, [], {A: B, B: C, C: A}, [1, 2, 3]),
        (lambda x, y: [y, x * 2], 2, [], {A: B, B: Location.output(1), Location.output(1): A}, [1, 2]),
        (lambda x, y: [x, y * 2], 2, [], {B: Location.output(1), Location.output(1): B}, []),
    ],
    ids=["made anew", "two by turns", "one twice", "a ring", "one of them anew", "one stays"],
)
def test_turns(body, count, copies, moves, tangled):
    found = swaps_of(loop(body, count).parts[1], count + 1)
    assert (found.copies, found.moves, found.tangled) == (copies, moves, tangled)


def test_rooms_of_a_loop():
    work = loop(lambda x: [x * 2], 1)
    found = loop_buffers_of(work.node, work.results, work.parts, work.shared)
    assert (found.fresh, found.spare, found.results, found.size) == ({1: 0}, {}, {}, 64)


def test_swapped_arrays_have_a_spare():
    work = loop(lambda x, y: [y, x], 2)
    found = loop_buffers_of(work.node, work.results, work.parts, work.shared)
    assert (found.fresh, found.spare, found.size) == ({}, {1: 0, 2: 64}, 128)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_arrays_without_elements_have_room(shape):
    def programs(x):
        looped = nx.fori(0, 3, lambda i, s: (s[1], s[0] * 2, nx.sin(s[2])), (x, x + 1, x))
        chosen = nx.cond(nx.sum(x) > -1, lambda: (x * 2, x), lambda: (x, nx.fori(0, 2, lambda i, s: s + x, x)))
        return looped, chosen, nx.scan(lambda s, y: (s + 1, s * y), x, nx.tensor([1.0, 2.0]))

    looped, chosen, (last, rows) = nx.jit(programs)(nx.broadcast(nx.f64(0.0), shape))
    assert [part.shape for part in (*looped, *chosen, last, rows)] == [shape] * 6 + [(2, *shape)]
