"""Matrix factorizations: Cholesky, LU, QR, eigenvalues, singular values.

References
----------
G. H. Golub and C. F. Van Loan, "Matrix Computations", 4th edition, 2013. The routines are LAPACK's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.graph.expr import Expr
from nxkernel.linalg._matrices import back, computed, matrices, unnamed
from nxkernel.linalg.called_routines import eigenpairs
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.arithmetic.comparison import equal, logical_not, not_equal, select
from nxkernel.ops.machinery.dispatch import apply, convert, filled, spread
from nxkernel.ops.reductions.reduction import any as any_
from nxkernel.ops.shapes.diagonals import take_diagonal
from nxkernel.ops.shapes.gathering import take_along_axis
from nxkernel.ops.shapes.shaping import new_axis
from nxkernel.ops.shapes.sorting import argsort
from nxkernel.ops.tensors.creation import eye, iota, tril, triu
from nxkernel.tensor.tensor import Tensor

Value = Tensor | Expr


def cholesky(tensor: Any) -> Value:
    """The Cholesky factor of positive definite matrices: the lower triangular ``l`` with ``a = l @ adjoint(l)``.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes, symmetric or Hermitian: only what is on and below the diagonal is read.

    Returns
    -------
    Tensor
        Of the same shape and names; integers become f32. A matrix that is not positive definite gives NaN.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Examples
    --------
    >>> nx.linalg.cholesky([[4.0, 2.0], [2.0, 10.0]]).to_list()
    [[2.0, 0.0], [1.0, 3.0]]
    """
    tensor, type_ = computed(matrices(tensor, "cholesky", square=True))
    return back(apply(primitives.cholesky, tensor), type_)


def lu(tensor: Any) -> tuple[Value, Value, Value]:
    """LU decomposition of square matrices: a permutation, a lower and an upper triangular factor.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes.

    Returns
    -------
    tuple of three tensors
        ``p``, in the type of `tensor`, ``l`` with ones on the diagonal, and ``u``, so that ``p @ l @ u`` is `tensor`.
        Integers become f32 in ``l`` and ``u``.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Examples
    --------
    >>> p, l, u = nx.linalg.lu([[1, 2], [2, 2]])
    >>> p.to_list(), l.to_list(), u.to_list()
    ([[0, 1], [1, 0]], [[1.0, 0.0], [0.5, 1.0]], [[2.0, 2.0], [0.0, 1.0]])
    """
    original = matrices(tensor, "lu", square=True)
    factor, type_ = computed(unnamed(original))
    packed, order = apply(primitives.lu, factor)
    rows = iota(packed.shape, axis=packed.rank - 2)
    permutation = convert(equal(rows, new_axis(order, -2)), original.type)
    lower = elementwise.add(tril(packed, k=-1), eye(packed.shape, type=packed.type))
    return permutation, back(lower, type_), back(triu(packed), type_)


def qr(tensor: Any, *, mode: str = "reduced", eps: float = 1e-10) -> tuple[Value, Value]:
    """QR decomposition of matrices: orthonormal columns, and an upper triangular factor.

    Parameters
    ----------
    tensor : tensor
        Matrices of `m` rows and `n` columns in the last two axes.
    mode : {"reduced", "complete"}, optional
        Whether ``q`` has ``min(m, n)`` columns or `m`.
    eps : float, optional
        Not used: LAPACK needs no threshold.

    Returns
    -------
    tuple of two tensors
        ``q`` and ``r``, so that ``q @ r`` is `tensor`. Integers become f32. The signs of the columns of ``q`` are
        LAPACK's.

    Raises
    ------
    NxValueError
        For less than two axes, or another mode.

    Examples
    --------
    >>> q, r = nx.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> nx.all_close(nx.dot(q, r), [[3.0, 1.0], [4.0, 2.0]]).to_list()
    True
    """
    if mode not in ("reduced", "complete"):
        raise NxValueError(f'qr: mode is "reduced" or "complete", got {mode!r}')
    tensor, type_ = computed(unnamed(matrices(tensor, "qr")))
    q, r = apply(primitives.qr, tensor, mode=mode)
    return back(q, type_), back(r, type_)


def eigh(tensor: Any, *, max_iter: int = 1000, eps: float = 1e-4) -> tuple[Value, Value]:
    """The eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes; only what is on and below the diagonal is read.
    max_iter, eps : optional
        Not used: LAPACK needs neither.

    Returns
    -------
    tuple of two tensors
        Eigenvalues, those of the greatest magnitude first, and the eigenvectors of length 1 in the columns of a
        matrix. A diagonal matrix keeps its order: its eigenvalues are the diagonal. Integers become f32; eigenvalues
        are real.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Examples
    --------
    >>> values, vectors = nx.linalg.eigh([[1.0, 0.0], [0.0, 2.0]])
    >>> values.to_list(), vectors.to_list()
    ([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]])
    """
    tensor, type_ = computed(unnamed(matrices(tensor, "eigh", square=True)))
    values, vectors = apply(primitives.eigh, tensor)
    below = not_equal(tril(tensor, k=-1), 0)
    ordered = logical_not(any_(below, axes=[tensor.rank - 2, tensor.rank - 1], keep_axes=True))
    diagonal = take_diagonal(tensor) if tensor.shape[-1] else values
    diagonal = elementwise.real(diagonal) if diagonal.type.is_complex else diagonal
    few, all_ = spread(ordered[..., 0], values.shape), spread(ordered, vectors.shape)
    order = argsort(elementwise.abs(values), axis=-1, direction="desc")
    order = select(few, argsort(argsort(diagonal, axis=-1), axis=-1), order)
    order_rows = spread(new_axis(order, -2), vectors.shape)
    values, vectors = take_along_axis(values, order, axis=-1), take_along_axis(vectors, order_rows, axis=-1)
    unit = eye(tensor.shape, type=vectors.type)
    return back(_as_if(values, few, diagonal), type_), back(_as_if(vectors, all_, unit), type_)


def eig(tensor: Any) -> tuple[Value, Value]:
    """The eigenvalues and eigenvectors of square matrices of any kind.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes.

    Returns
    -------
    tuple of two tensors
        Eigenvalues in LAPACK's order, and the eigenvectors of length 1 in the columns of a matrix. Both are complex.
        NaN for a matrix that is not finite.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Notes
    -----
    NumPy's function, which the running program calls once for each matrix. Eigenvalues have a gradient, where no two
    are equal; :func:`eigh` has one for eigenvectors, too.

    Examples
    --------
    >>> values, vectors = nx.linalg.eig([[0.0, 1.0], [-1.0, 0.0]])
    >>> values.to_list()
    [1j, -1j]
    """
    tensor, type_ = computed(unnamed(matrices(tensor, "eig", square=True)))
    values, vectors = eigenpairs(tensor, _eig, "nxkernel")
    type_ = types.to_complex(type_)
    return convert(values, type_), convert(vectors, type_)


def _eig(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not np.isfinite(matrix).all():
        nothing = np.full_like(matrix, np.nan)
        return nothing[0], nothing
    return np.linalg.eig(matrix)


def _as_if(result: Operand, ordered: Operand, known: Operand) -> Value:
    """The exact result for a diagonal matrix where the input is one, with the gradients of the computed result."""
    nothing = elementwise.subtract(result, apply(primitives.stop_grad, result))
    finite = equal(nothing, 0)
    known = elementwise.add(
        apply(primitives.stop_grad, known), select(finite, nothing, filled(0, result.type, result.shape))
    )
    return select(ordered, known, result)


def svd(tensor: Any, *, full_matrices: bool = True, max_iter: int = 100, **options: Any) -> tuple[Value, Value, Value]:
    """The singular value decomposition of matrices.

    Parameters
    ----------
    tensor : tensor
        Matrices of `m` rows and `n` columns in the last two axes.
    full_matrices : bool, optional
        Whether ``u`` and ``vt`` are square, or have ``min(m, n)`` columns and rows. Nx's spelling ``full_matrices?``
        is taken too, from a dictionary.
    max_iter : optional
        Not used: LAPACK does not need it.

    Returns
    -------
    tuple of three tensors
        ``u``, ``s`` and ``vt``, so that ``(u * s) @ vt`` is `tensor` for the reduced form. The singular values in
        ``s`` are real and in descending order. Integers become f32.

    Raises
    ------
    NxValueError
        For less than two axes.

    Examples
    --------
    >>> u, s, vt = nx.linalg.svd([[0, 2], [3, 0]])
    >>> s.to_list()
    [3.0, 2.0]
    """
    full_matrices = options.pop("full_matrices?", full_matrices)
    if options:
        raise NxTypeError(f"svd has no option {next(iter(options))!r}; its options are full_matrices and max_iter")
    tensor, type_ = computed(unnamed(matrices(tensor, "svd")))
    parts = apply(primitives.svd, tensor, full_matrices=bool(full_matrices))
    return tuple(back(part, type_) for part in parts)
