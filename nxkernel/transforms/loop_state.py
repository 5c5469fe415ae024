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
    """What stands for the results of a loop that are used: parts of one that carries less, or what they were before it.

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
    same = _first_alike([(place < count, id(operand)) for place, operand in enumerate(operands)])
    while same != before:
        # Alike before an iteration: are they after it?
        after = _of_merged(body, same, simplified)
        told = [(first, id(after[place]) if place < count else None) for place, first in enumerate(same)]
        same, before = _first_alike(told), same
    asked = _of_merged(condition, same, simplified)
    kept_as_is = {place for place in range(count) if after[place] is body.parameters[same[place]]}
    fixed = {place for place in kept_as_is if same[place] == place}
    kept = _asked_for({same[place] for place in used} - fixed, asked, after, condition, body, fixed)
    state = [place for place in kept if place < count and place not in fixed]
    outside = [place for place in kept if place not in state]
    if len(kept) == len(operands) and len(state) == count:
        return dict(enumerate(_parts(node)))
    parts: list[Expr] = []
    if state:
        order = [*state, *outside]
        params = {
            "condition": _graph(condition, asked, order, simplified),
            "body": _graph(body, [after[place] for place in state], order, simplified),
            "state": len(state),
        }
        parts = _parts(_node(node, [operands[place] for place in order], params, state))
    return {place: operands[same[place]] if same[place] in fixed else parts[state.index(same[place])] for place in used}


def choice(node: Expr, used: Collection[int], simplified: Simplified) -> dict[int, Expr]:
    """What stands for the results of a branch that are used; the parameters are those of :func:`loop`."""
    predicate, *given = node.operands
    sides, same = _graphs(node, "then", "otherwise"), _first_alike(list(map(id, given)))
    found = [_of_merged(side, same, simplified) for side in sides]
    results: dict[int, Expr] = {}
    first: dict[tuple[int, ...], int] = {}
    for place in sorted(used):
        ways = [one[place] for one in found]
        through = [_place(side, way) for side, way in zip(sides, ways, strict=True)]
        if through[0] is not None and through[0] == through[1]:
            results[place] = given[through[0]]
        else:
            first.setdefault(tuple(map(id, ways)), place)
    wanted = list(first.values())
    outputs = [[one[place] for place in wanted] for one in found]
    order = sorted({place for side, one in zip(sides, outputs, strict=True) for place in _needed(one, side)})
    if len(wanted) == len(node.spec) and len(order) == len(given):
        return dict(enumerate(_parts(node)))
    if wanted:
        then, otherwise = (_graph(side, one, order, simplified) for side, one in zip(sides, outputs, strict=True))
        params = {"then": then, "otherwise": otherwise}
        parts = _parts(_node(node, [predicate, *[given[place] for place in order]], params, wanted))
        results |= {
            place: parts[wanted.index(first[tuple(id(one[place]) for one in found)])]
            for place in used
            if place not in results
        }
    return results


def _graphs(node: Expr, *names: str) -> list[Graph]:
    return [node.params[name] for name in names]


def _node(old: Expr, operands: Sequence[Expr], params: dict[str, Any], results: Sequence[int]) -> Expr:
    return Expr(old.primitive, tuple(operands), params, tuple([old.spec[place] for place in results]), old.source)


def _first_alike(keys: Sequence[Any]) -> list[int]:
    """For each place the first one with an equal key."""
    first: dict[Any, int] = {}
    return [first.setdefault(key, place) for place, key in enumerate(keys)]


def _of_merged(graph: Graph, same: Sequence[int], simplified: Simplified) -> Sequence[Expr]:
    """What a graph gives where parameters are the same as earlier ones."""
    pairs = enumerate(zip(graph.parameters, same, strict=True))
    merged = {id(old): graph.parameters[first] for place, (old, first) in pairs if first != place}
    return simplified(graph.outputs, merged) if merged else graph.outputs


def _needed(outputs: Iterable[Expr], graph: Graph) -> list[int]:
    """The parameters that outputs are computed from, by their places."""
    reached = {id(node) for node in post_order(outputs) if node.primitive is p.parameter}
    return [place for place, one in enumerate(graph.parameters) if id(one) in reached]


def _asked_for(
    first: Iterable[int],
    asked: Sequence[Expr],
    after: Sequence[Expr],
    condition: Graph,
    body: Graph,
    constant: Collection[int],
) -> list[int]:
    """The operands that some results of a loop need, in their order."""
    found: set[int] = set()
    waiting = [*first, *_needed(asked, condition)]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            if place < len(after) and place not in constant:
                waiting += _needed([after[place]], body)
    return sorted(found)


def _place(graph: Graph, output: Expr) -> int | None:
    """Which parameter an output is."""
    return next((place for place, one in enumerate(graph.parameters) if one is output), None)


def _graph(graph: Graph, outputs: Sequence[Expr], order: Sequence[int], simplified: Simplified) -> Graph:
    """A graph of some of the parameters."""
    new = {}
    for number, place in enumerate(order):
        old = graph.parameters[place]
        new[id(old)] = parameter(number, old.params["name"], old.spec)
    return Graph(graph.name, list(new.values()), simplified(outputs, new), list)


def _parts(whole: Expr) -> list[Expr]:
    return [Expr(p.elem, (whole,), {"index": place}, spec, whole.source) for place, spec in enumerate(whole.spec)]
