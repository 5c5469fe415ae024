"""Sorting networks for many short rows: each lane of a vector is a row, and whole vectors are compared.

The network is Batcher's merge exchange (Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2M), which
sorts any number of elements by comparisons that depend on that number alone.
"""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.compilers.numba_cpu.routines.kernel_builder import KernelBuilder
from nxkernel.compilers.numba_cpu.routines.sort_items import Items
from nxkernel.compilers.numba_cpu.routines.sort_keys import restore
from nxkernel.compilers.numba_cpu.routines.sort_plan import Network
from nxkernel.compilers.numba_cpu.routines.vector_transpose import turned

#: The rows of a square that is turned.
_SQUARE = 8


def lower(network: Network) -> str:
    """The LLVM IR of a network's kernel."""
    return (RowsInterleaved if network.beside else RowsContiguous)(network).text()


class _NetworkWriter:
    def __init__(self, network: Network) -> None:
        self.lanes = network.lanes
        self.f = KernelBuilder(network.symbol)
        self.b = self.f.b
        self.order, bits = network.order, network.order.type.bits
        self.items = Items(self.b, network.order, {64: 0, 32: 32}.get(bits, 16) if network.order.index else 0)
        self.keys, self.memory = self.items.keys, self.items.memory

    def text(self) -> str:
        f, b = self.f, self.b
        (self.source, self.target), scalars = f.table(2, 5)
        self.outer, self.length, self.columns, self.tiles, self.top = scalars
        tile_size = f.times(b.integer("and", f.plus(self.length, _SQUARE - 1), f.integer(-_SQUARE)), self.lanes)
        self.planes = [b.alloca(part, tile_size) for part in self.items.parts]
        steps = f.loop(f.begin, f.end)
        altered = self.read(steps.index)
        self._sort()
        self.write()
        if self.order.ambiguous:
            self._restore(altered)
        steps.end()
        return f.finish()

    # The tile ---------------------------------------------------------------------------------------------------

    def put(self, parts: list[IRValue], index: IRValue) -> None:
        """Store items to the tile."""
        for plane, part in zip(self.planes, parts, strict=True):
            self.b.store(part, self.b.offset(plane, part.element, index))

    def take(self, bits: IRValue, element_index: IRValue, index: IRValue, altered: IRValue) -> IRValue:
        """Store the items of elements to the tile; whether any so far cannot be recovered from its key."""
        b = self.b
        key = self.keys.of(b, bits)
        self.put(self.items.of(key, element_index), index)
        if not self.order.ambiguous:
            return altered
        return b.integer("or", altered, self.keys.altered(b, bits, key))

    def get(self, index: IRValue, lanes: int) -> list[IRValue]:
        """Load items from the tile."""
        return [
            self.b.load(part, self.b.offset(plane, part, index), lanes=lanes)
            for plane, part in zip(self.planes, self.items.parts, strict=True)
        ]

    # The network -----------------------------------------------------------------------------------------------

    def _sort(self) -> None:
        """Batcher's merge exchange: ``p`` halves down to 1; for each ``p`` the distance ``d`` varies."""
        f, b = self.f, self.b
        entry, outer, inner, passed, done = b.block, *(b.label(name) for name in ("outer", "inner", "passed", "done"))
        halve, more = b.label("halve"), b.label("more")
        b.branch_if(b.icmp("ne", self.top, f.integer(0)), outer, done)
        b.start(outer)
        p = b.phi("i64")
        p.add(self.top, entry)
        b.branch(inner)
        b.start(inner)
        q, r, d = b.phi("i64"), b.phi("i64"), b.phi("i64")
        for phi, value in ((q, self.top), (r, f.integer(0)), (d, p.value)):
            phi.add(value, outer)
        self._pass(p.value, r.value, d.value)
        b.branch(passed)
        b.start(passed)
        b.branch_if(b.icmp("eq", q.value, p.value), halve, more)
        b.start(more)
        for phi, value in ((d, f.minus(q.value, p.value)), (q, b.integer("lshr", q.value, f.integer(1))), (r, p.value)):
            phi.add(value, more)
        b.branch(inner)
        b.start(halve)
        half = b.integer("lshr", p.value, f.integer(1))
        p.add(half, halve)
        b.branch_if(b.icmp("ne", half, f.integer(0)), outer, done)
        b.start(done)

    def _pass(self, p: IRValue, r: IRValue, d: IRValue) -> None:
        """Compare-exchange ``i`` and ``i + d`` for every ``i`` whose bits ``p`` equal ``r``."""
        f, b = self.f, self.b
        entry, head, body, done = b.block, b.label("head"), b.label("body"), b.label("done")
        stop, low = f.minus(self.length, d), f.minus(p, 1)
        far = f.times(d, self.lanes)
        b.branch(head)
        b.start(head)
        pair = b.phi("i64")
        pair.add(f.integer(0), entry)
        i = f.plus(f.minus(f.plus(pair.value, pair.value), b.integer("and", pair.value, low)), r)
        b.branch_if(b.icmp("slt", i, stop), body, done)
        b.start(body)
        here = f.times(i, self.lanes)
        there = f.plus(here, far)
        less, greater = self._ordered(self.get(here, self.lanes), self.get(there, self.lanes))
        self.put(less, here)
        self.put(greater, there)
        pair.add(f.plus(pair.value, 1), b.block)
        b.branch(head)
        b.start(done)

    def _ordered(self, left: list[IRValue], right: list[IRValue]) -> tuple[list[IRValue], list[IRValue]]:
        """Two vectors of items, ordered lane by lane."""
        b = self.b
        if len(left) == 1:
            return [b.intrinsic("umin", left[0], right[0])], [b.intrinsic("umax", left[0], right[0])]
        greater = b.icmp("ugt", left[0], right[0])
        equal = b.integer("and", b.icmp("eq", left[0], right[0]), b.icmp("ugt", left[1], right[1]))
        swap = b.integer("or", greater, equal)
        pairs = list(zip(left, right, strict=True))
        return [b.select(swap, y, x) for x, y in pairs], [b.select(swap, x, y) for x, y in pairs]

    def _restore(self, altered: IRValue) -> None:
        """Write zeros and NaN of the step's rows as they were."""
        f, b = self.f, self.b
        with f.when(altered):
            rows = f.loop(0, self.rows)
            offset = self.row(rows.index)
            addresses = [b.offset(base, self.memory, offset) for base in (self.source, self.target)]
            b.do(f"call void @{restore(self.keys, b)}({', '.join(map(str, (*addresses, self.length, self.columns)))})")
            rows.end()


class RowsInterleaved(_NetworkWriter):
    """A network for rows whose elements are interleaved in memory: a vector of the tile is contiguous."""

    def read(self, step: IRValue) -> IRValue:
        """Read the rows of a step into the tile; an i1: whether any element is not what its key says."""
        f, b = self.f, self.b
        outer, tile = f.split(step, self.tiles)
        across = f.times(tile, self.lanes)
        self.base = f.plus(f.times(outer, f.times(self.length, self.columns)), across)
        self.rows = f.least(f.minus(self.columns, across), self.lanes)
        self.mask = f.mask(self.rows, self.lanes)
        kind = self.keys.element
        loop = f.loop(0, self.length, 1, [b.constant("i1", 0, self.lanes)])
        address = b.offset(self.source, kind, f.plus(self.base, f.times(loop.index, self.columns)))
        bits = b.masked_load(kind, address, self.mask)
        (altered,) = loop.end(self.take(bits, loop.index, f.times(loop.index, self.lanes), loop.values[0]))
        return b.any(altered)

    def write(self) -> None:
        """Write the sorted tile to the rows of the step."""
        f, b = self.f, self.b
        loop = f.loop(0, self.length)
        result = self.items.result(self.get(f.times(loop.index, self.lanes), self.lanes))
        offset = f.plus(self.base, f.times(loop.index, self.columns))
        b.masked_store(result, b.offset(self.target, self.memory, offset), self.mask)
        loop.end()

    def row(self, lane: IRValue) -> IRValue:
        """The offset of a row of the step."""
        return self.f.plus(self.base, lane)


class RowsContiguous(_NetworkWriter):
    """A network for contiguous rows: squares are transposed on the way to the tile and back."""

    def read(self, step: IRValue) -> IRValue:
        """Read the rows of a step into the tile; an i1: whether any element is not what its key says."""
        f, b, kind = self.f, self.b, self.keys.element
        self.first = f.times(step, self.lanes)
        self.rows = f.least(f.minus(self.outer, self.first), self.lanes)
        groups = f.loop(0, self.rows, _SQUARE, [b.constant("i1", 0, _SQUARE)])
        row_starts = self._rows(groups.index)
        loop = f.loop(0, self.length, _SQUARE, groups.values)
        mask = f.mask(f.minus(self.length, loop.index), _SQUARE)
        rows = [b.masked_load(kind, b.offset(self.source, kind, f.plus(p, loop.index)), mask) for p in row_starts]
        altered = loop.values[0]
        for k, column in enumerate(turned(b, rows)):
            element_index = f.plus(loop.index, k)
            altered = self.take(
                column, element_index, f.plus(f.times(element_index, self.lanes), groups.index), altered
            )
        groups.end(*loop.end(altered))
        return b.any(groups.values[0])

    def write(self) -> None:
        """Write the sorted tile to the rows of the step."""
        f, b = self.f, self.b
        groups = f.loop(0, self.rows, _SQUARE)
        row_starts = self._rows(groups.index)
        loop = f.loop(0, self.length, _SQUARE)
        mask = f.mask(f.minus(self.length, loop.index), _SQUARE)
        columns = []
        for k in range(_SQUARE):
            at = f.plus(f.times(f.plus(loop.index, k), self.lanes), groups.index)
            columns.append(self.items.result(self.get(at, _SQUARE)))
        for row_start, row in zip(row_starts, turned(b, columns), strict=True):
            b.masked_store(row, b.offset(self.target, self.memory, f.plus(row_start, loop.index)), mask)
        loop.end()
        groups.end()

    def _rows(self, group: IRValue) -> list[IRValue]:
        """The offsets of the rows of a square; beyond the last row it is repeated."""
        last = self.f.minus(self.rows, 1)
        return [self.row(self.f.least(self.f.plus(group, k), last)) for k in range(_SQUARE)]

    def row(self, lane: IRValue) -> IRValue:
        """The offset of a row of the step."""
        return self.f.times(self.f.plus(self.first, lane), self.length)
