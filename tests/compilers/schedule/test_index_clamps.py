"""Which clamps of a nest never cut, and which of its constants are strides."""

import numpy as np

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, planned, spec
from nxkernel.compilers.plan.program_plan import Control
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.index_clamps import facts
from nxkernel.compilers.schedule.loop_nest import ScalarKind, ScalarParameter
from nxkernel.ops.programs import control_flow

LEAST, MOST = -(1 << 63), (1 << 63) - 1


def rows(step, turns):
    """The sum of rows of an array, one a turn, from some place on."""

    def function(x):
        return control_flow.run_while(
            [0, nx.broadcast(nx.f64(0.0), (9,))],
            lambda s: nx.less(s[0], turns),
            lambda s: [s[0] + 1, s[1] + x[s[0] + step]],
            "is",
        )[1]

    return function


def nest_of(function, *specs):
    """The nest in a loop, and what is known in it."""
    plan = planned(function, *specs)
    (loop,) = [step.work for step in plan.steps if isinstance(step.work, Control)]
    body = loop.parts[1]
    (bound,) = [step.work for step in body.steps if isinstance(step.work, BoundNest)]
    return bound, body.ranges


def clamps(bound):
    """What indices are compared with, by the name of the comparison."""
    scalars = dict(zip(((kind, number) for kind, number, _ in bound.nest.scalars()), bound.scalars, strict=True))
    found = []
    for nest_pass in bound.nest.passes:
        for op in nest_pass.code:
            if op.name in ("max", "min"):
                constant = nest_pass.code[op.args[1]].entry
                found.append((op.name, scalars[ScalarKind.CONSTANT, constant].value, constant))
    return found


def known(step, turns):
    """For each clamp of a row's index what stands in its place."""
    bound, ranges = nest_of(rows(step, turns), spec("f64", 7, 9))
    numbers = facts(bound, ranges).numbers
    return [(name, limit, numbers.get(constant)) for name, limit, constant in clamps(bound)][:2]


def test_clamps_that_never_cut():
    assert known(0, 7) == [("max", 0, LEAST), ("min", 6, MOST)]
    assert known(2, 5) == [("max", 0, LEAST), ("min", 6, MOST)]


def test_clamps_that_may_cut():
    assert known(1, 7) == [("max", 0, LEAST), ("min", 6, None)]
    assert known(-1, 7) == [("max", 0, 0), ("min", 6, MOST)]
    for step in (-3, 0, 3):
        agree(rows(step, 7), np.random.default_rng(0).random((7, 9)), rtol=1e-14)


def test_strides_are_those_of_the_array_that_is_read():
    bound, ranges = nest_of(rows(0, 7), spec("f64", 7, 9))
    found = facts(bound, ranges).strides
    kinds = list(bound.nest.scalars())
    (number,) = found
    assert bound.scalars[kinds.index(ScalarParameter(ScalarKind.CONSTANT, number))].value == 9
    assert found[number].params["name"] == "outside"


def test_a_constant_that_is_used_elsewhere_stays():
    def function(x):
        def body(s):
            bound = nx.min(s[0], 8)
            return [s[0] + 1, s[1] + x * nx.as_type(bound * 8, "f64")]

        return control_flow.run_while([0, x], lambda s: nx.less(s[0], 5), body, "is")[1]

    agree(function, np.ones(9))


def summed(x):
    """Sums of what comes before each place."""

    def body(s):
        places = nx.iota((x.shape[0],))
        total = nx.sum(nx.select(nx.less(places, s[0]), x, 0.0))
        return [s[0] + 1, nx.put_slice(s[1], [s[0]], nx.reshape(total, (1,)))]

    return control_flow.run_while([0, x], lambda s: nx.less(s[0], x.shape[0]), body, "is")[1]


def test_limits_that_never_leave_their_axis():
    bound, ranges = nest_of(summed, spec("f64", 40))
    assert facts(bound, ranges).limits_fit_size
    assert not facts(bound, {}).limits_fit_size
    x = np.random.default_rng(0).random(40)
    (found,) = agree(summed, x, rtol=1e-12)
    np.testing.assert_allclose(found, np.cumsum(x) - x, atol=1e-12)
    symbols = {compiled(summed, spec("f64", n)).symbol for n in (40, 50)}
    assert len(symbols) == 1
