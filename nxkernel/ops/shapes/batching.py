"""Batches along the first axis (`to_batched`), and heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nxkernel import shapes
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.operand import entry_spec, vectorized_spec, whole_spec
from nxkernel.ops.machinery import axis_alignment
from nxkernel.ops.shapes import shaping
from nxkernel.ops.tensors.python_conversion import eager
from nxkernel.primitives import Spec
from nxkernel.tensor.heatmap import Heatmap
from nxkernel.tensor.tensor import Tensor

__all__ = ["to_batched", "to_heatmap"]

_LEFTOVER = ("repeat", "discard")


class TensorBatches(Sequence):
    """A lazy sequence of batches of a tensor."""

    def __init__(self, tensor: Tensor, size: int, leftover: str) -> None:
        self._tensor, self._size = tensor, size
        rows = whole_spec(tensor.spec).shape[0]
        self._count = rows // size if leftover == "discard" else shapes.ceil_div(rows, size)
        if tensor.vectorized_axes:
            (name, _), *others = tensor.vectorized_axes
            self._spec = vectorized_spec(entry_spec(tensor.spec), ((name, size), *others))
        else:
            self._spec = Spec(tensor.type, (size, *tensor.shape[1:]), tensor.names)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Tensor:
        """The batch at an index; negative indices count from the last."""
        index = shapes.static_int(index, "the number of a batch")
        index += self._count if index < 0 else 0
        if not 0 <= index < self._count:
            raise IndexError(f"there are {self._count} batches, numbered from 0")
        start, stop, all_ = index * self._size, (index + 1) * self._size, axis_alignment.whole(self._tensor)
        rows = all_.rows(start, min(stop, all_.shape[0]))
        if stop > all_.shape[0]:
            rows = shaping.concatenate([rows, all_.rows(0, stop - all_.shape[0])])
        return rows.with_spec(self._spec)

    def __repr__(self) -> str:
        return f"{self._count} batches of {self._spec}"


def to_batched(tensor: Any, batch_size: int, *, leftover: str = "repeat") -> TensorBatches:
    """Split a tensor along its first axis into batches of equal size.

    Parameters
    ----------
    tensor : tensor
        With at least one axis; where it has vectorized axes, the first of those is split.
    batch_size : int
        How many rows a batch has; at most as many as the tensor has.
    leftover : {"repeat", "discard"}, optional
        Whether the last batch, where rows are missing, is filled up from the first rows or left out.

    Returns
    -------
    TensorBatches
        A sequence that makes each batch when it is asked for, without a copy where it can: loop over it as often as
        needed.

    Raises
    ------
    NxTypeError
        For a scalar.
    NxValueError
        For more rows than there are, or none.

    Examples
    --------
    >>> batches = nx.to_batched(nx.iota((5,)), 2)
    >>> [batch.to_list() for batch in batches]
    [[0, 1], [2, 3], [4, 0]]
    >>> len(nx.to_batched(nx.iota((5,)), 2, leftover="discard"))
    2
    """
    tensor = eager(tensor, "to_batched")
    size = shapes.static_int(batch_size, "batch_size")
    if leftover not in _LEFTOVER:
        raise NxValueError(f'leftover is "repeat" or "discard", got {shapes.describe(leftover)}')
    shape = whole_spec(tensor.spec).shape
    if not shape:
        raise NxTypeError(message(f"to_batched takes a tensor with axes, got {tensor.spec}.", "A scalar has no rows."))
    if not 1 <= size <= shape[0]:
        raise NxValueError(f"batch_size is from 1 to {shape[0]}, the rows of {tensor.spec}; got {size}")
    return TensorBatches(tensor, size, leftover)


def to_heatmap(tensor: Any, *, ansi_enabled: bool | None = None, ansi_whitespace: str = "\u3000") -> Heatmap:
    """Show a tensor as a heat map, dark where elements are small.

    Parameters
    ----------
    tensor : tensor
        Of a real type, with at least one axis; the last two are rows and columns.
    ansi_enabled : bool, optional
        Whether the text is in a terminal's shades of grey or in digits from 0 to 9. Without it that depends on whether
        standard output is a terminal. Notebooks show a picture.
    ansi_whitespace : str, optional
        What is printed for each element in its shade: by default a blank as wide as it is high.

    Returns
    -------
    Heatmap

    Raises
    ------
    NxTypeError
        For scalars and complex numbers.

    Examples
    --------
    >>> nx.to_heatmap(nx.eye(3), ansi_enabled=False)
    #Nx.Heatmap<
      s64[3][3]
      9 0 0
      0 9 0
      0 0 9
    >
    """
    tensor = eager(tensor, "to_heatmap")
    if not tensor.data.ndim:
        raise NxTypeError(f"to_heatmap takes a tensor with axes, got {tensor.spec}")
    if tensor.type.is_complex:
        raise NxTypeError(
            message(
                f"to_heatmap takes real numbers, got {tensor.spec}.", "Take nx.abs(t) or nx.phase(t) of them first."
            )
        )
    if not tensor.data.size:
        raise NxValueError(f"to_heatmap takes a tensor with elements, got {tensor.spec}")
    return Heatmap(tensor, ansi_enabled, ansi_whitespace)
