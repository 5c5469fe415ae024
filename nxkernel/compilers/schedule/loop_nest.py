"""The canonical loop nest: what a kernel computes, apart from sizes, strides, offsets and constants.

A nest runs over outer axes, in parallel, and over inner axes, one element after the other or a vector of lanes at a
time. Its passes alternate between the *row* level, run once for each outer index, and the *full* level, run for each
inner index too; a reduction in a full pass leaves its result in a slot that later passes read. Softmax over rows
is three full passes (maximum, sum of exponentials, quotient) in one nest.

Two nests that are equal are one kernel, whatever the sizes; :attr:`Nest.key` is its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from nxkernel.compilers.analysis.reduction_table import ARGUMENTS, LOGIC, REDUCTIONS
from nxkernel.fork_safety import cached_property
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.numba_functions import ScalarFunction

#: Columns that one parallel step takes when lanes run along an outer axis.
COLUMNS = 1024
#: Elements of the inner axis that one parallel step takes when a nest reduces nothing.
TILE = 8192


class _NamedMember(StrEnum):
    """A member of an enumeration, printed as its text: :attr:`Nest.key` is a hash of that."""

    __repr__ = str.__repr__


class PassLevel(_NamedMember):
    """How often a pass runs: once for each outer index, or for each inner index too."""

    ROW = "row"
    FULL = "full"


class LaneAxis(_NamedMember):
    """The axis that the lanes of vectors run along.

    ``INNER`` is the last inner axis; ``OUTER`` and ``TILE`` the last outer one, whose reductions are carried in memory,
    which is read in order, or in registers, for a tile of the last two outer axes at a time.
    """

    INNER = "inner"
    OUTER = "outer"
    TILE = "tile"


class BufferRole(_NamedMember):
    """What a nest does with a buffer; ``INDEX`` is a running index, which has no memory."""

    READ = "read"
    WRITE = "write"
    INDEX = "index"


class Stride(_NamedMember):
    """The kind of stride of a buffer along an axis, where it decides the code.

    ``NONE`` is not at all, ``UNIT`` by one element, ``REVERSED`` by one element backwards, ``DOUBLE`` by two,
    ``DYNAMIC`` by a stride that a call gives, ``MERGED`` as if the axis and the next were one.
    """

    NONE = "0"
    UNIT = "1"
    REVERSED = "-"
    DOUBLE = "2"
    DYNAMIC = "s"
    MERGED = "m"

    @property
    def elements(self) -> int:
        """The stride in elements; only for kinds that imply it."""
        return _ELEMENTS[self]


_ELEMENTS = {Stride.NONE: 0, Stride.UNIT: 1, Stride.DOUBLE: 2, Stride.REVERSED: -1}


class StoreMode(_NamedMember):
    """Whether a store replaces an element, or joins it by the primitive of its name."""

    PUT = "put"
    ADD = "add"
    MULTIPLY = "multiply"
    MAX = "max"
    MIN = "min"


class TieBreak(_NamedMember):
    """Which of equal elements ``argmax`` and ``argmin`` report: the one with the lower or the higher index."""

    LOW = "low"
    HIGH = "high"


class Op(NamedTuple):
    """One instruction of a pass.

    Parameters
    ----------
    name : str
        A primitive's name, or ``load`` or ``gather`` (of a buffer; an argument: how many elements further, for all
        lanes or for each), ``const`` (a constant), ``index`` (a running index), ``slot``, ``scratch`` (a scratch row),
        ``carry`` (what a reduction has so far).
    type : Type
    args : tuple of int
        The numbers of earlier instructions of that pass.
    entry : int
        Of one that is no primitive the number of the buffer, constant, slot, scratch row or reduction that it reads.
    attribute : Type or int or bool or ScalarFunction or None
        What decides the code of a primitive besides its type: the type of its first operand, the word of
        ``threefry2x32``, whether ``multiply`` is rounded, the function of ``njit``.
    """

    name: str
    type: Type
    args: tuple[int, ...] = ()
    entry: int = -1
    attribute: Type | int | bool | ScalarFunction | None = None


class Reduce(NamedTuple):
    """A reduction in a full pass: the instruction that feeds it and the slot that takes the result.

    For ``argmax`` and ``argmin`` a second argument gives the index. For ``reduce``, a fold, the first argument is the
    next value and the second one the first.
    """

    name: str
    type: Type
    args: tuple[int, ...]
    slot: int
    tie_break: TieBreak | None = None

    @property
    def is_fold(self) -> bool:
        """Whether it joins by a function of the user's instead of one in the table of reductions."""
        return self.name not in REDUCTIONS

    @property
    def is_argument(self) -> bool:
        """Whether it carries an index with the element, as argmax does."""
        return self.name in ARGUMENTS

    @property
    def is_logic(self) -> bool:
        """Whether it reduces truth values."""
        return self.name in LOGIC

    @property
    def takes_last(self) -> bool:
        """Whether a tie goes to the higher index."""
        return self.tie_break is TieBreak.HIGH

    @property
    def identity(self) -> float | int:
        """The value before the first element."""
        return REDUCTIONS[self.name].identity(self.type)

    @property
    def join(self) -> str:
        """The name of the primitive that joins two partial results."""
        return REDUCTIONS[self.name].join

    @property
    def sign(self) -> str:
        """The comparison by which an element is better than another one, for ``argmax`` and ``argmin``."""
        return REDUCTIONS[self.name].sign


class Scatter(NamedTuple):
    """A store at a computed offset: the buffer, and the instructions of the value and of the offset in elements.

    ``lanes`` says whether each lane may have a place of its own.
    """

    buffer: int
    value: int
    offset: int
    mode: StoreMode
    lanes: bool


class NestPass(NamedTuple):
    """One pass of a nest: straight-line code that runs at one level.

    ``stores`` are (buffer, instruction), ``keeps`` (slot, instruction) at the row level, ``scratches``
    (scratch row, instruction) at the full level.
    """

    level: PassLevel
    code: tuple[Op, ...]
    stores: tuple[tuple[int, int], ...] = ()
    keeps: tuple[tuple[int, int], ...] = ()
    reduces: tuple[Reduce, ...] = ()
    scratches: tuple[tuple[int, int], ...] = ()
    scatters: tuple[Scatter, ...] = ()


class Access(NamedTuple):
    """How a buffer (or a running index) moves with each axis.

    Axes are the outer ones, then the inner ones. ``like`` is an earlier buffer in the same memory that moves by the
    same strides, as the neighbours do that a stencil reads; -1 if there is none.
    """

    type: Type
    role: BufferRole
    strides: tuple[Stride, ...]
    like: int = -1


class ScalarKind(_NamedMember):
    """What a scalar parameter of a nest is.

    ``SIZE`` is that of an axis, ``STRIDE`` that of a buffer along an axis, ``START`` the first value of a running
    index, ``CONSTANT`` a constant or a part of it. ``TILES`` is how many tiles the inner axis has; ``BLOCK`` the length
    of a block of a reduction, ``BLOCKS`` their number, ``STEP`` how far apart their results are. ``FAILURE`` is set
    where a function of the user's raised an error.
    """

    SIZE = "size"
    TILES = "tiles"
    BLOCK = "block"
    BLOCKS = "blocks"
    STEP = "step"
    START = "start"
    STRIDE = "stride"
    FAILURE = "failure"
    CONSTANT = "constant"


class ScalarParameter(NamedTuple):
    """A scalar parameter of a nest; in a call's table they follow the pointers.

    Parameters
    ----------
    kind : ScalarKind
    number : int
        Of the buffer or constant that it is about.
    axis : int
        The axis that it is about; of a complex constant 0 for the real part and 1 for the imaginary one.
    """

    kind: ScalarKind
    number: int = 0
    axis: int = 0


class NestConstant(NamedTuple):
    """A constant of a nest: a number, and the type that it is of."""

    value: complex
    type: Type


@dataclass(frozen=True)
class Nest:
    """A loop nest in canonical form.

    Parameters
    ----------
    lanes : LaneAxis
        Which axis vectors run along.
    tile : tuple of int
        Rows, vectors and lanes of a tile of results that stay in registers, ``()`` if there is none.
    outer, inner : int
        How many axes of each kind.
    tiled : bool
        The inner axis is cut into tiles that run in parallel; only where nothing is reduced.
    flat : bool
        Lanes run along the two inner axes as if they were one, because the last is too short for a vector.
    split : int
        The inner axis that is cut into blocks that run in parallel, each leaving a partial result; -1 for none.
    limits : tuple of int
        The slots of the first place of the last inner axis, -1 for its beginning, and of the one after the last; () for
        all of it.
    passes : tuple of NestPass
    buffers : tuple of Access
    slots, scratches, constants : tuple of Type
    """

    lanes: LaneAxis
    tile: tuple[int, ...]
    outer: int
    inner: int
    tiled: bool
    flat: bool
    split: int
    limits: tuple[int, ...]
    passes: tuple[NestPass, ...]
    buffers: tuple[Access, ...]
    slots: tuple[Type, ...]
    scratches: tuple[Type, ...]
    constants: tuple[Type, ...]

    @cached_property
    def key(self) -> str:
        """The kernel's name: a hash of everything that decides its code."""
        text = repr((COLUMNS, TILE, *(getattr(self, name) for name in self.__dataclass_fields__)))
        return "nxk_" + hashlib.sha256(text.encode()).hexdigest()[:40]

    @property
    def memory(self) -> list[int]:
        """The numbers of the buffers that are memory; the others are running indices."""
        return [number for number, access in enumerate(self.buffers) if access.role is not BufferRole.INDEX]

    def ops(self) -> Iterator[Op]:
        """All instructions of all passes."""
        return (op for nest_pass in self.passes for op in nest_pass.code)

    def mover(self, number: int) -> int:
        """The number of the buffer whose strides apply to a buffer: an earlier one in the same memory, or itself."""
        like = self.buffers[number].like
        return number if like < 0 else like

    @property
    def may_fail(self) -> bool:
        """Whether it calls functions of the user's, which may raise; a scalar parameter then takes the error."""
        return any(op.name == "njit" for op in self.ops())

    def scalars(self) -> Iterator[ScalarParameter]:
        """The scalar parameters of a call, in the order of its table."""
        for axis in range(self.outer + self.inner):
            yield ScalarParameter(ScalarKind.SIZE, 0, axis)
        if self.tiled:
            yield ScalarParameter(ScalarKind.TILES)
        if self.split >= 0:
            yield ScalarParameter(ScalarKind.BLOCK)
            yield ScalarParameter(ScalarKind.BLOCKS)
            yield ScalarParameter(ScalarKind.STEP)
        index, dynamic, stride_of = BufferRole.INDEX, Stride.DYNAMIC, ScalarKind.STRIDE
        for number, access in enumerate(self.buffers):
            if access.role is index:
                yield ScalarParameter(ScalarKind.START, number)
            for axis, stride in enumerate(access.strides):
                if stride is dynamic and access.like < 0:
                    yield ScalarParameter(stride_of, number, axis)
        if self.may_fail:
            yield ScalarParameter(ScalarKind.FAILURE)
        for number, type_ in enumerate(self.constants):
            yield ScalarParameter(ScalarKind.CONSTANT, number)
            if type_.is_complex:
                yield ScalarParameter(ScalarKind.CONSTANT, number, 1)

    @property
    def kind(self) -> str:
        """The sort of nest, as people read it: map, rows, columns or tiles."""
        if not any(nest_pass.reduces for nest_pass in self.passes):
            return "map"
        return "rows" if self.lanes is LaneAxis.INNER else "tiles" if self.tile and self.tile[0] > 1 else "columns"
