"""Arrays that are assigned into: views, indices, and what is written through them, as in NumPy."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import _leaves, check, traced
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError, TracedValueError

M = np.arange(24.0).reshape(4, 6)


def _write(view):
    def f(np, x):
        v = view(np, x)
        v[...] = v * 10 + 1
        w = view(np, x)
        w += 0.5
        return x, v, w

    return f


VIEWS = {
    "rows": lambda np, x: x[1:3],
    "rows of rows": lambda np, x: x[1:][::2],
    "backwards": lambda np, x: x[::-1, 1],
    "row": lambda np, x: x[1][2:],
    "transposed": lambda np, x: x.T[1:3],
    "transpose": lambda np, x: np.transpose(x, (1, 0))[0],
    "reshape": lambda np, x: x.reshape(2, 12)[:, 3:5],
    "reshape of a part": lambda np, x: x[1:3].reshape(-1)[2:9],
    "ravel": lambda np, x: x.ravel()[::5],
    "flip": lambda np, x: np.flip(x, 1)[0],
    "rot90": lambda np, x: np.rot90(x)[1:],
    "new axis": lambda np, x: x[:, None, ::3],
    "swapaxes": lambda np, x: x.reshape(2, 2, 6).swapaxes(0, 2)[1],
    "squeeze": lambda np, x: np.squeeze(x[:1]),
    "moveaxis": lambda np, x: np.moveaxis(x.reshape(2, 2, 6), 2, 0)[4],
    "split": lambda np, x: np.split(x, 2)[1],
    "expand_dims": lambda np, x: np.expand_dims(x, 1)[1],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_write_through(view):
    check(_write(view), M)


def _changed(np, x, y):
    y[...] = -1
    return x


COPIES = {
    "reshape of columns": lambda np, x: _changed(np, x, x[:, 1:3].reshape(-1)),
    "ravel of a transpose": lambda np, x: _changed(np, x, x.T.ravel()),
    "flatten": lambda np, x: _changed(np, x, x.flatten()),
    "copy": lambda np, x: _changed(np, x, x.copy()),
    "array": lambda np, x: _changed(np, x, np.array(x)),
    "list": lambda np, x: _changed(np, x, x[[0, 1]]),
    "sum": lambda np, x: _changed(np, x, x + 0),
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_copies_do_not(copy):
    check(copy, M)


def test_parts_of_complex_numbers_write_through():
    def f(np, x):
        x.real += 1
        x.imag[1:] = 5
        return x, x.real, x.conj(), abs(x)

    check(f, np.array([1 + 2j, 3 - 1j, 0.5]))


def test_helpers_change_their_arguments():
    def helper(a):
        a[0] = 9
        a -= 1

    def f(np, x):
        y = x
        helper(x[1])
        return y

    check(f, M)


def test_scalars_do_not_change():
    def f(np, x):
        s = x[0, 1]
        t = s
        s += 5
        return s, t, x

    check(f, M)


def test_overlapping_parts():
    def f(np, x):
        x[1:] = x[:-1]
        x[:, 0], x[:, 1] = x[:, 1].copy(), x[:, 0].copy()
        return x

    check(f, M)


def test_traced_indices():
    def f(np, x, i):
        x[i, i + 1] = 100
        x[-i] += x[i]
        x[i - 3, 1:3] = 7
        return x[i], x[i, -1], x[:, i], x[i - 2], x

    check(f, M, np.array(1))


def test_traced_index_arrays_count_from_the_end():
    check(lambda np, x, k: (x[k], x[:, k]), M, np.array([-1, 0, 3]))


def test_parts_of_known_length_at_traced_places():
    def f(np, x, i):
        return x[i : i + 2], x[:, i : i + 3]

    found = traced(lambda np, x, i: (np.assume(i.__nx_operand__(), 0, 2), f(np, x, i))[1], M, np.array(1))
    np.testing.assert_array_equal(found[0], M[1:3])
    np.testing.assert_array_equal(found[1], M[:, 1:4])


def test_types_in_place():
    def f(np, x):
        x += 1
        x *= np.float64(2.5)
        return x

    check(f, M.astype(np.float32))
    with pytest.raises(NxTypeError, match=r"an array s64 does not take the result of \+=, which is f64, in place"):
        traced(f_float, np.array([1, 2]))


def f_float(np, x):
    x += 0.5
    return x


def test_assigned_values_are_converted():
    def f(np, x):
        x[0] = 2.7
        x[1:] = x[1:] * 1.5
        return x

    check(f, np.array([1, 2, 3, 4]))


ATTRIBUTES = {
    "sizes": lambda np, x: (np.array(x.shape), x.ndim, x.size, len(x), x.nbytes, x.itemsize),
    "types": lambda np, x: np.zeros(3, dtype=x.dtype),
    "unpacking": lambda np, x: (lambda a, b, c, d: a + b * c - d)(*x),
    "methods": lambda np, x: (
        x.sum(), x.mean(axis=0), x.min(), x.max(1), x.prod(axis=1, keepdims=True), x.std(), x.var(0), x.argmax(),
        x.argmin(1), x.cumsum(), x.cumprod(0), x.clip(3, 7), x.round(1), x.dot(x.T), x.trace(), x.diagonal(1),
        x.repeat(2), x.take([1, 2]), x.any(), x.all(0), x.ptp() if hasattr(x, "ptp") else x.max() - x.min(),
        x.flatten(), x.astype(np.int32), x.conj(), x.squeeze(), x.swapaxes(0, 1), x.argsort(), x.item(3), x.flat[5],
    )[:20],
    "operators": lambda np, x: (
        x + 1, 1 - x, x * x, 2 / (x + 1), x // 4, x % 3, x**2, -x, +x, abs(x - 5), x @ x.T, x > 3, x == 2, x != 2,
        (x > 1) & (x < 5), ~(x > 1), (x > 1) | (x < 0), (x > 1) ^ (x < 5), divmod(x, 3)[1], round(x[0, 1], 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_and_methods(row):
    check(row, M)


def test_sorting_and_filling_in_place():
    def f(np, x):
        x.sort(axis=0)
        x[1].fill(3)
        x.flat = np.arange(4)
        return x

    check(f, M[::-1].copy())


REFUSED = {
    "outside": (lambda np, x: x[4], NxIndexError, "index 4 is out of bounds for axis 0 of an array of the shape"),
    "too many": (lambda np, x: x[0, 0, 0], NxIndexError, "3 indices for 2 axes"),
    "float": (lambda np, x: x[np.array([0.5])], NxIndexError, "an index is a whole number"),
    "shapes": (lambda np, x: x.__setitem__(0, np.ones(3)), NxValueError, r"cannot assign \[3\] to a part of the shape"),
    "read-only": (lambda np, x: np.diagonal(x).fill(0), NxValueError, "this array is read-only"),
    "bytes": (lambda np, x: x.tobytes(), TracedValueError, "tobytes"),
    "nonzero": (lambda np, x: x.nonzero(), NxTypeError, "only the running program knows"),
    "unique": (lambda np, x: np.unique(x), NxTypeError, "only the running program knows"),
    "where": (lambda np, x: np.where(x > 0), TracedValueError, "Masked, the shape stays"),
}


@pytest.mark.usefixtures("ahead_of_calls")
@pytest.mark.parametrize(("function", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_refusals(function, error, text):
    with pytest.raises(error, match=text):
        traced(function, M)


def _added(b):
    b += 1
    return np.sin(b)


def _first(b):
    b[()] = 1
    return b


def _all(b):
    b[...] *= 3
    return b * 2, b[()]


def _written(b):
    return np.sum(np.arange(4.0), out=b)


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
@pytest.mark.parametrize("function", [_added, _first, _all, _written])
def test_arrays_without_axes_that_are_arguments(function, compiler):
    definition = nx.defn(function, promotion="numpy", compiler=compiler)
    for number in (3.5, 4.5, 5.5):  # the later calls take the short way
        mine, theirs = np.array(number), np.array(number)
        found, expected = definition(mine), function(theirs)
        assert mine == theirs
        for one, other in zip(_leaves(found), _leaves(expected), strict=True):
            np.testing.assert_allclose(np.asarray(one), other)


def test_scalars_are_told_from_arrays_without_axes():
    def added_to(b):
        b += 1
        return b * 2

    definition = nx.defn(added_to, promotion="numpy")
    scalar, array = np.float64(1), np.array(1.0)
    for _ in range(2):
        assert float(definition(scalar)) == 4.0
        assert float(definition(array)) == array * 2
    assert (scalar, array) == (1.0, 3.0)
    assert [event.reason for event in nx.events("added_to", "miss")][-1] == ("argument b: f64 → f64 (an array)",)
