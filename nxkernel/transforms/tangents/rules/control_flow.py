"""Tangents of loops, branches and folds: the loop computes both, so that it needs no bound and keeps nothing."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.traverse import replayed
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms.adjoints import trip_counts
from nxkernel.transforms.adjoints.rule_table import bare, shaped, spread, zeros
from nxkernel.transforms.adjoints.rules.control_flow import active_operands, graph_of, twin
from nxkernel.transforms.adjoints.rules.user_reductions import loop
from nxkernel.transforms.recording_trace import RecordingTrace
from nxkernel.transforms.tangents.forward_pass import pushforward
from nxkernel.transforms.tangents.rule_table import TangentSite, joint_rule


@joint_rule(p.cond)
def _cond(at: TangentSite) -> tuple[Sequence[Expr], Sequence[Expr | None]]:
    predicate, *operands = at.node.operands
    ranges = trip_counts.chosen(at.node, at.ranges)
    given = [(position, tangent) for position, tangent in enumerate(at.tangents[1:]) if tangent is not None]
    sides = []
    for name in ("then", "otherwise"):
        side = at.params[name]
        with RecordingTrace():
            inside = [
                parameter(len(side.parameters) + k, "tangent", tangent.spec) for k, (_, tangent) in enumerate(given)
            ]
            known = {side.parameters[position]: one for (position, _), one in zip(given, inside, strict=True)}
            tangents, values, _ = pushforward(side.outputs, known, ranges=ranges)
        sides.append((side, inside, tangents, values))
    changing = [
        number
        for number in range(len(at.node.spec))
        if any(tangents[number] is not None for _, _, tangents, _ in sides)
    ]
    graphs = []
    for side, inside, tangents, values in sides:
        with RecordingTrace():
            more = [zeros(at.node.spec[k]) if tangents[k] is None else tangents[k] for k in changing]
        graphs.append(Graph(side.name, [*side.parameters, *inside], [*values, *more], list))
    results = apply(
        p.cond, predicate, *operands, *[tangent for _, tangent in given], then=graphs[0], otherwise=graphs[1]
    )
    return _parted(results, len(at.node.spec), changing)


@joint_rule(p.while_)
def _while(at: TangentSite) -> tuple[Sequence[Expr], Sequence[Expr | None]]:
    node, count = at.node, at.params["state"]
    condition, body = at.params["condition"], at.params["body"]
    active = active_operands(node, [tangent is not None for tangent in at.tangents])
    state = [position for position in active if position < count]
    outside = [position for position in active if position >= count]
    first = [at.some(position) for position in state]
    around = [at.some(position) for position in outside]
    with RecordingTrace():
        new = [twin(old) for old in body.parameters]
        moving = [parameter(0, "tangent", tangent.spec) for tangent in first]
        still = [parameter(0, "tangent", tangent.spec) for tangent in around]
        of_body = dict(zip(body.parameters, new, strict=True))
        known = {body.parameters[k]: one for k, one in zip([*state, *outside], [*moving, *still], strict=True)}
        ranges = trip_counts.inside(node, at.ranges)
        ranges |= {of_body[old]: range_ for old, range_ in ranges.items() if old in of_body}
        tangents, values, _ = pushforward(body.outputs, known, of_body, ranges)
        changes = [zeros(node.spec[k]) if tangents[k] is None else tangents[k] for k in state]
        repeated = graph_of(body.name, [*new[:count], *moving, *new[count:], *still], [*values, *changes])
        asked = [twin(old) for old in repeated.parameters]
        seen = [*asked[:count], *asked[count + len(moving) : len(asked) - len(still)]]
        asks = replayed(condition.outputs, dict(zip(condition.parameters, seen, strict=True)))
        goes_on = graph_of(condition.name, asked, asks)
    results = apply(
        p.while_,
        *node.operands[:count],
        *first,
        *node.operands[count:],
        *around,
        condition=goes_on,
        body=repeated,
        state=count + len(first),
    )
    return _parted(results, count, state)


def _parted(
    results: Sequence[Expr], count: int, changing: Sequence[int]
) -> tuple[Sequence[Expr], Sequence[Expr | None]]:
    """The first results, and the others as tangents of some of these."""
    tangents: list[Expr | None] = [None] * count
    for position, tangent in zip(changing, results[count:], strict=True):
        tangents[position] = tangent
    return results[:count], tangents


@joint_rule(p.reduce)
def _fold(at: TangentSite) -> tuple[Sequence[Expr], Sequence[Expr | None]]:
    node = at.node
    if not shapes.size(node.operands[0].shape):
        return [apply(p.reduce, *node.operands, **node.params)], [spread(at.some(1), node.shape, ())]
    # The loop has operands of its own, so that one which is taken twice changes in both places.
    own = [apply(p.reshape, one, shape=one.shape, names=bare(one).names) for one in node.operands]
    result = loop(own[0], own[1], own[2:], at.params["axes"], at.params["body"])
    known = {one: tangent for one, tangent in zip(own, at.tangents, strict=True) if tangent is not None}
    (tangent,), (value,), _ = pushforward([result], known, ranges=at.ranges)
    value = apply(p.reshape, value, shape=node.shape, names=node.names)
    return [value], [None if tangent is None else shaped(tangent, node.shape)]
