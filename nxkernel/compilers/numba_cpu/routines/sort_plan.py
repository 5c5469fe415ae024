"""Planning of sorts: which kernels run, on which items."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from nxkernel import compile_thread
from nxkernel import primitives as p
from nxkernel.compilers.numba_cpu.routines.kernel_builder import name_of
from nxkernel.compilers.numba_cpu.routines.python_algorithms import DIGITS, NETWORK
from nxkernel.compilers.numba_cpu.routines.routine_table import (
    SOURCE,
    TARGET,
    ArgumentKind,
    Launch,
    LaunchArgument,
    NativeRoutine,
    Results,
    routine,
)
from nxkernel.graph.expr import Expr
from nxkernel.shapes import ceil_div
from nxkernel.types import Type

#: Bytes on the stack that a network may take.
_TILE_BYTES = 1 << 18
#: Rows are cut into blocks of at least so many items, and into no more blocks than that.
_BLOCK, _BLOCKS = 1 << 15, 64
#: Elements that become items at a time.
_PIECE = 1 << 12
#: Bits of a digit at the most: fewer in short rows, and for wide items, which would go to too much memory at a time.
_DIGIT, _SHORT_DIGIT, _LONG = 11, 8, 1 << 14
#: Elements of a row up to which 32 bits hold their places and counts.
_COUNTED = 1 << 31


@dataclass(frozen=True)
class SortOrder:
    """What is sorted, by which order, and whether elements or indices are wanted.

    Parameters
    ----------
    type : Type
        Of the elements.
    descending : bool
    index : Type or None
        The type of the indices that are asked for; None for the elements themselves.
    """

    type: Type
    descending: bool
    index: Type | None

    @property
    def ambiguous(self) -> bool:
        """Whether the result depends on elements that differ and yet compare as equal."""
        return self.type.is_float and self.index is None


@dataclass(frozen=True)
class Network:
    """Everything that decides the code of a sorting network.

    Parameters
    ----------
    order : SortOrder
    beside : bool
        Whether the rows that are sorted lie beside one another in memory, element by element, as columns do.
    """

    order: SortOrder
    beside: bool

    @property
    def item(self) -> int:
        """Bits of a sort item."""
        bits = self.order.type.bits
        return bits if not self.order.index else {64: 128, 32: 64}.get(bits, 32)

    @property
    def lanes(self) -> int:
        """The number of rows sorted at once."""
        return 512 // min(max(self.item, 16), 64)

    @property
    def symbol(self) -> str:
        """The kernel's name."""
        return name_of("network", self)

    def text(self) -> str:
        """The kernel's LLVM IR."""
        compile_thread.load("nxkernel.compilers.numba_cpu.routines.sorting_network")
        from nxkernel.compilers.numba_cpu.routines.sorting_network import lower

        return lower(self)


@dataclass(frozen=True)
class Radix:
    """Everything that decides the code of the radix sort kernels.

    Parameters
    ----------
    order : SortOrder
    beside : bool
        Whether the rows lie beside one another in memory.
    counter : int
        Bits of a count of elements, 32 or 64.
    """

    order: SortOrder
    beside: bool
    counter: int

    @property
    def paired(self) -> bool:
        """Whether indices are stored beside keys, as 64 bits cannot hold both."""
        return self.order.index is not None and self.order.type.bits + self.counter > 64

    @property
    def low(self) -> int:
        """The bits below the key that hold the index."""
        return 32 if self.order.index and not self.paired else 0

    @property
    def item(self) -> str:
        """The LLVM element type of an item, or of each half of it."""
        return "i64" if self.order.index else f"i{self.order.type.bits}"

    @property
    def size(self) -> int:
        """Bytes of an item."""
        return (2 if self.paired else 1) * int(self.item[1:]) // 8

    def symbol(self, kernel: str) -> str:
        """The name of one of the kernels; types with equal code share it."""
        if kernel in ("count", "move"):
            return name_of("radix", kernel, self.counter, self.item, self.paired)
        return name_of("radix", kernel, self)

    def text(self, kernel: str) -> str:
        """The LLVM IR of one of the kernels."""
        compile_thread.load("nxkernel.compilers.numba_cpu.routines.radix_sort")
        from nxkernel.compilers.numba_cpu.routines.radix_sort import lower

        return lower(self, kernel)


@dataclass(frozen=True)
class _SortRows:
    """The layout of the rows that are sorted, and their description for people."""

    outer: int
    length: int
    columns: int
    what: str

    @property
    def count(self) -> int:
        return self.outer * self.columns


@routine(p.sort, p.argsort)
def _sorting(node: Expr, results: Results) -> NativeRoutine:
    (operand,), axis = node.operands, node.params["axis"]
    index = node.type if node.primitive is p.argsort else None
    order = SortOrder(operand.type, node.params["direction"] == "desc", index)
    outer, length = math.prod(operand.shape[:axis]), operand.shape[axis]
    columns = math.prod(operand.shape[axis + 1 :])
    rows = _SortRows(outer, length, columns, f"{node.primitive.name} of {outer} x {length} x {columns}")
    if not rows.count * length:
        return NativeRoutine(())
    network = Network(order, beside=columns > 1)
    if length * network.lanes * network.item // 8 <= _TILE_BYTES and _suits(network, rows):
        return _by_network(network, rows)
    return _by_digits(Radix(order, columns > 1, 32 if length < _COUNTED else 64), rows)


def _suits(network: Network, rows: _SortRows) -> bool:
    """Whether a network does fewer operations than a radix sort would."""
    vectors = _lines(network, rows) * comparisons(rows.length)
    return vectors < 2 * rows.count * (500 + rows.length) * ceil_div(network.order.type.bits, 8)


def _lines(network: Network, rows: _SortRows) -> int:
    """The number of steps: vectors of rows."""
    if network.beside:
        return rows.outer * ceil_div(rows.columns, network.lanes)
    return ceil_div(rows.outer, network.lanes)


def _by_network(network: Network, rows: _SortRows) -> NativeRoutine:
    length = rows.length
    scalars = (rows.outer, length, rows.columns, ceil_div(rows.columns, network.lanes), top(length))
    work = comparisons(length) * 4 + 4 * network.lanes * length
    title = f"{rows.what} by a network of comparisons"
    launch = Launch(
        network.symbol, network.text, (SOURCE, TARGET), scalars, _lines(network, rows), work, title, NETWORK
    )
    return NativeRoutine((launch,))


def top(length: int) -> int:
    """The greatest power of two below a length; 0 for lengths under 2."""
    return 1 << (length - 1).bit_length() - 1 if length > 1 else 0


def comparisons(length: int) -> int:
    """The approximate number of comparisons of a network."""
    bits = max(length - 1, 0).bit_length()
    return length * bits * (bits + 1) // 4


def _by_digits(radix: Radix, rows: _SortRows) -> NativeRoutine:
    length, count = rows.length, rows.count
    bits = radix.order.type.bits
    passes = ceil_div(bits, _DIGIT if length >= _LONG and radix.size < 8 else _SHORT_DIGIT)
    digit = ceil_div(bits, passes)
    blocks = min(_BLOCKS, ceil_div(length, _BLOCK))
    block = ceil_div(length, blocks)
    pieces = ceil_div(length, _PIECE)
    width = passes + 1
    scratch = _Scratch()
    state, notes = scratch.take(8 * width * count), scratch.take(count * pieces)
    counts = scratch.take(count * blocks * (radix.counter // 8 << digit))
    second = scratch.take(count * length * radix.size)
    # Items that are as wide as what is written, in the same order, need no memory of their own.
    written = (radix.order.index or radix.order.type).size
    inside = not radix.beside and radix.size == written
    first = TARGET if inside else scratch.take(count * length * radix.size)

    def launch(
        kernel: str, memory: tuple[LaunchArgument, ...], scalars: tuple[int, ...], steps: int, work: int
    ) -> Launch:
        title = f"{rows.what} by {passes} digits: {kernel}"
        text = functools.partial(radix.text, kernel)
        return Launch(radix.symbol(kernel), text, memory, scalars, steps, work, title, DIGITS[kernel])

    of_pieces = (length, rows.columns, pieces, _PIECE, width)
    launches = [launch("spread", (SOURCE, first, state, notes), of_pieces, count * pieces, _PIECE)]
    for number in range(passes):
        scalars = (length, pieces, width, number, blocks, block, radix.low + digit * number, 1 << digit)
        memory = (first, second, state, notes, counts)
        launches.append(launch("count", memory, scalars, count * blocks, 3 * block))
        launches.append(launch("move", memory, scalars, count * blocks, 6 * block))
    launches.append(launch("finish", (first, second, state, TARGET), of_pieces, count * pieces, _PIECE))
    if radix.order.ambiguous:
        scalars = (length, rows.columns, pieces)
        launches.append(launch("restore", (SOURCE, TARGET, notes), scalars, count, pieces))
    return NativeRoutine(tuple(launches), scratch.bytes)


class _Scratch:
    """Allocates parts of the scratch memory, at multiples of 64 bytes."""

    def __init__(self) -> None:
        self.bytes = 0

    def take(self, size: int) -> LaunchArgument:
        offset = self.bytes
        self.bytes += ceil_div(size, 64) * 64
        return LaunchArgument(ArgumentKind.SCRATCH, offset)
