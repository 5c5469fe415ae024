"""Gradients of windows and convolutions against central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.central_differences import check, close_to_wide, gradient_of, numbers
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel import primitives as p
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms.adjoints.rules import windows

EXAMPLES = settings(max_examples=10, deadline=None, derandomize=True)


@st.composite
def of_windows(draw):
    """A shape with the parameters of windows that fit it."""
    axes = []
    for _ in range(draw(st.integers(1, 3))):
        window, dilation = draw(st.integers(1, 3)), draw(st.integers(1, 2))
        size = (window - 1) * dilation + 1 + draw(st.integers(0, 4))
        axes.append((size, window, draw(st.integers(1, 4)), dilation))
    return tuple(zip(*axes, strict=True))


@given(of_windows(), st.sampled_from([0, 16]))
@EXAMPLES
def test_windows(case, few):
    shape, window, strides, dilations = case
    before, windows.FEW = windows.FEW, few
    try:
        check(lambda x: apply(p.windows, x, window=window, strides=strides, dilations=dilations), numbers(*shape))
    finally:
        windows.FEW = before


@pytest.mark.slow
@given(of_windows())
@EXAMPLES
def test_what_goes_on_with_windows_is_collected(case):
    shape, window, strides, dilations = case
    axes = range(len(shape), 2 * len(shape))

    def function(x):
        views = apply(p.windows, x, window=window, strides=strides, dilations=dilations)
        mean = nx.mean(views, axes=list(axes), keep_axes=True)
        return nx.sum(nx.sin(views * mean) + views, axes=list(axes))

    check(function, numbers(*shape))


def primitives_of_pooling(pooling, *where, **how):
    specs = spec("f32", 2, 9, 9), spec("f32", *where)
    made = graph_of(gradient_of(lambda x: pooling(x, (1, 3, 3), **how), 1), *specs)
    return [node.primitive.name for node in post_order(made.outputs)]


def test_gradients_of_overlapping_windows_keep_no_windows():
    names = primitives_of_pooling(nx.window_sum, 2, 7, 7)
    assert (names.count("pad"), names.count("sum"), names.count("slice")) == (1, 1, 0)
    names = primitives_of_pooling(nx.window_max, 2, 4, 4, strides=[1, 2, 2])
    assert (names.count("pad"), names.count("slice"), names.count("concatenate")) == (2, 0, 0)


def test_elements_in_no_window_gain_nothing_of_infinite_ones():
    x = np.array([np.inf, 1.0, 2.0, np.inf])
    found = nx.grad(lambda x: nx.sum(nx.window_max(x[1:], (2,), strides=1)))(x)
    assert found.to_list() == [0.0, 0.0, 1.0, 1.0]
    found = nx.grad(lambda x: nx.sum(nx.window_sum(x, (2,), strides=2, padding=[(0, 1)]) * 2))(np.array([np.inf, 1, 2]))
    assert found.to_list() == [2.0, 2.0, 2.0]


@st.composite
def of_convolutions(draw):
    """Shapes of an operand and a kernel with the parameters of a convolution."""
    groups = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2)]))
    features, parts = groups
    axes = []
    for _ in range(draw(st.integers(1, 2))):
        size, window, gap, dilation = (draw(st.integers(1, most)) for most in (6, 3, 2, 2))
        low, high = draw(st.integers(-1, 2)), draw(st.integers(-1, 2))
        high += max(0, (window - 1) * dilation + 1 - ((size - 1) * gap + 1 + low + high))
        axes.append((size, window, draw(st.integers(1, 3)), gap, dilation, (low, high)))
    sizes, kernel, strides, gaps, dilations, padding = zip(*axes, strict=True)
    channels = draw(st.integers(1, 2))
    operand = (parts * draw(st.integers(1, 2)), features * channels, *sizes)
    kernel = (features * parts * draw(st.integers(1, 2)), channels, *kernel)
    return operand, kernel, {
        "strides": strides, "input_dilation": gaps, "kernel_dilation": dilations, "padding": padding,
        "feature_groups": features, "batch_groups": parts,
    }  # fmt: skip


@given(of_convolutions(), st.sampled_from([0, 4]))
@EXAMPLES
def test_convolutions(case, few):
    operand, kernel, params = case
    before = windows.FEW_CHANNELS, windows.SOME_FEATURES
    windows.FEW_CHANNELS, windows.SOME_FEATURES = few, 1
    try:
        check(lambda x, k: apply(p.conv, x, k, **params), numbers(*operand), numbers(*kernel, seed=1))
    finally:
        windows.FEW_CHANNELS, windows.SOME_FEATURES = before


@pytest.mark.parametrize("complex_", [False, True])
def test_second_derivatives_of_convolutions(complex_):
    x, kernel = numbers(2, 2, 5, 4, complex_=complex_), numbers(4, 1, 3, 2, seed=1, complex_=complex_)
    how = {"padding": "same", "strides": [2, 1], "feature_group_size": 2}
    check(lambda x, k: nx.conv(x, k, **how), x, kernel, order=2)
    check(lambda x, k: nx.conv(nx.sin(nx.real(x)), nx.abs(k), **how), x, kernel, order=2)


def test_channels_last():
    order = {"input_permutation": [0, 2, 1], "kernel_permutation": [2, 1, 0], "output_permutation": [0, 2, 1]}
    check(lambda x, k: nx.conv(x, k, **order), numbers(2, 6, 3), numbers(2, 3, 4, seed=1))


def test_no_elements():
    slope = nx.grad(lambda x, k: nx.sum(nx.conv(x, k)), argnums=(0, 1))
    assert [found.shape for found in slope(np.empty((0, 2, 5)), numbers(3, 2, 2))] == [(0, 2, 5), (3, 2, 2)]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("pooling", [nx.window_sum, nx.window_mean, nx.window_max, nx.window_min, nx.window_product])
@pytest.mark.parametrize(
    "how",
    [{"strides": [2, 2]}, {"padding": "same"}, {"padding": "same", "strides": [1, 3]}, {"window_dilations": [2, 1]}],
    ids=str,
)
def test_pooling(pooling, how):
    check(lambda x: pooling(x, (2, 2), **how), numbers(5, 6), order=2)


def test_windows_of_many_elements():
    check(lambda x: nx.window_mean(x, (20,), strides=3) ** 2, numbers(40), order=2)


def test_window_reduce():
    check(lambda x: nx.window_reduce(x, 0.5, (3,), lambda e, acc: nx.sin(e) + e * acc), numbers(6), order=2)


def test_window_scatter():
    check(lambda x, s: nx.window_scatter_max(nx.stop_grad(x), s, 0.0, (2,), strides=2), numbers(6), numbers(3, seed=1))


def test_equal_elements_of_a_window_share():
    found = nx.grad(lambda x: nx.sum(nx.window_max(x, (2,), strides=2)))(np.array([1.0, 1.0, 2.0, 3.0]))
    assert found.to_list() == [0.5, 0.5, 0.0, 1.0]


def test_names():
    x = nx.tensor(numbers(2, 6), names=["batch", "time"])
    found = nx.grad(lambda x: nx.sum(nx.window_sum(x, (1, 2)) ** 2))(x)
    assert found.names == ("batch", "time")


@pytest.mark.parametrize(("type_", "rtol"), [("f32", 1e-4), ("bf16", 0.1)])
def test_narrow_types(type_, rtol):
    x, kernel = numbers(2, 2, 6), numbers(2, 2, 3, seed=1)
    close_to_wide(lambda x, k: nx.conv(x, k, padding="same"), x, kernel, type_=type_, rtol=rtol)
    close_to_wide(lambda x: nx.window_mean(x, (1, 1, 2)), x, type_=type_, rtol=rtol)


def primitives_of(x, kernel, gain):
    made = graph_of(gradient_of(nx.conv, 2), x, kernel, gain)
    return [node.primitive.name for node in post_order(made.outputs)]


def test_what_gradients_of_convolutions_are_made_of(monkeypatch):
    specs = spec("f32", 2, 3, 9, 9), spec("f32", 4, 3, 3, 3), spec("f32", 2, 4, 7, 7)
    names = primitives_of(*specs)
    assert (names.count("conv"), names.count("dot"), names.count("windows")) == (1, 1, 1)
    monkeypatch.setattr(windows, "MOST", 100)
    names = primitives_of(*specs)
    assert (names.count("conv"), names.count("dot"), names.count("windows")) == (2, 0, 0)
    names = primitives_of(spec("f32", 2, 8, 9, 9), spec("f32", 4, 8, 3, 3), spec("f32", 2, 4, 7, 7))
    assert (names.count("conv"), names.count("dot"), names.count("windows")) == (2, 0, 0)
