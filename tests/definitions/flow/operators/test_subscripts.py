"""Parts of values, and assignments in place, as definitions write them."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.tracing.syntax_runtime import get_item, in_place, set_item
from nxkernel.errors import NxTypeError

X = np.arange(6.0, dtype=np.float32)


def test_assignments_change_what_is_computed_anew_for_its_name_only():
    @nx.defn(promotion="nx")
    def f(x):
        x = x + 0
        before = x
        x[1] = 10
        x[2:4] *= 2
        x[-1] += x[0] + 1
        return x, before

    changed, before = f(nx.tensor(X))
    assert changed.to_list() == [0.0, 10.0, 4.0, 6.0, 4.0, 6.0]
    assert before.to_list() == X.tolist()


def test_masks_in_place():
    @nx.defn
    def f(x, y):
        x[x > 3] *= 10
        low = x < 2
        x[low] = y[low] * 2 - x[low]
        return x

    expected, other = X.copy(), X + 100
    expected[expected > 3] *= 10
    low = expected < 2
    expected[low] = other[low] * 2 - expected[low]
    assert f(X.copy(), other.copy()).tolist() == expected.tolist()


@pytest.mark.parametrize("code", ["x[x > 1] + x", "nx.sum(x[x > 1])", "len(x[x > 1])", "x[x > 1] * x[x > 2]"])
def test_what_a_mask_picks_is_no_value(run, code):
    f = run(f"@nx.defn\ndef f(x):\n    return {code}\n")["f"]
    with pytest.raises(NxTypeError) as raised:
        f(nx.tensor(X))
    assert str(raised.value) == (
        "x[mask] has a size that only the values of the mask tell: x is f32[6], the mask bool[6].\n"
        f"  cell.py, line 3:  return {code}\n"
        "  nx.select(mask, x, 0) keeps the shape, and nx.sum(nx.select(mask, x, 0)) sums what the mask picks;\n"
        "  x[mask] = v and x[mask] *= v change what it picks."
    )


def test_several_index_arrays_go_together():
    @nx.defn
    def f(t, i, j):
        return t[i, j], t[i, 1], t[1:3, i]

    t, i, j = np.arange(12).reshape(3, 4), np.array([0, 1]), np.array([3, 2])
    pairs, column, block = f(t, i, j)
    assert pairs.tolist() == t[i, j].tolist()
    assert column.tolist() == t[i, 1].tolist()
    assert block.tolist() == t[1:3, i].tolist()


def test_python_sequences_at_traced_places():
    @nx.defn
    def f(x, i):
        table, rows, numbers = [1.5, 2.5, 3.5], (x, x * 2), range(10, 20, 3)
        return table[i], rows[i], numbers[i]

    assert [v.to_list() for v in f(nx.tensor([1.0, 2.0]), 1)] == [2.5, [2.0, 4.0], 13]


def test_python_containers_stay_themselves():
    names = {"a": [1, 2]}
    assert get_item(get_item(names, "a"), 1) == 2
    assert set_item(names, "b", 5) is names
    assert names["b"] == 5
    numbers = [1]
    assert in_place("+", numbers, [2]) is numbers
    assert (numbers, in_place("-", 5, 2), in_place("**", 2, 3)) == ([1, 2], 3, 8)


def test_operators_in_place_widen_types():
    assert in_place("/", nx.tensor([1, 2]), 2).to_list() == [0.5, 1.0]
    assert in_place("@", nx.tensor([1, 2]), nx.tensor([3, 4])).to_list() == 11


def test_parts_of_objects():
    class Model:
        def __init__(self, weights):
            self.weights = weights

    @nx.defn(promotion="nx")
    def f(x):
        model = Model(x)
        model.weights[0] = 5
        parts = {"w": [x, x]}
        parts["w"][1][2] = 7
        return model.weights, parts["w"]

    given = X.copy()
    for part in (f(given)[0], *f(given)[1]):
        assert part.to_list() == given.tolist() == [5.0, 1.0, 7.0, 3.0, 4.0, 5.0]


def _members(a, n):
    weights, moves, flags = (0.1, 1 / 3), ((0, 1.5), (1, -2.0)), [True, False]
    total, seen, tens = 0.0, 0, 0
    for i in range(n):
        step, rise = moves[i % 2]
        total += weights[i % 2] * rise + moves[-1 - i % 2][0]
        seen += flags[i % 2]
        tens += [10**12, 3][i % 2]
        a[step] *= weights[i % 2]
    return total, seen, tens, a * weights[n % 2], flags[n % 2], moves[n % 2][1], [a, a + 1][n % 2]


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_members_of_sequences_are_numbers_as_pythons_in_numpy_programs(kind):
    args = [(np.ones(3, kind), np.int64(5)) for _ in range(2)]
    for found, expected in zip(nx.defn(_members)(*args[0]), _members(*args[1]), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6 if kind == "f4" else 1e-12)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(args[0][0], args[1][0])


def test_pairs_of_numbers_in_definitions():
    @nx.defn(promotion="nx")
    def f(i):
        x, y = ((1, 2), (3, 4))[i]
        return x * 10 + y

    assert [int(f(0)), int(f(1))] == [12, 34]


@pytest.mark.usefixtures("ahead_of_calls")
def test_an_array_of_several_is_only_read(run):
    source = (
        "import numpy as np\n"
        "def f(a, b, n):\n"
        "    arrays = [a, b]\n"
        "    for i in range(n):\n"
        "        arrays[i % 2][0] = 1\n"
        "    return a\n"
    )
    f = nx.defn(run(source)["f"], promotion="numpy")
    with pytest.raises(NxTypeError) as raised:
        f(np.zeros(3), np.ones(3), np.int64(5))
    assert str(raised.value) == (
        "an array that a list gave is assigned into, and which of the arrays in the list that is only the running "
        "program knows.\n"
        "  cell.py, line 5:  arrays[i % 2][0] = 1\n"
        "  Keep them in one array, x = np.stack(arrays), and assign into x[k].\n"
        "  To change a copy alone, begin with it: x = arrays[k].copy()."
    )


def test_lists_in_lists_are_assigned_into():
    def table(x):
        rows = [[0.0] * 3 for _ in range(3)]
        for i in range(3):
            for j in range(3):
                rows[i][j] = x[i] * x[j] + rows[i][j - 1]
        return np.array(rows)

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(nx.defn(promotion="numpy")(table)(x), table(x))


@pytest.mark.usefixtures("ahead_of_calls")
def test_a_list_in_a_list_at_a_place_of_the_program(run):
    f = run(
        "import numpy as np\n@nx.defn\ndef f(x):\n    rows = [[0.0, 1.0], [2.0, 3.0]]\n"
        "    rows[np.argmax(x)][0] = 1.0\n    return x\n"
    )["f"]
    with pytest.raises(NxTypeError) as raised:
        f(np.ones(2))
    assert str(raised.value) == (
        "A static whole number (a shape, an axis, range()) asks for the data of a traced value of type s64.\n"
        "  cell.py, line 5:  rows[np.argmax(x)][0] = 1.0\n"
        "  While a definition is traced its tensors have a type and a shape but no data yet.\n"
        "  Make it an option: declare it after `*`, as in def f(x, *, n), and call f(x, n=3)."
    )
