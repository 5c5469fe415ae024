"""Tensor headers in files: shape, byte size and axis names, validated when read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.formats.file_access import ByteSource, brief
from nxkernel.operand import Operand, vectorized_spec
from nxkernel.primitives import Spec
from nxkernel.shapes import describe, normalize_names
from nxkernel.tensor.foreign_arrays import array_of_numbers
from nxkernel.tensor.tensor import StoredTensor, Template, Tensor
from nxkernel.types import Type

#: NumPy's arrays have at most so many axes.
_AXES = 64


def tensor_of(value: Any, argument: str) -> Tensor:
    """A tensor from a tensor, array or number.

    Raises
    ------
    NxTypeError
        For anything else, naming the argument.
    """
    if isinstance(value, StoredTensor):
        return value
    if isinstance(value, Template):
        raise NxTypeError(f"{value!r} has no data ({argument})")
    if isinstance(value, Operand):
        # A traced value answers with its own error.
        return value.to_numpy
    if isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic):
        return Tensor.from_numpy(cast_number(value, types.infer(value)))
    if hasattr(value, "__array__"):
        return Tensor.from_numpy(array_of_numbers(value, argument))
    raise NxTypeError(f"expected a tensor, an array or a number for {argument}, got {describe(value)}")


def little_endian(array: np.ndarray) -> memoryview:
    """The little-endian bytes of a C-ordered array, without a copy on little-endian machines."""
    stored = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return memoryview(stored.reshape(-1).view(np.uint8))


def shape_of(source: ByteSource, sizes: Any, what: str) -> tuple[int, ...]:
    """A shape from a header, validated."""
    if not isinstance(sizes, list | tuple) or not all(type(size) is int and size >= 0 for size in sizes):
        source.refuse(f"{what} has the shape {brief(sizes)}, expected whole numbers that are at least 0")
    if len(sizes) > _AXES:
        source.refuse(f"{what} has {len(sizes)} axes, at most {_AXES} are possible")
    return tuple(sizes)


def byte_count(source: ByteSource, shape: Sequence[int], type_: Type, what: str) -> int:
    """The size of a tensor in bytes."""
    # NumPy refuses strides beyond the address space even where a size of 0 leaves nothing to store.
    if math.prod(size for size in shape if size) * type_.size >= 2**63:
        source.refuse(f"{what} claims more than any memory holds: the shape {brief(list(shape))}")
    return math.prod(shape) * type_.size


def tensor_over(source: ByteSource, data: bytes, start: int, type_: Type, shape: Sequence[int], what: str) -> Tensor:
    """A tensor over little-endian bytes, copied only if necessary; there are enough bytes."""
    return checked(source, np.ndarray(shape, type_.dtype.newbyteorder("<"), buffer=data, offset=start), what)


def checked(source: ByteSource, array: np.ndarray, what: str) -> Tensor:
    """A tensor over an array read from a file, whose type must be supported."""
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        source.refuse(f"{what} is of type bool and has elements that are neither 0 nor 1")
    return Tensor.from_numpy(array)


def axes_of(tensor: Tensor) -> dict[str, Any]:
    """The header's description of a tensor's axes; empty if they have no names.

    Examples
    --------
    >>> axes_of(nx.iota((2, 3), names=["row", None]))
    {'names': ['row', None]}
    """
    description: dict[str, Any] = {}
    if any(tensor.names):
        description["names"] = list(tensor.names)
    if tensor.vectorized_axes:
        description["vectorized"] = [name for name, _ in tensor.vectorized_axes]
    return description


def with_axes(source: ByteSource, tensor: Tensor, description: dict[str, Any], what: str) -> Tensor:
    """A tensor with the axes that a header describes; the inverse of :func:`axes_of`.

    Parameters
    ----------
    source : ByteSource
    tensor : Tensor
        Without names; vectorized axes are its first.
    description : dict
        ``names`` of the axes after those, ``vectorized``, the names of those.
    what : str
        The tensor, for errors.
    """
    vectorized, names = description.get("vectorized", []), description.get("names")
    for names_ in (vectorized, [] if names is None else names):
        if not isinstance(names_, list):
            source.refuse(f"{what} has the names {brief(names_)}, expected a list")
    if None in vectorized or len(vectorized) > tensor.rank:
        source.refuse(f"{what} has the vectorized axes {brief(vectorized)}, expected at most {tensor.rank} names")
    if not vectorized and names is None:
        return tensor
    outer, shape = tensor.shape[: len(vectorized)], tensor.shape[len(vectorized) :]
    try:
        entry = Spec(tensor.type, shape, normalize_names(names, shape))
        axes = tuple(zip(normalize_names(vectorized, outer), outer, strict=True))
        return Tensor.wrap(tensor.data, vectorized_spec(entry, axes))
    except (NxTypeError, NxValueError) as error:
        source.refuse(f"the axes of {what} are impossible: {error}", cause=error)
