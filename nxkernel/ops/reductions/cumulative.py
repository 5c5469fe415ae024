"""Cumulative sums, products and extremes along an axis, and differences."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.machinery import function_factories
from nxkernel.ops.machinery.dispatch import TypeRule, alone, apply, arithmetic, convert, lasting, ordered
from nxkernel.ops.shapes.indexing import slice_along_axis
from nxkernel.primitives import Primitive
from nxkernel.tensor.tensor import Tensor

__all__ = ["cumulative_max", "cumulative_min", "cumulative_product", "cumulative_sum", "diff"]

_CUMULATIVE = """{what}

Parameters
----------
tensor : tensor
axis : int or str, optional
    Along this one.
reverse : bool, optional
    Whether to start from the last element instead of the first.

Returns
-------
Tensor
    Of the same type, shape and names.{nan}

Examples
--------
>>> {example}
{result}
"""


def _cumulative(primitive: Primitive, rule: TypeRule, what: str, example: str, result: str, nan: str = "") -> Any:
    name = primitive.name

    def function(tensor: Any, *, axis: int | str = 0, reverse: bool = False) -> Tensor | Expr:
        tensor = alone(tensor, "tensor")
        position = shapes.normalize_axis(axis, tensor.shape, tensor.names)
        return apply(primitive, convert(tensor, rule(tensor.type)), axis=position, reverse=bool(reverse))

    example = f"nx.{name}({example}).to_list()"
    return function_factories.documented(
        function, name, _CUMULATIVE.format(what=what, nan=nan, example=example, result=result)
    )


cumulative_sum = _cumulative(
    p.cumulative_sum, arithmetic, "For each element the sum of those up to it.", "[1, 2, 3], reverse=True", "[6, 5, 3]"
)
cumulative_product = _cumulative(
    p.cumulative_product, arithmetic, "For each element the product of those up to it.", "[1, 2, 3, 4]", "[1, 2, 6, 24]"
)
cumulative_max = _cumulative(
    p.cumulative_max, ordered("cumulative_max"), "For each element the greatest of those up to it.",
    "[1, 3, 2]", "[1, 3, 3]", " From a NaN on all are NaN.",
)  # fmt: skip
cumulative_min = _cumulative(
    p.cumulative_min, ordered("cumulative_min"), "For each element the least of those up to it.",
    "[[3, 1], [2, 4]], axis=1", "[[3, 1], [2, 2]]", " From a NaN on all are NaN.",
)  # fmt: skip


def diff(tensor: Any, *, order: int = 1, axis: int | str = -1) -> Tensor | Expr:
    """Differences of consecutive elements along an axis.

    Parameters
    ----------
    tensor : tensor
    order : int, optional
        How often; each time the axis has one element less, until none is left.
    axis : int or str, optional
        Along this one.

    Returns
    -------
    Tensor
        Of the same type and names. Unsigned integers wrap.

    Raises
    ------
    NxValueError
        For a scalar or a negative order.

    Examples
    --------
    >>> nx.diff([1, 2, 4, 7, 0]).to_list()
    [1, 2, 3, -7]
    >>> nx.diff([1, 2, 4, 7, 0], order=2).to_list()
    [1, 1, -10]
    """
    tensor = lasting(tensor, "tensor")
    if not tensor.rank:
        raise NxValueError(message(f"diff goes along an axis, got the scalar {tensor.spec}.", "Scalars have no axes."))
    position = shapes.normalize_axis(axis, tensor.shape, tensor.names)
    count = shapes.static_int(order, "the order of diff")
    if count < 0:
        raise NxValueError(f"the order of diff is at least 0, got {count}")
    for length in range(
        tensor.shape[position] - 1, tensor.shape[position] - 1 - min(count, tensor.shape[position]), -1
    ):
        after = slice_along_axis(tensor, 1, length, axis=position)
        tensor = elementwise.subtract(after, slice_along_axis(tensor, 0, length, axis=position))
    return tensor
