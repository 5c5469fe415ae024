"""Host numbers: scalars that the host knows without reading the device, such as counters and what is computed from
them.

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
    """Whether a value is a number that the host knows.

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
    """Whether a scalar of the program is computed from known numbers only.

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
    """The positions of the values that are known numbers."""
    return {position for position, operand in enumerate(operands) if is_known(plan, operand, known)}
