"""Range analysis of integers: intervals of scalar values, so that indices known to be in bounds are not clamped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.analysis import scalars
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.intervals import RULES, Interval, iteration_step, of_node

#: More than any integer.
UNKNOWN = 1 << 65


def intervals(order: Iterable[Expr], ranges: Mapping[Expr, Interval]) -> dict[Expr, Interval]:
    """The value interval of each single integer among the nodes; those of which nothing is known are left out.

    Parameters
    ----------
    order : iterable of Expr
        Operands first.
    ranges : mapping
        Of parameters.
    """
    result: dict[Expr, Interval] = dict(ranges)
    for node in order:
        if node in result or not scalars.is_single(node) or not node.type.is_integer:
            continue
        interval = of_node(node, result.get)
        if interval is not None:
            result[node] = interval
    return result


_BY_NAME = {primitive.name: rule for primitive, rule in RULES.items()}


def rule(name: str) -> Callable[..., Interval | None] | None:
    """Register how the interval of a primitive's result follows from those of its operands; None where nothing is
    known.
    """
    return _BY_NAME.get(name)


def of_parts(node: Expr, ranges: Mapping[Expr, Interval]) -> list[dict[Expr, Interval]]:
    """For each graph of a loop or branch, the intervals of its parameters.

    Parameters
    ----------
    node : Expr
    ranges : mapping
        The intervals of its operands.
    """
    if node.primitive is p.cond:
        return [_passed(node.params[side], node.operands[1:], ranges) for side in ("then", "otherwise")]
    condition, body, count = node.params["condition"], node.params["body"], node.params["state"]
    asked = _passed(condition, node.operands, ranges, start=count)
    turned = _passed(body, node.operands, ranges, start=count)
    limits = _limits(condition, asked)
    for position in range(count):
        first = ranges.get(node.operands[position])
        by = iteration_step(body, position)
        if first is None or by is None:
            continue
        low, high = types.limits(node.operands[position].type)
        if by == 0:
            turned[body.parameters[position]] = asked[condition.parameters[position]] = first
            continue
        least, most = limits.get(position, (low, high))
        inside = (first[0], most) if by > 0 else (least, first[1])
        if inside[0] <= inside[1] and (most if by > 0 else least) not in (low, high):
            turned[body.parameters[position]] = inside
    return [asked, turned]


def _passed(
    graph: Graph, operands: Sequence[Expr], ranges: Mapping[Expr, Interval], start: int = 0
) -> dict[Expr, Interval]:
    pairs = zip(graph.parameters[start:], operands[start:], strict=True)
    return {parameter: ranges[operand] for parameter, operand in pairs if operand in ranges}


def _limits(condition: Graph, ranges: Mapping[Expr, Interval]) -> dict[int, Interval]:
    """The intervals that a loop's condition, where it holds, implies for parts of the state."""
    positions = {parameter: position for position, parameter in enumerate(condition.parameters)}
    limits: dict[int, Interval] = {}
    todo = list(condition.outputs)
    while todo:
        node = todo.pop()
        if node.primitive is p.logical_and:
            todo += node.operands
        elif node.primitive in _ORDER:
            left, right = node.operands
            up, strict = _ORDER[node.primitive]
            for one, other, below in ((left, right, up), (right, left, not up)):
                bound = intervals([other], ranges).get(other)
                if one not in positions or bound is None:
                    continue
                low, high = limits.get(positions[one], types.limits(one.type))
                limits[positions[one]] = (
                    (low, min(high, bound[1] - strict)) if below else (max(low, bound[0] + strict), high)
                )
    return limits


#: Whether what is on the left is the smaller one, and whether the two differ.
_ORDER = {p.less: (True, 1), p.less_equal: (True, 0), p.greater: (False, 1), p.greater_equal: (False, 0)}
