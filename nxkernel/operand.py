"""The base class of tensors and traced values: type, shape and names, and the Python protocols that need no data.

The functions of :mod:`nxkernel.ops` whose first argument is a tensor become methods and operators of this class when
the package is imported (:mod:`nxkernel.ops.tensor_methods`), so that both kinds of operand answer the same calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.messages.other_libraries import ATTRIBUTES
from nxkernel.primitives import Spec
from nxkernel.shapes import Names, Shape
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.operand_methods import OperandMethods  # pyright: ignore[reportMissingModuleSource]
else:
    OperandMethods = object

#: Name and size of each vectorized axis.
VectorizedAxes = tuple[tuple[str, int], ...]


class VectorizedSpec(NamedTuple):
    """The spec of a value with vectorized axes, which come first in memory and are hidden from functions.

    ``type``, ``shape`` and ``names`` are what functions see: those of one entry.
    """

    type: Type
    shape: Shape
    names: Names
    vectorized_axes: VectorizedAxes

    @property
    def entry(self) -> Spec:
        """The spec of one entry of the vectorized axes."""
        return Spec(self.type, self.shape, self.names)

    @property
    def whole(self) -> Spec:
        """The spec of all entries together, as in memory."""
        sizes = tuple([size for _, size in self.vectorized_axes])
        return Spec(self.type, sizes + self.shape, (None,) * len(sizes) + self.names)

    def __str__(self) -> str:
        return f"{axes_text(self.vectorized_axes)} {self.entry}"


def axes_text(axes: VectorizedAxes) -> str:
    """Vectorized axes as text.

    Examples
    --------
    >>> axes_text((("x", 2), ("y", 3)))
    'vectorized[x: 2][y: 3]'
    """
    return "vectorized" + "".join(f"[{name}: {size}]" for name, size in axes)


def entry_spec(spec: Spec | VectorizedSpec) -> Spec:
    """The spec that functions see: that of one entry."""
    return spec.entry if type(spec) is VectorizedSpec else spec


def whole_spec(spec: Spec | VectorizedSpec) -> Spec:
    """The spec of the memory, vectorized axes included."""
    return spec.whole if type(spec) is VectorizedSpec else spec


def vectorized_spec(entry: Spec, axes: VectorizedAxes) -> Spec | VectorizedSpec:
    """The spec of entries along vectorized axes; unchanged if there are none.

    Raises
    ------
    NxValueError
        When an axis of the entries has the name of a vectorized one.
    """
    if not axes:
        return entry
    for name, _ in axes:
        if name in entry.names:
            raise NxValueError(
                message(
                    f"the name {name!r} would stand for a vectorized axis and for an axis of {entry}.",
                    "Give the axis another name with nx.rename(t, [...]), or none.",
                )
            )
    return VectorizedSpec(*entry, axes)


class OperandType(type):
    """The class of operands' classes: it keeps names to itself that only exist to say what to write instead."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in ATTRIBUTES or hasattr(cls, name)]


class Operand(OperandMethods, metaclass=OperandType):
    """A value with a type, a shape and axis names: a :class:`~nxkernel.tensor.Tensor` or a traced expression.

    Shape, names, rank and size leave vectorized axes out.
    """

    __slots__ = ()

    spec: Spec | VectorizedSpec
    __array_priority__ = 1000

    @property
    def type(self) -> Type:
        """The type of the elements, such as ``"f32"``."""
        return self.spec.type

    @property
    def shape(self) -> Shape:
        """The size of each axis."""
        return self.spec.shape

    @property
    def names(self) -> Names:
        """The name of each axis, None where it has none."""
        return self.spec.names

    @property
    def vectorized_axes(self) -> VectorizedAxes:
        """The name and size of each vectorized axis."""
        spec = self.spec
        return spec.vectorized_axes if type(spec) is VectorizedSpec else ()

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.spec.shape)

    ndim = rank

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.spec.shape)

    @property
    def dtype(self):
        """The NumPy dtype of the elements."""
        return self.spec.type.dtype

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.spec.type.size

    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes, vectorized axes included."""
        return math.prod(whole_spec(self.spec).shape) * self.spec.type.size

    @property
    def strides(self) -> Shape:
        """How many bytes are from one element to the next along each axis: elements are in C order."""
        shape, size = self.spec.shape, self.spec.type.size
        return tuple(size * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))

    @property
    def base(self) -> None:
        """None, as for NumPy's arrays that are views of no other: a tensor is a value of its own."""

    def __len__(self) -> int:
        if not self.spec.shape:
            raise NxTypeError(f"a scalar ({self.spec}) has no length and cannot be iterated over")
        return self.spec.shape[0]

    def __iter__(self) -> Iterator[Self]:
        return (self[index] for index in range(len(self)))

    def __dir__(self) -> list[str]:
        """The attributes, without those that only exist to say what to write instead."""
        return [name for name in super().__dir__() if name not in ATTRIBUTES or hasattr(type(self), name)]

    __hash__ = None


class Proxy:
    """An object that stands for an operand, such as a traced array that is assigned into."""

    __slots__ = ()

    def __nx_operand__(self) -> Operand:
        """The operand that it stands for at this moment."""
        raise NotImplementedError
