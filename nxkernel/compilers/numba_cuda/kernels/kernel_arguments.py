"""The arguments of the kernel of a nest: pointers to buffers and scalar parameters; and the offsets of elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nxkernel import shapes
from nxkernel.compilers.display import nest_source
from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.kernel_launches import Place
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import BufferRole, NestConstant, ScalarKind, ScalarParameter, Stride

#: Arrays in one piece of memory begin at multiples of this.
ALIGNMENT = 16

#: How far a buffer moves to an index of an axis, for strides that the kernel knows.
_MOVED = {Stride.UNIT: "{}", Stride.DOUBLE: "2 * {}", Stride.REVERSED: "-{}"}


class KernelArguments:
    """The parameters of a nest's kernel, and what one launch gives for them.

    Parameters
    ----------
    bound : BoundNest

    Attributes
    ----------
    buffers : dict of int to str
        What each buffer, or running index, is called.
    scalars : dict of ScalarParameter to str
        The name of each scalar parameter of the nest.
    """

    def __init__(self, bound: BoundNest) -> None:
        self.bound, self.nest = bound, bound.nest
        nest = bound.nest
        arrays, scalars = nest_source.names(nest)
        self.buffers = dict(zip(nest.memory, arrays, strict=True))
        parameters = list(nest.scalars())
        self.scalars = dict(zip(parameters, scalars, strict=True))
        for (kind, number, _), name in self.scalars.items():
            if kind is ScalarKind.START:
                self.buffers[number] = name.removesuffix("_start")
        scalar_value = dict(zip(parameters, bound.scalars, strict=True))
        self._scalar_values = {
            key: scalar.value if isinstance(scalar, NestConstant) else scalar for key, scalar in scalar_value.items()
        }
        self._names, self._types, self._values = [], [], []
        for key, name in self.scalars.items():
            if key.kind is not ScalarKind.TILES:
                self.add(name, self._type(key), self._scalar_values[key])
        self._pointers = [(self.buffers[number], nest.buffers[number]) for number in nest.memory]
        self._places: list[Place] = list(bound.buffers)
        #: Buffers that are walked backwards, whose pointers are to where their memory begins.
        self.starts: dict[int, str] = {}
        for place, number in enumerate(nest.memory):
            if self._goes_back(number):
                owner, offset = bound.buffers[place]
                self._places[place] = (owner, 0)
                self.starts[number] = f"{self.buffers[number]}_start"
                self.add(self.starts[number], "s64", offset // nest.buffers[number].type.size)
        self._more: list[tuple[str, str, Place]] = []
        #: Bytes of the memory that only this step uses.
        self.scratch = 0

    def _type(self, key: ScalarParameter) -> str:
        kind, number, part = key
        return (
            element_types.parameter_types(self.nest.constants[number])[part] if kind is ScalarKind.CONSTANT else "s64"
        )

    def _goes_back(self, number: int) -> bool:
        strides, mover = self.nest.buffers[number].strides, self.nest.mover(number)
        return any(
            stride is Stride.REVERSED
            or (stride is Stride.DYNAMIC and self._scalar_values[ScalarKind.STRIDE, mover, axis] < 0)
            for axis, stride in enumerate(strides)
        )

    # Sizes -----------------------------------------------------------------------------------------------------

    @property
    def sizes(self) -> list[int]:
        """Of each axis in this launch."""
        return [self._scalar_values[ScalarKind.SIZE, 0, axis] for axis in range(self.nest.outer + self.nest.inner)]

    def step(self, number: int, axis: int) -> int:
        """How many elements a buffer moves along an axis in this launch."""
        stride = self.nest.buffers[number].strides[axis]
        if stride is Stride.DYNAMIC:
            return self._scalar_values[ScalarKind.STRIDE, self.nest.mover(number), axis]
        if stride is Stride.MERGED:
            return self.sizes[axis + 1]
        return stride.elements

    def offset(self, number: int) -> int:
        """How many elements of its memory are before the first one of a buffer, in this launch."""
        _, offset = self.bound.buffers[self.nest.memory.index(number)]
        return offset // self.nest.buffers[number].type.size

    def scalar_value(self, kind: ScalarKind) -> int:
        """The value, in this launch, of a scalar parameter that a nest has once."""
        return self._scalar_values[kind, 0, 0]

    @property
    def rows(self) -> int:
        """How many outer indices there are, times the blocks of what is cut into blocks."""
        blocks = self.scalar_value(ScalarKind.BLOCKS) if self.nest.split >= 0 else 1
        return shapes.size(self.sizes[: self.nest.outer]) * blocks

    # Parameters ------------------------------------------------------------------------------------------------

    def add(self, name: str, type_: str, value: float) -> str:
        """Add a scalar parameter; its name."""
        self._names.append(name)
        self._types.append(type_)
        self._values.append(value)
        return name

    def reserve(self, name: str, type_: str, count: int) -> str:
        """One more pointer, to so many elements of memory that only this step uses; its name."""
        self._more.append((name, type_, (None, self.scratch)))
        self.scratch += shapes.ceil_div(count * element_types.numpy_type(type_).itemsize, ALIGNMENT) * ALIGNMENT
        return name

    @property
    def names(self) -> list[str]:
        """What all parameters are called."""
        return [*(name for name, _ in self._pointers), *(name for name, _, _ in self._more), *self._names]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their types."""
        pointers = [element_types.memory_type(access.type) for _, access in self._pointers]
        return (*pointers, *(type_ for _, type_, _ in self._more), *self._types)

    @property
    def memory(self) -> list[Place]:
        """What the pointers point to."""
        return [*self._places, *(place for _, _, place in self._more)]

    @property
    def values(self) -> list[Any]:
        """The values of the scalar parameters, in order."""
        return list(self._values)

    # Places ----------------------------------------------------------------------------------------------------

    def size(self, axis: int) -> str:
        """The name of an axis' size."""
        return self.scalars[ScalarKind.SIZE, 0, axis]

    def start(self, number: int) -> str | None:
        """Where a buffer or a running index starts; None for where its pointer is."""
        if self.nest.buffers[number].role is BufferRole.INDEX:
            return self.scalars[ScalarKind.START, number, 0]
        return self.starts.get(number)

    def terms(self, number: int, indices: Mapping[int, str]) -> list[str]:
        """How far a buffer moves to the indices of some axes, as the terms of a sum."""
        found = []
        for axis, index in indices.items():
            stride = self.nest.buffers[number].strides[axis]
            if stride is Stride.NONE:
                continue
            if stride is Stride.DYNAMIC:
                found.append(f"{index} * {self.scalars['stride', self.nest.mover(number), axis]}")
            elif stride is Stride.MERGED:
                found.append(f"{index} * {self.size(axis + 1)}")
            else:
                found.append(_MOVED[stride].format(index))
        return found


def total(terms: Sequence[str | None]) -> str:
    """A sum, without the terms that are none."""
    return " + ".join(term for term in terms if term) or "0"
