"""Lowering: a loop nest to the LLVM IR of its kernel.

A kernel is ``void kernel(ptr args, ptr dims, ptr steps, ptr table)``, the form that Numba's thread pool calls: it runs
the steps ``args[0]`` to ``args[0] + dims[0]`` of the nest's parallel range. The table has the addresses of the buffers
and then the scalar parameters that :meth:`nxkernel.compilers.schedule.loop_nest.Nest.scalars` lists.
"""

from __future__ import annotations

from collections.abc import Callable

from nxkernel import compile_thread
from nxkernel.compilers.numba_cpu.codegen.buffer_access import BufferAccess, CodePosition
from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import Register, elements, from_parts, parts
from nxkernel.compilers.numba_cpu.codegen.elementwise import ELEMENTARY, Emitter
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import WIDTH, FunctionBuilder, IRModule, IRValue, RangeLoop
from nxkernel.compilers.numba_cpu.codegen.reductions import RegisterAccumulator
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY, REGISTER
from nxkernel.compilers.schedule import loop_nest
from nxkernel.compilers.schedule.loop_nest import (
    BufferRole,
    LaneAxis,
    Nest,
    NestPass,
    Op,
    PassLevel,
    Reduce,
    ScalarKind,
    StoreMode,
    Stride,
)
from nxkernel.types import Type

#: Elementary functions in one nest from which they are called instead of inlined.
CALLS_FROM = 9
#: How many of those functions a complex one is made of, about.
COMPLEX = 3
#: Instructions in a pass below which it takes two, or four, vectors at a time.
SHORT, SHORTEST = 12, 5
#: Instructions in a pass up to which its loop is written twice, so that whole vectors need no mask; and up to which
#: where lanes are some elements apart, which masks make slow.
TWICE, TWICE_APART = 24, 96
#: Constants of a pass up to which they stay in registers, and loads of one from which they do: the processor has
#: then no room for reading constants too.
HELD, CROWDED = 10, 4
#: Vectors of a row from which it is worth aligning them.
ALIGNED_FROM = 8


def lower(nest: Nest) -> IRModule:
    """The LLVM module with a nest's kernel, named by the nest's key."""
    if nest.lanes is LaneAxis.TILE:
        compile_thread.load("nxkernel.compilers.numba_cpu.codegen.register_tiles")
        from nxkernel.compilers.numba_cpu.codegen.register_tiles import TiledLowering

        return TiledLowering(nest).run()
    from nxkernel.compilers.numba_cpu.codegen import row_reductions

    if row_reductions.suits(nest):
        return row_reductions.RowsLowering(nest).run()
    return Lowering(nest).run()


class Lowering:
    """Lowers a nest whose vectors run along its last inner or last outer axis."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.module = IRModule()
        pointers = [("args", "ptr"), ("dims", "ptr"), ("steps", "ptr"), ("table", "ptr noalias")]
        self.b = FunctionBuilder(self.module, nest.key, "void", pointers, attributes="nounwind")
        costly = sum(COMPLEX if op.type.is_complex else 1 for op in nest.ops() if op.name in _COSTLY)
        self.e = Emitter(self.b, inline=costly < CALLS_FROM)
        self.slots: dict[int, Register] = {}
        #: Constants that are in registers, by number and lanes.
        self.held: dict[tuple[int, int], Register] = {}

    def integer(self, number: int) -> IRValue:
        """A constant i64."""
        return self.b.constant("i64", number)

    # Frame -----------------------------------------------------------------------------------------------------

    def run(self) -> IRModule:
        """Lower the nest; its module."""
        b = self.b
        begin = b.load("i64", IRValue("ptr", 1, "%args"))
        count = b.load("i64", IRValue("ptr", 1, "%dims"))
        self.m = BufferAccess(self.nest, self.e)
        self._make_rows()
        parts = self.m.ranges()
        # A range without steps has sizes of zero, by which nothing may be divided.
        sizes = [(name, b.intrinsic("umax", size, self.integer(1))) for name, size in parts]
        names, first = [name for name, _ in parts], self.m.split(begin, sizes)
        loop = RangeLoop(b, begin, b.integer("add", begin, count), self.integer(1), [first[name] for name in names])
        indices = dict(zip(names, loop.values, strict=True))
        self.m.go_to(indices)
        for nest_pass in self.nest.passes:
            if nest_pass.level is PassLevel.ROW:
                self._row_pass(nest_pass)
            elif self.nest.lanes is LaneAxis.INNER:
                self._full_inner(nest_pass)
            else:
                self._full_outer(nest_pass)
        following = self.m.after(indices, parts)
        loop.end(*[following[name] for name in names])
        b.do("ret void")
        b.finish()
        return self.module

    def _make_rows(self) -> None:
        """Allocate scratch rows on the stack, and, with lanes along an outer axis, a row for each slot."""
        nest, b = self.nest, self.b
        self.scratches = [_rows(b, type_, self.m.sizes[-1]) for type_ in nest.scratches]
        self.slot_rows, self.carry_rows = [], {}
        if nest.lanes is LaneAxis.OUTER:
            self.slot_rows = [_rows(b, type_, loop_nest.COLUMNS) for type_ in nest.slots]
            for nest_pass in nest.passes:
                for reduce in nest_pass.reduces:
                    elements = RegisterAccumulator(self.e, reduce, 1, index_type(nest_pass, reduce)).elements
                    self.carry_rows[reduce.slot] = [b.alloca(element, loop_nest.COLUMNS) for element in elements]

    # Passes --------------------------------------------------------------------------------------------------

    def _lanes(self, nest_pass: NestPass, *, wide: bool) -> int:
        """The lanes of a pass's vectors: 512 bits of its widest type, or a multiple if it is short."""
        if any(scatter.lanes and scatter.mode is not StoreMode.PUT for scatter in nest_pass.scatters):
            # Two lanes may join one place.
            return 1
        held = [op.type for op in nest_pass.code] + [reduce.type for reduce in nest_pass.reduces]
        widest = max((8 * _bytes(type_) for type_ in held), default=32)
        lanes = 8 if widest == 64 else 16
        if wide and len(nest_pass.code) <= SHORT:
            lanes *= 4 if len(nest_pass.code) <= SHORTEST else 2
        # A row on the stack has room for so many columns and no more.
        return min(lanes, loop_nest.COLUMNS) if self.nest.lanes is LaneAxis.OUTER else lanes

    def _is_short(self, nest_pass: NestPass) -> bool:
        """Whether a loop is emitted twice: unmasked for full vectors, and masked for the last one."""
        axis = self.m.lane_axis()
        is_strided = any(
            access.strides[axis] is Stride.DYNAMIC
            for access in self.nest.buffers
            if access.role is not BufferRole.INDEX
        )
        return len(nest_pass.code) <= (TWICE_APART if is_strided else TWICE)

    def _mask(self, lane: IRValue, stop: IRValue, lanes: int) -> IRValue:
        """The mask of a vector's lanes, from index `lane` on, that are before `stop`."""
        b = self.b
        left = b.convert("trunc", b.intrinsic("smin", b.integer("sub", stop, lane), self.integer(lanes)), "i32")
        mask = b.icmp("slt", b.steps("i32", lanes), b.splat(left, lanes))
        if any(Stride.DOUBLE in access.strides for access in self.nest.buffers):
            last = b.integer("sub", b.integer("add", left, left), b.constant("i32", 1))
            self.m.seconds[mask] = b.icmp("slt", b.steps("i32", 2 * lanes), b.splat(last, 2 * lanes))
        return mask

    def _row_pass(self, nest_pass: NestPass) -> None:
        if self.nest.lanes is LaneAxis.INNER:
            values = self._code(nest_pass, CodePosition(1, None, None, {}))
            for slot, number in nest_pass.keeps:
                self.slots[slot] = self.e.number(values[number], self.nest.slots[slot])
            self.m.stores(nest_pass, values, CodePosition(1, None, None, {}))
            return
        lanes = self._lanes(nest_pass, wide=False)

        def body(position: CodePosition) -> None:
            values = self._code(nest_pass, position)
            for slot, number in nest_pass.keeps:
                value = self.e.number(values[number], self.nest.slots[slot])
                self._store_slot(slot, value, position)
            self.m.stores(nest_pass, values, position)

        self._over_columns(lanes, {}, body, with_full_vectors=False)

    def _over_columns(
        self, lanes: int, serial: dict[int, IRValue], body: Callable[[CodePosition], None], *, with_full_vectors: bool
    ) -> None:
        """Emit code for every vector of this step's columns; with `with_full_vectors` only the last is masked."""
        b = self.b
        first = b.integer("mul", self.m.tile, self.integer(loop_nest.COLUMNS))
        end = b.integer("add", first, self.integer(loop_nest.COLUMNS))
        stop = b.intrinsic("smin", end, self.m.sizes[self.nest.outer - 1])
        self._first_column = first

        def iteration(lane: IRValue, mask: IRValue | None, held: list[IRValue]) -> list[IRValue]:
            body(CodePosition(lanes, mask, lane, serial))
            return held

        self._vectors(first, stop, lanes, [], iteration, with_full_vectors=with_full_vectors)

    def _slot_addresses(self, slot: int, position: CodePosition) -> list[IRValue]:
        column = self.b.integer("sub", position.lane, self._first_column)
        return [self.b.offset(row, REGISTER[self.nest.slots[slot]], column) for row in self.slot_rows[slot]]

    def _store_slot(self, slot: int, value: Register, position: CodePosition) -> None:
        for part, address in zip(parts(value), self._slot_addresses(slot, position), strict=True):
            self.b.store(part, address)

    def _bounds(self, axis: int) -> tuple[IRValue, IRValue]:
        """The first index and the end of an inner axis in this step."""
        b, nest, size = self.b, self.nest, self.m.sizes[self.nest.outer + axis]
        if nest.flat:
            size = b.integer("mul", self.m.sizes[-2], self.m.sizes[-1])
        if nest.split == axis:
            length = self.m.scalars[ScalarKind.BLOCK, 0, 0]
            first = b.integer("mul", self.m.block, length)
        elif nest.tiled and axis == nest.inner - 1:
            length = self.integer(loop_nest.TILE)
            first = b.integer("mul", self.m.tile, length)
        elif nest.limits and axis == nest.inner - 1:
            start, stop = (self.slots[slot] if slot >= 0 else self.integer(0) for slot in nest.limits)
            return b.intrinsic("smax", start, self.integer(0)), b.intrinsic("smin", stop, size)
        else:
            return self.integer(0), size
        return first, b.intrinsic("smin", b.integer("add", first, length), size)

    def _full_inner(self, nest_pass: NestPass) -> None:
        """Emit a full pass with vectors along the last inner axis, and reductions carried in registers."""
        nest, b = self.nest, self.b
        lanes = self._lanes(nest_pass, wide=bool(nest_pass.reduces))
        accumulators = [
            RegisterAccumulator(self.e, reduce, lanes, index_type(nest_pass, reduce)) for reduce in nest_pass.reduces
        ]
        carried = [value for accumulator in accumulators for value in accumulator.start()]
        bounds = [self._bounds(axis) for axis in range(nest.inner)]
        self._hold_constants(nest_pass, lanes)
        open_loops, serial = [], {}
        for axis in range(0 if nest.flat else nest.inner - 1):
            loop = RangeLoop(b, *bounds[axis], self.integer(1), carried)
            carried = loop.values
            open_loops.append(loop)
            serial[nest.outer + axis] = loop.index

        def iteration(lane: IRValue, mask: IRValue | None, held: list[IRValue]) -> list[IRValue]:
            position = self.m.spread(CodePosition(lanes, mask, lane, serial))
            values = self._code(nest_pass, position)
            self.m.stores(nest_pass, values, position)
            for row, number in nest_pass.scratches:
                type_ = nest.scratches[row]
                for part, own in zip(parts(self.e.number(values[number], type_)), self.scratches[row], strict=True):
                    b.masked_store(part, b.offset(own, REGISTER[type_], lane), mask)
            following: list[IRValue] = []
            for accumulator in accumulators:
                mine, held = held[: accumulator.width], held[accumulator.width :]
                fed = [values[number] for number in accumulator.reduce.args]
                following += accumulator.step(mine, fed, mask)
            return following

        with_full_vectors, (first, stop) = self._is_short(nest_pass), bounds[-1]
        if with_full_vectors and self._is_aligned(nest_pass, lanes):
            first = self._to_aligned(nest_pass, first, lanes, iteration)
        following = self._vectors(first, stop, lanes, carried, iteration, with_full_vectors=with_full_vectors)
        for loop in reversed(open_loops):
            following = loop.end(*following)
        for accumulator in accumulators:
            held, following = following[: accumulator.width], following[accumulator.width :]
            self.slots[accumulator.reduce.slot] = accumulator.finish(held, bounds[0][0])

    def _is_aligned(self, nest_pass: NestPass, lanes: int) -> bool:
        """Whether vectors start where those that the pass stores are aligned in memory.

        An access that crosses from one line of the cache to the next takes twice as long.
        """
        nest = self.nest
        if not nest.tiled or nest.inner != 1 or not nest_pass.stores or ALIGNED_FROM * lanes > loop_nest.TILE:
            return False
        access = nest.buffers[nest_pass.stores[0][0]]
        return access.strides[-1] is Stride.UNIT and not access.type.is_complex

    def _to_aligned(self, nest_pass: NestPass, first: IRValue, lanes: int, iteration) -> IRValue:
        """Emit `iteration` for the part of a row before the first aligned vector; the index where that starts.

        Not in short rows, for which it is not worth it, and not in those of several tiles, which memory keeps waiting.
        """
        b, number = self.b, nest_pass.stores[0][0]
        element = MEMORY[self.nest.buffers[number].type]
        address = b.convert("ptrtoint", b.offset(self.m.bases[number], element, first), "i64")
        ahead = b.integer("udiv", b.integer("sub", self.integer(0), address), self.integer(WIDTH[element] // 8))
        ahead = b.integer("and", ahead, self.integer(lanes - 1))
        begin = b.integer("add", first, ahead)
        least = ALIGNED_FROM * lanes
        further = b.integer("sub", self.m.sizes[-1], self.integer(least))
        wanted = b.icmp("ule", further, self.integer(loop_nest.TILE - least))
        head, ready, before = b.label("head"), b.label("ready"), b.block
        b.branch_if(b.integer("and", wanted, b.icmp("ne", ahead, self.integer(0))), head, ready)
        b.start(head)
        iteration(first, self._mask(first, begin, lanes), [])
        after = b.block
        b.branch(ready)
        b.start(ready)
        chosen = b.phi("i64")
        chosen.add(first, before)
        chosen.add(begin, after)
        return chosen.value

    def _vectors(
        self, first: IRValue, stop: IRValue, lanes: int, carried: list[IRValue], iteration, *, with_full_vectors: bool
    ) -> list[IRValue]:
        """Emit `iteration` for each vector from `first` to `stop`; with `with_full_vectors` only the last is masked."""
        b = self.b
        if with_full_vectors:
            count = b.integer("sdiv", b.integer("sub", stop, first), self.integer(lanes))
            edge = b.integer("add", first, b.integer("mul", count, self.integer(lanes)))
            loop = RangeLoop(b, first, edge, self.integer(lanes), carried)
            carried = loop.end(*iteration(loop.index, None, loop.values))
            # An empty range would put the edge before the beginning.
            first = b.intrinsic("smax", first, edge)
        loop = RangeLoop(b, first, stop, self.integer(lanes), carried)
        return loop.end(*iteration(loop.index, self._mask(loop.index, stop, lanes), loop.values))

    def _full_outer(self, nest_pass: NestPass) -> None:
        """Emit a full pass with vectors along the last outer axis; reductions are carried in rows on the stack."""
        nest, b = self.nest, self.b
        lanes = self._lanes(nest_pass, wide=bool(nest_pass.reduces))
        accumulators = [
            RegisterAccumulator(self.e, reduce, lanes, index_type(nest_pass, reduce)) for reduce in nest_pass.reduces
        ]
        rows = [self.carry_rows[reduce.slot] for reduce in nest_pass.reduces]

        def address(row: IRValue, element: str, position: CodePosition) -> IRValue:
            return b.offset(row, element, b.integer("sub", position.lane, self._first_column))

        def begin(position: CodePosition) -> None:
            for accumulator, own in zip(accumulators, rows, strict=True):
                for row, value in zip(own, accumulator.start(), strict=True):
                    b.store(value, address(row, value.element, position))

        def step(position: CodePosition) -> None:
            values = self._code(nest_pass, position)
            self.m.stores(nest_pass, values, position)
            for accumulator, own in zip(accumulators, rows, strict=True):
                addresses = [address(row, e, position) for row, e in zip(own, accumulator.elements, strict=True)]
                held = [b.load(e, at, lanes=lanes) for e, at in zip(accumulator.elements, addresses, strict=True)]
                fed = [values[number] for number in accumulator.reduce.args]
                for value, at in zip(accumulator.step(held, fed, None), addresses, strict=True):
                    b.store(value, at)

        def finish(position: CodePosition) -> None:
            for accumulator, own in zip(accumulators, rows, strict=True):
                held = [
                    b.load(e, address(row, e, position), lanes=lanes)
                    for row, e in zip(own, accumulator.elements, strict=True)
                ]
                slot = accumulator.reduce.slot
                value = self.e.number(accumulator.lanewise(held, self._bounds(0)[0]), nest.slots[slot])
                self._store_slot(slot, value, position)

        if accumulators:
            self._over_columns(lanes, {}, begin, with_full_vectors=False)
        open_loops, serial = [], {}
        for axis in range(nest.inner):
            open_loops.append(RangeLoop(b, *self._bounds(axis), self.integer(1)))
            serial[nest.outer + axis] = open_loops[-1].index
        self._over_columns(lanes, serial, step, with_full_vectors=self._is_short(nest_pass))
        for loop in reversed(open_loops):
            loop.end()
        if accumulators:
            self._over_columns(lanes, {}, finish, with_full_vectors=False)

    # Instructions ----------------------------------------------------------------------------------------------

    def _code(self, nest_pass: NestPass, position: CodePosition) -> list[Register]:
        values: list[Register] = []
        for op in nest_pass.code:
            values.append(self._op(op, values, position))
        return values

    def _constant(self, op: Op, lanes: int) -> Register:
        first = self.m.constant_scalars[op.entry]
        scalars = [self.m.scalar(first + number, element) for number, element in enumerate(elements(op.type))]
        return self.e.splat(from_parts(scalars), lanes)

    def _hold_constants(self, nest_pass: NestPass, lanes: int) -> None:
        """Load a pass's constants before its loops, if they are few and its loads are many."""
        constants = [op for op in nest_pass.code if op.name == "const"]
        if len(constants) <= HELD and sum(op.name == "load" for op in nest_pass.code) >= CROWDED:
            self.held |= {(op.entry, lanes): self._constant(op, lanes) for op in constants}

    def _op(self, op: Op, values: list[Register], position: CodePosition) -> Register:
        b, lanes = self.b, position.lanes
        if op.name == "const":
            held = self.held.get((op.entry, lanes))
            return self._constant(op, lanes) if held is None else held
        if op.name in ("load", "gather"):
            return self.m.load(op, values, position)
        if op.name == "index":
            return self.m.index(op, position)
        if op.name == "slot":
            if self.nest.lanes is LaneAxis.INNER:
                return self.e.splat(self.slots[op.entry], lanes)
            held = self._slot_addresses(op.entry, position)
            return from_parts([b.load(REGISTER[op.type], address, lanes=lanes) for address in held])
        if op.name == "scratch":
            element = REGISTER[op.type]
            held = [b.offset(row, element, position.lane) for row in self.scratches[op.entry]]
            return from_parts([self.m.consecutive(element, address, position) for address in held])
        self.e.mask = position.mask
        return self.e.apply(op.name, op.type, [values[number] for number in op.args], op.attribute)


def _rows(b: FunctionBuilder, type_: Type, count: IRValue | int) -> list[IRValue]:
    """Allocate rows on the stack for values of a type: one a part."""
    return [b.alloca(element, count) for element in elements(type_)]


def index_type(nest_pass: NestPass, reduce: Reduce) -> str:
    """The LLVM element type of an argmax's index."""
    return REGISTER[nest_pass.code[reduce.args[1]].type] if reduce.is_argument else ""


def _bytes(type_) -> int:
    return 8 if REGISTER[type_] in ("double", "i64") else 4


_COSTLY = ELEMENTARY | {"pow", "remainder"}
