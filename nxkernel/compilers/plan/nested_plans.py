"""The plans inside a plan: those of its loops and branches, recursively."""

from __future__ import annotations

from nxkernel.compilers.plan.program_plan import Control, ProgramPlan
from nxkernel.graph.expr import Expr
from nxkernel.primitives import while_


def all_plans(plan: ProgramPlan) -> list[ProgramPlan]:
    """A plan and, recursively, the plans of its loops and branches."""
    inner = [part for step in plan.steps if isinstance(step.work, Control) for part in step.work.parts]
    return [plan, *(each for part in inner for each in all_plans(part))]


def open_loop(plan: ProgramPlan) -> Expr | None:
    """A loop whose number of iterations depends on computed values; None if there is none."""
    for part in all_plans(plan):
        for step in part.steps:
            if (
                isinstance(step.work, Control)
                and step.work.node.primitive is while_
                and step.work.max_iterations is None
            ):
                return step.work.node
    return None
