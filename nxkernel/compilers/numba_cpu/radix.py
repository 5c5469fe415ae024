"""Kernels that sort long rows by one digit of the keys after the other, from the lowest on.

A row is cut into blocks, which threads share. For each digit the blocks count how often each value of it occurs
(``count``), a running total over values and blocks says where each block's items of each value go (``place``), and the
blocks move their items there, in order (``move``). A digit that all items of a row share moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from nxkernel.compilers.numba_cpu.frame import Frame
from nxkernel.compilers.numba_cpu.ir import WIDTH, Value
from nxkernel.compilers.numba_cpu.items import Items
from nxkernel.compilers.numba_cpu.keys import Keys, restore
from nxkernel.compilers.numba_cpu.sorting import Radix

#: Items that a turn of a loop takes.
_TURN = 4


def lower(radix: Radix, kernel: str) -> str:
    """The LLVM IR of the kernel ``"spread"``, ``"count"``, ``"place"``, ``"move"``, ``"finish"`` or ``"restore"``."""
    writer = _Writer(radix, kernel)
    getattr(writer, kernel)()
    return writer.f.finish()


class _Writer:
    def __init__(self, radix: Radix, kernel: str) -> None:
        self.radix, self.order = radix, radix.order
        self.f = Frame(radix.symbol(kernel))
        self.b = self.f.b
        self.counter = f"i{radix.counter}"

    # Elements to items and back --------------------------------------------------------------------------------

    def spread(self) -> None:
        """Make the items of a piece of a row, in the first of the two buffers."""
        f, b = self.f, self.b
        (source, first, state, flags), words = f.table(4, 4)
        length, columns, pieces, size = words
        items = Items(b, self.order, self.radix.low)
        kind = items.keys.element
        steps = f.loop(f.begin, f.end)
        row, base, piece = self._piece(steps.index, *words)
        begin = f.times(piece, size)
        with f.when(b.icmp("eq", piece, f.integer(0))):
            b.store(f.integer(0), self._state(state, row, 1))

        def make(index: Value, lanes: int, altered: Value) -> Value:
            at = f.plus(base, f.times(index, columns))
            bits = b.load(kind, b.offset(source, kind, at), lanes=lanes)
            place = b.integer("add", b.splat(index, lanes), b.steps("i64", lanes))
            parts, found = items.of(bits, place)
            self._put(parts, first, f.plus(f.times(row, length), index))
            return altered if found is None else b.integer("or", altered, found)

        altered = self._pieces(begin, f.least(f.plus(begin, size), length), make)
        if self.order.ambiguous:
            at = b.offset(flags, "i8", f.plus(f.times(row, pieces), piece))
            b.store(b.convert("zext", altered, "i8"), at)
        steps.end()

    def finish(self) -> None:
        """Write the elements or the places of the items of a piece of a row."""
        f, b = self.f, self.b
        (first, second, state, target), words = f.table(4, 4)
        length, columns, _, size = words
        items = Items(b, self.order, self.radix.low)
        steps = f.loop(f.begin, f.end)
        row, base, piece = self._piece(steps.index, *words)
        buffer = self._buffer(b.load("i64", self._state(state, row, 1)), first, second)
        begin = f.times(piece, size)

        def write(index: Value, lanes: int, nothing: Value) -> Value:
            result = items.result(self._get(buffer, f.plus(f.times(row, length), index), lanes))
            b.store(result, b.offset(target, items.memory, f.plus(base, f.times(index, columns))))
            return nothing

        self._pieces(begin, f.least(f.plus(begin, size), length), write)
        steps.end()

    def restore(self) -> None:
        """Put zeros and NaN of a row in place as they are, if a piece of it has any that keys do not tell."""
        f, b = self.f, self.b
        (source, target, flags), (length, columns, pieces, _) = f.table(3, 4)
        keys = Keys(self.order.type, self.order.descending)
        steps = f.loop(f.begin, f.end)
        looks = f.loop(0, pieces, 1, [b.constant("i8", 0)])
        flag = b.load("i8", b.offset(flags, "i8", f.plus(f.times(steps.index, pieces), looks.index)))
        (found,) = looks.end(b.integer("or", looks.values[0], flag))
        with f.when(b.icmp("ne", found, b.constant("i8", 0))):
            base = self._base(*f.split(steps.index, columns), length, columns)
            places = [b.offset(address, keys.element, base) for address in (source, target)]
            b.do(f"call void @{restore(keys, b)}({', '.join(map(str, (*places, length, columns)))})")
        steps.end()

    def _piece(
        self, step: Value, length: Value, columns: Value, pieces: Value, size: Value
    ) -> tuple[Value, Value, Value]:
        """The row of a step, where the row begins in memory, and the piece of it; neighbouring rows come first."""
        f = self.f
        rest, column = f.split(step, columns)
        outer, piece = f.split(rest, pieces)
        return f.plus(f.times(outer, columns), column), self._base(outer, column, length, columns), piece

    def _base(self, outer: Value, column: Value, length: Value, columns: Value) -> Value:
        return self.f.plus(self.f.times(outer, self.f.times(length, columns)), column)

    def _pieces(self, begin: Value, end: Value, body: Callable[[Value, int, Value], Value]) -> Value:
        """Run a body on vectors where elements follow one another, then on single elements; any of what it gives."""
        f, b = self.f, self.b
        found = b.constant("i1", 0)
        lanes = 1 if self.radix.beside else 512 // max(WIDTH[self.radix.item], 32)
        if lanes > 1:
            whole = f.minus(end, b.integer("urem", f.minus(end, begin), f.integer(lanes)))
            vectors = f.loop(begin, whole, lanes, [b.constant("i1", 0, lanes)])
            (some,) = vectors.end(body(vectors.index, lanes, vectors.values[0]))
            found, begin = b.any(some), whole
        rest = f.loop(begin, end, 1, [found])
        return rest.end(body(rest.index, 1, rest.values[0]))[0]

    # Digits ----------------------------------------------------------------------------------------------------

    def count(self) -> None:
        """Count the values of a digit in a block."""
        f, b = self.f, self.b
        (first, second, state, counts), words = f.table(4, 5)
        length, blocks, size, shift, values = words
        steps = f.loop(f.begin, f.end)
        row, block = f.split(steps.index, blocks)
        buffer = self._buffer(b.load("i64", self._state(state, row, 1)), first, second)
        own = b.offset(counts, self.counter, f.times(steps.index, values))
        lanes = 512 // self.radix.counter
        clear = f.loop(0, values, lanes)
        b.store(b.constant(self.counter, 0, lanes), b.offset(own, self.counter, clear.index))
        clear.end()

        def body(index: Value) -> None:
            place = b.offset(own, self.counter, self._digit(self._get(buffer, index, 1), shift, values))
            b.store(b.integer("add", b.load(self.counter, place), b.constant(self.counter, 1)), place)

        self._items(row, block, length, size, body)
        steps.end()

    def place(self) -> None:
        """Replace the counts of a row by where the items go, unless all have one value of the digit."""
        f, b, lanes = self.f, self.b, 512 // self.radix.counter
        (state, counts), (length, blocks, values) = f.table(2, 3)
        totals = b.alloca(self.counter, values)
        steps = f.loop(f.begin, f.end)
        row = steps.index
        own = b.offset(counts, self.counter, f.times(f.times(row, blocks), values))

        def vectors(block: Value, change: Callable[[Value, Value], None]) -> None:
            """Run a change on the totals and the counts of a block, vector by vector."""
            loop = f.loop(0, values, lanes)
            at = b.offset(own, self.counter, f.plus(f.times(block, values), loop.index))
            change(b.offset(totals, self.counter, loop.index), at)
            loop.end()

        def clear(total: Value, _: Value) -> None:
            b.store(b.constant(self.counter, 0, lanes), total)

        def add(total: Value, count: Value) -> None:
            sums = [b.load(self.counter, address, lanes=lanes) for address in (total, count)]
            b.store(b.integer("add", *sums), total)

        def exchange(total: Value, count: Value) -> None:
            before, more = (b.load(self.counter, address, lanes=lanes) for address in (total, count))
            b.store(before, count)
            b.store(b.integer("add", before, more), total)

        vectors(f.integer(0), clear)
        each = f.loop(0, blocks)
        vectors(each.index, add)
        each.end()
        everything = b.convert("trunc", length, self.counter)
        running = f.loop(0, values, 1, [b.constant(self.counter, 0), b.constant("i1", 0)])
        place = b.offset(totals, self.counter, running.index)
        total = b.load(self.counter, place)
        b.store(running.values[0], place)
        same = b.integer("or", running.values[1], b.icmp("eq", total, everything))
        _, same = running.end(b.integer("add", running.values[0], total), same)
        each = f.loop(0, blocks)
        vectors(each.index, exchange)
        each.end()
        was, now = self._state(state, row, 0), self._state(state, row, 1)
        buffer = b.load("i64", now)
        b.store(buffer, was)
        b.store(b.select(same, buffer, f.minus(f.integer(1), buffer)), now)
        steps.end()

    def move(self) -> None:
        """Move the items of a block to where they go."""
        f, b = self.f, self.b
        (first, second, state, counts), words = f.table(4, 5)
        length, blocks, size, shift, values = words
        steps = f.loop(f.begin, f.end)
        row, block = f.split(steps.index, blocks)
        was, now = (b.load("i64", self._state(state, row, k)) for k in range(2))
        source, target = self._buffer(was, first, second), self._buffer(now, first, second)
        own = b.offset(counts, self.counter, f.times(steps.index, values))
        start = f.times(row, length)

        def body(index: Value) -> None:
            parts = self._get(source, index, 1)
            at = b.offset(own, self.counter, self._digit(parts, shift, values))
            place = b.load(self.counter, at)
            b.store(b.integer("add", place, b.constant(self.counter, 1)), at)
            self._put(parts, target, f.plus(start, b.convert("zext", place, "i64")))

        with f.when(b.icmp("ne", was, now)):
            self._items(row, block, length, size, body)
        steps.end()

    def _digit(self, parts: list[Value], shift: Value, values: Value) -> Value:
        b, key = self.b, parts[0]
        moved = b.integer("lshr", key, b.convert("trunc", shift, key.element))
        return b.integer("and", b.convert("zext", moved, "i64"), self.f.minus(values, 1))

    def _items(self, row: Value, block: Value, length: Value, size: Value, body: Callable[[Value], None]) -> None:
        """Run a body for each item of a block."""
        f = self.f
        start = f.times(row, length)
        first = f.times(block, size)
        begin, end = f.plus(start, first), f.plus(start, f.least(f.plus(first, size), length))
        whole = f.minus(end, self.b.integer("urem", f.minus(end, begin), f.integer(_TURN)))
        several = f.loop(begin, whole, _TURN)
        for k in range(_TURN):
            body(f.plus(several.index, k))
        several.end()
        rest = f.loop(whole, end)
        body(rest.index)
        rest.end()

    # Memory ----------------------------------------------------------------------------------------------------

    def _state(self, state: Value, row: Value, which: int) -> Value:
        """Where the number of a buffer is kept: that which a row was in, and that which it is in now."""
        return self.b.offset(state, "i64", self.f.plus(self.f.times(row, 2), which))

    def _buffer(self, number: Value, first: Value, second: Value) -> Value:
        return self.b.select(self.b.icmp("eq", number, self.f.integer(0)), first, second)

    def _get(self, buffer: Value, index: Value, lanes: int) -> list[Value]:
        """Items: their key, and their place if it is beside it."""
        b, item = self.b, self.radix.item
        if not self.radix.paired:
            return [b.load(item, b.offset(buffer, item, index), lanes=lanes)]
        both = b.load(item, b.offset(buffer, item, self.f.times(index, 2)), lanes=2 * lanes)
        return [b.shuffle(both, list(range(part, 2 * lanes, 2))) for part in range(2)]

    def _put(self, parts: list[Value], buffer: Value, index: Value) -> None:
        b, item = self.b, self.radix.item
        if self.radix.paired:
            b.store(b.interleave(*parts), b.offset(buffer, item, self.f.times(index, 2)))
        else:
            b.store(parts[0], b.offset(buffer, item, index))
