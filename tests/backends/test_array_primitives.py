"""What primitives that move, order or accumulate elements do to arrays, compared with loops and with NumPy."""

import itertools
import math
import operator

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING, array_primitives
from nxkernel.backends.array_primitives import clamped, view_windows
from nxkernel.errors import NxValueError
from nxkernel.graph.tracing import trace_body
from nxkernel.primitives import Spec

X = np.arange(24.0).reshape(2, 3, 4)


def spec_of(array):
    return Spec(types.normalize(array.dtype), array.shape, (None,) * array.ndim)


def run(primitive, *arrays, **params):
    """Apply a primitive's rule and meaning; check what every result promises."""
    arrays = [np.asarray(array) for array in arrays]
    spec = primitive.rule(*map(spec_of, arrays), **params)
    before = [array.tobytes() for array in arrays]
    result = MEANING[primitive](spec, *arrays, **params)
    assert (type(result), result.dtype, result.shape) == (np.ndarray, spec.type.dtype, spec.shape)
    assert result.flags.c_contiguous
    assert [array.tobytes() for array in arrays] == before
    return result


# Windows ---------------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_windows_are_elements_at_strides_and_dilations(data):
    rank = data.draw(st.integers(0, 3))
    draw = lambda low, high: tuple(data.draw(st.integers(low, high)) for _ in range(rank))  # noqa: E731
    window, strides, dilations, extra = draw(1, 3), draw(1, 3), draw(1, 2), draw(0, 3)
    shape = tuple((w - 1) * d + 1 + e for w, d, e in zip(window, dilations, extra, strict=True))
    x = np.arange(math.prod(shape)).reshape(shape)
    found = run(p.windows, x, window=window, strides=strides, dilations=dilations)
    for place in itertools.product(*map(range, found.shape)):
        outer, inner = place[:rank], place[rank:]
        assert (
            found[place] == x[tuple(o * s + w * d for o, s, w, d in zip(outer, strides, inner, dilations, strict=True))]
        )


def test_windows_share_memory_until_they_are_settled():
    views = view_windows(X, (1, 1, 2), (1, 1, 1), (1, 1, 1))
    assert np.shares_memory(views, X)
    assert not views.flags.writeable


def test_a_window_that_does_not_fit():
    with pytest.raises(NxValueError) as error:
        run(p.windows, X, window=(1, 2, 1), strides=(1, 1, 1), dilations=(1, 3, 1))
    assert str(error.value) == (
        "a window of size 2, spread by 3 over 4 elements, does not fit axis 1 of size 3 (shape [2][3][4]).\n"
        '  Pad the tensor, for example with padding="same", or take a smaller window.'
    )


# Indexing --------------------------------------------------------------------------------------------------------


def test_indices_are_clamped():
    assert clamped(np.array([-5, 0, 2, 9], "i1"), 3).tolist() == [0, 0, 2, 2]
    assert clamped(np.array([2**64 - 1, 2**63, 1], "u8"), 3).tolist() == [2, 2, 1]
    assert clamped(np.array([-1, 100], "i1"), 1000).tolist() == [0, 100]
    assert clamped(np.array([3, 255], "u1"), 1000).tolist() == [3, 255]


@pytest.mark.parametrize("type_", ["i1", "u1", "i8", "u8"])
def test_no_indices_into_nothing(type_):
    assert clamped(np.zeros(0, type_), 0).shape == (0,)
    assert run(p.gather, np.zeros((0, 4)), np.zeros(0, type_), axes=(0,)).shape == (0, 4)
    assert run(p.scatter, np.zeros((0, 4)), np.zeros((0, 4)), np.zeros(0, type_), axes=(0,), combine="add").size == 0


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_gather_puts_the_axes_of_the_indices_first(axes):
    rng = np.random.default_rng(0)
    indices = [rng.integers(0, X.shape[axis], (2, 5)) for axis in axes]
    found = run(p.gather, X, *indices, axes=axes)
    for place in np.ndindex(2, 5):
        key = [slice(None)] * 3
        for axis, index in zip(axes, indices, strict=True):
            key[axis] = index[place]
        np.testing.assert_array_equal(found[place], X[tuple(key)])


@pytest.mark.parametrize("type_", ["u1", "i1"])
def test_indices_that_cannot_reach_the_end(type_):
    x, most = np.arange(1000), np.iinfo(type_).max
    places = np.array([0, 5, most], type_)
    np.testing.assert_array_equal(run(p.gather, x, places, axes=(0,)), [0, 5, most])
    found = run(p.scatter, x, np.array([-1, -2, -3]), places, axes=(0,), combine="put")
    np.testing.assert_array_equal(found[[0, 5, most]], [-1, -2, -3])


def test_gather_of_one_element():
    assert run(p.gather, X, np.int64(1), np.int64(7), np.uint8(2), axes=(0, 1, 2)) == X[1, 2, 2]


def test_scatter_puts_the_last_of_updates_for_one_place():
    found = run(p.scatter, np.zeros(4), np.array([1.0, 2.0, 3.0]), np.array([2, 2, 9]), axes=(0,), combine="put")
    assert found.tolist() == [0, 0, 2, 3]


def test_scatter_adds_all_updates_for_one_place():
    found = run(p.scatter, np.ones(3), np.array([1.0, 2.0, 3.0]), np.array([1, 1, -4]), axes=(0,), combine="add")
    assert found.tolist() == [4, 4, 1]


def test_scatter_of_rows_into_an_axis_behind():
    found = run(p.scatter, X, np.full((2, 2, 3), 9.0), np.array([0, 3]), axes=(2,), combine="put")
    expected = X.copy()
    expected[..., [0, 3]] = 9
    np.testing.assert_array_equal(found, expected)


def test_narrow_floats_are_added_in_f32_and_rounded_once():
    target, small = np.array([256], ml_dtypes.bfloat16), np.full(8, 0.25, ml_dtypes.bfloat16)
    found = run(p.scatter, target, small, np.zeros(8, int), axes=(0,), combine="add")
    assert found.tolist() == [258]


def test_put_strided_moves_starts_so_that_the_part_fits():
    found = run(p.put_strided, np.arange(7), np.array([10, 20, 30]), np.int64(4), strides=(2,))
    np.testing.assert_array_equal(found, [0, 1, 10, 3, 20, 5, 30])


def test_put_slice_moves_starts_so_that_the_part_fits():
    part = np.full((1, 2, 2), -1.0)
    found = run(p.put_slice, X, part, np.int64(7), np.int64(-3), np.int64(1))
    expected = X.copy()
    expected[1:2, 0:2, 1:3] = -1
    np.testing.assert_array_equal(found, expected)


# Cumulative ------------------------------------------------------------------------------------------------------

CUMULATIVE = {
    p.cumulative_sum: np.cumsum, p.cumulative_product: np.cumprod, p.cumulative_max: np.maximum.accumulate,
    p.cumulative_min: np.minimum.accumulate,
}  # fmt: skip


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("primitive", CUMULATIVE, ids=str)
def test_cumulative(primitive, axis, reverse):
    x = np.random.default_rng(1).normal(size=(3, 4, 5))
    turned = np.flip(x, axis) if reverse else x
    expected = CUMULATIVE[primitive](turned, axis=axis)
    found = run(primitive, x, axis=axis, reverse=reverse)
    np.testing.assert_array_equal(found, np.flip(expected, axis) if reverse else expected)


def test_running_totals_keep_their_type():
    assert run(p.cumulative_sum, np.array([200, 100, 7], "u1"), axis=0, reverse=False).tolist() == [200, 44, 51]
    assert run(p.cumulative_product, np.array([100, 2, 3], "i1"), axis=0, reverse=False).tolist() == [100, -56, 88]
    halves = np.array([2048, 0.5, 0.5, 0.5, 0.5], "f2")
    assert run(p.cumulative_sum, halves, axis=0, reverse=False).tolist() == [2048, 2048, 2048, 2050, 2050]


@pytest.mark.parametrize("primitive", [p.cumulative_max, p.cumulative_min], ids=str)
def test_nan_stays(primitive):
    found = run(primitive, np.array([1.0, math.nan, 0.0, 2.0]), axis=0, reverse=False)
    np.testing.assert_array_equal(found, [1, math.nan, math.nan, math.nan])


# Sorting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("type_", [types.u8, types.s64, types.f16, types.bf16, types.f32, types.f64])
def test_sort(type_, axis):
    x = np.random.default_rng(2).integers(0, 50, (3, 4, 5)).astype(type_.dtype)
    ascending = np.sort(x.astype("f8"), axis)
    np.testing.assert_array_equal(run(p.sort, x, axis=axis, direction="asc").astype("f8"), ascending)
    np.testing.assert_array_equal(run(p.sort, x, axis=axis, direction="desc").astype("f8"), np.flip(ascending, axis))


def test_nan_is_greater_than_all():
    x = np.array([math.nan, 1.0, math.inf, -math.inf, math.nan, 0.0])
    np.testing.assert_array_equal(run(p.sort, x, axis=0, direction="asc"), [-math.inf, 0, 1, math.inf] + [math.nan] * 2)
    np.testing.assert_array_equal(
        run(p.sort, x, axis=0, direction="desc"), [math.nan] * 2 + [math.inf, 1, 0, -math.inf]
    )
    order = run(p.argsort, x, axis=0, direction="desc", type=types.s64)
    assert order.tolist() == [0, 4, 2, 1, 5, 3]


@pytest.mark.parametrize(("direction", "expected"), [("asc", [1, 3, 4, 0, 2]), ("desc", [0, 2, 1, 3, 4])])
def test_equal_elements_keep_their_order(direction, expected):
    found = run(p.argsort, np.array([5, 1, 5, 1, 1]), axis=0, direction=direction, type=types.u32)
    assert found.tolist() == expected
    assert found.dtype == np.uint32


# Convolution -----------------------------------------------------------------------------------------------------


def convolved(x, kernel, padding, strides, input_dilation, kernel_dilation, feature_groups, batch_groups):
    """Convolution as its definition says it, one product after the other."""
    count = x.ndim - 2
    reach = [(n - 1) * d + 1 for n, d in zip(kernel.shape[2:], kernel_dilation, strict=True)]
    size = [(n - 1) * d + 1 + sum(pair) for n, d, pair in zip(x.shape[2:], input_dilation, padding, strict=True)]
    space = [(n - r) // s + 1 for n, r, s in zip(size, reach, strides, strict=True)]
    batch, features = x.shape[0] // batch_groups, kernel.shape[0]
    result = np.zeros((batch, features, *space), x.dtype)
    for n, o, *at in np.ndindex(*result.shape):
        group = o // (features // feature_groups)
        row = n + batch * (o // (features // batch_groups))
        for c, *w in np.ndindex(*kernel.shape[1:]):
            source = []
            for axis in range(count):
                place = at[axis] * strides[axis] + w[axis] * kernel_dilation[axis] - padding[axis][0]
                whole, rest = divmod(place, input_dilation[axis])
                source.append(whole if rest == 0 and 0 <= whole < x.shape[2 + axis] else None)
            if None not in source:
                value = x[(row, group * kernel.shape[1] + c, *source)]
                result[(n, o, *at)] += value * kernel[(o, c, *w)]
    return result


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_convolution_is_its_definition(data):
    count = data.draw(st.integers(1, 2))
    draw = lambda low, high: tuple(data.draw(st.integers(low, high)) for _ in range(count))  # noqa: E731
    groups, by_batch = data.draw(st.integers(1, 2)), data.draw(st.booleans())
    channels, features, batch = (data.draw(st.integers(1, 2)) for _ in range(3))
    feature_groups, batch_groups = (1, groups) if by_batch else (groups, 1)
    strides, input_dilation, kernel_dilation, window = draw(1, 2), draw(1, 2), draw(1, 2), draw(1, 3)
    padding = tuple(zip(draw(-1, 2), draw(-1, 2), strict=True))
    reach = [(w - 1) * d + 1 for w, d in zip(window, kernel_dilation, strict=True)]
    space = tuple(
        max(-(-(r - low - high - 1) // d) + 1, 1) + data.draw(st.integers(0, 2))
        for r, (low, high), d in zip(reach, padding, input_dilation, strict=True)
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.integers(-4, 5, (batch * batch_groups, channels * feature_groups, *space)).astype("f8")
    kernel = rng.integers(-4, 5, (features * groups, channels, *window)).astype("f8")
    options = {
        "padding": padding, "strides": strides, "input_dilation": input_dilation, "kernel_dilation": kernel_dilation,
        "feature_groups": feature_groups, "batch_groups": batch_groups,
    }  # fmt: skip
    np.testing.assert_array_equal(run(p.conv, x, kernel, **options), convolved(x, kernel, **options))


@pytest.mark.parametrize("type_", [types.f16, types.bf16, types.c64])
def test_convolution_of_other_types(type_):
    rng = np.random.default_rng(3)
    x, kernel = rng.normal(size=(2, 3, 6)).astype(type_.dtype), rng.normal(size=(4, 3, 2)).astype(type_.dtype)
    options = {
        "padding": ((0, 1),),
        "strides": (1,),
        "input_dilation": (1,),
        "kernel_dilation": (1,),
        "feature_groups": 1,
        "batch_groups": 1,
    }
    found = run(p.conv, x, kernel, **options)
    wide = np.complex128 if type_.is_complex else np.float64
    expected = convolved(x.astype(wide), kernel.astype(wide), **options)
    tolerance = 4 * float(ml_dtypes.finfo(types.to_real(type_).dtype).eps)
    np.testing.assert_allclose(found.astype(wide), expected, rtol=tolerance, atol=tolerance)


# Folds -----------------------------------------------------------------------------------------------------------


def body_of(function, type_):
    spec = Spec(type_, (), ())
    return trace_body("body", function, [("element", spec), ("accumulated", spec)], lambda result: [result])


@pytest.mark.parametrize("keep_axes", [False, True])
@pytest.mark.parametrize("axes", [(), (0,), (1,), (0, 2), (0, 1, 2)])
def test_a_fold_goes_in_c_order(axes, keep_axes):
    body, _ = body_of(lambda element, accumulated: accumulated * 3 - element, types.f64)
    found = run(p.reduce, X, np.float64(2), axes=axes, keep_axes=keep_axes, body=body, type=types.f64)
    rest = [axis for axis in range(3) if axis not in axes]
    rows = X.transpose(*axes, *rest).reshape(-1, *[X.shape[axis] for axis in rest])
    held = np.full(rows.shape[1:], 2.0)
    for row in rows:
        held = held * 3 - row
    np.testing.assert_array_equal(found.reshape(held.shape), held)


def test_a_fold_of_nothing_is_its_start():
    body, _ = body_of(operator.add, types.f64)
    found = run(p.reduce, np.zeros((2, 0)), np.float64(7), axes=(1,), keep_axes=False, body=body, type=types.f64)
    assert found.tolist() == [7, 7]


def test_a_fold_uses_scalars_from_outside():
    scale = nx.tensor(10)
    body, captured = body_of(lambda element, accumulated: accumulated * scale + element, types.s64)
    assert captured == [scale]
    found = run(
        p.reduce, np.array([1, 2, 3]), np.int64(0), scale.data, axes=(0,), keep_axes=False, body=body, type=types.s64
    )
    assert found == 123


def test_a_fold_whose_body_ignores_the_elements():
    body, _ = body_of(lambda element, accumulated: accumulated, types.s64)
    found = run(p.reduce, np.ones((2, 3), int), np.int64(5), axes=(0,), keep_axes=False, body=body, type=types.s64)
    assert found.tolist() == [5, 5, 5]


@pytest.mark.parametrize(("feature_groups", "batch_groups"), [(1, 1), (2, 1), (1, 2)])
def test_convolutions_beyond_what_is_copied(feature_groups, batch_groups, monkeypatch):
    rng = np.random.default_rng(0)
    x, kernel = rng.integers(-3, 3, (2, 4, 7, 6)), rng.integers(-3, 3, (4, 4 // feature_groups, 3, 2))
    params = {
        "padding": ((1, 2), (0, 1)), "strides": (2, 1), "input_dilation": (1, 2), "kernel_dilation": (2, 1),
        "feature_groups": feature_groups, "batch_groups": batch_groups,
    }  # fmt: skip
    expected = run(p.conv, x.astype("f4"), kernel.astype("f4"), **params)
    monkeypatch.setattr(array_primitives, "MOST", 10)
    np.testing.assert_array_equal(run(p.conv, x.astype("f4"), kernel.astype("f4"), **params), expected)
