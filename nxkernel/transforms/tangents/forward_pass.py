"""The forward pass: from the tangents of a graph's inputs to those of its outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from nxkernel import primitives as p
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.graph.intervals import Interval
from nxkernel.graph.traverse import post_order
from nxkernel.transforms.adjoints.rule_table import CONSTANT
from nxkernel.transforms.tangents.rule_table import JOINT, RULES, TangentSite
from nxkernel.transforms.tangents.transposition import transposed

#: A node's value: itself, a node in its place, or those of its results.
NodeValue = Expr | Sequence[Expr]


def pushforward(
    outputs: Sequence[Expr],
    tangents: Mapping[Expr, Expr],
    values: Mapping[Expr, Expr] | None = None,
    ranges: Mapping[Expr, Interval] | None = None,
) -> tuple[list[Expr | None], list[Expr], dict[Expr, NodeValue]]:
    """The Jacobian-vector product: tangents of the outputs for tangents of the inputs, recorded in the active trace.

    Parameters
    ----------
    outputs : sequence of Expr
    tangents : mapping
        Of each input, without names, in the types of gradients.
    values : mapping, optional
        For nodes what is to stand in their place, such as parameters of another graph.
    ranges : mapping, optional
        Between which values parameters of graphs lie that are whole numbers.

    Returns
    -------
    tangents : list of (Expr or None)
        One for each output, without names; None for zero.
    values : list of Expr
        The outputs, computed together with the tangents: loops run once.
    replaced : dict
        All nodes in whose place there is another one, or several results.

    Raises
    ------
    NxTypeError
        Where something on the way has no gradient.
    """
    forward_pass = _ForwardPass(tangents, values or {}, ranges or {})
    with tracing.for_gradients():
        forward_pass.forward(outputs)
    replaced = {node: value for node, value in forward_pass.values.items() if value is not node}
    return (
        [forward_pass.tangents.get(output) for output in outputs],
        [forward_pass.values[output] for output in outputs],
        replaced,
    )


def _needed(outputs: Sequence[Expr], order: Sequence[Expr]) -> set[Expr]:
    """The nodes of which outputs have their tangents; `order` has operands first."""
    needed = set(outputs)
    for node in reversed(order):
        if node in needed:
            needed.update(_changing(node))
    return {node for node in needed if node.primitive not in CONSTANT}


def _changing(node: Expr) -> Sequence[Expr]:
    """The operands whose tangents that of a node is computed from."""
    if node.primitive in CONSTANT:
        return ()
    if node.primitive not in p.WITH_DERIVATIVES:
        return node.operands
    count = node.params["results"]
    return node.operands[count:] if node.params.get("declared", True) else node.operands[:count]


class _ForwardPass:
    def __init__(
        self, tangents: Mapping[Expr, Expr], values: Mapping[Expr, Expr], ranges: Mapping[Expr, Interval]
    ) -> None:
        self.ranges = ranges
        #: Of nodes that change; of those with several results, a list.
        self.tangents: dict[Expr, Expr | Sequence[Expr | None]] = dict(tangents)
        self.values: dict[Expr, NodeValue] = {**{node: node for node in tangents}, **values}

    def forward(self, outputs: Sequence[Expr]) -> None:
        """Go through the nodes in order and apply their tangent rules."""
        order, asked = post_order(outputs, self.values), defaultdict(set)
        needed = _needed(outputs, order)
        for node in order:
            if node.primitive is p.elem:
                asked[node.operands[0]].add(node.params["index"])
        for node in order:
            if node in self.values:
                continue
            if node.primitive is p.elem:
                self._part(node)
                continue
            operands = tuple([self.values[operand] for operand in node.operands])
            moved = any(one is not other for one, other in zip(operands, node.operands, strict=True))
            tangents = [self.tangents.get(operand) for operand in node.operands]
            changes = node in needed and any(tangent is not None for tangent in tangents)
            if not changes and not moved:
                self.values[node] = node
                continue
            with tracing.on_behalf(node.source):
                joint = JOINT.get(node.primitive) if changes else None
                if joint is not None:
                    node_ = Expr(node.primitive, operands, node.params, node.spec, node.source) if moved else node
                    with tracing.for_gradients():
                        self._set(node, *joint(TangentSite(node_, tangents, self.ranges)))
                    continue
                value = tracing.current().record(node.primitive, operands, node.params) if moved else node
                self.values[node] = value
                if changes:
                    with tracing.for_gradients():
                        own = value[0].operands[0] if isinstance(value, tuple) else value
                        self._add(node, TangentSite(own, tangents, self.ranges, asked[node]))

    def _part(self, node: Expr) -> None:
        whole, index = node.operands[0], node.params["index"]
        value, tangents = self.values[whole], self.tangents.get(whole)
        self.values[node] = node if value is whole else value[index]
        if tangents is not None and tangents[index] is not None:
            self.tangents[node] = tangents[index]

    def _add(self, node: Expr, site: TangentSite) -> None:
        rule = RULES.get(node.primitive)
        if rule is None:
            found = transposed(site)
            self.tangents[node] = found if type(node.spec) is tuple else found[0]
            return
        tangent = rule(site)
        if tangent is not None:
            self.tangents[node] = tangent

    def _set(self, node: Expr, values: Sequence[Expr], tangents: Sequence[Expr | None]) -> None:
        several = type(node.spec) is tuple
        self.values[node] = tuple(values) if several else values[0]
        if several:
            self.tangents[node] = tangents
        elif tangents[0] is not None:
            self.tangents[node] = tangents[0]
