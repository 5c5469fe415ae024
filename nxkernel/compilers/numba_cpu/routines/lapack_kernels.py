"""Kernels that run a routine of LAPACK on each of many matrices, by the pointers that SciPy publishes.

A step takes the matrices of one part of the batch, one after the other, in a slot of scratch memory of its own. LAPACK
keeps matrices in columns, so they are turned on their way in and out, unless the turned matrix serves as well. Where
there is no result (a singular matrix, an iteration that does not converge), the elements are NaN, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from nxkernel import library_functions
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.compilers.numba_cpu.routines.kernel_builder import KernelBuilder
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY
from nxkernel.types import Type, to_real

#: Rows and columns that are turned at a time, so that both matrices' lines stay in the cache.
_TILE = 16
#: A power of two beyond what any number has.
_HUGE = 1 << 14
#: What scalars every kernel is given: parts of the batch, matrices, bytes of a slot.
COMMON = ("parts", "count", "slot")
_LETTERS = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}


def routine_name(routine: str, type_: Type) -> str:
    """LAPACK's name of a routine for a type, which for complex numbers may be another word."""
    complex_names = {"orgqr": "ungqr", "syevd": "heevd"}
    return _LETTERS[type_] + (complex_names.get(routine, routine) if type_.is_complex else routine)


class MatrixKernel(KernelBuilder):
    """A kernel under construction whose steps are parts of a batch of matrices.

    Parameters
    ----------
    symbol : str
    type_ : Type
        Of the matrices.
    memory : int
        How many operands and results it has.
    sizes : sequence of str
        The names of its own scalar parameters.
    parts : sequence of str
        The names of what its slot of scratch memory is cut into; where each begins is a parameter, too.

    Attributes
    ----------
    size : dict of str to IRValue
        The scalar parameters.
    """

    def __init__(self, symbol: str, type_: Type, memory: int, sizes: Sequence[str], parts: Sequence[str]) -> None:
        super().__init__(symbol)
        self.type, self.element = type_, MEMORY[type_]
        self.real = MEMORY[to_real(type_)]
        names = [*COMMON, *sizes, *parts]
        self._memory, scalars = self.table(memory + bool(parts), len(names))
        self.size = dict(zip(names, scalars, strict=True))
        self._parts = parts

    @contextmanager
    def each_matrix(self) -> Iterator[tuple[IRValue, dict[str, IRValue]]]:
        """A loop over the matrices of the steps: the number of one, and the addresses of the parts of the slot."""
        count, parts = self.size["count"], self.size["parts"]
        steps = self.loop(self.begin, self.end)
        first, _ = self.split(self.times(steps.index, count), parts)
        behind, _ = self.split(self.times(self.plus(steps.index, 1), count), parts)
        slot = self.b.offset(self._memory[-1], "i8", self.times(steps.index, self.size["slot"]))
        places = {name: self.b.offset(slot, "i8", self.size[name]) for name in self._parts}
        matrices = self.loop(first, behind)
        yield matrices.index, places
        matrices.end()
        steps.end()

    def of(self, memory: int, matrix: IRValue, elements: IRValue | int, element: str | None = None) -> IRValue:
        """The address of an operand's or result's part for a matrix, which has so many elements there."""
        return self.b.offset(self._memory[memory], element or self.element, self.times(matrix, elements))

    # Elements --------------------------------------------------------------------------------------------------

    def turn(self, source: IRValue, target: IRValue, rows: IRValue, columns: IRValue) -> None:
        """Write the transpose of what lies in rows without gaps."""
        outer = self.loop(0, rows, _TILE)
        inner = self.loop(0, columns, _TILE)
        last_row, last_column = (
            self.least(self.plus(tile.index, _TILE), limit) for tile, limit in ((outer, rows), (inner, columns))
        )
        column = self.loop(inner.index, last_column)
        row = self.loop(outer.index, last_row)
        value = self.b.load(self.element, self._at(source, self.plus(self.times(row.index, columns), column.index)))
        self.b.store(value, self._at(target, self.plus(self.times(column.index, rows), row.index)))
        for each in (row, column, inner, outer):
            each.end()

    def copy(self, source: IRValue, target: IRValue, elements: IRValue) -> None:
        """Copy elements."""
        size = self.times(elements, self.type.size)
        self.module.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
        self.b.do(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, {size}, i1 false)")

    def clear(self, target: IRValue, elements: IRValue) -> None:
        """Fill with zeros."""
        size = self.times(elements, self.type.size)
        self.module.declare("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"])
        self.b.do(f"call void @llvm.memset.p0.i64({target}, i8 0, {size}, i1 false)")

    def fill(self, target: IRValue, elements: IRValue, number: float, real: bool = False) -> None:
        """Fill with a number."""
        whole = self.real if real else self.element
        loop = self.loop(0, elements)
        place = self.b.offset(target, whole, loop.index)
        self.b.store(self.b.constant(self.real, number), place)
        if whole != self.real:
            self.b.store(self.b.constant(self.real, 0.0), self.b.offset(place, self.real, self.integer(1)))
        loop.end()

    def _at(self, base: IRValue, index: IRValue) -> IRValue:
        return self.b.offset(base, self.element, index)

    # LAPACK ----------------------------------------------------------------------------------------------------

    def number(self, value: IRValue | int) -> IRValue:
        """The address of a 32-bit integer, as Fortran takes it."""
        slot = self.b.stack_slot("i32", 1)
        wide = self.integer(value) if isinstance(value, int) else value
        self.b.store(self.b.convert("trunc", wide, "i32"), slot)
        return slot

    def letter(self, text: str | IRValue) -> IRValue:
        """The address of a letter."""
        slot = self.b.stack_slot("i8", 1)
        self.b.store(self.b.constant("i8", ord(text)) if isinstance(text, str) else text, slot)
        return slot

    def lapack(self, routine: str, *arguments: IRValue) -> IRValue:
        """Call a routine, whose last argument tells whether it failed; whether it did."""
        info = self.number(0)
        self.blas(routine, *arguments, info)
        return self.b.icmp("ne", self.b.load("i32", info), self.b.constant("i32", 0))

    def blas(self, routine: str, *arguments: IRValue) -> None:
        """Call a routine that cannot fail."""
        name = library_functions.LINEAR_ALGEBRA + routine_name(routine, self.type)
        self.module.declare(name, "void", ["ptr"] * len(arguments))
        self.b.do(f"call void @{name}({', '.join(map(str, arguments))})")


# The kernels: each is given a builder whose memory is that of the operands, then of the results --------------------


def cholesky(k: MatrixKernel) -> None:
    """The lower factor in rows is the upper one in columns, of the same elements."""
    n = k.size["n"]
    elements, order = k.times(n, n), k.number(n)
    with k.each_matrix() as (matrix, _):
        result = k.of(1, matrix, elements)
        k.copy(k.of(0, matrix, elements), result, elements)
        failed = k.lapack("potrf", k.letter("U"), order, result, order)
        rows = k.loop(0, n)
        behind = k.plus(rows.index, 1)
        k.clear(k.b.offset(result, k.element, k.plus(k.times(rows.index, n), behind)), k.minus(n, behind))
        rows.end()
        with k.when(failed):
            k.fill(result, elements, float("nan"))


def solve(k: MatrixKernel) -> None:
    """The solutions of a system, by LU factors."""
    n, columns = k.size["n"], k.size["columns"]
    order, elements, sought = k.number(n), k.times(n, n), k.times(n, columns)
    with k.each_matrix() as (matrix, slot):
        result = k.of(2, matrix, sought)
        k.turn(k.of(0, matrix, elements), slot["matrix"], n, n)
        k.turn(k.of(1, matrix, sought), slot["right"], n, columns)
        failed = k.lapack("gesv", order, k.number(columns), slot["matrix"], order, slot["pivots"], slot["right"], order)
        k.turn(slot["right"], result, columns, n)
        with k.when(failed):
            k.fill(result, sought, float("nan"))


def inverse(k: MatrixKernel) -> None:
    """The solution for the identity."""
    n = k.size["n"]
    order, elements = k.number(n), k.times(n, n)
    with k.each_matrix() as (matrix, slot):
        result = k.of(1, matrix, elements)
        k.turn(k.of(0, matrix, elements), slot["matrix"], n, n)
        k.clear(slot["right"], elements)
        diagonal = k.loop(0, n)
        k.fill(k.b.offset(slot["right"], k.element, k.times(diagonal.index, k.plus(n, 1))), k.integer(1), 1.0)
        diagonal.end()
        failed = k.lapack("gesv", order, order, slot["matrix"], order, slot["pivots"], slot["right"], order)
        k.turn(slot["right"], result, n, n)
        with k.when(failed):
            k.fill(result, elements, float("nan"))


def determinant(k: MatrixKernel) -> None:
    """The product of the pivots, as a fraction and a power of two: what is in between may be as large as it likes."""
    n, real = k.size["n"], k.real
    order, elements = k.number(n), k.times(n, n)
    fraction = "{ double, i32 }"
    k.module.declare("llvm.frexp.f64.i32", fraction, ["double"])
    k.module.declare("llvm.ldexp.f64.i32", "double", ["double", "i32"])

    def parted(number: IRValue) -> tuple[IRValue, IRValue]:
        """The fraction and the power of two of a number."""
        both = k.b.emit(f"call {fraction} @llvm.frexp.f64.i32({number})", fraction, 1)
        power = k.b.emit(f"extractvalue {both}, 1", "i32", 1)
        return k.b.emit(f"extractvalue {both}, 0", "double", 1), k.b.convert("sext", power, "i64")

    with k.each_matrix() as (matrix, slot):
        k.turn(k.of(0, matrix, elements), slot["matrix"], n, n)
        singular = k.lapack("getrf", order, order, slot["matrix"], order, slot["pivots"])
        pivots = k.loop(0, n, carried=[k.b.constant("double", 1.0), k.integer(0)])
        product, power = pivots.values
        place = k.b.offset(slot["matrix"], real, k.times(pivots.index, k.plus(n, 1)))
        pivot = k.b.load(real, place)
        pivot = pivot if real == "double" else k.b.convert("fpext", pivot, "double")
        row = k.b.convert("sext", k.b.load("i32", k.b.offset(slot["pivots"], "i32", pivots.index)), "i64")
        stayed = k.b.icmp("eq", row, k.plus(pivots.index, 1))
        # A pivot may be so small that half of it is zero.
        pivot, own = parted(pivot)
        product = k.b.fmul(product, k.b.select(stayed, pivot, k.b.fneg(pivot)))
        product, further = parted(product)
        product, power = pivots.end(product, k.plus(k.plus(power, own), further))
        power = k.b.intrinsic("smax", k.least(power, _HUGE), k.integer(-_HUGE))
        power = k.b.convert("trunc", power, "i32")
        value = k.b.emit(f"call double @llvm.ldexp.f64.i32({product}, {power})", "double", 1)
        # Where a pivot is zero it is zero, as in NumPy, whatever the others are.
        value = k.b.select(singular, k.b.constant("double", 0.0), value)
        value = value if real == "double" else k.b.convert("fptrunc", value, real)
        k.b.store(value, k.of(1, matrix, 1))


def lu(k: MatrixKernel, *, wanted: Sequence[bool]) -> None:
    """Both factors in one matrix, and the order of rows that exchanging each with its pivot makes."""
    rows, columns = k.size["rows"], k.size["columns"]
    elements = k.times(rows, columns)
    factors, order_of = _results(1, wanted)
    with k.each_matrix() as (matrix, slot):
        k.turn(k.of(0, matrix, elements), slot["matrix"], rows, columns)
        # A pivot of zero is no failure: the factors are what they are.
        k.lapack("getrf", k.number(rows), k.number(columns), slot["matrix"], k.number(rows), slot["pivots"])
        if factors is not None:
            k.turn(slot["matrix"], k.of(factors, matrix, elements), columns, rows)
        if order_of is not None:
            order = k.of(order_of, matrix, rows, "i64")
            first = k.loop(0, rows)
            k.b.store(first.index, k.b.offset(order, "i64", first.index))
            first.end()
            step = k.loop(0, k.least(rows, columns))
            pivot = k.b.convert("sext", k.b.load("i32", k.b.offset(slot["pivots"], "i32", step.index)), "i64")
            own, other = k.b.offset(order, "i64", step.index), k.b.offset(order, "i64", k.minus(pivot, 1))
            kept, chosen = k.b.load("i64", own), k.b.load("i64", other)
            k.b.store(chosen, own)
            k.b.store(kept, other)
            step.end()


def triangular_solve(k: MatrixKernel, lower: bool, transform: str) -> None:
    """``transpose(x) op(transpose(a)) = transpose(b)``: these are what memory holds in columns.

    LAPACK's trtrs starts threads for the smallest of matrices (OpenBLAS 0.3); BLAS's trsm does not.
    """
    n, columns = k.size["n"], k.size["columns"]
    sought, elements = k.times(n, columns), k.times(n, n)
    one = k.b.stack_slot(k.element, 1)
    k.fill(one, k.integer(1), 1.0)
    letters = ["R", "U" if lower else "L", {"none": "N", "transpose": "T", "conjugate": "C"}[transform], "N"]
    how = [k.letter(letter) for letter in letters]
    with k.each_matrix() as (matrix, _):
        triangle, result = k.of(0, matrix, elements), k.of(2, matrix, sought)
        k.copy(k.of(1, matrix, sought), result, sought)
        k.blas("trsm", *how, k.number(columns), k.number(n), one, triangle, k.number(n), result, k.number(columns))
        diagonal = k.loop(0, n, carried=[k.b.constant("i1", 0)])
        place = k.b.offset(triangle, k.element, k.times(diagonal.index, k.plus(n, 1)))
        zero = k.b.constant(k.real, 0.0)
        is_zero = k.b.fcmp("oeq", k.b.load(k.real, place), zero)
        if k.type.is_complex:
            imaginary = k.b.load(k.real, k.b.offset(place, k.real, k.integer(1)))
            is_zero = k.b.integer("and", is_zero, k.b.fcmp("oeq", imaginary, zero))
        (singular,) = diagonal.end(k.b.integer("or", diagonal.values[0], is_zero))
        with k.when(singular):
            k.fill(result, sought, float("nan"))


def qr(k: MatrixKernel, *, wanted: Sequence[bool]) -> None:
    """Householder's reflections, and the orthogonal factor made of them."""
    rows, columns, inner = k.size["rows"], k.size["columns"], k.size["inner"]
    reflections = k.least(rows, columns)
    height, work = k.number(rows), k.number(k.size["work_length"])
    with k.each_matrix() as (matrix, slot):
        k.turn(k.of(0, matrix, k.times(rows, columns)), slot["matrix"], rows, columns)
        shared = slot["tau"], slot["work"], work
        k.lapack("geqrf", height, k.number(columns), slot["matrix"], height, *shared)
        if wanted[1]:
            upper = k.of(1 + wanted[0], matrix, k.times(inner, columns))
            k.clear(upper, k.times(inner, columns))
            column = k.loop(0, columns)
            row = k.loop(0, k.least(k.plus(column.index, 1), reflections))
            value = k.b.load(
                k.element, k.b.offset(slot["matrix"], k.element, k.plus(k.times(column.index, rows), row.index))
            )
            k.b.store(value, k.b.offset(upper, k.element, k.plus(k.times(row.index, columns), column.index)))
            row.end()
            column.end()
        if wanted[0]:
            k.lapack("orgqr", height, k.number(inner), k.number(reflections), slot["matrix"], height, *shared)
            k.turn(slot["matrix"], k.of(1, matrix, k.times(rows, inner)), inner, rows)


def eigh(k: MatrixKernel, wanted: Sequence[bool]) -> None:
    """Eigenvalues, and the eigenvectors where they are wanted, of the lower triangle."""
    n = k.size["n"]
    elements, order = k.times(n, n), k.number(n)
    results = _results(1, wanted)
    lengths = [name for name in ("work", "real_work", "whole_work") if name in k.size]
    with k.each_matrix() as (matrix, slot):
        k.turn(k.of(0, matrix, elements), slot["matrix"], n, n)
        values = slot["values"] if results[0] is None else k.of(results[0], matrix, n, k.real)
        memory = [argument for name in lengths for argument in (slot[name], k.number(k.size[f"{name}_length"]))]
        how = k.letter("V" if wanted[1] else "N"), k.letter("L")
        failed = k.lapack("syevd", *how, order, slot["matrix"], order, values, *memory)
        if results[1] is not None:
            k.turn(slot["matrix"], k.of(results[1], matrix, elements), n, n)
        with k.when(failed):
            k.fill(values, n, float("nan"), real=True)
            if results[1] is not None:
                k.fill(k.of(results[1], matrix, elements), elements, float("nan"))


def svd(k: MatrixKernel, *, full: bool, wanted: Sequence[bool]) -> None:
    """Singular values, and both bases where one is wanted, by dividing and conquering."""
    rows, columns, least = k.size["rows"], k.size["columns"], k.size["least"]
    left, right = k.size["left"], k.size["right"]
    results = _results(1, wanted)
    with k.each_matrix() as (matrix, slot):
        k.turn(k.of(0, matrix, k.times(rows, columns)), slot["matrix"], rows, columns)
        values = slot["values"] if results[1] is None else k.of(results[1], matrix, least, k.real)
        job = "N" if not (wanted[0] or wanted[2]) else "A" if full else "S"
        height = k.number(rows)
        work = [slot["work"], k.number(k.size["work_length"])]
        work += [slot["real_work"]] if k.type.is_complex else []
        # No basis is written where none is wanted.
        left_basis, right_basis = (slot.get(name, slot["matrix"]) for name in ("left_basis", "right_basis"))
        failed = k.lapack(
            "gesdd",
            *(k.letter(job), height, k.number(columns), slot["matrix"], height, values),
            *(left_basis, height, right_basis, k.number(right), *work, slot["whole_work"]),
        )
        bases = [(results[0], "left_basis", left, rows), (results[2], "right_basis", columns, right)]
        for result, name, across, down in bases:
            if result is not None:
                k.turn(slot[name], k.of(result, matrix, k.times(across, down)), across, down)
        with k.when(failed):
            k.fill(values, least, float("nan"), real=True)
            for result, _, across, down in bases:
                if result is not None:
                    elements = k.times(across, down)
                    k.fill(k.of(result, matrix, elements), elements, float("nan"))


def _results(operands: int, wanted: Sequence[bool]) -> list[int | None]:
    """The numbers of the results among the memory of a kernel, behind its operands; None for one not wanted."""
    numbers = iter(range(operands, operands + sum(wanted)))
    return [next(numbers) if each else None for each in wanted]


def text(
    symbol: str,
    type_: Type,
    memory: int,
    sizes: Sequence[str],
    parts: Sequence[str],
    write: Callable[[MatrixKernel], None],
) -> str:
    """The LLVM IR of a kernel.

    Parameters
    ----------
    symbol, type_, memory, sizes, parts
        As :class:`MatrixKernel` takes them.
    write : callable
        One of this module's functions, with all but its builder.
    """
    kernel = MatrixKernel(symbol, type_, memory, sizes, parts)
    write(kernel)
    return kernel.finish()
