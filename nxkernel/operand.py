"""What tensors and traced values have in common: a spec, and Python's refusals and answers that follow from it alone.

The functions of :mod:`nxkernel.ops` whose first argument is a tensor become methods and operators of this class when
the package is imported (:mod:`nxkernel.ops.methods`), so that both kinds of operand answer the same calls.
"""

from __future__ import annotations

import math

from nxkernel.errors import NxTypeError
from nxkernel.primitives import Spec
from nxkernel.shapes import Names, Shape
from nxkernel.types import Type


class Operand:
    """A value with a type, a shape and axis names: a :class:`~nxkernel.tensor.Tensor` or a traced expression."""

    __slots__ = ()

    spec: Spec
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

    def __len__(self) -> int:
        if not self.spec.shape:
            raise NxTypeError(f"a scalar ({self.spec}) has no length and cannot be iterated over")
        return self.spec.shape[0]

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    __hash__ = None
