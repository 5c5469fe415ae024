"""What masks pick of arrays, under reductions and in assignments, as in NumPy."""

import inspect

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check, traced
from nxkernel.errors import NxTypeError, NxValueError

A = np.arange(-6.0, 6.0).reshape(3, 4)

ROWS = {
    "sum": lambda np, a: a[a > 1].sum(),
    "mean": lambda np, a: np.mean(a[a > 1]),
    "extremes": lambda np, a: (a[a > 1].min(), a[a < 1].max(), a[a != 0].prod(), a[a > 2].std()),
    "truth": lambda np, a: (np.any(a[a > 1] > 4), np.all(a[a > 1] > 1)),
    "functions": lambda np, a: np.sum(np.sqrt(a[a > 0]) * 2 + a[a > 0]),
    "rows": lambda np, a: a[a[:, 0] < 0].sum(axis=0),
    "size": lambda np, a: (a[a > 1].size * 1, a[a > 1].shape[0] + 0),
    "dot": lambda np, a: np.dot(a[a > 1], a[a > 1]),
    "products": lambda np, a: ((a[a[:, 0] < 0] @ a[1]).max(), (a[a[:, 0] < 0] @ a.T).sum(axis=0)),
    "transposed": lambda np, a: (a[a[:, 0] < 0].T @ a[a[:, 0] < 0], a[:, 1][a[:, 0] < 0] @ a[a[:, 0] < 0]),
    "weighted": lambda np, a: (a[a[:, 0] < 0].T * a[:, 2][a[:, 0] < 0]) @ a[a[:, 0] < 0],
    "norm": lambda np, a: np.linalg.norm(a[a > 1]),
    "mask of a column": lambda np, a: a[:, 1][a[:, 1] > -4].sum(),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_reductions(row):
    check(row, A)


def _number(np, a):
    a[a > 1] = 0


def _in_place(np, a):
    a[a > 1] *= 2
    a[a < 0] += 1


def _own(np, a):
    mask = a > 0
    a[mask] = np.sqrt(a[mask]) - 1


def _other(np, a):
    mask, b = a > 0, a * 10
    a[mask] = b[mask]


def _values(np, a):
    a[a > 3] = np.array([70.0, 80.0])


def _rows(np, a):
    a[a[:, 0] < -2] = np.arange(4.0)


def _rows_scaled(np, a):
    a[a[:, 0] < -2] *= np.arange(4.0)


def _columns(np, a):
    a[1, a[0] > -5] = 9
    a[:, a[0] > -4] = 3


CHANGES = [_number, _in_place, _own, _other, _values, _rows, _rows_scaled, _columns]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_assignments(change):
    def f(np, a):
        change(np, a)
        return a

    check(f, A)


REFUSED = {
    "result": lambda np, a: a[a > 0],
    "joined": lambda np, a: np.concatenate([a[a > 0], a[0]]),
}


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED)
def test_refusals(row):
    with pytest.raises(NxTypeError, match=r"np.where\(mask, x, 0\)"):
        traced(row, A)


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (2, 1), (5, 1), (1, 5, 1), (2, 3, 1)])
@pytest.mark.parametrize(
    "formula",
    [
        "np.sum(c * x[x != 1])",
        "np.sum(np.hypot(x[x != 1], c))",
        "np.max(x[x != 1] + c)",
        "(x[x != 1] * c).mean()",
        "np.sum(np.where(x[x != 1] > 0, c, 1.0))",
        "np.sum(x[None, x != 1] * c)",
        "np.sum(x[1:k] * c)",
    ],
)
def test_what_is_picked_broadcasts_with_arrays_of_more_axes(formula, shape):
    function = eval(f"lambda x, c, k: {formula}", {"np": np})
    x, c = np.array([1.013, 1.0, 0.5, 2.25, -1.3]), np.random.default_rng(0).normal(size=shape)
    found = nx.defn(function, promotion="numpy")(x, c, 3)
    np.testing.assert_allclose(found, function(x, c, 3), rtol=1e-12)


def assigned(x, v):
    x[x > 2] = v
    return x


def added(x, v):
    x[x > 2] += v
    return x


def assigned_from_a_mask(x, v):
    x[x > 2] = np.concatenate([v, v])[np.concatenate([v, -v]) >= 0]
    return x


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("function", [assigned, added, assigned_from_a_mask])
@pytest.mark.parametrize("count", [0, 2, 4, 6])
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_another_number_of_values_than_the_mask_picks(function, count, shape):
    x, values = np.arange(6.0).reshape(shape), np.arange(1.0, count + 1)
    with pytest.raises(ValueError, match=r"shape|assign|broadcast"):
        function(x.copy(), values)
    given = x.copy()
    with pytest.raises(NxValueError) as raised:
        nx.jit(function, promotion="numpy")(given, values)
    line = function.__code__.co_firstlineno + 1
    where = f"  test_masked_elements.py, line {line}:  {inspect.getsource(function).splitlines()[1].strip()}\n"
    if function is added:
        # What is added is refused before anything is assigned.
        pair = sorted(str(raised.value).split()[2:5:2])
        assert pair == sorted(["3", str(count)])
        start, hint = (
            " ".join(str(raised.value).split()[:5]),
            "They are as long as each other, or one has a single element.",
        )
        what = f"{start} elements do not fit together."
    else:
        what = f"x[mask] = v got {count} values, and the mask picks 3."
        hint = "v has one value for each element that the mask picks, or one for all."
    assert str(raised.value) == f"{what}\n{where}  {hint}"
    np.testing.assert_array_equal(given, x)


@pytest.mark.parametrize("function", [assigned, added])
@pytest.mark.parametrize("count", [1, 3])
def test_as_many_values_as_the_mask_picks(function, count):
    x, values = np.arange(6.0), np.arange(1.0, count + 1)
    np.testing.assert_array_equal(nx.jit(function, promotion="numpy")(x.copy(), values), function(x.copy(), values))


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (2, 1), (1, 1), (3,), (1,)])
def test_rows_of_values_for_rows_that_a_mask_picks(shape):
    def rows(x, v):
        x[x[:, 0] > 5] = v
        return x

    x, values = np.arange(12.0).reshape(4, 3), 100 + np.arange(6.0)[: np.prod(shape)].reshape(shape)
    np.testing.assert_array_equal(nx.jit(rows, promotion="numpy")(x.copy(), values), rows(x.copy(), values))
    with pytest.raises(NxValueError, match=r"^x\[mask\] = v got 3 values, and the mask picks 2\."):
        nx.jit(rows, promotion="numpy")(x.copy(), np.ones((3, 1)))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_values_of_traced_length_with_room_for_one(count):
    def f(x, y):
        x[x > 3] = y[y > 1]
        return x

    x, y = np.arange(4.0 + count), np.full(1, 7.0)
    found = nx.jit(f, promotion="numpy")(x.copy(), y)
    np.testing.assert_array_equal(found, f(x.copy(), y))
