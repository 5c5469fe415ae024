"""Kernels that accumulate along an axis.

An axis is cut into blocks of a fixed length. Inside a block elements are accumulated from nothing; to that comes what
all blocks before give. So a result is the same number whether one thread walks all blocks, or many take one each.

A line is what walks the axis together: a row whose elements follow one another in memory, of which a vector holds as
many as it can, or a tile of columns, one a lane.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from nxkernel import types
from nxkernel.compilers.numba_cpu.elements import MEMORY, REGISTER
from nxkernel.compilers.numba_cpu.frame import Frame, name_of
from nxkernel.compilers.numba_cpu.ir import WIDTH, Value, vector
from nxkernel.compilers.numba_cpu.operations import Emitter
from nxkernel.types import Type

#: Elements of an axis that are accumulated from nothing.
BLOCK = 1 << 15


@dataclass(frozen=True)
class Scan:
    """What decides the code of the kernels.

    Parameters
    ----------
    name : str
        ``"add"``, ``"multiply"``, ``"max"`` or ``"min"``, or ``"complex_multiply"`` of parts that alternate.
    type : Type
        Of the elements in memory; of the parts, if they are complex.
    vectors : int
        Vectors of columns in a tile; 0 for rows.
    backwards : bool
        Whether rows run from their last element to their first. Columns do by a negative step.
    """

    name: str
    type: Type
    vectors: int
    backwards: bool = False

    @property
    def lanes(self) -> int:
        """Lanes of a vector of 512 bits."""
        return 512 // WIDTH[REGISTER[self.type]]

    @property
    def held(self) -> int:
        """Bytes that the total of a line's block takes."""
        return WIDTH[REGISTER[self.type]] // 8 * max(1, self.vectors * self.lanes)

    def symbol(self, kernel: str) -> str:
        """The name of the kernel ``"totals"`` or ``"apply"``."""
        return name_of("scan", kernel, BLOCK, self)

    def text(self, kernel: str) -> str:
        """The LLVM IR of a kernel."""
        return _Columns(self, kernel).text() if self.vectors else _Rows(self, kernel).text()


def _identity(name: str, type_: Type) -> list[float | int]:
    """What leaves every element as it is, -0.0 too; of complex numbers one value a part."""
    if name == "complex_multiply":
        return [1, 0]
    if name in ("add", "multiply"):
        return [1 if name == "multiply" else -0.0 if type_.is_float else 0]
    if type_.is_float:
        return [-math.inf if name == "max" else math.inf]
    low, high = (0, 1) if type_ is types.bool_ else types.limits(type_)
    number = low if name == "max" else high
    return [number - (1 << type_.bits) if number >> (type_.bits - 1) == 1 else number]


class _Kernel:
    """What kernels of rows and of columns share: the words of a call, the walk over blocks, the arithmetic."""

    def __init__(self, scan: Scan, kernel: str) -> None:
        self.scan, self.kernel = scan, kernel
        self.f = Frame(scan.symbol(kernel))
        self.b = self.f.b
        self.e = Emitter(self.b, inline=True)
        self.register, self.memory, self.lanes = REGISTER[scan.type], MEMORY[scan.type], scan.lanes
        self.wide = types.f32 if scan.type.is_float and scan.type.bits == 16 else scan.type

    def text(self) -> str:
        """The LLVM IR of the kernel: its steps are the pieces of all lines, a piece being some blocks."""
        f = self.f
        pointers, words = f.table(3 if self.kernel == "apply" else 2, 8)
        self.source, self.totals, self.target = pointers[0], pointers[1], pointers[-1]
        self.span, self.length, self.columns, self.tiles, self.step, self.pieces, self.share, self.blocks = words
        steps = f.loop(f.begin, f.end)
        line, piece = f.split(steps.index, self.pieces)
        self.locate(line)
        first = f.times(piece, self.share)
        last = f.least(f.plus(first, self.share), self.blocks)
        if self.kernel == "apply":
            before = self.before(line, first)
            blocks = f.loop(first, last, 1, before)
            inside = self.block(blocks.index, blocks.values)
            blocks.end(*map(self.combine, blocks.values, inside))
        else:
            blocks = f.loop(first, last)
            inside = self.block(blocks.index, None)
            self.put_total(line, blocks.index, inside)
            blocks.end()
        steps.end()
        return f.finish()

    def bounds(self, block: Value) -> tuple[Value, Value]:
        """Where a block begins and ends on the axis."""
        begin = self.f.times(block, BLOCK)
        return begin, self.f.least(self.f.plus(begin, BLOCK), self.length)

    def before(self, line: Value, first: Value) -> list[Value]:
        """What all blocks of a line before one give."""
        turns = self.f.loop(0, first, 1, self.identities())
        return turns.end(*map(self.combine, turns.values, self.get_total(line, turns.index)))

    def total_at(self, line: Value, block: Value) -> Value:
        """The address of the total of a block."""
        place = self.f.plus(self.f.times(line, self.blocks), block)
        return self.b.offset(self.totals, "i8", self.f.times(place, self.scan.held))

    def combine(self, earlier: Value, later: Value) -> Value:
        """Two accumulated values as one."""
        if self.scan.name == "complex_multiply":
            return self._complex(earlier, later)
        return self.e.apply(self.scan.name, self.wide, [earlier, later], None)

    def _complex(self, left: Value, right: Value) -> Value:
        b, lanes = self.b, range(left.lanes)
        real, imaginary = b.shuffle(left, [k & -2 for k in lanes]), b.shuffle(left, [k | 1 for k in lanes])
        signs = ", ".join(str(b.constant(left.element, 1 if k % 2 else -1)) for k in lanes)
        turned = b.fmul(b.shuffle(right, [k ^ 1 for k in lanes]), Value(left.element, left.lanes, f"<{signs}>"))
        return b.fadd(b.fmul(real, right), b.fmul(imaginary, turned))

    def identity(self, lanes: int) -> Value:
        """What leaves elements as they are, in every lane."""
        numbers = _identity(self.scan.name, self.scan.type)
        parts = [str(self.b.constant(self.register, numbers[k % len(numbers)])) for k in range(lanes)]
        return Value(self.register, lanes, parts[0].split()[1] if lanes == 1 else f"<{', '.join(parts)}>")

    def get(self, base: Value, index: Value, mask: Value | None) -> Value:
        """A vector from memory, in registers' form."""
        address = self.b.offset(base, self.memory, index)
        if mask is None:
            value = self.b.load(self.memory, address, lanes=self.lanes)
        else:
            value = self.b.masked_load(self.memory, address, mask)
        return self.e.from_memory(value, self.scan.type)

    def put(self, value: Value, base: Value, index: Value, mask: Value | None) -> None:
        """A vector to memory."""
        self.b.masked_store(
            self.e.to_memory(value, self.scan.type), self.b.offset(base, self.memory, index), mask
        )


class _Columns(_Kernel):
    """Lanes are columns: each walks down by itself."""

    def locate(self, line: Value) -> None:
        f = self.f
        outer, tile = f.split(line, self.tiles)
        across = f.times(tile, self.scan.vectors * self.lanes)
        self.base = f.plus(f.times(outer, self.span), across)
        # Backwards, the walk begins at the last row.
        turned = self.b.icmp("slt", self.step, f.integer(0))
        last = f.minus(self.span, self.columns)
        self.base = self.b.select(turned, f.plus(self.base, last), self.base)
        left = f.minus(self.columns, across)
        self.masks = [f.mask(f.minus(left, k * self.lanes), self.lanes) for k in range(self.scan.vectors)]

    def identities(self) -> list[Value]:
        return [self.identity(self.lanes)] * self.scan.vectors

    def block(self, block: Value, before: list[Value] | None) -> list[Value]:
        f = self.f
        begin, end = self.bounds(block)
        rows = f.loop(begin, end, 1, self.identities())
        place = f.plus(self.base, f.times(rows.index, self.step))
        following = []
        for k, mask in enumerate(self.masks):
            at = f.plus(place, k * self.lanes)
            value = self.combine(rows.values[k], self.get(self.source, at, mask))
            if before is not None:
                self.put(self.combine(before[k], value), self.target, at, mask)
            following.append(value)
        return rows.end(*following)

    def get_total(self, line: Value, block: Value) -> list[Value]:
        address = self.total_at(line, block)
        kind = vector(self.register, self.lanes)
        return [
            self.b.load(self.register, self.b.offset(address, kind, self.f.integer(k)), lanes=self.lanes)
            for k in range(self.scan.vectors)
        ]

    def put_total(self, line: Value, block: Value, total: list[Value]) -> None:
        address = self.total_at(line, block)
        for k, value in enumerate(total):
            self.b.store(value, self.b.offset(address, value.type, self.f.integer(k)))


class _Rows(_Kernel):
    """Lanes are neighbours in a row: a vector is accumulated in as many turns as its lanes can be halved."""

    def locate(self, line: Value) -> None:
        self.base = self.f.times(line, self.span)

    def identities(self) -> list[Value]:
        return [self.identity(1)]

    def block(self, block: Value, before: list[Value] | None) -> list[Value]:
        f, b = self.f, self.b
        begin, end = self.bounds(block)
        around = None if before is None else b.splat(before[0], self.lanes)
        whole = f.minus(end, b.integer("urem", f.minus(end, begin), f.integer(self.lanes)))
        full = f.loop(begin, whole, self.lanes, [self.identity(self.lanes)])
        (carried,) = full.end(self._vector(full.index, full.values[0], around, None))
        rest = f.loop(whole, end, self.lanes, [carried])
        mask = f.mask(f.minus(end, rest.index), self.lanes)
        (carried,) = rest.end(self._vector(rest.index, rest.values[0], around, mask))
        return [b.extract(carried, 0)]

    def _vector(self, index: Value, carried: Value, around: Value | None, mask: Value | None) -> Value:
        """Accumulate a vector onto what its block gave so far; what it gives from here on, in every lane."""
        at = self.f.plus(self.base, index)
        if self.scan.backwards:
            last = self.f.minus(self.f.plus(self.f.times(self.base, 2), self.length), self.lanes)
            at, mask = self.f.minus(last, at), None if mask is None else self._turned(mask)
        value = self.get(self.source, at, mask)
        value = self._turned(value) if self.scan.backwards else value
        distance = 1
        while distance < self.lanes:
            value = self.combine(self._moved(value, distance), value)
            distance *= 2
        following = self.combine(carried, self.b.shuffle(value, [self.lanes - 1] * self.lanes))
        if around is not None:
            value = self.combine(around, self.combine(carried, value))
            self.put(self._turned(value) if self.scan.backwards else value, self.target, at, mask)
        return following

    def _moved(self, value: Value, distance: int) -> Value:
        """The lanes moved up, with the identity in the lanes that become free."""
        lanes = [k - distance if k >= distance else self.lanes for k in range(self.lanes)]
        mask = ", ".join(f"i32 {k}" for k in lanes)
        return self.b.emit(
            f"shufflevector {value}, {self.identity(self.lanes)}, <{self.lanes} x i32> <{mask}>",
            value.element,
            value.lanes,
        )

    def _turned(self, value: Value) -> Value:
        return self.b.shuffle(value, list(range(value.lanes - 1, -1, -1)))

    def get_total(self, line: Value, block: Value) -> list[Value]:
        return [self.b.load(self.register, self.total_at(line, block))]

    def put_total(self, line: Value, block: Value, total: list[Value]) -> None:
        self.b.store(total[0], self.total_at(line, block))


@functools.lru_cache(maxsize=256)
def text(scan: Scan, kernel: str) -> str:
    """The LLVM IR of a kernel of a scan."""
    return scan.text(kernel)
