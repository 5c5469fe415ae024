"""Bounds of traced integers that are known while tracing, and which traced integers are equal."""

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
    """Record the bounds of a traced integer, such as the counter of a loop.

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
    """Drop all recorded bounds, at the end of a trace."""
    _assumed.intervals.clear()


def interval(value: Any) -> Open:
    """The bounds of an integer, as far as they are known.

    Parameters
    ----------
    value : int or traced value
    """
    if isinstance(value, int):
        return value, value
    return _open(_interval(value, _DEPTH, {}) if type(value) is Expr else None)


def in_first_iteration(value: Expr) -> Open:
    """The bounds of an integer in the first iteration of the loops around, as far as they are known.

    Parameters
    ----------
    value : traced value
    """
    known: dict[int, Interval | None] = {}
    trace = tracing.current()
    while isinstance(trace, tracing.BodyTrace):
        for node, begin in trace.beginnings.items():
            # Of a loop's variable that began as a number; of others nothing is known by that.
            if type(begin) is Expr and begin.primitive is p.constant and begin.type.is_integer:
                known[id(node)] = (begin.params["value"], begin.params["value"])
        trace = trace.previous
    return _open(_interval(value, _DEPTH, known) if known else None)


def _open(bounds: Interval | None) -> Open:
    if bounds is None:
        return None, None
    low, high = bounds
    return low if low > -_FAR else None, high if high < _FAR else None


def _interval(node: Expr, depth: int, known: dict[int, Interval | None]) -> Interval | None:
    """The bounds of a node: those of its type if nothing else is known, None if it is not an integer."""
    node = tracing.outermost(node)
    if not node.type.is_integer:
        return None
    if id(node) not in known:
        assumed = _assumed.intervals.get(id(node))
        bounds = assumed[1] if assumed is not None else None
        if bounds is None and depth:
            bounds = intervals.of_node(node, lambda operand: _interval(operand, depth - 1, known))
        known[id(node)] = types.limits(node.type) if bounds is None else bounds
    return known[id(node)]


def counts(value: Any) -> bool:
    """Whether an integer is computed from one with recorded bounds, such as the counter of a loop."""
    waiting, seen = [value] if type(value) is Expr else [], set()
    while waiting and len(seen) < 1 << _DEPTH:
        node = tracing.outermost(waiting.pop())
        if id(node) in _assumed.intervals:
            return True
        if id(node) not in seen:
            seen.add(id(node))
            waiting += node.operands
    return False


def same(a: Any, b: Any) -> bool:
    """Whether two integers, or two masks, are equal for every input of the program."""
    return a is b or difference(a, b) == 0


def difference(a: Any, b: Any) -> int | None:
    """``a - b`` as an int if it is known while tracing, else None."""
    terms, number = _linear(a)
    for key, factor in _linear(b)[0].items():
        terms[key] = terms.get(key, 0) - factor
    number -= _linear(b)[1]
    return None if any(terms.values()) else number


def _linear(value: Any, depth: int = _DEPTH) -> tuple[dict[Hashable, int], int]:
    """An integer as a linear combination of nodes plus a constant."""
    if isinstance(value, int):
        return {}, int(value)
    known = interval(value)
    if known[0] is not None and known[0] == known[1]:
        return {}, known[0]
    node = tracing.outermost(value) if type(value) is Expr else value
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
    """Whether an integer may overflow, in a type narrow enough for that to be expected."""
    if node.primitive is p.elem or (node.type.bits == 64 and all(operand.type.bits <= 64 for operand in node.operands)):
        return False
    return intervals.of_node(node, lambda operand: _interval(operand, _DEPTH, {})) is None


def _key(node: Any, depth: int) -> Hashable:
    """A key that is equal for nodes that compute the same from the same operands."""
    if type(node) is not Expr:
        return id(node)
    node = tracing.outermost(node)
    if node.primitive is p.constant:
        return "constant", repr(node.params["value"]), node.spec
    if (not node.operands and node.primitive is not p.iota) or depth <= 0:
        return id(node)
    params = tuple(sorted((name, repr(value)) for name, value in node.params.items()))
    return node.primitive.name, params, tuple(_key(operand, depth - 1) for operand in node.operands)
