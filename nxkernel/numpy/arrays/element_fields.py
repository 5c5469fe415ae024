"""Fields of elements: some of the bytes of each, read and assigned to as elements of another type."""

from __future__ import annotations

from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.numpy.arrays.array import Array
from nxkernel.numpy.arrays.views import Shape, ViewStep
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert
from nxkernel.ops.numpy_names import memory
from nxkernel.ops.shapes.indexing import index
from nxkernel.ops.shapes.shaping import concatenate
from nxkernel.types import Type, bool_


@dataclass(frozen=True)
class ElementField(ViewStep):
    """A view of a part of the bytes of each element.

    Parameters
    ----------
    shape : tuple of int
    whole_type, field_type : Type
        Of the elements, and of the part.
    offset : int
        The byte of an element at which the part begins.
    """

    shape: Shape
    whole_type: Type
    field_type: Type
    offset: int

    def type(self, type_: Type) -> Type:
        """The type of the part."""
        return self.field_type

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        if self.whole_type is bool_:
            return convert(whole, self.field_type)
        if self._is_whole:
            return apply(p.bitcast, whole, type=self.field_type)
        return memory.getfield(whole, self.field_type, self.offset)

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The base with the bytes of the part replaced."""
        if self.whole_type is bool_:
            return convert(part, bool_)
        if self._is_whole:
            return apply(p.bitcast, part, type=self.whole_type)
        octets, end = memory.octets_of(whole), self.offset + self.field_type.size
        before, after = index(octets, (..., slice(self.offset))), index(octets, (..., slice(end, None)))
        pieces = [one for one in (before, memory.octets_of(part), after) if one.shape[-1]]
        return memory.joined_octets(concatenate(pieces, axis=-1), self.whole_type)

    def strides(self, strides: Shape) -> Shape:
        """Strides of the view, counted in its narrower elements."""
        return tuple([self.whole_type.size // self.field_type.size * stride for stride in strides])

    @property
    def _is_whole(self) -> bool:
        """Whether the part is the whole of an element, and no pair of numbers."""
        is_pair = self.whole_type.is_complex or self.field_type.is_complex
        return self.field_type.size == self.whole_type.size and not is_pair


def field(array: Array, type_: Type, offset: int, caller: str) -> Array:
    """A view of a part of the bytes of each element of an array.

    Parameters
    ----------
    array : Array
    type_ : Type
        Of the part.
    offset : int
        The byte at which it begins.
    caller : str
        For messages.
    """
    if type_ is not array.type and (type_ is bool_ or (array.type is bool_ and not type_.is_integer)):
        raise NxTypeError(
            message(f"{caller} shows no elements of {array.type} as those of {type_}.", "x != 0 and astype() convert.")
        )
    if not 0 <= offset <= array.type.size - type_.size:
        raise NxValueError(
            f"{caller}: an element of {array.type} has {array.type.size} bytes, and no {type_} from byte {offset} on"
        )
    if type_ is array.type:
        return array.view_all()
    return array.through(ElementField(array.shape, array.type, type_, offset))
