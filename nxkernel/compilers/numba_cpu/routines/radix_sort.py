"""Radix sort kernels for long rows: one digit of the keys after the other, from the lowest.

A row is cut into blocks, which threads share. For each digit the blocks count how often each value of it occurs
(``count``); then each block finds where its items of each value go, behind those of lesser values and of the blocks
before, and moves them there, in order (``move``). A digit that all items of a row share moves nothing, and so does a
row that is in order from the start.
"""

from __future__ import annotations

from collections.abc import Callable

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import WIDTH, IRValue
from nxkernel.compilers.numba_cpu.routines.kernel_builder import KernelBuilder
from nxkernel.compilers.numba_cpu.routines.sort_items import Items
from nxkernel.compilers.numba_cpu.routines.sort_keys import Keys, restore
from nxkernel.compilers.numba_cpu.routines.sort_plan import Radix

#: Items that an iteration of a loop takes.
_TURN = 4
#: What is noted of a piece of a row: elements that their keys do not tell, and keys that are not in order.
_ALTERED, _DISORDER = 1, 2


def lower(radix: Radix, kernel: str) -> str:
    """The LLVM IR of the kernel ``"spread"``, ``"count"``, ``"move"``, ``"finish"`` or ``"restore"``."""
    writer = _RadixWriter(radix, kernel)
    getattr(writer, kernel)()
    return writer.f.finish()


class _RadixWriter:
    def __init__(self, radix: Radix, kernel: str) -> None:
        self.radix, self.order = radix, radix.order
        self.f = KernelBuilder(radix.symbol(kernel))
        self.b = self.f.b
        self.counter, self.lanes = f"i{radix.counter}", 512 // radix.counter

    # Elements to items and back --------------------------------------------------------------------------------

    def spread(self) -> None:
        """Fill the first buffer with the sort items of a piece of a row, and note properties of the piece."""
        f, b = self.f, self.b
        (source, first, state, notes), (length, columns, pieces, size, width) = f.table(4, 5)
        items = Items(b, self.order, self.radix.low)
        kind = items.keys.element
        steps = f.loop(f.begin, f.end)
        row, base, piece = self._piece(steps.index, length, columns, pieces)
        begin = f.times(piece, size)
        with f.when(b.icmp("eq", piece, f.integer(0))):
            b.store(f.integer(0), b.offset(state, "i64", f.times(row, width)))

        def bits(index: IRValue, lanes: int) -> IRValue:
            return b.load(kind, b.offset(source, kind, f.plus(base, f.times(index, columns))), lanes=lanes)

        def make(index: IRValue, lanes: int, carried: list[IRValue]) -> list[IRValue]:
            disorder, before, altered = carried
            own = bits(index, lanes)
            key = items.keys.of(b, own)
            index_of_lane = b.integer("add", b.splat(index, lanes), b.steps("i64", lanes))
            self._put(items.of(key, index_of_lane), first, f.plus(f.times(row, length), index))
            if self.order.ambiguous:
                altered = b.integer("or", altered, items.keys.altered(b, own, key))
            return [b.integer("or", disorder, b.icmp("ugt", self._moved(before, key), key)), key, altered]

        no = b.constant("i1", 0)
        before = b.intrinsic("smax", f.minus(begin, 1), f.integer(0))
        start = [no, items.keys.of(b, bits(before, 1)), no]
        disorder, _, altered = self._pieces(begin, f.least(f.plus(begin, size), length), make, start)
        note = b.select(disorder, b.constant("i8", _DISORDER), b.constant("i8", 0))
        note = b.integer("or", note, b.convert("zext", altered, "i8"))
        b.store(note, b.offset(notes, "i8", f.plus(f.times(row, pieces), piece)))
        steps.end()

    def _moved(self, before: IRValue, key: IRValue) -> IRValue:
        """For each lane the key of the lane before; for the first lane the last one of the previous vector."""
        lanes = key.lanes
        if lanes == 1:
            return before
        mask = ", ".join(f"i32 {lanes - 1 + lane}" for lane in range(lanes))
        return self.b.emit(f"shufflevector {before}, {key}, <{lanes} x i32> <{mask}>", key.element, lanes)

    def finish(self) -> None:
        """Write the results, elements or indices, of a piece of a row from its items."""
        f, b = self.f, self.b
        (first, second, state, target), (length, columns, pieces, size, width) = f.table(4, 5)
        items = Items(b, self.order, self.radix.low)
        steps = f.loop(f.begin, f.end)
        row, base, piece = self._piece(steps.index, length, columns, pieces)
        last = f.minus(f.times(f.plus(row, 1), width), 1)
        buffer = self._buffer(b.load("i64", b.offset(state, "i64", last)), first, second)
        begin = f.times(piece, size)

        def write(index: IRValue, lanes: int, carried: list[IRValue]) -> list[IRValue]:
            result = items.result(self._get(buffer, f.plus(f.times(row, length), index), lanes))
            b.store(result, b.offset(target, items.memory, f.plus(base, f.times(index, columns))))
            return carried

        self._pieces(begin, f.least(f.plus(begin, size), length), write, [])
        steps.end()

    def restore(self) -> None:
        """Write zeros and NaN of a row as they were, if a piece has any that their keys cannot distinguish."""
        f, b = self.f, self.b
        (source, target, notes), (length, columns, pieces) = f.table(3, 3)
        keys = Keys(self.order.type, self.order.descending)
        steps = f.loop(f.begin, f.end)
        with f.when(self._noted(_ALTERED, notes, steps.index, pieces)):
            base = self._base(*f.split(steps.index, columns), length, columns)
            addresses = [b.offset(address, keys.element, base) for address in (source, target)]
            b.do(f"call void @{restore(keys, b)}({', '.join(map(str, (*addresses, length, columns)))})")
        steps.end()

    def _piece(
        self, step: IRValue, length: IRValue, columns: IRValue, pieces: IRValue
    ) -> tuple[IRValue, IRValue, IRValue]:
        """The row of a step, its start in memory, and the piece of it; neighbouring rows come first."""
        f = self.f
        rest, column = f.split(step, columns)
        outer, piece = f.split(rest, pieces)
        return f.plus(f.times(outer, columns), column), self._base(outer, column, length, columns), piece

    def _base(self, outer: IRValue, column: IRValue, length: IRValue, columns: IRValue) -> IRValue:
        return self.f.plus(self.f.times(outer, self.f.times(length, columns)), column)

    def _pieces(
        self,
        begin: IRValue,
        end: IRValue,
        body: Callable[[IRValue, int, list[IRValue]], list[IRValue]],
        carried: list[IRValue],
    ) -> list[IRValue]:
        """Emit a body for vectors where elements are contiguous, then for the single elements that remain.

        Of what it carries a bit is whether any lane has it, and a number is that of the last lane.
        """
        f, b = self.f, self.b
        lanes = 1 if self.radix.beside else 512 // max(WIDTH[self.radix.item], 32)
        if lanes > 1:
            end_of_vectors = f.minus(end, b.integer("urem", f.minus(end, begin), f.integer(lanes)))
            vectors = f.loop(begin, end_of_vectors, lanes, [b.splat(value, lanes) for value in carried])
            held = vectors.end(*body(vectors.index, lanes, vectors.values))
            carried = [b.any(value) if value.element == "i1" else b.extract(value, lanes - 1) for value in held]
            begin = end_of_vectors
        rest = f.loop(begin, end, 1, carried)
        return rest.end(*body(rest.index, 1, rest.values))

    def _noted(self, what: int, notes: IRValue, row: IRValue, pieces: IRValue) -> IRValue:
        """Whether a property is noted for any piece of a row."""
        f, b = self.f, self.b
        looks = f.loop(0, pieces, 1, [b.constant("i8", 0)])
        note = b.load("i8", b.offset(notes, "i8", f.plus(f.times(row, pieces), looks.index)))
        (noted,) = looks.end(b.integer("or", looks.values[0], note))
        return b.icmp("ne", b.integer("and", noted, b.constant("i8", what)), b.constant("i8", 0))

    # Digits ----------------------------------------------------------------------------------------------------

    def count(self) -> None:
        """Count the values of a digit in a block."""
        f, b = self.f, self.b
        (first, second, state, notes, counts), scalars = f.table(5, 8)
        length, pieces, width, number, blocks, size, shift, values = scalars
        steps = f.loop(f.begin, f.end)
        row, block = f.split(steps.index, blocks)
        with f.when(self._noted(_DISORDER, notes, row, pieces)):
            now = b.offset(state, "i64", f.plus(f.times(row, width), number))
            buffer = self._buffer(b.load("i64", now), first, second)
            own = b.offset(counts, self.counter, f.times(steps.index, values))
            self._vectors(values, [own], lambda _: b.constant(self.counter, 0, self.lanes))

            def body(index: IRValue) -> None:
                counter = b.offset(own, self.counter, self._digit(self._get(buffer, index, 1), shift, values))
                b.store(b.integer("add", b.load(self.counter, counter), b.constant(self.counter, 1)), counter)

            self._items(row, block, length, size, body)
        steps.end()

    def move(self) -> None:
        """Move the items of a block to their new positions, unless the row is sorted or shares the digit."""
        f, b = self.f, self.b
        (first, second, state, notes, counts), scalars = f.table(5, 8)
        length, pieces, width, number, blocks, size, shift, values = scalars
        targets, totals = b.alloca(self.counter, values), b.alloca(self.counter, values)
        steps = f.loop(f.begin, f.end)
        row, block = f.split(steps.index, blocks)
        now = b.offset(state, "i64", f.plus(f.times(row, width), number))
        was, following = b.load("i64", now), b.offset(now, "i64", f.integer(1))
        with f.when(b.icmp("eq", block, f.integer(0))):
            b.store(was, following)
        with f.when(self._noted(_DISORDER, notes, row, pieces)):
            row_counts = b.offset(counts, self.counter, f.times(f.times(row, blocks), values))
            same = self._find_targets(targets, totals, row_counts, values, block, blocks, length)
            with f.when(b.icmp("eq", same, b.constant("i1", 0))):
                other = f.minus(f.integer(1), was)
                with f.when(b.icmp("eq", block, f.integer(0))):
                    b.store(other, following)
                source, target = self._buffer(was, first, second), self._buffer(other, first, second)
                start = f.times(row, length)

                def body(index: IRValue) -> None:
                    parts = self._get(source, index, 1)
                    at = b.offset(targets, self.counter, self._digit(parts, shift, values))
                    target_index = b.load(self.counter, at)
                    b.store(b.integer("add", target_index, b.constant(self.counter, 1)), at)
                    self._put(parts, target, f.plus(start, b.convert("zext", target_index, "i64")))

                self._items(row, block, length, size, body)
        steps.end()

    def _find_targets(
        self,
        targets: IRValue,
        totals: IRValue,
        counts: IRValue,
        values: IRValue,
        block: IRValue,
        blocks: IRValue,
        length: IRValue,
    ) -> IRValue:
        """Compute the target position of each digit value in a block; whether all of the row has one value."""
        f, b, counter = self.f, self.b, self.counter

        def add(target: IRValue, begin: IRValue | int, end: IRValue) -> None:
            """Add the counts of some blocks."""
            each = f.loop(begin, end)
            more = b.offset(counts, counter, f.times(each.index, values))
            self._vectors(values, [target, target, more], lambda held: b.integer("add", *held))
            each.end()

        self._vectors(values, [targets], lambda _: b.constant(counter, 0, self.lanes))
        add(targets, 0, block)
        self._vectors(values, [totals, targets], lambda held: held[0])
        add(totals, block, blocks)
        everything = b.convert("trunc", length, counter)
        running = f.loop(0, values, 1, [b.constant(counter, 0), b.constant("i1", 0)])
        lesser, same = running.values
        total = b.load(counter, b.offset(totals, counter, running.index))
        own = b.offset(targets, counter, running.index)
        b.store(b.integer("add", lesser, b.load(counter, own)), own)
        same = b.integer("or", same, b.icmp("eq", total, everything))
        return running.end(b.integer("add", lesser, total), same)[1]

    def _vectors(self, values: IRValue, arrays: list[IRValue], compute: Callable[[list[IRValue]], IRValue]) -> None:
        """Fill the first array, one number a digit value, by a computation on the others."""
        b = self.b
        loop = self.f.loop(0, values, self.lanes)
        target, *sources = (b.offset(array, self.counter, loop.index) for array in arrays)
        b.store(compute([b.load(self.counter, source, lanes=self.lanes) for source in sources]), target)
        loop.end()

    def _digit(self, parts: list[IRValue], shift: IRValue, values: IRValue) -> IRValue:
        b, key = self.b, parts[0]
        moved = b.integer("lshr", key, b.convert("trunc", shift, key.element))
        return b.integer("and", b.convert("zext", moved, "i64"), self.f.minus(values, 1))

    def _items(
        self, row: IRValue, block: IRValue, length: IRValue, size: IRValue, body: Callable[[IRValue], None]
    ) -> None:
        """Emit a body for each item of a block."""
        f = self.f
        start = f.times(row, length)
        first = f.times(block, size)
        begin, end = f.plus(start, first), f.plus(start, f.least(f.plus(first, size), length))
        end_of_vectors = f.minus(end, self.b.integer("urem", f.minus(end, begin), f.integer(_TURN)))
        several = f.loop(begin, end_of_vectors, _TURN)
        for k in range(_TURN):
            body(f.plus(several.index, k))
        several.end()
        rest = f.loop(end_of_vectors, end)
        body(rest.index)
        rest.end()

    # Memory ----------------------------------------------------------------------------------------------------

    def _buffer(self, number: IRValue, first: IRValue, second: IRValue) -> IRValue:
        return self.b.select(self.b.icmp("eq", number, self.f.integer(0)), first, second)

    def _get(self, buffer: IRValue, index: IRValue, lanes: int) -> list[IRValue]:
        """Load items: keys, and indices if they are stored beside them."""
        b, item = self.b, self.radix.item
        if not self.radix.paired:
            return [b.load(item, b.offset(buffer, item, index), lanes=lanes)]
        both = b.load(item, b.offset(buffer, item, self.f.times(index, 2)), lanes=2 * lanes)
        return [b.shuffle(both, list(range(part, 2 * lanes, 2))) for part in range(2)]

    def _put(self, parts: list[IRValue], buffer: IRValue, index: IRValue) -> None:
        b, item = self.b, self.radix.item
        if self.radix.paired:
            b.store(b.interleave(*parts), b.offset(buffer, item, self.f.times(index, 2)))
        else:
            b.store(parts[0], b.offset(buffer, item, index))
