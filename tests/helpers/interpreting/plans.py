"""Plans interpreted: their steps on memory, loops and choices as native programs do them, the turns of some watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.analysis.matrix_products import Matrix, Product
from nxkernel.compilers.analysis.scalars import Term
from nxkernel.compilers.numba_cpu.program.parallel_loops import can_be_parallel
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.loop_buffers import loop_buffers_of, swaps_of
from nxkernel.compilers.plan.program_plan import Control, ElementStore, OpaqueStep, ProgramPlan, ScalarStep, Step
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.compilers.schedule.build_nest import attribute_of
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import Op, StoreMode
from nxkernel.graph.expr import Expr, at_line
from nxkernel.primitives import Spec

from . import nests
from .checking import Checked
from .memory import Address, Block, Memory, whole
from .races import Turns

Given = Callable[[], Address]


class Named:
    """A step, as messages call it."""

    def __init__(self, step: Step) -> None:
        self.step = step

    def __str__(self) -> str:
        node = next((node for node in self.step.writes if node.source), self.step.writes[0])
        made = self.step.work.node if isinstance(self.step.work, Control) else node
        return f"{made.primitive.name}{at_line(made.source)}"


class Scope:
    """Runs the steps of one plan.

    Parameters
    ----------
    memory : Memory
    plan : ProgramPlan
    inputs, outputs : sequence of callable
        Give their addresses.
    work : callable
        Gives the address of the workspace.
    """

    def __init__(
        self, memory: Memory, plan: ProgramPlan, inputs: Sequence[Given], outputs: Sequence[Given], work: Given
    ) -> None:
        self.memory, self.plan = memory, plan
        self.inputs, self.outputs, self.work = inputs, outputs, work
        self.numbers: dict[int, Block] = {}
        self.controls: dict[Step, _Control] = {}

    def run(self) -> None:
        """Run all steps."""
        checked = Checked(self)
        for step in self.plan.steps:
            self._step(step, Named(step))
            checked.after(step)

    def _step(self, step: Step, what: Named) -> None:
        work = step.work
        if isinstance(work, BoundNest):
            nests.run(work, [self.address(owner).further(offset) for owner, offset in work.buffers], self.memory, what)
        elif isinstance(work, Product):
            self._product(work, what)
        elif isinstance(work, OpaqueStep):
            self._whole(work, what)
        elif isinstance(work, ScalarStep):
            self._scalar(work.node, what)
        elif isinstance(work, ElementStore):
            self._store(work.node, what)
        else:
            if step not in self.controls:
                kind = _Choice if work.node.primitive is p.cond else _Spread if can_be_parallel(work) else _Loop
                self.controls[step] = kind(self, work, what)
            self.controls[step].run()

    # Addresses -------------------------------------------------------------------------------------------------

    def address(self, node: Expr) -> Address:
        """Where a value is."""
        kind, where = self.plan.place[node]
        size = bytes_of(node)
        if kind is MemoryKind.SCALAR:
            if where not in self.numbers:
                self.numbers[where] = Block(16, f"the number {node.primitive.name}{at_line(node.source)}")
            return whole(self.numbers[where], size)
        if kind is MemoryKind.WORKSPACE:
            return self.work().part(where, size)
        return self.at((kind, where))

    def at(self, place: Location) -> Address:
        """The address of an input or output."""
        kind, where = place
        return self.inputs[where]() if kind is MemoryKind.INPUT else self.outputs[where]()

    def array(self, node: Expr) -> np.ndarray:
        """What is in memory for a value, seen by nobody."""
        address, dtype = self.address(node), node.type.dtype
        first = address.offset // dtype.itemsize
        count = bytes_of(node) // dtype.itemsize
        return address.block.elements(dtype)[first : first + count].reshape(node.shape).copy()

    def read(self, node: Expr, what: object) -> np.ndarray:
        """A whole value."""
        found = self.memory.read(self.address(node), node.type.dtype, np.arange(bytes_of(node) // node.type.size), what)
        return found.reshape(node.shape)

    def write(self, node: Expr, value: np.ndarray, what: object) -> None:
        """Put a whole value."""
        values = np.ascontiguousarray(value, dtype=node.type.dtype).reshape(-1)
        self.memory.write(self.address(node), np.arange(values.size), values, what)

    # Steps -----------------------------------------------------------------------------------------------------

    def value(self, node: Expr, what: object) -> np.ndarray:
        """A single element that is known, or kept somewhere."""
        if node.primitive is p.constant:
            return cast_number(node.params["value"], node.type)
        return self.memory.read(self.address(node), node.type.dtype, np.zeros((), np.int64), what)

    def _scalar(self, node: Expr, what: object) -> None:
        if node.primitive.family == "elementwise":
            values = [self.value(operand, what) for operand in node.operands]
            found = nests.apply(Op(node.primitive.name, node.type, attribute=attribute_of(node)), values)
        elif node.primitive in (p.iota, p.constant):
            found = cast_number(node.params.get("value", 0), node.type)
        else:
            element = scalars.element_of(node)
            if element.base.primitive is p.constant:
                found = cast_number(element.base.params["value"], node.type)
            else:
                place = self._offset(element.offset.fixed, element.offset.terms, what)
                found = self.memory.read(self.address(element.base), node.type.dtype, place, what)
        self.write(node, np.asarray(found).reshape(node.shape), what)

    def _offset(self, fixed: int, terms: Sequence[Term], what: object) -> np.ndarray:
        clamped = [min(max(int(self.value(term.index, what).item()), 0), term.most) * term.stride for term in terms]
        return np.asarray(fixed + sum(clamped))

    def _store(self, node: Expr, what: object) -> None:
        (store,) = piecewise_buffers.stores(node, in_place=True)
        terms = [Term(at.index, at.most, at.stride) for at in store.places]
        place, value = self._offset(store.offset, terms, what), self.value(store.value, what).reshape(())
        if store.mode is StoreMode.ADD:
            held = self.memory.read(self.address(node), node.type.dtype, place, what)
            value = nests.apply(Op("add", node.type, (), None), [held, value])
        self.memory.write(self.address(node), place, np.asarray(value, node.type.dtype), what)

    def _product(self, product: Product, what: object) -> None:
        left = self._matrices(product, product.left, product.rows, product.depth, what)
        right = self._matrices(product, product.right, product.depth, product.columns, what)
        with np.errstate(all="ignore"):
            self.write(product.node, np.matmul(left, right), what)

    def _matrices(self, product: Product, side: Matrix, rows: int, columns: int, what: object) -> np.ndarray:
        # Of the left side the contracted axis is the last one, of the right side the one before it.
        turned = side.turned if side is product.left else not side.turned
        down, across = (1, side.step) if turned else (side.step, 1)
        indices = np.add.outer(
            np.arange(product.batch) * side.batch_step,
            np.add.outer(np.arange(rows) * down, np.arange(columns) * across),
        )
        return self.memory.read(self.address(side.base), product.type.dtype, indices, what)

    def _whole(self, whole: OpaqueStep, what: object) -> None:
        node = whole.node
        operands = [self.read(operand, what) for operand in node.operands]
        found = MEANING[node.primitive](node.spec, *operands, **node.params)
        several = type(node.spec) is tuple
        for result, value in zip(whole.results, found if several else (found,), strict=True):
            if result is not None:
                self.write(result, value, what)


def number(spec: Expr | Spec, name: str) -> Given:
    """A place for a single number."""
    block = Block(16, name)
    return lambda: whole(block, spec.type.size)


class _Control:
    """A loop or choice in a scope; its places for numbers stay the same each time that it runs."""

    def __init__(self, scope: Scope, control: Control, what: Named) -> None:
        self.scope, self.control, self.what = scope, control, what
        self.memory, self.node = scope.memory, control.node
        self.results, self.shared = control.results, control.shared
        self.loop_buffers = loop_buffers_of(self.node, self.results, control.parts, self.shared)
        self.made: dict[object, Any] = {}

    def scratch(self, offset: int, like: Expr | Spec) -> Address:
        """Where a value is in memory that only the loop or choice uses."""
        return self.scope.address(self.control.scratch).part(offset, bytes_of(like))

    def work(self) -> Address:
        """The workspace of its parts."""
        size = max(part.workspace for part in self.control.parts)
        if not size:
            return whole(self.once("work", lambda: Block(0, "nothing")), 0)
        return self.scope.address(self.control.scratch).part(self.loop_buffers.work, size)

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        """What is made the first time that it runs."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def given(self, place: int, operand: Expr) -> Given:
        """Where an operand is for all parts: arrays as they are, single numbers apart from any array."""
        if scalars.is_single(operand):
            room = self.once(("given", place), lambda: number(operand, f"a number of {self.what}"))
            self.memory.write(room(), np.zeros((), int), self.scope.value(operand, self.what).reshape(()), self.what)
            return room
        address = self.scope.address(operand)
        return lambda: address

    def home(self, index: int, operand: Expr | None, spec: Spec) -> Address:
        """Where a result that is an array comes to be."""
        if self.shared[index] is not None:
            return self.scope.address(operand)
        if self.results[index] is not None:
            return self.scope.address(self.results[index])
        return self.scratch(self.loop_buffers.results[index], spec)

    def copy(self, target: Address, source: Address, like: Expr | Spec) -> None:
        """Copy a value."""
        self.memory.copy(target, source, like, self.what)


class _Loop(_Control):
    @property
    def count(self) -> int:
        return self.node.params["state"]

    def settled(self, place: int) -> Given:
        """Where a part of the state comes to be, with what it is at first."""
        operand = self.node.operands[place]
        if scalars.is_single(operand):
            return self.given(place, operand)
        home = self.home(place, operand, operand.spec)
        if self.shared[place] is None:
            self.copy(home, self.scope.address(operand), operand)
        return lambda: home

    def truth(self, inputs: Sequence[Given]) -> bool:
        """Whether there is another turn."""
        condition = self.control.parts[0]
        (output,) = condition.graph.outputs
        answer = self.once("answer", lambda: number(output, f"the condition of {self.what}"))
        asked = self.once("asked", lambda: Scope(self.memory, condition, inputs, [answer], self.work))
        asked.inputs = inputs
        asked.run()
        where = asked.at(condition.outputs[0])
        return bool(self.memory.read(where, output.type.dtype, np.zeros((), int), self.what))

    def run(self) -> None:
        """Run it."""
        body, count = self.control.parts[1], self.count
        state, captured = self.node.operands[:count], self.node.operands[count:]
        changes = swaps_of(body, count)
        pointers: dict[Location, Address] = {}
        inputs: list[Given] = []
        homes: dict[int, Address] = {}

        def variable(buffer: Location, address: Address) -> Given:
            pointers[buffer] = address
            return lambda: pointers[buffer]

        for index, operand in enumerate(state):
            settled = self.settled(index)
            if not scalars.is_single(operand):
                homes[index] = settled()
                settled = variable(Location.input(index), homes[index])
            inputs.append(settled)
        inputs += [self.given(count + place, operand) for place, operand in enumerate(captured)]
        outputs = []
        for place, array in enumerate(body.arrays):
            if place in self.loop_buffers.fresh:
                fresh = self.scratch(self.loop_buffers.fresh[place], array)
                outputs.append(variable(Location.output(place), fresh))
            else:
                outputs.append(
                    self.once(("output", place), lambda array=array: number(array, f"a number of {self.what}"))
                )
        turned = self.once("turned", lambda: Scope(self.memory, body, inputs, outputs, self.work))
        turned.inputs, turned.outputs = inputs, outputs
        while self.truth(inputs):
            turned.run()
            self._next(turned, changes, pointers)
        for index in changes.tangled:
            self.copy(self.scratch(self.loop_buffers.spare[index], state[index]), inputs[index](), state[index])
        for index, operand in enumerate(state):
            if index in changes.tangled:
                self.copy(homes[index], self.scratch(self.loop_buffers.spare[index], state[index]), operand)
            elif index in homes and Location.input(index) in changes.moves and inputs[index]() != homes[index]:
                self.copy(homes[index], inputs[index](), operand)
            elif index not in homes and self.results[index] is not None:
                self.copy(self.scope.address(self.results[index]), inputs[index](), operand)

    def _next(self, turned: Scope, changes: Any, pointers: dict[Location, Address]) -> None:
        """Make what a turn gave the state of the next one."""
        body = turned.plan
        for source, target in changes.copies:
            kind, place = target
            like = body.graph.parameters[place] if kind is MemoryKind.INPUT else body.arrays[place]
            self.copy(turned.at(target), turned.at(source), like)
        before = {buffer: pointers[buffer] for buffer in changes.moves.values()}
        for buffer, other in changes.moves.items():
            pointers[buffer] = before[other]
        changed = [
            k for k in range(self.count) if Location.input(k) not in pointers and body.outputs[k] != Location.input(k)
        ]
        one = np.zeros((), int)
        values = [
            self.memory.read(turned.at(body.outputs[k]), body.graph.parameters[k].type.dtype, one, self.what)
            for k in changed
        ]
        for k, value in zip(changed, values, strict=True):
            self.memory.write(turned.at(Location.input(k)), one, value, self.what)


class _Spread(_Loop):
    """A loop whose turns may run on any thread, in any order."""

    def run(self) -> None:
        body, found, count = self.control.parts[1], self.control.independence, self.count
        state, captured = self.node.operands[:count], self.node.operands[count:]
        inputs = [self.settled(place) for place in range(count)]
        inputs += [self.given(count + place, operand) for place, operand in enumerate(captured)]
        start = int(self.scope.value(state[found.counter], self.what).item())
        total = self._turns(start)
        # From here on memory is each thread's own.
        watch = Turns(self.node.source, Block(0, "").serial)
        own = [
            number(operand, _name(body.graph.parameters[k])) if scalars.is_single(operand) else inputs[k]
            for k, operand in enumerate(self.node.operands)
        ]
        for k, operand in enumerate(self.node.operands):
            if scalars.is_single(operand):
                self.copy(own[k](), inputs[k](), operand)
        workspace = Block(body.workspace, "memory of a thread")
        outputs = [number(array, "a result of a turn") for array in body.arrays]
        turned = Scope(self.memory, body, own, outputs, lambda: whole(workspace, body.workspace))
        self.memory.watchers.append(watch)
        try:
            for index in range(total):
                watch.turn = index
                counter = np.asarray(start + index * found.step, dtype=np.int64)
                self.memory.write(own[found.counter](), np.zeros((), int), counter, self.what)
                turned.run()
        finally:
            self.memory.watchers.remove(watch)
        for place, operand in enumerate(state):
            result = self.results[place]
            if result is None or not scalars.is_single(operand):
                continue
            address = self.scope.address(result)
            if place == found.counter:
                end = np.asarray(start + total * found.step, dtype=np.int64)
                self.memory.write(address, np.zeros((), int), end, self.what)
            else:
                self.copy(address, inputs[place](), operand)

    def _turns(self, start: int) -> int:
        condition, found = self.node.params["condition"], self.control.independence
        places = {parameter: place for place, parameter in enumerate(condition.parameters)}
        bound = self.node.operands[places[found.bound]] if found.bound in places else found.bound
        way = (int(self.scope.value(bound, self.what).item()) - start) * (1 if found.step > 0 else -1)
        return max(-(-way // abs(found.step)), 0)


def _name(parameter: Expr) -> str:
    return f"the number {parameter.params['name']}"


class _Choice(_Control):
    def run(self) -> None:
        predicate, *operands = self.node.operands
        given = [self.given(place, operand) for place, operand in enumerate(operands)]
        homes: list[Given] = []
        for index, spec in enumerate(self.node.spec):
            if scalars.is_single(spec):
                homes.append(self.once(("home", index), lambda spec=spec: number(spec, f"a number of {self.what}")))
            else:
                place = self.shared[index]
                home = self.home(index, None if place is None else self.node.operands[place], spec)
                homes.append(lambda home=home: home)
        taken = bool(self.scope.value(predicate, self.what))
        self._side(self.control.parts[0 if taken else 1], taken, operands, given, homes)
        for result, home, spec in zip(self.results, homes, self.node.spec, strict=True):
            if result is not None and scalars.is_single(spec):
                self.copy(self.scope.address(result), home(), spec)

    def _side(
        self, plan: ProgramPlan, taken: bool, operands: list[Expr], given: list[Given], homes: list[Given]
    ) -> None:
        inputs = list(given)
        for place in sorted(plan.overwritten & set(self.loop_buffers.copies)):
            copy = self.scratch(self.loop_buffers.copies[place], operands[place])
            self.copy(copy, given[place](), operands[place])
            inputs[place] = lambda copy=copy: copy
        first = {where: index for index, where in reversed(list(enumerate(plan.outputs)))}
        outputs = [homes[first[Location.output(place)]] for place in range(len(plan.arrays))]
        side = self.once(("side", taken), lambda: Scope(self.memory, plan, inputs, outputs, self.work))
        side.inputs, side.outputs = inputs, outputs
        side.run()
        for index, where in enumerate(plan.outputs):
            spec = self.node.spec[index]
            if where.memory is MemoryKind.OUTPUT and first[where] == index:
                continue
            if scalars.is_single(spec) or self.shared[index] is None or where != Location.input(self.shared[index] - 1):
                self.copy(homes[index](), side.at(where), spec)
