"""What NumPy offers around indices: values and types as NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from graph_comparison.compiled_graphs import graph_of, spec
from numpy_comparison.traced_functions import check, traced
from nxkernel import types
from nxkernel.errors import NxTypeError
from nxkernel.graph.traverse import post_order

M = np.arange(24.0).reshape(4, 6) - 7

ROWS = {
    "brackets": lambda np, m: (np.c_[m[0], m[1]], np.r_[m[0], 1.0, m[1]], np.r_[0:3, m[0, 0]], np.c_[m, m[:, 0]]),
    "slices": lambda np, m: m[np.s_[1:3, ::2]],
    "ix_": lambda np, m: (m[np.ix_([0, 2], [1, 3])], m[np.ix_([True, False, True, True], [1, 3])]),
    "places": lambda np, m: np.unravel_index(np.argmax(m), (4, 6)),
    "ravelled": lambda np, m: np.ravel_multi_index((np.array([1, 2]), np.array([3, 4])), (4, 6)),
    "diag_indices": lambda np, m: m[np.diag_indices(3)],
    "counting": lambda np, m: [m[place] for place in np.ndindex(2, 2)],
    "enumerated": lambda np, m: [value * place[0] for place, value in np.ndenumerate(m[:2, :2])],
    "along": lambda np, m: (np.apply_along_axis(lambda r: r.sum(), 1, m), np.apply_along_axis(lambda r: r[:2], 0, m)),
    "over": lambda np, m: np.apply_over_axes(np.sum, m, [0, 1]),
    "gcd": lambda np, m: (np.gcd(m.astype(int), 6), np.lcm(m.astype(int), 4)),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_rows(row):
    check(row, M)


def test_grids_of_masks_that_only_the_running_program_knows_are_refused():
    with pytest.raises(NxTypeError) as raised:
        traced(lambda np, m: m[np.ix_(m[:, 0] > 0, [1, 3])], M)
    first, _, hint = str(raised.value).splitlines()
    assert first == "np.ix_() of a mask gives indices whose number only the running program knows."
    assert hint.startswith("  Masked, the shape stays: np.where(rows[:, None] & columns, x, 0).")


def test_polyfit():
    check(lambda np, m: np.polyfit(np.arange(6.0), m[0] ** 2, 2), M, rtol=1e-9)


def test_windows():
    (found,) = traced(lambda np, m: np.sliding_window_view(m, (2, 3)), M)
    np.testing.assert_array_equal(found, np.lib.stride_tricks.sliding_window_view(M, (2, 3)))


@pytest.mark.parametrize(("size", "axis"), [(3, 1), ((2, 2), (0, 0)), ((2, 3), (1, 0)), ((2,), (-1,))])
def test_windows_along_some_axes(size, axis):
    (found,) = traced(lambda np, m: np.sliding_window_view(m, size, axis=axis), M)
    np.testing.assert_array_equal(found, np.lib.stride_tricks.sliding_window_view(M, size, axis=axis))


def test_windows_are_views_for_kernels():
    graph = graph_of(lambda m: nnp.sliding_window_view(m, (2, 3)).__nx_operand__(), spec("f64", 5, 6))
    names = [node.primitive.name for node in post_order(graph.outputs)]
    assert names == ["parameter", "windows", "reshape", "windows", "reshape"]


def test_objects_and_classes_of_numpys_have_twins():
    assert nnp.twin(np.mgrid) is nnp.mgrid
    assert nnp.twin(np.r_) is nnp.r_
    assert nnp.twin(np.ndindex) is np.ndindex
    with types.promotion("numpy"):
        assert nnp.twin(np.ndarray)((2, 3), np.int32).dtype == np.int32
        assert nnp.twin(np.lib.stride_tricks.sliding_window_view)(M, 3, axis=1).shape == (4, 4, 3)


def test_common_divisors_and_multiples_of_mixed_types():
    """The least number of a type has its absolute value in the wider one alone."""
    a, b = np.array([-128, -7, 100], np.int8), np.array([1, 3, 255], np.uint8)
    for function in (np.gcd, np.lcm):
        found = np.asarray(nx.defn(lambda a, b, f=function: f(a, b), promotion="numpy")(a, b))
        wanted = function(a, b)
        assert (found.dtype, found.tolist()) == (wanted.dtype, wanted.tolist())


def test_sizes_that_depend_on_values_at_once():
    x, mask = np.array([0, 3, 1, 3, 0]), np.array([True, False, True, True, False])
    array = nnp.asarray(x)
    assert np.asarray(nnp.bincount(array)).tolist() == [2, 1, 0, 2]
    assert np.asarray(nnp.bincount(array, nnp.asarray(x * 0.5), minlength=2)).tolist() == [0.0, 0.5, 0.0, 3.0]
    assert np.asarray(nnp.trim_zeros(array)).tolist() == [3, 1, 3]
    (places,) = nnp.ix_(nnp.asarray(mask))
    assert np.asarray(places).tolist() == [0, 2, 3]


def test_polynomials_through_points():
    x, y, w = np.array([1.0, 2, 4, 3, 0.5]), np.array([0.5, 1, 2, 2.2, 0]), np.array([1.0, 2, 1, 1, 3])
    calls = [
        lambda x, y, w: np.polyfit(x, y, 2, w=w),
        lambda x, y, w: np.polyfit(x, y, 1, cov=True)[1],
        lambda x, y, w: np.polyfit(x, y, 2, w=w, cov="unscaled")[1],
        lambda x, y, w: np.polyfit(x, np.stack([y, w], axis=1), 1, cov=True)[1],
    ]
    for call in calls:
        np.testing.assert_allclose(nx.jit(call)(x, y, w), call(x, y, w), rtol=1e-9)


def test_where_a_polynomial_is_zero():
    for p in (np.array([1.0, 2, 4, 3]), np.array([2.0, -3.0]), np.array([1, 0, 0])):
        found = nx.jit(np.roots)(p)
        assert found.dtype == np.roots(p).dtype
        np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(np.roots(p)), atol=1e-7)
    assert nx.jit(np.roots)(np.array([3.0])).shape == (0,)
