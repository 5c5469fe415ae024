"""Interval arithmetic: bounds of integer nodes, from those of their operands and the limits of their types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr, Graph

#: Least and greatest value.
Interval = tuple[int, int]


def iteration_step(body: Graph, index: int) -> int | None:
    """The constant change per iteration of an integer in a loop's state; None if it varies or is unknown."""
    return difference(body.outputs[index], [body.parameters[index]])


def difference(after: Expr, before: Sequence[Expr]) -> int | None:
    """How much larger an integer is than another, which any of several nodes stand for; None if unknown."""
    if any(after is one for one in before):
        return 0
    if after.primitive not in (p.add, p.subtract) or not after.type.is_integer:
        return None
    left, right = after.operands
    if after.primitive is p.add and any(right is one for one in before):
        left, right = right, left
    if not any(left is one for one in before) or right.primitive is not p.constant:
        return None
    value = int(right.params["value"])
    return value if after.primitive is p.add else -value


def of_node(node: Expr, interval_of: Callable[[Expr], Interval | None]) -> Interval | None:
    """The interval of a node; None if unknown or if it may overflow.

    Parameters
    ----------
    node : Expr
        One integer.
    interval_of : callable
        Gives the interval of an operand, or None.
    """
    interval = _unlimited(node, interval_of)
    if interval is None:
        return None
    low, high = types.limits(node.type)
    return interval if low <= interval[0] and interval[1] <= high else None


def _unlimited(node: Expr, interval_of: Callable[[Expr], Interval | None]) -> Interval | None:
    if node.primitive is p.constant:
        value = int(node.params["value"])
        return value, value
    if node.primitive is p.select:
        return _selected(node, interval_of)
    rule = RULES.get(node.primitive)
    if rule is None:
        return None
    operands = [interval_of(operand) for operand in node.operands]
    return None if None in operands else rule(*operands)


def _selected(node: Expr, interval_of: Callable[[Expr], Interval | None]) -> Interval | None:
    mask, then, otherwise = node.operands
    truth = interval_of(mask)
    if truth is not None and truth[0] == truth[1]:
        return interval_of(then if truth[0] else otherwise)
    size = interval_of(otherwise.operands[1]) if _is_floored_rest(mask, then, otherwise) else None
    if size is not None and size[0] > 0:
        return 0, size[1] - 1
    sides = interval_of(then), interval_of(otherwise)
    if None in sides:
        return None
    return min(sides[0][0], sides[1][0]), max(sides[0][1], sides[1][1])


def _is_floored_rest(mask: Expr, then: Expr, rest: Expr) -> bool:
    """Whether a select adjusts a remainder to the sign of a positive divisor, as Python's ``%`` does."""
    if rest.primitive is not p.remainder or then.primitive is not p.add or mask.primitive is not p.logical_and:
        return False
    divisor, (other, opposite) = rest.operands[1], mask.operands
    below = opposite.operands[0] if opposite.primitive is p.not_equal else opposite
    return (
        then.operands == (rest, divisor)
        and _is_beside_zero(other, p.not_equal, rest)
        and _is_beside_zero(below, p.less, rest)
        and (opposite is below or _is_false(opposite.operands[1], divisor))
    )


def _is_beside_zero(node: Expr, primitive: p.Primitive, left: Expr) -> bool:
    return node.primitive is primitive and node.operands[0] is left and _is_zero(node.operands[1])


def _is_false(node: Expr, divisor: Expr) -> bool:
    """Whether a node is the test that a (positive) divisor is negative."""
    return _is_zero(node) or _is_beside_zero(node, p.less, divisor)


def _is_zero(node: Expr) -> bool:
    return node.primitive is p.constant and not node.params["value"]


def _times(left: Interval, right: Interval) -> Interval:
    products = [a * b for a in left for b in right]
    return min(products), max(products)


def _quotient(left: Interval, right: Interval) -> Interval | None:
    if right[0] <= 0:
        return None
    quotients = [a // b if a >= 0 else -(-a // b) for a in left for b in right]
    return min(quotients), max(quotients)


def _remainder(left: Interval, right: Interval) -> Interval | None:
    if right[0] <= 0:
        return None
    if left[0] < 0:
        return max(left[0], 1 - right[1]), min(max(left[1], 0), right[1] - 1)
    return left if left[1] < right[0] else (0, min(left[1], right[1] - 1))


def _truth(always: bool, never: bool) -> Interval:
    return (1, 1) if always else (0, 0) if never else (0, 1)


def _same(left: Interval, right: Interval) -> bool:
    return left == right and left[0] == left[1]


def _disjoint(left: Interval, right: Interval) -> bool:
    return left[1] < right[0] or right[1] < left[0]


#: How the interval of a primitive follows from those of its operands, where the result does not wrap around.
RULES: dict[p.Primitive, Callable[..., Interval | None]] = {
    p.add: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    p.subtract: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    p.multiply: _times,
    p.negate: lambda a: (-a[1], -a[0]),
    p.maximum: lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    p.minimum: lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    p.quotient: _quotient,
    p.remainder: _remainder,
    p.as_type: lambda a: a,
    p.reshape: lambda a: a,
    p.broadcast: lambda a: a,
    p.transpose: lambda a: a,
    p.equal: lambda a, b: _truth(_same(a, b), _disjoint(a, b)),
    p.not_equal: lambda a, b: _truth(_disjoint(a, b), _same(a, b)),
    p.less: lambda a, b: _truth(a[1] < b[0], a[0] >= b[1]),
    p.less_equal: lambda a, b: _truth(a[1] <= b[0], a[0] > b[1]),
    p.greater: lambda a, b: _truth(a[0] > b[1], a[1] <= b[0]),
    p.greater_equal: lambda a, b: _truth(a[0] >= b[1], a[1] < b[0]),
    p.logical_not: lambda a: _truth(a == (0, 0), a[0] > 0),
    p.logical_and: lambda a, b: _truth(a[0] > 0 and b[0] > 0, (0, 0) in (a, b)),
    p.logical_or: lambda a, b: _truth(a[0] > 0 or b[0] > 0, a == b == (0, 0)),
}
