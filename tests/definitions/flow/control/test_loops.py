"""Loops: compiled ones, and what is said of those that cannot be."""

import math

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.control import unrolling
from nxkernel.errors import NxTypeError, TracedValueError


def message(function, *args, kind=NxTypeError):
    with pytest.raises(kind) as raised:
        function(*args)
    return str(raised.value)


def nodes(definition, *args):
    """The size of a graph as it is printed."""
    return len(repr(nx.debug_expr(definition)(*args)).splitlines())


def notes(name):
    return nx.events(name, "miss")[-1].notes


def test_the_graph_of_a_loop_does_not_grow_with_its_turns():
    @nx.defn
    def f(x, *, n):
        total = 0.0
        for i in range(n):
            total += x * i
        return total

    assert float(f(2.0, n=10)) == 90.0
    assert nodes(lambda x: f(x, n=3), 2.0) == nodes(lambda x: f(x, n=3000), 2.0)


@pytest.mark.parametrize("bounds", [(5,), (2, 7), (0, 10, 3), (10, 0, -3), (5, 5), (3, -4, -1), (7, 2)])
def test_ranges_with_static_and_traced_bounds(bounds):
    @nx.defn
    def static(x, *, bounds):
        i, turns = -1, 0
        for i in range(*bounds):
            x = x * 3 + i
            turns += 1
        return x, i, turns

    @nx.defn
    def traced(x, *bounds):
        i, turns = -1, 0
        for i in range(*bounds):
            x = x * 3 + i
            turns += 1
        return x, i, turns

    x, i, turns = 1, -1, 0
    for i in range(*bounds):
        x, turns = x * 3 + i, turns + 1
    assert [int(v) for v in static(1, bounds=bounds)] == [x, i, turns]
    assert [int(v) for v in traced(1, *bounds)] == [x, i, turns]


def test_loops_in_loops():
    @nx.defn
    def product(a, b):
        rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
        c = nx.broadcast(0.0, (rows, columns))
        for i in range(rows):
            for j in range(columns):
                for k in range(inner):
                    c[i, j] += a[i, k] * b[k, j]
        return c

    a, b = np.arange(6.0, dtype=np.float32).reshape(2, 3), np.arange(12.0, dtype=np.float32).reshape(3, 4)
    assert product(a, b).to_list() == (a @ b).tolist()


def test_triangles():
    @nx.defn
    def f(x):
        n = len(x)
        for i in range(n):
            for j in range(i):
                x[i] += x[j]
            for j in range(i + 1, n):
                x[j] -= 1
        return x

    expected = [1.0, 2.0, 3.0, 4.0]
    for i in range(4):
        for j in range(i):
            expected[i] += expected[j]
        for j in range(i + 1, 4):
            expected[j] -= 1
    assert f(nx.tensor([1.0, 2.0, 3.0, 4.0])).to_list() == expected


def test_while_with_break_and_continue():
    @nx.defn
    def f(x):
        turns = skipped = 0
        while True:
            x = x / 2
            turns += 1
            if turns % 3 == 0:
                skipped += 1
                continue
            if x < 1:
                break
        return x, turns, skipped

    x, turns, skipped = 1000.0, 0, 0
    while True:
        x, turns = x / 2, turns + 1
        if turns % 3 == 0:
            skipped += 1
            continue
        if x < 1:
            break
    assert [float(v) for v in f(1000.0)] == [x, turns, skipped]


def test_returns_in_loops():
    @nx.defn
    def first(x, limit):
        for i in range(len(x)):
            for j in range(2):
                if x[i] + j > limit:
                    return i, j
        return -1, -1

    x = nx.tensor([1.0, 2.0, 3.0])
    assert [[int(v) for v in first(x, limit)] for limit in (1.5, 2.5, 3.5, 9.0)] == [[0, 1], [1, 1], [2, 1], [-1, -1]]


def test_else_of_loops():
    @nx.defn
    def f(x, limit):
        for i in range(len(x)):
            if x[i] > limit:
                break
        else:
            i = 100
        return i

    assert [int(f(nx.tensor([1.0, 2.0]), limit)) for limit in (0.5, 1.5, 2.5)] == [0, 1, 100]


def test_rows_of_tensors():
    @nx.defn
    def f(t, w):
        total = 0.0
        for i, (row, factor) in enumerate(zip(t, w)):  # noqa: B905
            total += row * factor + i
        return total

    t = nx.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert f(t, nx.tensor([10.0, 100.0])).to_list() == [311.0, 421.0]
    assert nodes(f, nx.iota((2, 2)), nx.iota((2,))) == nodes(f, nx.iota((50, 2)), nx.iota((50,)))


def test_a_number_before_the_loop_takes_type_and_shape():
    @nx.defn
    def f(x):
        total, best = 0, -math.inf
        for i in range(3):
            total = total + x * i
            best = max(best, x[0] * i)
        return total, best

    total, best = f(nx.f64([1.0, 2.0]))
    assert (str(total.spec), total.to_list()) == ("f64[2]", [3.0, 6.0])
    assert (str(best.spec), float(best)) == ("f64", 2.0)


def test_variables_that_are_first_assigned_in_a_loop():
    @nx.defn
    def f(x, n):
        for i in range(n):
            last = x * i
            pair = (last, i)
        return last, pair[1], i

    assert [v.to_list() for v in f(nx.tensor([1.0, 2.0]), 4)] == [[3.0, 6.0], 3, 3]
    assert f(nx.tensor([1.0, 2.0]), 0)[0].to_list() == [0.0, 0.0]


def test_containers_in_the_state():
    @nx.defn
    def f(x):
        state, count = {"w": [x, 0.0], "name": "sgd"}, (0, 1)
        for i in range(3):
            state["w"][0] = state["w"][0] * 2
            state["w"][1] += i
            count = (count[1], count[0] + count[1])
        return state["w"], count, x if state["name"] == "sgd" else 0

    (w, total), count, x = f(1.0)
    assert (float(w), float(total), [int(v) for v in count], float(x)) == (8.0, 3.0, [2, 3], 1.0)


def test_python_values_that_stay_the_same_stay_python_values():
    @nx.defn
    def f(x):
        axes, names = [0], ("row",)
        for _ in range(3):
            x = x + nx.sum(x, axes=axes)
            axes = axes
            names = names
        return nx.rename(x, names)

    assert f(nx.tensor([1.0, 2.0])).names == ("row",)
    assert notes("f") == ()


def test_a_loop_over_an_unknown_number_cannot_fill_a_list(run):
    f = run("@nx.defn\ndef f(x, n):\n    found = []\n    for i in range(n):\n        found.append(x)\n    return x\n")[
        "f"
    ]
    assert message(f, 1.0, 3) == (
        "this loop cannot be compiled: it appends to `found`, and only the running program knows how often.\n"
        "  cell.py, line 4, in f:\n"
        "    for i in range(n):\n"
        "             ^^^^^^^^\n"
        "  What a loop gathers goes into an array of its full size that is made before it: `found[i] = …`.\n"
        "  Or give it a number of turns that is known while it is traced: that of an option or of a shape."
    )


def test_a_loop_that_is_left_on_a_condition_cannot_fill_a_list(run):
    f = run(
        "@nx.defn\n"
        "def f(x):\n"
        "    found = []\n"
        "    for i in range(5):\n"
        "        found.append(x)\n"
        "        x = x * 2\n"
        "        if x > 9:\n"
        "            break\n"
        "    return x\n"
    )["f"]
    assert message(f, 1.0) == (
        "this loop changes `found`, a Python list, and only the running program knows when it is left by `break`.\n"
        "  cell.py, line 4, in f:\n"
        "    for i in range(5):\n"
        "             ^^^^^^^^\n"
        "  Assign tensors in it, and change `found` before or after it.\n"
        "  What a loop gathers goes into an array of its full size that is made before it: `found[i] = …`."
    )


def test_none_before_a_loop_that_finds_a_value():
    @nx.defn
    def f(x):
        best = None
        for i in range(3):
            best = x[i] if best is None else max(best, x[i])
        return best

    assert float(f(nx.tensor([1.0, 5.0, 3.0]))) == 5.0


COUNTS = """
@nx.defn
def f(x, stop):
    n = x > 2
    for i in range(stop):
        {}
    return n
"""


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        ("n = n + (x > i)", [1, 2, 4, 4]),
        ("n += x > i", [1, 2, 4, 4]),
        ("n = n + 1", [3, 3, 4, 4]),
        ("n = n + n", [0, 0, 8, 8]),
        ("if nx.sum(x) > 10 + i: n = n + 1", [0, 0, 1, 1]),
        ("if nx.sum(x) > i: n = n + (x > i)", [1, 2, 4, 4]),
        ("for j in range(2): n = n + (x > i)", [2, 4, 7, 7]),
    ],
)
@pytest.mark.parametrize("stop", [3, nx.tensor(3)])
def test_a_predicate_that_is_counted(run, body, counts, stop):
    result = run(COUNTS.format(body))["f"](nx.tensor([1, 2, 3, 4]), stop)
    assert (result.type, result.to_list()) == ("s64", counts)


def test_a_predicate_that_is_counted_while_it_is_few(run):
    cell = "@nx.defn\ndef f(x):\n    n = nx.any(x > 2)\n    while n < 4:\n        n = n + (x[0] > 0)\n    return n\n"
    assert run(cell)["f"](nx.tensor([1, 2, 3])).to_list() == 4
    mapped = run(COUNTS.format("n = n + (x > i)") + "\ng = nx.vmap(f, in_axes=(0, None))")["g"]
    assert mapped(nx.tensor([1, 2, 3, 4]), 3).to_list() == [1, 2, 4, 4]
    # Without a turn it is what it began as, in the type that turns would give.
    result = run(COUNTS.format("n = n + 1"))["f"](nx.tensor([1, 3]), nx.tensor(0))
    assert (result.type, result.to_list()) == ("s64", [0, 1])


@pytest.mark.parametrize("body", ["n = ~n + 1", "n = nx.select(n, 2, 3) + n", "n = n * 0.5"])
def test_a_predicate_that_is_more_than_counted(run, body):
    told = message(run(COUNTS.format(body))["f"], nx.tensor([1, 2, 3, 4]), nx.tensor(3))
    assert told.startswith("this loop changes the type of `n`.")
    cell = "@nx.defn\ndef f(x):\n    n = nx.any(x > 5)\n    while ~n:\n        n = n + (x[0] > 0)\n    return n\n"
    assert message(run(cell)["f"], nx.tensor([1, 2, 3])).startswith("this loop changes the type of `n`.")


def test_a_loop_that_changes_a_type(run):
    f = run("@nx.defn\ndef f(acc):\n    for i in range(3):\n        acc = acc * 1.5\n    return acc\n")["f"]
    assert message(f, nx.tensor([0, 1])) == (
        "this loop changes the type of `acc`.\n"
        "  cell.py, line 3:  for i in range(3):   s64[2] before a turn\n"
        "  cell.py, line 4:  acc = acc * 1.5      f32[2] after it\n"
        '  Convert it before the loop, e.g. acc = nx.as_type(acc, "f32").'
    )


def test_a_loop_that_changes_a_shape(run):
    f = run(
        "@nx.defn\n"
        "def f(x):\n"
        "    acc = x * 2\n"
        "    for i in range(3):\n"
        "        acc = nx.concatenate([acc, x])\n"
        "    return acc\n"
    )["f"]
    assert message(f, np.arange(2)) == (
        "this loop changes the shape of `acc`.\n"
        "  cell.py, line 3:  acc = x * 2                      s64[2] before a turn\n"
        "  cell.py, line 5:  acc = nx.concatenate([acc, x])   s64[4] after it\n"
        "  Give `acc` its full shape before the loop, and put parts into it: nx.put_slice(t, [i], part)."
    )


def test_a_while_that_cannot_end(run, monkeypatch):
    monkeypatch.setattr(unrolling, "MOST", 100)
    f = run("@nx.defn\ndef f(x):\n    while x.shape == (2,):\n        x = x + 1\n    return x\n")["f"]
    with pytest.warns(nx.errors.UnrolledWarning, match="its condition does not depend on what the loop computes"):
        text = message(f, np.ones(2))
    assert text.split("\n")[0] == (
        "this loop is written out while it is traced because its condition does not depend on what the loop computes, "
        "and takes more than 100 turns."
    )


def test_a_static_value_in_a_loop_over_an_unknown_number():
    @nx.defn
    def f(x, n):
        for i in range(n):
            x = x + nx.sum(nx.iota((i,)))
        return x

    assert message(f, 1.0, 3, kind=TracedValueError).startswith("A static whole number")


def test_a_condition_with_axes(run):
    f = run("@nx.defn\ndef f(x):\n    while x > 0:\n        x = x - 1\n    return x\n")["f"]
    assert message(f, nx.tensor([1.0, 1.0])) == (
        "the condition of this `while` is one number, got bool[2].\n"
        "  cell.py, line 3, in f:\n"
        "    while x > 0:\n"
        "          ^^^^^\n"
        "  nx.any(t) asks for one that is true, nx.all(t) for all of them; nx.select(t, a, b) chooses for each."
    )


def test_functions_that_are_called_in_loops_are_part_of_them():
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    @nx.defn
    def longest(limit):
        best = 0
        for n in range(1, limit):
            best = max(best, collatz(n))
        return best

    assert int(longest(30)) == max(map(collatz, range(1, 30)))


def test_zero_turns_change_nothing():
    @nx.defn
    def f(x, *, n):
        i = 7
        for i in range(n):
            x = x * i
        while x.shape == (1,):
            x = x + 1
        return x, i

    x, i = f(nx.tensor([1.0, 2.0]), n=0)
    assert (x.to_list(), int(i)) == ([1.0, 2.0], 7)


def test_a_while_of_vectorized_values():
    @nx.defn
    def f(x):
        while nx.sum(x) < 100:
            x = x * 2
        return x

    assert message(f, nx.vectorize(nx.tensor([1.0, 2.0]), "row")).startswith("a value with vectorized axes cannot be")


@pytest.mark.parametrize("promotion", ["nx", "numpy"])
def test_a_loop_with_an_else_gives_a_variable_its_first_value(promotion):
    def of_range(x, k):
        for i in range(4):
            if x[i] == k:
                found = i
                break
        else:
            found = -1
        return found

    def of_array(x, k):
        for v in x:
            doubled = v * 2
            if v > k:
                found = doubled
                break
        else:
            found = -1
        return found

    def of_while(x, k):
        i = 0
        while i < 4:
            if x[i] == k:
                found = i * 10
                break
            i += 1
        else:
            found = -1
        return found

    def nested(x, k):
        for n in range(2, 20):
            for d in range(2, n):
                if n % d == 0:
                    least = d
                    break
            else:
                least = n
            k = k + least * x[0]
        return k

    x = np.array([3, 1, 3, 2])
    for function in (of_range, of_array, of_while, nested):
        compiled = nx.defn(function, promotion=promotion)
        for k in (1, 3, 9):
            assert int(compiled(x, k)) == function(x, k), (function, k)
        assert not nx.events(compiled.__name__, "miss")[-1].notes


@pytest.mark.usefixtures("ahead_of_calls")
def test_a_variable_that_no_turn_may_have_given_a_value_stays_refused():
    @nx.defn
    def f(x):
        for i in range(4):
            if x[i] > 2:
                break
            if x[i] > 1:
                found = i
                break
        else:
            found = -1
        return found

    assert "`found` may have no value here" in message(f, np.array([1, 2, 3, 4]), kind=nx.errors.NxError)


@pytest.mark.parametrize("begin", ["n", "1000", "-1"])
@pytest.mark.parametrize("turns", [0, 2])
@pytest.mark.parametrize("loop", ["for i in range(k):\n        y = x[i]", "for v in x[:k]:\n        y = v"])
def test_a_number_that_no_turn_replaces_stays_what_it_is(run, begin, turns, loop):
    """Held in the narrow type of what turns give, it would wrap around."""
    f = run(f"@nx.defn(promotion='numpy')\ndef f(x, n, k):\n    y = {begin}\n    {loop}\n    return y\n")["f"]
    assert f(np.array([3, 200, 7], np.uint8), 1000, turns) == (200 if turns else 1000 if begin == "n" else int(begin))


def test_a_break_where_the_condition_is_a_number():
    @nx.defn
    def f(x):
        while x:
            x = x - 1
            if x < 3:
                break
        return x

    assert [float(f(value)) for value in (8.0, 1.0, 0.0)] == [2.0, 0.0, 0.0]
