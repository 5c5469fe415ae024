"""The canonical loop nest: what a kernel computes, apart from sizes, strides, offsets and constants.

A nest runs over outer axes, in parallel, and over inner axes, one element after the other or a vector of lanes at a
time. Its sections alternate between the *row* level, run once for each outer index, and the *full* level, run for each
inner index too; a reduction in a full section leaves its result in a slot that later sections read. Softmax over rows
is three full sections (maximum, sum of exponentials, quotient) in one nest.

Two nests that are equal are one kernel, whatever the sizes; :attr:`Nest.key` is its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from nxkernel.compilers.analysis.reduction_table import ARGUMENTS, LOGIC, REDUCTIONS
from nxkernel.fork_safety import cached_property
from nxkernel.types import Type

#: Columns that one parallel step takes when lanes run along an outer axis.
COLUMNS = 1024
#: Elements of the inner axis that one parallel step takes when a nest reduces nothing.
TILE = 8192


class Op(NamedTuple):
    """One instruction of a section. Arguments are the numbers of earlier instructions of that section.

    ``name`` is a primitive's name, or ``load`` or ``gather`` (``extra``: buffer; an argument: how many elements
    further, for all lanes or for each), ``const`` (constant), ``index`` (buffer number of the index), ``slot`` (slot),
    ``scratch`` (scratch row), ``carry`` (what the reduction of that number has so far).
    """

    name: str
    type: Type
    args: tuple[int, ...] = ()
    extra: Any = None


class Reduce(NamedTuple):
    """A reduction in a full section: the instruction that feeds it and the slot that takes the result.

    For ``argmax`` and ``argmin`` a second argument gives the index, and `extra` is the tie break. For ``reduce``, a
    fold, the first argument is the next value and the second one the first.
    """

    name: str
    type: Type
    args: tuple[int, ...]
    slot: int
    extra: str = ""

    @property
    def is_fold(self) -> bool:
        """Whether it joins by a function of the user's; one that is none has a row in the table of reductions."""
        return self.name not in REDUCTIONS

    @property
    def is_argument(self) -> bool:
        """Whether it carries an index beside an element."""
        return self.name in ARGUMENTS

    @property
    def is_logic(self) -> bool:
        """Whether it is about truth values."""
        return self.name in LOGIC

    @property
    def takes_last(self) -> bool:
        """Whether a tie goes to the higher index."""
        return self.extra == "high"

    @property
    def identity(self) -> float | int:
        """What is held before the first element."""
        return REDUCTIONS[self.name].identity(self.type)

    @property
    def join(self) -> str:
        """The primitive that joins two partial results."""
        return REDUCTIONS[self.name].join

    @property
    def sign(self) -> str:
        """How an element of ``argmax`` and ``argmin`` compares with those that it is better than."""
        return REDUCTIONS[self.name].sign


class Scatter(NamedTuple):
    """A store at a computed place: buffer, instruction of the value, instruction of how many elements further.

    ``combine`` is ``"put"`` or ``"add"``; ``lanes`` says whether each lane may have a place of its own.
    """

    buffer: int
    value: int
    offset: int
    combine: str
    lanes: bool


class Section(NamedTuple):
    """A straight piece of a nest.

    ``stores`` are (buffer, instruction), ``keeps`` (slot, instruction) at the row level, ``scratches``
    (scratch row, instruction) at the full level.
    """

    level: str
    code: tuple[Op, ...]
    stores: tuple[tuple[int, int], ...] = ()
    keeps: tuple[tuple[int, int], ...] = ()
    reduces: tuple[Reduce, ...] = ()
    scratches: tuple[tuple[int, int], ...] = ()
    scatters: tuple[Scatter, ...] = ()


class Access(NamedTuple):
    """How a buffer (or a running index) moves with each axis.

    ``0`` is not at all, ``1`` by one element, ``-`` by one element backwards, ``2`` by two, ``s`` by a stride, ``m`` as
    if the axis and the next were one.

    Axes are the outer ones, then the inner ones. ``like`` is an earlier buffer in the same memory that moves by the
    same strides, as the neighbours do that a stencil reads; -1 if there is none.
    """

    type: Type
    role: str  # "read", "write" or "index"
    strides: str
    like: int = -1


@dataclass(frozen=True)
class Nest:
    """A loop nest in canonical form.

    Parameters
    ----------
    lanes : str
        ``"inner"``: vectors run along the last inner axis; ``"outer"`` and ``"tile"``: along the last outer axis.
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
    sections : tuple of Section
    buffers : tuple of Access
    slots, scratches, constants : tuple of Type
    """

    lanes: str
    tile: tuple[int, ...]
    outer: int
    inner: int
    tiled: bool
    flat: bool
    split: int
    limits: tuple[int, ...]
    sections: tuple[Section, ...]
    buffers: tuple[Access, ...]
    slots: tuple[Type, ...]
    scratches: tuple[Type, ...]
    constants: tuple[Type, ...]

    @cached_property
    def key(self) -> str:
        """The nest's name: a hash of everything that decides its code."""
        text = repr((COLUMNS, TILE, *(getattr(self, name) for name in self.__dataclass_fields__)))
        return "nxk_" + hashlib.sha256(text.encode()).hexdigest()[:40]

    @property
    def memory(self) -> list[int]:
        """The buffers that are memory, by number; the others are running indices."""
        return [number for number, access in enumerate(self.buffers) if access.role != "index"]

    def ops(self) -> Iterator[Op]:
        """Every instruction."""
        return (op for section in self.sections for op in section.code)

    def mover(self, number: int) -> int:
        """The buffer whose strides a buffer moves by: an earlier one in the same memory, or itself."""
        like = self.buffers[number].like
        return number if like < 0 else like

    @property
    def may_fail(self) -> bool:
        """Whether it calls functions of the user's, which may raise an error: a word of the table is for that."""
        return any(op.name == "njit" for op in self.ops())

    def words(self) -> Iterator[tuple[str, int, int]]:
        """What the words of a call's table are, after the pointers: (kind, number, axis), or (kind, number, part)."""
        for axis in range(self.outer + self.inner):
            yield "size", 0, axis
        if self.tiled:
            yield "tiles", 0, 0
        if self.split >= 0:
            yield "block", 0, 0
            yield "blocks", 0, 0
            yield "step", 0, 0
        for number, access in enumerate(self.buffers):
            if access.role == "index":
                yield "start", number, 0
            for axis, stride in enumerate(access.strides):
                if stride == "s" and access.like < 0:
                    yield "stride", number, axis
        if self.may_fail:
            yield "failure", 0, 0
        for number, type_ in enumerate(self.constants):
            yield "constant", number, 0
            if type_.is_complex:
                yield "constant", number, 1

    @property
    def kind(self) -> str:
        """What sort of nest it is, in one word for people."""
        if not any(section.reduces for section in self.sections):
            return "map"
        return "rows" if self.lanes == "inner" else "tiles" if self.tile and self.tile[0] > 1 else "columns"
