"""``in``, and sets and dicts of what is traced, by the rules of Nx and of NumPy."""

import collections
import functools

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, TracedValueError

X = np.array([3, 1, 3, 2])

# What people write is not always how it would be written here.
# ruff: noqa: C408, C416, C420, RUF060


def number_set(x):
    return len(set(x))


def number_set_comprehension(x):
    return len({v for v in x})


def number_displayed(x):
    return len({x[0], x[1]})


def number_seen(x):
    seen, count = set(), 0
    for v in x:
        if v not in seen:
            seen.add(v)
            count += 1
    return count


def counted(x):
    found = {}
    for v in x:
        found[v] = found.get(v, 0) + 1
    return len(found)


def counted_by_default(x):
    found = collections.defaultdict(int)
    found[x[0]] += 1
    return found[3]


def counter(x):
    return len(collections.Counter(x))


def paired(x):
    return len(dict(zip(x, x, strict=True)))


def comprehended(x):
    return len({v: 1 for v in x})


def assigned(x):
    found = {}
    found[x[0], 1] = x[1]
    return x


_GIVEN, _ASKED = "a dict is given a key", "a dict is asked for a key"


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize("promotion", ["nx", "numpy"])
@pytest.mark.parametrize(
    ("function", "what"),
    [
        (number_set, "a set is given a member"),
        (number_set_comprehension, "a set is given a member"),
        (number_displayed, "a set is given a member"),
        (number_seen, "a set is given a member"),
        (counted, _ASKED),
        (counted_by_default, _ASKED),
        (counter, _GIVEN),
        (paired, _GIVEN),
        (comprehended, _GIVEN),
        (assigned, _GIVEN),
    ],
)
def test_sets_and_dicts_do_not_go_by_traced_values(function, what, promotion):
    with pytest.raises(TracedValueError) as raised:
        nx.defn(function, promotion=promotion)(X)
    first, second, *_ = str(raised.value).split("\n")
    assert first.startswith(f"{what} that only the running program knows: s64")
    assert second.startswith("  test_membership.py, line ")


@pytest.mark.usefixtures("ahead_of_calls")
def test_what_is_told_to_write_instead(run):
    source = "def f(x):\n    seen = set()\n    for v in x:\n        if v not in seen:\n            seen.add(v)\n"
    with pytest.raises(TracedValueError) as raised:
        nx.defn(run(source)["f"], promotion="numpy")(X)
    assert str(raised.value) == (
        "a set is given a member that only the running program knows: s64.\n"
        "  cell.py, line 5:  seen.add(v)\n"
        "  Keep what was seen in an array: seen = np.zeros(n, int), then `if seen[v] == 0` and `seen[v] = 1`."
    )
    with pytest.raises(TracedValueError) as raised:
        nx.defn(run("def f(x):\n    return {x[0]: 1}\n")["f"])(nx.tensor(X))
    assert str(raised.value) == (
        "a dict is given a key that only the running program knows: s64.\n"
        "  cell.py, line 2:  return {x[0]: 1}\n"
        "  Put the values into one array, and take them by number; or choose with `if`.\n"
        "  Counts are an array too: count = nx.broadcast(0, (n,)), then `count[v] += 1`."
    )
    with pytest.raises(TracedValueError) as raised:
        nx.defn(run("def f(x):\n    return len(set(x))\n")["f"], promotion="numpy")(X / 2)
    assert str(raised.value).endswith("  Put them in order, np.sort(x), and compare neighbours.")


def test_what_is_told_to_write_works():
    def f(x):
        seen, number = np.zeros(5, int), 0
        for v in x:
            if seen[v] == 0:
                seen[v] = 1
                number += 1
        return number

    assert int(nx.defn(f)(X)) == f(X) == 3


@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_keys_that_are_known_are_taken(promotion):
    @nx.defn(promotion=promotion)
    def f(x):
        weights, made = {0: 1.0, 1: 2.0, 2: 3.0}, {}
        for i in range(3):
            made[i, "weight"] = weights[i] + weights.get(i + 1, 0.0)
        return made[0, "weight"] * x + made[2, "weight"] + len({1, 2, *range(4)}) + len(dict(a=1, b=2))

    assert np.asarray(f(X)).tolist() == (3.0 * X + 3.0 + 4 + 2).tolist()


def test_numbers_that_are_keys_become_static_in_numpy_programs():
    def f(x, n):
        return {1: x, 2: x * 2.0}[n]

    f = nx.defn(f, promotion="numpy")
    assert np.asarray(f(X, 2)).tolist() == [6.0, 2.0, 6.0, 4.0]
    assert np.asarray(f(X, 1)).tolist() == X.tolist()


@functools.cache
def _weight(v):
    return v * 2 if v > 1 else v


def test_functions_with_a_cache_forget_what_is_traced():
    f = nx.defn(lambda x: _weight(x[0]) + _weight(5))
    before = _weight.cache_info().currsize
    assert int(f(X)) == 16
    assert _weight.cache_info().currsize == before + 1


MEMBERS = [
    lambda x: x[0] in (2, 3),
    lambda x: x[1] in [2, 3],
    lambda x: x[1] not in (2, 3),
    lambda x: x[0] in {3: 1, 4: 2},
    lambda x: x[0] in {1, 2},
    lambda x: x[0] in {"a": 3}.values(),
    lambda x: x[0] in (),
    lambda x: 3 in x,
    lambda x: 4 in x,
    lambda x: x[0] in x[1:],
    lambda x: 2 in (x[0], x[3]),
    lambda x: x[0] in (None, "a", 3),
    lambda x: x[0] in ("a", None),
    lambda x: (x[0], x[1]) in [(1, 3), (3, 1)],
    lambda x: (x[0], x[1]) in [(1, 3), (3,)],
    lambda x: x[3] in range(0, 10, 2),
    lambda x: x[0] in range(0, 10, 2),
    lambda x: x[1] in range(10, 0, -3),
    lambda x: x[0] in range(10, 0, -3),
    lambda x: x[0] in list(range(20)),
    lambda x: x[0] in [each + 0.5 for each in range(20)],
    lambda x: 1 < x[0] in (3, 4),
    lambda x: 1 < x[0] not in (3, 4) != 5,
    lambda x: x[0] in (2, 3) or x[0] in (4, 5),
    lambda x: 7 if x[0] in (2, 3) else 8,
]


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("promotion", ["nx", "numpy"])
@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("function", MEMBERS)
def test_members_of_what_is_known_and_what_is_traced(function, kind, promotion):
    found = nx.defn(function, promotion=promotion)(X.astype(kind))
    assert int(found) == function(list(map(kind, X)))


@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_members_of_ranges_with_traced_bounds(promotion):
    found = nx.defn(lambda x: (x[0] in range(x[1], x[0]), x[3] in range(x[1], x[0])), promotion=promotion)(X)
    assert [int(each) for each in found] == [0, 1]


def test_members_in_loops_stay_loops():
    @nx.defn
    def f(x):
        allowed, count = np.array([2, 3, 5]), 0
        for v in x:
            if v in allowed and v not in (5, 7):
                count += 1
        return count

    assert int(f(X)) == 3
    assert not nx.events(f.__name__, "miss")[-1].notes


def test_fractions_are_in_no_range():
    for promotion in ("nx", "numpy"):
        found = nx.defn(lambda x: (x[0] in range(5), x[1] in range(5)), promotion=promotion)(np.array([2.5, 2.0]))
        assert [int(each) for each in found] == [0, 1]


def test_many_numbers_are_compared_as_one_array():
    few, many = (nx.defn(lambda x, *, n: x[0] in list(range(n))) for _ in range(2))
    assert len(repr(nx.debug_expr(few)(X, n=50)).splitlines()) == len(repr(nx.debug_expr(many)(X, n=500)).splitlines())


def test_values_of_numpy_programs_have_no_hash():
    @nx.deftransform
    def distinct(values):
        return len(set(values))

    with pytest.raises(nx.errors.NxTypeError) as raised:
        nx.defn(lambda x: x * distinct(list(x)), promotion="numpy")(X)
    first, _, last = str(raised.value).split("\n")
    assert first == "a set or a dict is to go by a value that only the running program knows: s64."
    assert last == "  Keep what was seen, or counted, in an array: count[v] += 1."


def test_arrays_are_members_of_nothing():
    with pytest.raises(NxTypeError, match=r"^what `in` compares with a member is one number, got bool\[2\]\."):
        nx.defn(number_displayed_in)(np.ones(2))


def number_displayed_in(x):
    return x in [1, 2]


@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_what_is_the_member_is_not_compared(promotion):
    def seen(x):
        return int(x in [1.0, x]) + 2 * int(x in [1.0, 2.0]) + 4 * int((x, 1) in [(x, 1)])

    definition = nx.defn(seen, promotion=promotion)
    for x in (float("nan"), 1.0, 3.0):
        assert int(definition(x)) == seen(x)

    def in_itself(x):
        return x if x in [x] else -x

    assert nx.defn(in_itself, promotion=promotion)(np.ones(2)).tolist() == in_itself(np.ones(2)).tolist()
