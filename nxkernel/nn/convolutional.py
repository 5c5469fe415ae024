"""Convolutions and pooling, over any number of spatial axes, with channels first or last."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nxkernel as nx
from nxkernel.errors import NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.nn import scopes
from nxkernel.nn.initializers import Initializer, chosen
from nxkernel.nn.layers import count, floating
from nxkernel.nn.modules import module
from nxkernel.ops.machinery.window_options import padding_of
from nxkernel.shapes import describe

__all__ = [
    "avg_pool", "conv", "conv_transpose", "depthwise_conv", "global_avg_pool", "global_lp_pool", "global_max_pool",
    "lp_pool", "max_pool",
]  # fmt: skip

Sizes = int | Sequence[int]
Padding = str | Sequence[tuple[int, int]]


@module
def conv(
    features: int,
    window: Sizes = 3,
    *,
    strides: Sizes = 1,
    padding: Padding = "valid",
    dilation: Sizes = 1,
    groups: int = 1,
    bias: bool = True,
    channels: str = "first",
    kernel_init: Initializer | str = "glorot_uniform",
    bias_init: Initializer | str = "zeros",
) -> Callable[..., Any]:
    """A convolution over any number of spatial axes.

    Parameters
    ----------
    features : int
        The number of channels of what it gives.
    window : int or tuple of int, optional
        How far the kernel reaches along each spatial axis.
    strides, padding, dilation : optional
        As :func:`nxkernel.conv` takes them; `dilation` is of the kernel.
    groups : int, optional
        Into how many groups channels and features are divided.
    bias : bool, optional
        Whether a number is added to each feature.
    channels : {"first", "last"}, optional
        ``[batch, channels, spatial...]``, or ``[batch, spatial..., channels]``.
    kernel_init, bias_init : initializer or str, optional

    Returns
    -------
    Module
        Parameters ``kernel`` ``[spatial..., channels of a group, features]`` and ``bias`` ``[features]``.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.conv(8, 3, padding="same").summary(nx.template((1, 3, 28, 28), "f32"))
    layer  output             parameters
    conv   f32[1][8][28][28]         224
    224 parameters, 896 bytes
    """
    features, groups = count(features, "conv", "features"), count(groups, "conv", "groups")
    number_checks.flag("nn.conv", "bias", bias)
    of_kernel, of_bias = chosen(kernel_init, "kernel_init"), chosen(bias_init, "bias_init")
    last = is_last(channels)

    def apply(x: Any) -> Any:
        x = floating(x)
        spatial, size = _space(x, last)
        if size % groups or features % groups:
            raise NxValueError(f"expected channels and features that divide into {groups} groups, got {size} channels")
        kernel = scopes.param("kernel", (*_along(window, spatial, "window"), size // groups, features), of_kernel)
        y = _convolved(x, kernel, last, strides, padding, 1, dilation, groups)
        return y + _across(scopes.param("bias", (features,), of_bias), spatial, last) if bias else y

    return apply


@module
def depthwise_conv(
    window: Sizes = 3,
    *,
    multiplier: int = 1,
    strides: Sizes = 1,
    padding: Padding = "valid",
    dilation: Sizes = 1,
    bias: bool = True,
    channels: str = "first",
    kernel_init: Initializer | str = "glorot_uniform",
    bias_init: Initializer | str = "zeros",
) -> Callable[..., Any]:
    """A depthwise convolution: each channel is convolved with its own kernels.

    Parameters
    ----------
    window : int or tuple of int, optional
    multiplier : int, optional
        How many features are made of each channel.
    strides, padding, dilation, bias, channels, kernel_init, bias_init : optional
        As :func:`conv` takes them.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.depthwise_conv(3).init(nx.random.key(0), nx.template((1, 5, 8, 8), "f32"))["kernel"].shape
    (3, 3, 1, 5)
    """
    of_kernel, of_bias = chosen(kernel_init, "kernel_init"), chosen(bias_init, "bias_init")
    multiplier = count(multiplier, "depthwise_conv", "multiplier")
    number_checks.flag("nn.depthwise_conv", "bias", bias)
    last = is_last(channels)

    def apply(x: Any) -> Any:
        x = floating(x)
        spatial, size = _space(x, last)
        kernel = scopes.param("kernel", (*_along(window, spatial, "window"), 1, size * multiplier), of_kernel)
        y = _convolved(x, kernel, last, strides, padding, 1, dilation, size)
        return y + _across(scopes.param("bias", (size * multiplier,), of_bias), spatial, last) if bias else y

    return apply


@module
def conv_transpose(
    features: int,
    window: Sizes = 3,
    *,
    strides: Sizes = 1,
    padding: Padding = "valid",
    dilation: Sizes = 1,
    bias: bool = True,
    channels: str = "first",
    kernel_init: Initializer | str = "glorot_uniform",
    bias_init: Initializer | str = "zeros",
) -> Callable[..., Any]:
    """A transposed convolution, which upsamples by its strides: it inverts the shapes of a convolution.

    Parameters
    ----------
    features : int
    window, strides, dilation, bias, channels, kernel_init, bias_init : optional
        As :func:`conv` takes them.
    padding : {"valid", "same"} or list of (low, high), optional
        Of the convolution whose shape it undoes; ``"same"`` gives `strides` times the size.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> layer = nn.conv_transpose(2, 3, strides=2, padding="same")
    >>> layer(layer.init(nx.random.key(0), nx.template((1, 1, 4), "f32")), nx.iota((1, 1, 4))).shape
    (1, 2, 8)
    """
    features = count(features, "conv_transpose", "features")
    number_checks.flag("nn.conv_transpose", "bias", bias)
    of_kernel, of_bias = chosen(kernel_init, "kernel_init"), chosen(bias_init, "bias_init")
    last = is_last(channels)

    def apply(x: Any) -> Any:
        x = floating(x)
        spatial, size = _space(x, last)
        windows, steps = _along(window, spatial, "window"), _along(strides, spatial, "strides")
        gaps = _along(dilation, spatial, "dilation")
        reach = [(one - 1) * gap for one, gap in zip(windows, gaps, strict=True)]
        around = [
            (whole - low, whole - high + (step - 1 if padding == "same" else 0))
            for whole, step, (low, high) in zip(reach, steps, padding_of(padding, windows, gaps), strict=True)
        ]
        kernel = scopes.param("kernel", (*windows, size, features), of_kernel)
        y = _convolved(x, kernel, last, 1, around, steps, gaps, 1)
        return y + _across(scopes.param("bias", (features,), of_bias), spatial, last) if bias else y

    return apply


def _convolved(
    x: Any, kernel: Any, last: bool, strides: Any, padding: Any, input_dilation: Any, dilation: Any, groups: int
) -> Any:
    space = range(x.rank - 2)
    order = [0, x.rank - 1, *(axis + 1 for axis in space)] if last else None
    return nx.conv(
        x,
        kernel,
        strides=strides,
        padding=padding,
        input_dilation=input_dilation,
        kernel_dilation=dilation,
        feature_group_size=groups,
        input_permutation=order,
        kernel_permutation=[x.rank - 1, x.rank - 2, *space],
        output_permutation=order,
    )


@module
def max_pool(
    window: Sizes = 2, *, strides: Sizes | None = None, padding: Padding = "valid", channels: str = "first"
) -> Callable[..., Any]:
    """The largest element of each window.

    Parameters
    ----------
    window : int or tuple of int, optional
        Its size along each spatial axis.
    strides : int or tuple of int, optional
        From one window to the next; without it the size of a window.
    padding : {"valid", "same"} or list of (low, high), optional
        What is around counts as the lowest number.
    channels : {"first", "last"}, optional

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.max_pool(2)({}, nx.iota((1, 1, 4), type="f32")).to_list()
    [[[1.0, 3.0]]]
    """
    return _pooling(nx.window_max, window, strides, padding, channels)


@module
def avg_pool(
    window: Sizes = 2, *, strides: Sizes | None = None, padding: Padding = "valid", channels: str = "first"
) -> Callable[..., Any]:
    """The mean of each window.

    Parameters
    ----------
    window, strides, channels : optional
        As :func:`max_pool` takes them.
    padding : {"valid", "same"} or list of (low, high), optional
        What is around counts as 0.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.avg_pool(2)({}, nx.iota((1, 1, 4), type="f32")).to_list()
    [[[0.5, 2.5]]]
    """
    return _pooling(nx.window_mean, window, strides, padding, channels)


@module
def lp_pool(
    window: Sizes = 2,
    *,
    norm: float = 2,
    strides: Sizes | None = None,
    padding: Padding = "valid",
    channels: str = "first",
) -> Callable[..., Any]:
    """The p-norm of each window.

    Parameters
    ----------
    window : int or tuple of int, optional
    norm : float, optional
        The power.
    strides, padding, channels : optional
        As :func:`avg_pool` takes them.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.lp_pool(2)({}, nx.tensor([[[3.0, 4.0, 0.0, 0.0]]])).to_list()
    [[[5.0, 0.0]]]
    """
    number_checks.above("nn.lp_pool", "norm", norm, 0)

    def pooled(x: Any, *args: Any, **options: Any) -> Any:
        return _root(nx.window_sum(nx.abs(x) ** norm, *args, **options), norm)

    return _pooling(pooled, window, strides, padding, channels)


def _pooling(function: Callable[..., Any], window: Any, strides: Any, padding: Any, channels: str) -> Callable:
    last = is_last(channels)

    def apply(x: Any) -> Any:
        x = floating(x)
        spatial, _ = _space(x, last)
        windows = _along(window, spatial, "window")
        steps = windows if strides is None else _along(strides, spatial, "strides")
        around = padding
        if not isinstance(padding, str):
            # What is no pair for each spatial axis is refused in the terms of these axes.
            around = _everywhere(tuple(padding_of(padding, windows, (1,) * spatial)), (0, 0), last)
        return function(x, _everywhere(windows, 1, last), strides=_everywhere(steps, 1, last), padding=around)

    return apply


def _everywhere(sizes: tuple, one: Any, last: bool) -> tuple:
    return (one, *sizes, one) if last else (one, one, *sizes)


@module
def global_max_pool(*, keep_axes: bool = False, channels: str = "first") -> Callable[..., Any]:
    """The largest element of each channel.

    Parameters
    ----------
    keep_axes : bool, optional
        Whether spatial axes stay, with size 1.
    channels : {"first", "last"}, optional

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.global_max_pool()({}, nx.iota((1, 2, 3), type="f32")).to_list()
    [[2.0, 5.0]]
    """
    return _globally(nx.reduce_max, keep_axes, channels)


@module
def global_avg_pool(*, keep_axes: bool = False, channels: str = "first") -> Callable[..., Any]:
    """The mean of each channel.

    Parameters
    ----------
    keep_axes, channels : optional
        As :func:`global_max_pool` takes them.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.global_avg_pool()({}, nx.iota((1, 2, 3), type="f32")).to_list()
    [[1.0, 4.0]]
    """
    return _globally(nx.mean, keep_axes, channels)


@module
def global_lp_pool(*, norm: float = 2, keep_axes: bool = False, channels: str = "first") -> Callable[..., Any]:
    """The p-norm of each channel.

    Parameters
    ----------
    norm : float, optional
    keep_axes, channels : optional
        As :func:`global_max_pool` takes them.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.global_lp_pool()({}, nx.tensor([[[3.0, 4.0]]])).to_list()
    [[5.0]]
    """
    number_checks.above("nn.global_lp_pool", "norm", norm, 0)
    return _globally(lambda x, **options: _root(nx.sum(nx.abs(x) ** norm, **options), norm), keep_axes, channels)


def _globally(function: Callable[..., Any], keep_axes: bool, channels: str) -> Callable[..., Any]:
    last = is_last(channels)

    def apply(x: Any) -> Any:
        x = floating(x)
        spatial, _ = _space(x, last)
        first = 1 if last else 2
        return function(x, axes=list(range(first, first + spatial)), keep_axes=keep_axes)

    return apply


def _root(total: Any, norm: float) -> Any:
    """The root of a sum of powers, with gradient 0 at 0."""
    positive = total > 0
    return nx.select(positive, nx.select(positive, total, 1) ** (1 / norm), 0)


def is_last(channels: str) -> bool:
    """Whether channels are the last axis."""
    if channels not in ("first", "last"):
        raise NxValueError(f"channels is 'first' or 'last', got {channels!r}")
    return channels == "last"


def _space(x: Any, last: bool) -> tuple[int, int]:
    """The number of spatial axes of an input, and its number of channels."""
    if x.rank < 3:
        layout = "[batch, spatial..., channels]" if last else "[batch, channels, spatial...]"
        raise NxValueError(
            message(
                f"expected an input {layout}, got {x.spec}.", "nn.reshape(1, 8, 8) or nx.new_axis(x, 1) adds a channel."
            )
        )
    return x.rank - 2, x.shape[-1 if last else 1]


def _along(sizes: Any, spatial: int, argument: str) -> tuple[int, ...]:
    """One number for each spatial axis."""
    numbers = (sizes,) * spatial if isinstance(sizes, int) and not isinstance(sizes, bool) else sizes
    if not isinstance(numbers, tuple | list) or len(numbers) != spatial:
        raise NxValueError(f"expected {argument} for {spatial} spatial axes, got {describe(sizes)}")
    if any(isinstance(one, bool) or not isinstance(one, int) or one < 1 for one in numbers):
        raise NxValueError(f"{argument} is of numbers from 1 on, got {sizes!r}")
    return tuple(numbers)


def _across(bias: Any, spatial: int, last: bool) -> Any:
    return bias if last else nx.reshape(bias, (math.prod(bias.shape), *(1,) * spatial))
