"""``numpy.linalg`` on traced arrays. Where NumPy raises LinAlgError for the values, the program does so afterwards."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

import nxkernel.linalg as native
from nxkernel import compile_thread, types
from nxkernel import primitives as p
from nxkernel.errors import NxLinAlgError, NxTypeError, NxValueError, message
from nxkernel.graph import tracing, values_of_call
from nxkernel.linalg import linalg_errors
from nxkernel.numpy.arrays import subscripts
from nxkernel.numpy.arrays.array import ArrayValue, as_value, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import products, reductions, shaping
from nxkernel.numpy.functions.creation import eye, tri, zeros
from nxkernel.numpy.functions.products import cross, matmul, tensordot, vecdot
from nxkernel.numpy.functions.products import linalg_outer as outer
from nxkernel.numpy.functions.selection import where
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, is_number, operand, spread
from nxkernel.shapes import axes_of

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip

matrix_transpose = shaping.matrix_transpose


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: ArrayValue
    eigenvectors: ArrayValue


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: ArrayValue
    eigenvectors: ArrayValue


class QRResult(NamedTuple):
    """The two factors."""

    Q: ArrayValue
    R: ArrayValue


class SVDResult(NamedTuple):
    """The three factors."""

    U: ArrayValue
    S: ArrayValue
    Vh: ArrayValue


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: ArrayValue
    logabsdet: ArrayValue


def _matrix(a: Any, square: bool = False) -> Operand:
    value = operand(as_value(a))
    if len(value.shape) < 2 or (square and value.shape[-1] != value.shape[-2]):
        raise NxLinAlgError(f"expected {'square ' * square}matrices in the last two axes, got {value.spec}")
    if value.type is types.f16:
        raise NxTypeError(message("array type float16 is unsupported in linalg, as in NumPy.", "Convert it first."))
    return convert(value, types.to_floating(value.type))


def cholesky(a: Any, /, *, upper: bool = False) -> ArrayValue:
    """The Cholesky factor, lower or upper, as :func:`numpy.linalg.cholesky`."""
    matrix = _matrix(a, True)
    result = wrap(apply(p.cholesky, matrix))
    linalg_errors.refuse_indefinite(operand(result), matrix)
    return e.conjugate(result.mT) if upper else result


def inv(a: Any) -> ArrayValue:
    """The inverse, as :func:`numpy.linalg.inv`."""
    matrix = _matrix(a, True)
    result = wrap(apply(p.inverse, matrix))
    linalg_errors.refuse_singular(operand(result), matrix)
    return result


def solve(a: Any, b: Any) -> ArrayValue:
    """The solution of a system of linear equations, as :func:`numpy.linalg.solve`."""
    left, right = _matrix(a, True), operand(as_value(b))
    given = right.spec
    type_ = types.to_floating(types.merge(left.type, right.type))
    left, right = convert(left, type_), convert(right, type_)
    vector = len(right.shape) == 1
    if vector:
        right = operand(wrap(right)[:, None])
    if right.shape[-2:-1] != left.shape[-1:]:
        raise NxValueError(f"solve: a {left.spec} has no solutions for a right side {given}")
    batch = shaping.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left, right = (spread(side, batch + side.shape[-2:]) for side in (left, right))
    result = wrap(apply(p.solve, left, right))
    linalg_errors.refuse_singular(operand(result), left, right)
    return result[..., 0] if vector else result


def det(a: Any) -> ArrayValue:
    """The determinant, as :func:`numpy.linalg.det`."""
    return wrap(operand(native.determinant(_matrix(a, True))))


def slogdet(a: Any) -> SlogdetResult:
    """The sign and log-absolute value of the determinant, as :func:`numpy.linalg.slogdet`."""
    packed, order = map(wrap, apply(p.lu, _matrix(a, True)))
    pivots = products.diagonal(packed, axis1=-2, axis2=-1)
    size = order.shape[-1]
    later = e.greater(order[..., :, None], order[..., None, :])
    swaps = reductions.sum(e.logical_and(later, as_value(_above(size))), axis=(-2, -1))
    sign = where(e.equal(e.mod(swaps, 2), 0), 1.0, -1.0)
    sizes = e.absolute(pivots)
    return SlogdetResult(
        e.multiply(sign, reductions.prod(e.sign(pivots), axis=-1)).astype(packed.dtype),
        reductions.sum(e.log(sizes), axis=-1),
    )


def _above(size: int) -> Any:
    return tri(size, dtype=bool).T


def qr(a: Any, mode: str = "reduced") -> Any:
    """The QR factorization, as :func:`numpy.linalg.qr`."""
    if mode not in ("reduced", "complete", "r"):
        raise NxValueError(f'qr: mode is "reduced", "complete" or "r", got {mode!r}')
    q, r = map(wrap, apply(p.qr, _matrix(a), mode="reduced" if mode == "r" else mode))
    return r if mode == "r" else QRResult(q, r)


def eigh(a: Any, UPLO: str = "L") -> EighResult:  # noqa: N803 - NumPy's name
    """Eigenvalues (ascending) and eigenvectors of symmetric or Hermitian matrices, as :func:`numpy.linalg.eigh`."""
    value = wrap(_matrix(a, True))
    if UPLO.upper() == "U":
        value = e.conjugate(value.mT)
    result = EighResult(*map(wrap, apply(p.eigh, operand(value))))
    linalg_errors.refuse_nan(operand(result.eigenvalues), operand(value), linalg_errors.NO_EIGENVALUES)
    return result


def eigvalsh(a: Any, UPLO: str = "L") -> ArrayValue:  # noqa: N803 - NumPy's name
    """Eigenvalues of symmetric or Hermitian matrices, as :func:`numpy.linalg.eigvalsh`."""
    return eigh(a, UPLO).eigenvalues


def eig(a: Any) -> EigResult:
    """Eigenvalues and eigenvectors of general matrices, as :func:`numpy.linalg.eig`, computed by NumPy in the program.

    Those of real matrices are real where all of them are, so that it is asked for a call whether they are; in loops and
    under transforms, where only the running program knows, they are complex.
    """
    return EigResult(*_real_where_all_are(a, _eigenpairs(a)))


def eigvals(a: Any) -> ArrayValue:
    """Eigenvalues of general matrices, as :func:`numpy.linalg.eigvals`; real or complex as those of :func:`eig`."""
    return _real_where_all_are(a, _eigenpairs(a)[:1])[0]


def _eigenpairs(a: Any) -> tuple[ArrayValue, ...]:
    compile_thread.load("nxkernel.numpy.scipy.called_algebra")
    from nxkernel.numpy.scipy import called_algebra

    return called_algebra.eigenpairs(a, np.linalg.eig, "numpy")


def _real_where_all_are(a: Any, results: tuple[ArrayValue, ...]) -> tuple[ArrayValue, ...]:
    run = tracing.current()
    if as_value(a).type.is_complex or (run is not None and run.previous is not None):
        return results
    is_real = reductions.all(e.equal(results[0].imag, 0))
    known = bool(is_real) if run is None else values_of_call.number(is_real)
    if known is None:
        raise subscripts.needed(
            is_real,
            "eigenvalues of a real matrix are real numbers or complex ones, and only the running program knows which.",
            "np.linalg.eigh takes symmetric matrices; of a.astype(complex) all results are complex.",
        )
    return tuple([result.real.copy() for result in results]) if known else results


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The singular value decomposition, as :func:`numpy.linalg.svd`."""
    matrix = _matrix(a)
    u, s, v = map(wrap, apply(p.svd, matrix, full_matrices=bool(full_matrices and compute_uv)))
    linalg_errors.refuse_nan(operand(s), matrix, linalg_errors.NO_SINGULAR_VALUES)
    return SVDResult(u, s, v) if compute_uv else s


def svdvals(x: Any, /) -> ArrayValue:
    """The singular values, as :func:`numpy.linalg.svdvals`."""
    return svd(x, compute_uv=False)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ArrayValue:  # noqa: N803
    """The number of singular values above a tolerance, as :func:`numpy.linalg.matrix_rank`."""
    import numpy as np

    A = as_value(A)
    if A.ndim < 2:
        return reductions.any(e.not_equal(A, 0)).astype(np.int64)
    values = svdvals(A)
    if tol is None:
        share = max(A.shape[-2:]) * float(np.finfo(values.dtype).eps) if rtol is None else _of_each(rtol)
        tol = e.multiply(reductions.max(values, axis=-1, keepdims=True), share)
    return reductions.sum(e.greater(values, tol), axis=-1)


def _of_each(tolerance: Any) -> Any:
    """A tolerance of each matrix beside its singular values."""
    return tolerance if is_number(tolerance) else as_value(tolerance)[..., None]


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ArrayValue:
    """The Moore-Penrose pseudoinverse, as :func:`numpy.linalg.pinv`."""
    u, s, v = svd(e.conjugate(wrap(_matrix(a))), full_matrices=False)
    share = _of_each(next((tolerance for tolerance in (rtol, rcond) if tolerance is not None), 1e-15))
    large = e.greater(s, e.multiply(share, reductions.max(s, axis=-1, keepdims=True)))
    s = where(large, e.divide(1, where(large, s, 1)), 0)
    return matmul(v.mT, e.multiply(s[..., None], u.mT))


def diagonal(x: Any, /, *, offset: int = 0) -> ArrayValue:
    """Diagonals of matrices in the last two axes, as :func:`numpy.linalg.diagonal`."""
    return products.diagonal(x, offset, axis1=-2, axis2=-1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> ArrayValue:
    """Sums of the diagonals of matrices in the last two axes, as :func:`numpy.linalg.trace`."""
    return products.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> ArrayValue:
    """The solution `x` of ``tensordot(a, x, x.ndim) = b``, as :func:`numpy.linalg.tensorsolve`."""
    matrix, right = as_value(a), as_value(b)
    if axes is not None:
        moved = [axis % matrix.ndim for axis in axes]
        matrix = matrix.transpose([axis for axis in range(matrix.ndim) if axis not in moved] + moved)
    shape = matrix.shape[right.ndim :]
    if math.prod(shape) != right.size:
        raise NxValueError(f"tensorsolve: {matrix.shape} and {right.shape} make no square matrix")
    return solve(matrix.reshape(right.size, -1), right.reshape(-1)).reshape(shape)


def tensorinv(a: Any, ind: int = 2) -> ArrayValue:
    """The inverse with respect to ``tensordot(a, b, ind)``, as :func:`numpy.linalg.tensorinv`."""
    value = as_value(a)
    if ind <= 0:
        raise NxValueError(f"tensorinv: ind is positive, got {ind}")
    return inv(value.reshape(math.prod(value.shape[:ind]), -1)).reshape((*value.shape[ind:], *value.shape[:ind]))


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[ArrayValue, ArrayValue, ArrayValue, ArrayValue]:
    """The least-squares solution of linear equations, as :func:`numpy.linalg.lstsq`, for matrices of full rank."""
    matrix, right = wrap(_matrix(a)), as_value(b)
    # All of it is of the type that both have in common.
    matrix = matrix.astype(types.merge(matrix.type, types.to_floating(right.type)).dtype)
    u, s, v = svd(matrix, full_matrices=False)
    share = float(np.finfo(s.dtype).eps) * max(matrix.shape) if rcond is None else rcond
    large = e.greater(s, e.multiply(share, s[0]))
    inverse = where(large, e.divide(1, where(large, s, 1)), 0)
    columns = right[:, None] if right.ndim == 1 else right
    result = matmul(e.conjugate(v.T), e.multiply(inverse[:, None], matmul(e.conjugate(u.T), columns)))
    away = e.absolute(e.subtract(matmul(matrix, result), columns))
    # Where there are no more equations than unknowns nothing is left over, and NumPy gives no sums.
    rest = reductions.sum(e.square(away), axis=0) if matrix.shape[0] > matrix.shape[1] else zeros(0, s.dtype)
    result = result[:, 0] if right.ndim == 1 else result
    return result, rest, reductions.sum(large).astype("int32"), s


def matrix_power(a: Any, n: int) -> ArrayValue:
    """A power of a square matrix, as :func:`numpy.linalg.matrix_power`."""
    value = as_value(a)
    if n < 0:
        return matrix_power(inv(value), -n)
    result = None
    if n == 0:
        return shaping.broadcast_to(eye(value.shape[-1], dtype=value.type), value.shape).copy()
    while n:
        if n % 2:
            result = value if result is None else matmul(result, value)
        n //= 2
        value = matmul(value, value) if n else value
    return result


def multi_dot(arrays: Any, *, out: Any = None) -> ArrayValue:
    """The product of several matrices, from left to right, as :func:`numpy.linalg.multi_dot`."""
    *some, last = arrays
    return products.dot(functools.reduce(products.dot, some), last, out)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> ArrayValue:
    """The norm of vectors or matrices, as :func:`numpy.linalg.norm`."""
    value = as_value(x)
    if value.type.is_integer:
        value = value.astype("float64")
    if axis is None and ord is None:
        return e.sqrt(reductions.sum(_squares(value), keepdims=keepdims))
    axes = axes_of(axis, value.ndim) if axis is None or isinstance(axis, int) else tuple(axis)
    if len(axes) == 1:
        return _vector_norm(value, 2 if ord is None else ord, axes[0], keepdims)
    if len(axes) != 2:
        raise NxValueError(f"norm goes over one axis or two, got {len(axes)}")
    return _matrix_norm(value, "fro" if ord is None else ord, tuple(k % value.ndim for k in axes), keepdims)


def _squares(value: ArrayValue) -> ArrayValue:
    if value.type.is_complex:
        return e.add(e.square(value.real), e.square(value.imag))
    return e.square(value)


def _vector_norm(value: ArrayValue, order: Any, axis: Any, keepdims: bool) -> ArrayValue:
    if order == 2:
        return e.sqrt(reductions.sum(_squares(value), axis, keepdims=keepdims))
    sizes = e.absolute(value)
    if order == math.inf:
        return reductions.max(sizes, axis, keepdims=keepdims, initial=0)
    if order == -math.inf:
        return reductions.min(sizes, axis, keepdims=keepdims)
    if order == 0:
        return reductions.sum(e.not_equal(value, 0).astype(sizes.dtype), axis, keepdims=keepdims)
    if order == 1:
        return reductions.sum(sizes, axis, keepdims=keepdims)
    return e.power(reductions.sum(e.power(sizes, order), axis, keepdims=keepdims), 1.0 / order)


def _matrix_norm(value: ArrayValue, order: Any, axes: tuple[int, int], keepdims: bool) -> ArrayValue:
    if order == "fro":
        return e.sqrt(reductions.sum(_squares(value), axes, keepdims=keepdims))
    rows, columns = axes
    if order in (1, -1, math.inf, -math.inf):
        over, other = (rows, columns) if abs(order) == 1 else (columns, rows)
        lines = reductions.sum(e.absolute(value), over, keepdims=True)
        result = (reductions.max if order > 0 else reductions.min)(lines, other, keepdims=True)
        return result if keepdims else shaping.squeeze(result, axes)[()]
    values = svdvals(shaping.moveaxis(value, axes, (-2, -1)))
    choices = {2: reductions.max, -2: reductions.min, "nuc": reductions.sum}
    if order not in choices:
        raise NxValueError(f"norm of matrices: ord={order!r} is none of 'fro', 'nuc', 1, -1, 2, -2, inf, -inf")
    result = choices[order](values, axis=-1)
    return shaping.expand_dims(result, axes) if keepdims else result


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> ArrayValue:
    """The norm of vectors, as :func:`numpy.linalg.vector_norm`."""
    value = as_value(x)
    value = value.astype("float64") if value.type.is_integer else value
    return _vector_norm(value, ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> ArrayValue:
    """The norm of matrices, as :func:`numpy.linalg.matrix_norm`."""
    return norm(x, ord, (-2, -1), keepdims)


def cond(x: Any, p: Any = None) -> ArrayValue:
    """The condition number, as :func:`numpy.linalg.cond`."""
    if p is None or p in (2, -2):
        values = svdvals(x)
        one, other = values[..., 0], values[..., -1]
        found = e.divide(one, other) if p != -2 else e.divide(other, one)
    else:
        with linalg_errors.collecting([]):
            inverse = inv(x)
        found = e.multiply(norm(x, p, (-2, -1)), norm(inverse, p, (-2, -1)))
    # Of numbers alone it is infinite where it cannot be computed.
    counts = e.logical_not(reductions.any(e.isnan(x), axis=(-2, -1)))
    return where(e.logical_and(e.isnan(found), counts), np.asarray(np.inf, found.dtype), found)
