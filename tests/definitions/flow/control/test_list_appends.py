# ruff: noqa: B007, PERF401, PERF402 - programs as people write them
"""What loops append to lists: rows of arrays where nothing can tell the difference, and NumPy's results in any case."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X = np.array([1.0, 2.0, 3.0])
ZS = np.random.default_rng(0).random((6, 3))
LOOPS, WRITTEN_OUT = [], []


def loop(program):
    """A program of which the loops stay loops."""
    LOOPS.append(pytest.param(program, id=program.__name__))


def written_out(program):
    """One of which a loop is written out turn by turn, to be right."""
    WRITTEN_OUT.append(pytest.param(program, id=program.__name__))


@loop
def scan(zs, x):
    xs = []
    for z in zs:
        x = np.sin(x) + z
        xs.append(x)
    return np.array(xs)


@loop
def scan_first(zs, x):
    xs = [x]
    for z in zs:
        x = np.sin(x) + z
        xs.append(x)
    return np.array(xs), len(xs), xs[-1]


@loop
def appended_before_it_changes(zs, x):
    xs = []
    for z in zs:
        xs.append(x)
        x = np.sin(x) + z
    return np.stack(xs)


@written_out
def in_place(zs, x):
    x = x.copy()
    xs = []
    for z in zs:
        x[0] += z[0]
        xs.append(x)
    return np.array(xs)


@loop
def in_place_copy(zs, x):
    x = x.copy()
    xs = []
    for z in zs:
        x[0] += z[0]
        xs.append(x.copy())
    return np.array(xs)


@written_out
def next_in_place(zs, x):
    xs = []
    for z in zs:
        x[1] = 7
        x = x * 2
        xs.append(x)
    return np.array(xs)


@loop
def array_written_after(zs, x):
    xs = []
    for z in zs:
        x = x + z
        xs.append(x)
    x[0] = 100
    return np.array(xs), x


@loop
def item_written_after(zs, x):
    xs = []
    for z in zs:
        x = x + z
        xs.append(x)
    xs[-1][0] = 100
    return np.array(xs), x


@written_out
def views_of_what_goes_on(zs, x):
    xs = []
    for z in zs:
        x = x + z
        xs.append(x[:2])
    x[0] = 100
    return np.array(xs), x


@loop
def tuples(zs, x):
    ps = []
    for k, z in enumerate(zs):
        x = x + z
        ps.append((x, x.sum(), k * 0.5))
    return np.array([p[0] for p in ps]), np.array([p[1] for p in ps]), sum(p[2] for p in ps)


@loop
def nested(zs, x):
    rows = []
    for i in range(4):
        row = []
        for z in zs:
            row.append(z * i + x)
        rows.append(np.array(row))
    return np.array(rows)


@written_out
def one_list_of_two_loops(zs, x):
    rows = []
    for i in range(4):
        for z in zs:
            rows.append(z * i + x)
    return np.array(rows)


@loop
def two_lists(zs, x):
    a, b = [], []
    for z in zs:
        a.append(z + 1)
        b.append(z.sum())
    return np.array(a), np.array(b)


@written_out
def whole_numbers(zs, x):
    ks = []
    for k in range(5):
        ks.append(k * 2)
    return x[: ks[1]], np.array(ks)


@loop
def changed_on_a_condition(zs, x):
    xs = []
    for z in zs:
        if z[0] > 0.5:
            x = x + z
        xs.append(x)
    return np.array(xs)


@written_out
def passed_over(zs, x):
    xs = []
    for k, z in enumerate(zs):
        if k % 2:
            continue
        xs.append(z)
    return np.array(xs)


@written_out
def left_by_break(zs, x):
    xs = []
    for k in range(7):
        if k == 3:
            break
        xs.append(x * k)
    return np.array(xs)


@loop
def alias_before(zs, x):
    xs = []
    y = x.copy()
    x = y
    for z in zs:
        xs.append(x)
        x = x + z
    y[0] = 50
    return np.array(xs)


@written_out
def an_argument_itself(zs, x):
    xs = []
    for z in zs:
        xs.append(zs)
    return np.array(xs)


@loop
def whole_numbers_that_become_floats(zs, x):
    x = np.zeros(3, int)
    xs = []
    for z in zs:
        xs.append(x)
        x = x + z
    return np.array(xs)


@loop
def read_in_many_ways(zs, x):
    xs = []
    for z in zs[::-1]:
        x = x * 0.5 + z
        xs.append(x)
    return np.array(xs[::-1]), np.concatenate(xs), np.vstack(xs), np.mean(xs, axis=0)


@written_out
def items_read_in_turns(zs, x):
    xs = [x]
    for z in zs:
        xs.append(xs[-1] + z)
    return np.array(xs)


@written_out
def length_read_in_turns(zs, x):
    xs = []
    for z in zs:
        x = x + len(xs)
        xs.append(x)
    return np.array(xs)


@written_out
def aliased_list(zs, x):
    xs = []
    ys = xs
    for z in zs:
        x = x + z if not ys else x * 2 + ys[-1]
        xs.append(x)
    return np.array(xs)


@written_out
def closure(zs, x):
    xs = []

    def last():
        return xs[-1] if xs else 0.0

    for z in zs:
        x = x + z + last()
        xs.append(x)
    return np.array(xs)


@loop
def complex_numbers(zs, x):
    xs = []
    for z in zs:
        xs.append(z * 1j)
    return np.array(xs)


@loop
def truth_values(zs, x):
    xs = []
    for z in zs:
        xs.append(z > 0.5)
    return np.array(xs)


@loop
def numbers(zs, x):
    out = []
    v = 1.0
    for z in zs:
        v = v * 0.5 + z[0]
        out.append(v)
    return np.array(out), min(out), max(out), sum(out)


@written_out
def arrays_that_change_places_and_are_written(zs, x):
    a, b = x.copy(), x * 2
    xs = []
    for z in zs:
        a, b = b, a
        a[0] += z[0]
        xs.append(b)
    return np.array(xs)


@loop
def arrays_that_change_places(zs, x):
    a, b = x.copy(), x * 2
    xs = []
    for z in zs:
        a, b = b, a + z
        xs.append(a)
    return np.array(xs), a, b


@loop
def written_after_it_is_appended(zs, x):
    xs = []
    for z in zs:
        y = x * 2
        xs.append(y)
        y[0] = z[1]
    return np.array(xs)


@loop
def no_turn(zs, x):
    xs = []
    for z in zs[:0]:
        xs.append(z)
    return len(xs)


@loop
def two_loops_of_one_list(zs, x):
    xs = []
    for z in zs:
        x = x + z
        xs.append(x)
    for z in zs:
        x = x - z
        xs.append(x)
    return np.array(xs)


@loop
def in_a_while(zs, x):
    k = 0
    while k < 3:
        xs = []
        for z in zs:
            x = x + z * 0.1
            xs.append(x)
        x = np.array(xs).mean(axis=0)
        k += 1
    return x


@written_out
def a_list_of_each_turn(zs, x):
    xs = []
    for z in zs:
        xs = []
        xs.append(z)
    return np.array(xs)


@loop
def metropolis(zs, x):
    xs = [x]
    n = 0
    for z in zs:
        y = x + z - 0.5
        if np.sum(y * y) < np.sum(x * x) + z[1]:
            x = y
            n += 1
        xs.append(x)
    return np.array(xs), n


@loop
def before_pair(zs, x):
    xs = []
    for z in zs:
        xs.append((x, z.sum()))
        x = x + z
    return np.array([a for a, _ in xs]), np.array([b for _, b in xs]), x


def agree(program):
    """Compare a program compiled with what Python makes of it."""
    wanted, found = program(ZS.copy(), X.copy()), nx.defn(program)(ZS.copy(), X.copy())
    pairs = zip(wanted, found, strict=True) if isinstance(wanted, tuple) else [(wanted, found)]
    for one, other in pairs:
        one, other = np.asarray(one), np.asarray(other)
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(other, one, rtol=1e-12)
    return nx.events(program.__name__, "miss")[-1].notes


@pytest.mark.parametrize("program", LOOPS)
def test_loops_that_stay_loops(program):
    assert agree(program) == ()


@pytest.mark.parametrize("program", WRITTEN_OUT)
def test_loops_that_are_written_out(program):
    assert "written out" in agree(program)[0]


def lines(definition, *args):
    return len(repr(nx.debug_expr(definition)(*args)).splitlines())


def test_a_graph_does_not_grow_with_the_turns():
    @nx.defn
    def f(zs, x):
        xs = [x]
        for z in zs:
            x = np.sin(x) + z
            xs.append(x)
        return np.array(xs)

    assert lines(f, ZS, X) == lines(f, np.zeros((300, 3)), X)


def test_tensors_by_the_rules_of_nx():
    @nx.defn
    def f(t, *, n):
        found = []
        for i in range(2, 2 + 3 * n, 3):
            t = nx.rename(t * 2 + i, ["x"])
            found.append(t)
        return nx.stack(found), found[0], {"last": found[-1]}

    whole, first, last = f(nx.tensor([0.0, 1.0], names=["x"]), n=3)
    assert whole.to_list() == [[2.0, 4.0], [9.0, 13.0], [26.0, 34.0]]
    assert (first.to_list(), first.names) == ([2.0, 4.0], ("x",))
    assert last["last"].to_list() == [26.0, 34.0]
    assert nx.events("f", "miss")[-1].notes == ()


def test_gradients_and_vmap():
    def f(x):
        xs = []
        for k in range(4):
            x = nx.sin(x) * (k + 1)
            xs.append(x)
        return nx.sum(nx.stack(xs) ** 2)

    def plain(x):
        total = 0.0
        for k in range(4):
            x = np.sin(x) * (k + 1)
            total += x**2
        return total

    slope = nx.grad(nx.defn(f))(0.3)
    np.testing.assert_allclose(float(slope), (plain(0.3 + 1e-4) - plain(0.3 - 1e-4)) / 2e-4, rtol=1e-2)
    many = nx.vmap(nx.defn(f))(np.array([0.3, 0.5]))
    np.testing.assert_allclose(np.asarray(many), [plain(0.3), plain(0.5)], rtol=1e-6)


def test_an_array_that_may_be_an_item_is_not_written_to():
    @nx.defn
    def f(zs, x):
        xs = []
        for z in zs:
            if z[0] > 0.5:
                x = x + z
            xs.append(x)
        x[0] = 5
        return np.array(xs)

    with pytest.raises(NxTypeError) as raised:
        f(ZS, X)
    assert str(raised.value).splitlines()[0] == (
        "an array is assigned into that is, or may be, an item of `xs`: only the running program knows which."
    )
    assert str(raised.value).splitlines()[-1] == "  Append copies, as in xs.append(x.copy())."


def test_types_of_numbers_are_those_of_the_last_trace():
    @nx.defn
    def f(zs):
        x, xs = 0, []
        for z in zs:
            xs.append(x * 1.0)
            x = x + z
        return np.array(xs)

    np.testing.assert_allclose(np.asarray(f(ZS[:, 0])), [0, *np.cumsum(ZS[:-1, 0])])
