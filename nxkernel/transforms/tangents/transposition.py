"""Tangents by transposition: a gradient rule is linear in its cotangent, and its own gradient by that is the tangent.

A rule takes the cotangent of the result to ``transpose(j) g``, whose gradient along tangents ``t`` of the operands is
``j t``. What it costs is about what the gradient rule costs.
"""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.graph.traverse import replayed
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.primitives import Spec
from nxkernel.transforms.adjoints.backward_pass import pullback, rule_of
from nxkernel.transforms.adjoints.rule_table import tangent_spec, zeros
from nxkernel.transforms.tangents.rule_table import TangentSite


def placeholder(spec: Spec) -> Expr:
    """A node of zeros that is to be replaced by another one."""
    # Of another shape: rules that go by what a cotangent is made of see through a reshape that changes nothing.
    return apply(p.reshape, filled(0, spec.type, (1, *spec.shape)), shape=spec.shape, names=spec.names)


def transposed(at: TangentSite) -> list[Expr | None]:
    """The tangent of each result that is asked for, by the gradient rule of the primitive.

    Raises
    ------
    NxTypeError
        If the primitive has no gradient.
    """
    node = at.node
    several = type(node.spec) is tuple
    specs = {number: node.spec[number] for number in sorted(at.asked)} if several else {0: node.spec}
    units = {number: placeholder(tangent_spec(spec)) for number, spec in specs.items()}
    cotangents = [units.get(number) for number in range(len(node.spec) if several else 1)]
    wanted = [tangent is not None for tangent in at.tangents]
    gains, tangents = [], []
    for operand, gain, tangent in zip(
        node.operands, rule_of(node)(at.adjoint(cotangents, wanted, {})), at.tangents, strict=True
    ):
        if gain is not None and tangent is not None:
            gains.append(gain if isinstance(gain, Expr) else gain.onto(zeros(operand.spec), True))
            tangents.append(tangent)
    ends = [*node.operands, node]
    along, replacing = pullback(gains, tangents, list(units.values()), ranges=at.ranges, ends=ends)
    found = dict(zip(units, replayed(along, {}, replacing) if replacing else along, strict=True))
    return [found.get(number) for number in range(len(cotangents))]
