"""Launch modes: whether one thread, many threads, one block, or the host runs each loop and branch.

This is decided once, before anything is written, since the decisions hang together: what one kernel goes through the
host does not know the numbers of, and a loop that counts with a number of the host need not read anything back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.numba_cuda.program.host_numbers import follows, known_operands
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.loop_buffers import loop_buffers_of
from nxkernel.compilers.plan.nested_plans import all_plans
from nxkernel.compilers.plan.program_plan import (
    Control,
    ElementStore,
    LaunchDecision,
    LaunchMode,
    ProgramPlan,
    ScalarStep,
    Step,
)
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.graph.expr import Expr
from nxkernel.graph.verify import named

#: The most steps that become one kernel of a thread, loops and branches inside counted with theirs.
MOST_STEPS = 256
#: Elements of all nests of an iteration up to which one block is as fast as launching them; and where a condition would
#: have to be read back in each iteration.
COUNTING, WAITING = 1 << 12, 1 << 16


def decided(plan: ProgramPlan, numbers: Iterable[int], refused: Mapping[Expr, str] | None = None) -> ProgramPlan:
    """The plan with a launch decision for each loop and branch.

    Parameters
    ----------
    plan : ProgramPlan
        Of a whole program. It stays as it is.
    numbers : iterable of int
        The inputs that are numbers of the host.
    refused : mapping of Expr to str, optional
        Loops whose kernel turned out to be too much for one block, each with the reason.
    """
    return Decisions(refused or {}).plan(plan, frozenset(numbers))[0]


def reads_back(plan: ProgramPlan) -> bool:
    """Whether a program makes the host wait for a condition computed on the device.

    Parameters
    ----------
    plan : ProgramPlan
        With its decisions.
    """
    return any(control.launch.reads_back for part in all_plans(plan) for control in part.controls.values())


def listing(plan: ProgramPlan) -> str:
    """The loops and branches of a plan as text: a line each, with mode and reason; inner ones are indented.

    Parameters
    ----------
    plan : ProgramPlan
        With its decisions.
    """
    return "\n".join(_lines(plan))


def _lines(plan: ProgramPlan, indent: str = "") -> Iterator[str]:
    for control in plan.controls.values():
        launch = control.launch
        mode = launch.mode.value + (", which waits for its condition" if launch.reads_back else "")
        yield f"{indent}{named(control.node)}: {mode}: {launch.reason}"
        for part in control.parts:
            yield from _lines(part, indent + "  ")


class Decisions:
    """Decides the launch modes of a plan and all plans inside it.

    Parameters
    ----------
    refused : mapping of Expr to str
    """

    def __init__(self, refused: Mapping[Expr, str]) -> None:
        self.refused = refused
        #: What was decided of a plan (by identity) with such numbers of the host among its inputs.
        self._plans: dict[tuple[int, frozenset[int]], tuple[ProgramPlan, set[Location]]] = {}

    def plan(self, plan: ProgramPlan, inputs: frozenset[int]) -> tuple[ProgramPlan, set[Location]]:
        """The plan with its decisions, and the locations of host numbers after all of its steps."""
        key = id(plan), inputs
        if key not in self._plans:
            self._plans[key] = self._decide(plan, inputs)
        return self._plans[key]

    def _decide(self, plan: ProgramPlan, inputs: frozenset[int]) -> tuple[ProgramPlan, set[Location]]:
        known: set[Location] = {Location.input(position) for position in inputs}
        controls: dict[Step, Control] = {}
        for step in plan.steps:
            work = step.work
            if isinstance(work, ScalarStep) and follows(plan, work.node, known):
                known.add(plan.place[work.node])
                continue
            if isinstance(work, Control):
                work = controls[step] = self._control(work, plan, known)
            known.difference_update(plan.place[node] for node in step.writes)
            if isinstance(work, Control):
                results = [work.results[number] for number in work.launch.known_results]
                known.update(plan.place[result] for result in results if result is not None)
        return _with(plan, controls), known

    def _control(self, control: Control, plan: ProgramPlan, known: Collection[Location]) -> Control:
        operands = known_operands(control.node.operands, plan, known)
        return self._loop(control, operands) if control.is_loop else self._branch(control, operands)

    def _branch(self, control: Control, operands: Collection[int]) -> Control:
        obstacle, asks = one_thread_obstacle(control), 0 not in operands
        if asks and obstacle is None:
            return _by_threads(control)
        inputs = frozenset(position - 1 for position in operands if position)
        sides = [self.plan(part, inputs) for part in control.parts]
        results = frozenset(
            number
            for number in range(len(control.results))
            if all(side.outputs[number] in after for side, after in sides)
        )
        reason = obstacle if asks else "the host knows which side runs"
        launch = LaunchDecision(LaunchMode.HOST, reason, inputs, results, asks)
        return replace(control, parts=tuple(side for side, _ in sides), launch=launch)

    def _loop(self, control: Control, operands: Collection[int]) -> Control:
        if one_thread_obstacle(control) is None:
            return _by_threads(control)
        (condition, body), count = control.parts, control.node.params["state"]
        always = self._always_known(body, operands, count)
        by_host = [self.plan(part, always) for part in control.parts]
        waits = condition.outputs[0] not in by_host[0][1]
        # In one kernel, the host does not know what becomes of the state.
        around = frozenset(position for position in always if position >= count)
        in_block = [self.plan(part, around) for part in control.parts]
        parts = tuple(part for part, _ in in_block)
        elements, obstacle = _block_work(parts)
        if condition.outputs[0] in in_block[0][1]:
            obstacle = obstacle or "its condition does not depend on its state"
        if elements > COUNTING and not waits:
            obstacle = obstacle or f"an iteration computes {elements:,} elements, and nothing is read back"
        if elements > WAITING:
            obstacle = obstacle or f"an iteration computes {elements:,} elements"
        obstacle = obstacle or self.refused.get(control.node)
        if obstacle is None:
            reason = f"an iteration computes {elements:,} elements"
            reason += ", and its condition would be read back" if waits else ""
            return replace(control, parts=parts, launch=LaunchDecision(LaunchMode.ONE_BLOCK, reason, around))
        results = frozenset(position for position in always if position < count)
        launch = LaunchDecision(LaunchMode.HOST, obstacle, always, results, waits)
        return replace(control, parts=tuple(part for part, _ in by_host), launch=launch)

    def _always_known(self, body: ProgramPlan, operands: Collection[int], count: int) -> frozenset[int]:
        """The operands of a loop that the host knows in every iteration."""
        known = frozenset(operands)
        while True:
            _, after = self.plan(body, known)
            kept = frozenset(position for position in known if position >= count or body.outputs[position] in after)
            if kept == known:
                return known
            known = kept


def _with(plan: ProgramPlan, controls: Mapping[Step, Control]) -> ProgramPlan:
    """A plan with loops and branches replaced."""
    if not controls:
        return plan
    steps = {step: Step(controls.get(step, step.work), step.reads, step.writes) for step in plan.steps}
    for step, copy in steps.items():
        copy.after = [steps[other] for other in step.after]
        copy.before = {steps[other]: update for other, update in step.before.items()}
    return replace(plan, steps=list(steps.values()))


# One thread ------------------------------------------------------------------------------------------------------


def _by_threads(control: Control) -> Control:
    """A loop or branch marked to run in threads, with all those inside it."""
    reason = "it has single numbers and elements of arrays alone"
    if control.is_loop and _is_shareable(control):
        launch = LaunchDecision(LaunchMode.MANY_THREADS, f"{reason}, and independent iterations")
    else:
        launch = LaunchDecision(LaunchMode.ONE_THREAD, reason)
    return replace(control, parts=tuple(map(_inside, control.parts)), launch=launch)


def _inside(plan: ProgramPlan) -> ProgramPlan:
    """A body of a loop or branch, its own loops and branches marked to run within the same thread."""
    launch = LaunchDecision(LaunchMode.ONE_THREAD, "it is in a loop or branch that each thread runs by itself")
    controls = {
        step: replace(step.work, parts=tuple(map(_inside, step.work.parts)), launch=launch)
        for step in plan.steps
        if isinstance(step.work, Control)
    }
    return _with(plan, controls)


def one_thread_obstacle(control: Control) -> str | None:
    """The reason why one thread cannot run a loop or branch; None if it has only scalars and single elements.

    Parameters
    ----------
    control : Control
    """
    obstacle = next(_obstacles(control, outermost=True), None)
    steps = sum(map(_steps, control.parts))
    return obstacle or (f"it has {steps} steps, which are too many for one thread" if steps > MOST_STEPS else None)


def _steps(plan: ProgramPlan) -> int:
    return sum(len(part.steps) for part in all_plans(plan))


def _obstacles(control: Control, outermost: bool = False) -> Iterator[str]:
    node, shared = control.node, control.shared
    for array in [array for part in control.parts for array in part.arrays]:
        if not scalars.is_single(array):
            yield f"it makes an array, {array.spec}"
    if control.is_loop:
        body = control.parts[1]
        for position in range(node.params["state"]):
            if scalars.is_single(node.operands[position]):
                continue
            if body.outputs[position] != Location.input(position):
                yield f"an array of its state, {node.operands[position].spec}, is another one after an iteration"
            if shared[position] is None and not outermost:
                yield f"a loop inside begins with a copy, of {node.operands[position].spec}"
    else:
        for position, spec in enumerate(node.spec):
            if scalars.is_single(spec):
                continue
            elsewhere = any(
                part.outputs[position] != Location.input((shared[position] or 0) - 1) for part in control.parts
            )
            if shared[position] is None or elsewhere:
                yield f"a result of it, {spec}, is not updated in place"
        if loop_buffers_of(node, control.results, control.parts, shared).copies:
            yield "it copies an array that one side changes"
    for part in control.parts:
        for step in part.steps:
            work = step.work
            if isinstance(work, Control):
                yield from _obstacles(work)
            elif isinstance(work, BoundNest):
                yield "it has loops over arrays"
            elif not isinstance(work, ScalarStep | ElementStore) or work.node.primitive is p.njit:
                yield f"it calls {work.node.primitive.name}"


def _is_shareable(control: Control) -> bool:
    """Whether threads can share the iterations of a loop that one thread could run."""
    independence = control.independence
    if independence is None:
        return False
    body = control.parts[1]
    # What iterations leave behind of numbers is that of the last one, which is any thread's.
    return all(
        control.results[position] is None
        or position == independence.counter
        or body.outputs[position] == Location.input(position)
        for position in range(control.node.params["state"])
        if scalars.is_single(control.node.operands[position])
    )


# One block -------------------------------------------------------------------------------------------------------


def _block_work(parts: Iterable[ProgramPlan]) -> tuple[int, str | None]:
    """The number of elements that an iteration's nests compute, and the reason why one block cannot, or None.

    Parameters
    ----------
    parts : iterable of ProgramPlan
        With their decisions.
    """
    total, obstacle = 0, None
    for step in [step for part in parts for step in part.steps]:
        work, elements, reason = step.work, 0, None
        if isinstance(work, BoundNest):
            elements, reason = work.elements, "the elements of a kernel follow each other" if work.in_order else None
        elif not isinstance(work, Control | ScalarStep | ElementStore):
            reason = f"it calls {work.node.primitive.name}"
        elif isinstance(work, Control) and work.launch.mode is LaunchMode.HOST:
            reason = f"the host runs a {'loop' if work.is_loop else 'branch'} inside"
        elif isinstance(work, Control) and work.launch.mode is LaunchMode.ONE_BLOCK:
            elements, reason = _block_work(work.parts)
        total, obstacle = total + elements, obstacle or reason
    return total, obstacle
