"""Planning of sorts on a GPU: which kernels run, on which parts of which rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource, MemoryArgument
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine
from nxkernel.compilers.numba_cuda.routines import sort_kernels
from nxkernel.compilers.numba_cuda.routines.routine_table import DeviceRoutine, routine
from nxkernel.compilers.numba_cuda.routines.sort_kernels import DIGIT, DIGITS, ITEMS, NETWORK, THREADS, DeviceOrder
from nxkernel.graph.expr import Expr
from nxkernel.shapes import ceil_div

#: The longest rows for a network of comparisons; beyond, digits take less time.
SHORT = NETWORK
#: Elements of the rows that share a block.
_SHARED = 1024
#: Fewest elements of a part of a row, and the most parts.
PART, MOST_PARTS = 2 * THREADS * ITEMS, 1024
#: The most blocks of a grid; beyond, each takes several tasks.
MOST_BLOCKS = 1 << 20


@routine(p.sort, p.argsort)
def _sorting(node: Expr) -> DeviceRoutine:
    (operand,), axis = node.operands, node.params["axis"]
    outer, length = math.prod(operand.shape[:axis]), operand.shape[axis]
    columns = math.prod(operand.shape[axis + 1 :])
    title = f"{node.primitive.name} of {outer} x {length} x {columns}"
    if not outer * length * columns:
        return DeviceRoutine(node, title, lambda device: [], capturable=True)
    order = DeviceOrder(
        operand.type,
        node.params["direction"] == "desc",
        node.type if node.primitive is p.argsort else None,
        types.u32 if length < 1 << 32 else types.u64,
    )
    rows = _SortLaunches(node, title, order, outer * columns, length, columns)
    if length <= SHORT:
        return DeviceRoutine(node, title, rows.by_network, capturable=True)
    return DeviceRoutine(node, title, rows.by_digits, rows.scratch, capturable=True)


@dataclass(frozen=True)
class _SortLaunches:
    """Makes the launches that sort rows of a length."""

    node: Expr
    title: str
    order: DeviceOrder
    rows: int
    length: int
    columns: int

    def by_network(self, device: Machine) -> list[KernelLaunch]:
        """One launch that sorts several short rows a block."""
        power = 1 << max(self.length - 1, 1).bit_length()
        group = max(1, min(_SHARED // power, self.rows))
        block = min(device.threads, max(32, group * power // 2))
        scalars = (self.length, self.columns, power, group, self.rows)
        grid = min(ceil_div(self.rows, group), MOST_BLOCKS)
        memory = (MemoryArgument(self.node.operands[0]), MemoryArgument(self.node))
        title = f"{self.title} by a network of comparisons"
        return [KernelLaunch(sort_kernels.network(self.order), memory, scalars, (grid,), (block,), title=title)]

    @property
    def parts(self) -> int:
        """The number of parts that each row is cut into."""
        return ceil_div(self.length, self.part)

    @property
    def part(self) -> int:
        """The number of elements of a part."""
        return ceil_div(self.length, min(MOST_PARTS, ceil_div(self.length, PART)))

    @property
    def places(self) -> dict[str, int]:
        """The offsets in scratch memory of the counts and of the double-buffered keys and indices, and its size."""
        order, count = self.order, self.rows * self.length
        offsets, end = {}, 0
        sizes = {"counts": self.rows * DIGITS * self.parts * order.place.size}
        between = order.passes - 1
        for turn in range(min(between, 2)):
            sizes[f"keys {turn}"] = count * order.key.size
            if order.paired:
                sizes[f"places {turn}"] = count * order.place.size
        for name, size in sizes.items():
            offsets[name] = end
            end += ceil_div(size, 256) * 256
        return {**offsets, "end": end}

    @property
    def scratch(self) -> int:
        """Bytes of scratch memory."""
        return self.places["end"]

    def by_digits(self, device: Machine) -> list[KernelLaunch]:
        """Three launches for each digit, from the lowest."""
        order, places, passes = self.order, self.places, self.order.passes
        operand, result = MemoryArgument(self.node.operands[0]), MemoryArgument(self.node)
        block, tasks = min(THREADS, device.threads), self.rows * self.parts
        counts = MemoryArgument(None, places["counts"])
        launches = []

        def launch(
            source: KernelSource, memory: Sequence[MemoryArgument], scalars: Sequence[int], blocks: int, what: str
        ) -> None:
            title = f"{self.title}, digit {number + 1} of {passes}: {what}"
            grid = min(blocks, MOST_BLOCKS)
            launches.append(KernelLaunch(source, memory, scalars, (grid,), (block,), scratch=self.scratch, title=title))

        for number in range(passes):
            first, last = number == 0, number == passes - 1
            scalars = (self.length, self.columns, self.parts, self.part, DIGIT * number, tasks)
            old, new = (MemoryArgument(None, places.get(f"keys {turn % 2}", 0)) for turn in (number - 1, number))
            source = operand if first else old
            launch(sort_kernels.count(order, first), (source, counts), scalars, tasks, "count")
            launch(sort_kernels.offsets(order.place), (counts,), (DIGITS * self.parts, self.rows), self.rows, "offsets")
            memory = [source]
            if order.paired and not first:
                memory.append(MemoryArgument(None, places[f"places {(number - 1) % 2}"]))
            memory += [counts, result if last else new]
            if last and order.type.is_float and not order.index:
                memory.append(operand)
            elif not last and order.paired:
                memory.append(MemoryArgument(None, places[f"places {number % 2}"]))
            launch(sort_kernels.move(order, first, last), memory, scalars, tasks, "move")
        return launches
