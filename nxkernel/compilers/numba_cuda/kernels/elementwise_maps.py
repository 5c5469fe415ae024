"""Element-wise kernels: nests without reductions, in which threads take elements one by one or in vectors."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import shapes
from nxkernel.compilers.numba_cuda.kernels import axis_loops
from nxkernel.compilers.numba_cuda.kernels.axis_loops import ABREAST, SHORT, Span
from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import KernelArguments
from nxkernel.compilers.numba_cuda.kernels.pass_writer import Lane, PassWriter
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine, flat
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import NestPass, PassLevel


class Mapping:
    """Writes the kernel of a nest without reductions.

    Parameters
    ----------
    bound : BoundNest
    device : Machine
    code : type, optional
        What writes passes.
    """

    name, title = "map", "element by element"

    def __init__(self, bound: BoundNest, device: Machine, code: type[PassWriter] = PassWriter) -> None:
        self.nest, self.device = bound.nest, device
        self.arguments = KernelArguments(bound)
        self.w = SourceWriter(1)
        self.code = code(self.arguments, self.w)

    def launches(self) -> list[KernelLaunch]:
        """The launch; an empty list if there are no elements."""
        if not shapes.size(self.arguments.sizes):
            return []
        items = self._write()
        grid, block = flat(self.device, items)
        arguments = self.arguments
        text = f"def {self.name}({', '.join(arguments.names)}):\n{self.w.text}\n"
        source = KernelSource(self.name, text, arguments.parameters)
        memory, scalars = arguments.memory, arguments.values
        return [KernelLaunch(source, memory, scalars, grid, block, scratch=arguments.scratch, title=self.title)]

    def _write(self) -> int:
        """Write the kernel's body; the number of items of the launch."""
        nest, arguments, w = self.nest, self.arguments, self.w
        w.line("first = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")
        w.line("step = cuda.gridDim.x * cuda.blockDim.x")
        spans = [Span(axis, None, arguments.size(axis)) for axis in range(nest.outer + nest.inner)]
        full = [nest_pass for nest_pass in nest.passes if nest_pass.level is PassLevel.FULL]
        once = any(
            nest_pass.level is PassLevel.ROW and (nest_pass.stores or nest_pass.scatters) for nest_pass in nest.passes
        )
        plain = nest.inner and not once and self.code.vectors
        lanes, vectors = axis_loops.suits_vectors(arguments, full) if plain else (1, frozenset())
        elements = shapes.size(arguments.sizes)
        if lanes > 1:
            axis_loops.by_vectors(self.code, spans, "first", "step", self._elements, lanes, vectors)
            last = arguments.sizes[-1]
            return elements // last * shapes.ceil_div(last, lanes)
        abreast = 1 if once or sum(len(nest_pass.code) for nest_pass in full) > SHORT else ABREAST
        if len(spans) > 1 and self.code.vectors and abreast > 1:
            axis_loops.by_rows(self.code, spans, "first", "step", self._elements, abreast)
            last = arguments.sizes[-1]
            return elements // last * shapes.ceil_div(last, abreast)
        if any(nest_pass.level is PassLevel.ROW for nest_pass in nest.passes):
            abreast = 1
        axis_loops.one_by_one(w, spans, "first", "step", self._elements, abreast=abreast)
        return shapes.ceil_div(elements, abreast)

    def _elements(self, lanes: Sequence[Lane], vectors: frozenset[int]) -> None:
        for nest_pass in self.nest.passes:
            if nest_pass.level is PassLevel.ROW:
                self._row(nest_pass, lanes[0])
                continue
            values = self.code.values(nest_pass, lanes, vectors)
            self.code.store(nest_pass, values, lanes, vectors)

    def _row(self, nest_pass: NestPass, lane: Lane) -> None:
        """Write a row pass, which each thread computes for itself."""
        values = self.code.values(nest_pass, [lane])
        self.code.keep(nest_pass, values[0])
        if nest_pass.stores or nest_pass.scatters:
            inner = [lane[axis] for axis in range(self.nest.outer, self.nest.outer + self.nest.inner)]
            if not inner:
                self.code.store(nest_pass, values, [lane])
                return
            with self.w.block(f"if {' + '.join(inner)} == 0:"):
                self.code.store(nest_pass, values, [lane])
