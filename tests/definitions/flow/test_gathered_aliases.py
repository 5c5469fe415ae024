"""One array that is several items, or an item and a variable: what is assigned into it is seen in all of them."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X = np.array([1.0, 2.0, 3.0])
ZS = np.random.default_rng(0).random((6, 3))
LOOPS = []


def loop(program):
    """A program of which the loops stay loops."""
    LOOPS.append(pytest.param(program, id=program.__name__))


@loop
def one_array_in_two_lists_and_twice_in_one(zs, x):
    xs, ys = [], []
    for z in zs:
        x = x + z
        xs.append(x)
        ys.append((x, x))
    xs[0][0] = 7
    ys[-1][1][1] = 9
    return np.array(xs), np.array([a for a, _ in ys]), np.array([b for _, b in ys]), x


@loop
def one_array_in_several_turns(zs, x):
    a, b, c = x.copy(), x * 2, x * 3
    xs = []
    for z in zs:
        a, b, c = b, c, a
        xs.append((a, z * 2, c))
    b[1] = 50
    xs[1][1][0] = 9
    xs[0][0][2] = 8
    return np.array([one for one, _, _ in xs]), np.array([one for _, one, _ in xs]), a, b, c


@loop
def items_of_the_last_turns_in_variables(zs, x):
    q, p, u = x, x.copy(), x * 2
    xs = []
    for z in zs:
        new = 2 * u - p + z
        xs.append(new)
        q, p, u = p, u, new
    q[0], p[0], u[1] = 50, 51, 60
    xs[3][2] = 7
    return np.array(xs), p, u, q


@loop
def an_item_that_was_another_variable(zs, x):
    p, u = x.copy(), x * 2
    first, xs = u, []
    for z in zs:
        xs.append(p)
        p, u = u, z + p
    xs[1][0] = 3
    return np.array(xs), first


@pytest.mark.parametrize("program", LOOPS)
def test_assignments_reach_every_item_and_variable(program):
    wanted, found = program(ZS.copy(), X.copy()), nx.defn(program)(ZS.copy(), X.copy())
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    assert nx.events(program.__name__, "miss")[-1].notes == ()


def test_an_array_that_is_an_item_on_a_condition_is_not_written_to():
    @nx.defn
    def f(zs, x):
        before, best, xs = x + 1, x + 2, []
        for z in zs:
            x = np.sin(x) + z
            before = best
            if z[0] > 0.5:
                best = x
            xs.append(x)
        before[0] = 5
        return np.array(xs), best

    with pytest.raises(NxTypeError, match="that is, or may be, an item of `xs`"):
        f(ZS, X)
