"""Sorting along an axis, sorting indices, and the largest elements."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, operand, ordered
from nxkernel.ops.shapes.gathering import take_along_axis
from nxkernel.ops.shapes.indexing import slice_along_axis
from nxkernel.shapes import normalize_axis, static_int
from nxkernel.tensor.tensor import Tensor

__all__ = ["argsort", "sort", "top_k"]


def sort(tensor: Any, *, axis: int | str = 0, direction: str = "asc", stable: bool = False) -> Tensor | Expr:
    """Sort the elements along an axis.

    Parameters
    ----------
    tensor : tensor
    axis : int or str, optional
        The first one unless given.
    direction : {"asc", "desc"}, optional
        NaN counts as greater than every number: it comes last in ascending and first in descending order.
    stable : bool, optional
        Equal elements keep their order in any case.

    Returns
    -------
    Tensor
        Of the same type, shape and names.

    Raises
    ------
    NxTypeError
        For complex numbers, which have no order.

    Examples
    --------
    >>> nx.sort([[3, 1, 7], [2, 5, 4]], axis=1).to_list()
    [[1, 3, 7], [2, 4, 5]]
    >>> nx.sort([2.0, np.nan, 1.0], direction="desc").to_list()
    [nan, 2.0, 1.0]
    """
    tensor, position = _along(tensor, axis, direction, "sort")
    return apply(primitives.sort, tensor, axis=position, direction=direction)


def argsort(
    tensor: Any, *, axis: int | str = 0, direction: str = "asc", stable: bool = False, type: Any = "s64"
) -> Tensor | Expr:
    """The indices that sort the elements along an axis.

    Parameters
    ----------
    tensor : tensor
    axis : int or str, optional
        The first one unless given.
    direction : {"asc", "desc"}, optional
        NaN counts as greater than every number.
    stable : bool, optional
        Equal elements keep their order in any case.
    type : type, optional
        The integer type of the result.

    Returns
    -------
    Tensor
        Of the same shape and names; :func:`take_along_axis` of it along `axis` is sorted.

    Examples
    --------
    >>> nx.argsort([16, 23, 42, 4, 8, 15]).to_list()
    [3, 4, 5, 0, 1, 2]
    """
    tensor, position = _along(tensor, axis, direction, "argsort")
    type_ = types.normalize(type)
    if not type_.is_integer or type_ is types.bool_:
        raise NxTypeError(f"argsort gives whole numbers, got type={type_}; nx.as_type converts the result")
    return apply(primitives.argsort, tensor, axis=position, direction=direction, type=type_)


def _along(tensor: Any, axis: int | str, direction: str, name: str) -> tuple[Operand, int]:
    tensor = operand(tensor, "tensor")
    ordered(name)(tensor.type)
    if direction not in ("asc", "desc"):
        raise NxValueError(f'{name}: direction is "asc" or "desc", got {direction!r}')
    return tensor, normalize_axis(axis, tensor.shape, tensor.names)


def top_k(tensor: Any, *, k: int = 1) -> tuple[Tensor | Expr, Tensor | Expr]:
    """The `k` largest elements along the last axis, and their indices.

    Parameters
    ----------
    tensor : tensor
    k : int, optional
        At most the size of the last axis.

    Returns
    -------
    tuple of two tensors
        The elements in descending order, NaN first, and their indices, s64. Of equal elements the first come first.

    Raises
    ------
    NxValueError
        For a scalar, or when there are fewer than `k`.

    Examples
    --------
    >>> values, indices = nx.top_k([[1, 3, 2], [6, 4, 5]], k=2)
    >>> values.to_list(), indices.to_list()
    ([[3, 2], [6, 5]], [[1, 2], [0, 2]])
    """
    tensor, k = operand(tensor, "tensor"), static_int(k, "k")
    if not tensor.rank:
        raise NxValueError("top_k looks along the last axis, and a scalar has none")
    if not 1 <= k <= tensor.shape[-1]:
        raise NxValueError(
            message(
                f"top_k: k is from 1 to the size of the last axis, got k={k} for {tensor.spec}.",
                f"The last axis has {tensor.shape[-1]} elements.",
            )
        )
    order = slice_along_axis(argsort(tensor, axis=-1, direction="desc"), 0, k, axis=-1)
    return take_along_axis(tensor, order, axis=-1), order
