"""Matrix products for BLAS: which operands it can read in place, and with what strides."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.analysis import index_maps
from nxkernel.graph.expr import Expr
from nxkernel.types import Type

#: The longest step and the most rows or columns that BLAS, whose integers have 32 bits, can be told.
LONGEST = 2**31 - 1


@dataclass(frozen=True)
class Matrix:
    """One operand of a matrix product as it lies in memory.

    Parameters
    ----------
    base : Expr
        Whose memory it is in.
    turned : bool
        Whether the contracted axis is the slow one.
    step : int
        Elements from one row (or, turned, one column) to the next.
    batch_step : int
        Elements from one matrix of the batch to the next.
    """

    base: Expr
    turned: bool
    step: int
    batch_step: int


@dataclass(frozen=True)
class Product:
    """A batch of matrix products ``C[M, N] = A[M, K] B[K, N]``, with C in row-major order."""

    node: Expr
    type: Type
    left: Matrix
    right: Matrix
    batch: int
    rows: int
    columns: int
    depth: int


def layout(operand: Expr) -> tuple[Expr, tuple[int, ...]]:
    """The value below the transpositions of an operand, and the strides, one an axis, with which it is read."""
    map_ = index_maps.identity(operand.shape)
    node = operand
    while node.primitive is p.transpose or (node.primitive is p.reshape and index_maps.keeps_axes(node)):
        map_ = index_maps.through(node, map_)
        node = node.operands[0]
    _, steps = index_maps.linear(map_, index_maps.row_strides(node.shape))
    return node, tuple(steps.get(axis, 0) for axis in range(len(operand.shape)))


def _merged(sizes: Sequence[int], strides: Sequence[int]) -> int | None:
    """The stride of several axes read as one; 0 when they have one element, None when they cannot be merged."""
    pairs = [(n, s) for n, s in zip(sizes, strides, strict=True) if n != 1]
    if not pairs:
        return 0
    for (_, outer), (n, inner) in itertools.pairwise(pairs):
        if outer != inner * n:
            return None
    return pairs[-1][1]


def matrix(
    operand: Expr,
    base: Expr,
    strides: Sequence[int],
    batch: Sequence[int],
    free: Sequence[int],
    contract: Sequence[int],
) -> Matrix | None:
    """An operand as a matrix in memory; None when the library could not read it without a copy."""

    def of(axes: Sequence[int]) -> int | None:
        return _merged([operand.shape[a] for a in axes], [strides[a] for a in axes])

    far, across, along = of(batch), of(free), of(contract)
    if far is None or across is None or along is None:
        return None
    rows, depth = (max(_size(operand, axes), 1) for axes in (free, contract))
    result = None
    if along == 1 or (depth == 1 and across != 1):
        result = Matrix(base, False, max(across, depth), far)
    elif across == 1 or rows == 1:
        result = Matrix(base, True, max(along, rows), far)
    return result if result is not None and result.step <= LONGEST else None


def _size(operand: Expr, axes: Sequence[int]) -> int:
    return shapes.size([operand.shape[axis] for axis in axes])


def axes_of(node: Expr) -> tuple[tuple[list[int], list[int], list[int]], tuple[list[int], list[int], list[int]]]:
    """(batch, free, contracted) axes of the left and of the right operand of a dot."""
    sides = []
    for side, operand in enumerate(node.operands):
        batch, contract = list(node.params["batch"][side]), list(node.params["contract"][side])
        free = [a for a in range(len(operand.shape)) if a not in batch and a not in contract]
        sides.append((batch, free, contract))
    return sides[0], sides[1]


def readable(operand: Expr, axes: tuple[list[int], list[int], list[int]]) -> Matrix | None:
    """The operand as a :class:`Matrix`, looking through transpositions; None when it would have to be copied."""
    base, strides = layout(operand)
    return matrix(operand, base, strides, *axes)


def product(node: Expr, memory_of) -> Product:
    """The :class:`Product` of a dot, once its operands are in memory.

    Parameters
    ----------
    node : Expr
    memory_of : callable
        For an operand, the value whose memory it is read from: itself, or what its transpositions walk.
    """
    left, right = axes_of(node)
    sides = []
    for operand, axes in zip(node.operands, (left, right), strict=True):
        if memory_of(operand) is operand:
            side = matrix(operand, operand, index_maps.row_strides(operand.shape), *axes)
        else:
            side = readable(operand, axes)
        sides.append(side)
    a, b = node.operands
    return Product(node, node.type, *sides, _size(a, left[0]), _size(a, left[1]), _size(b, right[1]), _size(a, left[2]))
