"""Arrays made of numbers and shapes, compared with NumPy's."""

import datetime

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from numpy_comparison.source_text import assert_same
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxTypeError

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])

ROWS = {
    "filled": lambda np, m: (np.zeros_like(m), np.ones_like(m[0]), np.full_like(m, 2), np.full(3, m[0, 0])),
    "counted": lambda np, m: (np.arange(4) * m[0, 0], np.linspace(0, m[0, 0], 4)),
    "of lists": lambda np, m: (
        np.array([m[0, 0], 1]),
        np.array([m[0], m[1]]),
        np.asarray([1.5, m[0, 0]]),
        np.array(m[0, 0]),
    ),
    "triangles": lambda np, m: (
        np.tril(m),
        np.triu(m, 1),
        np.eye(2) * m[0, 0],
        np.vander(m[0], 3),
        np.tri(2) * m[1, 1],
    ),
    "grids": lambda np, m: (*np.meshgrid(m[0], m[:, 0]), np.indices((2, 2)) * m[0, 0], m[np.triu_indices(3)]),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)


def sparse_grids(x):
    one, other = np.meshgrid(x, x[:2], sparse=True)
    one[0, 0] = 9.0
    return x, one, other


def viewing_grids(x):
    one, other = np.meshgrid(x, x[:2], sparse=True, copy=False)
    one[0, 0] = 9.0
    x[1] = 7.0
    return x, one, other


@pytest.mark.parametrize("function", [sparse_grids, viewing_grids])
def test_grids_are_copies_unless_they_are_asked_to_be_views(function):
    x = np.arange(3.0)
    assert_same(nx.defn(function)(x.copy()), function(x.copy()))


@pytest.mark.parametrize("value", [None, datetime.date(2020, 1, 1)])
def test_an_array_of_what_is_no_number_is_refused(value):
    with pytest.raises(NxTypeError, match=r"^expected a tensor, an array or a number, got (None|a date)\."):
        nnp.array(value)


def test_bounds_whose_sum_leaves_their_type():
    most = 2**63 - 1
    assert nnp.arange(0, 1, most).tolist() == nx.arange(0, 1, most).to_list() == [0]
    assert nx.jit(lambda: np.arange(most - 1, most))().tolist() == [most - 1]
    for arange in (nnp.arange, nx.arange):
        with pytest.raises(NxTypeError, match=r"^the Python integer 9223372036854775808 is outside of s64, which goes"):
            arange(most + 1, most + 3)


@pytest.mark.parametrize("dtype", [None, int, "i1", np.float16, np.float32, complex])
@pytest.mark.parametrize("bounds", [(0.5, 3.5, 1), (0, 5, 0.5), (0, -3, -0.7), (1, 2, 0.1), (2, 0, 0.3)])
def test_distances_are_of_the_type_of_the_result(bounds, dtype):
    expected = np.arange(*bounds, dtype=dtype)
    known = nx.jit(lambda: np.arange(*bounds, dtype=dtype))()
    asked = nx.jit(lambda ends: np.arange(ends[0], ends[1], ends[2], dtype=dtype))(np.array(bounds))
    for result in (known, asked):
        assert result.dtype == expected.dtype
        assert result.tolist() == expected.tolist()


def bands(edges, width):
    counts = np.zeros((2, 40))
    for band in range(2):
        counts[band][np.arange(np.floor(edges[band] * width) + 1, np.floor(edges[band + 1] * width), dtype=int)] = 1.0
    return counts


def test_how_many_numbers_lie_between_traced_floats_is_asked_for():
    program, edges = nx.jit(bands), np.array([1.2, 4.7, 9.1])
    for width in (2.0, 3.5):
        assert_same(program(edges, width), bands(edges, width))
    steps = nx.jit(lambda x: np.mgrid[x.min() : x.max() : 0.5])
    assert steps(np.array([2.0, 0.0, 1.1])).tolist() == [0.0, 0.5, 1.0, 1.5]


def grids(np, a, n):
    return [
        np.mgrid[-a:a:7j, a : 2 * a : 3j],
        *np.ogrid[-a:a:7j, 0:1:3j],
        np.mgrid[a : 0 : n * 1j],
        np.mgrid[0:3:2j, -a:a:2j],
        *np.ogrid[0:a:1j, 0:5],
    ]


@pytest.mark.parametrize("a", [2.0, 3, np.float32(1.5)])
def test_grids_between_traced_bounds(a):
    for one, other in zip(nx.defn(lambda a, n: grids(np, a, n))(a, 4), grids(np, a, 4), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("wrapped", [lambda f: f, nx.jit], ids=["at once", "traced"])
def test_whole_numbers_that_64_bits_with_a_sign_cannot_hold(wrapped):
    big = 2**63 + 1
    for make in (
        lambda like: nnp.asarray(big, dtype=np.uint64),
        lambda like: nnp.full((2,), big, dtype=np.uint64),
        lambda like: nnp.array(big),
        lambda like: nnp.full(3, big),
    ):
        found = np.asarray(wrapped(make)(np.ones(1)))
        assert found.dtype == np.uint64
        assert {int(each) for each in found.ravel()} == {big}
    for make in (lambda: nnp.array(300, dtype=np.uint8), lambda: nnp.array(2**64), lambda: nnp.full(2, -1, np.uint16)):
        with pytest.raises(OverflowError):
            make()


def test_a_diagonal_beyond_a_matrix_has_no_ones():
    for k in (2, -2, 2**40, 2**64, -(2**80)):
        assert not np.asarray(nnp.eye(2, k=k)).any()


class Estimate:
    """As filters keep it: what has not been measured yet is None."""

    def __init__(self, size):
        if size < 1:
            raise ValueError(f"{size} is no size")
        self.measured = np.array([[None] * size]).T
        self.labels = np.array(["x", "y"])
        self.mean = np.zeros(size)

    def update(self, measured):
        self.measured = measured
        self.mean = self.mean + measured * (self.labels == "y")[0]
        return self.mean


def test_arrays_of_objects_and_of_text_stay_numpys_where_they_are_known():
    def f(x):
        estimate = Estimate(len(x))
        return estimate.update(x) + estimate.update(2 * x), estimate.measured, np.where(estimate.labels == "x", x, 0)

    x = np.array([1.0, 2.0])
    for found, expected in zip(nx.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(found, expected)
