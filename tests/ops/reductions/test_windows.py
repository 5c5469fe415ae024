"""Windows, compared with windows cut out one after the other."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import nxkernel as nx
from graph_comparison.vectorized_axes import check_entries
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.ops.reductions import windows as window_module

X = np.array([[3.0, -1.0, 0.5, 4.0], [2.0, 2.0, 7.0, -2.0], [0.0, 4.0, -2.5, 1.0]])
NAMED = nx.tensor(X, names=["row", "column"])
REDUCTIONS = {
    "window_sum": (np.sum, 0.0), "window_product": (np.prod, 1.0), "window_max": (np.max, -math.inf),
    "window_min": (np.min, math.inf), "window_mean": (np.mean, 0.0),
}  # fmt: skip


def traced(function, *arrays):
    return nx.jit(function, compiler="evaluator")(*arrays)


def windowed(x, window, reduce, fill, padding, strides, dilations):
    """Each window taken out of the padded array, its elements reduced."""
    pairs = [
        ((w - 1) * d // 2, (w - 1) * d - (w - 1) * d // 2) if padding == "same" else (0, 0)
        for w, d in zip(window, dilations, strict=True)
    ]
    x = np.pad(x, padding if isinstance(padding, list) else pairs, constant_values=fill)
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilations, strict=True)]
    starts = [range(0, n - r + 1, s) for n, r, s in zip(x.shape, reach, strides, strict=True)]
    parts = [
        reduce(x[tuple(slice(o, o + r, d) for o, r, d in zip(at, reach, dilations, strict=True))])
        for at in itertools.product(*starts)
    ]
    return np.array(parts).reshape([len(each) for each in starts])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_each_window_is_reduced(data):
    name = data.draw(st.sampled_from(sorted(REDUCTIONS)))
    reduce, fill = REDUCTIONS[name]
    draw = lambda low, high: tuple(data.draw(st.integers(low, high)) for _ in range(2))  # noqa: E731
    window, strides, dilations = draw(1, 3), draw(1, 2), draw(1, 2)
    pairs = list(zip(draw(2, 3), draw(2, 3), strict=True))
    padding = data.draw(st.sampled_from(["same", pairs]))
    options = {"padding": padding, "strides": strides, "window_dilations": dilations}
    expected = windowed(X, window, reduce, fill, padding, strides, dilations)
    np.testing.assert_allclose(getattr(nx, name)(X, window, **options), expected, rtol=1e-14)
    np.testing.assert_allclose(traced(lambda x: getattr(nx, name)(x, window, **options), X), expected, rtol=1e-14)


@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_names_stay(name):
    assert getattr(nx, name)(NAMED, (2, 2)).spec == nx.template((2, 3), "f64", names=["row", "column"]).spec


def test_same_keeps_the_shape():
    for window, dilation in itertools.product((1, 2, 3, 4, 7), (1, 2, 3)):
        assert nx.window_max(X, window, padding="same", window_dilations=dilation).shape == X.shape
    assert nx.window_sum(X, (3, 2), padding="same", strides=(2, 3)).shape == (2, 2)


def test_padding_can_remove_elements():
    np.testing.assert_array_equal(nx.window_max(X, 1, padding=[(-1, 0), (0, -2)]), X[1:, :-2])


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("window_sum", "u8", "u8"), ("window_sum", "bool", "s64"), ("window_sum", "f16", "f16"),
        ("window_min", "bool", "bool"),
        ("window_product", "s8", "s8"), ("window_max", "u16", "u16"), ("window_min", "bf16", "bf16"),
        ("window_sum", "c64", "c64"), ("window_mean", "u8", "f32"), ("window_mean", "f16", "f16"),
        ("window_mean", "f64", "f64"), ("window_mean", "c64", "c64"),
    ],
)  # fmt: skip
def test_types(name, given, expected):
    found = getattr(nx, name)(nx.tensor([1, 0, 1], type=given), (2,))
    assert found.type == expected
    assert traced(lambda x: getattr(nx, name)(x, (2,)), nx.tensor([1, 0, 1], type=given)).type == expected


def test_integers_wrap():
    assert nx.window_sum(nx.tensor([200, 100, 1], type="u8"), (2,)).to_list() == [44, 101]


@pytest.mark.parametrize("type_", ["u8", "s8", "s64", "u64"])
def test_integer_windows_outside_hold_the_limits(type_):
    low, high = nx.constants.min_finite(type_).to_list(), nx.constants.max_finite(type_).to_list()
    t = nx.tensor([5], type=type_)
    assert nx.window_max(t, (1,), padding=[(1, 0)]).to_list() == [low, 5]
    assert nx.window_min(t, (1,), padding=[(1, 0)]).to_list() == [high, 5]


def test_nan_wins():
    np.testing.assert_array_equal(nx.window_max([1.0, math.nan, 2.0, 3.0], (2,)), [math.nan, math.nan, 3])


def test_the_mean_of_f16_rounds_once():
    found = nx.window_mean(nx.tensor([60000.0, 60000.0, 30000.0], type="f16"), (3,))
    assert found.to_list() == [float(np.float16(50000))]


def test_scalars_are_their_own_window():
    assert nx.window_sum(5, ()).to_list() == 5
    assert nx.window_scatter_max(5, 7, 1, ()).to_list() == 8
    for compiler in ("evaluator", "numba_cpu"):
        scattered_min = nx.jit(lambda t, s: nx.window_scatter_min(t, s, 1.5, (), padding="same"), compiler=compiler)
        assert scattered_min(nx.tensor(5.0), nx.u8(7)).to_list() == 8.5
    vectors = nx.window_scatter_max(nx.vectorize(nx.tensor([5, 6]), "v"), 7, 1, ())
    assert nx.devectorize(vectors).to_list() == [8, 8]


@pytest.mark.parametrize("compiler", [None, "evaluator", "numba_cpu"])
def test_no_elements_along_an_axis_that_windows_do_not_cross(compiler):
    none = np.zeros((0, 4, 4), np.float32)
    functions = [
        lambda t: nx.window_sum(t, (1, 2, 2), strides=(2, 1, 1)),
        lambda t: nx.window_max(t, (1, 2, 2)),
        lambda t: nx.window_mean(t, (1, 2, 2)),
        lambda t: nx.window_reduce(t, 0.0, (1, 2, 2), lambda a, b: a + b),
        lambda t: nx.window_scatter_max(t, t, 0.0, (1, 1, 1))[:, 1:, 1:],
    ]
    for function in functions:
        run = function if compiler is None else nx.jit(function, compiler=compiler)
        assert run(none).shape == (0, 3, 3)


# window_reduce ---------------------------------------------------------------------------------------------------


def test_window_reduce_folds_in_c_order():
    digits = nx.iota((3, 3)) + 1
    append = lambda x, acc: acc * 10 + x  # noqa: E731
    assert nx.window_reduce(digits, 0, (2, 2), append).to_list() == [[1245, 2356], [4578, 5689]]
    assert traced(lambda t: nx.window_reduce(t, 0, (2, 2), append), digits).to_list() == [[1245, 2356], [4578, 5689]]


def test_window_reduce_pads_with_what_it_starts_with():
    found = nx.window_reduce([1, 2], 7, (2,), lambda x, acc: nx.max(x, acc), padding="same")
    assert found.to_list() == [7, 7]
    found = nx.window_reduce([1, 2], 3, (1,), lambda x, acc: x, padding=[(1, 2)])
    assert found.to_list() == [3, 1, 2, 3, 3]


def test_window_reduce_is_window_sum():
    options = {"strides": (1, 2), "window_dilations": (2, 1), "padding": [(1, 0), (0, 2)]}
    found = nx.window_reduce(NAMED, 0, (2, 3), lambda x, acc: x + acc, **options)
    np.testing.assert_allclose(found, nx.window_sum(X, (2, 3), **options))
    assert found.names == ("row", "column")


def test_window_reduce_merges_types():
    assert nx.window_reduce([1, 2], 0.5, (1,), lambda x, acc: x + acc).spec == nx.template((2,), "f32").spec
    assert nx.window_reduce(nx.tensor([1, 2], type="u8"), 0, (1,), nx.add).type == "u8"
    with pytest.raises(NxTypeError) as error:
        nx.window_reduce([1, 2], [0], (1,), nx.add)
    assert str(error.value) == "window_reduce starts with one number, got s64[1] for 'acc'"


# window_scatter --------------------------------------------------------------------------------------------------


def scattered(x, source, init, window, strides, padding, better):
    """Each element of the source added where the best element of its window is, the last of equal ones."""
    result = np.full(x.shape, init)
    for at in np.ndindex(*source.shape):
        best = None
        for within in np.ndindex(*window):
            place = tuple(o * s + w - low for o, s, w, (low, _) in zip(at, strides, within, padding, strict=True))
            inside = all(0 <= i < n for i, n in zip(place, x.shape, strict=True))
            if inside and (best is None or not better(x[best], x[place])):
                best = place
        if best is not None:
            result[best] += source[at]
    return result


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_scatters_go_to_the_best_element(data):
    name, better = data.draw(st.sampled_from([("max", np.greater), ("min", np.less)]))
    draw = lambda low, high: tuple(data.draw(st.integers(low, high)) for _ in range(2))  # noqa: E731
    shape, window, strides = draw(3, 5), draw(1, 3), draw(1, 3)
    padding = data.draw(st.sampled_from([[(0, 0), (0, 0)], list(zip(draw(0, 2), draw(0, 2), strict=True))]))
    # Few values, and those that padding consists of, so that many elements are equal.
    x = np.random.default_rng(data.draw(st.integers(0, 99))).choice(np.uint8([0, 1, 255]), shape)
    places = windowed(x, window, np.max, 0, padding, strides, (1, 1)).shape
    source = np.arange(1, 1 + math.prod(places)).reshape(places)
    expected = scattered(x, source, 100, window, strides, padding, better)
    function = getattr(nx, f"window_scatter_{name}")
    options = {"strides": strides, "padding": padding}
    np.testing.assert_array_equal(function(x, source, 100, window, **options), expected)
    np.testing.assert_array_equal(traced(lambda *a: function(*a, 100, window, **options), x, source), expected)


def test_scatters_of_same_windows():
    found = nx.window_scatter_max(NAMED, X, 0, (2, 2), padding="same")
    np.testing.assert_array_equal(found, scattered(X, X, 0.0, (2, 2), (1, 1), [(0, 1), (0, 1)], np.greater))
    assert found.names == ("row", "column")


def test_scatters_are_the_gradient_of_pooling():
    pooled = sliding_window_view(X, (2, 2))[::1, ::2].max(axis=(2, 3))
    gradient = nx.window_scatter_max(X, np.ones_like(pooled), 0, (2, 2), strides=(1, 2)).to_numpy()
    step = 1e-6
    for place in np.ndindex(*X.shape):
        moved = X.copy()
        moved[place] += step
        change = (nx.window_max(moved, (2, 2), strides=(1, 2)).to_numpy() - pooled).sum() / step
        assert change == pytest.approx(gradient[place], abs=1e-4)


def test_scatters_prefer_nan():
    assert nx.window_scatter_max([1.0, math.nan, 9.0], [5], 0, (3,)).to_list() == [0, 5, 0]
    assert nx.window_scatter_min([1.0, math.nan, 9.0], [5, 6, 7], 0, (3,), padding="same").to_list() == [0, 18, 0]


def test_types_of_scatters():
    assert nx.window_scatter_max([1.5], nx.tensor([1], type="u8"), 0, (1,)).type == "u8"
    assert nx.window_scatter_max([1], [1], 0.5, (1,)).to_list() == [1.5]
    assert nx.window_scatter_min([1], [1.0], nx.tensor(0, type="f64"), (1,)).type == "f64"


# Errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: nx.window_sum(X, (2,)),
            "window_dimensions has one entry for each of 2 axes, got (2,).\n"
            "  One number stands for all axes: window_dimensions=2.",
        ),
        (
            lambda: nx.window_sum(X, "same"),
            "window_dimensions has one entry for each of 2 axes, got 'same'.\n"
            "  One number stands for all axes: window_dimensions=2.",
        ),
        (lambda: nx.window_sum(X, (0, 2)), "the entries of window_dimensions are at least 1, got (0, 2)"),
        (lambda: nx.window_sum(X, 2, strides=(1, 0)), "the entries of strides are at least 1, got (1, 0)"),
        (
            lambda: nx.window_sum(X, 2, window_dilations=[1]),
            "window_dilations has one entry for each of 2 axes, got [1].\n"
            "  One number stands for all axes: window_dilations=2.",
        ),
        (
            lambda: nx.window_sum(X, 2, padding="full"),
            'padding is "valid", "same" or one (low, high) for each of 2 axes, got \'full\'.\n'
            "  No padding is written [(0, 0), (0, 0)].",
        ),
        (lambda: nx.window_sum(X, 2, padding=[(0, 0), 1]), "the padding of an axis is (low, high), got 1"),
        (
            lambda: nx.window_max(X, (4, 1)),
            "a window of size 4 does not fit axis 0 of f64[3][4].\n"
            '  Pad the tensor, for example with padding="same", or take a smaller window.',
        ),
        (
            lambda: nx.window_sum(NAMED, (1, 9), padding=[(0, 0), (1, 2)]),
            "a window of size 9 does not fit axis 1 of f64[row: 3][column: 4], which has size 7 with its padding.\n"
            '  Pad the tensor, for example with padding="same", or take a smaller window.',
        ),
        (
            lambda: nx.window_scatter_max(X, [[1.0]], 0, (2, 2)),
            "window_scatter_max needs one element of source for each window: [2][3], got f32[1][1].\n"
            "  The source has the shape of nx.window_max with the same options.",
        ),
    ],
)
def test_refused_values(call, text):
    with pytest.raises(NxValueError) as error:
        call()
    assert str(error.value) == text


def test_refused_types():
    with pytest.raises(NxTypeError, match="window_max takes no complex numbers, got c64"):
        nx.window_max([1j], (1,))
    with pytest.raises(NxTypeError, match="window_scatter_min takes no complex numbers, got c64"):
        nx.window_scatter_min([1j], [1], 0, (1,))
    with pytest.raises(NxTypeError, match=re.escape("an entry of strides must be a whole number")):
        nx.window_sum(X, 2, strides=(1, 1.5))
    with pytest.raises(NxTypeError, match="window_scatter_max starts with one number, got s64\\[1\\] for 'init_value'"):
        nx.window_scatter_max([1], [1], [0], (1,))


def test_a_traced_value_is_no_window(record):
    with pytest.raises(NxTypeError, match="A static whole number"):
        record(lambda x, n: nx.window_sum(x, (n,)), nx.template((2,), "f32"), nx.template((), "s64"))


def test_the_graph_of_a_window(record):
    found = record(lambda x: nx.window_sum(x, (2,), padding="same"), nx.template((3,), "f32", names=["t"]))
    lines = [" ".join(line.split()) for line in repr(found).splitlines()[4:-1]]
    assert lines == [
        "parameter a:0 f32[t: 3]",
        "b = pad a, 0.0, config=[(0, 1, 0)] f32[t: 4]",
        "c = windows b, window=[2], strides=[1], dilations=[1] f32[t: 3][2]",
        "d = sum c, axes=[1], keep_axes=False f32[t: 3]",
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda t: nx.window_sum(t, (2, 2), padding="same", strides=(1, 2)),
        lambda t: nx.window_mean(t, 2, window_dilations=(2, 1)),
        lambda t: nx.window_max(t, (2, 3), padding=[(1, 1), (0, 2)]),
        lambda t: nx.window_reduce(t, 0, 2, lambda x, acc: acc * 2 + x),
        lambda t: nx.window_scatter_max(t, nx.window_sum(t, 2, padding="same"), 0, 2, padding="same"),
        lambda t: nx.window_scatter_min(t, nx.iota((2, 2)), 1.5, 2, strides=2),
    ],
)
def test_entries(function):
    check_entries(function, np.random.default_rng(2).integers(-3, 4, (3, 4, 5)))


# Large windows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["window_sum", "window_max", "window_min", "window_product"])
@pytest.mark.parametrize("type_", ["f16", "f32", "s32"])
def test_windows_beyond_what_is_copied(name, type_, monkeypatch):
    numbers = np.random.default_rng(0).choice([1, 2, -1], (9, 1, 11), p=[0.9, 0.05, 0.05])
    given, options = (
        nx.tensor(numbers, type=type_),
        {"strides": (2, 1, 3), "window_dilations": (2, 1, 1), "padding": "same"},
    )
    function = getattr(nx, name)
    expected = function(given, (3, 2, 5), **options)
    monkeypatch.setattr(window_module, "MOST", 10)
    found = function(given, (3, 2, 5), **options)
    assert found.type == expected.type
    np.testing.assert_array_equal(found, expected)
