"""The arguments of the kernel of a nest: pointers to buffers and scalar parameters; and the offsets of elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nxkernel import shapes
from nxkernel.compilers.display import nest_source
from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.kernel_launches import MemoryArgument
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import BufferRole, NestConstant, ScalarKind, ScalarParameter, Stride

#: Arrays in one piece of memory begin at multiples of this.
ALIGNMENT = 16

#: How far a buffer moves to an index of an axis, for strides that the kernel knows.
_MOVED = {Stride.UNIT: "{}", Stride.DOUBLE: "2 * {}", Stride.REVERSED: "-{}"}


class KernelArguments:
    """The parameters of a nest's kernel, and their values in one launch.

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
        self._places = [MemoryArgument(*buffer) for buffer in bound.buffers]
        #: Buffers that are walked backwards, whose pointers are to where their memory begins.
        self.starts: dict[int, str] = {}
        for position, number in enumerate(nest.memory):
            if self._goes_back(number):
                owner, offset = bound.buffers[position]
                self._places[position] = MemoryArgument(owner)
                self.starts[number] = f"{self.buffers[number]}_start"
                self.add(self.starts[number], "s64", offset // nest.buffers[number].type.size)
        self._more: list[tuple[str, str, MemoryArgument]] = []
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
        """The size of each axis in this launch."""
        return [self._scalar_values[ScalarKind.SIZE, 0, axis] for axis in range(self.nest.outer + self.nest.inner)]

    def step(self, number: int, axis: int) -> int:
        """The stride of a buffer along an axis in this launch, in elements."""
        stride = self.nest.buffers[number].strides[axis]
        if stride is Stride.DYNAMIC:
            return self._scalar_values[ScalarKind.STRIDE, self.nest.mover(number), axis]
        if stride is Stride.MERGED:
            return self.sizes[axis + 1]
        return stride.elements

    def offset(self, number: int) -> int:
        """The offset of a buffer's first element in its memory in this launch, in elements."""
        _, offset = self.bound.buffers[self.nest.memory.index(number)]
        return offset // self.nest.buffers[number].type.size

    def scalar_value(self, kind: ScalarKind) -> int:
        """The value, in this launch, of a scalar parameter that a nest has once."""
        return self._scalar_values[kind, 0, 0]

    @property
    def rows(self) -> int:
        """The number of outer indices, times the number of blocks of a split axis."""
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
        """Add a pointer to temporary memory for so many elements; its name."""
        self._more.append((name, type_, MemoryArgument(None, self.scratch)))
        self.scratch += shapes.ceil_div(count * element_types.numpy_type(type_).itemsize, ALIGNMENT) * ALIGNMENT
        return name

    @property
    def names(self) -> list[str]:
        """The names of all parameters."""
        return [*(name for name, _ in self._pointers), *(name for name, _, _ in self._more), *self._names]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The types of all parameters."""
        pointers = [element_types.memory_type(access.type) for _, access in self._pointers]
        return (*pointers, *(type_ for _, type_, _ in self._more), *self._types)

    @property
    def memory(self) -> list[MemoryArgument]:
        """The memory that each pointer gets."""
        return [*self._places, *(argument for _, _, argument in self._more)]

    @property
    def values(self) -> list[Any]:
        """The values of the scalar parameters, in order."""
        return list(self._values)

    # Places ----------------------------------------------------------------------------------------------------

    def size(self, axis: int) -> str:
        """The name of an axis' size."""
        return self.scalars[ScalarKind.SIZE, 0, axis]

    def start(self, number: int) -> str | None:
        """The text of a running index's or buffer's first index; None if the pointer is there."""
        if self.nest.buffers[number].role is BufferRole.INDEX:
            return self.scalars[ScalarKind.START, number, 0]
        return self.starts.get(number)

    def terms(self, number: int, indices: Mapping[int, str]) -> list[str]:
        """The terms of a buffer's offset at the indices of some axes, as texts."""
        terms = []
        for axis, index in indices.items():
            stride = self.nest.buffers[number].strides[axis]
            if stride is Stride.NONE:
                continue
            if stride is Stride.DYNAMIC:
                terms.append(f"{index} * {self.scalars[ScalarKind.STRIDE, self.nest.mover(number), axis]}")
            elif stride is Stride.MERGED:
                terms.append(f"{index} * {self.size(axis + 1)}")
            else:
                terms.append(_MOVED[stride].format(index))
        return terms


def total(terms: Sequence[str | None]) -> str:
    """The sum of the terms that are not None, as text; "0" without any."""
    return " + ".join(term for term in terms if term) or "0"
