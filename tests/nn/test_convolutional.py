"""Convolutions and pooling against loops in NumPy."""

import itertools

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn

RANDOM = np.random.default_rng(5)
KEY = nx.random.key(0)


def spaced(x, strides):
    """Zeros between the elements of space."""
    shape = [1 + (n - 1) * step for n, step in zip(x.shape[2:], strides, strict=True)]
    made = np.zeros((*x.shape[:2], *shape))
    made[(..., *(slice(None, None, step) for step in strides))] = x
    return made


def windows(x, window, strides, dilation=1):
    """[batch, channels, places..., window...] of [batch, channels, space...]."""
    reach = [(n - 1) * dilation + 1 for n in window]
    counts = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, strides, strict=True)]
    made = np.zeros((*x.shape[:2], *counts, *window))
    for place in itertools.product(*map(range, counts)):
        part = tuple(slice(p * s, p * s + r, dilation) for p, s, r in zip(place, strides, reach, strict=True))
        made[(slice(None), slice(None), *place)] = x[(slice(None), slice(None), *part)]
    return made


def convolved(x, kernel, strides, dilation=1):
    """Channels first, kernel [space..., channels, features]."""
    rank = x.ndim - 2
    views = windows(x, kernel.shape[:rank], strides, dilation)
    inner = [*range(2 + rank, 2 + 2 * rank), 1]
    return np.moveaxis(np.tensordot(views, kernel, axes=(inner, [*range(rank), rank])), -1, 1)


def padded(x, around):
    return np.pad(x, [(0, 0), (0, 0), *around])


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("channels", ["first", "last"])
@pytest.mark.parametrize(("strides", "dilation", "padding"), [(1, 1, "valid"), (2, 1, "same"), (1, 2, "valid")])
def test_conv(rank, channels, strides, dilation, padding):
    x = RANDOM.standard_normal((2, 3, *(6,) * rank))
    given = x if channels == "first" else np.moveaxis(x, 1, -1)
    net = nn.conv(4, 3, strides=strides, dilation=dilation, padding=padding, channels=channels, bias_init="ones")
    params = net.init(KEY, given)
    assert params["kernel"].shape == (*(3,) * rank, 3, 4)
    around = [(1, 1)] * rank if padding == "same" else [(0, 0)] * rank
    expected = convolved(padded(x, around), params["kernel"].to_numpy(), (strides,) * rank, dilation) + 1
    expected = expected if channels == "first" else np.moveaxis(expected, 1, -1)
    np.testing.assert_allclose(net(params, given), expected, rtol=1e-6, atol=1e-6)


def test_conv_in_groups_and_each_channel_on_its_own():
    x = RANDOM.standard_normal((2, 4, 6))
    net = nn.conv(6, 3, groups=2, bias=False)
    params = net.init(KEY, x)
    kernel = params["kernel"].to_numpy()
    assert kernel.shape == (3, 2, 6)
    halves = [convolved(x[:, 2 * g : 2 * g + 2], kernel[..., 3 * g : 3 * g + 3], (1,)) for g in range(2)]
    np.testing.assert_allclose(net(params, x), np.concatenate(halves, 1), rtol=1e-6, atol=1e-6)
    net = nn.depthwise_conv(3, multiplier=2)
    params = net.init(KEY, x)
    kernel = params["kernel"].to_numpy()
    each = [convolved(x[:, c : c + 1], kernel[..., 2 * c : 2 * c + 2], (1,)) for c in range(4)]
    np.testing.assert_allclose(net(params, x), np.concatenate(each, 1), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("strides", "padding", "size"), [(1, "valid", 8), (2, "valid", 13), (2, "same", 12), (3, [(1, 0)], 17)]
)
def test_conv_transpose_is_the_transpose_of_a_conv(strides, padding, size):
    x, kernel = RANDOM.standard_normal((1, 2, 6)), RANDOM.standard_normal((3, 2, 5))
    y = nn.conv_transpose(5, 3, strides=strides, padding=padding, bias=False)({"kernel": kernel}, x)
    assert y.shape == (1, 5, size)
    back = RANDOM.standard_normal((1, 5, size))
    # <transpose(x), back> is <x, conv(back)> for the kernel that is flipped and has its channels exchanged.
    flipped = np.flip(kernel, 0).swapaxes(1, 2)
    there = nn.conv(2, 3, strides=strides, padding=padding, bias=False)({"kernel": flipped}, back)
    assert np.sum(y.to_numpy() * back) == pytest.approx(np.sum(there.to_numpy() * x))


@pytest.mark.parametrize("channels", ["first", "last"])
@pytest.mark.parametrize(("window", "strides"), [(2, None), ((3, 2), (1, 2))])
def test_pooling(channels, window, strides):
    x = RANDOM.standard_normal((2, 3, 6, 5))
    given = x if channels == "first" else np.moveaxis(x, 1, -1)
    sizes = (window, window) if isinstance(window, int) else window
    views = windows(x, sizes, strides or sizes)
    for net, expected in (
        (nn.max_pool(window, strides=strides, channels=channels), views.max((-2, -1))),
        (nn.avg_pool(window, strides=strides, channels=channels), views.mean((-2, -1))),
        (nn.lp_pool(window, strides=strides, channels=channels), np.sqrt((views**2).sum((-2, -1)))),
    ):
        expected = expected if channels == "first" else np.moveaxis(expected, 1, -1)
        np.testing.assert_allclose(net({}, given), expected, rtol=1e-9, atol=1e-12)


def test_pooling_with_padding():
    x = np.array([[[1.0, 2.0, 3.0]]])
    assert nn.max_pool(2, padding="same", strides=1)({}, -x).to_list() == [[[-1.0, -2.0, -3.0]]]
    assert nn.avg_pool(2, padding=[(1, 0)])({}, x).to_list() == [[[0.5, 2.5]]]


@pytest.mark.parametrize("channels", ["first", "last"])
def test_global_pooling(channels):
    x = RANDOM.standard_normal((2, 3, 6, 5))
    axes = (2, 3) if channels == "first" else (1, 2)
    for net, function in (
        (nn.global_max_pool, np.max),
        (nn.global_avg_pool, np.mean),
        (nn.global_lp_pool, lambda x, axis, keepdims: np.sqrt(np.sum(x**2, axis=axis, keepdims=keepdims))),
    ):
        for keep in (False, True):
            expected = function(x, axis=axes, keepdims=keep)
            np.testing.assert_allclose(net(channels=channels, keep_axes=keep)({}, x), expected, rtol=1e-9)


def test_norms_have_a_slope_of_0_at_0():
    assert nx.grad(lambda x: nx.sum(nn.global_lp_pool()({}, x)))(np.zeros((1, 1, 3))).to_list() == [[[0.0] * 3]]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: nn.conv(3).init(KEY, np.ones((2, 3))),
            r"conv: expected an input \[batch, channels, spatial...\], got ",
        ),
        (lambda: nn.conv(3, (3, 3)).init(KEY, np.ones((2, 3, 4))), r"conv: expected window for 1 spatial axes, got "),
        (lambda: nn.conv(3, bias=None), "nn.conv: bias is True or False, got None"),
        (
            lambda: nn.max_pool(2, padding=1)({}, np.ones((2, 3, 4, 4))),
            r'max_pool: padding is "valid", "same" or one \(low, high\) for each of 2 axes, got 1.',
        ),
        (lambda: nn.lp_pool(norm=0), "nn.lp_pool: norm is greater than 0, got 0"),
        (lambda: nn.conv(3, 0).init(KEY, np.ones((2, 3, 4))), "conv: window is of numbers from 1 on, got 0"),
        (
            lambda: nn.conv(3, groups=2).init(KEY, np.ones((2, 3, 4))),
            "conv: expected channels and features that divide",
        ),
        (lambda: nn.conv(3, 9).init(KEY, np.ones((2, 3, 4))), r"^conv: "),
    ],
)
def test_errors(make, text):
    with pytest.raises((TypeError, ValueError), match=text):
        make()
