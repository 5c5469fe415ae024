"""Loads and stores of a kernel: buffer addresses from the argument table, scalars and vectors to and from memory."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from nxkernel.compilers.numba_cpu.codegen.complex import register_pairs
from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import ComplexRegisters, Register
from nxkernel.compilers.numba_cpu.codegen.elementwise import Emitter
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY, REGISTER
from nxkernel.compilers.schedule import loop_nest
from nxkernel.compilers.schedule.loop_nest import (
    BufferRole,
    LaneAxis,
    Nest,
    NestPass,
    Op,
    PassLevel,
    ScalarKind,
    ScalarParameter,
    Scatter,
    StoreMode,
    Stride,
)
from nxkernel.types import Type

#: The strides of a flat nest along which lanes run on from row to row, or all stay.
_AS_ONE = ((Stride.MERGED, Stride.UNIT), (Stride.NONE, Stride.NONE))


@dataclass(frozen=True)
class CodePosition:
    """A position in a pass's loops: the index and mask of a vector's lanes, and the indices of the serial axes.

    In a flat nest ``rows`` has the index of the first lane along the first inner axis, and how much further each lane
    is; ``columns`` has each lane's index along the last axis. In a tile ``row`` is the number of its row.
    """

    lanes: int
    mask: IRValue | None
    lane: IRValue | None
    serial: dict[int, IRValue]
    rows: tuple[IRValue, IRValue] | None = None
    columns: IRValue | None = None
    row: int = 0


class BufferAccess:
    """Emits loads and stores of one nest's buffers, with one builder.

    Parameters
    ----------
    nest : Nest
    emitter : Emitter
        Writes conversions between registers and memory.
    """

    def __init__(self, nest: Nest, emitter: Emitter) -> None:
        self.nest, self.e, self.b = nest, emitter, emitter.b
        #: For the mask of some lanes that of all elements up to the last one, where vectors take every second element.
        self.seconds: dict[IRValue, IRValue] = {}
        #: What has been computed in a block for all buffers of the same strides.
        self._offsets: dict[tuple, IRValue | None] = {}
        self._outer: dict[int, IRValue | None] = {}
        self._read_table()

    def integer(self, number: int) -> IRValue:
        """A constant i64."""
        return self.b.constant("i64", number)

    def scalar(self, position: int, element: str = "i64") -> IRValue:
        """Load an entry of the call's table of pointers and scalar parameters."""
        address = self.b.offset(IRValue("ptr", 1, "%table"), "i64", self.integer(position))
        return self.b.load(element, address, invariant=True)

    def _read_table(self) -> None:
        self.pointers = {number: self.scalar(index, "ptr") for index, number in enumerate(self.nest.memory)}
        self.sizes: list[IRValue] = []
        self.scalars: dict[ScalarParameter, IRValue] = {}
        self.constant_scalars: dict[int, int] = {}
        for index, (kind, number, axis) in enumerate(self.nest.scalars(), start=len(self.pointers)):
            if kind is ScalarKind.CONSTANT:
                # Constants are read where they are used: as memory operands they take no register.
                self.constant_scalars.setdefault(number, index)
            elif kind is ScalarKind.SIZE:
                self.sizes.append(self.scalar(index))
            elif kind is ScalarKind.FAILURE:
                self.e.failure = self.b.offset(IRValue("ptr", 1, "%table"), "i64", self.integer(index))
            else:
                self.scalars[kind, number, axis] = self.scalar(index)

    def ranges(self) -> list[tuple[str, IRValue]]:
        """The dimensions of the parallel range, as (name, size); the last one is the fastest."""
        b, nest = self.b, self.nest
        parts = [(f"axis{axis}", self.sizes[axis]) for axis in self._serial_outer()]
        if nest.split >= 0:
            parts.append(("block", self.scalars[ScalarKind.BLOCKS, 0, 0]))
        if nest.lanes is LaneAxis.OUTER:
            wide = b.integer("add", self.sizes[nest.outer - 1], self.integer(loop_nest.COLUMNS - 1))
            parts.append(("tile", b.integer("sdiv", wide, self.integer(loop_nest.COLUMNS))))
        elif nest.tiled:
            parts.append(("tile", self.scalars[ScalarKind.TILES, 0, 0]))
        return parts

    def _serial_outer(self) -> range:
        return range(self.nest.outer - (self.nest.lanes is LaneAxis.OUTER))

    def locate(self, position: IRValue) -> None:
        """Compute the base addresses for a step of the parallel range."""
        self.go_to(self.split(position, self.ranges()))

    def go_to(self, indices: dict[str, IRValue]) -> None:
        """Compute the base addresses for given indices of the parallel range, by name."""
        self.block, self.tile = indices.get("block"), indices.get("tile")
        outer = {axis: indices[f"axis{axis}"] for axis in self._serial_outer()}
        self.bases = self._moved_by(outer)
        self._outer = {number: self._offset(number, outer) for number in self.nest.memory}

    @property
    def located(self) -> tuple[dict[int, IRValue], dict[int, IRValue | None]]:
        """The current base addresses and outer indices; assign a saved pair to restore them."""
        return self.bases, self._outer

    @located.setter
    def located(self, location: tuple[dict[int, IRValue], dict[int, IRValue | None]]) -> None:
        self.bases, self._outer = location

    def split(self, position: IRValue, parts: list[tuple[str, IRValue]]) -> dict[str, IRValue]:
        """An index for each dimension, by name, from a linear index; the last dimension is the fastest."""
        b, indices, rest = self.b, {}, position
        for number, (name, size) in reversed(list(enumerate(parts))):
            if number == 0:
                indices[name] = rest
            else:
                indices[name] = b.integer("urem", rest, size)
                rest = b.integer("udiv", rest, size)
        return indices

    def after(self, indices: dict[str, IRValue], parts: list[tuple[str, IRValue]]) -> dict[str, IRValue]:
        """The indices of the next step, by incrementing with carry: a division would take longer than many a row."""
        b, carry, following = self.b, self.integer(1), {}
        for number, (name, size) in reversed(list(enumerate(parts))):
            further = b.integer("add", indices[name], carry)
            if number == 0:
                following[name] = further
            else:
                over = b.icmp("eq", further, size)
                following[name] = b.select(over, self.integer(0), further)
                carry = b.convert("zext", over, "i64")
        return following

    def _moved_by(self, indices: dict[int, IRValue]) -> dict[int, IRValue]:
        """The address of each buffer, and the value of each running index, at the indices of some axes."""
        bases: dict[int, IRValue] = {}
        for number, access in enumerate(self.nest.buffers):
            start = (
                self.scalars.get((ScalarKind.START, number, 0))
                if access.role is BufferRole.INDEX
                else self.pointers[number]
            )
            bases[number] = self._further(number, start, indices)
        return bases

    def _further(self, number: int, base: IRValue, indices: dict[int, IRValue]) -> IRValue:
        """A base address or running index, advanced by the indices of some axes."""
        access, offset = self.nest.buffers[number], self._offset(number, indices)
        if offset is None:
            return base
        if access.role is BufferRole.INDEX:
            return self.b.integer("add", base, offset)
        return self.b.offset(base, MEMORY[access.type], offset)

    def _offset(self, number: int, indices: dict[int, IRValue]) -> IRValue | None:
        """The offset of a buffer at the indices of some axes, in elements; None for no offset."""
        strides = self.nest.buffers[number].strides
        moving = [(axis, index) for axis, index in indices.items() if strides[axis] is not Stride.NONE]
        key = (self.b.block, self.nest.mover(number), *moving)
        if key not in self._offsets:
            offset = None
            for axis, index in moving:
                offset = self._plus(offset, self._moved(number, axis, index))
            self._offsets[key] = offset
        return self._offsets[key]

    def _along(self, number: int, base: IRValue, position: CodePosition) -> IRValue:
        """The address of the first lane in a buffer whose lanes are contiguous.

        All buffers of the same strides are as far from their beginnings, which stay in registers from row to row.
        """
        element, outer = MEMORY[self.nest.buffers[number].type], self._outer.get(number)
        if outer is None or base is not self.bases[number]:
            return self.b.offset(base, element, position.lane)
        key = (self.b.block, outer, position.lane)
        if key not in self._offsets:
            self._offsets[key] = self.b.integer("add", outer, position.lane)
        return self.b.offset(self.pointers[number], element, self._offsets[key])

    def _plus(self, left: IRValue | None, right: IRValue) -> IRValue:
        return right if left is None else self.b.integer("add", left, right)

    def _stride(self, number: int, axis: int) -> IRValue:
        return self.scalars[ScalarKind.STRIDE, self.nest.mover(number), axis]

    def _moved(self, number: int, axis: int, index: IRValue) -> IRValue:
        """The offset of a buffer at an index of one axis, in elements."""
        stride = self.nest.buffers[number].strides[axis]
        if stride is Stride.UNIT:
            return index
        if stride is Stride.REVERSED:
            return self.b.integer("sub", self.integer(0), index)
        step = self.integer(2) if stride is Stride.DOUBLE else self._stride(number, axis)
        return self.b.integer("mul", index, step)

    def spread(self, position: CodePosition) -> CodePosition:
        """In a flat nest, add the row and column of each lane; the division of lane numbers is exact in f32."""
        if not self.nest.flat:
            return position
        b, lanes, width = self.b, position.lanes, self.sizes[-1]
        row = b.integer("sdiv", position.lane, width)
        first = b.integer("sub", position.lane, b.integer("mul", row, width))
        narrow = b.convert("trunc", width, "i32")
        far = b.integer("add", b.splat(b.convert("trunc", first, "i32"), lanes), b.steps("i32", lanes))
        inverse = b.fdiv(b.constant("float", 1), b.convert("sitofp", narrow, "float"))
        middle = b.fadd(b.convert("sitofp", far, "float"), b.constant("float", 0.5, lanes))
        more = b.convert("fptosi", b.fmul(middle, b.splat(inverse, lanes)), "i32")
        column = b.integer("sub", far, b.integer("mul", more, b.splat(narrow, lanes)))
        return dataclasses.replace(position, rows=(row, more), columns=column)

    def lane_axis(self) -> int:
        """The axis of the nest that lanes run along."""
        nest = self.nest
        return nest.outer - 1 if nest.lanes is not LaneAxis.INNER else nest.outer + nest.inner - 1

    def _at(self, number: int, position: CodePosition) -> IRValue:
        """The address of a buffer, or the value of a running index, at the serial indices of a position."""
        return self._further(number, self.bases[number], position.serial)

    def _far(self, number: int, position: CodePosition) -> IRValue:
        """The offset of each lane along the lane axis, in elements."""
        b, axis = self.b, self.lane_axis()
        if self.nest.flat:
            return self._far_flat(number, position)
        index = b.integer("add", b.splat(position.lane, position.lanes), b.steps("i64", position.lanes))
        if self.nest.buffers[number].strides[axis] is Stride.DOUBLE:
            return b.integer("mul", index, b.constant("i64", 2, position.lanes))
        return b.integer("mul", index, b.splat(self._stride(number, axis), position.lanes))

    def _far_flat(self, number: int, position: CodePosition) -> IRValue:
        b, (across, along) = self.b, self.nest.buffers[number].strides[-2:]
        # Only a position in a tile of rows comes here.
        axis, (row, more) = self.lane_axis(), position.rows  # pyright: ignore[reportGeneralTypeIssues]
        if (across, along) == (Stride.NONE, Stride.UNIT):
            return position.columns
        moved = b.constant("i64", 0, position.lanes)
        if along is not Stride.NONE:
            moved = b.convert("sext", position.columns, "i64")
        if along is Stride.DYNAMIC:
            moved = b.integer("mul", moved, b.splat(self._stride(number, axis), position.lanes))
        if across is Stride.DYNAMIC:
            step = self._stride(number, axis - 1)
            rows = b.integer("add", b.splat(row, position.lanes), b.convert("sext", more, "i64"))
            moved = b.integer("add", moved, b.integer("mul", rows, b.splat(step, position.lanes)))
        return moved

    def _moves(self, number: int, position: CodePosition) -> Stride:
        """The kind of stride by which a buffer moves along the lanes of a position."""
        strides = self.nest.buffers[number].strides
        if position.lane is None:
            return Stride.NONE
        if self.nest.flat and strides[-2:] not in _AS_ONE:
            return Stride.DYNAMIC
        return strides[self.lane_axis()]

    def load(self, op: Op, values: list[Register], position: CodePosition) -> Register:
        """Emit a load instruction; its value."""
        b, number = self.b, op.entry
        element = MEMORY[op.type]
        base = self._at(number, position)
        moves = self._moves(number, position)
        if op.name == "gather" and position.lanes > 1:
            value = self._gathered(op, base, self.added(values[op.args[0]], number, position), position)
            return self.e.from_memory(value, op.type)
        if op.args:
            base = b.offset(base, element, b.extract(values[op.args[0]], 0))
        if moves is Stride.NONE:
            one = register_pairs.load_one(b, op.type, base) if op.type.is_complex else b.load(element, base)
            return self.e.splat(self.e.from_memory(one, op.type), position.lanes)
        if moves is Stride.UNIT:
            at = b.offset(base, element, position.lane) if op.args else self._along(number, base, position)
            value = self._run(op.type, at, position)
        elif moves is Stride.REVERSED:
            value = self._turned(self._run(op.type, self._last(base, element, position), self._backwards(position)))
        elif moves is Stride.DOUBLE and not op.type.is_complex:
            value = self._every_second(element, b.offset(base, element, self._twice(position.lane)), position)
        elif self._by_lanes(op.type, position):
            value = IRValue(element, position.lanes, "poison")
            for lane, address in enumerate(self._lane_addresses(number, element, base, position)):
                value = b.insert(value, b.load(element, address), lane)
        else:
            value = self._gathered(op, base, self._far(number, position), position)
        return self.e.from_memory(value, op.type)

    def _by_lanes(self, type_: Type, position: CodePosition) -> bool:
        """Whether strided lanes are accessed one by one, where that is faster than a gather or scatter.

        Measured on Zen 4, where a gather takes two to three times as long as its loads, and a scatter more.
        """
        return position.mask is None and position.lanes > 1 and not type_.is_complex and not self.nest.flat

    def _lane_addresses(self, number: int, element: str, base: IRValue, position: CodePosition) -> list[IRValue]:
        """The address of each lane in a buffer that is strided along the lanes."""
        b, axis = self.b, self.lane_axis()
        doubled = self.nest.buffers[number].strides[axis] is Stride.DOUBLE
        step = self.integer(2) if doubled else self._stride(number, axis)
        addresses = [b.offset(base, element, b.integer("mul", position.lane, step))]
        while len(addresses) < position.lanes:
            addresses.append(b.offset(addresses[-1], element, step))
        return addresses

    def _twice(self, index: IRValue) -> IRValue:
        return self.b.integer("add", index, index)

    def _every_second(self, element: str, address: IRValue, position: CodePosition) -> IRValue:
        """Load every second element: those in between are loaded too, but none beyond the last."""
        b, lanes = self.b, position.lanes
        if lanes == 1:
            return b.load(element, address)
        if position.mask is None:
            mask = IRValue("i1", 2 * lanes, "<" + ", ".join(["i1 true"] * (2 * lanes - 1) + ["i1 false"]) + ">")
        else:
            mask = self.seconds[position.mask]
        return b.shuffle(b.masked_load(element, address, mask), list(range(0, 2 * lanes, 2)))

    def _gathered(self, op: Op, base: IRValue, index: IRValue, position: CodePosition) -> Register:
        """Load an element at an index for each lane."""
        if op.type.is_complex:
            return register_pairs.gather(self.b, op.type, base, index, self._some(position))
        return self.b.gather(MEMORY[op.type], base, index, self._some(position))

    def added(self, index: IRValue, number: int, position: CodePosition) -> IRValue:
        """A computed index for each lane, plus the offset of the buffer along the lanes."""
        b, moves = self.b, self._moves(number, position)
        if moves is Stride.NONE:
            return index
        if moves in "s2":
            return b.integer("add", index, b.convert("sext", self._far(number, position), "i64"))
        lane = b.integer("add", b.splat(position.lane, position.lanes), b.steps("i64", position.lanes))
        return b.integer("add" if moves is Stride.UNIT else "sub", index, lane)

    def _run(self, type_: Type, address: IRValue, position: CodePosition) -> Register:
        """Load consecutive elements of a type; the value in registers."""
        if type_.is_complex:
            return register_pairs.load(self.b, type_, address, position.lanes, position.mask)
        return self.consecutive(MEMORY[type_], address, position)

    def consecutive(self, element: str, address: IRValue, position: CodePosition) -> IRValue:
        """Load consecutive elements, one a lane."""
        if position.mask is None:
            return self.b.load(element, address, lanes=position.lanes)
        return self.b.masked_load(element, address, position.mask)

    def _turned(self, value: Register) -> Register:
        """The lanes of a value in reverse order."""
        return register_pairs.each(lambda part: self.b.shuffle(part, list(range(part.lanes - 1, -1, -1))), value)

    def _backwards(self, position: CodePosition) -> CodePosition:
        """A position with the mask in reverse order of lanes."""
        return position if position.mask is None else dataclasses.replace(position, mask=self._turned(position.mask))

    def _last(self, base: IRValue, element: str, position: CodePosition) -> IRValue:
        """The address of the last lane in a buffer that is walked backwards."""
        far = self.b.integer("add", position.lane, self.integer(position.lanes - 1))
        return self.b.offset(base, element, self.b.integer("sub", self.integer(0), far))

    def _some(self, position: CodePosition) -> IRValue:
        """The mask of a position; an all-true one where it has none."""
        return position.mask if position.mask is not None else self.b.constant("i1", 1, position.lanes)

    def index(self, op: Op, position: CodePosition) -> IRValue:
        """Emit an index instruction: the index of each lane along an axis."""
        b, lanes, number = self.b, position.lanes, op.entry
        value = self._at(number, position)
        moves = self._moves(number, position)
        if moves is Stride.DYNAMIC:
            far = b.convert("sext", self._far(number, position), "i64")
            return b.convert("trunc", b.integer("add", b.splat(value, lanes), far), REGISTER[op.type])
        if moves in "1-":
            value = b.integer("add" if moves is Stride.UNIT else "sub", value, position.lane)
        value = b.splat(b.convert("trunc", value, REGISTER[op.type]), lanes)
        if moves is Stride.NONE:
            return value
        return b.integer("add" if moves is Stride.UNIT else "sub", value, b.steps(value.element, lanes))

    def stores(self, nest_pass: NestPass, values: list[Register], position: CodePosition) -> None:
        """Emit the stores of a pass."""
        b, nest = self.b, self.nest
        for number, source in nest_pass.stores:
            access = nest.buffers[number]
            element = MEMORY[access.type]
            value = self.e.to_memory(values[source], access.type)
            base = self._at(number, position)
            if nest_pass.level is PassLevel.ROW and nest.split >= 0:
                base = b.offset(base, element, b.integer("mul", self.block, self.scalars[ScalarKind.STEP, 0, 0]))
            self._store(value, number, base, position)
        for scatter in nest_pass.scatters:
            self._scatter(scatter, values, position)

    def _store(self, value: Register, number: int, base: IRValue, position: CodePosition) -> None:
        """Store a value, given the buffer's address at the serial indices."""
        b, type_, moves = self.b, self.nest.buffers[number].type, self._moves(number, position)
        if moves is Stride.NONE:
            self._write(register_pairs.each(lambda part: b.extract(part, 0), value), base, None)
        elif moves is Stride.UNIT:
            self._write(value, self._along(number, base, position), position.mask)
        elif moves is Stride.REVERSED:
            self._write(self._turned(value), self._last(base, MEMORY[type_], position), self._backwards(position).mask)
        elif self._by_lanes(type_, position):
            for lane, address in enumerate(self._lane_addresses(number, MEMORY[type_], base, position)):
                b.store(b.extract(value, lane), address)
        else:
            self._spread(value, type_, base, self._far(number, position), position)

    def _spread(self, value: Register, type_: Type, base: IRValue, index: IRValue, position: CodePosition) -> None:
        """Store each lane at an index of its own; of equal indices the last lane wins."""
        if isinstance(value, ComplexRegisters):
            register_pairs.scatter(self.b, type_, value, base, index, self._some(position))
        else:
            self.b.scatter(value, base, index, self._some(position))

    def _scatter(self, scatter: Scatter, values: list[Register], position: CodePosition) -> None:
        """Store at a computed offset; a scatter that joins elements loads the old one first."""
        b, number = self.b, scatter.buffer
        type_, value = self.nest.buffers[number].type, values[scatter.value]
        if scatter.mode is not StoreMode.PUT:
            there = self.load(Op("load", type_, (scatter.offset,), number), values, position)
            value = self.e.apply(scatter.mode.value, type_, [there, value], None)
        value = self.e.to_memory(value, type_)
        base = self._at(number, position)
        if scatter.lanes and position.lanes > 1:
            self._spread(value, type_, base, self.added(values[scatter.offset], number, position), position)
        else:
            offset = b.extract(values[scatter.offset], 0)
            self._store(value, number, b.offset(base, MEMORY[type_], offset), position)

    def _write(self, value: Register, address: IRValue, mask: IRValue | None) -> None:
        """Store consecutive elements."""
        if isinstance(value, ComplexRegisters):
            register_pairs.store(self.b, value, address, mask)
        else:
            self.b.masked_store(value, address, mask)
