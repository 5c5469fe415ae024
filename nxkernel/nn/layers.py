"""Basic layers: dense, bias, embedding, dropout, flatten, reshape."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import random, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages import number_checks
from nxkernel.nn import scopes
from nxkernel.nn.initializers import Initializer, chosen
from nxkernel.nn.modules import module
from nxkernel.ops.arithmetic.comparison import select
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.ops.reductions.contraction import dot
from nxkernel.ops.shapes.gathering import take
from nxkernel.ops.shapes.shaping import broadcast
from nxkernel.ops.shapes.shaping import reshape as reshaped
from nxkernel.shapes import describe

__all__ = ["bias", "dense", "dropout", "embedding", "flatten", "reshape"]


@module
def dense(
    units: int,
    *,
    bias: bool = True,
    kernel_init: Initializer | str = "glorot_uniform",
    bias_init: Initializer | str = "zeros",
) -> Callable[..., Any]:
    """A dense (fully connected) layer: ``x · kernel + bias`` over the last axis.

    Parameters
    ----------
    units : int
        The size of the last axis of what it gives.
    bias : bool, optional
        Whether something is added.
    kernel_init, bias_init : initializer or str, optional

    Returns
    -------
    Module
        Parameters ``kernel`` ``[inputs, units]`` and ``bias`` ``[units]``. Integers become f32.

    Examples
    --------
    >>> from nxkernel import nn
    >>> layer = nn.dense(2)
    >>> params = layer.init(nx.random.key(0), nx.template((5, 3), "f32"))
    >>> params["kernel"].shape, params["bias"].shape
    ((3, 2), (2,))
    >>> layer({"kernel": nx.tensor([[1.0, 2.0]]), "bias": nx.tensor([0.5, 0.5])}, nx.tensor([3.0])).to_list()
    [3.5, 6.5]
    """
    units = count(units, "dense", "units")
    number_checks.flag("nn.dense", "bias", bias)
    of_kernel, of_bias = chosen(kernel_init, "kernel_init"), chosen(bias_init, "bias_init")

    def apply(x: Any) -> Any:
        x = floating(x)
        with_axes(x, 1)
        y = dot(x, [-1], scopes.param("kernel", (x.shape[-1], units), of_kernel), [0])
        return y + scopes.param("bias", (units,), of_bias) if bias else y

    return apply


@module
def bias(*, init: Initializer | str = "zeros") -> Callable[..., Any]:
    """A learned bias, one number for each position of the last axis.

    Parameters
    ----------
    init : initializer or str, optional

    Returns
    -------
    Module
        One parameter, ``bias``.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.bias()({"bias": nx.tensor([1.0, 2.0])}, nx.tensor([0.0, 0.0])).to_list()
    [1.0, 2.0]
    """
    initializer = chosen(init, "init")

    def apply(x: Any) -> Any:
        x = floating(x)
        with_axes(x, 1)
        return x + scopes.param("bias", x.shape[-1:], initializer)

    return apply


@module
def embedding(size: int, units: int, *, init: Initializer | str = "uniform") -> Callable[..., Any]:
    """An embedding: look up a row of a learned table for each integer.

    Parameters
    ----------
    size : int
        How many rows there are: numbers are from 0 to one less.
    units : int
        How long a row is.
    init : initializer or str, optional

    Returns
    -------
    Module
        One parameter, ``table`` ``[size, units]``. The result has one axis more than the input.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.embedding(3, 2)({"table": nx.iota((3, 2), type="f32")}, nx.tensor([2, 0])).to_list()
    [[4.0, 5.0], [0.0, 1.0]]
    """
    size, units = count(size, "embedding", "size"), count(units, "embedding", "units")
    initializer = chosen(init, "init")

    def apply(x: Any) -> Any:
        x = operand(x)
        if not x.type.is_integer:
            raise NxTypeError(message(f"expected whole numbers, got {x.spec}.", 'nx.as_type(x, "s64") makes them.'))
        return take(scopes.param("table", (size, units), initializer), x, axis=0)

    return apply


@module
def dropout(rate: float = 0.5, *, axes: int | Sequence[int] | None = None) -> Callable[..., Any]:
    """Dropout: in training, set a random share of the elements to zero and scale up the others.

    Parameters
    ----------
    rate : float, optional
        How likely it is that an element becomes zero.
    axes : int or list of int, optional
        Only along these axes elements are drawn on their own; along the others they stay or go together.

    Returns
    -------
    Module
        Without parameters. With ``training=True`` it needs a key: ``net(params, x, key=key, training=True)``.

    References
    ----------
    Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting, 2014.

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.dropout(0.5)({}, nx.tensor([1.0, 2.0])).to_list()
    [1.0, 2.0]
    >>> nn.dropout(0.5)({}, nx.tensor([1.0] * 4), key=nx.random.key(3), training=True).to_list()
    [2.0, 2.0, 0.0, 2.0]
    """
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate < 1:
        raise NxValueError(f"the rate of dropout is from 0 to below 1, got {describe(rate)}")
    separate = None if axes is None else number_checks.axes("nn.dropout", "axes", axes)

    def apply(x: Any) -> Any:
        if not scopes.training() or rate == 0:
            return x
        x = floating(x)
        own = range(x.rank) if separate is None else places(separate, x)
        shape = tuple([size if axis in own else 1 for axis, size in enumerate(x.shape)])
        kept = random.uniform_split(scopes.key(), 0.0, 1.0, shape=shape) >= rate
        return select(broadcast(kept, x.shape), x / (1 - rate), 0.0)

    return apply


@module
def flatten(*, axes: int = 1) -> Callable[..., Any]:
    """Flatten all but the leading (batch) axes into one.

    Parameters
    ----------
    axes : int, optional
        How many axes stay in front: 1 for a batch.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.flatten()({}, nx.iota((5, 2, 3))).shape
    (5, 6)
    """
    number_checks.count("nn.flatten", "axes", axes, 0)

    def apply(x: Any) -> Any:
        x = operand(x)
        with_axes(x, axes)
        return reshaped(x, (*x.shape[:axes], math.prod(x.shape[axes:])))

    return apply


@module
def reshape(*shape: int) -> Callable[..., Any]:
    """Reshape each example of a batch.

    Parameters
    ----------
    *shape : int
        Without the first axis, which is the batch; one of them can be -1 for what is left.

    Returns
    -------
    Module

    Examples
    --------
    >>> from nxkernel import nn
    >>> nn.reshape(1, 8, 8)({}, nx.iota((5, 64))).shape
    (5, 1, 8, 8)
    """
    if any(isinstance(size, bool) or not isinstance(size, int) or size < -1 for size in shape) or shape.count(-1) > 1:
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else ()
        hint = [f"Write nn.reshape({', '.join(map(repr, given))})."] if given else []
        raise NxValueError(
            message(f"nn.reshape takes sizes, of which one can be -1, got {', '.join(map(repr, shape))}.", *hint)
        )

    def apply(x: Any) -> Any:
        x = operand(x)
        with_axes(x, 1)
        left, known = math.prod(x.shape[1:]), math.prod(size for size in shape if size != -1)
        sizes = tuple([left // known if size == -1 and known else size for size in shape])
        if math.prod(sizes) != left:
            raise NxValueError(f"expected entries of {known} elements for the shape {shape}, got {x.spec}")
        return reshaped(x, (x.shape[0], *sizes))

    return apply


# What layers have in common ----------------------------------------------------------------------------------------


def floating(x: Any) -> Any:
    """An input converted to floats."""
    x = operand(x)
    return convert(x, types.to_floating(x.type))


def with_axes(x: Any, least: int) -> None:
    """Raise an error for an input with fewer axes."""
    if x.rank < least:
        axes = "axis" if least == 1 else "axes"
        raise NxValueError(f"expected an input of at least {least} {axes}, got {x.spec}")


def places(axes: Sequence[int], x: Any) -> list[int]:
    """Axes of an input as ascending non-negative numbers."""
    if any(not -x.rank <= axis < x.rank for axis in axes):
        raise NxValueError(f"expected an input with the axes {list(axes)}, got {x.spec}")
    return sorted({axis % x.rank for axis in axes})


def count(value: Any, layer: str, argument: str) -> int:
    """Check a positive integer such as a number of units."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise NxValueError(f"nn.{layer} takes {argument} of at least 1, got {describe(value)}")
    return value
