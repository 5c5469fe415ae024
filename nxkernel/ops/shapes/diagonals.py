"""Diagonals of matrices: extracting, building and replacing them."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, lasting, operand
from nxkernel.ops.tensors.creation import iota
from nxkernel.shapes import static_int
from nxkernel.tensor.tensor import Tensor

__all__ = ["make_diagonal", "put_diagonal", "take_diagonal"]


def take_diagonal(tensor: Any, *, offset: int = 0) -> Tensor | Expr:
    """The elements on a diagonal of each matrix.

    Parameters
    ----------
    tensor : tensor
        Matrices in the last two axes.
    offset : int, optional
        Which diagonal: 0 is the main one, above it is positive.

    Returns
    -------
    Tensor
        The diagonals in the last axis, which has no name.

    Raises
    ------
    NxValueError
        When the matrices have no such diagonal.

    Examples
    --------
    >>> nx.take_diagonal([[0, 1, 2], [3, 4, 5], [6, 7, 8]]).to_list()
    [0, 4, 8]
    >>> nx.take_diagonal([[0, 1, 2], [3, 4, 5], [6, 7, 8]], offset=-1).to_list()
    [3, 7]
    """
    tensor = lasting(tensor, "tensor")
    if tensor.rank < 2:
        raise NxValueError(
            message(f"take_diagonal takes matrices, got {tensor.spec}.", "They are the last two axes of a tensor.")
        )
    rows, columns = tensor.shape[-2:]
    first, count = _diagonal(rows, columns, offset, "take_diagonal")
    lead = tensor.shape[:-2]
    names = (*tensor.names[:-2], None)
    # Of the elements in C order, every (columns + 1)-th is one further along the diagonal.
    flat = apply(primitives.reshape, tensor, shape=(*lead, rows * columns), names=names)
    starts, strides = (*[0] * len(lead), first), (*[1] * len(lead), columns + 1)
    lengths = (*lead, (count - 1) * (columns + 1) + 1)
    return apply(primitives.slice_, flat, starts=starts, lengths=lengths, strides=strides)


def make_diagonal(tensor: Any, *, offset: int = 0) -> Tensor | Expr:
    """A square matrix with the given elements on a diagonal and zeros elsewhere.

    Parameters
    ----------
    tensor : tensor
        A vector.
    offset : int, optional
        Which diagonal: 0 is the main one, above it is positive.

    Returns
    -------
    Tensor
        As large as the diagonal needs; without names.

    Raises
    ------
    NxValueError
        When `tensor` is no vector.

    Examples
    --------
    >>> nx.make_diagonal([1, 2]).to_list()
    [[1, 0], [0, 2]]
    >>> nx.make_diagonal([5], offset=1).to_list()
    [[0, 5], [0, 0]]
    """
    tensor, offset = operand(tensor, "tensor"), static_int(offset, "the offset of a diagonal")
    if tensor.rank != 1:
        raise NxValueError(
            message(f"make_diagonal takes a vector, got {tensor.spec}.", "nx.put_diagonal replaces one of a matrix.")
        )
    size = tensor.shape[0] + abs(offset)
    return _spread_out(tensor, (size, size), max(offset, 0) + size * max(-offset, 0))


def put_diagonal(tensor: Any, diagonal: Any, *, offset: int = 0) -> Tensor | Expr:
    """Replace the elements on a diagonal of a matrix.

    Parameters
    ----------
    tensor : tensor
        A matrix.
    diagonal : tensor
        A vector as long as that diagonal.
    offset : int, optional
        Which diagonal: 0 is the main one, above it is positive.

    Returns
    -------
    Tensor
        A new matrix with the same names; the types of the two merged.

    Raises
    ------
    NxValueError
        When the lengths differ, or the matrix has no such diagonal.

    Examples
    --------
    >>> nx.put_diagonal([[0, 0, 0], [0, 0, 0]], [1, 2], offset=1).to_list()
    [[0, 1, 0], [0, 0, 2]]
    """
    tensor, diagonal = operand(tensor, "tensor"), operand(diagonal, "diagonal")
    if tensor.rank != 2 or diagonal.rank != 1:
        raise NxValueError(f"put_diagonal takes a matrix and a vector, got {tensor.spec} and {diagonal.spec}")
    first, count = _diagonal(*tensor.shape, offset, "put_diagonal")
    if diagonal.shape[0] != count:
        raise NxValueError(
            message(
                f"put_diagonal: the diagonal {diagonal.spec} does not fit {tensor.spec} at offset {offset}.",
                f"That diagonal has {count} elements.",
            )
        )
    type_ = types.merge(tensor.type, diagonal.type)
    spread = _spread_out(convert(diagonal, type_), tensor.shape, first)
    rows, columns = iota(tensor.shape, axis=0), iota(tensor.shape, axis=1)
    shifted = apply(primitives.add, rows, filled(offset, types.s64, tensor.shape))
    elsewhere = apply(primitives.not_equal, shifted, columns)
    return apply(primitives.select, elsewhere, convert(tensor, type_), spread)


def _diagonal(rows: int, columns: int, offset: Any, function: str) -> tuple[int, int]:
    """The flat index of a diagonal's first element, and the diagonal's length."""
    offset = static_int(offset, "the offset of a diagonal")
    if not -rows < offset < columns:
        raise NxValueError(
            message(
                f"{function}: a matrix {shapes.text((rows, columns))} has no diagonal at offset {offset}.",
                f"Offsets go from {1 - rows} to {columns - 1}.",
            )
        )
    if offset >= 0:
        return offset, min(rows, columns - offset)
    return -offset * columns, min(rows + offset, columns)


def _spread_out(vector: Operand, shape: tuple[int, int], first: int) -> Tensor | Expr:
    """A matrix of zeros with a vector on the diagonal that starts at a flat index."""
    gap = shape[1]
    reach = vector.shape[0] + max(vector.shape[0] - 1, 0) * gap
    config = ((first, shape[0] * shape[1] - first - reach, gap),)
    flat = apply(primitives.pad, vector, filled(0, vector.type, ()), config=config)
    return apply(primitives.reshape, flat, shape=shape, names=(None, None))
