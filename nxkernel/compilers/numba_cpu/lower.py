"""From a loop nest to the LLVM IR of its kernel.

A kernel is ``void kernel(ptr args, ptr dims, ptr steps, ptr table)``, the form that Numba's thread pool calls: it runs
the steps ``args[0]`` to ``args[0] + dims[0]`` of the nest's parallel range. The table has the addresses of the buffers
and then the words that :meth:`nxkernel.compilers.loops.Nest.words` lists.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from nxkernel.compilers import loops
from nxkernel.compilers.loops import Nest, Op, Reduce, Section
from nxkernel.compilers.numba_cpu.elements import MEMORY, REGISTER
from nxkernel.compilers.numba_cpu.ir import Builder, Loop, Module, Value
from nxkernel.compilers.numba_cpu.operations import Emitter
from nxkernel.compilers.numba_cpu.reduce import Accumulator

#: Elementary functions in one nest from which they are called instead of inlined.
CALLS_FROM = 9
#: Instructions in a section below which it takes two, or four, vectors at a time.
SHORT, SHORTEST = 12, 5
#: Instructions in a section up to which its loop is written twice, so that whole vectors need no mask.
TWICE = 24


def lower(nest: Nest) -> Module:
    """The module that defines the kernel of a nest, under the nest's key."""
    return _Lowering(nest).run()


@dataclass(frozen=True)
class _Place:
    """Where a section's code stands: the mask and index of its lanes, and the indices of the serial axes.

    In a flat nest ``rows`` has the index of the first lane along the first inner axis, and how much further each lane
    is; ``columns`` has each lane's index along the last axis.
    """

    lanes: int
    mask: Value | None
    lane: Value | None
    serial: dict[int, Value]
    rows: tuple[Value, Value] | None = None
    columns: Value | None = None


class _Lowering:
    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.module = Module()
        pointers = [("args", "ptr"), ("dims", "ptr"), ("steps", "ptr"), ("table", "ptr noalias")]
        self.b = Builder(self.module, nest.key, "void", pointers, attributes="nounwind")
        costly = sum(op.name in _COSTLY for section in nest.sections for op in section.code)
        self.e = Emitter(self.b, inline=costly < CALLS_FROM)
        self.slots: dict[int, Value] = {}

    def integer(self, number: int) -> Value:
        return self.b.constant("i64", number)

    # Frame -----------------------------------------------------------------------------------------------------

    def run(self) -> Module:
        b = self.b
        begin = b.load("i64", Value("ptr", 1, "%args"))
        count = b.load("i64", Value("ptr", 1, "%dims"))
        self._read_table()
        self._make_rows()
        loop = Loop(b, begin, b.integer("add", begin, count), self.integer(1))
        self._locate(loop.index)
        for section in self.nest.sections:
            if section.level == "row":
                self._row_section(section)
            elif self.nest.lanes == "inner":
                self._full_inner(section)
            else:
                self._full_outer(section)
        loop.end()
        b.do("ret void")
        b.finish()
        return self.module

    def _word(self, position: int, element: str = "i64") -> Value:
        address = self.b.offset(Value("ptr", 1, "%table"), "i64", self.integer(position))
        return self.b.load(element, address, invariant=True)

    def _read_table(self) -> None:
        self.pointers = {number: self._word(place, "ptr") for place, number in enumerate(self.nest.memory)}
        self.sizes: list[Value] = []
        self.words: dict[tuple[str, int, int], Value] = {}
        self.constant_words: dict[int, int] = {}
        for place, (kind, number, axis) in enumerate(self.nest.words(), start=len(self.pointers)):
            if kind == "constant":
                # Constants are read where they are used: as memory operands they take no register.
                self.constant_words[number] = place
            elif kind == "size":
                self.sizes.append(self._word(place))
            else:
                self.words[kind, number, axis] = self._word(place)

    def _make_rows(self) -> None:
        """Room on the stack: scratch rows, and for lanes along an outer axis one row for each slot."""
        nest, b = self.nest, self.b
        self.scratches = [b.alloca(REGISTER[type_], self.sizes[-1]) for type_ in nest.scratches]
        self.slot_rows, self.carry_rows = [], {}
        if nest.lanes == "outer":
            self.slot_rows = [b.alloca(REGISTER[type_], loops.COLUMNS) for type_ in nest.slots]
            for section in nest.sections:
                for reduce in section.reduces:
                    elements = Accumulator(self.e, reduce, 1, _index_type(section, reduce)).elements
                    self.carry_rows[reduce.slot] = [b.alloca(element, loops.COLUMNS) for element in elements]

    def _locate(self, position: Value) -> None:
        """From a step of the parallel range to outer indices, block and tile, and from those to addresses."""
        b, nest = self.b, self.nest
        parts: list[tuple[str, Value | None]] = []
        serial_outer = list(range(nest.outer - (nest.lanes == "outer")))
        parts += [(f"axis{axis}", self.sizes[axis]) for axis in serial_outer]
        if nest.split >= 0:
            parts.append(("block", self.words["blocks", 0, 0]))
        if nest.lanes == "outer":
            wide = b.integer("add", self.sizes[nest.outer - 1], self.integer(loops.COLUMNS - 1))
            parts.append(("tile", b.integer("sdiv", wide, self.integer(loops.COLUMNS))))
        elif nest.tiled:
            parts.append(("tile", self.words["tiles", 0, 0]))
        found: dict[str, Value] = {}
        rest = position
        for place, (name, size) in reversed(list(enumerate(parts))):
            if place == 0:
                found[name] = rest
            else:
                found[name] = b.integer("urem", rest, size)
                rest = b.integer("udiv", rest, size)
        self.block, self.tile = found.get("block"), found.get("tile")
        self.bases: dict[int, Value] = {}
        for number, access in enumerate(nest.buffers):
            start = self.words.get(("start", number, 0))
            offset = start if access.role == "index" else None
            for axis in serial_outer:
                if access.strides[axis] != "0":
                    offset = self._plus(offset, self._moved(number, axis, found[f"axis{axis}"]))
            if access.role == "index":
                self.bases[number] = offset
            else:
                base = self.pointers[number]
                self.bases[number] = base if offset is None else b.offset(base, MEMORY[access.type], offset)

    def _plus(self, left: Value | None, right: Value) -> Value:
        return right if left is None else self.b.integer("add", left, right)

    def _moved(self, number: int, axis: int, index: Value) -> Value:
        """How far a buffer has moved at an index of an axis, in elements."""
        stride = self.nest.buffers[number].strides[axis]
        if stride == "1":
            return index
        if stride == "-":
            return self.b.integer("sub", self.integer(0), index)
        return self.b.integer("mul", index, self.words["stride", number, axis])

    # Sections --------------------------------------------------------------------------------------------------

    def _lanes(self, section: Section, *, wide: bool) -> int:
        """How many lanes a section takes: one vector of 512 bits of its widest type, more when it is short."""
        held = [op.type for op in section.code] + [reduce.type for reduce in section.reduces]
        widest = max((8 * _bytes(type_) for type_ in held), default=32)
        lanes = 8 if widest == 64 else 16
        if wide and len(section.code) <= SHORTEST:
            return 4 * lanes
        return 2 * lanes if wide and len(section.code) <= SHORT else lanes

    def _mask(self, lane: Value, stop: Value, lanes: int) -> Value:
        """The lanes of a vector that begins at `lane` and that lie before `stop`."""
        b = self.b
        left = b.convert("trunc", b.intrinsic("smin", b.integer("sub", stop, lane), self.integer(lanes)), "i32")
        return b.icmp("ult", b.steps("i32", lanes), b.splat(left, lanes))

    def _row_section(self, section: Section) -> None:
        if self.nest.lanes == "inner":
            values = self._code(section, _Place(1, None, None, {}))
            for slot, number in section.keeps:
                self.slots[slot] = self.e.number(values[number], self.nest.slots[slot])
            self._stores(section, values, _Place(1, None, None, {}))
            return
        lanes = self._lanes(section, wide=False)

        def body(place: _Place) -> None:
            values = self._code(section, place)
            for slot, number in section.keeps:
                value = self.e.number(values[number], self.nest.slots[slot])
                self.b.store(value, self._slot_address(slot, place))
            self._stores(section, values, place)

        self._over_columns(lanes, {}, body)

    def _over_columns(self, lanes: int, serial: dict[int, Value], body) -> None:
        """Run code for every vector of this step's columns."""
        b = self.b
        first = b.integer("mul", self.tile, self.integer(loops.COLUMNS))
        stop = b.intrinsic(
            "smin", b.integer("add", first, self.integer(loops.COLUMNS)), self.sizes[self.nest.outer - 1]
        )
        loop = Loop(b, first, stop, self.integer(lanes))
        self._first_column = first
        body(_Place(lanes, self._mask(loop.index, stop, lanes), loop.index, serial))
        loop.end()

    def _slot_address(self, slot: int, place: _Place) -> Value:
        column = self.b.integer("sub", place.lane, self._first_column)
        return self.b.offset(self.slot_rows[slot], REGISTER[self.nest.slots[slot]], column)

    def _bounds(self, axis: int) -> tuple[Value, Value]:
        """First and last-but-one index of an inner axis for this step."""
        b, nest, size = self.b, self.nest, self.sizes[self.nest.outer + axis]
        if nest.flat:
            size = b.integer("mul", self.sizes[-2], self.sizes[-1])
        if nest.split == axis:
            length = self.words["block", 0, 0]
            first = b.integer("mul", self.block, length)
        elif nest.tiled and axis == nest.inner - 1:
            length = self.integer(loops.TILE)
            first = b.integer("mul", self.tile, length)
        else:
            return self.integer(0), size
        return first, b.intrinsic("smin", b.integer("add", first, length), size)

    def _full_inner(self, section: Section) -> None:
        """Vectors along the last inner axis; reductions are carried in registers."""
        nest, b = self.nest, self.b
        lanes = self._lanes(section, wide=bool(section.reduces))
        accumulators = [Accumulator(self.e, reduce, lanes, _index_type(section, reduce)) for reduce in section.reduces]
        carried = [value for accumulator in accumulators for value in accumulator.start()]
        bounds = [self._bounds(axis) for axis in range(nest.inner)]
        open_loops, serial = [], {}
        for axis in range(0 if nest.flat else nest.inner - 1):
            loop = Loop(b, *bounds[axis], self.integer(1), carried)
            carried = loop.values
            open_loops.append(loop)
            serial[nest.outer + axis] = loop.index

        def turn(lane: Value, mask: Value | None, held: list[Value]) -> list[Value]:
            place = self._spread(_Place(lanes, mask, lane, serial))
            values = self._code(section, place)
            self._stores(section, values, place)
            for row, number in section.scratches:
                type_ = nest.scratches[row]
                address = b.offset(self.scratches[row], REGISTER[type_], lane)
                b.masked_store(self.e.number(values[number], type_), address, mask)
            following: list[Value] = []
            for accumulator in accumulators:
                mine, held = held[: accumulator.width], held[accumulator.width :]
                fed = [values[number] for number in accumulator.reduce.args]
                following += accumulator.step(mine, fed, mask)
            return following

        following = self._vectors(*bounds[-1], lanes, carried, turn, whole=len(section.code) <= TWICE)
        for loop in reversed(open_loops):
            following = loop.end(*following)
        for accumulator in accumulators:
            held, following = following[: accumulator.width], following[accumulator.width :]
            self.slots[accumulator.reduce.slot] = accumulator.finish(held, bounds[0][0])

    def _spread(self, place: _Place) -> _Place:
        """In a flat nest, the row and column of each lane; the division of lanes is exact in a float, they are few."""
        if not self.nest.flat:
            return place
        b, lanes, width = self.b, place.lanes, self.sizes[-1]
        row = b.integer("sdiv", place.lane, width)
        first = b.integer("sub", place.lane, b.integer("mul", row, width))
        narrow = b.convert("trunc", width, "i32")
        far = b.integer("add", b.splat(b.convert("trunc", first, "i32"), lanes), b.steps("i32", lanes))
        inverse = b.fdiv(b.constant("float", 1), b.convert("sitofp", narrow, "float"))
        middle = b.fadd(b.convert("sitofp", far, "float"), b.constant("float", 0.5, lanes))
        more = b.convert("fptosi", b.fmul(middle, b.splat(inverse, lanes)), "i32")
        column = b.integer("sub", far, b.integer("mul", more, b.splat(narrow, lanes)))
        return dataclasses.replace(place, rows=(row, more), columns=column)

    def _vectors(
        self, first: Value, stop: Value, lanes: int, carried: list[Value], turn, *, whole: bool
    ) -> list[Value]:
        """Run `turn` for every vector from `first` to `stop`; with `whole`, without a mask but for the last one."""
        b = self.b
        if whole:
            count = b.integer("sdiv", b.integer("sub", stop, first), self.integer(lanes))
            edge = b.integer("add", first, b.integer("mul", count, self.integer(lanes)))
            loop = Loop(b, first, edge, self.integer(lanes), carried)
            carried = loop.end(*turn(loop.index, None, loop.values))
            # An empty range would put the edge before the beginning.
            first = b.intrinsic("smax", first, edge)
        loop = Loop(b, first, stop, self.integer(lanes), carried)
        return loop.end(*turn(loop.index, self._mask(loop.index, stop, lanes), loop.values))

    def _full_outer(self, section: Section) -> None:
        """Vectors along the last outer axis; each column's reductions are carried in a row on the stack."""
        nest, b = self.nest, self.b
        lanes = self._lanes(section, wide=False)
        accumulators = [Accumulator(self.e, reduce, lanes, _index_type(section, reduce)) for reduce in section.reduces]
        rows = [self.carry_rows[reduce.slot] for reduce in section.reduces]

        def address(row: Value, element: str, place: _Place) -> Value:
            return b.offset(row, element, b.integer("sub", place.lane, self._first_column))

        def begin(place: _Place) -> None:
            for accumulator, own in zip(accumulators, rows, strict=True):
                for row, value in zip(own, accumulator.start(), strict=True):
                    b.store(value, address(row, value.element, place))

        def step(place: _Place) -> None:
            values = self._code(section, place)
            self._stores(section, values, place)
            for accumulator, own in zip(accumulators, rows, strict=True):
                places = [address(row, e, place) for row, e in zip(own, accumulator.elements, strict=True)]
                held = [b.load(e, at, lanes=lanes) for e, at in zip(accumulator.elements, places, strict=True)]
                fed = [values[number] for number in accumulator.reduce.args]
                for value, at in zip(accumulator.step(held, fed, None), places, strict=True):
                    b.store(value, at)

        def finish(place: _Place) -> None:
            for accumulator, own in zip(accumulators, rows, strict=True):
                held = [
                    b.load(e, address(row, e, place), lanes=lanes)
                    for row, e in zip(own, accumulator.elements, strict=True)
                ]
                slot = accumulator.reduce.slot
                value = self.e.number(accumulator.lanewise(held, self._bounds(0)[0]), nest.slots[slot])
                b.store(value, self._slot_address(slot, place))

        if accumulators:
            self._over_columns(lanes, {}, begin)
        open_loops, serial = [], {}
        for axis in range(nest.inner):
            open_loops.append(Loop(b, *self._bounds(axis), self.integer(1)))
            serial[nest.outer + axis] = open_loops[-1].index
        self._over_columns(lanes, serial, step)
        for loop in reversed(open_loops):
            loop.end()
        if accumulators:
            self._over_columns(lanes, {}, finish)

    # Instructions ----------------------------------------------------------------------------------------------

    def _code(self, section: Section, place: _Place) -> list[Value]:
        values: list[Value] = []
        for op in section.code:
            values.append(self._op(op, values, place))
        return values

    def _op(self, op: Op, values: list[Value], place: _Place) -> Value:
        b, lanes = self.b, place.lanes
        if op.name == "const":
            return b.splat(self._word(self.constant_words[op.extra], REGISTER[op.type]), lanes)
        if op.name == "load":
            return self._load(op, values, place)
        if op.name == "index":
            return self._index(op, place)
        if op.name == "slot":
            if self.nest.lanes == "inner":
                return b.splat(self.slots[op.extra], lanes)
            return b.load(REGISTER[op.type], self._slot_address(op.extra, place), lanes=lanes)
        if op.name == "scratch":
            address = b.offset(self.scratches[op.extra], REGISTER[op.type], place.lane)
            return self._consecutive(REGISTER[op.type], address, place)
        return self.e.apply(op.name, op.type, [values[number] for number in op.args], op.extra)

    def _lane_axis(self) -> int:
        nest = self.nest
        return nest.outer - 1 if nest.lanes == "outer" else nest.outer + nest.inner - 1

    def _address(self, number: int, place: _Place, element: str) -> Value:
        """The address of a buffer at the serial indices of a place, before its lanes move."""
        offset = None
        for axis, index in place.serial.items():
            if self.nest.buffers[number].strides[axis] != "0":
                offset = self._plus(offset, self._moved(number, axis, index))
        base = self.bases[number]
        return base if offset is None else self.b.offset(base, element, offset)

    def _far(self, number: int, place: _Place) -> Value:
        """How far each lane has moved along the lane axis, in elements."""
        b, axis = self.b, self._lane_axis()
        if self.nest.flat:
            return self._far_flat(number, place)
        index = b.integer("add", b.splat(place.lane, place.lanes), b.steps("i64", place.lanes))
        return b.integer("mul", index, b.splat(self.words["stride", number, axis], place.lanes))

    def _far_flat(self, number: int, place: _Place) -> Value:
        b, (across, along) = self.b, self.nest.buffers[number].strides[-2:]
        axis, (row, more) = self._lane_axis(), place.rows
        if (across, along) == ("0", "1"):
            return place.columns
        moved = b.constant("i64", 0, place.lanes)
        if along != "0":
            moved = b.convert("sext", place.columns, "i64")
        if along == "s":
            moved = b.integer("mul", moved, b.splat(self.words["stride", number, axis], place.lanes))
        if across == "s":
            step = self.words["stride", number, axis - 1]
            rows = b.integer("add", b.splat(row, place.lanes), b.convert("sext", more, "i64"))
            moved = b.integer("add", moved, b.integer("mul", rows, b.splat(step, place.lanes)))
        return moved

    def _moves(self, number: int, place: _Place) -> str:
        """How a buffer moves along the lanes of a place."""
        strides = self.nest.buffers[number].strides
        if place.lane is None:
            return "0"
        if self.nest.flat and strides[-2:] not in ("m1", "00"):
            return "s"
        return strides[self._lane_axis()]

    def _load(self, op: Op, values: list[Value], place: _Place) -> Value:
        b, number = self.b, op.extra
        element = MEMORY[op.type]
        base = self._address(number, place, element)
        if op.args:
            base = b.offset(base, element, b.extract(values[op.args[0]], 0))
        moves = self._moves(number, place)
        if moves == "0":
            return b.splat(self.e.from_memory(b.load(element, base), op.type), place.lanes)
        if moves == "1":
            value = self._consecutive(element, b.offset(base, element, place.lane), place)
        elif moves == "-":
            value = self._turned(self._consecutive(element, self._last(base, element, place), self._backwards(place)))
        else:
            value = b.gather(element, base, self._far(number, place), self._some(place))
        return self.e.from_memory(value, op.type)

    def _consecutive(self, element: str, address: Value, place: _Place) -> Value:
        if place.mask is None:
            return self.b.load(element, address, lanes=place.lanes)
        return self.b.masked_load(element, address, place.mask)

    def _turned(self, value: Value) -> Value:
        """The lanes in the opposite order."""
        return self.b.shuffle(value, list(range(value.lanes - 1, -1, -1)))

    def _backwards(self, place: _Place) -> _Place:
        """A place whose mask is for lanes in the opposite order."""
        return place if place.mask is None else dataclasses.replace(place, mask=self._turned(place.mask))

    def _last(self, base: Value, element: str, place: _Place) -> Value:
        """The address of the last lane of a buffer that is walked backwards."""
        far = self.b.integer("add", place.lane, self.integer(place.lanes - 1))
        return self.b.offset(base, element, self.b.integer("sub", self.integer(0), far))

    def _some(self, place: _Place) -> Value:
        """The mask of a place; all lanes where it has none."""
        return place.mask if place.mask is not None else self.b.constant("i1", 1, place.lanes)

    def _index(self, op: Op, place: _Place) -> Value:
        b, lanes, number = self.b, place.lanes, op.extra
        value = self.bases[number]
        for axis, index in place.serial.items():
            if self.nest.buffers[number].strides[axis] != "0":
                value = self._plus(value, self._moved(number, axis, index))
        moves = self._moves(number, place)
        if moves == "s":
            far = b.convert("sext", self._far(number, place), "i64")
            return b.convert("trunc", b.integer("add", b.splat(value, lanes), far), REGISTER[op.type])
        if moves in "1-":
            value = b.integer("add" if moves == "1" else "sub", value, place.lane)
        value = b.splat(b.convert("trunc", value, REGISTER[op.type]), lanes)
        if moves == "0":
            return value
        return b.integer("add" if moves == "1" else "sub", value, b.steps(value.element, lanes))

    def _stores(self, section: Section, values: list[Value], place: _Place) -> None:
        b, nest = self.b, self.nest
        for number, source in section.stores:
            access = nest.buffers[number]
            element = MEMORY[access.type]
            value = self.e.to_memory(values[source], access.type)
            base = self._address(number, place, element)
            if section.level == "row" and nest.split >= 0:
                base = b.offset(base, element, b.integer("mul", self.block, self.words["step", 0, 0]))
            moves = self._moves(number, place)
            if moves == "0":
                b.store(b.extract(value, 0), base)
            elif moves == "1":
                b.masked_store(value, b.offset(base, element, place.lane), place.mask)
            elif moves == "-":
                b.masked_store(self._turned(value), self._last(base, element, place), self._backwards(place).mask)
            else:
                b.scatter(value, base, self._far(number, place), self._some(place))


def _index_type(section: Section, reduce: Reduce) -> str:
    """The element that holds the index of an argmax."""
    return REGISTER[section.code[reduce.args[1]].type] if len(reduce.args) > 1 else ""


def _bytes(type_) -> int:
    return 8 if REGISTER[type_] in ("double", "i64") else 4


_COSTLY = frozenset(
    [
        "exp",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "sigmoid",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "cbrt",
        "erf",
        "erfc",
        "erf_inv",
        "pow",
        "atan2",
        "remainder",
    ]
)
