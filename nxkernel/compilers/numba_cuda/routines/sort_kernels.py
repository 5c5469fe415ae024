"""The source of sort kernels.

An element becomes an unsigned number, its key, whose order is the one that is asked for. Short rows are sorted within
a block by a network that compares pairs. Long ones are sorted by digits of their keys, from the lowest to the highest,
four bits at a time: one kernel counts the digits in each part of a row, another says where those of each part go, a
third moves them there, and whatever has equal digits keeps its order.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from textwrap import indent

from nxkernel import types
from nxkernel.compilers.numba_cuda.language.element_types import literal
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.element_types import FORMATS
from nxkernel.types import Type

#: Elements that a network sorts in one block.
NETWORK = 2048
#: Elements that a thread takes from a tile, and the most threads that share one.
ITEMS, THREADS = 8, 256
#: Bits of a digit, and how many digits there are.
DIGIT, DIGITS = 4, 16
#: Room for a tile and for the counts of all threads; gaps, so that threads read from different banks.
_TILE_SIZE, _COUNTS = THREADS * (ITEMS + 1), THREADS * (DIGITS + 1)
#: Where the element `at` of a tile is in shared memory.
_GAP = "at + (at >> 3)"


@dataclass(frozen=True)
class DeviceOrder:
    """What is sorted, by which order, and whether elements or indices are wanted.

    Parameters
    ----------
    type : Type
        Of the elements.
    descending : bool
    index : Type or None
        The type of the indices that are asked for; None for the elements themselves.
    place : Type
        The type that counts elements of a row.
    """

    type: Type
    descending: bool
    index: Type | None
    place: Type = types.u32

    @property
    def key(self) -> Type:
        """The type of sort keys, as wide as elements."""
        return types.normalize(f"u{8 * self.type.size}")

    @property
    def paired(self) -> bool:
        """Whether an index goes with each key: because it is asked for, or to restore elements that keys cannot
        distinguish.
        """
        return self.index is not None or self.type.is_float

    @property
    def passes(self) -> int:
        """The number of digits of a key."""
        return 1 if self.type is types.bool_ else self.key.bits // DIGIT

    def number(self, value: int) -> str:
        """A key constant as text."""
        return literal(value, self.key)

    def keyed(self, name: str) -> str:
        """Statements that turn the bits of an element, in variable `name`, into its key."""
        top, every = self.number(1 << (self.key.bits - 1)), self.number((1 << self.key.bits) - 1)
        size = f"{self.key}({name} & {self.number((1 << (self.key.bits - 1)) - 1)})"
        lines = []
        if self.type.is_float:
            # A zero of either sign becomes the key of both, and so does every NaN.
            lines = [
                f"if {size} > {self.number(FORMATS[self.type].infinity)}:",
                f"    {name} = {every}",
                f"elif {name} > {top}:",
                f"    {name} = {self.key}({name} ^ {every})",
                "else:",
                f"    {name} = {self.key}({name} | {top})",
            ]
        elif self.type.kind == "s":
            lines = [f"{name} = {self.key}({name} ^ {top})"]
        if self.descending:
            lines.append(f"{name} = {self.key}({name} ^ {every})")
        return "\n".join(lines)

    def restored(self, name: str, bits: str) -> str:
        """Statements that turn a key back into an element's bits; `bits` reads those that keys cannot distinguish."""
        top, every = self.number(1 << (self.key.bits - 1)), self.number((1 << self.key.bits) - 1)
        lines = [f"{name} = {self.key}({name} ^ {every})"] if self.descending else []
        if self.type.is_float:
            lines += [
                f"if {name} == {top} or {name} == {every}:",
                f"    {name} = {bits}",
                f"elif {name} > {top}:",
                f"    {name} = {self.key}({name} ^ {top})",
                "else:",
                f"    {name} = {self.key}({name} ^ {every})",
            ]
        elif self.type.kind == "s":
            lines += [f"{name} = {self.key}({name} ^ {top})"]
        return "\n".join(lines)

    @property
    def written(self) -> str:
        """The type of the output pointer: elements as bits, or indices."""
        return f"{self.index or self.key}*"


@functools.lru_cache(64)
def network(order: DeviceOrder) -> KernelSource:
    """The kernel of a sorting network for short rows, several a block.

    Rows are filled up to a power of two with places behind the last.
    """
    every = order.number((1 << order.key.bits) - 1)
    place = "base + s64(places[at]) * columns"
    value = f"{order.index}(places[at])" if order.index else f"source[{place}]"
    text = f"""
def sort_rows(source, target, length, columns, power, group, rows):
    keys = cuda.shared.array({NETWORK}, np.{order.key.dtype.name})
    places = cuda.shared.array({NETWORK}, np.uint16)
    t = cuda.threadIdx.x
    threads = cuda.blockDim.x
    size = group * power
    first = cuda.blockIdx.x * group
    while first < rows:
        at = t
        while at < size:
            row = first + div(at, power)
            place = at & (power - 1)
            key = {every}
            if row < rows and place < length:
                outer = div(row, columns)
                key = source[(outer * length + place) * columns + row - outer * columns]
{indent(order.keyed("key"), " " * 16)}
            keys[at] = key
            places[at] = u16(place)
            at += threads
        cuda.syncthreads()
        run = 2
        while run <= power:
            step = run >> 1
            while step > 0:
                pair = t
                while pair + pair < size:
                    low = pair + pair - (pair & (step - 1))
                    high = low + step
                    one = keys[low]
                    other = keys[high]
                    greater = one > other or (one == other and places[low] > places[high])
                    rising = (low & (power - 1) & run) == 0
                    if greater == rising:
                        keys[low] = other
                        keys[high] = one
                        kept = places[low]
                        places[low] = places[high]
                        places[high] = kept
                    pair += threads
                cuda.syncthreads()
                step = step >> 1
            run = run << 1
        at = t
        while at < size:
            row = first + div(at, power)
            place = at & (power - 1)
            if row < rows and place < length:
                outer = div(row, columns)
                base = outer * length * columns + row - outer * columns
                target[base + place * columns] = {value}
            at += threads
        cuda.syncthreads()
        first += cuda.gridDim.x * group
"""
    return _source("sort_rows", text, (f"{order.key}*", order.written), 5)


#: The beginning of a kernel whose blocks take parts of rows: the row, and from where to where.
_PART = """    t = cuda.threadIdx.x
    threads = cuda.blockDim.x
    task = cuda.blockIdx.x
    while task < tasks:
        row = div(task, parts)
        number = task - row * parts
        outer = div(row, columns)
        base = outer * length * columns + row - outer * columns
        first = number * part
        end = first + part
        if end > length:
            end = length"""


def _read(order: DeviceOrder, first: bool, at: str) -> str:
    """Statements that load a key: from an element in the first pass, from earlier keys later."""
    if not first:
        return f"key = source[row * length + {at}]"
    return f"key = source[base + ({at}) * columns]\n{order.keyed('key')}"


@functools.lru_cache(64)
def count(order: DeviceOrder, first: bool) -> KernelSource:
    """The kernel that counts each digit value in each part of a row.

    Parameters
    ----------
    order : DeviceOrder
    first : bool
        Whether it is the first pass, which reads elements.
    """
    text = f"""
def sort_count(source, counts, length, columns, parts, part, shift, tasks):
    found = cuda.shared.array({DIGITS * THREADS}, np.uint32)
{_PART}
        for digit in range({DIGITS}):
            found[digit * threads + t] = u32(0)
        at = first + t
        while at < end:
{indent(_read(order, first, "at"), " " * 12)}
            slot = {_digit("key")} * threads + t
            found[slot] = u32(found[slot] + u32(1))
            at += threads
        cuda.syncthreads()
        digit = t
        while digit < {DIGITS}:
            total = {order.place}(0)
            for k in range(threads):
                total = {order.place}(total + {order.place}(found[digit * threads + k]))
            counts[(row * {DIGITS} + digit) * parts + number] = total
            digit += threads
        cuda.syncthreads()
        task += cuda.gridDim.x
"""
    return _source("sort_count", text, (f"{order.key}*", f"{order.place}*"), 6)


@functools.lru_cache(8)
def offsets(place: Type) -> KernelSource:
    """The kernel that turns counts into start positions in a row, by a running sum: one block a row."""
    text = f"""
def sort_offsets(counts, length, rows):
    sums = cuda.shared.array({THREADS}, np.{place.dtype.name})
    t = cuda.threadIdx.x
    threads = cuda.blockDim.x
    each = div(length + threads - 1, threads)
    row = cuda.blockIdx.x
    while row < rows:
        first = t * each
        end = first + each
        if end > length:
            end = length
        total = {place}(0)
        for at in range(first, end):
            total = {place}(total + counts[row * length + at])
        sums[t] = total
        cuda.syncthreads()
{indent(_running(place), " " * 8)}
        before = {place}(sums[t] - total)
        for at in range(first, end):
            here = counts[row * length + at]
            counts[row * length + at] = before
            before = {place}(before + here)
        cuda.syncthreads()
        row += cuda.gridDim.x
"""
    return _source("sort_offsets", text, (f"{place}*",), 2)


def _running(type_: Type) -> str:
    """Statements that turn the threads' values in `sums` into a running sum."""
    return f"""step = 1
while step < threads:
    more = {type_}(0)
    if t >= step:
        more = sums[t - step]
    cuda.syncthreads()
    sums[t] = {type_}(sums[t] + more)
    cuda.syncthreads()
    step = step << 1"""


@functools.lru_cache(64)
def move(order: DeviceOrder, first: bool, last: bool) -> KernelSource:
    """The kernel that moves keys, and indices with them, to where their digits say; stable.

    Parameters
    ----------
    order : DeviceOrder
    first, last : bool
        Whether it is the first pass, which reads elements, and the last, which writes what is asked for.
    """
    key, place, paired = order.key, order.place, order.paired
    came = f"{place}(begin + at)" if first else "old[row * length + begin + at]"
    memory = {"source": f"{key}*"}
    if paired and not first:
        memory["old"] = f"{place}*"
    memory["counts"] = f"{place}*"
    if last:
        memory["target"] = order.written
        if order.type.is_float and not order.index:
            memory["elements"] = f"{key}*"
        write = f"target[base + to * columns] = {order.index}(places[{_GAP}])"
        if not order.index:
            restored = order.restored("key", f"elements[base + s64(places[{_GAP}]) * columns]")
            write = f"{restored}\ntarget[base + to * columns] = key"
    else:
        memory["target"] = f"{key}*"
        write = "target[row * length + to] = key"
        if paired:
            memory["new"] = f"{place}*"
            write += f"\nnew[row * length + to] = places[{_GAP}]"
    text = f"""
def sort_move({", ".join(memory)}, length, columns, parts, part, shift, tasks):
    keys = cuda.shared.array({_TILE_SIZE}, np.{key.dtype.name})
    {f"places = cuda.shared.array({_TILE_SIZE}, np.{place.dtype.name})" if paired else ""}
    ranks = cuda.shared.array({_COUNTS}, np.uint16)
    sums = cuda.shared.array({THREADS}, np.uint16)
    starts = cuda.shared.array({DIGITS + 1}, np.uint16)
    heads = cuda.shared.array({DIGITS}, np.{place.dtype.name})
    held = cuda.local.array({ITEMS}, np.{key.dtype.name})
    {f"marks = cuda.local.array({ITEMS}, np.{place.dtype.name})" if paired else ""}
{_PART}
        digit = t
        while digit < {DIGITS}:
            heads[digit] = counts[(row * {DIGITS} + digit) * parts + number]
            digit += threads
        begin = first
        while begin < end:
            count = end - begin
            if count > threads * {ITEMS}:
                count = threads * {ITEMS}
            at = t
            while at < count:
{indent(_read(order, first, "begin + at"), " " * 16)}
                keys[{_GAP}] = key
                {f"places[{_GAP}] = {came}" if paired else ""}
                at += threads
            for digit in range({DIGITS}):
                slot = digit * threads + t
                ranks[slot + (slot >> 4)] = u16(0)
            cuda.syncthreads()
            for k in range({ITEMS}):
                at = t * {ITEMS} + k
                if at < count:
                    held[k] = keys[{_GAP}]
                    {f"marks[k] = places[{_GAP}]" if paired else ""}
                    slot = {_digit("held[k]")} * threads + t
                    ranks[slot + (slot >> 4)] = u16(ranks[slot + (slot >> 4)] + u16(1))
            cuda.syncthreads()
            total = u16(0)
            for k in range({DIGITS}):
                total = u16(total + ranks[t * {DIGITS + 1} + k])
            sums[t] = total
            cuda.syncthreads()
{indent(_running(types.u16), " " * 12)}
            before = u16(sums[t] - total)
            for k in range({DIGITS}):
                here = ranks[t * {DIGITS + 1} + k]
                ranks[t * {DIGITS + 1} + k] = before
                before = u16(before + here)
            cuda.syncthreads()
            digit = t
            while digit < {DIGITS}:
                slot = digit * threads
                starts[digit] = ranks[slot + (slot >> 4)]
                digit += threads
            if t == 0:
                starts[{DIGITS}] = u16(count)
            cuda.syncthreads()
            for k in range({ITEMS}):
                if t * {ITEMS} + k < count:
                    slot = {_digit("held[k]")} * threads + t
                    at = s64(ranks[slot + (slot >> 4)])
                    ranks[slot + (slot >> 4)] = u16(at + 1)
                    keys[{_GAP}] = held[k]
                    {f"places[{_GAP}] = marks[k]" if paired else ""}
            cuda.syncthreads()
            at = t
            while at < count:
                key = keys[{_GAP}]
                digit = {_digit("key")}
                to = s64(heads[digit]) + at - s64(starts[digit])
{indent(write, " " * 16)}
                at += threads
            cuda.syncthreads()
            digit = t
            while digit < {DIGITS}:
                heads[digit] = {place}(heads[digit] + {place}(starts[digit + 1] - starts[digit]))
                digit += threads
            cuda.syncthreads()
            begin += threads * {ITEMS}
        task += cuda.gridDim.x
"""
    return _source("sort_move", text, tuple(memory.values()), 6)


def _digit(key: str) -> str:
    """The text of a key's digit."""
    return f"s64((u64({key}) >> u64(shift)) & u64({DIGITS - 1}))"


def _source(name: str, text: str, memory: tuple[str, ...], scalars: int) -> KernelSource:
    lines = [line for line in text.splitlines() if line.strip()]
    return KernelSource(name, "\n".join(lines) + "\n", (*memory, *["s64"] * scalars))
