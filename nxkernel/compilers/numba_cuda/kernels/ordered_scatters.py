"""Scatters in which the last of several writes to one position wins, whatever order threads run in.

A first kernel finds for each place the last element that goes there: elements have numbers in the order of the nest,
and the greatest is kept. A second one writes those that are the last ones of their places.
"""

from __future__ import annotations

import dataclasses

from nxkernel import shapes
from nxkernel.compilers.numba_cuda.kernels.elementwise_maps import Mapping
from nxkernel.compilers.numba_cuda.kernels.group_reductions import writer_for
from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import KernelArguments
from nxkernel.compilers.numba_cuda.kernels.pass_writer import Lane, PassWriter
from nxkernel.compilers.numba_cuda.language.element_types import Value
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import NestPass, Scatter, StoreMode

#: The byte that the number -1 has everywhere: no element is less.
NOBODY = 0xFF


def is_contested(bound: BoundNest) -> bool:
    """Whether several elements of a nest may be written to the same position."""
    return bound.in_order and any(scatter.mode is StoreMode.PUT for scatter in _scatters(bound))


def launches(bound: BoundNest, device: Machine) -> list[KernelLaunch]:
    """The two launches of such a scatter: one that finds the last writer of each position, and one that writes."""
    reduces = any(nest_pass.reduces for nest_pass in bound.nest.passes)
    both = []
    for code in (_Claims, _Winners):
        writer = writer_for(bound, device, code) if reduces else Mapping(bound, device, code)
        fill = NOBODY if code is _Claims else None
        both += [
            dataclasses.replace(launch, title=f"{launch.title}, {code.title}", fill=fill)
            for launch in writer.launches()
        ]
    return both


def _scatters(bound: BoundNest) -> list[Scatter]:
    return [scatter for nest_pass in bound.nest.passes for scatter in nest_pass.scatters]


class LastWriterPass(PassWriter):
    """Writes passes that compare each element with the last writer of its target position."""

    title = ""
    vectors = False

    def __init__(self, arguments: KernelArguments, writer: SourceWriter) -> None:
        super().__init__(arguments, writer)
        sizes = arguments.sizes
        self.type = "s32" if shapes.size(sizes) < 1 << 31 else "s64"
        self.tables: dict[int, str] = {}
        for scatter in _scatters(arguments.bound):
            if scatter.mode is StoreMode.PUT and scatter.buffer not in self.tables:
                owner, _ = arguments.bound.buffers[arguments.nest.memory.index(scatter.buffer)]
                name = f"last_{arguments.buffers[scatter.buffer]}"
                self.tables[scatter.buffer] = arguments.reserve(name, f"{self.type}*", shapes.size(owner.shape))


class _Claims(LastWriterPass):
    """The first launch: each element claims its target position."""

    title = "the last of each place"

    def store(self, nest_pass: NestPass, *arguments, **options) -> None:
        """Write the scatters only: other stores are left to the second launch."""
        super().store(nest_pass._replace(stores=()), *arguments, **options)

    def scatter(self, scatter: Scatter, lane: Lane, offset: str, value: Value) -> None:
        """Write an atomic maximum of the element's number at the position."""
        if scatter.mode is StoreMode.PUT:
            self.w.line(f"atomic_max({self.tables[scatter.buffer]}, {offset}, {self.type}({self.order(lane)}))")


class _Winners(LastWriterPass):
    """The second launch: elements that are the last writers of their positions write."""

    title = "written"

    def scatter(self, scatter: Scatter, lane: Lane, offset: str, value: Value) -> None:
        """Write the value if the element is the position's last writer."""
        if scatter.mode is not StoreMode.PUT:
            super().scatter(scatter, lane, offset, value)
            return
        with self.w.block(f"if {self.tables[scatter.buffer]}[{offset}] == {self.order(lane)}:"):
            super().scatter(scatter, lane, offset, value)
