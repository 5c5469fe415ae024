"""Trip counts: how many iterations a loop has, as far as its condition and body imply it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph import intervals
from nxkernel.graph.expr import Expr
from nxkernel.graph.intervals import Interval, difference, iteration_step
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.primitives import Primitive
from nxkernel.shapes import ceil_div
from nxkernel.transforms.adjoints.rule_table import index

#: What is known of parameters of the graphs around a loop.
Ranges = Mapping[Expr, Interval]


class ConditionBound(NamedTuple):
    """What a comparison in a loop's condition says of the number of iterations.

    Parameters
    ----------
    turns : int
        The most iterations that it allows.
    place : int
        Which part of the state it compares.
    exact : bool
        Whether it allows so many whatever the values are.
    """

    trip_count: int
    position: int
    exact: bool


def most(node: Expr, ranges: Ranges) -> int | None:
    """An upper bound of the number of iterations, if a counter is compared with a bounded number."""
    return min((bound.trip_count for bound in _bounds(node, ranges)), default=None)


def exactly(node: Expr, ranges: Ranges) -> int | None:
    """The number of iterations of a loop, if only a counter decides when it ends."""
    bounds = _bounds(node, ranges)
    is_only_condition = node.params["condition"].outputs[0].primitive is not p.logical_and
    return bounds[0].trip_count if is_only_condition and bounds and bounds[0].exact else None


def counter(node: Expr) -> int | None:
    """The position of an integer in the loop's state whose last value gives the number of iterations."""
    for position in range(node.params["state"]):
        if node.operands[position].type is types.s64 and iteration_step(node.params["body"], position):
            return position
    return None


def counted(node: Expr, position: int, end: Expr) -> Expr:
    """The number of iterations of a loop, from the last value of its counter."""
    by = iteration_step(node.params["body"], position)
    distance = end - node.operands[position]
    return distance if by == 1 else apply(p.quotient, distance, index(by))


def inside(node: Expr, ranges: Ranges) -> dict[Expr, Interval]:
    """The known bounds of the parameters of a loop's body: of values from outside, and of counters."""
    inner = dict(ranges)
    body, count, trip_count = node.params["body"], node.params["state"], most(node, ranges)
    for position, (parameter, operand) in enumerate(zip(body.parameters, node.operands, strict=True)):
        first = _interval(operand, ranges)
        by = 0 if position >= count else step(node, position)
        if first is None or by is None or (by and trip_count is None):
            continue
        distance = by * max(trip_count - 1, 0) if by else 0
        inner[parameter] = (first[0] + min(distance, 0), first[1] + max(distance, 0))
    return inner


def chosen(node: Expr, ranges: Ranges) -> dict[Expr, Interval]:
    """The known bounds of the parameters of both sides of a branch."""
    inner = dict(ranges)
    for side in (node.params["then"], node.params["otherwise"]):
        pairs = zip(side.parameters, node.operands[1:], strict=True)
        inner |= {inside: ranges[operand] for inside, operand in pairs if operand in ranges}
    return inner


def step(node: Expr, position: int) -> int | None:
    """The constant by which an integer of the state changes in each iteration that another follows; None if unknown.

    Where a loop is left by ``break``, what comes after it is not done any more.
    """
    body = node.params["body"]
    by = iteration_step(body, position)
    if by is not None:
        return by
    flags = [(body.outputs[flag], value) for flag, value in _flags(node)]
    steps = _going_on(body.outputs[position], [body.parameters[position]], flags)
    return steps.pop() if steps is not None and len(steps) == 1 else None


def _flags(node: Expr) -> list[tuple[int, bool]]:
    """The booleans in the state that end a loop, each with the truth value that ends it."""
    condition, count = node.params["condition"], node.params["state"]
    positions = {parameter: position for position, parameter in enumerate(condition.parameters[:count])}
    flags = []
    for asked in _conjuncts(node):
        inverse = asked.primitive is p.logical_not
        flag = asked.operands[0] if inverse else asked
        if flag in positions:
            flags.append((positions[flag], inverse))
    return flags


def _conjuncts(node: Expr) -> list[Expr]:
    """The conditions that must all hold for a loop to continue."""
    conjuncts, todo = [], list(node.params["condition"].outputs)
    while todo:
        asked = todo.pop()
        if asked.primitive is p.logical_and:
            todo += asked.operands
        else:
            conjuncts.append(asked)
    return conjuncts


def _going_on(after: Expr, before: Sequence[Expr], flags: Sequence[tuple[Expr, bool]]) -> set[int] | None:
    """The changes of a number on all paths that do not end the loop; None if unknown."""
    if any(flag.primitive is p.constant and bool(flag.params["value"]) is value for flag, value in flags):
        return set()
    by = difference(after, before)
    if by is not None:
        return {by}
    if after.primitive is not p.elem or after.operands[0].primitive is not p.cond:
        return None
    branch, union = after.operands[0], set()
    _, *operands = branch.operands
    for name in ("then", "otherwise"):
        side = branch.params[name]
        inside = [
            parameter
            for parameter, operand in zip(side.parameters, operands, strict=True)
            if any(operand is one for one in before)
        ]
        own = [
            (side.outputs[flag.params["index"]], value)
            for flag, value in flags
            if flag.primitive is p.elem and flag.operands[0] is branch
        ]
        changes = _going_on(side.outputs[after.params["index"]], inside, own)
        if changes is None:
            return None
        union |= changes
    return union


#: For each comparison, whether the counter rises, and whether it may reach the bound.
_ORDER = {p.less: (True, False), p.less_equal: (True, True), p.greater: (False, False), p.greater_equal: (False, True)}


#: What a comparison says where it does not hold.
_OPPOSITE = {
    p.less: p.greater_equal, p.less_equal: p.greater, p.greater: p.less_equal, p.greater_equal: p.less,
    p.equal: p.not_equal,
}  # fmt: skip


def _bounds(node: Expr, ranges: Ranges) -> list[ConditionBound]:
    """The bounds that each comparison in the condition implies."""
    condition = node.params["condition"]
    bounds = []
    positions = {parameter: position for position, parameter in enumerate(condition.parameters)}
    for asked in _conjuncts(node):
        comparison = asked.primitive
        if comparison is p.logical_not:
            (asked,) = asked.operands
            comparison = _OPPOSITE.get(asked.primitive)
        if comparison in _ORDER or comparison is p.not_equal:
            for left, right in (asked.operands, asked.operands[::-1]):
                bound = _bound(node, comparison, positions.get(left), right, left is asked.operands[0], ranges)
                bounds += [bound] if bound is not None else []
    return bounds


def _bound(
    node: Expr, comparison: Primitive, position: int | None, right: Expr, ahead: bool, ranges: Ranges
) -> ConditionBound | None:
    condition, count = node.params["condition"], node.params["state"]
    if position is None or position >= count:
        return None
    by = step(node, position)
    outer = dict(zip(condition.parameters[count:], node.operands[count:], strict=True))
    around = {parameter: range_ for parameter, one in outer.items() if (range_ := _interval(one, ranges)) is not None}
    first, last = _interval(node.operands[position], ranges), _interval(right, around)
    other = next((k for k in range(count) if condition.parameters[k] is right), None)
    if other is not None and by is not None and first is not None:
        # Two counters: what is between them changes by the difference of their steps.
        further, begin = step(node, other), _interval(node.operands[other], ranges)
        if further is None or begin is None:
            return None
        first, last, by = (first[0] - begin[1], first[1] - begin[0]), (0, 0), by - further
    if not by or first is None or last is None:
        return None
    exact = first[0] == first[1] and last[0] == last[1]
    if comparison is p.not_equal:
        trip_count, rest = divmod(last[0] - first[0], by)
        return ConditionBound(trip_count, position, True) if exact and not rest and trip_count >= 0 else None
    rising, reaches = _ORDER[comparison]
    if (by > 0) is not (rising is ahead):
        return None
    distance = (last[1] - first[0] if by > 0 else first[1] - last[0]) + reaches
    return ConditionBound(max(0, ceil_div(distance, abs(by))), position, exact)


def _interval(node: Expr, ranges: Ranges) -> Interval | None:
    """The bounds of an integer."""
    intervals_of: dict[Expr, Interval | None] = dict(ranges)
    if node.shape or not node.type.is_integer:
        return None
    for one in post_order([node]):
        if one not in intervals_of:
            plain = type(one.spec) is not tuple and one.type.is_integer
            intervals_of[one] = _of_node(one, intervals_of.__getitem__, ranges) if plain else None
    return intervals_of[node]


def _of_node(node: Expr, interval_of: Callable[[Expr], Interval | None], ranges: Ranges) -> Interval | None:
    if node.primitive is not p.elem or node.operands[0].primitive is not p.while_:
        return intervals.of_node(node, interval_of)
    # A counter, once its loop has ended.
    loop, position = node.operands[0], node.params["index"]
    by, trip_count, first = (
        iteration_step(loop.params["body"], position),
        exactly(loop, ranges),
        interval_of(loop.operands[position]),
    )
    if None in (by, trip_count, first):
        return None
    return first[0] + by * trip_count, first[1] + by * trip_count


def total(node: Expr, results: Sequence[Expr], ranges: Ranges) -> Expr:
    """The number of iterations of a loop, given its results.

    Parameters
    ----------
    node : Expr
    results : sequence of Expr
        Those of the loop; where they are followed by others, the last one counts turns from zero.
    ranges : mapping
    """
    trip_count = exactly(node, ranges)
    if trip_count is not None:
        return index(trip_count)
    count = node.params["state"]
    if len(results) > count:
        return results[-1]
    position = counter(node)
    return counted(node, position, results[position])
