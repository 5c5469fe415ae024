"""The table of tangent rules, and the node with the tangents of its operands that a rule is given.

A rule takes the change of each operand and gives that of the result. A primitive without a rule has the transposed
gradient rule (:mod:`~nxkernel.transforms.tangents.transposition`). Complex numbers follow the convention of
:mod:`nxkernel.transforms.adjoints.rule_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.graph.intervals import Interval
from nxkernel.primitives import Primitive
from nxkernel.transforms.adjoints.rule_table import AdjointSite, bare, plain, zeros


class TangentSite:
    """A node whose tangent rule is applied, with the tangents of its operands.

    Parameters
    ----------
    node : Expr
    tangents : sequence of (Expr or None)
        One for each operand, without names, in the types of gradients; None for zero. One at least is not None.
    ranges : mapping
        Between which values parameters of the graphs around lie that are whole numbers.
    asked : collection of int, optional
        Of several results those whose tangents are asked for.
    """

    def __init__(
        self,
        node: Expr,
        tangents: Sequence[Expr | None],
        ranges: Mapping[Expr, Interval],
        asked: Collection[int] = (),
    ) -> None:
        self.node, self.tangents, self.ranges, self.asked = node, tangents, ranges, asked

    @property
    def params(self) -> dict[str, Any]:
        """The static parameters of the primitive."""
        return self.node.params

    @property
    def y(self) -> Expr:
        """The result of the node, as :meth:`x` gives operands."""
        return plain(self.node)

    def x(self, position: int) -> Expr:
        """Operand `position` without axis names, in the type that tangents are computed in."""
        return plain(self.node.operands[position])

    def bare(self, position: int) -> Expr:
        """Operand `position` without axis names, in its own type."""
        return bare(self.node.operands[position])

    @property
    def parts(self) -> list[Expr]:
        """The results of a node that has several."""
        return [tracing.current().result(self.node, number) for number in range(len(self.node.spec))]

    def some(self, position: int) -> Expr:
        """The tangent of operand `position`, zeros where it does not change."""
        tangent = self.tangents[position]
        return zeros(self.node.operands[position].spec) if tangent is None else tangent

    def adjoint(
        self, cotangents: Sequence[Expr | None], wanted: Sequence[bool], replacing: dict[Expr, Expr]
    ) -> AdjointSite:
        """What the gradient rule of the node is given for cotangents of its results."""
        several = type(self.node.spec) is tuple
        results = [None] * len(self.node.spec) if several else [self.node]
        return AdjointSite(self.node, cotangents, wanted, results, replacing, self.ranges)


#: Gives the tangent of the result; of several results, one for each.
Rule = Callable[[TangentSite], "Expr | Sequence[Expr | None] | None"]
RULES: dict[Primitive, Rule] = {}

#: Gives the results and the tangents, computed together, such as by one loop.
JointRule = Callable[[TangentSite], "tuple[Sequence[Expr], Sequence[Expr | None]]"]
JOINT: dict[Primitive, JointRule] = {}


def rule(*primitives: Primitive) -> Callable[[Rule], Rule]:
    """Register a function as the tangent rule of primitives."""

    def add(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(primitives, function))
        return function

    return add


def joint_rule(primitive: Primitive) -> Callable[[JointRule], JointRule]:
    """Register a function as the rule of a primitive that gives results and tangents together."""

    def add(function: JointRule) -> JointRule:
        JOINT[primitive] = function
        return function

    return add
