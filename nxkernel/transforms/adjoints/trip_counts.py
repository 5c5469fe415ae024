"""Trip counts: how many iterations a loop has, as far as its condition and body imply it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph import intervals
from nxkernel.graph.expr import Expr
from nxkernel.graph.intervals import Interval, difference, turn_step
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.primitives import Primitive
from nxkernel.shapes import ceil_div
from nxkernel.transforms.adjoints.rule_table import index

#: What is known of parameters of the graphs around a loop.
Known = Mapping[Expr, Interval]


class ConditionBound(NamedTuple):
    """What a comparison in the condition of a loop says.

    Parameters
    ----------
    turns : int
        The most iterations that it allows.
    place : int
        Which part of the state it compares.
    exact : bool
        Whether it allows so many whatever the values are.
    """

    turns: int
    place: int
    exact: bool


def most(node: Expr, known: Known) -> int | None:
    """The most iterations that a loop can have, where a counter is compared with a number that is bounded."""
    return min((bound.turns for bound in _bounds(node, known)), default=None)


def exactly(node: Expr, known: Known) -> int | None:
    """How many turns a loop has, where nothing but a counter decides about it."""
    bounds = _bounds(node, known)
    alone = node.params["condition"].outputs[0].primitive is not p.logical_and
    return bounds[0].turns if alone and bounds and bounds[0].exact else None


def counter(node: Expr) -> int | None:
    """The place of a whole number that tells by its last value how many turns a loop had."""
    for place in range(node.params["state"]):
        if node.operands[place].type is types.s64 and turn_step(node.params["body"], place):
            return place
    return None


def counted(node: Expr, place: int, end: Expr) -> Expr:
    """How many turns a loop had, by the last value of such a number."""
    by = turn_step(node.params["body"], place)
    way = end - node.operands[place]
    return way if by == 1 else apply(p.quotient, way, index(by))


def inside(node: Expr, known: Known) -> dict[Expr, Interval]:
    """What is known of the parameters of a loop's body: those from outside, and counters."""
    found = dict(known)
    body, count, turns = node.params["body"], node.params["state"], most(node, known)
    for place, (parameter, operand) in enumerate(zip(body.parameters, node.operands, strict=True)):
        first = _interval(operand, known)
        by = 0 if place >= count else step(node, place)
        if first is None or by is None or (by and turns is None):
            continue
        way = by * max(turns - 1, 0) if by else 0
        found[parameter] = (first[0] + min(way, 0), first[1] + max(way, 0))
    return found


def chosen(node: Expr, known: Known) -> dict[Expr, Interval]:
    """What is known of the parameters of both sides of a branch."""
    found = dict(known)
    for side in (node.params["then"], node.params["otherwise"]):
        pairs = zip(side.parameters, node.operands[1:], strict=True)
        found |= {inside: known[operand] for inside, operand in pairs if operand in known}
    return found


def step(node: Expr, place: int) -> int | None:
    """By how much a whole number changes in every iteration that another one follows; None where nobody can tell.

    Where a loop is left by ``break``, what comes after it is not done any more.
    """
    body = node.params["body"]
    by = turn_step(body, place)
    if by is not None:
        return by
    flags = [(body.outputs[flag], value) for flag, value in _flags(node)]
    found = _going_on(body.outputs[place], [body.parameters[place]], flags)
    return found.pop() if found is not None and len(found) == 1 else None


def _flags(node: Expr) -> list[tuple[int, bool]]:
    """Parts of the state that end a loop, each with the truth that does."""
    condition, count = node.params["condition"], node.params["state"]
    places = {parameter: place for place, parameter in enumerate(condition.parameters[:count])}
    found = []
    for asked in _conjuncts(node):
        inverse = asked.primitive is p.logical_not
        flag = asked.operands[0] if inverse else asked
        if flag in places:
            found.append((places[flag], inverse))
    return found


def _conjuncts(node: Expr) -> list[Expr]:
    """What must hold for a loop to go on."""
    found, todo = [], list(node.params["condition"].outputs)
    while todo:
        asked = todo.pop()
        if asked.primitive is p.logical_and:
            todo += asked.operands
        else:
            found.append(asked)
    return found


def _going_on(after: Expr, before: Sequence[Expr], flags: Sequence[tuple[Expr, bool]]) -> set[int] | None:
    """The changes of a number on all ways that do not end the loop; None where nobody can tell."""
    if any(flag.primitive is p.constant and bool(flag.params["value"]) is value for flag, value in flags):
        return set()
    by = difference(after, before)
    if by is not None:
        return {by}
    if after.primitive is not p.elem or after.operands[0].primitive is not p.cond:
        return None
    choice, whole = after.operands[0], set()
    _, *operands = choice.operands
    for name in ("then", "otherwise"):
        side = choice.params[name]
        inside = [
            parameter
            for parameter, operand in zip(side.parameters, operands, strict=True)
            if any(operand is one for one in before)
        ]
        own = [
            (side.outputs[flag.params["index"]], value)
            for flag, value in flags
            if flag.primitive is p.elem and flag.operands[0] is choice
        ]
        found = _going_on(side.outputs[after.params["index"]], inside, own)
        if found is None:
            return None
        whole |= found
    return whole


#: For each comparison, whether the counter rises, and whether it may reach the bound.
_ORDER = {p.less: (True, False), p.less_equal: (True, True), p.greater: (False, False), p.greater_equal: (False, True)}


#: What a comparison says where it does not hold.
_OPPOSITE = {
    p.less: p.greater_equal, p.less_equal: p.greater, p.greater: p.less_equal, p.greater_equal: p.less,
    p.equal: p.not_equal,
}  # fmt: skip


def _bounds(node: Expr, known: Known) -> list[ConditionBound]:
    """What parts of the condition say, all of which must hold."""
    condition = node.params["condition"]
    found = []
    places = {parameter: place for place, parameter in enumerate(condition.parameters)}
    for asked in _conjuncts(node):
        comparison = asked.primitive
        if comparison is p.logical_not:
            (asked,) = asked.operands
            comparison = _OPPOSITE.get(asked.primitive)
        if comparison in _ORDER or comparison is p.not_equal:
            for left, right in (asked.operands, asked.operands[::-1]):
                bound = _bound(node, comparison, places.get(left), right, left is asked.operands[0], known)
                found += [bound] if bound is not None else []
    return found


def _bound(
    node: Expr, comparison: Primitive, place: int | None, right: Expr, ahead: bool, known: Known
) -> ConditionBound | None:
    condition, count = node.params["condition"], node.params["state"]
    if place is None or place >= count:
        return None
    by = step(node, place)
    given = dict(zip(condition.parameters[count:], node.operands[count:], strict=True))
    around = {parameter: found for parameter, one in given.items() if (found := _interval(one, known)) is not None}
    first, last = _interval(node.operands[place], known), _interval(right, around)
    other = next((k for k in range(count) if condition.parameters[k] is right), None)
    if other is not None and by is not None and first is not None:
        # Two counters: what is between them changes by the difference of their steps.
        further, begin = step(node, other), _interval(node.operands[other], known)
        if further is None or begin is None:
            return None
        first, last, by = (first[0] - begin[1], first[1] - begin[0]), (0, 0), by - further
    if not by or first is None or last is None:
        return None
    exact = first[0] == first[1] and last[0] == last[1]
    if comparison is p.not_equal:
        turns, rest = divmod(last[0] - first[0], by)
        return ConditionBound(turns, place, True) if exact and not rest and turns >= 0 else None
    rising, reaches = _ORDER[comparison]
    if (by > 0) is not (rising is ahead):
        return None
    way = (last[1] - first[0] if by > 0 else first[1] - last[0]) + reaches
    return ConditionBound(max(0, ceil_div(way, abs(by))), place, exact)


def _interval(node: Expr, known: Known) -> Interval | None:
    """Between which values a whole number lies."""
    found: dict[Expr, Interval | None] = dict(known)
    if node.shape or not node.type.is_integer:
        return None
    for one in post_order([node]):
        if one not in found:
            plain = type(one.spec) is not tuple and one.type.is_integer
            found[one] = _of_node(one, found.__getitem__, known) if plain else None
    return found[node]


def _of_node(node: Expr, found: Callable[[Expr], Interval | None], known: Known) -> Interval | None:
    if node.primitive is not p.elem or node.operands[0].primitive is not p.while_:
        return intervals.of_node(node, found)
    # A counter, once its loop has ended.
    loop, place = node.operands[0], node.params["index"]
    by, turns, first = turn_step(loop.params["body"], place), exactly(loop, known), found(loop.operands[place])
    if None in (by, turns, first):
        return None
    return first[0] + by * turns, first[1] + by * turns


def total(node: Expr, results: Sequence[Expr], known: Known) -> Expr:
    """How many turns a loop had, once its results are there.

    Parameters
    ----------
    node : Expr
    results : sequence of Expr
        Those of the loop; where they are followed by others, the last one counts turns from zero.
    known : mapping
    """
    turns = exactly(node, known)
    if turns is not None:
        return index(turns)
    count = node.params["state"]
    if len(results) > count:
        return results[-1]
    place = counter(node)
    return counted(node, place, results[place])
