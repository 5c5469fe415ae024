"""Transposing kernels: tiles go through shared memory, so that both reads and writes are contiguous."""

from __future__ import annotations

from nxkernel import shapes
from nxkernel.compilers.numba_cuda.kernels import axis_loops
from nxkernel.compilers.numba_cuda.kernels.axis_loops import Span
from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import KernelArguments
from nxkernel.compilers.numba_cuda.kernels.pass_writer import PassWriter, got, put, shared_dtypes
from nxkernel.compilers.numba_cuda.language import launch_geometry
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import PassLevel
from nxkernel.types import Type

#: Rows and columns of a tile, and threads along y.
TILE, HEIGHT = 32, 8
#: Elements of both axes from which tiles pay.
LEAST = 16
#: Bytes of all tiles of a kernel at most.
BYTES = 40 << 10


def turned(bound: BoundNest) -> tuple[int, frozenset[int]] | None:
    """The axis along which some buffers are read contiguously while results are written along the last, and these
    buffers.

    None where there is none, or where tiles do not pay.
    """
    nest = bound.nest
    nest_pass = nest.passes[0]
    if (
        len(nest.passes) > 1
        or nest_pass.level is not PassLevel.FULL
        or nest_pass.scatters
        or nest.outer + nest.inner < 2
    ):
        return None
    arguments = KernelArguments(bound)
    *others, last = range(nest.outer + nest.inner)
    if not all(arguments.step(number, last) == 1 for number, _ in nest_pass.stores):
        return None
    loaded = {op.entry for op in nest_pass.code if op.name in ("load", "gather")}
    plain = loaded - {op.entry for op in nest_pass.code if op.name in ("load", "gather") and op.args}
    for axis in others:
        buffers = {n for n in plain if arguments.step(n, axis) == 1 and arguments.step(n, last) not in (0, 1)}
        if buffers and min(arguments.sizes[axis], arguments.sizes[last]) >= LEAST:
            return axis, frozenset(buffers)
    return None


class Transposing:
    """Writes the kernel of a transposing nest.

    Parameters
    ----------
    bound : BoundNest
    device : Machine
    axis : int
        The axis along which the `buffers` are read in order.
    buffers : frozenset of int
    """

    name, title = "transposed", "in tiles that are turned in shared memory"

    def __init__(self, bound: BoundNest, device: Machine, axis: int, buffers: frozenset[int]) -> None:
        self.nest, self.device, self.axis = bound.nest, device, axis
        self.arguments = KernelArguments(bound)
        self.w = SourceWriter(1)
        self.code = PassWriter(self.arguments, self.w)
        self.buffers = self._fitting(sorted(buffers))

    def _fitting(self, buffers: list[int]) -> list[int]:
        """The buffers whose tiles fit into shared memory."""
        kept, rest = [], BYTES
        for number in buffers:
            rest -= TILE * (TILE + 1) * max(self._type(number).size, 4)
            if rest >= 0:
                kept.append(number)
        return kept

    def _type(self, number: int) -> Type:
        return self.nest.buffers[number].type

    def launches(self) -> list[KernelLaunch]:
        """The launch of the kernel."""
        self._write()
        arguments, sizes = self.arguments, self.arguments.sizes
        *_, last = range(len(sizes))
        cut = [shapes.ceil_div(n, TILE) if axis in (self.axis, last) else n for axis, n in enumerate(sizes)]
        text = f"def {self.name}({', '.join(arguments.names)}):\n{self.w.text}\n"
        source = KernelSource(self.name, text, arguments.parameters)
        block = (4, 2) if self.device.simulated else (TILE, HEIGHT)
        grid = launch_geometry.grid(self.device, shapes.size(cut))
        return [KernelLaunch(source, arguments.memory, arguments.values, grid, block, title=self.title)]

    def _write(self) -> None:
        w, arguments = self.w, self.arguments
        *others, last = [axis for axis in range(self.nest.outer + self.nest.inner) if axis != self.axis]
        tiles = {}
        for number in self.buffers:
            texts = shared_dtypes(self._type(number))
            names = [
                f"tile_{arguments.buffers[number]}{part}" for part in (("_re", "_im") if len(texts) == 2 else ("",))
            ]
            for name, text in zip(names, texts, strict=True):
                w.line(f"{name} = cuda.shared.array({TILE * (TILE + 1)}, {text})")
            tiles[number] = names
        across = w.let(f"div({arguments.size(self.axis)} + {TILE - 1}, {TILE})", "across")
        along = w.let(f"div({arguments.size(last)} + {TILE - 1}, {TILE})", "along")
        spans = [Span(axis, None, arguments.size(axis)) for axis in others]
        spans += [Span(self.axis, None, across), Span(last, None, along)]
        w.line(f"tiles = {' * '.join(span.count for span in spans)}")
        w.line("tile = cuda.blockIdx.x")
        with w.block("while tile < tiles:"):
            indices = axis_loops.axis_indices(w, "tile", spans)
            rows, columns = (w.let(f"{indices.pop(axis)} * {TILE}", "corner") for axis in (self.axis, last))
            self.code.locate(indices)
            self._fetch(tiles, rows, columns, last)
            w.line("cuda.syncthreads()")
            self._compute(tiles, rows, columns, last)
            w.line("cuda.syncthreads()")
            w.line("tile += cuda.gridDim.x")

    def _over(self, abreast: int, body) -> None:
        """Write loops over the rows and columns of a tile, distributed over the threads of a block."""
        w = self.w
        w.line("x = s64(cuda.threadIdx.x)")
        with w.block(f"while x < {TILE}:"):
            w.line("y = s64(cuda.threadIdx.y)")
            with w.block(f"while y < {TILE}:"):
                body([w.let(f"y + {k} * cuda.blockDim.y" if k else "y", "y") for k in range(abreast)])
                w.line(f"y += {abreast} * cuda.blockDim.y")
            w.line("x += cuda.blockDim.x")

    def _fetch(self, tiles: dict[int, list[str]], rows: str, columns: str, last: int) -> None:
        """Write the reads of a tile in memory order; positions beyond an edge repeat the edge and are not used."""
        w, arguments = self.w, self.arguments
        most = {axis: f"{arguments.size(axis)} - 1" for axis in (self.axis, last)}

        def body(ys: list[str]) -> None:
            lanes = [
                {
                    self.axis: w.let(f"minimum({rows} + x, {most[self.axis]})", "i"),
                    last: w.let(f"minimum({columns} + {y}, {most[last]})", "i"),
                }
                for y in ys
            ]
            for number, names in tiles.items():
                values = [
                    w.load(arguments.buffers[number], self.code.place(number, lane), self._type(number))
                    for lane in lanes
                ]
                for y, value in zip(ys, values, strict=True):
                    put(w, [f"{name}[{y} * {TILE + 1} + x]" for name in names], value, self._type(number))

        self._over(4, body)

    def _compute(self, tiles: dict[int, list[str]], rows: str, columns: str, last: int) -> None:
        """Write the computation and stores of a tile in memory order."""
        w, arguments, nest_pass = self.w, self.arguments, self.nest.passes[0]

        def body(ys: list[str]) -> None:
            (y,) = ys
            lane = {self.axis: w.let(f"{rows} + {y}", "i"), last: w.let(f"{columns} + x", "i")}
            inside = " & ".join(f"({lane[axis]} < {arguments.size(axis)})" for axis in (self.axis, last))
            with w.block(f"if {inside}:"):
                self.code.tiles = {
                    number: got(w, [f"{name}[x * {TILE + 1} + {y}]" for name in names], self._type(number))
                    for number, names in tiles.items()
                }
                values = self.code.values(nest_pass, [lane])
                self.code.store(nest_pass, values, [lane])

        self._over(1, body)
