"""The backward pass: from the cotangents of a graph's outputs to those of its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nxkernel import primitives as p
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.graph.intervals import Interval
from nxkernel.graph.traverse import post_order
from nxkernel.transforms.adjoints.rule_table import CONSTANT, RULES, AdjointSite, Gain, Rule, refusal, zeros
from nxkernel.transforms.adjoints.shared_padding import merged, plus


def reached(outputs: Iterable[Expr], inputs: Iterable[Expr], ends: Iterable[Expr] = ()) -> set[Expr]:
    """The inputs, and all nodes through which a gradient can flow to them; behind `ends` there are none."""
    affected = set(inputs)
    for node in post_order(outputs, [*affected, *ends]):
        if node.primitive not in CONSTANT and any(operand in affected for operand in node.operands):
            affected.add(node)
    return affected


def pullback(
    outputs: Sequence[Expr],
    cotangents: Sequence[Expr | None],
    inputs: Sequence[Expr],
    first: Sequence[Expr | None] = (),
    ranges: Mapping[Expr, Interval] | None = None,
    ends: Sequence[Expr] = (),
) -> tuple[list[Expr], dict[Expr, Expr]]:
    """The vector-Jacobian product: cotangents of the inputs for cotangents of the outputs, recorded in the active
    trace.

    Parameters
    ----------
    outputs, inputs : sequence of Expr
    cotangents : sequence of (Expr or None)
        Without names, in the types of gradients; None for zero.
    first : sequence of (Expr or None), optional
        What inputs have gained already.
    ranges : mapping, optional
        Between which values parameters of graphs lie that are whole numbers.
    ends : sequence of Expr, optional
        Nodes that are computed from no input, behind which nothing is looked for.

    Returns
    -------
    list of Expr
        One for each input.
    dict
        Results of loops, each with that of a loop which gives the same and keeps what going back needs.

    Raises
    ------
    NxTypeError
        Where something on the way has no gradient.
    """
    backward_pass = _BackwardPass(outputs, inputs, ranges or {}, ends)
    with tracing.for_gradients():
        for output, cotangent in zip(outputs, cotangents, strict=True):
            backward_pass.gain(output, cotangent)
        for node, value in zip(inputs, first or [None] * len(inputs), strict=True):
            backward_pass.gain(node, value)
        backward_pass.back()
        return [
            backward_pass.sum(node) if backward_pass.has(node) else zeros(node.spec) for node in inputs
        ], backward_pass.replacing


class _BackwardPass:
    def __init__(
        self, outputs: Sequence[Expr], inputs: Sequence[Expr], ranges: Mapping[Expr, Interval], ends: Sequence[Expr]
    ) -> None:
        self.ranges = ranges
        self.order = post_order(outputs, [*inputs, *ends])
        self.inputs = set(inputs)
        self.reached = reached(outputs, inputs, ends)
        self.gained: dict[Expr, list[Gain]] = {}
        self.parts: dict[Expr, dict[int, Expr]] = {}
        self.replacing: dict[Expr, Expr] = {}
        for node in self.order:
            if node.primitive is p.elem:
                self.parts.setdefault(node.operands[0], {})[node.params["index"]] = node

    def gain(self, node: Expr, value: Gain) -> None:
        """Add to the cotangent of a node."""
        if value is not None and node in self.reached:
            self.gained.setdefault(node, []).append(value)

    def has(self, node: Expr) -> bool:
        """Whether a node has a cotangent."""
        return node in self.gained

    def sum(self, node: Expr) -> Expr:
        """The cotangent of a node: the sum of all contributions."""
        gains = self.gained[node]
        if len(gains) == 1 and isinstance(gains[0], Expr):
            return gains[0]
        total: Expr | None = None
        for gain in merged(gains):
            if isinstance(gain, Expr):
                total = gain if total is None else plus(total, gain)
        empty = total is None
        total = zeros(node.spec) if empty else total
        for gain in gains:
            if not isinstance(gain, Expr):
                total, empty = gain.onto(total, empty), False
        self.gained[node] = [total]
        return total

    def back(self) -> None:
        """Go through the nodes in reverse order and apply their gradient rules."""
        for node in reversed(self.order):
            if node in self.inputs or node not in self.reached or node.primitive is p.elem:
                continue
            several = type(node.spec) is tuple
            own = [self.parts.get(node, {}).get(k) for k in range(len(node.spec))] if several else [node]
            cotangents = [self.sum(one) if one is not None and self.has(one) else None for one in own]
            if all(cotangent is None for cotangent in cotangents):
                continue
            wanted = [operand in self.reached for operand in node.operands]
            with tracing.on_behalf(node.source), tracing.for_gradients():
                site = AdjointSite(node, cotangents, wanted, own, self.replacing, self.ranges)
                for operand, gain, flag in zip(node.operands, rule_of(node)(site), wanted, strict=True):
                    if flag:
                        self.gain(operand, gain)


def rule_of(node: Expr) -> Rule:
    """The gradient rule of a node.

    Raises
    ------
    NxTypeError
        If it has none.
    """
    rule = RULES.get(node.primitive)
    if rule is None:
        raise refusal(node)
    return rule
