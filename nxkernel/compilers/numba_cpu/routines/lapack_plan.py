"""Planning of linear algebra: which routine of LAPACK runs on each matrix, and in which memory."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.routines import lapack_kernels
from nxkernel.compilers.numba_cpu.routines.kernel_builder import name_of
from nxkernel.compilers.numba_cpu.routines.routine_table import (
    ArgumentKind,
    Launch,
    LaunchArgument,
    NativeRoutine,
    Results,
    by_library,
    routine,
)
from nxkernel.graph.expr import Expr
from nxkernel.shapes import ceil_div
from nxkernel.types import Type

#: The types that LAPACK has.
_TYPES = frozenset([types.f32, types.f64, types.c64, types.c128])
#: Each part of a slot of scratch memory begins at a multiple of so many bytes.
_ALIGNED = 64
#: A batch is cut into so many parts, or fewer: no processor of today has more cores that share memory well.
_PARTS = 64
#: Bytes of scratch memory that a batch may take so that it has more parts than there are processors.
_SCRATCH = 1 << 26
#: Columns that LAPACK works on at a time are at most so many; memory for more of them is of no use to it.
_BLOCK = 64
#: Rows from which NumPy's own LAPACK is not asked for singular vectors in single precision, whatever their signs.
_LARGE = 48
#: LAPACK's integers have 32 bits.
_LARGEST = (1 << 31) - 1


@dataclass(frozen=True)
class _Call:
    """A routine of LAPACK for one matrix of a batch.

    Parameters
    ----------
    name : str
        Of the function that writes its kernel, in :mod:`~nxkernel.compilers.numba_cpu.routines.lapack_kernels`.
    routine : str
        LAPACK's name, without the letter of a type.
    options : mapping
        What else the kernel's code depends on.
    sizes : mapping of str to int
        Its scalar parameters.
    parts : mapping of str to int
        Bytes of each part of a slot of scratch memory.
    work : int
        What one matrix costs, in simple instructions.
    """

    name: str
    routine: str
    options: Mapping[str, object]
    sizes: Mapping[str, int]
    parts: Mapping[str, int]
    work: int

    def launch(self, node: Expr, results: Results) -> NativeRoutine:
        """The launch for all matrices of a node."""
        operand = node.operands[0]
        count = math.prod(operand.shape[:-2])
        places: dict[str, int] = {}
        slot = 0
        for name, size in self.parts.items():
            places[name] = slot
            slot += ceil_div(size, _ALIGNED) * _ALIGNED
        parts = min(count, _PARTS, max(os.cpu_count() or 1, _SCRATCH // max(slot, 1)))
        memory = [LaunchArgument(ArgumentKind.OPERAND, number) for number in range(len(node.operands))]
        memory += [LaunchArgument(ArgumentKind.RESULT, place) for place, one in enumerate(results) if one is not None]
        scratch = [LaunchArgument(ArgumentKind.SCRATCH, 0)] if self.parts else []
        type_ = operand.type
        symbol = name_of("lapack", self.name, type_, sorted(self.options.items()), *self.sizes, *self.parts)
        return NativeRoutine(
            (
                Launch(
                    symbol,
                    functools.partial(self._text, symbol, type_, len(memory)),
                    (*memory, *scratch),
                    (parts, count, slot, *self.sizes.values(), *places.values()),
                    parts,
                    self.work * ceil_div(count, parts),
                    f"{node.primitive.name} of {operand.spec} by LAPACK's {self.routine}",
                    _algorithm(self.routine, node),
                    blas=parts > 1,
                ),
            ),
            slot * parts,
        )

    def _text(self, symbol: str, type_: Type, memory: int) -> str:
        write = functools.partial(getattr(lapack_kernels, self.name), **self.options)
        return lapack_kernels.text(symbol, type_, memory, list(self.sizes), list(self.parts), write)


def _algorithm(routine: str, node: Expr) -> str:
    """The kernel in the words of Python."""
    given = ", ".join("ab"[: len(node.operands)])
    return f'''\
def {node.primitive.name}({given}, result):
    """Each matrix by itself; what it gives is NaN where LAPACK finds no result."""
    for matrix in parts_of_batch:
        result[matrix] = lapack.{routine}({", ".join(f"{name}[matrix]" for name in given.split(", "))})
'''


def _planned(make: Callable[[Expr, Sequence[bool]], _Call]) -> Callable[[Expr, Results], NativeRoutine]:
    """A routine by LAPACK, where it has the type, and by way of Python where not."""

    @functools.wraps(make)
    def plan(node: Expr, results: Results) -> NativeRoutine:
        shapes = [operand.shape for operand in node.operands]
        has_types = all(operand.type in _TYPES and operand.type == node.operands[0].type for operand in node.operands)
        if not has_types or not all(map(math.prod, shapes)) or not any(result is not None for result in results):
            return by_library(node, results)
        call = make(node, [result is not None for result in results])
        if max([*call.sizes.values(), *(math.prod(shape[-2:]) for shape in shapes)]) > _LARGEST:
            return by_library(node, results)
        return call.launch(node, results)

    return plan


def _square(node: Expr) -> tuple[int, int]:
    """Rows of the matrices, and bytes of an element."""
    operand = node.operands[0]
    return operand.shape[-1], operand.type.size


@routine(p.cholesky)
@_planned
def _cholesky(node: Expr, wanted: Sequence[bool]) -> _Call:
    n, _ = _square(node)
    return _Call("cholesky", "potrf", {}, {"n": n}, {}, n**3 // 12)


@routine(p.solve)
@_planned
def _solve(node: Expr, wanted: Sequence[bool]) -> _Call:
    n, size = _square(node)
    columns = node.shape[-1]
    parts = {"matrix": n * n * size, "right": n * columns * size, "pivots": 4 * n}
    return _Call("solve", "gesv", {}, {"n": n, "columns": columns}, parts, (n**3 + 2 * n * n * columns) // 4)


@routine(p.inverse)
@_planned
def _inverse(node: Expr, wanted: Sequence[bool]) -> _Call:
    n, size = _square(node)
    parts = {"matrix": n * n * size, "right": n * n * size, "pivots": 4 * n}
    return _Call("inverse", "gesv", {}, {"n": n}, parts, n**3)


def _determinant(node: Expr, wanted: Sequence[bool]) -> _Call:
    n, size = _square(node)
    return _Call("determinant", "getrf", {}, {"n": n}, {"matrix": n * n * size, "pivots": 4 * n}, n**3 // 4)


@routine(p.determinant)
def _real_determinant(node: Expr, results: Results) -> NativeRoutine:
    # The size of a product of complex numbers takes more than a power of two.
    return by_library(node, results) if node.type.is_complex else _planned(_determinant)(node, results)


@routine(p.lu)
@_planned
def _lu(node: Expr, wanted: Sequence[bool]) -> _Call:
    rows, columns = node.operands[0].shape[-2:]
    elements = rows * columns * node.operands[0].type.size
    parts = {"matrix": elements, "pivots": 4 * min(rows, columns)}
    options = {"wanted": tuple(wanted)}
    return _Call(
        "lu", "getrf", options, {"rows": rows, "columns": columns}, parts, rows * columns * min(rows, columns) // 4
    )


@routine(p.triangular_solve)
@_planned
def _triangular_solve(node: Expr, wanted: Sequence[bool]) -> _Call:
    n, _ = _square(node)
    columns = node.shape[-1]
    return _Call("triangular_solve", "trsm", dict(node.params), {"n": n, "columns": columns}, {}, n * n * columns // 4)


@routine(p.qr)
@_planned
def _qr(node: Expr, wanted: Sequence[bool]) -> _Call:
    rows, columns = node.operands[0].shape[-2:]
    size = node.operands[0].type.size
    inner = node.spec[0].shape[-1]
    work = _BLOCK * max(columns, inner)
    sizes = {"rows": rows, "columns": columns, "inner": inner, "work_length": work}
    parts = {"matrix": rows * max(columns, inner) * size, "tau": min(rows, columns) * size, "work": work * size}
    return _Call("qr", "geqrf", {"wanted": tuple(wanted)}, sizes, parts, 2 * rows * columns * inner // 4)


def _has_signs_of_numpy(node: Expr, results: Results) -> bool:
    """Whether the routine gives vectors of the signs that NumPy's LAPACK gives, or none.

    NumPy and SciPy come with an OpenBLAS each, which differ here in single precision.
    """
    vectors = (results[0], results[2]) if node.primitive is p.svd else results[1:]
    is_large = node.primitive is p.svd and min(node.operands[0].shape[-2:]) >= _LARGE
    return node.operands[0].type in (types.f64, types.c128) or is_large or not any(one is not None for one in vectors)


@routine(p.eigh, p.svd)
def _decomposition(node: Expr, results: Results) -> NativeRoutine:
    make = _svd if node.primitive is p.svd else _eigh
    return _planned(make)(node, results) if _has_signs_of_numpy(node, results) else by_library(node, results)


def _eigh(node: Expr, wanted: Sequence[bool]) -> _Call:
    n, size = _square(node)
    type_ = node.operands[0].type
    real = types.to_real(type_).size
    vectors, square = wanted[1], n * n if wanted[1] else 0
    if type_.is_complex:
        lengths = {"work": 2 * n + _BLOCK * n + square, "real_work": 1 + 5 * n + 2 * square}
    else:
        lengths = {"work": 1 + 6 * n + _BLOCK * n + 2 * square}
    lengths["whole_work"] = 3 + 5 * n
    bytes_of = {"work": size, "real_work": real, "whole_work": 4}
    parts = {"matrix": n * n * size, **{name: length * bytes_of[name] for name, length in lengths.items()}}
    parts |= {} if wanted[0] else {"values": n * real}
    sizes = {"n": n, **{f"{name}_length": length for name, length in lengths.items()}}
    routine_ = "heevd" if type_.is_complex else "syevd"
    return _Call("eigh", routine_, {"wanted": tuple(wanted)}, sizes, parts, (9 if vectors else 2) * n**3 // 2)


def _svd(node: Expr, wanted: Sequence[bool]) -> _Call:
    type_ = node.operands[0].type
    size, real = type_.size, types.to_real(type_).size
    rows, columns = node.operands[0].shape[-2:]
    left, right = node.spec[0].shape[-1], node.spec[2].shape[-2]
    least, most = min(rows, columns), max(rows, columns)
    bases = wanted[0] or wanted[2]
    work = (4 * least * least if bases else 0) + 10 * least + most + _BLOCK * (rows + columns)
    sizes = {"rows": rows, "columns": columns, "least": least, "left": left, "right": right, "work_length": work}
    parts = {"matrix": rows * columns * size, "work": work * size, "whole_work": 4 * 8 * least}
    if type_.is_complex:
        pair = max(5 * least * (least + 1), 2 * most * least + 2 * least * least + least) if bases else 0
        parts["real_work"] = (pair + 7 * least) * real
    parts |= {} if wanted[1] else {"values": least * real}
    parts |= {"left_basis": rows * left * size, "right_basis": right * columns * size} if bases else {}
    options = {"full": node.params["full_matrices"], "wanted": tuple(wanted)}
    return _Call("svd", "gesdd", options, sizes, parts, (20 if bases else 4) * rows * columns * least // 2)
