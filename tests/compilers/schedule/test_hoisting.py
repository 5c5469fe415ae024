"""What is the same in every turn of the inner loops moves to the pass before them."""

import numpy as np

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, nests, spec
from nxkernel.compilers.display.nest_source import render
from nxkernel.compilers.schedule.hoisting import hoisted
from nxkernel.compilers.schedule.loop_nest import NestPass, Op, PassLevel, Reduce
from nxkernel.types import f64, s64


def full(code, **rest):
    return NestPass(PassLevel.FULL, tuple(code), **rest)


def test_what_depends_on_slots_and_constants_alone_becomes_a_slot():
    row = NestPass(PassLevel.ROW, (Op("load", s64, (), 0),), keeps=((0, 0),))
    code = [
        Op("slot", s64, (), 0),
        Op("const", s64, (), 0),
        Op("max", s64, (0, 1)),
        Op("load", f64, (2,), 1),
    ]
    passes, slots, limits = hoisted([row, full(code, stores=((2, 3),))], [s64], ())
    assert passes == [
        NestPass(
            PassLevel.ROW, (Op("load", s64, (), 0), Op("const", s64, (), 0), Op("max", s64, (0, 1))), keeps=((0, 2),)
        ),
        full([Op("slot", s64, (), 0), Op("load", f64, (0,), 1)], stores=((2, 1),)),
    ]
    assert slots == [s64]
    assert limits == ()


def test_a_pass_without_one_before_it_gets_one():
    code = [Op("const", f64, (), 0), Op("exp", f64, (0,)), Op("load", f64, (), 0), Op("multiply", f64, (1, 2))]
    passes, slots, _ = hoisted([full(code, reduces=(Reduce("sum", f64, (3,), 0),))], [f64], ())
    assert passes == [
        NestPass(PassLevel.ROW, (Op("const", f64, (), 0), Op("exp", f64, (0,))), keeps=((1, 1),)),
        full(
            [Op("slot", f64, (), 1), Op("load", f64, (), 0), Op("multiply", f64, (0, 1))],
            reduces=(Reduce("sum", f64, (2,), 0),),
        ),
    ]
    assert slots == [f64, f64]


def test_constants_and_slots_stay_where_they_are_used():
    code = [Op("const", f64, (), 0), Op("slot", f64, (), 0), Op("load", f64, (), 0), Op("select", f64, (2, 0, 1))]
    passes = [NestPass(PassLevel.ROW, (Op("load", f64, (), 1),), keeps=((0, 0),)), full(code, stores=((0, 3),))]
    assert hoisted(passes, [f64], ()) == (passes, [f64], ())


def test_functions_that_may_fail_stay_where_masks_say_which_lanes_count():
    code = [Op("const", f64, (), 0), Op("njit", f64, (0,))]
    passes = [full(code, stores=((0, 1),))]
    assert hoisted(passes, [], ())[0] == passes


def test_limits_keep_their_slots():
    row = NestPass(PassLevel.ROW, (Op("load", s64, (), 0), Op("load", s64, (), 1)), keeps=((0, 0), (1, 1)))
    rest = full([Op("load", f64, (), 2)], reduces=(Reduce("sum", f64, (0,), 2),))
    passes, slots, limits = hoisted([row, rest], [s64, s64, f64], (-1, 1))
    assert passes[0].keeps == ((0, 1),)
    assert passes[1].reduces[0].slot == 1
    assert (slots, limits) == ([s64, f64], (-1, 0))


def taken(x, i, n):
    row = nx.slice(x, [i, 0], [1, 9])
    return nx.exp(nx.reshape(row, (9,))) * nx.as_type(n, "f64")


def test_starts_of_slices_are_clamped_once():
    (nest,) = nests(taken, spec("f64", 7, 9), spec("s64"), spec("s64"))
    lines = render(nest).splitlines()
    place = next(k for k, line in enumerate(lines) if "for j" in line)
    assert any("min(max(" in line for line in lines[:place])
    assert not any("min(max(" in line for line in lines[place:])
    for start in (-3, 0, 4, 6, 20):
        x = np.random.default_rng(0).random((7, 9))
        (found,) = agree(taken, x, np.int64(start), np.int64(2), rtol=1e-14)
        np.testing.assert_allclose(found, np.exp(x[min(max(start, 0), 6)]) * 2, rtol=1e-14)
