"""Kernels of nests with reductions: a group of threads reduces each row or column, and all passes run in one kernel."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import shapes
from nxkernel.compilers.numba_cuda.kernels import axis_loops
from nxkernel.compilers.numba_cuda.kernels.axis_loops import ABREAST, SHORT, Span
from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import ALIGNMENT, KernelArguments
from nxkernel.compilers.numba_cuda.kernels.pass_writer import Lane, PassWriter, shared_dtypes
from nxkernel.compilers.numba_cuda.kernels.reductions import GroupJoin, TextAccumulator
from nxkernel.compilers.numba_cuda.language import element_types, launch_geometry
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import LaneAxis, NestPass, PassLevel, ScalarKind
from nxkernel.fork_safety import cached_property

#: The number that stands for the blocks of an axis among axes.
BLOCKS = -1
#: Lanes of a warp, and warps of a block at most.
WARP = WARPS = 32
#: Rows that a scratch row is spread over: element `i` is in the row `i % 4`.
SPREAD = 4
#: Instructions for all elements of a vector up to which a thread has several in flight.
TINY = 12
#: Bytes of the arrays through which the threads of columns become one, at most.
STATIC = 32 << 10


def writer_for(bound: BoundNest, device: Machine, code: type[PassWriter] = PassWriter) -> GroupKernel:
    """The kernel writer for a nest with reductions."""
    return (Rows if bound.nest.lanes is LaneAxis.INNER else ColumnGroups)(bound, device, code)


class GroupKernel:
    """Writes the kernel of a nest with reductions; the common part of rows and columns.

    Parameters
    ----------
    bound : BoundNest
    device : Machine
    code : type, optional
        What writes passes.
    """

    name = title = group = member = ""

    def __init__(self, bound: BoundNest, device: Machine, code: type[PassWriter] = PassWriter) -> None:
        self.arguments, self.nest, self.device = KernelArguments(bound), bound.nest, device
        self.w = SourceWriter(1)
        self.code = code(self.arguments, self.w)
        self.accumulators = {
            number: [
                TextAccumulator(self.w, nest_pass, reduce, self.nest.slots[reduce.slot]) for reduce in nest_pass.reduces
            ]
            for number, nest_pass in enumerate(self.nest.passes)
        }
        self.together = GroupJoin(self.w, self.max_threads)
        #: Whether one thread goes over all elements, in their order.
        self.one_thread = any(one.is_fold for accumulators in self.accumulators.values() for one in accumulators)
        #: Whether there are enough indices of the first inner axis for all threads of a group.
        self.is_deep = False

    # Sizes -----------------------------------------------------------------------------------------------------

    @property
    def lengths(self) -> list[int]:
        """The length of each inner axis that one group reduces."""
        sizes = self.arguments.sizes[self.nest.outer :]
        if self.nest.split >= 0:
            sizes[self.nest.split] = min(sizes[self.nest.split], self.arguments.scalar_value(ScalarKind.BLOCK))
        return sizes

    @property
    def length(self) -> int:
        """The number of elements that one group reduces."""
        return shapes.size(self.lengths)

    @property
    def instructions(self) -> int:
        """The number of instructions of the longest pass."""
        return max(len(nest_pass.code) for nest_pass in self.nest.passes)

    @property
    def joining(self) -> list[TextAccumulator]:
        """The reductions that several threads share."""
        return [one for accumulators in self.accumulators.values() for one in accumulators if not one.is_fold]

    @property
    def max_threads(self) -> int:
        """The elements of each shared array through which threads join."""
        raise NotImplementedError

    def shape(self) -> tuple[tuple[int, int], int]:
        """The block's shape, and the number of groups in it."""
        raise NotImplementedError

    def outer_spans(self) -> list[Span]:
        """The axes that groups are numbered by."""
        raise NotImplementedError

    # Text ------------------------------------------------------------------------------------------------------

    def launches(self) -> list[KernelLaunch]:
        """The launch; an empty list if there are no results."""
        return [self._launch()] if self.arguments.rows else []

    def _launch(self) -> KernelLaunch:
        block, groups = self.shape()
        grid = launch_geometry.grid(self.device, shapes.ceil_div(self.arguments.rows, groups))
        shared = self._make_rows(groups, grid[0])
        self._write()
        arguments = self.arguments
        text = f"def {self.name}({', '.join(arguments.names)}):\n{self.w.text}\n"
        source = KernelSource(self.name, text, arguments.parameters)
        memory, scalars = arguments.memory, arguments.values
        return KernelLaunch(source, memory, scalars, grid, block, shared, arguments.scratch, title=self.title)

    def _make_rows(self, groups: int, blocks: int) -> int:
        """Write where scratch rows begin; the bytes of shared memory for them, 0 if they are in device memory."""
        nest, arguments, w = self.nest, self.arguments, self.w
        rows = [row for nest_pass in self.nest.passes for row, _ in nest_pass.scratches]
        if not rows:
            return 0
        pitch = shapes.ceil_div(arguments.sizes[-1], WARP * SPREAD) * WARP + WARP // SPREAD
        arguments.add("pitch", "s64", pitch)
        names = [
            (number, text, f"row{number}{part}")
            for number, type_ in enumerate(nest.scratches)
            if number in rows
            for text, part in zip(shared_dtypes(type_), ("_re", "_im") if type_.is_complex else ("",), strict=True)
        ]
        here, offset = groups * SPREAD * pitch, 0
        nbytes = {name: _rounded(here * element_types.numpy_type(_kind(text)).itemsize) for _, text, name in names}
        fits = sum(nbytes.values()) <= self.device.shared_limit - STATIC
        first = self.group if fits else f"(cuda.blockIdx.x * {self._groups()} + {self.group})"
        w.line(f"group_row = {first} * {SPREAD} * pitch")
        for number, text, name in names:
            at = "group_row"
            if fits:
                size = element_types.numpy_type(_kind(text)).itemsize
                at = f"{arguments.add(f'{name}_start', 's64', offset // size)} + group_row"
                w.line(f"{name} = cuda.shared.array(0, {text})")
                offset += nbytes[name]
            else:
                arguments.reserve(name, f"{_kind(text)}*", here * blocks)
            self.code.rows.setdefault(number, []).append((name, at))
        return offset

    def _groups(self) -> str:
        return "cuda.blockDim.y" if self.group.endswith("y") else "cuda.blockDim.x"

    def _members(self) -> str:
        return "cuda.blockDim.x" if self.group.endswith("y") else "cuda.blockDim.y"

    def _write(self) -> None:
        w = self.w
        if not self.one_thread:
            w.lines[:0] = ["    " + line for line in self.together.arrays(self.joining)]
        w.line(f"member = {self.member}")
        w.line(f"members = {self._members()}")
        spans = self.outer_spans()
        w.line(f"groups = {' * '.join(span.count for span in spans) or '1'}")
        w.line(f"first = cuda.blockIdx.x * {self._groups()}")
        with w.block("while first < groups:"):
            w.line(f"live = first + {self.group} < groups")
            w.line(f"group = select(live, first + {self.group}, groups - 1)")
            indices = axis_loops.axis_indices(w, "group", spans)
            self.block = indices.pop(BLOCKS, None)
            self.code.locate(indices)
            self.code.number = "group"
            for number, nest_pass in enumerate(self.nest.passes):
                if nest_pass.level is PassLevel.ROW:
                    self._row(nest_pass)
                else:
                    self._full(number, nest_pass)
            if any(nest_pass.scratches for nest_pass in self.nest.passes):
                w.line("cuda.syncthreads()")
            w.line(f"first += cuda.gridDim.x * {self._groups()}")

    def _row(self, nest_pass: NestPass) -> None:
        """Write a row pass: each thread of the group computes it, and the first one stores its results."""
        values = self.code.values(nest_pass, [{}])
        self.code.keep(nest_pass, values[0])
        if nest_pass.stores or nest_pass.scatters:
            further = f"{self.block} * {self.arguments.scalars[ScalarKind.STEP, 0, 0]}" if self.block else None
            with self.w.block("if live & (member == 0):"):
                self.code.store(nest_pass, values, [{}], further=further)

    def _spans(self) -> list[Span]:
        """The inner axes, each over the part that this group reduces."""
        nest, arguments, w = self.nest, self.arguments, self.w
        spans = []
        for axis in range(nest.outer, nest.outer + nest.inner):
            first, size = None, arguments.size(axis)
            if nest.split == axis - nest.outer:
                block = arguments.scalars[ScalarKind.BLOCK, 0, 0]
                first = w.let(f"{self.block} * {block}", "low")
                size = w.let(f"minimum({block}, {size} - {first})", "length")
            elif nest.limits and axis == nest.outer + nest.inner - 1:
                low, high = nest.limits
                stop = w.let(f"minimum({self.code.slot(high)}, {size})", "stop")
                first = w.let(f"maximum({self.code.slot(low)}, s64(0))", "low") if low >= 0 else None
                size = w.let(f"maximum({stop} - {first}, s64(0))" if first else f"maximum({stop}, s64(0))", "length")
            spans.append(Span(axis, first, size))
        if spans:
            spans[-1] = spans[-1]._replace(count=w.let(f"select(live, {spans[-1].count}, 0)", "length"))
        return spans

    def _full(self, number: int, nest_pass: NestPass) -> None:
        w, accumulators = self.w, self.accumulators[number]
        self.code.carried = lambda one: accumulators[one].value
        spans = self._spans()
        for accumulator in accumulators:
            start = None
            if accumulator.is_fold:
                start = self.code.one(nest_pass, accumulator.reduce.args[1], {})
            accumulator.start(start)

        def iteration(lanes: Sequence[Lane], vectors: frozenset[int]) -> None:
            values = self.code.values(nest_pass, lanes, vectors)
            self.code.store(nest_pass, values, lanes, vectors)
            self.code.keep_rows(nest_pass, values, lanes)
            for accumulator in accumulators:
                for mine in values:
                    accumulator.step(mine)

        self._walk(nest_pass, spans, iteration)
        if nest_pass.scratches:
            w.line("cuda.syncthreads()")
        joining = [accumulator for accumulator in accumulators if not accumulator.is_fold]
        if joining and not self.one_thread:
            with w.block("if members > 1:"):
                self._join(joining)
        for accumulator in accumulators:
            first = spans[0].first if spans else None
            accumulator.result(self.code.slot(accumulator.reduce.slot), first or "0")

    def _walk(self, nest_pass: NestPass, spans: Sequence[Span], iteration: axis_loops.Body) -> None:
        """Write the loop of a full pass."""
        ordered = any(reduce.is_fold for reduce in nest_pass.reduces)
        abreast = 1 if ordered or len(nest_pass.code) > SHORT else ABREAST
        count = "" if spans else "select(live, 1, 0)"
        if self.code.vectors and (self.one_thread or self.is_deep):
            share = {} if self.one_thread else {"first": "s64(member)", "step": "members"}
            axis_loops.nested(self.code, spans, iteration, abreast=abreast, count=count, **share)
            return
        axis_loops.one_by_one(self.w, spans, "member", "members", iteration, abreast=abreast, count=count)

    def _join(self, accumulators: Sequence[TextAccumulator]) -> None:
        """Write how the threads of a group join their partial results."""
        raise NotImplementedError


class Rows(GroupKernel):
    """Groups of threads along x that reduce a row; several rows of a block are along y."""

    name, title = "rows", "row by row"
    group, member = "cuda.threadIdx.y", "cuda.threadIdx.x"

    @property
    def max_threads(self) -> int:
        """See :attr:`GroupKernel.max_threads`."""
        return WARPS

    def shape(self) -> tuple[tuple[int, int], int]:
        """See :attr:`GroupKernel.shape`."""
        if self.one_thread:
            return (1, min(launch_geometry.BLOCK, self.device.threads)), min(launch_geometry.BLOCK, self.device.threads)
        members, groups = launch_geometry.rows(self.device, self.arguments.rows, self.length, self.instructions)
        return (members, groups), groups

    def outer_spans(self) -> list[Span]:
        """See :attr:`GroupKernel.outer_spans`."""
        spans = [Span(axis, None, self.arguments.size(axis)) for axis in range(self.nest.outer)]
        return [*spans, *self._block_span()]

    def _block_span(self) -> list[Span]:
        return [Span(BLOCKS, None, self.arguments.scalars[ScalarKind.BLOCKS, 0, 0])] if self.nest.split >= 0 else []

    def _walk(self, nest_pass: NestPass, spans: Sequence[Span], iteration: axis_loops.Body) -> None:
        lanes, vectors = (
            axis_loops.suits_vectors(self.arguments, [nest_pass])
            if self.code.vectors and spans and not self.one_thread
            else (1, frozenset())
        )
        if lanes > 1:
            abreast = 1
            if not (nest_pass.stores or nest_pass.scratches):
                # Stores between them would keep loads from being brought forward.
                abreast = max(1, min(ABREAST, ABREAST * TINY // (lanes * len(nest_pass.code))))
            axis_loops.by_vectors(self.code, spans, "member", "members", iteration, lanes, vectors, abreast=abreast)
        else:
            super()._walk(nest_pass, spans, iteration)

    def _join(self, accumulators: Sequence[TextAccumulator]) -> None:
        w = self.w
        self.together.lanes(accumulators, "minimum(s64(members), s64(32))")
        with w.block("if members > 32:"):
            w.line("warp = (cuda.threadIdx.y * members + member) >> 5")
            with w.block("if member & 31 == 0:"):
                self.together.put(accumulators, "warp")
            w.line("cuda.syncthreads()")
            w.line("warp = cuda.threadIdx.y * members >> 5")
            w.line("end = warp + (members >> 5)")
            self.together.take(accumulators, "warp", joining=False)
            w.line("warp += 1")
            with w.block("while warp < end:"):
                self.together.take(accumulators, "warp", joining=True)
                w.line("warp += 1")
            w.line("cuda.syncthreads()")


class ColumnGroups(GroupKernel):
    """Threads along x have adjacent columns; those along y share a column, in strides."""

    name, title = "columns", "column by column"
    group, member = "cuda.threadIdx.x", "cuda.threadIdx.y"

    @cached_property
    def max_threads(self) -> int:
        """See :attr:`GroupKernel.max_threads`."""
        bytes_ = sum(
            element_types.numpy_type(_kind(text)).itemsize
            for one in self.joining
            for _, type_ in one.variables
            for text in shared_dtypes(type_)[:1]
        )
        most = launch_geometry.MOST if self.instructions <= launch_geometry.SIMPLE else launch_geometry.BLOCK
        return min(most, 1 << (STATIC // max(bytes_, 1)).bit_length() - 1)

    def shape(self) -> tuple[tuple[int, int], int]:
        """See :attr:`GroupKernel.shape`."""
        length = 1 if self.one_thread else self.length
        wide, members = launch_geometry.columns(self.device, self.arguments.rows, length, self.max_threads)
        self.one_thread |= members == 1
        self.is_deep = self.nest.inner > 1 and self.lengths[0] >= launch_geometry.SHARE * members
        return (wide, members), wide

    def outer_spans(self) -> list[Span]:
        """See :attr:`GroupKernel.outer_spans`."""
        *leading, last = [Span(axis, None, self.arguments.size(axis)) for axis in range(self.nest.outer)]
        blocks = [Span(BLOCKS, None, self.arguments.scalars[ScalarKind.BLOCKS, 0, 0])] if self.nest.split >= 0 else []
        return [*leading, *blocks, last]

    def _join(self, accumulators: Sequence[TextAccumulator]) -> None:
        self.together.along_y(accumulators)


def _kind(text: str) -> str:
    """The kernel parameter type for the name of a NumPy type."""
    name = text.removeprefix("np.")
    return name.replace("uint", "u").replace("int", "s").replace("float", "f")


def _rounded(nbytes: int) -> int:
    """Bytes rounded up to the alignment of arrays."""
    return shapes.ceil_div(nbytes, ALIGNMENT) * ALIGNMENT
