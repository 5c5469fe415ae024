"""Vectorizing loops and branches whose condition differs between entries.

* A branch by a condition that all entries share stays a branch. Where they differ, both sides are computed and each
  entry selects.
* A loop whose condition all entries share stays that loop. Where they differ, it runs as long as one entry goes on,
  and the others keep what they have.

A loop inside such a side or turn goes by the entries alone that are *active* there: it ends if their loops do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints import trip_counts
from nxkernel.transforms.vectorize_entries import EntryEvaluation, MappedValue, Rule, is_masked

# Branches -------------------------------------------------------------------------------------------------------------


def _cond(entries: EntryEvaluation, node: Expr, operands: list[MappedValue]) -> list[MappedValue] | None:
    if not _concerns(entries, operands):
        return None
    predicate, *arguments = operands
    sides = [node.params["then"], node.params["otherwise"]]
    entries = entries.with_ranges(trip_counts.chosen(node, entries.ranges))
    if predicate.mapped:
        return _both_sides(entries, predicate.node, sides, arguments)
    flags = [value.mapped for value in arguments]
    after = [any(pair) for pair in zip(*(mapped_outputs(side, flags) for side in sides), strict=True)]
    extra = _active(entries) if any(map(_asks_who_is_active, sides)) else []

    def finish(inside: EntryEvaluation, values: Sequence[MappedValue]) -> list[Expr]:
        return inside.brought(values, after)

    then, otherwise = (_part(entries, side, flags, extra, finish) for side in sides)
    results = apply(p.cond, *(value.node for value in operands), *extra, then=then, otherwise=otherwise)
    return [MappedValue(part, flag) for part, flag in zip(results, after, strict=True)]


def _both_sides(
    entries: EntryEvaluation, predicate: Expr, sides: Sequence[Graph], arguments: Sequence[MappedValue]
) -> list[MappedValue]:
    mask = _truth(predicate)
    masks = [mask, apply(p.logical_not, mask)]
    if entries.active is not None:
        masks = [apply(p.logical_and, entries.active, one) for one in masks]
    then, otherwise = (entries.where(one).outputs(side, arguments) for side, one in zip(sides, masks, strict=True))
    return [_chosen(entries, mask, *pair) for pair in zip(then, otherwise, strict=True)]


def _chosen(entries: EntryEvaluation, mask: Expr, then: MappedValue, otherwise: MappedValue) -> MappedValue:
    """For each entry, one of two values by a mask."""
    if then.node is otherwise.node:
        return then
    one, other = entries.over(then).node, entries.over(otherwise).node
    wide = mask
    if one.shape != mask.shape:
        wide = apply(p.broadcast, mask, shape=one.shape, axes=(0,), names=unnamed(one.shape))
    return MappedValue(apply(p.select, wide, one, other), True)


# Loops ---------------------------------------------------------------------------------------------------------------


def _while(entries: EntryEvaluation, node: Expr, operands: list[MappedValue]) -> list[MappedValue] | None:
    if not _concerns(entries, operands):
        return None
    condition, body, count = node.params["condition"], node.params["body"], node.params["state"]
    asked, flags = _settled(node, [operand.mapped for operand in operands])
    first = entries.brought(operands[:count], flags[:count])
    around = [value.node for value in operands[count:]]
    most, entries = (
        trip_counts.most(node, entries.ranges),
        entries.with_ranges(trip_counts.inside(node, entries.ranges)),
    )
    if asked:
        results = _until_all_are_done(entries, condition, body, flags, first, around, most)
    else:
        results = _together(entries, condition, body, flags, first, around)
    return [MappedValue(part, flag) for part, flag in zip(results, flags[:count], strict=False)]


def _together(
    entries: EntryEvaluation, condition: Graph, body: Graph, flags: list[bool], first: list[Expr], around: list[Expr]
) -> Sequence[Expr]:
    def ask(inside: EntryEvaluation, answer: Sequence[MappedValue]) -> list[Expr]:
        if inside.active is None:
            return [answer[0].node]
        # Where no entry is active, nobody knows whether the loop would end.
        return [apply(p.logical_and, _truth(answer[0].node), _any(inside.active))]

    def finish(inside: EntryEvaluation, after: Sequence[MappedValue]) -> list[Expr]:
        return inside.brought(after, flags[: len(first)])

    extra = _active(entries)
    asked, repeated = _part(entries, condition, flags, extra, ask), _part(entries, body, flags, extra, finish)
    return apply(p.while_, *first, *around, *extra, condition=asked, body=repeated, state=len(first))


def _until_all_are_done(
    entries: EntryEvaluation,
    condition: Graph,
    body: Graph,
    flags: list[bool],
    first: list[Expr],
    around: list[Expr],
    most: int | None,
) -> Sequence[Expr]:
    """A loop over all entries until none continues; its state also holds a mask of the active entries.

    Where it is known how often each can turn at most, another one counts turns: gradients ask for that.
    """
    count = len(first)

    def going(active: Expr | None, arguments: Sequence[MappedValue]) -> Expr:
        (answer,) = entries.where(active).outputs(condition, arguments)
        mask = _truth(entries.over(answer).node)
        return mask if active is None else apply(p.logical_and, active, mask)

    def inputs(graph: Graph) -> tuple[list[MappedValue], list[Expr], list[Expr]]:
        values = entries.parameters(graph, flags)
        own = [
            parameter(count, "going", begin.spec),
            *(parameter(count + 1, "turn", counter.spec) for counter in counters),
        ]
        nodes = [*(value.node for value in values[:count]), *own, *(value.node for value in values[count:])]
        for position, node in enumerate(nodes):
            node.params["index"] = position
        return values, own, nodes

    begin = going(entries.active, [MappedValue(*pair) for pair in zip([*first, *around], flags, strict=True)])
    counters = [] if most is None else [filled(0, types.s64, ())]
    _, (mask, *counter), nodes = inputs(condition)
    goes_on = _any(mask)
    for one in counter:
        goes_on = apply(p.logical_and, apply(p.less, one, filled(most, types.s64, ())), goes_on)
    asked = Graph(condition.name, nodes, [goes_on], list)
    before, (mask, *counter), nodes = inputs(body)
    after = entries.where(mask).outputs(body, before)
    kept = [_chosen(entries, mask, *pair) for pair in zip(after, before[:count], strict=True)]
    state = entries.brought(kept, flags[:count])
    held = [MappedValue(*pair) for pair in zip(state, flags[:count], strict=True)]
    next_counter = [apply(p.add, one, filled(1, types.s64, ())) for one in counter]
    repeated = Graph(body.name, nodes, [*state, going(mask, [*held, *before[count:]]), *next_counter], list)
    return apply(
        p.while_, *first, begin, *counters, *around, condition=asked, body=repeated, state=count + 1 + len(counters)
    )


# Derivatives of the user's -------------------------------------------------------------------------------------------


def _custom_grad(entries: EntryEvaluation, node: Expr, operands: list[MappedValue]) -> list[MappedValue] | None:
    if not any(operand.mapped for operand in operands):
        return None
    count, end = node.params["results"], node.params["results"] + node.params["inputs"]
    results = [entries.over(value) for value in operands[:count]]
    old, outside, extra = node.params["backward"], operands[end:], _active(entries)

    def finish(inside: EntryEvaluation, gains: Sequence[MappedValue]) -> list[Expr]:
        """Of an input that all entries share, what all of them give together."""
        sides = [inside.over(gain).node for gain in gains]
        return [
            side if value.mapped else apply(p.sum_, side, axes=(0,), keep_axes=False)
            for side, value in zip(sides, operands[count:end], strict=True)
        ]

    flags = [True] * count + [value.mapped for value in outside]
    backward = _part(entries, old, flags, extra, finish)
    arguments = [*results, *operands[count:]]
    params = node.params | {"backward": backward}
    outputs = apply(p.custom_grad, *(value.node for value in arguments), *extra, **params)
    return [MappedValue(part, True) for part in outputs]


def _custom_jvp(entries: EntryEvaluation, node: Expr, operands: list[MappedValue]) -> list[MappedValue] | None:
    if not any(operand.mapped for operand in operands):
        return None
    count, end = node.params["results"], node.params["results"] + node.params["inputs"]
    arguments = [*(entries.over(value) for value in operands[:count]), *operands[count:]]
    flags = [value.mapped for value in [*operands[count:end], *arguments]]
    forward = _part(entries, node.params["forward"], flags, _active(entries), _over)
    outputs = apply(
        p.custom_jvp, *(value.node for value in arguments), *_active(entries), **node.params | {"forward": forward}
    )
    return [MappedValue(part, True) for part in outputs]


def _linear_solve(entries: EntryEvaluation, node: Expr, operands: list[MappedValue]) -> list[MappedValue] | None:
    if not any(operand.mapped for operand in operands):
        return None
    count = node.params["results"]
    arguments = [*(entries.over(value) for value in operands[: 2 * count]), *operands[2 * count :]]
    flags = [value.mapped for value in arguments[count:]]
    graphs = {
        name: _part(entries, part, flags, _active(entries), _over)
        for name, part in node.params.items()
        if isinstance(part, Graph)
    }
    outputs = apply(p.linear_solve, *(value.node for value in arguments), *_active(entries), **node.params | graphs)
    return [MappedValue(part, True) for part in outputs]


def _over(inside: EntryEvaluation, values: Sequence[MappedValue]) -> list[Expr]:
    return [inside.over(value).node for value in values]


# What both have in common --------------------------------------------------------------------------------------------


def _concerns(entries: EntryEvaluation, operands: Sequence[MappedValue]) -> bool:
    return entries.active is not None or any(operand.mapped for operand in operands)


def _active(entries: EntryEvaluation) -> list[Expr]:
    return [] if entries.active is None else [entries.active]


def _part(
    entries: EntryEvaluation,
    old: Graph,
    flags: Sequence[bool],
    extra: Sequence[Expr],
    finish: Callable[[EntryEvaluation, Sequence[MappedValue]], list[Expr]],
) -> Graph:
    """The vectorized graph of a loop's or branch's part; the mask of active entries is one more operand if given."""
    values = entries.parameters(old, flags)
    more = [parameter(position, "active", node.spec) for position, node in enumerate(extra, len(values))]
    inside = entries.where(more[0] if more else None)
    nodes = finish(inside, inside.outputs(old, values))
    return Graph(old.name, [*(value.node for value in values), *more], nodes, list)


def mapped_outputs(graph: Graph, mapped: Sequence[bool]) -> list[bool]:
    """Which outputs of a graph differ between entries, given which parameters do."""
    mapped_of: dict[Expr, Any] = dict(zip(graph.parameters, mapped, strict=True))
    for node in post_order(graph.outputs):
        if node in mapped_of:
            continue
        operands = [mapped_of[operand] for operand in node.operands]
        if node.primitive is p.elem:
            mapped_of[node] = operands[0][node.params["index"]]
        elif node.primitive is p.while_:
            mapped_of[node] = _settled(node, operands)[1]
        elif node.primitive is p.cond:
            sides = [mapped_outputs(node.params[side], operands[1:]) for side in ("then", "otherwise")]
            mapped_of[node] = [operands[0] or any(pair) for pair in zip(*sides, strict=True)]
        else:
            mapped_of[node] = [any(operands)] * len(node.spec) if type(node.spec) is tuple else any(operands)
    return [mapped_of[output] for output in graph.outputs]


def _settled(node: Expr, mapped: Sequence[bool]) -> tuple[bool, list[bool]]:
    """Whether a loop's condition differs between entries, and which operands do in any iteration."""
    condition, body, flags = node.params["condition"], node.params["body"], list(mapped)
    while True:
        (asked,) = mapped_outputs(condition, flags)
        settled = True
        for position, after in enumerate(mapped_outputs(body, flags)):
            kept = body.outputs[position] is body.parameters[position]
            if not flags[position] and (after or (asked and not kept)):
                flags[position], settled = True, False
        if settled:
            return asked, flags


def _asks_who_is_active(graph: Graph) -> bool:
    """Whether a loop of a graph, or what it calls in the interpreter, goes by the entries that are active."""
    return any(
        node.primitive is p.while_
        or is_masked(node)
        or (node.primitive is p.cond and any(_asks_who_is_active(node.params[side]) for side in ("then", "otherwise")))
        for node in post_order(graph.outputs)
    )


def _any(mask: Expr) -> Expr:
    return apply(p.any_, mask, axes=(0,), keep_axes=False)


def _truth(predicate: Expr) -> Expr:
    """A predicate as a mask."""
    if predicate.type is types.bool_:
        return predicate
    return apply(p.not_equal, predicate, filled(0, predicate.type, predicate.shape))


#: What becomes of loops and branches.
RULES: dict[p.Primitive, Rule] = {
    p.cond: _cond, p.while_: _while, p.custom_grad: _custom_grad, p.custom_jvp: _custom_jvp,
    p.linear_solve: _linear_solve,
}  # fmt: skip
