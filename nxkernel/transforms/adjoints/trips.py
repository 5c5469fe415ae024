"""How often a loop turns: what its condition and its body say of it."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr, Graph
from nxkernel.ops.dispatch import apply
from nxkernel.shapes import ceil_div
from nxkernel.transforms.adjoints.table import index


def step(body: Graph, place: int) -> int | None:
    """By how much a whole number of the state changes in every turn; None where that differs, or nobody can tell."""
    before, after = body.parameters[place], body.outputs[place]
    if after is before:
        return 0
    if after.primitive not in (p.add, p.subtract) or not after.type.is_integer:
        return None
    left, right = after.operands
    if after.primitive is p.add and right is before:
        left, right = right, left
    if left is not before or right.primitive is not p.constant:
        return None
    value = int(right.params["value"])
    return value if after.primitive is p.add else -value


def most(node: Expr) -> int | None:
    """The most turns that a loop can have, where a counter is compared with a number."""
    found = [turns for turns, _ in _bounds(node)]
    return min(found) if found else None


def turns(node: Expr, results: Sequence[Expr]) -> Expr:
    """How many turns it had, once its results are there.

    Parameters
    ----------
    node : Expr
    results : sequence of Expr
        Those of the loop; where they are followed by others, the last one counts turns from zero.
    """
    condition, count = node.params["condition"], node.params["state"]
    bounds = _bounds(node)
    if bounds and not _is_conjunction(condition):
        return index(bounds[0][0])
    if len(results) > count:
        return results[-1]
    for _, place in bounds:
        return _counted(node, place, results[place])
    for place in range(count):
        if step(node.params["body"], place) and node.operands[place].type is types.s64:
            return _counted(node, place, results[place])
    raise AssertionError("a loop without a counter keeps something in every turn")


def _counted(node: Expr, place: int, end: Expr) -> Expr:
    by = step(node.params["body"], place)
    way = end - node.operands[place]
    return way if by == 1 else apply(p.quotient, way, index(by))


def _is_conjunction(condition: Graph) -> bool:
    return condition.outputs[0].primitive not in _ORDER


#: For each comparison, whether the counter rises, and whether it may reach the bound.
_ORDER = {p.less: (True, False), p.less_equal: (True, True), p.greater: (False, False), p.greater_equal: (False, True)}


def _bounds(node: Expr) -> list[tuple[int, int]]:
    """The greatest numbers of turns that parts of the condition allow, each with the place of its counter."""
    condition, body, count = node.params["condition"], node.params["body"], node.params["state"]
    places = {parameter: place for place, parameter in enumerate(condition.parameters)}
    found, todo = [], list(condition.outputs)
    while todo:
        asked = todo.pop()
        if asked.primitive is p.logical_and:
            todo += asked.operands
        if asked.primitive not in _ORDER:
            continue
        left, right = asked.operands
        rising, reaches = _ORDER[asked.primitive]
        if left not in places:
            left, right, rising = right, left, not rising
        place = places.get(left, count)
        by = step(body, place) if place < count else None
        first = _number(node.operands[place]) if by else None
        bound = _number(node.operands[places[right]] if right in places and places[right] >= count else right)
        if first is None or bound is None or (by > 0) is not rising:
            continue
        way = (bound - first if by > 0 else first - bound) + reaches
        found.append((max(0, ceil_div(way, abs(by))), place))
    return found


def _number(node: Expr) -> int | None:
    while node.primitive in (p.reshape, p.as_type):
        node = node.operands[0]
    return int(node.params["value"]) if node.primitive is p.constant else None
