"""Parts of arrays whose length only the running program knows, as NumPy has them."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from numpy_comparison.source_text import module_of
from numpy_comparison.traced_functions import check, traced
from nxkernel import types
from nxkernel.errors import NxTypeError

A = np.arange(1.0, 31.0).reshape(5, 6)
V = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])
BOUNDS = [(0, 6), (1, 4), (2, 3), (3, 6), (-4, -1)]

REDUCED = {
    "sum": lambda np, v, i, j: v[i:j].sum(),
    "prod": lambda np, v, i, j: np.prod(v[i:j]),
    "min": lambda np, v, i, j: v[i:j].min(),
    "max": lambda np, v, i, j: np.max(v[i:j]),
    "mean": lambda np, v, i, j: np.mean(v[i:j]),
    "std": lambda np, v, i, j: v[i:j].std(),
    "any": lambda np, v, i, j: np.any(v[i:j] > 3),
    "all": lambda np, v, i, j: (v[i:j] > -2).all(),
    "argmax": lambda np, v, i, j: np.argmax(v[i:j]),
    "argmin": lambda np, v, i, j: v[i:j].argmin(),
    "norm": lambda np, v, i, j: np.linalg.norm(v[i:j]),
    "count": lambda np, v, i, j: np.count_nonzero(v[i:j] > 0),
    "dot": lambda np, v, i, j: np.dot(v[i:j], v[i:j] * 2),
    "dot of others": lambda np, v, i, j: v[i:j] @ v[::-1][i:j],
    "backwards": lambda np, v, i, j: np.dot(v[i:j], v[i:j][::-1]),
    "flip": lambda np, v, i, j: np.dot(v[i:j], np.flip(v[i:j])),
    "elements": lambda np, v, i, j: (v[i:j][0], v[i:j][-1]),
    "size": lambda np, v, i, j: v[i:j].shape[0] * 1.0,
    "open": lambda np, v, i, j: v[i:].sum() + v[:j].sum(),
    "functions": lambda np, v, i, j: np.sum(np.exp(v[i:j]) + np.where(v[i:j] > 0, v[i:j], 0) / 3 - abs(v[i:j])),
    "part of a part": lambda np, v, i, j: v[i:j][1:].sum() + v[i:j][:-1].sum(),
    "indices": lambda np, v, i, j: v[np.array([0, 0, 1, 5, 3, 2])[i:j]].sum(),
    "masked part": lambda np, v, i, j: np.sum(v[i:j] * (v[i:j] > 0)),
}


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("row", REDUCED.values(), ids=REDUCED)
def test_reductions(row, bounds):
    check(row, V, *map(np.array, bounds))


MATRICES = {
    "rows": lambda np, a, i: a[:i].sum(),
    "rows along": lambda np, a, i: a[:i].sum(axis=0),
    "columns": lambda np, a, i: a[:, i:].mean(axis=1),
    "both": lambda np, a, i: a[i:, :i].sum(),
    "vector matrix": lambda np, a, i: a[0, :i] @ a[:i, :],
    "matrix vector": lambda np, a, i: a[:, :i] @ a[1, :i],
    "symm": lambda np, a, i: a[:i, 1] @ a[2, :i],
    "trmm": lambda np, a, i: np.dot(a[i + 1 :, i], a[i + 1 :, 0]),
    "outer": lambda np, a, i: np.outer(a[i:, 0], a[0, 1:]).sum(axis=0),
    "transpose": lambda np, a, i: a[:i].T.sum(axis=1),
    "max": lambda np, a, i: a[:, i:].max(axis=1, keepdims=True),
    "element": lambda np, a, i: a[:i, 2][i - 1],
    "free axis": lambda np, a, i: (a[:i] @ a[0]).sum(),
}


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("i", [1, 2, 4])
@pytest.mark.parametrize("row", MATRICES.values(), ids=MATRICES)
def test_matrices(row, i):
    check(row, A, np.array(i))


def _assigned(change):
    def f(np, a, i, j):
        change(np, a, i, j)
        return a

    return f


def _set(key, value):
    def change(np, a, i, j):
        a[key(i, j)] = value(np, a, i, j)

    return _assigned(change)


def _scale(np, a, i, j):
    a[0, i:j] *= 2
    a[i:, 1] += 10
    a[1, i:j] -= a[2, i:j]


def _syrk(np, c, i, j):
    c[i, : i + 1] *= 0.5
    for k in range(3):
        c[i, : i + 1] += 1.5 * c[i, k] * c[: i + 1, k]


def _durbin(np, a, i, j):
    y = a[0]
    y[:i] += 0.5 * np.flip(y[:i])
    y[i] = -(y[0] + np.dot(np.flip(y[:i]), a[1, :i]))


def _lu(np, a, i, j):
    a[i + 1 :, i] /= a[i, i]
    a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i, i + 1 :])


def _held(np, a, i, j):
    part = a[2, i:j]
    part += 5
    part[0] = -1
    part[1:] = 0


def _indices(np, a, i, j):
    a[0][np.array([5, 4, 3, 2, 1, 0])[i:j]] = a[1, i:j]


ASSIGNED = {
    "number": _set(lambda i, j: (0, slice(i, j)), lambda np, a, i, j: 7),
    "part": _set(lambda i, j: (0, slice(i, j)), lambda np, a, i, j: a[1, i:j]),
    "moved": _set(lambda i, j: (0, slice(0, j - i)), lambda np, a, i, j: a[1, i:j]),
    "rows": _set(lambda i, j: slice(i, j), lambda np, a, i, j: a[0] * 2),
    "columns": _set(lambda i, j: (slice(None), slice(i, j)), lambda np, a, i, j: a[:, :1]),
    "backwards": _set(lambda i, j: (0, slice(i, j)), lambda np, a, i, j: a[1, i:j][::-1]),
    "expression": _set(lambda i, j: (slice(i, j), 0), lambda np, a, i, j: a[i:j, 1] * a[i:j, 2] - 1),
    "covariance": _set(lambda i, j: (i, slice(i + 1, None)), lambda np, a, i, j: a[:, i] @ a[:, i + 1 :]),
    "in place": _assigned(_scale),
    "syrk": _assigned(_syrk),
    "durbin": _assigned(_durbin),
    "lu": _assigned(_lu),
    "held": _assigned(_held),
    "indices": _assigned(_indices),
}


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("bounds", [(0, 4), (1, 4), (2, 4)])
@pytest.mark.parametrize("row", ASSIGNED.values(), ids=ASSIGNED)
def test_assignments(row, bounds):
    check(row, A, *map(np.array, bounds))


def test_rows_of_a_sparse_matrix():
    def f(np, x, start, cols, vals, i):
        c = cols[start[i] : start[i + 1]]
        return vals[start[i] : start[i + 1]] @ x[c]

    start, cols = np.array([0, 2, 2, 5]), np.array([0, 4, 1, 2, 5])
    for i in range(3):
        check(f, V, start, cols, V[:5], np.array(i))


def test_types():
    check(lambda np, x, i: (x[:i].sum(), x[:i].mean(), (x[:i] * 2).max()), np.arange(5, dtype=np.int32), np.array(3))


def test_parts_that_begin_at_equal_places_stay_where_they_are():
    def f(a, i):
        with types.promotion("numpy"):
            a, i = nnp.wrap(a), nnp.wrap(i)
            a[i, i + 1 :] = a[0, i + 1 :] * a[1, i + 1 :]
            return a.__nx_operand__()

    assert "gather" not in repr(nx.debug_expr(nx.jit(f, promotion="nx"))(A, np.array(1)))


REFUSED = {
    "shape": lambda np, v, i: np.zeros(v[:i].shape[0]),
    "result": lambda np, v, i: v[:i],
    "joined": lambda np, v, i: np.concatenate([v[:i], v]),
    "sorted": lambda np, v, i: np.sort(v[:i]),
}


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED)
def test_refusals(row):
    with pytest.raises((NxTypeError, TypeError)) as caught:
        traced(row, V, np.array(2))
    assert "only the running program knows" in str(caught.value) or "traced" in str(caught.value)


KEYS = [
    "[3, 0]", "i:, [3, 0]", "[0, 1], i:", "i:, [0, 1], 1", "i:, 1, [0, 1]", "i:, [0, 1], [1, 2]", "[0, 1], i:, [1, 2]",
    "0, i:, [1, 2]", "i:, None, [1, 2]", "i:, [[0, 1]], 1", "[0], 1:, i:", "..., [1, 2]", "i:, ..., [1, 2]",
    "[1, 0], i:, 2", "j, i:, [0, 1]", "i:, [j, 0]", "i:, j, [1, 2]", "i:, np.array([0, 1])[:, None], [1, 2]",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("part", ["a[i:]", "a[:, i:]", "a[:, :, i:]", "a[:, ::-1][i:]"])
def test_parts_at_arrays_of_indices(part):
    """Read as a copy, and assigned into where they are."""
    a, right = np.arange(60.0).reshape(3, 4, 5), 0
    for key in KEYS:
        for use in (f"return np.sum(v[{key}] ** 2)", f"v[{key}] = 6\n    return a", f"v[{key}] += 1\n    return a"):
            function = module_of(f"def f(a, i, j):\n    a = a.copy()\n    v = {part}\n    {use}\n")["f"]
            try:
                wanted = function(a, 1, 2)
            except (IndexError, ValueError):
                continue
            found = nx.defn(function, promotion="numpy")(a, 1, 2)
            np.testing.assert_array_equal(found, wanted, f"v = {part}; {use}")
            right += 1
    assert right > 30


@pytest.mark.parametrize("element", ["a[a > 0][..., 1]", "a[k:][..., 1]", "a[k:][1, ...]"])
def test_an_element_at_an_ellipsis_is_an_array_without_axes(element):
    function = module_of(f"def f(a, k):\n    v = {element}\n    v[...] = 7\n    return a, v\n")["f"]
    theirs, ours = np.array([1.0, 3, -2, 5, 4]), np.array([1.0, 3, -2, 5, 4])
    wanted, found = function(theirs, 1), nx.defn(function, promotion="numpy")(ours, 1)
    assert (ours.tolist(), float(np.asarray(found[1]))) == (theirs.tolist(), float(wanted[1]))


@pytest.mark.parametrize("value", [np.ones(9), np.ones(3), 5.0, np.ones(1), np.ones((1, 3))], ids=np.shape)
@pytest.mark.parametrize("length", [3, 9, 1])
def test_what_is_assigned_at_indices_is_as_long_as_they_are(value, length):
    def program(x, length, value):
        c = np.zeros(9)
        c[np.arange(9)[: np.sum(x < length)]] = value
        return c

    x, compiled = np.arange(9.0), nx.defn(program, promotion="numpy")
    if np.size(value) in (1, length):
        np.testing.assert_array_equal(compiled(x, length, value), program(x, length, value))
        return
    for each in (program, compiled):
        with pytest.raises(ValueError, match=r"shape mismatch|do not fit together|cannot assign"):
            each(x, length, value)
