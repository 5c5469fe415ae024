"""What checked programs find wrong while they run: the errors of Python and NumPy, with line, turn and entry."""

import traceback

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import DivisionByZeroError, NanError, NxIndexError, NxValueError

BOTH = pytest.mark.parametrize("promotion", ["nx", "numpy"])


def found(kind, function, *arguments):
    """The first line of the error of a checked call, the line that it names, and its note."""
    with nx.checked(), pytest.raises(kind) as caught:
        function(*arguments)
    [*_, last] = [step for step in traceback.extract_tb(caught.tb) if step.filename == __file__]
    note = "".join(getattr(caught.value, "__notes__", []))
    return str(caught.value).partition("\n")[0], last.line, note


def picked(x, places):
    total = 0.0
    for place in places:
        total += x[place]
    return total


@BOTH
@pytest.mark.parametrize("compiler", ["numba_cpu", "evaluator"])
def test_an_index_in_a_loop(promotion, compiler):
    f = nx.defn(picked, promotion=promotion, compiler=compiler)
    x = np.array([1.0, 2.0])
    for _ in range(2):
        assert found(NxIndexError, f, x, np.array([0, 1, 7])) == (
            "index 7 is out of bounds for axis 0 with size 2",
            "total += x[place]",
            "In turn 3 of the loop.",
        )
        with nx.checked():
            assert float(f(x, np.array([0, 1, 1]))) == 5.0
        # Without it, it is clamped.
        assert float(f(x, np.array([0, 1, 7]))) == 5.0


def test_negative_indices_count_back_by_numpys_rules_and_are_wrong_by_nxs():
    x, places = np.array([1.0, 2.0]), np.array([0, -1, -3])
    told = "In turn 3 of the loop."
    error = found(NxIndexError, nx.defn(picked, promotion="numpy"), x, places)
    assert (error[0], error[2]) == ("index -3 is out of bounds for axis 0 with size 2", told)
    with pytest.raises(IndexError, match="index -3 is out of bounds for axis 0 with size 2"):
        picked(x, places)
    error = found(NxIndexError, nx.defn(picked, promotion="nx"), x, places)
    assert (error[0], error[2]) == ("index -1 is out of bounds for axis 0 with size 2", "In turn 2 of the loop.")


X = nx.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize(
    ("function", "index", "text"),
    [
        (lambda i: X[i], 2, "index 2 is out of bounds for axis 0 with size 2"),
        (lambda i: X[0, i], -1, "index -1 is out of bounds for axis 1 with size 3"),
        (lambda i: X[i], [0, 1, 9], "index 9 is out of bounds for axis 0 with size 2"),
        (lambda i: nx.take(X, i, axis=1), [[0, 3]], "index 3 is out of bounds for axis 1 with size 3"),
        (lambda i: nx.gather(X, i), [[1, 2], [1, -4]], "index -4 is out of bounds for axis 1 with size 3"),
        (lambda i: nx.take_along_axis(X, i, axis=1), [[5], [0]], "index 5 is out of bounds for axis 1 with size 3"),
        (
            lambda i: nx.slice(X, [0, i], [2, 2]), 2,
            "2 elements from index 2 on are out of bounds for axis 1 with size 3",
        ),
        (lambda i: nx.put_slice(X, [i, 0], X[:1]), 3, "index 3 is out of bounds for axis 0 with size 2"),
        (lambda i: nx.indexed_add(X, i, nx.tensor([1.0])), [[0, 4]], "index 4 is out of bounds for axis 1 with size 3"),
    ],
)  # fmt: skip
def test_functions_that_take_indices(function, index, text):
    kind = "u8" if np.min(index) >= 0 else "s64"
    assert found(NxIndexError, nx.jit(function), nx.tensor(index, type=kind))[0] == text
    with nx.checked():
        nx.jit(function)(nx.tensor(np.zeros_like(index), type=kind))


def test_what_is_assigned_leaves_arrays_as_they_were():
    def put(a, i):
        a[0] = 7.0
        a[i] = 1.0
        return a.sum()

    f, a = nx.defn(put, promotion="numpy"), np.zeros(3)
    for index in (np.array(5), np.array([0, 5])):
        assert found(NxIndexError, f, a, index)[:2] == ("index 5 is out of bounds for axis 0 with size 3", "a[i] = 1.0")
        assert a.tolist() == [0.0, 0.0, 0.0]
    with nx.checked():
        assert float(f(a, np.array(-1))) == 8.0
    assert a.tolist() == [7.0, 0.0, 1.0]


def divided(a, b):
    for k in range(3):
        for _ in range(2):
            a = a // (b - k)
    return a


@BOTH
def test_division_by_zero(promotion):
    error = found(DivisionByZeroError, nx.defn(divided, promotion=promotion), 7, 2)
    assert error == (
        "integer division or remainder by zero",
        "a = a // (b - k)",
        "In turn 1 of the loop, in turn 3 of the loop around it.",
    )
    for function in (lambda a, b: a % b, lambda a, b: nx.remainder(a, b), lambda a, b: nx.quotient(a, b)):
        made = nx.jit(function, promotion=promotion)
        assert found(ZeroDivisionError, made, np.array([7, 8]), np.array([1, 0]))[0] == (
            "integer division or remainder by zero"
        )
        with nx.checked():
            assert np.asarray(made(np.array([7, 8]), np.array([4, 3]))).tolist() in ([3, 2], [1, 2])


def test_nan():
    text, *_ = found(NanError, nx.jit(lambda x: nx.log(x)), -7.0)
    assert text == "<lambda> gave NaN in its result."

    @nx.defn(promotion="numpy")
    def roots(a):
        for k in range(3):
            a[k] = np.sqrt(a[k] - 1)

    a = np.array([2.0, 5.0, 0.0])
    with nx.checked(), pytest.raises(NanError) as caught:
        roots(a)
    first = roots.__nx_function__.__code__.co_firstlineno
    assert str(caught.value).split("\n")[1:3] == [
        f"  sqrt made it in turn 3 of the loop at test_fault_checks.py, line {first + 2}.",
        f"  test_fault_checks.py, line {first + 3}:  a[k] = np.sqrt(a[k] - 1)",
    ]


def test_sizes_in_a_loop():
    def sizes(a, b, counts):
        total = 0.0
        for n in counts:
            total += np.sum(a[:n] * b[: n * n])
        return total

    f, x = nx.defn(sizes, promotion="numpy"), np.arange(9.0)
    assert found(NxValueError, f, x, x, np.array([1, 0, 1, 2])) == (
        "parts of 4 and 2 elements do not fit together.",
        "total += np.sum(a[:n] * b[: n * n])",
        "In turn 4 of the loop.",
    )
    with nx.checked():
        assert float(f(x, x + 1, np.array([1, 0, 1]))) == sizes(x, x + 1, np.array([1, 0, 1]))


@BOTH
def test_entries_that_are_elsewhere_are_not_looked_at(promotion):
    def guarded(x, n):
        total = 0.0
        if n < 3:
            total += x[n]
        while n < 3:
            total += x[n]
            n += 1
        return total

    f, x = nx.vmap(nx.defn(guarded, promotion=promotion), in_axes=(None, 0)), np.array([1.0, 2.0, 4.0])
    with nx.checked():
        assert np.asarray(f(x, np.array([0, 2, 9]))).tolist() == [8.0, 8.0, 0.0]

    def unguarded(x, n):
        for _ in range(2):
            n += 1
        return x[n]

    f = nx.vmap(nx.defn(unguarded, promotion=promotion), in_axes=(None, 0))
    assert found(NxIndexError, f, x, np.array([0, 2])) == (
        "index 4 is out of bounds for axis 0 with size 3",
        "return x[n]",
        "For entry 1 of what is mapped.",
    )


def test_the_first_error_counts_whichever_it_is(capsys):
    @nx.defn(promotion="numpy")
    def f(x, n, d):
        print("begin")
        y = x[n]
        print("taken", y)
        if y > 4:
            raise KeyError("large")
        z = int(y) // d
        print("divided", z)
        return z

    x = np.array([1, 8])
    assert found(KeyError, f, x, 1, np.array(0))[0] == "'large'"
    assert capsys.readouterr().out == "begin\ntaken 8\n"
    assert found(IndexError, f, x, np.array(2), np.array(0))[1] == "y = x[n]"
    assert capsys.readouterr().out == "begin\n"
    assert found(ZeroDivisionError, f, x, np.array(0), np.array(0))[1] == "z = int(y) // d"
    assert capsys.readouterr().out == "begin\ntaken 1\n"


def test_gradients_are_those_of_before():
    f = nx.grad(nx.defn(picked))
    x = nx.tensor([1.0, 2.0])
    with nx.checked():
        assert f(x, nx.tensor([0, 1, 1])).to_list() == [1.0, 2.0]
    assert found(NxIndexError, f, x, nx.tensor([0, 8]))[1:] == ("total += x[place]", "In turn 2 of the loop.")


def test_what_cannot_go_wrong_costs_nothing():
    @nx.defn(promotion="numpy")
    def smoothed(a, steps):
        for _ in range(steps):
            for k in range(1, a.shape[0] - 1):
                a[k] = (a[k - 1] + a[k + 1]) / 2
        return np.pad(a, 1, mode="edge")

    before = nx.debug_expr(smoothed)(np.zeros(9), 3)
    with nx.checked():
        assert repr(nx.debug_expr(smoothed)(np.zeros(9), 3)) == repr(before)


def test_loops_without_a_turn():
    @nx.defn(promotion="numpy")
    def last(p, n):
        k = 7
        total = 0
        for k in p[:n]:
            total += k
        return k + 0 * total

    with nx.checked():
        assert [int(last(np.array([1, 2]), np.array(n))) for n in (0, 1, 2)] == [7, 1, 2]
        assert int(nx.jit(lambda p, n: nx.fori(0, n, lambda i, s: s + p[i], 0))(nx.tensor([1, 2]), 0)) == 0
