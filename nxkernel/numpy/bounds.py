"""What is known of whole numbers while tracing: between which bounds they lie, and which of them are equal."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

from nxkernel import primitives as p
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr

#: Least and greatest value; None where nothing is known.
Interval = tuple[int | None, int | None]

_UNKNOWN: Interval = (None, None)
_DEPTH = 8


class _Assumed(threading.local):
    def __init__(self) -> None:
        self.intervals: dict[int, tuple[Expr, Interval]] = {}


_assumed = _Assumed()


def assume(node: Expr, low: int | None, high: int | None) -> None:
    """Remember between which values a traced whole number lies, such as the counter of a loop.

    Parameters
    ----------
    node : Expr
    low, high : int or None
        Both are inside; None where there is no bound.
    """
    _assumed.intervals[id(node)] = (node, (low, high))


def forget() -> None:
    """Forget all that was assumed: when a trace is over."""
    _assumed.intervals.clear()


def interval(value: Any, depth: int = _DEPTH) -> Interval:
    """Between which values a whole number lies.

    Parameters
    ----------
    value : int or traced value
    depth : int, optional
        Through how many operations to look.
    """
    if isinstance(value, int):
        return value, value
    if type(value) is not Expr or depth < 0:
        return _UNKNOWN
    value = outermost(value)
    known = _assumed.intervals.get(id(value))
    if known is not None:
        return known[1]
    rule = _RULES.get(value.primitive)
    if value.primitive is p.constant and isinstance(value.params["value"], int):
        return value.params["value"], value.params["value"]
    if rule is None or not all(operand.type.is_integer for operand in value.operands):
        return _UNKNOWN
    return rule(*[interval(operand, depth - 1) for operand in value.operands])


def _plus(a: Interval, b: Interval) -> Interval:
    return _both(a[0], b[0], int.__add__), _both(a[1], b[1], int.__add__)


def _both(a: int | None, b: int | None, function: Any) -> int | None:
    return None if a is None or b is None else function(a, b)


def _times(a: Interval, b: Interval) -> Interval:
    if None in (*a, *b):
        positive = a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0
        return (a[0] * b[0], None) if positive else _UNKNOWN
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def _negated(a: Interval) -> Interval:
    return None if a[1] is None else -a[1], None if a[0] is None else -a[0]


def _greater(a: Interval, b: Interval) -> Interval:
    lows = [low for low in (a[0], b[0]) if low is not None]
    return max(lows, default=None), _both(a[1], b[1], max)


def _lesser(a: Interval, b: Interval) -> Interval:
    highs = [high for high in (a[1], b[1]) if high is not None]
    return _both(a[0], b[0], min), min(highs, default=None)


def _quotient(a: Interval, b: Interval) -> Interval:
    if a[0] is None or a[0] < 0 or b[0] is None or b[0] <= 0:
        return _UNKNOWN
    return 0 if b[1] is None else a[0] // b[1], None if a[1] is None else a[1] // b[0]


def _remainder(a: Interval, b: Interval) -> Interval:
    if a[0] is None or a[0] < 0 or b[0] is None or b[0] <= 0:
        return _UNKNOWN
    return 0, a[1] if b[1] is None else b[1] - 1


_RULES = {
    p.add: _plus,
    p.subtract: lambda a, b: _plus(a, _negated(b)),
    p.multiply: _times,
    p.negate: _negated,
    p.maximum: _greater,
    p.minimum: _lesser,
    p.quotient: _quotient,
    p.remainder: _remainder,
    p.as_type: lambda a: a,
    p.select: lambda _, a, b: (_both(a[0], b[0], min), _both(a[1], b[1], max)),
}


def outermost(node: Expr) -> Expr:
    """The node outside of all bodies that a parameter of a body stands for."""
    trace = tracing.current()
    while node.primitive is p.parameter and isinstance(trace, tracing.BodyTrace):
        for value, stand_in in zip(trace.captured, trace.lifted, strict=True):
            if stand_in is node and type(value) is Expr:
                node = value
                break
        trace = trace.previous
    return node


def same(a: Any, b: Any) -> bool:
    """Whether two whole numbers, or two masks, are equal whatever the program is given."""
    return a is b or difference(a, b) == 0


def difference(a: Any, b: Any) -> int | None:
    """``a - b`` where that is a number that is known now, else None."""
    terms, number = _linear(a)
    for key, factor in _linear(b)[0].items():
        terms[key] = terms.get(key, 0) - factor
    number -= _linear(b)[1]
    return None if any(terms.values()) else number


def _linear(value: Any, depth: int = _DEPTH) -> tuple[dict[Hashable, int], int]:
    """A whole number as a sum of multiples of others, and a number."""
    if isinstance(value, int):
        return {}, int(value)
    known = interval(value)
    if known[0] is not None and known[0] == known[1]:
        return {}, known[0]
    node = outermost(value) if type(value) is Expr else value
    if type(node) is Expr and depth > 0 and not node.shape and node.type.is_integer:
        if node.primitive in (p.add, p.subtract):
            sign = 1 if node.primitive is p.add else -1
            (terms, number), (others, other) = (_linear(operand, depth - 1) for operand in node.operands)
            for key, factor in others.items():
                terms[key] = terms.get(key, 0) + sign * factor
            return terms, number + sign * other
        if node.primitive is p.as_type and node.operands[0].type.is_integer:
            return _linear(node.operands[0], depth - 1)
    return {_key(node, _DEPTH): 1}, 0


def _key(node: Any, depth: int) -> Hashable:
    """Equal for nodes that compute the same from the same values."""
    if type(node) is not Expr:
        return id(node)
    node = outermost(node)
    if node.primitive is p.constant:
        return "constant", repr(node.params["value"]), node.spec
    if (not node.operands and node.primitive is not p.iota) or depth <= 0:
        return id(node)
    params = tuple(sorted((name, repr(value)) for name, value in node.params.items()))
    return node.primitive.name, params, tuple(_key(operand, depth - 1) for operand in node.operands)
