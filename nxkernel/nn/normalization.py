"""Normalization layers: batch, layer, RMS, group and instance normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.nn import initializers, scopes
from nxkernel.nn.convolutional import is_last
from nxkernel.nn.layers import count, floating, places, with_axes
from nxkernel.nn.modules import module

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm"]


@module
def batch_norm(
    *,
    momentum: float = 0.9,
    eps: float = 1e-5,
    scale: bool = True,
    offset: bool = True,
    channels: str = "first",
) -> Callable[..., Any]:
    """Batch normalization: each channel to mean 0 and variance 1 over the batch, then scaled and shifted.

    In training mean and variance are those of the batch, and the state keeps a running mean of both, which is what
    normalizes otherwise. The state is a dict of its own::

        params, state = net.init(key, x), net.init_state(x)
        y, state = net(params, x, state=state, training=True)     # in a step of training
        y, _ = net(params, x, state=state)                        # afterwards

    Parameters
    ----------
    momentum : float, optional
        How much of the running statistics stays with each call.
    eps : float, optional
        Added to the variance.
    scale, offset : bool, optional
        Whether there are parameters to scale by and to add.
    channels : {"first", "last"}, optional
        Whether channels are axis 1 or the last one.

    Returns
    -------
    Module
        Parameters ``scale`` and ``bias``, state ``mean`` and ``variance``, each ``[channels]``.

    References
    ----------
    Ioffe and Szegedy, Batch normalization, 2015. The running variance is that of batches, divided by their size.

    Examples
    --------
    >>> from nxkernel import nn
    >>> net, x = nn.batch_norm(), nx.tensor([[1.0], [3.0]])
    >>> params, state = net.init(nx.random.key(0), x), net.init_state(x)
    >>> y, state = net(params, x, state=state, training=True)
    >>> nx.round(y).to_list(), round(float(state["mean"][0]), 3)
    ([[-1.0], [1.0]], 0.2)
    """
    last = is_last(channels)
    number_checks.between("nn.batch_norm", "momentum", momentum, 0, 1)
    _check("nn.batch_norm", eps, scale, offset)

    def apply(x: Any) -> Any:
        x = floating(x)
        with_axes(x, 2)
        axis = x.rank - 1 if last else 1
        size = x.shape[axis]
        others = [other for other in range(x.rank) if other != axis]
        running_mean = scopes.state("mean", (size,), initializers.zeros())
        running_variance = scopes.state("variance", (size,), initializers.ones())
        if scopes.training():
            mean = nx.mean(x, axes=others)
            variance = nx.variance(x, axes=others)
            if running_mean is not None:
                scopes.update("mean", _moved(running_mean, mean, momentum))
                scopes.update("variance", _moved(running_variance, variance, momentum))
        elif running_mean is None:
            raise NxTypeError(
                message(
                    "running statistics are in the state, and there is none.",
                    "Make it with state = net.init_state(x), and call net(params, x, state=state), which gives a pair.",
                )
            )
        else:
            mean, variance = running_mean, running_variance
        shape = tuple([size if other == axis else 1 for other in range(x.rank)])
        y = (x - nx.reshape(mean, shape)) * nx.rsqrt(nx.reshape(variance, shape) + eps)
        return _affine(y, (size,), shape, scale, offset)

    return apply


def _moved(running: Any, now: Any, momentum: float) -> Any:
    return nx.as_type(nx.stop_grad(momentum * running + (1 - momentum) * now), running.type)


@module
def layer_norm(
    *, axes: int | Sequence[int] = -1, eps: float = 1e-5, scale: bool = True, offset: bool = True
) -> Callable[..., Any]:
    """Layer normalization: each entry to mean 0 and variance 1 over its features, then scaled and shifted.

    Parameters
    ----------
    axes : int or list of int, optional
        Of features.
    eps : float, optional
    scale, offset : bool, optional

    Returns
    -------
    Module
        Parameters ``scale`` and ``bias``, of the shape of the features.

    References
    ----------
    Ba, Kiros and Hinton, Layer normalization, 2016.

    Examples
    --------
    >>> from nxkernel import nn
    >>> net, x = nn.layer_norm(), nx.tensor([[1.0, 3.0]])
    >>> nx.round(net(net.init(nx.random.key(0), x), x)).to_list()
    [[-1.0, 1.0]]
    """
    positions = number_checks.axes("nn.layer_norm", "axes", axes)
    _check("nn.layer_norm", eps, scale, offset)

    def apply(x: Any) -> Any:
        x = floating(x)
        with_axes(x, 1)
        at = places(positions, x)
        centred = x - nx.mean(x, axes=at, keep_axes=True)
        variance = nx.mean(centred * centred, axes=at, keep_axes=True)
        shape = tuple([x.shape[axis] for axis in at])
        around = [x.shape[axis] if axis in at else 1 for axis in range(x.rank)]
        return _affine(centred * nx.rsqrt(variance + eps), shape, around, scale, offset)

    return apply


@module
def rms_norm(*, axis: int = -1, eps: float = 1e-6, scale: bool = True) -> Callable[..., Any]:
    """RMS normalization: each entry divided by the root mean square of its features, then scaled.

    Parameters
    ----------
    axis : int, optional
        Of features.
    eps : float, optional
    scale : bool, optional

    Returns
    -------
    Module
        One parameter, ``scale``.

    References
    ----------
    Zhang and Sennrich, Root mean square layer normalization, 2019.

    Examples
    --------
    >>> from nxkernel import nn
    >>> net, x = nn.rms_norm(), nx.tensor([[1.0, -1.0]])
    >>> nx.round(net(net.init(nx.random.key(0), x), x)).to_list()
    [[1.0, -1.0]]
    """
    number_checks.axis("nn.rms_norm", "axis", axis)
    _check("nn.rms_norm", eps, scale)

    def apply(x: Any) -> Any:
        x = floating(x)
        with_axes(x, 1)
        (position,) = places((axis,), x)
        y = x * nx.rsqrt(nx.mean(x * x, axes=[position], keep_axes=True) + eps)
        around = [size if other == position else 1 for other, size in enumerate(x.shape)]
        return _affine(y, (x.shape[position],), around, scale, False)

    return apply


@module
def group_norm(
    groups: int, *, eps: float = 1e-5, scale: bool = True, offset: bool = True, channels: str = "first"
) -> Callable[..., Any]:
    """Group normalization: groups of channels of each entry to mean 0 and variance 1, then scaled and shifted.

    Parameters
    ----------
    groups : int
        Into how many groups the channels are divided.
    eps : float, optional
    scale, offset : bool, optional
    channels : {"first", "last"}, optional

    Returns
    -------
    Module
        Parameters ``scale`` and ``bias``, ``[channels]``.

    References
    ----------
    Wu and He, Group normalization, 2018.

    Examples
    --------
    >>> from nxkernel import nn
    >>> net, x = nn.group_norm(2), nx.tensor([[1.0, 3.0, 10.0, 30.0]])
    >>> nx.round(net(net.init(nx.random.key(0), x), x)).to_list()
    [[-1.0, 1.0, -1.0, 1.0]]
    """
    groups, last = count(groups, "group_norm", "groups"), is_last(channels)
    _check("nn.group_norm", eps, scale, offset)

    def apply(x: Any) -> Any:
        return _grouped(floating(x), groups, eps, scale, offset, last)

    return apply


@module
def instance_norm(
    *, eps: float = 1e-5, scale: bool = True, offset: bool = True, channels: str = "first"
) -> Callable[..., Any]:
    """Instance normalization: each channel of an entry to mean 0 and variance 1 over space, then scaled and shifted.

    Parameters
    ----------
    eps : float, optional
    scale, offset : bool, optional
    channels : {"first", "last"}, optional

    Returns
    -------
    Module
        Parameters ``scale`` and ``bias``, ``[channels]``.

    References
    ----------
    Ulyanov, Vedaldi and Lempitsky, Instance normalization, 2016.

    Examples
    --------
    >>> from nxkernel import nn
    >>> net, x = nn.instance_norm(), nx.tensor([[[1.0, 3.0], [10.0, 30.0]]])
    >>> nx.round(net(net.init(nx.random.key(0), x), x)).to_list()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    last = is_last(channels)
    _check("nn.instance_norm", eps, scale, offset)

    def apply(x: Any) -> Any:
        x = floating(x)
        with_axes(x, 3)
        return _grouped(x, x.shape[-1 if last else 1], eps, scale, offset, last)

    return apply


def _check(where: str, eps: float, scale: bool, offset: bool = True) -> None:
    """Check the options that all normalizations share."""
    number_checks.at_least(where, "eps", eps, 0)
    number_checks.flag(where, "scale", scale)
    number_checks.flag(where, "offset", offset)


def _grouped(x: Any, groups: int, eps: float, scale: bool, offset: bool, last: bool) -> Any:
    with_axes(x, 2)
    axis = x.rank - 1 if last else 1
    size = x.shape[axis]
    if size % groups:
        raise NxValueError(f"expected channels that divide into {groups} groups, got {size} channels")
    split = nx.reshape(x, (*x.shape[:axis], groups, size // groups, *x.shape[axis + 1 :]))
    others = [other for other in range(1, split.rank) if other != axis]
    centred = split - nx.mean(split, axes=others, keep_axes=True)
    variance = nx.mean(centred * centred, axes=others, keep_axes=True)
    y = nx.reshape(centred * nx.rsqrt(variance + eps), x.shape)
    return _affine(y, (size,), [size if other == axis else 1 for other in range(x.rank)], scale, offset)


def _affine(y: Any, shape: tuple, around: Sequence[int], scale: bool, offset: bool) -> Any:
    if scale:
        y = y * nx.reshape(scopes.param("scale", shape, initializers.ones()), tuple(around))
    return y + nx.reshape(scopes.param("bias", shape, initializers.zeros()), tuple(around)) if offset else y
