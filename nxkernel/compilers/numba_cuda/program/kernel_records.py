"""Records of a program's kernels for explanations and for the inspector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.display.nest_source import render
from nxkernel.compilers.interface import KernelRecord
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource
from nxkernel.compilers.numba_cuda.program.host_steps import DeviceStep
from nxkernel.compilers.numba_cuda.routines.routine_table import DeviceRoutine
from nxkernel.compilers.numba_cuda.toolchain.object_code import ptx
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.program_plan import Step
from nxkernel.compilers.schedule.loop_nest import PassLevel
from nxkernel.graph.expr import Expr
from nxkernel.messages.grammar import counted

#: Instructions that compute nothing.
_NO_WORK = frozenset(["load", "gather", "const", "slot", "index", "scratch"])
#: What PTX is written for where there is no GPU.
ANY_ARCH = "sm_90"


class Records:
    """The kernel records of a program under construction.

    Parameters
    ----------
    origin : mapping
        For each node that was rewritten the node that it came from.
    device : Device

    Attributes
    ----------
    all : list of KernelRecord
    """

    def __init__(self, origin: Mapping[Expr, Expr], device: Device) -> None:
        self.origin, self.device = origin, device
        self.all: list[KernelRecord] = []

    def number(self, record: KernelRecord) -> int:
        """Add a record; its number."""
        self.all.append(record)
        return len(self.all) - 1

    def ordered(self, steps: Iterable[DeviceStep]) -> list[KernelRecord]:
        """All records in the order of the steps; records that continue the previous one's node are marked.

        Parameters
        ----------
        steps : iterable of DeviceStep
            All of the program; they get to know the new numbers of their records.
        """
        ordered: list[KernelRecord] = []
        for step in steps:
            if step.record is not None:
                ordered.append(self.all[step.record])
                step.record = len(ordered) - 1
        for before, record in pairwise(ordered):
            record.continues = len(record.nodes) == 1 == len(before.nodes) and record.nodes[0] is before.nodes[0]
        return ordered

    def nest(self, step: Step, launch: KernelLaunch) -> KernelRecord:
        """Kernel record of a loop-nest launch."""
        bound = step.work
        nest = bound.nest
        inner = [node for node in bound.nodes if node in self.origin and node.primitive.family != "leaf"]
        # A kernel that only fills a part of a value, such as the margin of a padded one, is for that value.
        nodes = list(dict.fromkeys(self._from(node) for node in inner or step.writes))
        count = sum(op.name not in _NO_WORK for op in nest.ops())
        sizes = " x ".join(str(scalar) for scalar in bound.scalars[: nest.outer + nest.inner]) or "one element"
        title = f"{nest.kind} of {sizes}, {counted(len(step.reads), 'read')}, {counted(len(step.writes), 'write')}"
        passes = sum(nest_pass.level is PassLevel.FULL for nest_pass in nest.passes)
        title = f"{title}, {passes} passes" if passes > 1 else title
        title = f"{title}, {launch.title}" if launch.title else title
        record = self._kernel(nest.kind, title, launch.source, nodes, _moved(step))
        record.operations = count * bound.elements
        record.texts = {"Numba source": lambda: _shown(nest), **record.texts}
        return record

    def numbers(self, launch: KernelLaunch, nodes: Sequence[Expr]) -> KernelRecord:
        """Kernel record of a launch that computes scalars."""
        shown = list(dict.fromkeys(self._from(node) for node in nodes))
        moved = sum(node.type.size for node in nodes)
        record = self._kernel("numbers", launch.title, launch.source, shown, moved)
        record.operations = len(nodes)
        return record

    def control(self, launch: KernelLaunch, node: Expr, is_loop: bool) -> KernelRecord:
        """Kernel record of a launch that runs a loop or branch as a whole."""
        kind = "loop" if is_loop else "choice"
        return self._kernel(kind, launch.title, launch.source, [self._from(node)], 0)

    def routine(self, step: Step, routine: DeviceRoutine, launch: KernelLaunch | None) -> KernelRecord:
        """Kernel record of a routine's launch, or of a library call."""
        node = step.work.node
        moved = sum(bytes_of(owner) for owner in {*step.reads, *step.writes} if owner is not step.work.scratch)
        if launch is not None:
            return self._kernel(node.primitive.name, launch.title, launch.source, [self._from(node)], moved)
        return KernelRecord(
            node.primitive.name, routine.title, routine.library, "library", 0.0, [self._from(node)], moved
        )

    def product(self, product: Product, call: Any) -> KernelRecord:
        """Kernel record of a matrix product."""
        rows, columns, depth = product.rows, product.columns, product.depth
        elements = product.batch * (rows * depth + depth * columns + rows * columns)
        flops = (8 if product.type.is_complex else 2) * product.batch * rows * columns * depth
        nodes = [self._from(product.node)]
        moved = elements * product.type.size
        return KernelRecord("matrix product", call.title, call.symbol, "library", 0.0, nodes, moved, flops)

    def _kernel(self, kind: str, title: str, source: KernelSource, nodes: list[Expr], moved: int) -> KernelRecord:
        texts: dict[str, Callable[[], str]] = {
            "Numba CUDA source": lambda: source.text,
            "PTX": lambda: _ptx(source, self.device),
        }
        return KernelRecord(kind, title, source.symbol, "memory", 0.0, nodes, moved, texts=texts)

    def _from(self, node: Expr) -> Expr:
        return self.origin.get(node, node)


def _moved(step: Step) -> int:
    return sum(map(bytes_of, {*step.reads, *step.writes}))


def _shown(nest: Any) -> str:
    return render(nest)


def _ptx(source: KernelSource, device: Device) -> str:
    return ptx(source, ANY_ARCH if device.simulated else device.arch)
