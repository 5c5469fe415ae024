"""Window (pooling) operations: sums, products, extremes, means and user reductions over sliding windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.backends.array_primitives import MOST
from nxkernel.errors import NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery import function_factories
from nxkernel.ops.machinery.dispatch import (
    TypeRule,
    alone,
    apply,
    arithmetic,
    convert,
    filled,
    operand,
    ordered,
    spread,
    spread_vectors,
)
from nxkernel.ops.machinery.window_options import Pairs, along_axes, check_window, padding_of
from nxkernel.ops.reductions.user_reductions import Folding, fold, started
from nxkernel.ops.shapes.shaping import reshape
from nxkernel.ops.tensors.creation import iota
from nxkernel.primitives import Primitive
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = [
    "window_max", "window_mean", "window_min", "window_product", "window_reduce", "window_scatter_max",
    "window_scatter_min", "window_sum",
]  # fmt: skip

Padding = str | Sequence[tuple[int, int]]
Steps = int | Sequence[int]


def _padded(tensor: Operand, value: Operand, padding: Pairs) -> Operand:
    if not any(map(any, padding)):
        return tensor
    return apply(p.pad, tensor, value, config=tuple((low, high, 0) for low, high in padding))


def _views(
    tensor: Operand, window_dimensions: Any, value: Operand, padding: Any, strides: Any, window_dilations: Any
) -> tuple[Operand, tuple[int, ...]]:
    """All windows of a padded tensor, and the axes of the result that go through a window."""
    rank = tensor.rank
    window = along_axes(window_dimensions, rank, "window_dimensions")
    strides = along_axes(strides, rank, "strides")
    dilations = along_axes(window_dilations, rank, "window_dilations")
    padded = _padded(tensor, value, padding_of(padding, window, dilations))
    check_window(tensor, range(rank), padded.shape, window, dilations)
    views = apply(p.windows, padded, window=window, strides=strides, dilations=dilations)
    return views, tuple(range(rank, 2 * rank))


def _reduced(
    primitive: Primitive, tensor: Operand, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Tensor | Expr:
    """Each window reduced to one element."""
    views = apply(p.windows, tensor, window=tuple(window), strides=tuple(strides), dilations=tuple(dilations))
    return apply(primitive, views, axes=tuple(range(tensor.rank, 2 * tensor.rank)), keep_axes=False)


def _axis_by_axis(
    primitive: Primitive, tensor: Operand, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Tensor | Expr:
    """Each window reduced to one element, one axis after the other, since eager windows are copies."""
    type_ = tensor.type
    tensor = convert(tensor, types.compute_type(type_))
    for axis in range(tensor.rank):
        alone = [[n if a == axis else 1 for a, n in enumerate(each)] for each in (window, strides, dilations)]
        tensor = _reduced(primitive, tensor, *alone)
    return convert(tensor, type_)


_WINDOW = """{what} of each window.

Parameters
----------
tensor : tensor
window_dimensions : tuple of int
    The size of a window along each axis; one number stands for all axes.
padding : {{"valid", "same"}} or list of (low, high), optional
    How far windows reach beyond each end of each axis. Every element there is {identity}.
    ``"valid"``: not at all; ``"same"``: so far that the result has the shape of the tensor, unless strides make it
    smaller.
strides : int or list of int, optional
    From one window to the next along each axis.
window_dilations : int or list of int, optional
    From one element of a window to the next along each axis.

Returns
-------
Tensor
    With the names of the tensor. The type stays.

Raises
------
NxValueError
    When not even one window fits.

Examples
--------
>>> {example}
{result}
"""


def _window(
    primitive: Primitive,
    rule: TypeRule,
    identity: Callable[[Type], int | float],
    name: str,
    texts: tuple[str, str],
    example: str,
    result: str,
) -> Any:
    def function(
        tensor: Any,
        window_dimensions: Steps,
        *,
        padding: Padding = "valid",
        strides: Steps = 1,
        window_dilations: Steps = 1,
    ) -> Tensor | Expr:
        tensor = alone(tensor, "tensor")
        tensor = convert(tensor, rule(tensor.type))
        value = filled(identity(tensor.type), tensor.type, ())
        rank = tensor.rank
        window = along_axes(window_dimensions, rank, "window_dimensions")
        strides = along_axes(strides, rank, "strides")
        dilations = along_axes(window_dilations, rank, "window_dilations")
        padded = _padded(tensor, value, padding_of(padding, window, dilations))
        check_window(tensor, range(rank), padded.shape, window, dilations)
        if tracing.current() is not None or shapes.size(tensor.shape) * shapes.size(window) <= MOST:
            return _reduced(primitive, padded, window, strides, dilations)
        return _axis_by_axis(primitive, padded, window, strides, dilations)

    what, padded = texts
    doc = _WINDOW.format(what=what, identity=padded, example=f"nx.{name}({example}).to_list()", result=result)
    return function_factories.documented(function, name, doc)


window_sum = _window(p.sum_, arithmetic, lambda _: 0, "window_sum", ("The sum", "0"), "[1, 2, 3, 4], (2,)", "[3, 5, 7]")
window_product = _window(
    p.product, arithmetic, lambda _: 1, "window_product", ("The product", "1"), "[1, 2, 3, 4], (2,)", "[2, 6, 12]"
)
window_max = _window(
    p.reduce_max, ordered("window_max"), types.least, "window_max",
    ("The greatest element", "minus infinity, or the least integer"), '[1, 3, 2, 4], (2,), padding="same"',
    "[3, 3, 4, 4]",
)  # fmt: skip
window_min = _window(
    p.reduce_min, ordered("window_min"), types.greatest, "window_min",
    ("The least element", "infinity, or the greatest integer"), "[1, 3, 2, 4], (2,), strides=2", "[1, 2]",
)  # fmt: skip


def window_mean(
    tensor: Any,
    window_dimensions: Steps,
    *,
    padding: Padding = "valid",
    strides: Steps = 1,
    window_dilations: Steps = 1,
) -> Tensor | Expr:
    """The mean of each window.

    Parameters
    ----------
    tensor : tensor
    window_dimensions : tuple of int
        The size of a window along each axis; one number stands for all axes.
    padding : {"valid", "same"} or list of (low, high), optional
        How far windows reach beyond each end of each axis, where every element counts as 0. ``"valid"``: not at all;
        ``"same"``: so far that the result has the shape of the tensor, unless strides make it smaller.
    strides : int or list of int, optional
        From one window to the next along each axis.
    window_dilations : int or list of int, optional
        From one element of a window to the next along each axis.

    Returns
    -------
    Tensor
        With the names of the tensor. Integers become f32. Padding counts as elements.

    Raises
    ------
    NxValueError
        When not even one window fits.

    Examples
    --------
    >>> nx.window_mean([1, 3, 5], (2,), padding=[(0, 1)]).to_list()
    [2.0, 4.0, 2.5]
    """
    tensor = alone(tensor, "tensor")
    type_ = types.to_floating(tensor.type)
    # The type that sums run in, so that an average rounds to f16 or bf16 once, at the end.
    total = window_sum(
        convert(tensor, types.compute_type(type_)),
        window_dimensions,
        padding=padding,
        strides=strides,
        window_dilations=window_dilations,
    )
    count = math.prod(along_axes(window_dimensions, tensor.rank, "window_dimensions"))
    return convert(elementwise.divide(total, count), type_)


def window_reduce(
    tensor: Any,
    acc: Any,
    window_dimensions: Steps,
    function: Folding,
    *,
    padding: Padding = "valid",
    strides: Steps = 1,
    window_dilations: Steps = 1,
) -> Tensor | Expr:
    """Reduce each window with a binary function and an initial value.

    Parameters
    ----------
    tensor : tensor
    acc : number or scalar tensor
        What folding starts with, and what counts beyond the tensor. A number takes the tensor's type where that holds
        it.
    window_dimensions : tuple of int
        The size of a window along each axis; one number stands for all axes.
    function : callable
        ``function(element, accumulated)`` gives the new accumulated value; see :func:`nxkernel.reduce`.
    padding : {"valid", "same"} or list of (low, high), optional
        How far windows reach beyond each end of each axis, where every element counts as `acc`. ``"valid"``: not at
        all; ``"same"``: so far that the result has the shape of the tensor, unless strides make it smaller.
    strides : int or list of int, optional
        From one window to the next along each axis.
    window_dilations : int or list of int, optional
        From one element of a window to the next along each axis.

    Returns
    -------
    Tensor
        With the names of the tensor, in the types of `tensor` and `acc` merged. Elements are folded in C order.

    Raises
    ------
    NxValueError
        When not even one window fits.
    NxTypeError
        When `acc` is no scalar, or `function` uses or gives something else than scalars.

    Examples
    --------
    >>> nx.window_reduce([1, 2, 3, 4], 0, (2,), lambda x, acc: acc * 10 + x).to_list()
    [12, 23, 34]
    """
    tensor, start = started("window_reduce", operand(tensor, "tensor"), acc, None)
    views, within = _views(tensor, window_dimensions, start, padding, strides, window_dilations)
    return fold("window_reduce", views, start, function, within, False)


_SCATTER = """Add each element of `source` where its window has its {extreme} element.

This is how a gradient flows back through :func:`nxkernel.{pooling}`.

Parameters
----------
tensor : tensor
    What windows move over.
source : tensor
    One element for each window.
init_value : number or scalar tensor
    What the result consists of before anything is added. A number takes the type of `source` where that holds it.
window_dimensions : tuple of int
    The size of a window along each axis; one number stands for all axes.
padding : {{"valid", "same"}} or list of (low, high), optional
    How far windows reach beyond each end of each axis. ``"valid"``: not at all; ``"same"``: so far that there are as
    many windows as elements, unless strides make them fewer. Nothing is added beyond the tensor.
strides : int or list of int, optional
    From one window to the next along each axis.

Returns
-------
Tensor
    Of the shape and names of `tensor`, in the types of `source` and `init_value` merged. Of equal elements the last
    one of the window counts; NaN wins.

Raises
------
NxValueError
    When `source` has another shape than the windows.

Examples
--------
>>> nx.{name}({example}).to_list()
{result}
"""


def _window_scatter(
    name: str, find: Primitive, extreme_of: Primitive, identity: Callable[[Type], int | float], texts: tuple[str, str],
    example: str, result: str,
) -> Any:  # fmt: skip
    def function(
        tensor: Any,
        source: Any,
        init_value: Any,
        window_dimensions: Steps,
        *,
        padding: Padding = "valid",
        strides: Steps = 1,
    ) -> Tensor | Expr:
        tensor, source = operand(tensor, "tensor"), operand(source, "source")
        tensor = convert(tensor, ordered(name)(tensor.type))
        source, init = started(name, source, init_value, None, "init_value")
        window = along_axes(window_dimensions, tensor.rank, "window_dimensions")
        steps = along_axes(strides, tensor.rank, "strides")
        around = padding_of(padding, window, (1,) * tensor.rank)
        places = _chosen(tensor, window, around, steps, find, extreme_of, identity)
        if source.shape != places.shape:
            raise NxValueError(
                message(
                    f"{name} needs one element of source for each window: {shapes.text(places.shape)}, "
                    f"got {source.spec}.",
                    f"The source has the shape of nx.{texts[0]} with the same options.",
                )
            )
        target = spread(init, shapes.pad(tensor.shape, [(*pair, 0) for pair in around]), tensor.names)
        target = spread_vectors(target, tensor)
        if not tensor.rank:
            return elementwise.add(target, source)
        indices = _coordinates(places, window, steps)
        added = apply(p.scatter, target, source, *indices, axes=tuple(range(tensor.rank)), combine="add")
        return _padded(added, init, tuple((-low, -high) for low, high in around))

    pooling, extreme = texts
    doc = _SCATTER.format(name=name, pooling=pooling, extreme=extreme, example=example, result=result)
    return function_factories.documented(function, name, doc)


def _chosen(
    tensor: Operand,
    window: tuple[int, ...],
    around: Pairs,
    steps: tuple[int, ...],
    find: Primitive,
    extreme_of: Primitive,
    identity: Callable[[Type], int | float],
) -> Operand:
    """The flat index within each window of its extreme element; never one of the padding."""

    def flat(source: Operand, beyond: int | float) -> Operand:
        value = filled(beyond, source.type, ())
        views, _ = _views(source, window, value, around, steps, 1)
        return reshape(views, (*views.shape[: tensor.rank], shapes.size(window)))

    views, axis = flat(tensor, identity(tensor.type)), tensor.rank
    if any(map(any, around)):
        # An element may equal what padding consists of: only elements that lie inside are candidates.
        inside = flat(filled(1, types.u8, tensor.shape), 0)
        extreme = apply(extreme_of, views, axes=(axis,), keep_axes=True)
        best = comparison.logical_or(comparison.equal(views, extreme), comparison.is_nan(views))
        views, find = comparison.logical_and(best, inside), p.argmax
    return apply(find, views, axis=axis, keep_axis=False, tie_break="high", type=types.s64)


def _coordinates(indices: Operand, window: tuple[int, ...], steps: tuple[int, ...]) -> list[Operand]:
    """The coordinates in the padded tensor of the elements with these flat indices within their windows."""
    coordinates = []
    for axis in reversed(range(len(window))):
        first = elementwise.multiply(iota(indices.shape, axis=axis), steps[axis])
        coordinates.append(elementwise.add(first, elementwise.remainder(indices, window[axis])))
        indices = elementwise.quotient(indices, window[axis])
    return coordinates[::-1]


window_scatter_max = _window_scatter(
    "window_scatter_max", p.argmax, p.reduce_max, types.least, ("window_max", "greatest"),
    "[1, 3, 2, 5], [10, 20], 0, (2,), strides=2", "[0, 10, 0, 20]",
)  # fmt: skip
window_scatter_min = _window_scatter(
    "window_scatter_min", p.argmin, p.reduce_min, types.greatest, ("window_min", "least"),
    "[1, 3, 2, 5], [10, 20], 0, (2,), strides=2", "[10, 0, 20, 0]",
)  # fmt: skip
