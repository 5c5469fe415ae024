"""Scalars of a program that the host knows without reading the device: counters, and what follows from them.

They are computed on the host while the device works, so that loops which count wait for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.program_plan import ProgramPlan
from nxkernel.graph.expr import Expr


def is_known(plan: ProgramPlan, node: Expr, known: Collection[Location]) -> bool:
    """Whether a value is a known number.

    Parameters
    ----------
    plan : ProgramPlan
    node : Expr
    known : collection of Location
        Where known numbers are.
    """
    if not scalars.is_single(node):
        return False
    return node.primitive is p.constant or plan.place.get(node) in known


def follows(plan: ProgramPlan, node: Expr, known: Collection[Location]) -> bool:
    """Whether a number that the program computes by itself follows from known ones.

    Parameters
    ----------
    plan : ProgramPlan
    node : Expr
        Of a :class:`~nxkernel.compilers.plan.program_plan.ScalarStep`.
    known : collection of Location
    """
    if node.primitive is p.njit:
        return False
    if node.primitive.family == "elementwise":
        return all(is_known(plan, operand, known) for operand in node.operands)
    if node.primitive in (p.iota, p.constant):
        return True
    base = scalars.element_of(node).base
    return base.primitive is p.constant or is_known(plan, base, known)


def known_operands(operands: Iterable[Expr], plan: ProgramPlan, known: Collection[Location]) -> set[int]:
    """Which of some values are known numbers, by place."""
    return {place for place, operand in enumerate(operands) if is_known(plan, operand, known)}
