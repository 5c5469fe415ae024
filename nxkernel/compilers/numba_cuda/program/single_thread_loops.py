"""Single-thread loops: loops and branches over scalars and elements run in one kernel, so that nothing is read back.

Where the iterations of a loop do not depend on each other, each thread of the kernel takes some of them; else it has
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nxkernel import shapes
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.element_types import ComplexText, Value
from nxkernel.compilers.numba_cuda.language.elementwise import truth
from nxkernel.compilers.numba_cuda.program.host_numbers import is_known
from nxkernel.compilers.numba_cuda.program.host_steps import Address, CopyStep, LaunchStep
from nxkernel.compilers.numba_cuda.program.scalar_kernels import known_value
from nxkernel.compilers.numba_cuda.program.scalar_text import FIRST, Arithmetic, ScalarKernel
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.loop_buffers import loop_buffers_of
from nxkernel.compilers.plan.program_plan import Control, LaunchMode, ProgramPlan, ScalarStep
from nxkernel.compilers.schedule.loop_nest import StoreMode
from nxkernel.graph.expr import Expr
from nxkernel.messages.grammar import counted
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cuda.program.program_writer import DeviceScope

#: Threads of a block where iterations are shared, and how many blocks each multiprocessor has at most.
BLOCK, BLOCKS = 64, 16
#: Iterations assumed for a loop whose number of iterations is unknown.
ASSUMED_ITERATIONS = 1 << 12


def loop_title(control: Control) -> str:
    """A loop's title, for people."""
    return "loop" if control.max_iterations is None else f"loop of at most {counted(control.max_iterations, 'turn')}"


def write_single_thread(scope: DeviceScope, control: Control) -> None:
    """Write a loop or branch that threads run each by themselves, as one launch."""
    _Outermost(scope, control).write()


class _Inside(Arithmetic):
    """Writes the steps of a plan into a kernel.

    Parameters
    ----------
    kernel : ScalarKernel
    plan : ProgramPlan
    values : mapping
        Single numbers by their places.
    arrays : mapping
        The pointers to arrays by their places.
    """

    def __init__(
        self, kernel: ScalarKernel, plan: ProgramPlan, values: Mapping[Location, Value], arrays: Mapping[Location, str]
    ) -> None:
        super().__init__(kernel, plan)
        self.values, self.arrays = dict(values), dict(arrays)

    def operand(self, node: Expr) -> Value:
        """The variable of a scalar operand."""
        return self.values[self.plan.place[node]]

    def array(self, node: Expr) -> str:
        """The name of the pointer to an array."""
        return self.arrays[self.plan.place[node]]

    def run(self) -> None:
        """Write all steps."""
        for step in self.plan.steps:
            work = step.work
            if isinstance(work, Control):
                self.control(work)
            elif isinstance(work, ScalarStep):
                self.values[self.plan.place[work.node]] = self.value(work.node)
            else:
                self._store(work.node)

    def _store(self, node: Expr) -> None:
        index, value, mode = self.stored(node)
        location, type_ = self.plan.place[node], node.type
        if scalars.is_single(node):
            # An array of one element is a variable, too.
            is_put = mode is StoreMode.PUT
            self.values[location] = value if is_put else self.joined(self.values[location], value, type_, mode)
            return
        pointer = self.arrays[location]
        if mode is not StoreMode.PUT:
            value = self.joined(self.w.load(pointer, index, type_), value, type_, mode)
        self.w.store(pointer, index, value, type_)

    # Loops and branches -----------------------------------------------------------------------------------------

    def control(self, control: Control) -> None:
        """Write an inner loop or branch."""
        operands = control.node.operands
        values = {k: self.taken(one) for k, one in enumerate(operands) if scalars.is_single(one)}
        arrays = {k: self.array(one) for k, one in enumerate(operands) if k not in values}
        write = self.loop if control.is_loop else self.choice
        for result, value, operand in zip(control.results, write(control, values, arrays), control.shared, strict=True):
            if result is None:
                continue
            if value is not None:
                self.values[self.plan.place[result]] = value
            else:
                self.arrays[self.plan.place[result]] = arrays[operand]

    def loop(
        self, control: Control, values: Mapping[int, Value], arrays: Mapping[int, str], step: str = ""
    ) -> list[Value | None]:
        """Write a loop; its results, None for arrays.

        Parameters
        ----------
        control : Control
        values, arrays : mapping
            Its operands, by place.
        step : str
            What a thread adds to the counter, where threads share the iterations.
        """
        count, (condition, body), w = control.node.params["state"], control.parts, self.w
        state = {k: self._variable(value) for k, value in values.items() if k < count}
        inputs = {Location.input(k): state.get(k, value) for k, value in values.items()}
        pointers = {Location.input(k): name for k, name in arrays.items()}
        with w.block("while True:"):
            asked = _Inside(self.kernel, condition, inputs, pointers)
            asked.run()
            type_ = condition.graph.outputs[0].type
            holds = truth(asked.values[condition.outputs[0]], type_)
            with w.block(f"if not ({holds}):"):
                w.line("break")
            turned = _Inside(self.kernel, body, inputs, pointers)
            turned.run()
            # All are read before any is written: they may change places.
            changed = [k for k in state if body.outputs[k] != Location.input(k)]
            after = {k: turned.values[body.outputs[k]] for k in changed}
            if step:
                after[control.independence.counter] = f"{state[control.independence.counter]} + {step}"
            targets = [part for k in changed for part in _parts(state[k])]
            if targets:
                w.line(f"{', '.join(targets)} = {', '.join(part for k in changed for part in _parts(after[k]))}")
        return [state.get(k) for k in range(count)]

    def choice(self, control: Control, values: Mapping[int, Value], arrays: Mapping[int, str]) -> list[Value | None]:
        """Write a branch; its results, None for arrays."""
        w, node = self.w, control.node
        inputs = {Location.input(k - 1): value for k, value in values.items() if k}
        pointers = {Location.input(k - 1): name for k, name in arrays.items()}
        results: list[Value | None] = [self._name(spec.type) if scalars.is_single(spec) else None for spec in node.spec]
        holds = truth(values[0], node.operands[0].type)
        for header, plan in zip((f"if {holds}:", "else:"), control.parts, strict=True):
            with w.block(header):
                side = _Inside(self.kernel, plan, inputs, pointers)
                side.run()
                for name, where in zip(results, plan.outputs, strict=True):
                    if name is not None:
                        for target, part in zip(_parts(name), _parts(side.values[where]), strict=True):
                            w.line(f"{target} = {part}")
                w.line("pass")
        return results

    def _name(self, type_: Type) -> Value:
        return ComplexText(self.w.name("y"), self.w.name("y")) if type_.is_complex else self.w.name("y")

    def _variable(self, value: Value) -> Value:
        """A new variable with an initial value."""
        names = [self.w.name("y") for _ in _parts(value)]
        for name, part in zip(names, _parts(value), strict=True):
            self.w.line(f"{name} = {part}")
        return ComplexText(*names) if isinstance(value, ComplexText) else names[0]


def _parts(value: Value) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, ComplexText) else (value,)


class _Outermost:
    """Writes the kernel and launch of a loop or branch."""

    def __init__(self, scope: DeviceScope, control: Control) -> None:
        self.scope, self.control, self.node = scope, control, control.node
        self.is_loop, self.shared = control.is_loop, control.launch.mode is LaunchMode.MANY_THREADS
        self.kernel = ScalarKernel("loop" if self.is_loop else "choice", self._title())
        self.w = self.kernel.w

    def _title(self) -> str:
        if not self.is_loop:
            return "choice of single numbers, by one thread"
        return f"{loop_title(self.control)}, {'its turns shared by threads' if self.shared else 'by one thread'}"

    def write(self) -> None:
        """Write the kernel, and append the launch."""
        scope, control, operands = self.scope, self.control, self.node.operands
        values = {k: self._given(one) for k, one in enumerate(operands) if scalars.is_single(one)}
        addresses = {k: self._array_address(k, one) for k, one in enumerate(operands) if k not in values}
        arrays = {k: self.kernel.pointer_to(where, operands[k].type) for k, where in addresses.items()}
        inside = _Inside(self.kernel, scope.plan, {}, {})
        if not self.shared:
            results = (inside.loop if self.is_loop else inside.choice)(control, values, arrays)
            self._keep(results)
            grid, block = (1,), (1,)
        else:
            grid, block = self._share(inside, values, arrays)
        launch, places, live = self.kernel.launch(grid, block)
        for result in control.results:
            if result is not None:
                scope.values.pop(scope.plan.place[result], None)
        record = scope.writer.records.control(launch, self.node, self.is_loop)
        number = scope.writer.records.number(record)
        scope.add(LaunchStep(launch.title, launch, places, live, nodes=record.nodes, record=number))

    def _given(self, operand: Expr) -> Value:
        """The text of a scalar operand."""
        scope = self.scope
        if is_known(scope.plan, operand, scope.values):
            return self.kernel.number(known_value(scope, operand), operand.type)
        return self.w.load(self.kernel.pointer_to(scope.where(operand), operand.type), FIRST, operand.type)

    def _array_address(self, position: int, operand: Expr) -> Address:
        """The address of an array operand; loop state is copied first if its result is elsewhere."""
        scope, control = self.scope, self.control
        if not self.is_loop or position >= self.node.params["state"] or control.shared[position] is not None:
            return scope.where(operand)
        if control.results[position] is not None:
            address = scope.where(control.results[position])
        else:
            register, begin = scope.where(control.scratch)
            offset = loop_buffers_of(self.node, control.results, control.parts, control.shared).results[position]
            address = Address(register, begin + offset)
        scope.add(CopyStep("state of a loop", address, scope.where(operand), bytes_of(operand), nodes=[self.node]))
        return address

    def _keep(self, values: list[Value | None]) -> None:
        """Write the scalar results to memory."""
        for result, value in zip(self.control.results, values, strict=True):
            if result is not None and value is not None:
                self.w.store(self.kernel.pointer_to(self.scope.where(result), result.type), FIRST, value, result.type)

    def _share(
        self, inside: _Inside, values: Mapping[int, Value], arrays: Mapping[int, str]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Write a loop whose iterations threads share; grid and block."""
        w, control, independence = self.w, self.control, self.control.independence
        counter, count = independence.counter, self.node.params["state"]
        start, step = values[counter], self.kernel.scalar("s64", independence.step)
        thread = w.let("cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")
        mine = w.let(f"{start} + {thread} * {step}")
        further = w.let(f"cuda.gridDim.x * cuda.blockDim.x * {step}")
        inside.loop(control, {**values, counter: mine}, arrays, further)
        wanted = [k for k in range(count) if k in values and control.results[k] is not None]
        if wanted:
            with w.block(f"if {thread} == 0:"):
                after = {k: self._end(values) if k == counter else values[k] for k in wanted}
                self._keep([after.get(k) for k in range(count)])
        device, iterations = self.scope.writer.device, control.max_iterations or ASSUMED_ITERATIONS
        block = min(BLOCK, device.threads)
        most = device.multiprocessors * (1 if device.simulated else BLOCKS)
        return (max(1, min(shapes.ceil_div(iterations, block), most)),), (block,)

    def _end(self, values: Mapping[int, Value]) -> Value:
        """The counter's value after the loop."""
        independence = self.control.independence
        condition, start = self.node.params["condition"], values[independence.counter]
        places = {parameter: position for position, parameter in enumerate(condition.parameters)}
        if independence.bound in places:
            bound = values[places[independence.bound]]
        else:
            bound = element_types.literal(independence.bound.params["value"], independence.bound.type)
        step = abs(independence.step)
        way = f"{bound} - {start}" if independence.step > 0 else f"{start} - {bound}"
        iterations = self.w.let(f"div(maximum({way}, {FIRST}) + s64({step - 1}), s64({step}))")
        return self.w.let(f"{start} + {iterations} * s64({independence.step})")
