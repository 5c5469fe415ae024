"""Tangents of element-wise primitives: their Jacobian is diagonal, so that a gradient rule takes tangents, too."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, convert
from nxkernel.transforms.adjoints import rule_table
from nxkernel.transforms.adjoints.rule_table import tangent_type
from nxkernel.transforms.adjoints.rules.elementwise import DERIVATIVES, DIVISORS
from nxkernel.transforms.tangents.rule_table import TangentSite, rule


@rule(
    p.add, p.subtract, p.multiply, p.power, p.remainder, p.atan2, p.maximum, p.minimum, p.negate, p.rsqrt,
    *DERIVATIVES, *DIVISORS,
)  # fmt: skip
def _diagonal(at: TangentSite) -> Expr | None:
    """What each operand would gain of its own tangent, together."""
    total: Expr | None = None
    for position, tangent in enumerate(at.tangents):
        if tangent is None:
            continue
        wanted = [other == position for other in range(len(at.tangents))]
        change = rule_table.RULES[at.node.primitive](at.adjoint([tangent], wanted, {}))[position]
        if change is not None:
            total = change if total is None else total + change
    return total


@rule(p.divide)
def _divide(at: TangentSite) -> Expr:
    numerator, denominator = at.tangents
    if denominator is None:
        return at.some(0) / at.x(1)
    change = denominator * at.y
    return (-change if numerator is None else numerator - change) / at.x(1)


@rule(p.select)
def _select(at: TangentSite) -> Expr | None:
    if at.tangents[1] is None and at.tangents[2] is None:
        return None
    return apply(p.select, at.bare(0), at.some(1), at.some(2))


@rule(p.as_type)
def _as_type(at: TangentSite) -> Expr | None:
    before, after, tangent = at.node.operands[0].type, at.node.type, at.some(0)
    if not (after.is_float or after.is_complex) and (before.is_float or before.is_complex):
        return None
    if tangent.type.is_complex and not after.is_complex:
        tangent = apply(p.real, tangent)
    return convert(tangent, tangent_type(after))


@rule(p.make_complex)
def _complex(at: TangentSite) -> Expr:
    return apply(p.make_complex, at.some(0), at.some(1))


@rule(p.conjugate, p.real, p.imag)
def _part(at: TangentSite) -> Expr | None:
    if at.node.operands[0].type.is_complex:
        return apply(at.node.primitive, at.some(0))
    return None if at.node.primitive is p.imag else at.some(0)
