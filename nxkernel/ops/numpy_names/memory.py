"""Elements as bytes, under the names of NumPy's methods; nobody sees where a tensor lies, so that all give new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery.dispatch import apply, convert, filled, lasting
from nxkernel.ops.reductions.reduction import sum as total
from nxkernel.ops.shapes.indexing import index
from nxkernel.ops.shapes.shaping import concatenate, flatten, new_axis, reshape, reverse
from nxkernel.ops.tensors.creation import iota
from nxkernel.shapes import static_int
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type


def byteswap(tensor: Any) -> Tensor | Expr:
    """The elements whose bytes are those of the tensor's in reverse order.

    Parameters
    ----------
    tensor : tensor

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.u16([1, 258]).byteswap().to_list()
    [256, 513]
    """
    tensor = lasting(tensor, "tensor")
    octets = octets_of(tensor)
    if tensor.type.is_complex:
        # Each part by itself.
        half = tensor.type.size // 2
        parts = [reverse(index(octets, (..., slice(at, at + half))), axes=[-1]) for at in (0, half)]
        turned = concatenate(parts, axis=-1)
    else:
        turned = reverse(octets, axes=[-1])
    return _named(joined_octets(turned, tensor.type), tensor)


def getfield(tensor: Any, dtype: Any, offset: int = 0) -> Tensor | Expr:
    """A part of the bytes of each element, read as an element of another type.

    Parameters
    ----------
    tensor : tensor
    dtype : type
        Of the part.
    offset : int, optional
        The byte of the elements that it begins at.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.u32([1, 65536]).getfield("u16", 2).to_list()
    [0, 1]
    """
    tensor, type_, offset = lasting(tensor, "tensor"), types.normalize(dtype), static_int(offset, "offset")
    if not 0 <= offset <= tensor.type.size - type_.size:
        raise NxValueError(
            f"getfield: an element of {tensor.type} has {tensor.type.size} bytes, and no {type_} from byte {offset} on"
        )
    return _named(joined_octets(index(octets_of(tensor), (..., slice(offset, offset + type_.size))), type_), tensor)


def setflags(tensor: Any, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
    """Say that nobody writes into the tensor, which is so anyway.

    Parameters
    ----------
    tensor : tensor
    write, align, uic : bool, optional
        Only ``write=True`` asks for something else.

    Raises
    ------
    NxValueError
        For ``write=True``.

    Examples
    --------
    >>> nx.tensor([1, 2]).setflags(write=False)
    """
    if write:
        raise NxValueError(
            message("nobody writes into a tensor: setflags takes no write=True.", "Write t.to_numpy().copy().")
        )


def item(tensor: Any, *at: Any) -> Tensor | Expr:
    """An element of a traced value, as a value without axes that stands for the number.

    Parameters
    ----------
    tensor : tensor
        Of one element where no index is given.
    *at : int
        Its place in C order, or one along each axis.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.jit(lambda t: t.item(1) + t.item(0, 0))(nx.tensor([[1, 2]])).to_number()
    3
    """
    if not at and tensor.size != 1:
        raise NxTypeError(
            message(f"item() needs a tensor with one element, this one has {tensor.size}.", "t[0, 1] takes one.")
        )
    places = at[0] if len(at) == 1 and isinstance(at[0], tuple) else at
    if len(places) > 1 and len(places) != tensor.rank:
        raise NxTypeError(f"item() takes one index, or one for each of {tensor.rank} axes, got {len(places)}")
    return index(tensor, places) if len(places) > 1 else index(flatten(tensor), places or 0)


def tolist(tensor: Any) -> Any:
    """The elements of a traced value as nested lists of values without axes, each of which stands for a number.

    Parameters
    ----------
    tensor : tensor

    Returns
    -------
    list of Tensor, or Tensor

    Examples
    --------
    >>> def difference(t):
    ...     first, second = t.tolist()
    ...     return second - first
    >>> nx.jit(difference)(nx.tensor([1, 5])).to_number()
    4
    """
    return [tolist(part) for part in tensor] if tensor.rank else tensor


def flags(tensor: Any) -> Any:
    """What NumPy tells of the memory of a traced value: it is in C order and cannot be written into."""
    one = np.empty(1, tensor.dtype)
    return np.lib.stride_tricks.as_strided(one, tensor.shape, tensor.strides, writeable=False).flags


def _named(result: Operand, tensor: Operand) -> Any:
    return reshape(result, tensor.shape, names=tensor.names)


def octets_of(tensor: Operand) -> Any:
    """The bytes of each element as u8 along a new last axis, the least significant first."""
    if tensor.type.is_complex:
        return concatenate([octets_of(elementwise.real(tensor)), octets_of(elementwise.imag(tensor))], axis=-1)
    word = types.TYPES[f"u{8 * tensor.type.size}"]
    words = new_axis(apply(primitives.bitcast, tensor, type=word), -1)
    return convert(comparison.right_shift(words, _shifts(word)), types.u8)


def joined_octets(octets: Any, type_: Type) -> Any:
    """The elements whose bytes lie along the last axis."""
    if type_.is_complex:
        half, part = type_.size // 2, types.to_real(type_)
        sides = [joined_octets(index(octets, (..., slice(at, at + half))), part) for at in (0, half)]
        return elementwise.complex(*sides)
    word = types.TYPES[f"u{8 * type_.size}"]
    words = convert(total(comparison.left_shift(convert(octets, word), _shifts(word)), axes=[-1]), word)
    return apply(primitives.bitcast, words, type=type_)


def _shifts(word: Type) -> Any:
    """By how many bits each byte of a word is moved, in its type."""
    return elementwise.multiply(iota((word.size,), type=word), filled(8, word, ()))
