"""Reductions over some or all axes."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import comparison, elementary, elementwise
from nxkernel.ops.machinery import function_factories
from nxkernel.ops.machinery.dispatch import (
    TypeRule,
    alone,
    apply,
    convert,
    filled,
    operand,
    ordered,
    together,
    unchanged,
)
from nxkernel.primitives import Primitive
from nxkernel.shapes import static_int
from nxkernel.tensor.tensor import Tensor

__all__ = [
    "all", "all_close", "any", "argmax", "argmin", "logsumexp", "mean", "product", "reduce_max", "reduce_min",
    "standard_deviation", "sum", "variance", "weighted_mean",
]  # fmt: skip

Axes = int | str | Sequence[int | str] | None

_REDUCTION = """{what}

Parameters
----------
tensor : tensor or number
axes : int, str or list of these, optional
    Along these; without it along all.
keep_axes : bool, optional
    Whether reduced axes stay, with size 1.

Returns
-------
Tensor
    {types}

Examples
--------
>>> {example}
{result}
"""


def _reduction(primitive: Primitive, rule: TypeRule, what: str, types: str, example: str, result: str) -> Any:
    name = primitive.name

    def function(tensor: Any, *, axes: Axes = None, keep_axes: bool = False) -> Tensor | Expr:
        tensor = alone(tensor, "tensor")
        type_ = rule(tensor.type)
        positions = tuple(sorted(shapes.normalize_axes(axes, tensor.shape, tensor.names)))
        if primitive in (p.reduce_max, p.reduce_min):
            _refuse_empty(name, tensor, positions)
        return apply(primitive, convert(tensor, type_), axes=positions, keep_axes=bool(keep_axes))

    example = f"nx.{name}({example}).to_list()"
    return function_factories.documented(
        function, name, _REDUCTION.format(what=what, types=types, example=example, result=result)
    )


def _refuse_empty(name: str, tensor: Operand, axes: tuple[int, ...]) -> None:
    for axis in axes:
        if tensor.shape[axis] == 0:
            raise NxValueError(f"{name} of {tensor.spec}: axis {axis} has no elements, so there is no answer")


sum = _reduction(
    p.sum_, types.to_aggregate, "Add up.", "Integers become u64 or s64, bool s64; other types stay.",
    "[[1, 2], [3, 4]], axes=[0]", "[4, 6]",
)  # fmt: skip
product = _reduction(
    p.product, types.to_aggregate, "Multiply all.", "Integers become u64 or s64, bool s64; other types stay.",
    "[[1, 2], [3, 4]], axes=[0]", "[3, 8]",
)  # fmt: skip
reduce_max = _reduction(
    p.reduce_max, ordered("reduce_max"), "The greatest element. NaN wins.", "The type stays.",
    "[[1, 2], [3, 4]], axes=[1]", "[2, 4]",
)  # fmt: skip
reduce_min = _reduction(
    p.reduce_min, ordered("reduce_min"), "The least element. NaN wins.", "The type stays.",
    "[[1, 2], [3, 4]], axes=[1]", "[1, 3]",
)  # fmt: skip
all = _reduction(p.all_, unchanged, "Whether no element is 0.", "bool.", "[[1, 0], [3, 4]], axes=[1]", "[False, True]")
any = _reduction(
    p.any_, unchanged, "Whether some element is not 0.", "bool.", "[[0, 0], [3, 0]], axes=[1]", "[False, True]"
)

_ARGUMENT = """The index of the {extreme} element. NaN wins.

Parameters
----------
tensor : tensor or number
axis : int or str, optional
    Along this one; without it the index counts through all elements in C order.
keep_axes : bool, optional
    Whether the reduced axis stays, with size 1.
tie_break : {{"low", "high"}}, optional
    Which of equal elements counts: the first or the last.
type : type, optional
    The integer type of the result.

Returns
-------
Tensor

Examples
--------
>>> nx.{name}([[3, 1], [2, 2]], axis=1, tie_break="high").to_list()
{result}
"""


def _argument(primitive: Primitive, extreme: str, result: str) -> Any:
    name = primitive.name

    def function(
        tensor: Any,
        *,
        axis: int | str | None = None,
        keep_axes: bool = False,
        tie_break: str = "low",
        type: Any = "s64",
    ) -> Tensor | Expr:
        tensor = alone(tensor, "tensor")
        tensor, type_ = convert(tensor, ordered(name)(tensor.type)), types.normalize(type)
        if not type_.is_integer:
            raise NxTypeError(f"{name} gives whole numbers, got type={type_}; nx.as_type converts the result")
        if tie_break not in ("low", "high"):
            raise NxValueError(f'tie_break is "low" (the first) or "high" (the last), got {tie_break!r}')
        shape = tensor.shape
        if axis is None:
            names = (None,)
            tensor = apply(p.reshape, tensor, shape=(shapes.size(shape),), names=names) if len(shape) != 1 else tensor
            position = 0
        else:
            position = shapes.normalize_axis(axis, shape, tensor.names)
        _refuse_empty(name, tensor, (position,))
        keep = builtins.bool(keep_axes) and axis is not None
        result = apply(primitive, tensor, axis=position, keep_axis=keep, tie_break=tie_break, type=type_)
        if keep_axes and axis is None:
            kept = (1,) * len(shape)
            result = apply(p.reshape, result, shape=kept, names=shapes.unnamed(kept))
        return result

    return function_factories.documented(function, name, _ARGUMENT.format(name=name, extreme=extreme, result=result))


argmax = _argument(p.argmax, "greatest", "[0, 1]")
argmin = _argument(p.argmin, "least", "[1, 1]")


def _floating(tensor: Any) -> Operand:
    tensor = alone(tensor, "tensor")
    return convert(tensor, types.to_floating(tensor.type))


def _precise(tensor: Operand) -> Operand:
    """A tensor converted to the type of its sums, so that an average rounds to f16 or bf16 only once."""
    return convert(tensor, types.compute_type(tensor.type))


def _count(tensor: Operand, axes: Axes) -> int:
    positions = shapes.normalize_axes(axes, tensor.shape, tensor.names)
    return math.prod(tensor.shape[position] for position in positions)


def mean(tensor: Any, *, axes: Axes = None, keep_axes: bool = False) -> Tensor | Expr:
    """The average.

    Parameters
    ----------
    tensor : tensor or number
    axes : int, str or list of these, optional
        Along these; without it along all.
    keep_axes : bool, optional
        Whether reduced axes stay, with size 1.

    Returns
    -------
    Tensor
        Integers become f32.

    Examples
    --------
    >>> nx.mean([[1, 2], [3, 5]], axes=[1]).to_list()
    [1.5, 4.0]
    """
    tensor = alone(tensor, "tensor")
    total = sum(_precise(tensor), axes=axes, keep_axes=keep_axes)
    return convert(elementwise.divide(total, _count(tensor, axes)), types.to_floating(tensor.type))


def weighted_mean(tensor: Any, weights: Any, *, axes: Axes = None, keep_axes: bool = False) -> Tensor | Expr:
    """The average in which each element counts as much as its weight says.

    Parameters
    ----------
    tensor : tensor or number
    weights : tensor
        Of the same shape; or of one axis for the one that `axes` names.
    axes : int, str or list of these, optional
        Along these; without it along all.
    keep_axes : bool, optional
        Whether reduced axes stay, with size 1.

    Returns
    -------
    Tensor
        Integers become f32.

    Examples
    --------
    >>> nx.weighted_mean([1, 2, 6], [1, 2, 1]).to_list()
    2.75
    """
    tensor, weights = operand(tensor, "tensor"), operand(weights, "weights")
    positions = shapes.normalize_axes(axes, tensor.shape, tensor.names)
    if weights.shape != tensor.shape:
        if len(positions) != 1 or weights.shape != (tensor.shape[positions[0]],):
            raise NxValueError(
                message(
                    f"weighted_mean: the weights have the shape {shapes.text(weights.shape)}, the tensor has "
                    f"{shapes.text(tensor.shape)}.",
                    "Weights have the tensor's shape, or one axis as long as the one that axes=[…] names.",
                )
            )
        weights = apply(p.broadcast, weights, shape=tensor.shape, axes=positions, names=tensor.names)
    weighed = sum(elementwise.multiply(tensor, weights), axes=positions, keep_axes=keep_axes)
    return elementwise.divide(weighed, sum(weights, axes=positions, keep_axes=keep_axes))


def variance(tensor: Any, *, axes: Axes = None, ddof: int = 0, keep_axes: bool = False) -> Tensor | Expr:
    """The variance: the mean squared deviation from the mean.

    Parameters
    ----------
    tensor : tensor or number
    axes : int, str or list of these, optional
        Along these; without it along all.
    ddof : int, optional
        What is taken from the number of elements before dividing by it; 1 for an unbiased estimate.
    keep_axes : bool, optional
        Whether reduced axes stay, with size 1.

    Returns
    -------
    Tensor
        Integers become f32.

    Examples
    --------
    >>> nx.variance([1, 2, 3, 6]).to_list()
    3.5
    """
    if static_int(ddof, "ddof") < 0:
        raise NxValueError(f"ddof is at least 0, got {ddof}")
    tensor = _floating(tensor)
    type_, tensor = types.to_real(tensor.type), _precise(tensor)
    distance = elementwise.subtract(tensor, mean(tensor, axes=axes, keep_axes=True))
    if tensor.type.is_complex:
        distance = elementwise.abs(distance)
    total = sum(elementwise.multiply(distance, distance), axes=axes, keep_axes=keep_axes)
    return convert(elementwise.divide(total, builtins.max(_count(tensor, axes) - ddof, 0)), type_)


def standard_deviation(tensor: Any, *, axes: Axes = None, ddof: int = 0, keep_axes: bool = False) -> Tensor | Expr:
    """The square root of the variance.

    Parameters
    ----------
    tensor : tensor or number
    axes : int, str or list of these, optional
        Along these; without it along all.
    ddof : int, optional
        What is taken from the number of elements before dividing by it; 1 for the estimate from a sample.
    keep_axes : bool, optional
        Whether reduced axes stay, with size 1.

    Returns
    -------
    Tensor
        Integers become f32.

    Examples
    --------
    >>> nx.standard_deviation([[1, 3], [10, 20]], axes=[1]).to_list()
    [1.0, 5.0]
    """
    return elementary.sqrt(variance(tensor, axes=axes, ddof=ddof, keep_axes=keep_axes))


def logsumexp(
    tensor: Any, *, axes: Axes = None, keep_axes: bool = False, exp_scaling_factor: Any = None
) -> Tensor | Expr:
    """The logarithm of the sum of exponentials, without overflow.

    Parameters
    ----------
    tensor : tensor or number
    axes : int, str or list of these, optional
        Along these; without it along all.
    keep_axes : bool, optional
        Whether reduced axes stay, with size 1.
    exp_scaling_factor : tensor or number, optional
        Multiplies each exponential before they are added.

    Returns
    -------
    Tensor
        Integers become f32.

    Examples
    --------
    >>> nx.logsumexp([1000.0]).to_list()
    1000.0
    """
    tensor = _floating(tensor)
    _refuse_empty("logsumexp", tensor, shapes.normalize_axes(axes, tensor.shape, tensor.names))
    greatest = reduce_max(tensor, axes=axes, keep_axes=True)
    greatest = comparison.select(comparison.is_infinity(greatest), filled(0, tensor.type, ()), greatest)
    powers = elementary.exp(elementwise.subtract(tensor, greatest))
    if exp_scaling_factor is not None:
        powers = elementwise.multiply(powers, exp_scaling_factor)
    result = elementwise.add(elementary.log(sum(powers, axes=axes, keep_axes=True)), greatest)
    if keep_axes:
        return result
    positions = shapes.normalize_axes(axes, tensor.shape, tensor.names)
    shape, names = shapes.reduce(tensor.shape, tensor.names, positions, keep_axes=False)
    return apply(p.reshape, result, shape=shape, names=names)


def all_close(a: Any, b: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor | Expr:
    """Whether all elements are equal within a tolerance.

    Parameters
    ----------
    a, b : tensor or number
    rtol, atol : float, optional
        They are close when ``abs(a - b) <= atol + rtol * abs(b)``. Infinities are close to themselves.
    equal_nan : bool, optional
        Whether NaN is close to NaN.

    Returns
    -------
    Tensor
        bool, a scalar.

    Examples
    --------
    >>> nx.all_close([1.0, 2.0], [1.0, 2.000001]).to_list()
    True
    """
    a, b, type_ = together(a, b)
    a, b = (convert(side, types.to_floating(type_)) for side in (a, b))
    distance = elementwise.abs(elementwise.subtract(a, b))
    bound = elementwise.add(elementwise.multiply(elementwise.abs(b), rtol), atol)
    within = comparison.logical_and(
        comparison.less_equal(distance, bound), comparison.logical_not(comparison.is_infinity(b))
    )
    close = comparison.logical_or(comparison.equal(a, b), within)
    if equal_nan:
        close = comparison.logical_or(close, comparison.logical_and(comparison.is_nan(a), comparison.is_nan(b)))
    return all(close)
