"""Convolution; what each option means is compared with JAX, and with loops in tests/backends/test_arrays.py."""

import numpy as np
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.vectorized_axes import check_entries
from nxkernel.errors import NxTypeError, NxValueError

IMAGE = np.random.default_rng(0).normal(size=(2, 3, 6, 5))
KERNEL = np.random.default_rng(1).normal(size=(4, 3, 3, 2))


def traced(function, *arrays):
    return nx.jit(function, compiler="evaluator")(*arrays)


def correlated(mode):
    """Each image with each kernel, summed over channels, in SciPy."""
    return np.array(
        [
            [sum(map(lambda x, k: scipy.signal.correlate(x, k, mode), image, kernel)) for kernel in KERNEL]
            for image in IMAGE
        ]
    )


def test_it_is_scipys_correlation():
    np.testing.assert_allclose(nx.conv(IMAGE, KERNEL), correlated("valid"), rtol=1e-12)
    found = nx.conv(IMAGE, KERNEL, padding=[(2, 2), (1, 1)])
    np.testing.assert_allclose(found, correlated("full"), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(traced(nx.conv, IMAGE, KERNEL), nx.conv(IMAGE, KERNEL))


def test_same_keeps_space_whatever_the_dilation():
    for size in (1, 2, 3, 4):
        for dilation in (1, 2):
            kernel = np.ones((4, 3, size, size))
            found = nx.conv(IMAGE, kernel, padding="same", kernel_dilation=dilation)
            assert found.shape == (2, 4, 6, 5)
    # Of an odd number of zeros the greater part goes behind.
    assert nx.conv([[[1, 2, 3]]], [[[1, 10]]], padding="same").to_list() == [[[21, 32, 3]]]
    assert nx.conv(IMAGE, np.ones((4, 3, 3, 3)), padding="same", strides=2).shape == (2, 4, 3, 3)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_options_are_jaxs(data):
    lax = pytest.importorskip("jax.lax", reason="JAX, an optional part, is what this compares with")
    count = data.draw(st.integers(1, 3))
    draw = lambda low, high: tuple(data.draw(st.integers(low, high)) for _ in range(count))  # noqa: E731
    feature_groups, batch_groups = data.draw(st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]))
    of_kernel, features, batch = (data.draw(st.integers(1, 2)) for _ in range(3))
    strides, input_dilation, kernel_dilation, window = draw(1, 2), draw(1, 2), draw(1, 2), draw(1, 3)
    padding = list(zip(draw(0, 2), draw(0, 2), strict=True))
    space = [(w - 1) * d + 1 for w, d in zip(window, kernel_dilation, strict=True)]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.integers(-4, 5, (batch * batch_groups, of_kernel * feature_groups, *space)).astype("f4")
    kernel = rng.integers(-4, 5, (features * feature_groups * batch_groups, of_kernel, *window)).astype("f4")
    orders = [data.draw(st.permutations(range(count + 2))) for _ in range(3)]
    # An axis of the array goes where its order finds it.
    given_x, given_kernel = x.transpose(np.argsort(orders[0])), kernel.transpose(np.argsort(orders[1]))
    expected = lax.conv_general_dilated(
        given_x,
        given_kernel,
        strides,
        padding,
        input_dilation,
        kernel_dilation,
        lax.ConvDimensionNumbers(*map(tuple, orders)),
        feature_groups,
        batch_groups,
    )
    options = {
        "padding": padding, "strides": strides, "input_dilation": input_dilation, "kernel_dilation": kernel_dilation,
        "feature_group_size": feature_groups, "batch_group_size": batch_groups, "input_permutation": orders[0],
        "kernel_permutation": orders[1], "output_permutation": orders[2],
    }  # fmt: skip
    np.testing.assert_array_equal(nx.conv(given_x, given_kernel, **options), expected)
    np.testing.assert_array_equal(traced(lambda a, b: nx.conv(a, b, **options), given_x, given_kernel), expected)


def test_channels_in_the_last_axis():
    found = nx.conv(
        np.moveaxis(IMAGE, 1, -1),
        np.moveaxis(KERNEL, (0, 1), (-1, -2)),
        input_permutation=[0, 3, 1, 2],
        kernel_permutation=[3, 2, 0, 1],
        output_permutation=[0, 3, 1, 2],
    )
    np.testing.assert_allclose(found, np.moveaxis(correlated("valid"), 1, -1), rtol=1e-12)


def test_names_are_those_of_the_tensor():
    named = nx.tensor(np.moveaxis(IMAGE, 1, -1), names=["batch", "y", "x", "color"])
    order = ["batch", "color", "y", "x"]
    assert nx.conv(named, KERNEL, input_permutation=order).names == ("batch", "color", "y", "x")
    found = nx.conv(named, KERNEL, input_permutation=order, output_permutation=[0, 3, 1, 2])
    assert found.spec == nx.template((2, 4, 4, 4), "f64", names=["batch", "y", "x", "color"]).spec


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("u8", "s64", "f32"),
        ("bf16", "s8", "bf16"),
        ("f16", "f32", "f32"),
        ("f64", "c64", "c128"),
        ("bool", "u8", "f32"),
    ],
)
def test_types(left, right, expected):
    found = nx.conv(nx.tensor([[[1, 1]]], type=left), nx.tensor([[[1, 0]]], type=right))
    assert (found.type, found.to_list()) == (expected, [[[1]]])


def test_a_kernel_of_complex_numbers_is_not_conjugated():
    assert nx.conv([[[1j, 2]]], [[[1j, 3]]]).to_list() == [[[5 + 0j]]]


@pytest.mark.parametrize(
    ("shape", "kernel", "options", "text"),
    [
        (
            (1, 1, 4), (1, 1), {},
            "conv takes [batch, channels, spatial...] and [features, channels, spatial...], got f32[1][1][4] and "
            "f32[1][1].\n  Both have the same number of axes, at least 3; nx.new_axis(t, axis) adds one.",
        ),
        (
            (1, 4), (1, 4), {},
            "conv takes [batch, channels, spatial...] and [features, channels, spatial...], got f32[1][4] and "
            "f32[1][4].\n  Both have the same number of axes, at least 3; nx.new_axis(t, axis) adds one.",
        ),
        (
            (1, 3, 4), (2, 4, 2), {},
            "conv of f32[1][3][4] with the kernel f32[2][4][2]: there are 3 channels, the kernel takes 4.\n"
            "  The axes are [batch, channels, spatial...] and [features, channels, spatial...].\n"
            "  For channels in the last axis, give input_permutation and kernel_permutation.",
        ),
        (
            (1, 4, 4), (2, 4, 2), {"feature_group_size": 2},
            "conv of f32[1][4][4] with the kernel f32[2][4][2]: there are 4 channels in 2 groups, the kernel takes 4.\n"
            "  The axes are [batch, channels, spatial...] and [features, channels, spatial...].\n"
            "  For channels in the last axis, give input_permutation and kernel_permutation.",
        ),
        (
            (1, 3, 4), (2, 1, 2), {"feature_group_size": 2},
            "conv cannot divide 3 channels into 2 equal groups (feature_group_size=2)",
        ),
        (
            (1, 2, 4), (3, 1, 2), {"feature_group_size": 2},
            "conv cannot divide 3 features into 2 equal groups (feature_group_size=2)",
        ),
        (
            (3, 1, 4), (2, 1, 2), {"batch_group_size": 2},
            "conv cannot divide 3 elements in the batch into 2 equal groups (batch_group_size=2)",
        ),
        (
            (2, 1, 4), (3, 1, 2), {"batch_group_size": 2},
            "conv cannot divide 3 features into 2 equal groups (batch_group_size=2)",
        ),
        (
            (2, 2, 4), (2, 1, 2), {"batch_group_size": 2, "feature_group_size": 2},
            "conv divides into groups either by features or by batch, got feature_group_size=2 and batch_group_size=2",
        ),
        ((1, 1, 4), (1, 1, 2), {"feature_group_size": 0}, "feature_group_size is at least 1, got 0"),
        (
            (1, 1, 4), (1, 1, 2), {"strides": [1, 1]},
            "strides has one entry for each of 1 axes, got [1, 1].\n  One number stands for all axes: strides=2.",
        ),
        ((1, 1, 4), (1, 1, 2), {"input_dilation": 0}, "the entries of input_dilation are at least 1, got (0,)"),
        (
            (1, 1, 4), (1, 1, 2), {"padding": "SAME"},
            "padding is \"valid\", \"same\" or one (low, high) for each of 1 axes, got 'SAME'.\n"
            "  No padding is written [(0, 0)].",
        ),
        (
            (1, 1, 4, 4), (1, 1, 2, 2), {"padding": 1},
            "padding is \"valid\", \"same\" or one (low, high) for each of 2 axes, got 1.\n"
            "  1 on every side is written [(1, 1), (1, 1)].",
        ),
        (
            (1, 1, 4), (1, 1, 2), {"output_permutation": [0, 1]},
            "output_permutation has every axis of f32[1][1][3] once, got [0, 1]",
        ),
        (
            (1, 1, 4), (1, 1, 3), {"kernel_dilation": 2},
            "a window of size 3, spread by 2 over 5 elements, does not fit axis 2 of f32[1][1][4].\n"
            '  Pad the tensor, for example with padding="same", or take a smaller window.',
        ),
        (
            (1, 1, 4, 1), (1, 1, 3, 3), {"input_permutation": [0, 3, 1, 2], "padding": [(1, 0), (0, 0)]},
            "a window of size 3 does not fit axis 1 of f32[1][1][4][1], which has size 2 with its padding.\n"
            '  Pad the tensor, for example with padding="same", or take a smaller window.',
        ),
    ],
)  # fmt: skip
def test_refused_values(shape, kernel, options, text):
    with pytest.raises(NxValueError) as error:
        nx.conv(nx.broadcast(1.0, shape), nx.broadcast(1.0, kernel), **options)
    assert str(error.value) == text


@pytest.mark.parametrize("compiler", [None, "evaluator", "numba_cpu"])
def test_an_empty_batch(compiler):
    kernel = np.ones((2, 1, 3, 3), np.float32)
    for options, shape in [({}, (0, 2, 3, 4)), ({"strides": 2, "padding": "same"}, (0, 2, 3, 3))]:
        function = lambda t, k: nx.conv(t, k, **options)  # noqa: B023, E731
        run = function if compiler is None else nx.jit(function, compiler=compiler)
        assert run(np.zeros((0, 1, 5, 6), np.float32), kernel).shape == shape
    channels = (lambda t, k: nx.conv(t, k)) if compiler is None else nx.jit(nx.conv, compiler=compiler)
    none = channels(np.zeros((2, 0, 5, 6), np.float32), np.zeros((2, 0, 3, 3), np.float32))
    np.testing.assert_array_equal(none, np.zeros((2, 2, 3, 4)))


def test_groups_are_numbers():
    with pytest.raises(NxTypeError, match="batch_group_size must be a whole number that is known"):
        nx.conv([[[1]]], [[[1]]], batch_group_size=1.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: nx.conv(t, nx.iota((2, 2, 3)), padding="same", output_permutation=[2, 0, 1]),
        lambda t: nx.conv(nx.iota((2, 2, 6)), t, padding="same", batch_group_size=2),
        lambda t: nx.conv(t, nx.reshape(t[0], (2, 1, 5)), strides=2, padding="same", feature_group_size=2),
    ],
)
def test_entries(function):
    check_entries(function, np.random.default_rng(2).integers(-3, 4, (3, 2, 2, 5)))
