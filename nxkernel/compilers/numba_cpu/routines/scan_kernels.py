"""Scan kernels: cumulative operations along an axis.

Long axes are cut into blocks. Inside a block each element is accumulated onto those before it, one by one; to that
comes what all blocks before give. So a result is the same number whether one thread walks along all blocks (the kernel
``whole``) or many take some each (``totals`` of the blocks, ``carry`` from block to block, then ``apply``).
"""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.elementwise import Emitter
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import WIDTH, IRValue
from nxkernel.compilers.numba_cpu.routines.cumulative_plan import CumulativeForm
from nxkernel.compilers.numba_cpu.routines.kernel_builder import KernelBuilder
from nxkernel.compilers.numba_cpu.routines.vector_transpose import turned
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY, REGISTER
from nxkernel.types import Type, f32, greatest, least


def lower(scan: CumulativeForm, kernel: str) -> str:
    """The LLVM IR of the kernel ``"whole"``, ``"totals"``, ``"carry"`` or ``"apply"`` of a scan."""
    writer = (_Columns if scan.vectors else _RowScan)(scan, kernel)
    f = writer.f
    pointers, scalars = f.table(1 if kernel == "carry" else 2 if kernel in ("whole", "totals") else 3, writer.scalars)
    writer.source, writer.target = pointers[0], pointers[-1]
    # The totals are the only memory of `carry`, what `totals` writes, and what `apply` reads besides the source.
    writer.kept = pointers[min(1, len(pointers) - 1)]
    steps = f.loop(f.begin, f.end)
    getattr(writer, kernel)(steps.index, *scalars)
    steps.end()
    return f.finish()


def _identity(name: str, type_: Type) -> list[float | int]:
    """The neutral element of a scan, which keeps even -0.0; one number a part for complex types."""
    if name == "complex_multiply":
        return [1, 0]
    if name in ("add", "multiply"):
        return [1 if name == "multiply" else -0.0 if type_.is_float else 0]
    return [least(type_) if name == "max" else greatest(type_)]


class _ScanWriter:
    """The common part of scan kernels over rows and over columns."""

    source: IRValue
    target: IRValue
    kept: IRValue

    def __init__(self, scan: CumulativeForm, kernel: str) -> None:
        self.scan, self.lanes = scan, scan.lanes
        self.f = KernelBuilder(scan.symbol(kernel))
        self.b = self.f.b
        self.e = Emitter(self.b, inline=True)
        self.register, self.memory = REGISTER[scan.type], MEMORY[scan.type]
        # Not even 1 leaves infinite complex numbers as they are, so that nothing may come before the first element.
        self.one_block = scan.name == "complex_multiply"
        # Narrow floats are rounded only when they are written.
        self.wide = f32 if scan.type.is_float and scan.type.bits == 16 else scan.type

    def combine(self, earlier: IRValue, later: IRValue) -> IRValue:
        """Two accumulated values joined."""
        if self.scan.name == "complex_multiply":
            return self._complex(earlier, later)
        return self.e.apply(self.scan.name, self.wide, [earlier, later], None)

    def _complex(self, left: IRValue, right: IRValue) -> IRValue:
        b, lanes = self.b, range(left.lanes)
        real, imaginary = b.shuffle(left, [k & -2 for k in lanes]), b.shuffle(left, [k | 1 for k in lanes])
        signs = ", ".join(str(b.constant(left.element, 1 if k % 2 else -1)) for k in lanes)
        crossed = b.fmul(b.shuffle(right, [k ^ 1 for k in lanes]), IRValue(left.element, left.lanes, f"<{signs}>"), "")
        return b.fadd(b.fmul(real, right, ""), b.fmul(imaginary, crossed, ""), "")

    def identity(self, lanes: int) -> IRValue:
        """The neutral element in every lane."""
        numbers = _identity(self.scan.name, self.scan.type)
        parts = [self.b.constant(self.register, numbers[k % len(numbers)]) for k in range(lanes)]
        text = parts[0].text if lanes == 1 else f"<{', '.join(map(str, parts))}>"
        return IRValue(self.register, lanes, text)

    def get(self, index: IRValue, mask: IRValue | None, lanes: int = 0) -> IRValue:
        """Load a vector of the source, converted to registers' form."""
        memory = MEMORY[self.scan.source]
        address = self.b.offset(self.source, memory, index)
        if mask is None:
            value = self.b.load(memory, address, lanes=lanes or self.lanes)
        else:
            value = self.b.masked_load(memory, address, mask)
        value = self.e.from_memory(value, self.scan.source)
        if self.scan.source is self.scan.type:
            return value
        return self.e.apply("as_type", self.scan.type, [value], self.scan.source)

    def put(self, value: IRValue, index: IRValue, mask: IRValue | None) -> None:
        """Store a vector to the target."""
        address = self.b.offset(self.target, self.memory, index)
        self.b.masked_store(self.e.to_memory(value, self.scan.type), address, mask)

    def held(self, index: IRValue, lanes: int) -> IRValue:
        """Load accumulated values from the totals."""
        return self.b.load(self.register, self.b.offset(self.kept, self.register, index), lanes=lanes)

    def hold(self, index: IRValue, value: IRValue) -> None:
        """Store accumulated values to the totals."""
        self.b.store(value, self.b.offset(self.kept, self.register, index))


class _Columns(_ScanWriter):
    """Scans whose lanes are columns; a line is a tile of some vectors. Backwards, the step is negative."""

    scalars = 7

    def whole(self, line: IRValue, *scalars: IRValue) -> None:
        blocks = scalars[-1]
        self._locate(line, *scalars)
        if self.one_block:
            self._block(self.f.integer(0), self._nothing())
            return
        loop = self.f.loop(0, blocks, 1, self._nothing())
        inside = self._block(loop.index, loop.values)
        loop.end(*map(self.combine, loop.values, inside))

    def totals(self, index: IRValue, *scalars: IRValue) -> None:
        line, block = self.f.split(index, scalars[-1])
        self._locate(line, *scalars)
        for at, value in zip(self._addresses(index), self._block(block, None), strict=True):
            self.hold(at, value)

    def apply(self, index: IRValue, *scalars: IRValue) -> None:
        line, block = self.f.split(index, scalars[-1])
        self._locate(line, *scalars)
        self._block(block, [self.held(at, self.lanes) for at in self._addresses(index)])

    def carry(self, line: IRValue, *scalars: IRValue) -> None:
        f, blocks = self.f, scalars[-1]
        loop = f.loop(0, blocks, 1, self._nothing())
        addresses = self._addresses(f.plus(f.times(line, blocks), loop.index))
        totals = [self.held(at, self.lanes) for at in addresses]
        for at, value in zip(addresses, loop.values, strict=True):
            self.hold(at, value)
        loop.end(*map(self.combine, loop.values, totals))

    def _nothing(self) -> list[IRValue]:
        return [self.identity(self.lanes)] * self.scan.vectors

    def _addresses(self, index: IRValue) -> list[IRValue]:
        """The addresses in the totals of a block's vectors."""
        first = self.f.times(index, self.scan.vectors * self.lanes)
        return [self.f.plus(first, k * self.lanes) for k in range(self.scan.vectors)]

    def _locate(self, line: IRValue, *scalars: IRValue) -> None:
        f = self.f
        span, self.length, columns, tiles, self.step, self.size, _ = scalars
        outer, tile = f.split(line, tiles)
        across = f.times(tile, self.scan.vectors * self.lanes)
        first = f.plus(f.times(outer, span), across)
        last = f.plus(first, f.minus(span, columns))
        self.base = self.b.select(self.b.icmp("slt", self.step, f.integer(0)), last, first)
        left = f.minus(columns, across)
        self.masks = [f.mask(f.minus(left, k * self.lanes), self.lanes) for k in range(self.scan.vectors)]

    def _block(self, block: IRValue, before: list[IRValue] | None) -> list[IRValue]:
        """Scan a block; without initial values it only computes the total."""
        f = self.f
        begin = f.times(block, self.size)
        rows = f.loop(begin, f.least(f.plus(begin, self.size), self.length), 1, self._nothing())
        row_start = f.plus(self.base, f.times(rows.index, self.step))
        following = []
        for k, mask in enumerate(self.masks):
            at = f.plus(row_start, k * self.lanes)
            value = self.get(at, mask)
            joined = self.combine(rows.values[k], value)
            if self.one_block:
                joined = self.b.select(self.b.icmp("eq", rows.index, begin), value, joined)
            following.append(joined)
            if before is not None:
                self.put(joined if self.one_block else self.combine(before[k], joined), at, mask)
        return rows.end(*following)


class _RowScan(_ScanWriter):
    """Scans whose lanes are rows or blocks of rows: squares of elements are transposed, scanned and transposed back."""

    scalars = 5

    def whole(self, group: IRValue, *scalars: IRValue) -> None:
        self._locate(group, *scalars)
        loop = self.f.loop(0, scalars[-1], 1, [self.identity(self.lanes)])
        inside = self._block(loop.index, loop.values[0])
        loop.end(self.combine(loop.values[0], inside))

    def totals(self, group: IRValue, *scalars: IRValue) -> None:
        if not self.scan.type.is_float or self.scan.name in ("max", "min"):
            self._totals_in_any_order(group, *scalars)
            return
        self._locate(group, *scalars)
        self.hold(self.f.times(group, self.lanes), self._block(self.f.integer(0), None))

    def _totals_in_any_order(self, group: IRValue, *scalars: IRValue) -> None:
        """The totals of blocks where the order makes no difference: by full vectors."""
        f, (length, lines, cut, size, _) = self.f, scalars
        first, wide = f.times(group, self.lanes), 512 // WIDTH[self.register]
        each = f.loop(first, f.least(f.plus(first, self.lanes), lines))
        row, block = f.split(each.index, cut)
        begin = f.times(block, size)
        left = f.minus(length, begin)
        count = f.least(size, left)
        start = f.plus(f.times(row, length), f.minus(left, count) if self.scan.backwards else begin)
        end_of_vectors = f.minus(count, self.b.integer("urem", count, f.integer(wide)))
        vectors = f.loop(0, end_of_vectors, wide, [self.identity(wide)])
        (total,) = vectors.end(self.combine(vectors.values[0], self.get(f.plus(start, vectors.index), None, wide)))
        while total.lanes > 1:
            half = total.lanes // 2
            low, high = (self.b.shuffle(total, list(range(at, at + half))) for at in (0, half))
            total = self.combine(low, high)
        rest = f.loop(end_of_vectors, count, 1, [total])
        (total,) = rest.end(self.combine(rest.values[0], self.get(f.plus(start, rest.index), None, 1)))
        self.hold(each.index, total)
        each.end()

    def apply(self, group: IRValue, *scalars: IRValue) -> None:
        self._locate(group, *scalars)
        before = self.identity(self.lanes)
        for k, line in enumerate(self.lines):
            before = self.b.insert(before, self.held(line, 1), k) if self.lanes > 1 else self.held(line, 1)
        self._block(self.f.integer(0), before)

    def carry(self, row: IRValue, *scalars: IRValue) -> None:
        f, blocks = self.f, scalars[-1]
        loop = f.loop(0, blocks, 1, [self.identity(1)])
        index = f.plus(f.times(row, blocks), loop.index)
        total = self.held(index, 1)
        self.hold(index, loop.values[0])
        loop.end(self.combine(loop.values[0], total))

    def _locate(self, group: IRValue, *scalars: IRValue) -> None:
        """Compute the start of each lane's row and what is left of it; surplus lanes repeat the last row."""
        f = self.f
        self.length, lines, cut, self.size, _ = scalars
        self.lines, self.bases, self.left = [], [], []
        for k in range(self.lanes):
            line = f.least(f.plus(f.times(group, self.lanes), k), f.minus(lines, 1))
            row, block = f.split(line, cut)
            begin = f.times(block, self.size)
            first = f.times(row, self.length)
            left = f.minus(self.length, begin)
            # Backwards, a lane stands behind the element that it reads first.
            self.bases.append(f.plus(first, left if self.scan.backwards else begin))
            self.left.append(left)
            self.lines.append(line)

    def _block(self, block: IRValue, before: IRValue | None) -> IRValue:
        """Scan one block in each lane; without initial values it only computes the totals."""
        f = self.f
        begin = f.times(block, self.size)
        ends = [f.least(f.plus(begin, self.size), left) for left in self.left]
        first, last = ends[0], ends[0]
        for end in ends[1:]:
            first, last = f.least(first, end), self.b.intrinsic("smax", last, end)
        end_of_vectors = f.minus(first, self.b.integer("urem", f.minus(first, begin), f.integer(self.lanes)))
        full = f.loop(begin, end_of_vectors, self.lanes, [self.identity(self.lanes)])
        (carried,) = full.end(self._square(full.index, full.values[0], before, None))
        if self.lanes == 1:
            return carried
        rest = f.loop(end_of_vectors, last, self.lanes, [carried])
        masks = [f.mask(f.minus(end, rest.index), self.lanes) for end in ends]
        (carried,) = rest.end(self._square(rest.index, rest.values[0], before, masks))
        return carried

    def _square(self, index: IRValue, carried: IRValue, before: IRValue | None, masks: list[IRValue] | None) -> IRValue:
        """Scan a square: as many elements of each lane as there are lanes; the carried values after it."""
        addresses = self._addresses(index)
        masks = [mask and self._forwards(mask) for mask in masks or [None] * self.lanes]
        rows = [self._forwards(self.get(address, mask)) for address, mask in zip(addresses, masks, strict=True)]
        columns = turned(self.b, rows)
        for k, column in enumerate(columns):
            carried = self.combine(carried, column)
            columns[k] = carried if before is None else self.combine(before, carried)
        if before is not None:
            for address, mask, row in zip(addresses, masks, turned(self.b, columns), strict=True):
                self.put(self._forwards(row), address, mask)
        return carried

    def _addresses(self, index: IRValue) -> list[IRValue]:
        """The addresses of the rows of a square."""
        f = self.f
        if self.scan.backwards:
            far = f.plus(index, self.lanes)
            return [f.minus(base, far) for base in self.bases]
        return [f.plus(base, index) for base in self.bases]

    def _forwards(self, value: IRValue) -> IRValue:
        """The lanes reversed if the scan runs backwards."""
        if not self.scan.backwards or self.lanes == 1:
            return value
        return self.b.shuffle(value, list(range(value.lanes - 1, -1, -1)))
