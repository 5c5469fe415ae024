"""``scipy.linalg`` on traced arrays: equations and factorizations.

Where SciPy raises for the values, the program does so when it has run; in loops, results are NaN. All take matrices in
the last two axes. The triangle of a factor that is not read is that of the matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nxkernel.linalg as native
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxLinAlgError, NxTypeError, NxValueError, message
from nxkernel.linalg import factor_solving, linalg_errors
from nxkernel.numpy import linalg as numpys
from nxkernel.numpy.arrays.array import ArrayValue, as_value, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions, shaping
from nxkernel.numpy.functions.creation import eye, tril, triu
from nxkernel.numpy.functions.products import matmul
from nxkernel.numpy.functions.selection import take_along_axis, where
from nxkernel.ops.machinery.dispatch import apply, convert, operand

__all__ = [
    "cho_factor", "cho_solve", "cholesky", "det", "eigh", "eigvalsh", "inv", "lstsq", "lu", "lu_factor",
    "lu_solve", "norm", "pinv", "polar", "qr", "solve", "solve_triangular", "svd", "svdvals",
]  # fmt: skip


def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: Any = True) -> ArrayValue:
    """A norm of vectors or matrices, as :func:`scipy.linalg.norm`."""
    _refuse_not_finite(check_finite, a)
    return numpys.norm(a, ord, axis, keepdims)


def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: Any = False, overwrite_b: Any = False, check_finite: Any = True,
    assume_a: Any = None, transposed: bool = False,
) -> ArrayValue:  # fmt: skip
    """The solution of linear equations, as :func:`scipy.linalg.solve`."""
    _refuse_not_finite(check_finite, a, b)
    value, right = as_value(a), as_value(b)
    type_ = types.to_floating(types.merge(value.type, right.type))
    type_ = _of_lapack(type_)
    matrix = _of_kind("solve", _square(value.astype(type_.dtype)), assume_a, lower)
    return numpys.solve(matrix.mT if transposed else matrix, right.astype(type_.dtype))


def _refuse_not_finite(check_finite: Any, *given: Any) -> None:
    for one in given if check_finite else ():
        if one is not None:
            linalg_errors.refuse_not_finite(operand(as_value(one)))


def _of_kind(name: str, matrix: ArrayValue, assume_a: Any, lower: bool) -> ArrayValue:
    """The matrix of which `assume_a` says the kind, with the elements that are not read as they would be."""
    if assume_a in ("sym", "her", "pos", "symmetric", "hermitian", "positive definite"):
        # One triangle is read.
        below = tril(matrix, -1) if lower else e.conjugate(triu(matrix, 1).mT)
        above = below.mT if assume_a in ("sym", "symmetric") else e.conjugate(below.mT)
        matrix = e.add(e.add(below, above), e.multiply(matrix, eye(matrix.shape[-1], dtype=matrix.dtype)))
    elif assume_a in ("upper triangular", "lower triangular"):
        matrix = triu(matrix) if assume_a.startswith("upper") else tril(matrix)
    elif assume_a == "diagonal":
        matrix = e.multiply(matrix, eye(matrix.shape[-1], dtype=matrix.dtype))
    elif assume_a not in (None, "gen", "general", "banded", "tridiagonal"):
        raise NxValueError(f"{name}: assume_a is no kind of matrix: {assume_a!r}")
    return matrix


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: Any = False,
    check_finite: Any = True,
) -> ArrayValue:  # fmt: skip
    """The solution of triangular equations, as :func:`scipy.linalg.solve_triangular`."""
    _refuse_not_finite(check_finite, a, b)
    operations = {0: "none", "N": "none", 1: "transpose", "T": "transpose", 2: "conjugate", "C": "conjugate"}
    if trans not in operations:
        raise NxValueError(f'trans is 0 or "N", 1 or "T", 2 or "C", got {trans!r}')
    matrix = _with_ones(_square(a)) if unit_diagonal else _square(a)
    return _solved(matrix, b, lower, operations[trans])


def _square(a: Any) -> ArrayValue:
    value = _matrix(a)
    if value.shape[-1] != value.shape[-2]:
        raise NxLinAlgError(f"expected square matrices in the last two axes, got {operand(value).spec}")
    return value


def _matrix(a: Any) -> ArrayValue:
    value = as_value(a)
    if value.ndim < 2:
        raise NxValueError(f"expected matrices in the last two axes, got {operand(value).spec}")
    return value.astype(_of_lapack(value.type).dtype)


def _of_lapack(type_: types.Type) -> types.Type:
    """The type in which SciPy has LAPACK compute: the narrower one for all that it holds."""
    if type_ is types.bool_ or (type_.bits <= 16 and not type_.is_complex):
        return types.f32
    return types.to_floating(type_)


def _with_ones(matrix: ArrayValue) -> ArrayValue:
    unit = eye(matrix.shape[-1], dtype=bool)
    return where(unit, 1, matrix).astype(matrix.dtype)


def _solved(matrix: ArrayValue, b: Any, lower: bool, transform: str) -> ArrayValue:
    """The solution of triangular equations; a right side of one axis is a vector, as everywhere in SciPy."""
    right = as_value(b)
    type_ = types.merge(matrix.type, _of_lapack(right.type))
    vector = right.ndim == 1
    columns = operand(right[:, None] if vector else right)
    batch = shaping.broadcast_shapes(matrix.shape[:-2], columns.shape[:-2])
    sides = [
        convert(operand(shaping.broadcast_to(wrap(side), batch + side.shape[-2:])), type_)
        for side in (operand(matrix), columns)
    ]
    x = wrap(apply(p.triangular_solve, *sides, lower=bool(lower), transform=transform))
    return x[..., 0] if vector else x


def inv(
    a: Any, overwrite_a: Any = False, check_finite: Any = True, *, assume_a: Any = None, lower: bool = False
) -> ArrayValue:
    """The inverse, as :func:`scipy.linalg.inv`."""
    _refuse_not_finite(check_finite, a)
    return numpys.inv(_of_kind("inv", _square(a), assume_a, lower))


def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> ArrayValue:
    """The determinant, as :func:`scipy.linalg.det`."""
    _refuse_not_finite(check_finite, a)
    matrix = _square(a)
    return numpys.det(matrix.astype("complex128" if matrix.type.is_complex else "float64"))


def pinv(
    a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False, check_finite: Any = True
) -> Any:  # fmt: skip
    """The Moore-Penrose pseudoinverse, as :func:`scipy.linalg.pinv`."""
    _refuse_not_finite(check_finite, a)
    matrix = _matrix(a)
    u, s, vh = numpys.svd(matrix, full_matrices=False)
    if rtol is None:
        rtol = max(matrix.shape[-2:]) * float(np.finfo(s.dtype).eps) if atol is None else 0.0
    least = e.add(0.0 if atol is None else atol, e.multiply(rtol, reductions.max(s, axis=-1, keepdims=True)))
    large = e.greater(s, least)
    inverse = where(large, e.divide(1, where(large, s, 1)), 0)
    result = e.conjugate(matmul(e.multiply(u, inverse[..., None, :]), vh).mT)
    return (result, reductions.sum(large, axis=-1)) if return_rank else result


def lstsq(
    a: Any, b: Any, cond: Any = None, overwrite_a: Any = False, overwrite_b: Any = False, check_finite: Any = True,
    lapack_driver: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The least-squares solution of linear equations, as :func:`scipy.linalg.lstsq`, for matrices of full rank."""
    _refuse_not_finite(check_finite, a, b)
    matrix, right = _matrix(a), as_value(b)
    type_ = types.merge(matrix.type, _of_lapack(right.type))
    share = float(np.finfo(types.to_real(type_).dtype).eps) if cond is None else cond
    x, rest, rank, s = numpys.lstsq(matrix.astype(type_.dtype), right.astype(type_.dtype), share)
    return x, rest[0] if right.ndim == 1 and rest.shape == (1,) else rest, rank.astype("int64"), s


# Factorizations --------------------------------------------------------------------------------------------------


def cholesky(a: Any, lower: bool = False, overwrite_a: Any = False, check_finite: Any = True) -> ArrayValue:
    """The Cholesky factor, upper unless asked otherwise, as :func:`scipy.linalg.cholesky`."""
    _refuse_not_finite(check_finite, a)
    matrix = _square(a)
    factor = numpys.cholesky(matrix if lower else e.conjugate(matrix.mT))
    return factor if lower else e.conjugate(factor.mT)


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: Any = False, check_finite: Any = True
) -> tuple[ArrayValue, bool]:
    """A Cholesky factor and which triangle it is, as :func:`scipy.linalg.cho_factor`."""
    _refuse_not_finite(check_finite, a)
    matrix = _square(a)
    rest = triu(matrix, 1) if lower else tril(matrix, -1)
    return e.add(cholesky(matrix, lower, check_finite=False), rest), bool(lower)


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> ArrayValue:
    """The solution of linear equations by a Cholesky factor, as :func:`scipy.linalg.cho_solve`."""
    _refuse_not_finite(check_finite, c_and_lower[0], b)
    factor, lower = c_and_lower
    factor = _square(factor)
    if lower:
        return _solved(factor, _solved(factor, b, True, "none"), True, "conjugate")
    return _solved(factor, _solved(factor, b, False, "conjugate"), False, "none")


def lu(
    a: Any, permute_l: bool = False, overwrite_a: Any = False, check_finite: Any = True, p_indices: bool = False
) -> tuple[ArrayValue, ...]:
    """The LU factorization of square matrices, as :func:`scipy.linalg.lu`."""
    _refuse_not_finite(check_finite, a)
    permutation, low, up = (wrap(operand(part)) for part in native.lu(operand(_square(a))))
    if permute_l:
        return matmul(permutation, low), up
    if p_indices:
        return reductions.argmax(permutation, axis=-1).astype("int32"), low, up
    return permutation, low, up


def lu_factor(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> tuple[ArrayValue, ArrayValue]:
    """Both factors in one matrix, and the exchanges of rows, as :func:`scipy.linalg.lu_factor`."""
    _refuse_not_finite(check_finite, a)
    packed, order = map(wrap, apply(p.lu, operand(_square(a))))
    return packed, wrap(factor_solving.exchanges_of(operand(order)))


def lu_solve(
    lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: Any = False, check_finite: Any = True
) -> ArrayValue:  # fmt: skip
    """The solution of linear equations by an LU factorization, as :func:`scipy.linalg.lu_solve`."""
    _refuse_not_finite(check_finite, lu_and_piv[0], b)
    packed, swaps = _square(lu_and_piv[0]), as_value(lu_and_piv[1])
    right = as_value(b)
    if trans not in (0, 1, 2):
        raise NxValueError(f"lu_solve: trans is 0, 1 or 2, got {trans!r}")
    order = wrap(factor_solving.order_of(operand(swaps)))
    low = _with_ones(packed)
    vector = right.ndim == 1
    columns = right[:, None] if vector else right
    if not trans:
        picked = take_along_axis(*_together(columns, order), axis=-2)
        x = _solved(packed, _solved(low, picked, True, "none"), False, "none")
    else:
        transform = "transpose" if trans == 1 else "conjugate"
        solved = _solved(low, _solved(packed, columns, False, transform), True, transform)
        places = wrap(factor_solving.inverse_of(operand(order)))
        x = take_along_axis(*_together(solved, places), axis=-2)
    return x[..., 0] if vector else x


def _together(columns: ArrayValue, order: ArrayValue) -> tuple[ArrayValue, ArrayValue]:
    batch = shaping.broadcast_shapes(columns.shape[:-2], order.shape[:-1])
    shape = (*batch, *columns.shape[-2:])
    return shaping.broadcast_to(columns, shape), shaping.broadcast_to(order[..., :, None], shape)


def qr(
    a: Any, overwrite_a: Any = False, lwork: Any = None, mode: str = "full", pivoting: bool = False,
    check_finite: Any = True,
) -> Any:  # fmt: skip
    """The QR factorization, as :func:`scipy.linalg.qr`."""
    _refuse_not_finite(check_finite, a)
    if pivoting or mode not in ("full", "r", "economic"):
        what = "pivoting=True" if pivoting else f"mode={mode!r}"
        raise NxTypeError(message(f"qr({what}) is not there in a program.", "Call it before, and pass what it gives."))
    q, r = numpys.qr(_matrix(a), "reduced" if mode == "economic" else "complete")
    return (r,) if mode == "r" else (q, r)


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: Any = False, check_finite: Any = True,
    lapack_driver: Any = "gesdd",
) -> Any:  # fmt: skip
    """The singular value decomposition, as :func:`scipy.linalg.svd`."""
    _refuse_not_finite(check_finite, a)
    found = numpys.svd(_matrix(a), full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def svdvals(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> ArrayValue:
    """The singular values, as :func:`scipy.linalg.svdvals`."""
    _refuse_not_finite(check_finite, a)
    return numpys.svdvals(_matrix(a))


def eigh(
    a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, overwrite_a: Any = False,
    overwrite_b: Any = False, type: int = 1, check_finite: Any = True, subset_by_index: Any = None,
    subset_by_value: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    """Eigenvalues and eigenvectors of Hermitian matrices, as :func:`scipy.linalg.eigh`."""
    _refuse_not_finite(check_finite, a, b)
    if subset_by_value is not None or (b is not None and type != 1):
        what = "subset_by_value" if subset_by_value is not None else f"type={type!r}"
        raise NxTypeError(message(f"eigh({what}) is not there in a program.", "Call it before the definition."))
    matrix = _square(a)
    matrix = matrix if lower else e.conjugate(matrix.mT)
    factor = None
    if b is not None:
        other = _square(b)
        factor = numpys.cholesky(other if lower else e.conjugate(other.mT))
        whole = e.add(tril(matrix), e.conjugate(tril(matrix, -1).mT))
        half = _solved(factor, whole, True, "none")
        matrix = e.conjugate(_solved(factor, e.conjugate(half.mT), True, "none").mT)
    values, vectors = numpys.eigh(matrix)
    if factor is not None:
        vectors = _solved(factor, vectors, True, "conjugate")
    if subset_by_index is not None:
        first, last = subset_by_index
        values, vectors = values[..., first : last + 1], vectors[..., first : last + 1]
    return values if eigvals_only else (values, vectors)


def eigvalsh(a: Any, b: Any = None, **options: Any) -> ArrayValue:
    """Eigenvalues of Hermitian matrices, as :func:`scipy.linalg.eigvalsh`."""
    return eigh(a, b, eigvals_only=True, **options)


def polar(a: Any, side: str = "right") -> tuple[ArrayValue, ArrayValue]:
    """A unitary and a positive factor, as :func:`scipy.linalg.polar`."""
    if side not in ("right", "left"):
        raise NxValueError(f'polar: side is "right" or "left", got {side!r}')
    w, s, vh = numpys.svd(_matrix(a), full_matrices=False)
    outer = w if side == "left" else e.conjugate(vh.mT)
    return matmul(w, vh), matmul(e.multiply(outer, s[..., None, :]), e.conjugate(outer.mT))
