"""``scipy.linalg``'s matrices of a form, made of the numbers of traced vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel.errors import NxValueError
from nxkernel.numpy.arrays.array import ArrayValue, as_value
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions.creation import eye, zeros_like
from nxkernel.numpy.functions.joining import concatenate, pad
from nxkernel.ops.machinery.dispatch import operand

__all__ = [
    "block_diag", "circulant", "companion", "convolution_matrix", "fiedler", "hankel", "leslie", "toeplitz",
]  # fmt: skip


def block_diag(*arrs: Any) -> ArrayValue:
    """Matrices along the diagonal of one, as :func:`scipy.linalg.block_diag`."""
    blocks = [as_value(one) for one in arrs]
    blocks = [value[None] if value.ndim == 1 else value if value.ndim else value[None, None] for value in blocks]
    width, before, rows = sum(value.shape[-1] for value in blocks), 0, []
    for value in blocks:
        after = width - before - value.shape[-1]
        rows.append(pad(value, [(0, 0)] * (value.ndim - 1) + [(before, after)]))
        before += value.shape[-1]
    return concatenate(rows, axis=-2)


def _vector(name: str, value: Any, least: int = 1) -> ArrayValue:
    vector = as_value(value)
    if vector.ndim != 1 or vector.shape[0] < least:
        raise NxValueError(f"{name} takes a vector of at least {least}, got {operand(vector).spec}")
    return vector


def _places(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(rows)[:, None], np.arange(columns)


def toeplitz(c: Any, r: Any = None) -> ArrayValue:
    """The matrix whose diagonals are constant, as :func:`scipy.linalg.toeplitz`."""
    column = as_value(c)
    row = as_value(r) if r is not None else e.conjugate(column) if column.type.is_complex else column
    if column.ndim != 1 or row.ndim != 1:
        raise NxValueError("toeplitz takes vectors")
    down, across = _places(column.shape[0], row.shape[0])
    return concatenate([column[::-1], row[1:]])[across - down + column.shape[0] - 1]


def hankel(c: Any, r: Any = None) -> ArrayValue:
    """The matrix whose diagonals across are constant, as :func:`scipy.linalg.hankel`."""
    column = _vector("hankel", c)
    row = zeros_like(column) if r is None else _vector("hankel", r)
    down, across = _places(column.shape[0], row.shape[0])
    return concatenate([column, row[1:]])[down + across]


def circulant(c: Any) -> ArrayValue:
    """The matrix whose columns are one vector, moved on round in circles, as :func:`scipy.linalg.circulant`."""
    column = _vector("circulant", c)
    down, across = _places(column.shape[0], column.shape[0])
    return column[(down - across) % column.shape[0]]


def companion(a: Any) -> ArrayValue:
    """The matrix whose eigenvalues are the roots of a polynomial, as :func:`scipy.linalg.companion`."""
    factors = _vector("companion", a, 2)
    row = e.divide(e.negative(factors[1:]), factors[0])
    return concatenate([row[None], eye(row.shape[0], dtype=row.dtype)[:-1]])


def leslie(f: Any, s: Any) -> ArrayValue:
    """The matrix of a population by age, as :func:`scipy.linalg.leslie`."""
    births, survivals = _vector("leslie", f, 2), _vector("leslie", s)
    count = births.shape[0]
    if survivals.shape[0] != count - 1:
        raise NxValueError(f"leslie: s has one number less than f, got {survivals.shape[0]} and {count}")
    below = e.multiply(survivals[:, None], eye(count - 1, dtype=survivals.dtype))
    return concatenate([births[None], pad(below, [(0, 0), (0, 1)])])


def fiedler(a: Any) -> ArrayValue:
    """The distances between numbers, as :func:`scipy.linalg.fiedler`."""
    vector = as_value(a)
    return e.absolute(e.subtract(vector[..., :, None], vector[..., None, :]))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> ArrayValue:
    """The matrix that convolves vectors of length `n` with a vector, as :func:`scipy.linalg.convolution_matrix`."""
    if mode not in ("full", "same", "valid"):
        raise NxValueError(f'convolution_matrix: mode is "full", "same" or "valid", got {mode!r}')
    vector = _vector("convolution_matrix", a)
    length = vector.shape[0]
    cut = 0 if mode == "full" else min(n, length) - 1
    first, last = (cut // 2, cut - cut // 2) if mode == "same" else (cut, cut)
    down, across = _places(n + length - 1, n)
    places = (down - across)[first : n + length - 1 - last]
    # What lies outside of the vector is the zero behind it.
    inside = (places >= 0) & (places < length)
    return pad(vector, [(0, 1)])[np.where(inside, places, length)]
