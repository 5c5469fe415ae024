"""Simplifying the carried values of loops and branches: unused, invariant and duplicate ones are removed.

Gradients of gradients keep values of iterations that another gradient keeps already, and count turns beside the counter
that is there; both are found by their values, from turn to turn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.traverse import post_order

#: Gives what outputs become, for what some nodes are to become.
Simplified = Callable[[Sequence[Expr], Mapping[int, Expr]], list[Expr]]


def loop(node: Expr, used: Collection[int], simplified: Simplified) -> dict[int, Expr]:
    """Replacements for the used results of a loop, from a loop that carries less or from the values before it.

    Parameters
    ----------
    node : Expr
        With simplified graphs.
    used : collection of int
        Which of its results somebody asks for.
    simplified : callable
    """
    condition, body, count, operands = *_graphs(node, "condition", "body"), node.params["state"], node.operands
    before: list[int] = []
    same = _first_alike([(position < count, id(operand)) for position, operand in enumerate(operands)])
    while same != before:
        # Alike before an iteration: are they after it?
        after = _of_merged(body, same, simplified)
        keys = [(first, id(after[position]) if position < count else None) for position, first in enumerate(same)]
        same, before = _first_alike(keys), same
    asked = _of_merged(condition, same, simplified)
    kept_as_is = {position for position in range(count) if after[position] is body.parameters[same[position]]}
    fixed = {position for position in kept_as_is if same[position] == position}
    kept = _needed_operands({same[position] for position in used} - fixed, asked, after, condition, body, fixed)
    state = [position for position in kept if position < count and position not in fixed]
    outside = [position for position in kept if position not in state]
    if len(kept) == len(operands) and len(state) == count:
        return dict(enumerate(_parts(node)))
    parts: list[Expr] = []
    if state:
        order = [*state, *outside]
        params = {
            "condition": _graph(condition, asked, order, simplified),
            "body": _graph(body, [after[position] for position in state], order, simplified),
            "state": len(state),
        }
        parts = _parts(_node(node, [operands[position] for position in order], params, state))
    return {
        position: operands[same[position]] if same[position] in fixed else parts[state.index(same[position])]
        for position in used
    }


def branch(node: Expr, used: Collection[int], simplified: Simplified) -> dict[int, Expr]:
    """Replacements for the used results of a branch; the parameters are those of :func:`loop`."""
    predicate, *operands = node.operands
    sides, same = _graphs(node, "then", "otherwise"), _first_alike(list(map(id, operands)))
    merged = [_of_merged(side, same, simplified) for side in sides]
    results: dict[int, Expr] = {}
    first: dict[tuple[int, ...], int] = {}
    for position in sorted(used):
        values = [one[position] for one in merged]
        through = [_parameter_position(side, value) for side, value in zip(sides, values, strict=True)]
        if through[0] is not None and through[0] == through[1]:
            results[position] = operands[through[0]]
        else:
            first.setdefault(tuple(map(id, values)), position)
    wanted = list(first.values())
    outputs = [[one[position] for position in wanted] for one in merged]
    order = sorted({position for side, one in zip(sides, outputs, strict=True) for position in _needed(one, side)})
    if len(wanted) == len(node.spec) and len(order) == len(operands):
        return dict(enumerate(_parts(node)))
    if wanted:
        then, otherwise = (_graph(side, one, order, simplified) for side, one in zip(sides, outputs, strict=True))
        params = {"then": then, "otherwise": otherwise}
        parts = _parts(_node(node, [predicate, *[operands[position] for position in order]], params, wanted))
        results |= {
            position: parts[wanted.index(first[tuple(id(one[position]) for one in merged)])]
            for position in used
            if position not in results
        }
    return results


def _graphs(node: Expr, *names: str) -> list[Graph]:
    return [node.params[name] for name in names]


def _node(old: Expr, operands: Sequence[Expr], params: dict[str, Any], results: Sequence[int]) -> Expr:
    return Expr(old.primitive, tuple(operands), params, tuple([old.spec[position] for position in results]), old.source)


def _first_alike(keys: Sequence[Any]) -> list[int]:
    """For each position the first one with an equal key."""
    first: dict[Any, int] = {}
    return [first.setdefault(key, position) for position, key in enumerate(keys)]


def _of_merged(graph: Graph, same: Sequence[int], simplified: Simplified) -> Sequence[Expr]:
    """The outputs of a graph in which parameters are replaced by equal earlier ones."""
    pairs = enumerate(zip(graph.parameters, same, strict=True))
    merged = {id(old): graph.parameters[first] for position, (old, first) in pairs if first != position}
    return simplified(graph.outputs, merged) if merged else graph.outputs


def _needed(outputs: Iterable[Expr], graph: Graph) -> list[int]:
    """The positions of the parameters that outputs depend on."""
    reached = {id(node) for node in post_order(outputs) if node.primitive is p.parameter}
    return [position for position, one in enumerate(graph.parameters) if id(one) in reached]


def _needed_operands(
    first: Iterable[int],
    asked: Sequence[Expr],
    after: Sequence[Expr],
    condition: Graph,
    body: Graph,
    constant: Collection[int],
) -> list[int]:
    """The operands that the asked results of a loop depend on, in order."""
    needed: set[int] = set()
    waiting = [*first, *_needed(asked, condition)]
    while waiting:
        position = waiting.pop()
        if position not in needed:
            needed.add(position)
            if position < len(after) and position not in constant:
                waiting += _needed([after[position]], body)
    return sorted(needed)


def _parameter_position(graph: Graph, output: Expr) -> int | None:
    """The position of the parameter that an output is; None if it is computed."""
    return next((position for position, one in enumerate(graph.parameters) if one is output), None)


def _graph(graph: Graph, outputs: Sequence[Expr], order: Sequence[int], simplified: Simplified) -> Graph:
    """A graph with a subset of the parameters."""
    new = {}
    for number, position in enumerate(order):
        old = graph.parameters[position]
        new[id(old)] = parameter(number, old.params["name"], old.spec)
    return Graph(graph.name, list(new.values()), simplified(outputs, new), list)


def _parts(node: Expr) -> list[Expr]:
    return [Expr(p.elem, (node,), {"index": position}, spec, node.source) for position, spec in enumerate(node.spec)]
