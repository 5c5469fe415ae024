"""Which loops and branches use only scalars and array elements, so that a single-thread kernel can run them."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.plan.loop_buffers import loop_buffers_of
from nxkernel.compilers.plan.program_plan import Control, ElementStore, ProgramPlan, ScalarStep

#: The most steps that become one kernel, loops and branches inside counted with theirs.
MOST = 256


def runs_on_one_thread(control: Control) -> bool:
    """Whether a loop or branch consists of single numbers and elements, and arrays stay where they are in it.

    Parameters
    ----------
    control : Control
    """
    return _stays(control, outermost=True) and sum(map(_steps, control.parts)) <= MOST


def _steps(plan: ProgramPlan) -> int:
    inner = [part for step in plan.steps if isinstance(step.work, Control) for part in step.work.parts]
    return len(plan.steps) + sum(map(_steps, inner))


def _stays(control: Control, outermost: bool = False) -> bool:
    node, shared = control.node, control.shared
    if not all(scalars.is_single(array) for part in control.parts for array in part.arrays):
        return False
    if node.primitive is p.while_:
        body = control.parts[1]
        for place in range(node.params["state"]):
            if scalars.is_single(node.operands[place]):
                continue
            if body.outputs[place] != ("input", place) or (shared[place] is None and not outermost):
                return False
    else:
        places = [place for place, spec in enumerate(node.spec) if not scalars.is_single(spec)]
        for place in places:
            away = any(part.outputs[place] != ("input", (shared[place] or 0) - 1) for part in control.parts)
            if shared[place] is None or away:
                return False
        if loop_buffers_of(node, control.results, control.parts, shared).copies:
            return False
    return all(map(_is_simple, control.parts))


def _is_simple(plan: ProgramPlan) -> bool:
    for step in plan.steps:
        work = step.work
        if isinstance(work, Control):
            if not _stays(work):
                return False
        elif not isinstance(work, ScalarStep | ElementStore) or work.node.primitive is p.njit:
            return False
    return True


def spreads(control: Control) -> bool:
    """Whether threads share the iterations of a loop that `runs_on_one_thread`."""
    found = control.independence
    if found is None:
        return False
    body = control.parts[1]
    # What turns leave behind of numbers is that of the last one, which is any thread's.
    return all(
        control.results[place] is None or place == found.counter or body.outputs[place] == ("input", place)
        for place in range(control.node.params["state"])
        if scalars.is_single(control.node.operands[place])
    )
