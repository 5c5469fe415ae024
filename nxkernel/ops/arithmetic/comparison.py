"""Comparisons, logical and bitwise operations, `select`. Predicates are bool."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery import function_factories
from nxkernel.ops.machinery.dispatch import (
    apply,
    arithmetic,
    counted,
    elementwise,
    filled_like,
    of_type,
    operand,
    ordered,
    spread,
    unchanged,
    whole,
)
from nxkernel.primitives import Primitive
from nxkernel.tensor.tensor import Tensor

__all__ = [
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "count_leading_zeros", "equal", "greater",
    "greater_equal", "is_infinity", "is_nan", "left_shift", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor", "not_equal", "population_count", "right_shift", "select",
]  # fmt: skip


def _comparison(primitive: Primitive, what: str, example: str, result: str) -> Any:
    rule = unchanged if primitive in (p.equal, p.not_equal) else ordered(primitive.name, unchanged)
    return function_factories.named(primitive, rule, what, "bool.", example, result)


equal = _comparison(p.equal, "Whether elements are equal. NaN equals nothing.", "[1, 2], 2", "[False, True]")
not_equal = _comparison(p.not_equal, "Whether elements differ. NaN differs from all.", "[1, 2], 2", "[True, False]")
greater = _comparison(p.greater, "Whether left is greater than right.", "[1, 2, 3], 2", "[False, False, True]")
less = _comparison(p.less, "Whether left is less than right.", "[1, 2, 3], 2", "[True, False, False]")
greater_equal = _comparison(p.greater_equal, "Whether left is at least right.", "[1, 2, 3], 2", "[False, True, True]")
less_equal = _comparison(p.less_equal, "Whether left is at most right.", "[1, 2, 3], 2", "[True, True, False]")


def _logic(primitive: Primitive, what: str, result: str) -> Any:
    types = "bool."
    return function_factories.named(
        primitive, unchanged, f"{what} All but 0 counts as true.", types, "[-1, 0, 5, 0], [1, 2, 0, 0]", result
    )


logical_and = _logic(p.logical_and, "Whether both are true.", "[True, False, False, False]")
logical_or = _logic(p.logical_or, "Whether one is true.", "[True, True, True, False]")
logical_xor = _logic(p.logical_xor, "Whether exactly one is true.", "[False, True, True, False]")
logical_not = function_factories.unary(
    "logical_not",
    p.logical_not,
    unchanged,
    "Whether elements are 0.",
    "bool.",
    "nx.logical_not([0, 5]).to_list()",
    "[True, False]",
)


def _test(primitive: Primitive, what: str, result: str) -> Any:
    """A predicate that is constant for integers, such as `is_nan`."""

    def function(tensor: Any) -> Tensor | Expr:
        tensor = operand(tensor, "tensor")
        if tensor.type.is_integer:
            return filled_like(0, types.bool_, tensor)
        return apply(primitive, tensor)

    example = f"nx.{primitive.name}([1.0, np.nan, -np.inf]).to_list()"
    doc = function_factories.UNARY.format(what=what, types="bool.", example=example, result=result)
    return function_factories.documented(function, primitive.name, doc)


is_nan = _test(p.is_nan, "Whether elements are NaN.", "[False, True, False]")
is_infinity = _test(p.is_infinity, "Whether elements are infinite, of either sign.", "[False, False, True]")


def select(pred: Any, on_true: Any, on_false: Any) -> Tensor | Expr:
    """Choose elements from two tensors by a condition.

    Parameters
    ----------
    pred : tensor or number
        The condition: all but 0 counts as true.
    on_true, on_false : tensor or number
        What to choose from, broadcast to the shape of `pred`; to each other's where `pred` is a scalar. Numbers count
        as s64 or f32, and have all of their digits beside an f64.

    Returns
    -------
    Tensor
        With the types of the two merged.

    Raises
    ------
    NxValueError
        When a side does not broadcast to the shape of `pred`.

    Examples
    --------
    >>> nx.select([1, 0, 1], [1, 2, 3], 0).to_list()
    [1, 0, 3]
    """
    pred, sides = operand(pred, "pred"), (operand(on_true, "on_true"), operand(on_false, "on_false"))
    type_ = types.merge(*map(counted, sides))
    shape = pred.shape or shapes.broadcast_shapes(*[side.shape for side in sides], *[side.names for side in sides])
    for side, name in zip(sides, ("on_true", "on_false"), strict=True):
        if not shapes.spreads(side.shape, shape):
            raise NxValueError(
                message(
                    f"select: {name} has the shape {shapes.text(side.shape, side.names)}, which does not fit that "
                    f"of the condition, {shapes.text(shape)}.",
                    "Spread the condition first: nx.broadcast(pred, shape).",
                )
            )
    sides = [of_type(value, side, type_) for value, side in zip((on_true, on_false), sides, strict=True)]
    return apply(p.select, spread(pred, shape), *[spread(side, shape) for side in sides])


def _bitwise(primitive: Primitive, what: str, result: str) -> Any:
    return function_factories.named(
        primitive, whole(primitive.name), what, "The two types merged.", "[0, 0, 1, 1], [0, 1, 0, 1]", result
    )


bitwise_and = _bitwise(p.bitwise_and, "The bits that both integers have.", "[0, 0, 0, 1]")
bitwise_or = _bitwise(p.bitwise_or, "The bits that either integer has.", "[0, 1, 1, 1]")
bitwise_xor = _bitwise(p.bitwise_xor, "The bits that exactly one of two integers has.", "[0, 1, 1, 0]")


def _shift(primitive: Primitive, what: str, example: str, result: str) -> Any:
    def function(left: Any, right: Any) -> Tensor | Expr:
        if isinstance(right, int) and right < 0:
            other = "nx.right_shift" if primitive is p.left_shift else "nx.left_shift"
            raise NxValueError(
                message(
                    f"{primitive.name} takes a distance of at least 0, got {right}.", f"{other} goes the other way."
                )
            )
        return elementwise(primitive, left, right, lambda type_: arithmetic(whole(primitive.name)(type_)))

    example = f"nx.{primitive.name}({example}).to_list()"
    doc = function_factories.BINARY.format(what=what, types="The two types merged.", example=example, result=result)
    return function_factories.documented(function, primitive.name, doc)


left_shift = _shift(p.left_shift, "Move the bits of integers up, zeros follow.", "[1, 3], 2", "[4, 12]")
right_shift = _shift(
    p.right_shift, "Move the bits of integers down; signed ones keep their sign.", "[5, -8], 1", "[2, -4]"
)


def _unary(primitive: Primitive, rule: Any, what: str, example: str, result: str) -> Any:
    name = primitive.name
    return function_factories.unary(
        name, primitive, rule, what, "Types stay.", f"nx.{name}({example}).to_list()", result
    )


bitwise_not = _unary(p.bitwise_not, whole("bitwise_not"), "Flip every bit of integers.", "[0, 5]", "[-1, -6]")
population_count = _unary(
    p.population_count,
    lambda type_: arithmetic(whole("population_count")(type_)),
    "How many bits of an integer are 1.",
    "[0, 7, -1]",
    "[0, 3, 64]",
)
count_leading_zeros = _unary(
    p.count_leading_zeros,
    lambda type_: arithmetic(whole("count_leading_zeros")(type_)),
    "How many bits of an integer come before its first 1.",
    "[0, 1, -1]",
    "[64, 63, 0]",
)
