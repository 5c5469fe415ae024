"""Single-block loops: all iterations of a loop over little memory run in one kernel of one block.

Between kernels the threads of a block wait for each other, which takes a tenth of what a launch does, and nothing is
read back to find out whether there is another iteration.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.elementwise import truth
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch
from nxkernel.compilers.numba_cuda.program.host_steps import (
    Address,
    CopyStep,
    HostArithmetic,
    HostNumbers,
    HostStep,
    LaunchStep,
)
from nxkernel.compilers.numba_cuda.program.scalar_text import FIRST, ScalarKernel
from nxkernel.graph.expr import Expr
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cuda.program.control_flow import LoopStep

#: Threads of the block, of a GPU and in the simulator.
THREADS, SIMULATED = 256, 32
#: Bytes of shared arrays, and arguments, that a kernel has at most.
SHARED, ARGUMENTS = 40 << 10, 400


_SHARED_ARRAY = re.compile(r"cuda\.shared\.array\(([1-9]\d*),")


class OneBlockError(Exception):
    """A loop's kernel is too large for one block, so that its launch mode must be decided again.

    Parameters
    ----------
    node : Expr
        The loop.
    reason : str
    """

    def __init__(self, node: Expr, reason: str) -> None:
        super().__init__(reason)
        self.node, self.reason = node, reason


class SingleBlock:
    """The properties of a device of one block, for which the kernels inside such a loop are written.

    Parameters
    ----------
    device : Device
    """

    multiprocessors, simulated = 1, False

    def __init__(self, device: Device) -> None:
        self.threads = SIMULATED if device.simulated else THREADS
        self.shared_limit = device.shared_limit


def in_one_block(loop: LoopStep, after: Sequence[CopyStep], answer: Type, device: Device, title: str) -> list[HostStep]:
    """The steps of a loop that one block runs: those of the host before it, and one launch.

    Parameters
    ----------
    loop : LoopStep
        Whose state no part is a number of the host of.
    after : sequence of CopyStep
        What is done when it is over.
    answer : Type
        Of its condition.
    device : Device
    title : str
        What it does, for people.

    Raises
    ------
    OneBlockError
        If the kernel needs more than a block of the device has.
    """
    inside = [*loop.condition, *loop.body, *loop.copies, *after]
    reckoned = [step for step in inside if isinstance(step, HostArithmetic | HostNumbers)]
    asked, turned, ended = (
        [step for step in steps if not isinstance(step, HostArithmetic | HostNumbers)]
        for steps in (loop.condition, [*loop.body, *loop.copies], after)
    )
    writer = SingleBlockWriter(loop, SingleBlock(device), title)
    writer.write(asked, turned, ended, answer)
    return [*reckoned, writer.launched()]


class SingleBlockWriter:
    """Writes the kernel of a loop that one block runs."""

    def __init__(self, loop: LoopStep, block: SingleBlock, title: str) -> None:
        self.loop, self.threads, self.limit = loop, block.threads, block.shared_limit
        self.kernel = ScalarKernel("loop", title)
        self.w = self.kernel.w
        self.begins = dict(loop.begins)
        #: For each register what it becomes after an iteration.
        self.sources = dict(loop.moves)
        #: The variables that stand for pointers into memory that changes places, by register, offset and type.
        self.variables: dict[tuple[int, int, str], str] = {}
        self.shared = self.bytes = 0
        self.arrays: list[str] = []
        self.live: list[tuple[int, int, int | None]] = []

    def write(
        self, asked: Sequence[HostStep], turned: Sequence[HostStep], ended: Sequence[HostStep], answer: Type
    ) -> None:
        """Write the whole kernel."""
        if not all(isinstance(step, CopyStep | LaunchStep) for step in (*asked, *turned)):
            raise OneBlockError(self.loop.node, "a kernel needs memory of its own")
        for step in (*asked, *turned, *ended):
            for where, kind in _pointers(step):
                self._pointer(where, kind)
        flag = self._pointer(self.loop.answer.where, element_types.memory_type(answer))
        body = self.kernel.w = self.w = type(self.w)(2)
        for step in asked:
            self._step(step)
        value = element_types.from_memory(f"{flag}[{FIRST}]", answer)
        holds = body.let(truth(body.let(value), answer))
        # Nobody changes the answer before all have it.
        body.line("cuda.syncthreads()")
        body.line(f"if not {holds}:")
        body.line("    break")
        for step in turned:
            self._step(step)
        after = {key: (self.sources.get(key[0], key[0]), *key[1:]) for key in self.variables}
        moved = [(self.variables[key], self.variables[other]) for key, other in after.items() if key != other]
        for position, (_, other) in enumerate(moved):
            body.line(f"moved{position} = {other}")
        for position, (name, _) in enumerate(moved):
            body.line(f"{name} = moved{position}")
        end = self.w = type(body)(1)
        for step in ended:
            self._copy(step)
        start = type(body)(1)
        start.line("thread = s64(cuda.threadIdx.x)")
        for line in self.arrays:
            start.line(line)
        for (register, offset, kind), name in self.variables.items():
            base, begin = self.begins[register]
            start.line(f"{name} = {self.kernel.pointer((base, begin + offset), kind)}")
        start.line("while True:")
        self.kernel.w = type(body)(1)
        self.kernel.w.lines = [*start.lines, *body.lines, *end.lines]
        if self.bytes > SHARED or self.bytes + self.shared > self.limit:
            raise OneBlockError(self.loop.node, f"it takes {self.bytes + self.shared:,} bytes of shared memory")
        if self.kernel.arguments > ARGUMENTS:
            raise OneBlockError(self.loop.node, f"its kernel has {self.kernel.arguments:,} arguments")

    def launched(self) -> LaunchStep:
        """The launch of the kernel."""
        launch, places, numbers = self.kernel.launch((1,), (self.threads,), self.shared)
        return LaunchStep(launch.title, launch, places, numbers, nodes=[self.loop.node])

    # Memory ----------------------------------------------------------------------------------------------------

    def _pointer(self, where: Address, kind: str) -> str:
        """The name of a pointer: a parameter, or a variable where buffers are swapped."""
        register, offset = where
        if register not in self.begins:
            return self.kernel.pointer(where, kind)
        current = register
        while (current, offset, kind) not in self.variables:
            self.variables[current, offset, kind] = f"at{len(self.variables)}"
            current = self.sources.get(current, current)
        return self.variables[register, offset, kind]

    # Steps -----------------------------------------------------------------------------------------------------

    def _step(self, step: CopyStep | LaunchStep) -> None:
        if isinstance(step, CopyStep):
            self._copy(step)
            return
        self._take_in(step, self._block(step.launch))
        self.w.line("cuda.syncthreads()")

    def _block(self, launch: KernelLaunch) -> tuple[int, int]:
        """Write a kernel's thread indices for its own block shape; kernels of scalars run on one thread."""
        if launch.scratch:
            raise OneBlockError(self.loop.node, "a kernel needs memory of its own")
        if _is_single(launch):
            return 1, 1
        wide, high, deep = (*launch.block, 1, 1)[:3]
        sizes = [int(count) for count in _SHARED_ARRAY.findall(launch.source.text)]
        if launch.source.name == "columns" and any(count < self.threads for count in sizes):
            # Each thread leaves something there.
            raise OneBlockError(self.loop.node, f"a kernel has no room for {self.threads} threads")
        if high == deep == 1:
            return self.threads, 1
        if deep != 1 or self.threads % wide:
            raise OneBlockError(self.loop.node, f"a kernel has blocks of {' x '.join(map(str, launch.block))} threads")
        return wide, self.threads // wide

    def _copy(self, step: CopyStep) -> None:
        kind, size = _copied_as(step)
        target, source = (self._pointer(where, kind) for where in (step.target, step.source))
        w, name = self.w, self.w.name("k")
        count = self.kernel.scalar("s64", step.size // size)
        w.line(f"{name} = thread")
        with w.block(f"while {name} < {count}:"):
            w.line(f"{target}[{name}] = {source}[{name}]")
            w.line(f"{name} += {self.threads}")
        w.line("cuda.syncthreads()")

    def _take_in(self, step: LaunchStep, block: tuple[int, int]) -> None:
        """Write the body of a kernel, its names made unique."""
        launch, w = step.launch, self.w
        prefix = w.name("k")
        (function,) = ast.parse(launch.source.text).body
        names: dict[str, str] = {}
        parameters = launch.source.parameters
        live = {position: (value, part) for position, value, part in step.numbers}
        for position, (argument, kind) in enumerate(zip(function.args.args, parameters, strict=True)):
            if kind.endswith("*"):
                names[argument.arg] = self._pointer(step.places[position], kind)
            elif position in live:
                names[argument.arg] = self.kernel.live(kind, *live[position])
            else:
                names[argument.arg] = self.kernel.scalar(kind, launch.scalars[position - len(step.places)])
        self.shared = max(self.shared, launch.shared)
        wide, high = block
        single = _is_single(launch)
        if not single:
            w.line(f"{prefix}_x = rem(thread, {wide})")
            w.line(f"{prefix}_y = div(thread, {wide})")
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
                # What changes an argument changes a variable of its own.
                own = f"{prefix}_{node.id}"
                if names[node.id] != own:
                    w.line(f"{own} = {names[node.id]}")
                    names[node.id] = own
        renamed = _Renamed(prefix, names, {"x": wide, "y": high})
        lines: list[str] = []
        for statement in function.body:
            statement = renamed.visit(statement)
            text = ast.unparse(statement).splitlines()
            size = _shared_bytes(statement)
            if size is None:
                lines += text
            else:
                self.bytes += size
                self.arrays += text
        if single:
            with w.block("if thread == 0:"):
                w.extend(lines)
        else:
            w.extend(lines)


def _is_single(launch: KernelLaunch) -> bool:
    """Whether a launch has a single thread."""
    return set(launch.grid) == set(launch.block) == {1}


def _pointers(step: HostStep) -> Iterable[tuple[Address, str]]:
    """The addresses that a step uses, with their pointer types."""
    if isinstance(step, CopyStep):
        kind, _ = _copied_as(step)
        return [(step.target, kind), (step.source, kind)]
    kinds = [kind for kind in step.launch.source.parameters if kind.endswith("*")]
    return list(zip(step.places, kinds, strict=True))


def _copied_as(step: CopyStep) -> tuple[str, int]:
    """The element type and size by which memory is copied; memory begins at multiples of 16."""
    size = next(size for size in (8, 4, 2, 1) if step.size % size == 0)
    return f"u{8 * size}*", size


def _shared_bytes(statement: ast.stmt) -> int | None:
    """The bytes of a shared array that a statement allocates; 0 for a dynamic one."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if ast.unparse(call.func) != "cuda.shared.array":
        return None
    count, type_ = call.args
    return count.value * np.dtype(getattr(np, type_.attr)).itemsize


class _Renamed(ast.NodeTransformer):
    """Renames a kernel's variables and replaces its thread indices by those of its own block shape."""

    def __init__(self, prefix: str, names: dict[str, str], sizes: dict[str, int]) -> None:
        self.prefix, self.names, self.sizes = prefix, names, sizes

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Store) and node.id not in self.names:
            self.names[node.id] = f"{self.prefix}_{node.id}"
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        # What is assigned uses names as they were before.
        value = self.visit(node.value)
        return ast.Assign([self.visit(target) for target in node.targets], value, lineno=0)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        text = ast.unparse(node)
        if text.startswith("cuda.threadIdx."):
            return ast.Name(f"{self.prefix}_{node.attr}", ast.Load())
        if text.startswith("cuda.blockDim."):
            return ast.Constant(self.sizes[node.attr])
        if text.startswith(("cuda.blockIdx.", "cuda.gridDim.")):
            return ast.Constant(int("gridDim" in text))
        return node
