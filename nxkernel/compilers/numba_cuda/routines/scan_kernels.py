"""The source of scan kernels: cumulative sums, products and extremes.

A line is cut into parts where there are too few lines to keep a device busy. Then one kernel says what each part
amounts to, and another walks through each part from what the ones before amount to. Every sum is taken in an order
that depends on nothing but the sizes.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from textwrap import indent

from nxkernel import types
from nxkernel.compilers.display.operation_text import INFIX
from nxkernel.compilers.numba_cuda.language.element_types import (
    ComplexText,
    Value,
    load,
    memory_type,
    register_type,
    store,
)
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.types import Type

#: Elements that a thread takes from a tile, and the most threads that share one.
ITEMS, THREADS = 8, 256
#: Room for a tile; a gap after every eight elements, so that threads read from different banks.
_TILE_SIZE = THREADS * (ITEMS + 1)


@dataclass(frozen=True)
class ScanForm:
    """Everything that decides the code of scan kernels.

    Parameters
    ----------
    name : str
        ``"add"``, ``"multiply"``, ``"max"`` or ``"min"``.
    type : Type
        Of the elements in memory.
    backwards : bool
        Whether lines run from their last element to their first.
    in_order : bool
        Whether elements must be taken one after the other: products of floats may leave their range on the way.
    """

    name: str
    type: Type
    backwards: bool
    in_order: bool

    def combined(self, left: Value, right: Value) -> Value:
        """The text of two values joined."""
        kind = register_type(self.type)
        if isinstance(left, ComplexText):
            re = f"{left.re} * {right.re} - {left.im} * {right.im}"
            return ComplexText(f"{kind}({re})", f"{kind}({left.re} * {right.im} + {left.im} * {right.re})")
        if self.name in ("max", "min"):
            return f"{self.name}imum({left}, {right})"
        return f"{kind}({left} {INFIX[self.name]} {right})"

    @property
    def place(self) -> str:
        """The text of the position in its line of the element number `at`."""
        return "length - 1 - at" if self.backwards else "at"


@functools.lru_cache(256)
def totals_of_rows(scan: ScanForm) -> KernelSource:
    """The kernel of the totals of parts of rows: one block a part, whose threads take elements in strides."""
    text = f"""
def scan_totals(source, totals, length, parts, part, tasks):
    sums = cuda.shared.array({THREADS}, {_dtype(scan.type)})
    t = cuda.threadIdx.x
    threads = cuda.blockDim.x
    task = cuda.blockIdx.x
    while task < tasks:
        row = div(task, parts)
        first = (task - row * parts) * part
        count = length - first
        if count > part:
            count = part
        if t < count:
            at = first + t
            total = {_loaded(scan, "row * length + " + scan.place)}
            at += threads
            while at < first + count:
                total = {scan.combined("total", _loaded(scan, "row * length + " + scan.place))}
                at += threads
            sums[t] = total
        cuda.syncthreads()
{indent(_folded(scan, "count"), "        ")}
        if t == 0:
            totals[task] = sums[0]
        cuda.syncthreads()
        task += cuda.gridDim.x
"""
    return _source("scan_totals", text, scan, 1, 4)


def _folded(scan: ScanForm, count: str) -> str:
    """Statements that join the first `count` threads' values in `sums` into the first one."""
    return f"""active = {count}
if active > threads:
    active = threads
while active > 1:
    half = (active + 1) >> 1
    if t + half < active:
        sums[t] = {scan.combined("sums[t]", "sums[t + half]")}
    cuda.syncthreads()
    active = half"""


@functools.lru_cache(256)
def rows(scan: ScanForm, cut: bool) -> KernelSource:
    """The kernel of rows, or parts of rows if `cut`: one block each, tile by tile."""
    text = f"""
def scan_rows(source, target{", totals" if cut else ""}, length, parts, part, tasks):
    tile = cuda.shared.array({_TILE_SIZE}, {_dtype(scan.type)})
    sums = cuda.shared.array({THREADS}, {_dtype(scan.type)})
    t = cuda.threadIdx.x
    threads = cuda.blockDim.x
    most = threads * {ITEMS}
    task = cuda.blockIdx.x
    while task < tasks:
        row = div(task, parts)
        number = task - row * parts
        first = number * part
        end = first + part
        if end > length:
            end = length
        carried = False
        carry = {register_type(_held(scan.type))}(0)
{indent(_carried(scan), " " * 8) if cut else ""}
        begin = first
        while begin < end:
            count = end - begin
            if count > most:
                count = most
            place = t
            while place < count:
                at = begin + place
                tile[place + (place >> 3)] = {_loaded(scan, "row * length + " + scan.place)}
                place += threads
            cuda.syncthreads()
{indent(_in_order(scan) if scan.in_order else _by_all(scan), " " * 12)}
            place = t
            while place < count:
                at = begin + place
{indent(_stored(scan, "row * length + " + scan.place, "tile[place + (place >> 3)]"), " " * 16)}
                place += threads
            cuda.syncthreads()
            begin += most
        task += cuda.gridDim.x
"""
    return _source("scan_rows", text, scan, 2, 4, cut)


def _carried(scan: ScanForm) -> str:
    """Statements by which a block computes the total of the parts before its own."""
    return f"""if number > 0:
    if t < number:
        total = totals[row * parts + t]
        other = t + threads
        while other < number:
            total = {scan.combined("total", "totals[row * parts + other]")}
            other += threads
        sums[t] = total
    cuda.syncthreads()
{indent(_folded(scan, "number"), "    ")}
    carry = sums[0]
    carried = True
    cuda.syncthreads()"""


def _in_order(scan: ScanForm) -> str:
    """Statements by which one thread scans a tile in order."""
    return f"""if t == 0:
    for k in range(count):
        value = tile[k + (k >> 3)]
        if carried:
            value = {scan.combined("carry", "value")}
        carry = value
        carried = True
        tile[k + (k >> 3)] = value
cuda.syncthreads()"""


def _by_all(scan: ScanForm) -> str:
    """Statements by which each thread scans its elements of a tile, and all add the totals before theirs."""
    return f"""own = t * {ITEMS}
mine = count - own
if mine > {ITEMS}:
    mine = {ITEMS}
if mine > 0:
    total = tile[own + t]
    for k in range(1, mine):
        total = {scan.combined("total", "tile[own + t + k]")}
        tile[own + t + k] = total
    sums[t] = total
cuda.syncthreads()
step = 1
while step * {ITEMS} < count:
    total = sums[t]
    if t >= step and mine > 0:
        total = {scan.combined("sums[t - step]", "total")}
    cuda.syncthreads()
    sums[t] = total
    cuda.syncthreads()
    step = step << 1
if mine > 0 and (t > 0 or carried):
    before = carry
    if t > 0:
        before = sums[t - 1]
        if carried:
            before = {scan.combined("carry", "before")}
    for k in range(mine):
        tile[own + t + k] = {scan.combined("before", "tile[own + t + k]")}
total = sums[(count - 1) >> 3]
if carried:
    total = {scan.combined("carry", "total")}
carry = total
carried = True
cuda.syncthreads()"""


@functools.lru_cache(256)
def totals_of_columns(scan: ScanForm) -> KernelSource:
    """The kernel of the totals of parts of adjacent columns: one thread a part."""
    text = f"""
def scan_column_totals(source, totals, length, columns, parts, part, tasks):
{_WALK}
{indent(_walked(scan), "        ")}
        totals[task] = total
        task += cuda.gridDim.x * cuda.blockDim.x
"""
    return _source("scan_column_totals", text, scan, 1, 5)


@functools.lru_cache(256)
def columns(scan: ScanForm, cut: bool) -> KernelSource:
    """The kernel of adjacent columns, or parts of them if `cut`: one thread each."""
    if scan.type.is_complex:
        return _complex_columns(scan)
    before = f"""if number > 0:
    before = totals[task - number * columns]
    for k in range(1, number):
        before = {scan.combined("before", "totals[task - (number - k) * columns]")}
    total = {scan.combined("before", "total")}"""
    text = f"""
def scan_columns(source, target{", totals" if cut else ""}, length, columns, parts, part, tasks):
{_WALK}
        at = first
        total = {_loaded(scan, f"base + ({scan.place}) * columns")}
{indent(before, " " * 8) if cut else ""}
{indent(_stored(scan, f"base + ({scan.place}) * columns", "total"), "        ")}
        at += 1
        while at < end:
            total = {scan.combined("total", _loaded(scan, f"base + ({scan.place}) * columns"))}
{indent(_stored(scan, f"base + ({scan.place}) * columns", "total"), " " * 12)}
            at += 1
        task += cuda.gridDim.x * cuda.blockDim.x
"""
    return _source("scan_columns", text, scan, 2, 5, cut)


def _complex_columns(scan: ScanForm) -> KernelSource:
    value = load("source", f"base + ({scan.place}) * columns", scan.type)
    joined = scan.combined(ComplexText("re", "im"), ComplexText("other_re", "other_im"))
    write = "\n".join(store("target", f"base + ({scan.place}) * columns", ComplexText("re", "im"), scan.type))
    text = f"""
def scan_columns(source, target, length, columns, parts, part, tasks):
{_WALK}
        at = first
        re = {value.re}
        im = {value.im}
{indent(write, "        ")}
        at += 1
        while at < end:
            other_re = {value.re}
            other_im = {value.im}
            product = {joined.re}
            im = {joined.im}
            re = product
{indent(write, " " * 12)}
            at += 1
        task += cuda.gridDim.x * cuda.blockDim.x
"""
    return _source("scan_columns", text, scan, 2, 5, False)


#: The beginning of a kernel whose threads walk down parts of columns: the column, and from where to where.
_WALK = """    task = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while task < tasks:
        line = div(task, columns)
        outer = div(line, parts)
        number = line - outer * parts
        base = outer * length * columns + task - line * columns
        first = number * part
        end = first + part
        if end > length:
            end = length"""


def _walked(scan: ScanForm) -> str:
    """Statements that reduce a part of a column to its total."""
    element = _loaded(scan, f"base + ({scan.place}) * columns")
    return f"""at = first
total = {element}
at += 1
while at < end:
    total = {scan.combined("total", element)}
    at += 1"""


def _loaded(scan: ScanForm, index: str) -> Value:
    return load("source", index, _held(scan.type))


def _stored(scan: ScanForm, index: str, value: str) -> str:
    return "\n".join(store("target", index, value, _held(scan.type)))


def _held(type_: Type) -> Type:
    """The type that values are held in: numbers for truth values."""
    return types.u8 if type_ is types.bool_ else type_


def _dtype(type_: Type) -> str:
    """The NumPy type of shared memory for values."""
    return f"np.{types.normalize(register_type(_held(type_))).dtype.name}"


def _source(name: str, text: str, scan: ScanForm, elements: int, scalars: int, totals: bool = True) -> KernelSource:
    """A kernel source with `elements` pointers to elements and perhaps one to totals."""
    memory = [memory_type(scan.type)] * elements + [f"{register_type(_held(scan.type))}*"] * totals
    lines = [line for line in text.splitlines() if line.strip()]
    return KernelSource(name, "\n".join(lines) + "\n", (*memory, *["s64"] * scalars))
