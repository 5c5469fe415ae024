"""Planning: from the outputs of a graph to its plan (shared memory, order of steps, location of each value)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from nxkernel import passes, types
from nxkernel import primitives as p
from nxkernel.compilers.analysis import integer_ranges, matrix_products, scalars
from nxkernel.compilers.analysis.integer_ranges import Interval
from nxkernel.compilers.analysis.operation_costs import ON_PROCESSOR, Keeping
from nxkernel.compilers.plan import in_place_updates, output_aliasing
from nxkernel.compilers.plan.buffer_assignment import placed
from nxkernel.compilers.plan.independent_iterations import independence
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.loop_buffers import loop_buffers_of
from nxkernel.compilers.plan.program_plan import (
    Control,
    ElementStore,
    OpaqueStep,
    ProgramPlan,
    Routine,
    ScalarStep,
    Step,
)
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.compilers.schedule.build_nest import NestBuilder
from nxkernel.compilers.schedule.fusion import WHOLE, Fusion
from nxkernel.compilers.schedule.kernel_groups import KernelGroup
from nxkernel.compilers.schedule.loop_nest import BufferRole
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order, users
from nxkernel.primitives import Spec

#: How a compiler runs an opaque operation.
Routines = Callable[[Expr, Sequence[Expr | None]], Routine]
#: Rewrites the outputs of a graph before its plan is made, and tells where new nodes came from.
Prepare = Callable[..., tuple[list[Expr], dict[Expr, Expr]]]


class _WaitingError(Exception):
    """A cycle: an in-place update makes two steps, or two passes of a nest, wait for each other."""

    def __init__(self, update: Expr) -> None:
        self.update = update


class Planner:
    """Makes plans of graphs, for a compiler's routines and rewrites.

    Parameters
    ----------
    routines : callable
        Gives the compiler's routine for an opaque operation, of which it is told the values that are needed.
    prepare : callable
        Rewrites the outputs of a graph; with ``own=False`` they may be inputs.
    keeping : Keeping
        Which values are worth memory.
    is_parallel : callable, optional
        Whether threads share the iterations of a loop that has independent ones; by itself they never do.
    """

    def __init__(
        self,
        routines: Routines,
        prepare: Prepare,
        keeping: Keeping = ON_PROCESSOR,
        is_parallel: Callable[[Control], bool] = lambda _: False,
    ) -> None:
        self.routines, self.prepare, self.keeping, self.is_parallel = routines, prepare, keeping, is_parallel

    def program(self, graph: Graph) -> ProgramPlan:
        """The plan of a whole program, whose inputs belong to the caller; some of them may be updated."""
        prepared, origin = self.prepare(graph.outputs)
        writable = {graph.parameters[position] for position, _ in graph.updates}
        plan = self._plan(None, prepared, origin, writable, {})
        wanted = {Location.input(position): number for position, number in graph.updates}
        positions: dict[Expr, list[int]] = {}
        for position, number in graph.updates:
            positions.setdefault(prepared[number], []).append(position)
        aliases = {
            prepared[number]: graph.parameters[position]
            for position, number in graph.updates
            if plan.outputs[number].memory is not MemoryKind.INPUT and len(positions[prepared[number]]) == 1
        }
        if aliases:
            plan = self._plan(None, prepared, origin, writable, {}, aliases)
        if any(
            where.memory is MemoryKind.INPUT and (where not in wanted or prepared[wanted[where]] is not output)
            for where, output in zip(plan.outputs, prepared, strict=True)
        ):
            # What is a result of its own, or is to be in one input, came to be in another.
            plan = self._plan(None, prepared, origin, set(), {})
        return plan

    def part(self, graph: Graph, writable: Sequence[int], known: Mapping[Expr, Interval]) -> ProgramPlan:
        """The plan of a body of a loop or branch, which may overwrite some of its inputs."""
        prepared, origin = self.prepare(graph.outputs, own=False)
        parameters = {graph.parameters[position] for position in writable}
        return self._plan(graph, prepared, origin, parameters, known)

    # One graph -------------------------------------------------------------------------------------------------

    def _plan(
        self,
        graph: Graph | None,
        outputs: list[Expr],
        origin: dict[Expr, Expr],
        writable: set[Expr],
        known: Mapping[Expr, Interval],
        aliases: Mapping[Expr, Expr] | None = None,
    ) -> ProgramPlan:
        draft = PlanDraft(self, graph, outputs, origin, writable, known, aliases or {})
        for each in passes.ANALYSES:
            each(draft)
        while True:
            try:
                for each in passes.PLANNING:
                    plan = each(draft)
                return plan
            except _WaitingError as waiting:
                draft.give_up(waiting.update)

    def parts_of(self, node: Expr, ranges: Mapping[Expr, Interval]) -> tuple[ProgramPlan, ...]:
        """The plans of a loop's condition and body, or of a branch's two sides.

        Parameters
        ----------
        node : Expr
        ranges : mapping
            What is known of single integers around it.
        """
        params, known = node.params, integer_ranges.of_parts(node, ranges)
        if node.primitive is p.while_:
            arrays = [k for k in range(params["state"]) if not scalars.is_single(node.operands[k])]
            return self.part(params["condition"], [], known[0]), self.part(params["body"], arrays, known[1])
        places = [k for k, operand in enumerate(node.operands[1:]) if not scalars.is_single(operand)]
        return self.part(params["then"], places, known[0]), self.part(params["otherwise"], places, known[1])


class PlanDraft:
    """A plan under construction; each planning pass changes it.

    Parameters
    ----------
    planner : Planner
    graph : Graph or None
        None for that of a whole program.
    outputs : list of Expr
        Prepared.
    origin : dict
        For each node that was rewritten, the node that it came from.
    writable : set of Expr
        The parameters whose memory may be written to.
    known : mapping
        What is known of single integers among the parameters.
    aliases : mapping
        For results the parameters in whose memory they are to be, where that can be.

    Attributes
    ----------
    order : list of Expr
        The nodes that outputs need, operands first.
    controls : list of Expr
        The loops and branches among them.
    ranges : mapping
        What is known of single integers.
    possible : dict
        For each result that could be in the memory of another value that value.
    parts : dict
        For each loop or branch the plans of its bodies.
    shared : dict
        For each result that takes over the memory of another value that value.
    fusion : Fusion
    steps : list of Step
    place : dict
        For each value in memory where it is.
    """

    fusion: Fusion
    steps: list[Step]

    def __init__(
        self,
        planner: Planner,
        graph: Graph | None,
        outputs: list[Expr],
        origin: dict[Expr, Expr],
        writable: set[Expr],
        known: Mapping[Expr, Interval],
        aliases: Mapping[Expr, Expr],
    ) -> None:
        self.planner, self.graph, self.outputs, self.origin = planner, graph, outputs, origin
        self.writable, self.known = writable, known
        self.order = post_order(outputs)
        self.controls = [node for node in self.order if node.primitive.family == "control"]
        self.inline = graph is not None or bool(self.controls)
        self.ranges: Mapping[Expr, Interval] = {}
        self.parts: dict[Expr, tuple[ProgramPlan, ...]] = {}
        #: The updates in place, and results in the memory of parameters, that have not turned out to be impossible.
        self.possible: dict[Expr, Expr] = {}
        self._wanted = dict(aliases)
        self.shared: dict[Expr, Expr] = {}
        self.aliases: dict[Expr, Expr] = {}

    def give_up(self, update: Expr) -> None:
        """Drop an in-place update, since it makes steps wait for each other."""
        del (self.possible if update in self.possible else self._wanted)[update]

    def root(self, node: Expr) -> Expr:
        """The value that owns the memory of a value, followed through in-place updates."""
        while node in self.shared:
            node = self.shared[node]
        return node

    # Passes ----------------------------------------------------------------------------------------------------

    def find_ranges(self) -> None:
        """Compute the bounds of single integers."""
        if self.inline:
            self.ranges = integer_ranges.intervals(self.order, self.known)

    def plan_bodies(self) -> None:
        """Plan the bodies of loops and branches."""
        for node in self.controls:
            self.parts[node] = self.planner.parts_of(node, self.ranges)

    def find_updates(self) -> None:
        """Find the results that could be computed in place."""
        self.possible = in_place_updates.candidates(
            self.order, self.outputs, users(self.order), self.writable, self._shares
        )

    def fuse(self) -> None:
        """Decide which values are materialized, and which nest computes each."""
        self.shared = dict(self.possible)
        kept = set()
        for node, old in self.possible.items():
            pieces = node.primitive in piecewise_buffers.PIECES
            if pieces and not (self.inline and scalars.is_single(node.operands[1])):
                kept.update(in_place_updates.computed_before(node, old, self.root, self.inline))
        in_place = frozenset(self.possible)
        self.fusion = Fusion(self.outputs, self.inline, in_place, frozenset(kept), self.planner.keeping)
        self.aliases = {}
        for result, parameter in self._wanted.items():
            if output_aliasing.is_free(parameter, self.shared) and output_aliasing.can_alias(
                self.fusion, result, parameter
            ):
                self.shared[result] = self.aliases[result] = parameter

    def build_steps(self) -> None:
        """Build the steps: nests, library calls, loops, and scalars of the program."""
        owners = [self.fusion.buffer_of(output) for output in self.outputs]
        self._roots = [self.root(owner) for owner in owners]
        self._own = list(dict.fromkeys(root for root in self._roots if root.primitive is not p.parameter))
        self.steps = self._steps(list(dict.fromkeys(owners)))

    def order_steps(self) -> None:
        """Sort the steps so that each follows those whose values it reads."""
        self.steps = self._ordered(self.steps)

    def assign_buffers(self) -> None:
        """Assign memory to every value."""
        fusion = self.fusion
        chosen = [result for step in self.steps if isinstance(step.work, Control) for result in step.work.results]
        numbers = fusion.scalars | {one for one in chosen if one is not None and scalars.is_single(one)}
        locations, self.workspace = placed(self.steps, self._own, self.root, numbers)
        for node in (*fusion.order, *self._roots):
            if node.primitive is p.parameter:
                locations[node] = Location.input(node.params["index"])
        for index, root in enumerate(self._own):
            locations[root] = Location.output(index)
        for node in fusion.order:
            owner = self.root(fusion.buffer_of(node))
            if owner is not node and owner in locations:
                locations[node] = locations[owner]
        self.place = locations

    def finished(self) -> ProgramPlan:
        """The finished plan."""
        shown = dict(zip(reversed(self._roots), reversed(self.outputs), strict=True))
        return ProgramPlan(
            self.graph,
            self.steps,
            self.outputs,
            self.place,
            [self.place[root] for root in self._roots],
            [shown[root] for root in self._own],
            self.workspace,
            self.origin,
            self.ranges,
            self.shared,
            frozenset(parameter.params["index"] for parameter in self.writable),
        )

    def _shares(self, node: Expr) -> dict[int, int]:
        """For a loop or branch, by result, the operand whose memory the result could take over."""
        parts = self.parts[node]
        if node.primitive is p.while_:
            return {k: k for k in range(node.params["state"]) if not scalars.is_single(node.operands[k])}
        shares: dict[int, int] = {}
        written = parts[0].overwritten | parts[1].overwritten
        for result, (one, other) in enumerate(zip(parts[0].outputs, parts[1].outputs, strict=True)):
            if one == other and one.memory is MemoryKind.INPUT and one.number in written:
                shares[result] = one.number + 1
        return shares

    # Steps -----------------------------------------------------------------------------------------------------

    def _steps(self, results: list[Expr]) -> list[Step]:
        fusion, kept = self.fusion, set(results)
        # An update in place writes over what is there.
        kept.update(fusion.buffer_of(old) for old in self.shared.values())
        for kernel in fusion.kernels:
            for value in kernel.materialized:
                for node, _ in fusion.reach(value, fusion.start(value, kernel), set()):
                    owner = fusion.buffer_of(node)
                    if fusion.group_of.get(owner) is not kernel:
                        kept.add(owner)
            for store in kernel.stores:
                kept.update(fusion.buffer_of(node) for node, _ in fusion.reach_store(store, set()))
        steps: dict[object, Step] = {}
        for node in fusion.order:
            step = self._step(node)
            if step is not None:
                kept.update(step.reads)
                steps[node] = step
        for kernel in fusion.kernels:
            if kernel.stores or any(value in kept for value in kernel.materialized):
                step = steps[kernel] = _nest_step(fusion, kernel, kept)
                for result, parameter in self.aliases.items():
                    if output_aliasing.is_read_later(step.work, result, parameter):
                        raise _WaitingError(result)
        for kernel in fusion.kernels:
            if kernel.stores:
                steps[kernel].after = [steps[other] for other in kernel.needs if other.stores and other in steps]
        in_any_order = list(steps.values())
        self._readers_first(in_any_order)
        return in_any_order

    def _step(self, node: Expr) -> Step | None:
        """The step of a node that no nest computes."""
        fusion = self.fusion
        if node.primitive is p.dot:
            axes = matrix_products.axes_of(node)
            bases = dict(zip(node.operands, map(fusion.memory_of, node.operands, axes), strict=True))
            product = matrix_products.product(node, bases.__getitem__)
            return Step(product, [fusion.buffer_of(product.left.base), fusion.buffer_of(product.right.base)], [node])
        if node in fusion.scalars:
            return Step(ScalarStep(node), [fusion.buffer_of(value) for value in scalars.reads_of(node)], [node])
        if fusion.stores_element(node):
            reads = [fusion.buffer_of(value) for value in node.operands[1:] if value.primitive is not p.constant]
            return Step(ElementStore(node), reads, [node])
        if node.primitive.family == "control":
            return self._control_step(node)
        if node.primitive.family in WHOLE:
            return self._whole_step(node)
        return None

    def _results(self, node: Expr) -> tuple[Expr | None, ...]:
        if type(node.spec) is not tuple:
            return (node,)
        parts = {user.params["index"]: user for user in self.fusion.users[node]}
        return tuple(parts.get(index) for index in range(len(node.spec)))

    def _whole_step(self, node: Expr) -> Step:
        results = self._results(node)
        routine = self.planner.routines(node, results)
        scratch = _buffer_of_size(routine.scratch)
        writes = [result for result in (*results, scratch) if result is not None]
        reads = [self.fusion.buffer_of(operand) for operand in node.operands]
        return Step(OpaqueStep(node, results, routine, scratch), reads, writes)

    def _control_step(self, node: Expr) -> Step:
        results, parts = self._results(node), self.parts[node]
        shared: list[int | None] = [None] * len(results)
        places = self._shares(node)
        for index, result in enumerate(results):
            if result in self.shared:
                shared[index] = places[index]
        scratch = _buffer_of_size(loop_buffers_of(node, results, parts, shared).size)
        writes = [result for result in (*results, scratch) if result is not None]
        materialized = self.fusion.materialized
        held = [operand for operand in node.operands if operand.primitive is not p.constant or operand in materialized]
        reads = [self.fusion.buffer_of(operand) for operand in held]
        independent = independence(node, parts[1]) if node.primitive is p.while_ else None
        control = Control(node, results, parts, tuple(shared), scratch, independent)
        if independent is not None and self.planner.is_parallel(control):
            control = replace(control, parallel=True)
        return Step(control, reads, writes)

    def _readers_first(self, steps: list[Step]) -> None:
        """Have all readers of a value run before the in-place update that overwrites it."""
        readers: dict[Expr, list[Step]] = {}
        writers: dict[Expr, list[Step]] = {}
        for step in steps:
            for node in step.reads:
                readers.setdefault(node, []).append(step)
            for node in step.writes:
                writers.setdefault(node, []).append(step)
        for node, old in self.shared.items():
            base = self.fusion.buffer_of(old)
            for step in writers.get(node, ()):
                for other in (*readers.get(base, ()), *writers.get(base, ())):
                    if other is not step:
                        step.before[other] = node

    @staticmethod
    def _ordered(steps: list[Step]) -> list[Step]:
        """The steps sorted so that each follows those whose values it reads."""
        writers: dict[Expr, list[Step]] = {}
        for step in steps:
            for node in step.writes:
                writers.setdefault(node, []).append(step)
        order: list[Step] = []
        done: set[Step] = set()
        waiting: set[Step] = set()
        for root in steps:
            stack = [root]
            while stack:
                step = stack[-1]
                waits = [w for node in step.reads for w in writers.get(node, ()) if w is not step]
                waits += [*step.after, *step.before]
                missing = [w for w in waits if w not in done]
                if step in done or not missing:
                    stack.pop()
                    if step not in done:
                        done.add(step)
                        order.append(step)
                    continue
                if any(w in waiting for w in missing):
                    _resolve(stack, missing)
                waiting.add(step)
                stack.extend(missing)
        return order


def _resolve(stack: list[Step], missing: list[Step]) -> None:
    """Find the in-place update that causes a cycle of dependencies between steps."""
    chain = [*stack, *missing]
    for step in reversed(chain):
        for other, update in step.before.items():
            if other in chain:
                raise _WaitingError(update)
    raise AssertionError("two steps of a plan wait for each other")


def _buffer_of_size(size: int) -> Expr | None:
    """A placeholder value for a buffer of so many bytes; None for no bytes."""
    return Expr(p.constant, (), {}, Spec(types.u8, (size,), (None,))) if size else None


def _nest_step(fusion: Fusion, kernel: KernelGroup, kept: set[Expr]) -> Step:
    bound = NestBuilder(fusion, kernel, kept.__contains__).build()
    roles = [bound.nest.buffers[number].role for number in bound.nest.memory]
    owners = [owner for owner, _ in bound.buffers]
    reads = [o for o, role in zip(owners, roles, strict=True) if role is BufferRole.READ]
    writes = [o for o, role in zip(owners, roles, strict=True) if role is BufferRole.WRITE]
    return Step(bound, reads, writes)
