"""Loops and branches of a plan as Python source; arrays of a loop's state change names instead of being copied."""

from __future__ import annotations

from collections.abc import Mapping

from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.numba_njit import source_writer
from nxkernel.compilers.numba_njit.program_steps import WRITERS, SourceScope
from nxkernel.compilers.numba_njit.source_writer import Variable, copied
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.loop_buffers import brought, loop_buffers_of
from nxkernel.compilers.plan.program_plan import Control, ProgramPlan, ScalarStep
from nxkernel.graph.expr import Expr


def write(scope: SourceScope, control: Control) -> None:
    """Write a loop or branch."""
    (_LoopText if control.is_loop else _BranchText)(scope, control).write()


class _ControlText:
    def __init__(self, scope: SourceScope, control: Control) -> None:
        self.scope, self.w = scope, scope.w
        self.control, self.node, self.results, self.shared = control, control.node, control.results, control.shared

    def operand(self, operand: Expr, meaning: str) -> Variable:
        """The variable of an operand for all bodies; a number that has none gets one."""
        if not scalars.is_single(operand):
            return self.scope.variable(operand)
        variable = self.w.number(meaning, operand.type, operand.shape, numbered=False)
        self.w.line(f"{variable.name} = {self.scope.value(operand)}")
        return variable

    def target(self, index: int, operand: Expr | None) -> Variable:
        """The array that a result is computed in."""
        result = self.results[index]
        if self.shared[index] is not None:
            assert operand is not None
            return self.scope.variable(operand)
        if result is not None:
            return self.scope.variable(result)
        spec = self.node.spec[index]
        return self.w.allocate("unused", spec.type, spec.shape)

    def part(
        self, plan: ProgramPlan, inputs: list[Variable], outputs: Mapping[int, Variable] | None = None
    ) -> SourceScope:
        """A scope for a body."""
        return SourceScope(self.w, plan, inputs, dict(outputs or {}), self.scope.shared)


class _LoopText(_ControlText):
    def write(self) -> None:
        """Write the loop."""
        w, node = self.w, self.node
        condition, body = self.control.parts
        count = node.params["state"]
        names = [parameter.params["name"] for parameter in body.graph.parameters]
        inputs = []
        for index, operand in enumerate(node.operands):
            if index >= count or scalars.is_single(operand):
                inputs.append(self.operand(operand, names[index]))
                continue
            inputs.append(target := self.target(index, operand))
            if self.shared[index] is None:
                w.line(copied(target, self.scope.variable(operand)))
        test = self.part(condition, inputs)
        fresh = {
            number: w.allocate(f"next_{array.primitive.name}", array.type, array.shape)
            for number, array in enumerate(body.arrays)
            if not scalars.is_single(array)
        }
        steps = condition.steps
        if all(isinstance(step.work, ScalarStep) for step in steps) and len(steps) <= 1:
            head = test.computed(steps[0].work.node) if steps else test.truth(condition.results[0])
            with w.block(f"while {head}:"):
                self._iteration(body, inputs, fresh)
        else:
            with w.block("while True:"):
                test.run()
                with w.block(f"if not ({test.truth(condition.results[0])}):"):
                    w.line("break")
                self._iteration(body, inputs, fresh)
        for index, result in enumerate(self.results):
            if result is not None and scalars.is_single(result):
                w.line(f"{self.scope.variable(result).name} = {inputs[index].name}")

    def _iteration(self, body: ProgramPlan, inputs: list[Variable], fresh: dict[int, Variable]) -> None:
        iteration = self.part(body, inputs, fresh)
        iteration.run()
        self._next(iteration, body, inputs, fresh)

    def _next(
        self, iteration: SourceScope, body: ProgramPlan, inputs: list[Variable], fresh: dict[int, Variable]
    ) -> None:
        """Make the results of an iteration the state of the next one: names change places."""
        count = self.node.params["state"]
        pairs: list[tuple[str, str]] = []
        arrays = [k for k in range(count) if not inputs[k].is_number]
        buffers = {Location.input(k): inputs[k] for k in arrays}
        buffers |= {Location.output(number): variable for number, variable in fresh.items()}
        free = dict(buffers)
        for k in range(count):
            where = body.outputs[k]
            if k not in arrays:
                value = iteration.at(where, body.results[k])
                if where != Location.input(k):
                    pairs.append((inputs[k].name, value.name))
                continue
            source = iteration.at(where, body.results[k])
            if where in free and source.shape == inputs[k].shape:
                del free[where]
            else:
                # Another part of the state is in that memory, too, or it belongs to somebody else.
                reshaped = (
                    "" if source.shape == inputs[k].shape else f".reshape({source_writer.shape_text(inputs[k].shape)})"
                )
                pairs.append((inputs[k].name, f"{source.name}{reshaped}.copy()"))
                continue
            if where != Location.input(k):
                pairs.append((inputs[k].name, source.name))
        taken = {source for _, source in pairs}
        for variable in fresh.values():
            if variable.name in taken:
                # What was a part of the state is what the next iteration writes to.
                fitting = [
                    place
                    for place, other in free.items()
                    if (other.type, other.shape) == (variable.type, variable.shape)
                ]
                pairs.append((variable.name, free.pop(fitting[0]).name if fitting else source_writer.empty(variable)))
            else:
                free.pop(next((place for place, other in free.items() if other is variable), None), None)
        self.w.rebound.update(name for name, _ in pairs)
        if pairs:
            self.w.line(f"{', '.join(name for name, _ in pairs)} = {', '.join(source for _, source in pairs)}")


class _BranchText(_ControlText):
    def write(self) -> None:
        """Write the branch."""
        predicate, *operands = self.node.operands
        names = [parameter.params["name"] for parameter in self.control.parts[0].graph.parameters]
        condition = self.scope.truth(predicate)
        inputs = [self.operand(operand, name) for operand, name in zip(operands, names, strict=True)]
        targets = []
        for index, spec in enumerate(self.node.spec):
            if scalars.is_single(spec):
                result = self.results[index]
                targets.append(
                    self.scope.variable(result)
                    if result is not None
                    else self.w.number("unused", spec.type, spec.shape)
                )
            else:
                position = self.shared[index]
                targets.append(self.target(index, None if position is None else self.node.operands[position]))
        copies = loop_buffers_of(self.node, self.results, self.control.parts, self.shared).copies
        for head, plan in zip((f"if {condition}:", "else:"), self.control.parts, strict=True):
            with self.w.block(head):
                self._side(plan, inputs, targets, set(copies))

    def _side(self, plan: ProgramPlan, inputs: list[Variable], targets: list[Variable], copies: set[int]) -> None:
        inputs = list(inputs)
        for position in sorted(plan.overwritten & copies):
            original = inputs[position]
            inputs[position] = self.w.allocate(f"{original.name}_copy", original.type, original.shape, numbered=False)
            self.w.line(copied(inputs[position], original))
        first = {where: index for index, where in reversed(list(enumerate(plan.outputs)))}
        arrays = {
            number: targets[first[Location.output(number)]]
            for number in range(len(plan.arrays))
            if Location.output(number) in first
        }
        side = self.part(plan, inputs, arrays)
        side.run()
        for index in brought(plan, self.shared):
            source = side.at(plan.outputs[index], plan.results[index])
            if targets[index].is_number:
                self.w.line(f"{targets[index].name} = {side.value(plan.results[index])}")
            else:
                self.w.line(copied(targets[index], source))


WRITERS[Control] = write
