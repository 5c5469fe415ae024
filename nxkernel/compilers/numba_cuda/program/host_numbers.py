"""Scalars of a program that the host knows without reading the device: counters, and what follows from them.

They are computed on the host while the device works, so that loops which count wait for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.numba_cuda.program import single_block_loops
from nxkernel.compilers.numba_cuda.program.scalar_loops import runs_on_one_thread
from nxkernel.compilers.plan.program_plan import Control, ProgramPlan, ScalarStep, Step
from nxkernel.graph.expr import Expr

#: Where a value of a plan is, as :class:`~nxkernel.compilers.plan.program_plan.ProgramPlan` says it.
Place = tuple[str, int]


def is_known(plan: ProgramPlan, node: Expr, known: Collection[Place]) -> bool:
    """Whether a value is a known number.

    Parameters
    ----------
    plan : ProgramPlan
    node : Expr
    known : collection of Place
        Where known numbers are.
    """
    if not scalars.is_single(node):
        return False
    return node.primitive is p.constant or plan.place.get(node) in known


def follows(plan: ProgramPlan, node: Expr, known: Collection[Place]) -> bool:
    """Whether a number that the program computes by itself follows from known ones.

    Parameters
    ----------
    plan : ProgramPlan
    node : Expr
        Of a :class:`~nxkernel.compilers.plan.program_plan.ScalarStep`.
    known : collection of Place
    """
    if node.primitive is p.njit:
        return False
    if node.primitive.family == "elementwise":
        return all(is_known(plan, operand, known) for operand in node.operands)
    if node.primitive in (p.iota, p.constant):
        return True
    base = scalars.element_of(node).base
    return base.primitive is p.constant or is_known(plan, base, known)


def known_after(plan: ProgramPlan, inputs: Iterable[int]) -> set[Place]:
    """Where known numbers are when all steps of a plan are done.

    Parameters
    ----------
    plan : ProgramPlan
    inputs : iterable of int
        The inputs that are known numbers.
    """
    found: set[Place] = {("input", place) for place in inputs}
    for step in plan.steps:
        _take(step, plan, found)
    return found


def _take(step: Step, plan: ProgramPlan, found: set[Place]) -> None:
    """Go on with what is known after a step."""
    work = step.work
    if isinstance(work, ScalarStep) and follows(plan, work.node, found):
        found.add(plan.place[work.node])
        return
    results = known_results(work, plan, found) if isinstance(work, Control) else ()
    found.difference_update(plan.place[node] for node in step.writes)
    for number, is_one in enumerate(results):
        result = work.results[number]
        if is_one and result is not None:
            found.add(plan.place[result])


def is_alone(control: Control, plan: ProgramPlan, known: Collection[Place]) -> bool:
    """Whether one kernel goes through a loop or branch; what then is known of it is known on the device.

    Parameters
    ----------
    control : Control
    plan : ProgramPlan
        Which it is a step of.
    known : collection of Place
        Where known numbers are before it.
    """
    chosen = control.node.primitive is not p.while_ and is_known(plan, control.node.operands[0], known)
    return not chosen and runs_on_one_thread(control)


def is_in_one_block(control: Control, plan: ProgramPlan, known: Collection[Place]) -> bool:
    """Whether one block is to go through all iterations of a loop; what then is known of it is known on the device.

    Parameters
    ----------
    control : Control
    plan : ProgramPlan
        Which it is a step of.
    known : collection of Place
        Where known numbers are before it.
    """
    if control.node.primitive is not p.while_ or is_alone(control, plan, known):
        return False
    count = single_block_loops.elements_of(control)
    if count is None or count > single_block_loops.WAITING:
        return False
    return count <= single_block_loops.COUNTING or not _is_counted(control, plan, known)


def _is_counted(control: Control, plan: ProgramPlan, known: Collection[Place]) -> bool:
    """Whether the host knows in each iteration of a loop whether there is another one."""
    condition, _ = control.parts
    return condition.outputs[0] in known_after(condition, _known_inside(control, plan, known))


def _known_inside(control: Control, plan: ProgramPlan, known: Collection[Place]) -> set[int]:
    """The operands of a loop that are known in every iteration."""
    around = {
        place for place in known_operands(control.node.operands, plan, known) if place >= control.node.params["state"]
    }
    return known_state(control, plan, known) | around


def known_state(control: Control, plan: ProgramPlan, known: Collection[Place]) -> set[int]:
    """The parts of the state of a loop that are known in every iteration.

    Parameters
    ----------
    control : Control
        A loop.
    plan : ProgramPlan
        Which it is a step of.
    known : collection of Place
        Where known numbers are before it.
    """
    count, body = control.node.params["state"], control.parts[1]
    given = known_operands(control.node.operands, plan, known)
    around = {place for place in given if place >= count}
    state = given - around
    while True:
        after = known_after(body, state | around)
        kept = {place for place in state if body.outputs[place] in after}
        if kept == state:
            return state
        state = kept


def known_operands(operands: Iterable[Expr], plan: ProgramPlan, known: Collection[Place]) -> set[int]:
    """Which of some values are known numbers, by place."""
    return {place for place, operand in enumerate(operands) if is_known(plan, operand, known)}


def known_results(control: Control, plan: ProgramPlan, known: Collection[Place]) -> list[bool]:
    """Which results of a loop or branch are known numbers; the host goes its way in any case.

    Parameters
    ----------
    control : Control
    plan : ProgramPlan
        Which it is a step of.
    known : collection of Place
        Where known numbers are before it.
    """
    if is_alone(control, plan, known) or is_in_one_block(control, plan, known):
        return [False] * len(control.results)
    if control.node.primitive is p.while_:
        state = known_state(control, plan, known)
        return [place in state for place in range(len(control.results))]
    given = known_operands(control.node.operands[1:], plan, known)
    sides = [(part.outputs, known_after(part, given)) for part in control.parts]
    return [all(outputs[place] in after for outputs, after in sides) for place in range(len(control.results))]


def waits(plan: ProgramPlan, inputs: Iterable[int]) -> bool:
    """Whether a program must read a condition back from the device.

    Parameters
    ----------
    plan : ProgramPlan
    inputs : iterable of int
        The inputs that are known numbers.
    """
    found: set[Place] = {("input", place) for place in inputs}
    for step in plan.steps:
        if isinstance(step.work, Control) and _control_waits(step.work, plan, found):
            return True
        _take(step, plan, found)
    return False


def _control_waits(control: Control, plan: ProgramPlan, known: Collection[Place]) -> bool:
    node = control.node
    if is_alone(control, plan, known) or is_in_one_block(control, plan, known):
        return False
    if node.primitive is not p.while_:
        given = known_operands(node.operands[1:], plan, known)
        asks = not is_known(plan, node.operands[0], known)
        return asks or any(waits(part, given) for part in control.parts)
    given = _known_inside(control, plan, known)
    return not _is_counted(control, plan, known) or any(waits(part, given) for part in control.parts)
