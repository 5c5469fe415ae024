"""Bounds of traced integers known while tracing, and which of them are equal."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph import intervals, tracing
from nxkernel.graph.expr import Expr
from nxkernel.graph.intervals import Interval

#: Least and greatest value; None where it may be farther away than any element of an array.
Open = tuple[int | None, int | None]

_DEPTH = 12
#: No loop takes so many turns, and no axis is so long.
_FAR = 1 << 53


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
    least, most = types.limits(node.type)
    if low is not None and high is None:
        most = min(most, max(low, 0) + _FAR)
    if high is not None and low is None:
        least = max(least, min(high, 0) - _FAR)
    _assumed.intervals[id(node)] = (node, (least if low is None else low, most if high is None else high))


def forget() -> None:
    """Forget all that was assumed: when a trace is over."""
    _assumed.intervals.clear()


def interval(value: Any) -> Open:
    """Between which values a whole number lies.

    Parameters
    ----------
    value : int or traced value
    """
    if isinstance(value, int):
        return value, value
    found = _interval(value, _DEPTH, {}) if type(value) is Expr else None
    if found is None:
        return None, None
    low, high = found
    return low if low > -_FAR else None, high if high < _FAR else None


def _interval(node: Expr, depth: int, known: dict[int, Interval | None]) -> Interval | None:
    """The interval of a node, that of its type where nothing else is known; None for what is no whole number."""
    node = outermost(node)
    if not node.type.is_integer:
        return None
    if id(node) not in known:
        assumed = _assumed.intervals.get(id(node))
        found = assumed[1] if assumed is not None else None
        if found is None and depth:
            found = intervals.of_node(node, lambda operand: _interval(operand, depth - 1, known))
        known[id(node)] = types.limits(node.type) if found is None else found
    return known[id(node)]


def counts(value: Any) -> bool:
    """Whether a whole number is computed of one that something was assumed of, such as the counter of a loop."""
    waiting, seen = [value] if type(value) is Expr else [], set()
    while waiting and len(seen) < 1 << _DEPTH:
        node = outermost(waiting.pop())
        if id(node) in _assumed.intervals:
            return True
        if id(node) not in seen:
            seen.add(id(node))
            waiting += node.operands
    return False


def outermost(node: Expr) -> Expr:
    """The node outside of all bodies that a parameter of a body stands for."""
    trace = tracing.current()
    while node.primitive is p.parameter and isinstance(trace, tracing.BodyTrace):
        for value, placeholder in zip(trace.captured, trace.lifted, strict=True):
            if placeholder is node and type(value) is Expr:
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
    if type(node) is Expr and depth > 0 and not node.shape and node.type.is_integer and not _wraps(node):
        if node.primitive in (p.add, p.subtract):
            sign = 1 if node.primitive is p.add else -1
            (terms, number), (others, other) = (_linear(operand, depth - 1) for operand in node.operands)
            for key, factor in others.items():
                terms[key] = terms.get(key, 0) + sign * factor
            return terms, number + sign * other
        if node.primitive is p.as_type and node.operands[0].type.is_integer:
            return _linear(node.operands[0], depth - 1)
    return {_key(node, _DEPTH): 1}, 0


def _wraps(node: Expr) -> bool:
    """Whether a number may leave its type, in one that numbers are to be expected to leave."""
    if node.primitive is p.elem or (node.type.bits == 64 and all(operand.type.bits <= 64 for operand in node.operands)):
        return False
    return intervals.of_node(node, lambda operand: _interval(operand, _DEPTH, {})) is None


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
