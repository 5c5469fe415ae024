"""What :func:`nxkernel.checked` looks for in a program that runs: indices out of bounds, division by zero, sizes.

While a program is traced for it, each operation that may go wrong adds a condition to it. All of them write to a few
cells, which loops and branches carry: whether one was fulfilled, the first place where one was, the number that was
wrong there, and in which turns the loops around it were.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.definitions.flow.control import checks, repeated_calls
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.outputs.raised_again import Line, raised_at
from nxkernel.errors import DivisionByZeroError, NxError, NxIndexError
from nxkernel.graph import deferred_calls, tracing
from nxkernel.graph.expr import Expr, constant
from nxkernel.graph.tracing import MutableCell, Trace
from nxkernel.numpy.base import integer_bounds
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.ops.programs.control_flow import choose
from nxkernel.ops.reductions import reduction
from nxkernel.ops.shapes import gathering
from nxkernel.primitives import Primitive

#: Of so many loops around a place, from the inside, the turns are told.
_LOOPS = 2
#: So many nodes are looked at for one that depends on what the program is given.
_NEAR = 64
#: What hands on an index, or numbers that are divided, as the person wrote them. Other functions may take elements from
#: beyond an edge, which are clamped, and leave them out.
_BY_HAND = frozenset(
    {
        "definitions", "messages", "numpy.array_methods", "numpy.array_protocols", "numpy.arrays.array",
        "numpy.arrays.fancy_indexing", "numpy.arrays.indexing", "numpy.arrays.masked_elements", "numpy.arrays.views",
        "numpy.base", "numpy.dispatch_table", "numpy.functions.elementwise", "numpy.functions.selection",
        "numpy.functions.shaping", "numpy.functions.ufunc", "ops.machinery", "ops.shapes.gathering",
        "ops.shapes.indexed_updates", "ops.shapes.indexing", "ops.tensor_methods", "graph.tracing",
    }
)  # fmt: skip
#: What divides whole numbers.
_DIVISIONS = (p.quotient, p.remainder)


@dataclass(frozen=True)
class Place:
    """Where something may go wrong.

    Parameters
    ----------
    trail : tuple of Line
        The lines of the user's that lead there, the outermost first.
    axis : int or None
        Of an index; None for a division.
    size : int
        Of the axis.
    length : int
        How many elements are taken or written from the index on, from the first to the last.
    counts_back : bool
        Whether the size was added to a negative index.
    """

    trail: tuple[Line, ...]
    axis: int | None = None
    size: int = 0
    length: int = 1
    counts_back: bool = False

    def error(self, number: int) -> NxError:
        """The error for the number that is wrong."""
        if self.axis is None:
            return DivisionByZeroError("integer division or remainder by zero")
        number -= self.size if self.counts_back and number < 0 else 0
        what = f"index {number} is" if self.length == 1 else f"{self.length} elements from index {number} on are"
        return NxIndexError(f"{what} out of bounds for axis {self.axis} with size {self.size}")


@dataclass(frozen=True)
class FaultCheck:
    """Raises the error of the first place where something went wrong.

    Parameters
    ----------
    places : list of Place
        All that were met, by number.
    around : tuple of Around
        What the leaves after those of the place tell.
    """

    places: list[Place]
    around: tuple[checks.Around, ...] = (checks.Around("turn"),) * _LOOPS

    #: Whether the caller's arrays are to be as they were where this is called.
    raises = True
    #: Whether the first value tells if there is anything to be done.
    has_flag = True

    def __call__(self, leaves: tuple) -> None:
        """Raise the error: of the number of the place, what is wrong there, and what is around it."""
        place, number, *around = map(int, leaves)
        error = self.places[place].error(number)
        # Turns are counted from 1 on: where there is no loop, none is.
        told = [pair for pair in zip(self.around, around, strict=True) if pair[0].kind != "turn" or pair[1]]
        if told:
            error.add_note(checks.told(told))
        raised_at(error, self.places[place].trail)


class _Group:
    """The places that write to the same cells: those between which nothing else is called for.

    Attributes
    ----------
    entry : RecordedCall
    places : list of Place
    """

    def __init__(self, run: Trace) -> None:
        self.places: list[Place] = []
        cells = [checks.new_cell(constant(False, types.bool_))]
        cells += [checks.new_cell(constant(0, types.s64)) for _ in range(2 + _LOOPS)]
        loop = deferred_calls.outermost_loop(run)
        self.entry = deferred_calls.RecordedCall(FaultCheck(self.places), tuple(cells), in_branch=True, loop=loop)

    @property
    def cells(self) -> tuple[MutableCell, ...]:
        """Whether there was something, and the numbers of the first."""
        return self.entry.cells


def begin(run: Trace) -> AbstractContextManager[None]:
    """A context in which a program is traced that is to be checked."""
    run.memory[deferred_calls.ELSEWHERE] = _raise_if
    return tracing.watching(_watch)


def _watch(run: Trace, primitive: Primitive, operands: Sequence[Expr], params: dict[str, Any]) -> None:
    """Called for each operation of a program that is to be checked, before it is recorded."""
    if primitive.family not in ("indexing", "shape") and primitive not in _DIVISIONS:
        return
    if tracing.is_on_behalf() or not (run.runs_once or repeated_calls.are_possible()) or not _is_by_hand():
        return
    with tracing.watching(None):
        for index, high, place in _asked(primitive, operands, params):
            _check(run, index, high, place)


@dataclass(frozen=True)
class _Made:
    """Makes an error of the values of the program, as Python's numbers."""

    error: Callable[..., Exception]

    def __call__(self, leaves: tuple) -> Exception:
        return self.error(*[leaf.item() for leaf in map(np.asarray, leaves)])


def _raise_if(failed: Any, numbers: Sequence[Any], error: Callable[..., Exception]) -> bool:
    """As :func:`nxkernel.graph.deferred_calls.raise_if`, in a loop or for many entries; says whether it is checked."""
    if not repeated_calls.are_possible():
        return False
    with tracing.watching(None):
        made = checks.came_from(NxError(), _Made(error), tuple(numbers))
        choose(failed, lambda: checks.record(made, ()) or [], list)
    return True


def _is_by_hand() -> bool:
    """Whether the person's code asks for what is recorded, through nothing but functions that hand it on."""
    frame = sys._getframe(2)
    while frame is not None:
        package, _, name = frame.f_globals.get("__name__", "").partition(".")
        if package != "nxkernel" or not source_locations.is_own(frame.f_code.co_filename):
            return True
        if name not in _BY_HAND and name.rpartition(".")[0] not in _BY_HAND and not name.startswith("definitions."):
            return False
        frame = frame.f_back
    return True


def _asked(
    primitive: Primitive, operands: Sequence[Expr], params: dict[str, Any]
) -> Iterator[tuple[Expr, int | None, tuple[int | None, int, int]]]:
    """The whole numbers of an operation: each with the largest that is right, or None where all but 0 are, and axis,
    size and length.
    """
    first = operands[0] if operands else None
    if primitive in _DIVISIONS and first.type.is_integer:
        yield operands[1], None, (None, 0, 1)
    elif primitive in (p.gather, p.scatter):
        indices = operands[1:] if primitive is p.gather else operands[2:]
        for axis, index in zip(params["axes"], indices, strict=True):
            yield index, first.shape[axis] - 1, (axis, first.shape[axis], 1)
    elif primitive in (p.dynamic_slice, p.put_slice, p.put_strided):
        if primitive is p.dynamic_slice:
            starts, spans = operands[1:], shapes.spans(params["lengths"], params["strides"])
        else:
            starts, part = operands[2:], operands[1].shape
            spans = shapes.spans(part, params["strides"]) if primitive is p.put_strided else part
        for axis, (start, span, size) in enumerate(zip(starts, spans, first.shape, strict=True)):
            if span:
                yield start, size - span, (axis, size, span)


def _check(run: Trace, index: Expr, high: int | None, place: tuple[int | None, int, int]) -> None:
    if not shapes.size(index.shape) or _is_right(index, high) or _is_of_constants(index):
        return
    met = run.memory.setdefault(_MET, {})
    if (id(index), high) in met:
        return
    met[id(index), high] = index
    if high is None:
        wrong = apply(p.equal, index, filled(0, index.type, index.shape))
    else:
        limit = min(high, types.limits(index.type)[1])
        wrong = apply(p.greater, index, filled(limit, index.type, index.shape))
        if types.limits(index.type)[0] < 0:
            wrong = apply(p.logical_or, wrong, apply(p.less, index, filled(0, index.type, index.shape)))
    if index.shape:
        flat = (shapes.size(index.shape),)
        wrong = apply(p.reshape, wrong, shape=flat, names=(None,))
        index = apply(p.reshape, index, shape=flat, names=(None,))
        index = gathering.take(index, reduction.argmax(convert(wrong, types.u8), axis=0), axis=0)
        wrong = reduction.any(wrong)
    _record(
        run, wrong, convert(index, types.s64), Place(checks.trail_of(NxIndexError()), *place, types.follows_numpy())
    )


def _is_right(index: Expr, high: int | None) -> bool:
    """Whether it is known that a number is none that is looked for."""
    if index.shape:
        return False
    low, most = integer_bounds.interval(index)
    if high is None:
        return (low is not None and low > 0) or (most is not None and most < 0)
    return low is not None and most is not None and low >= 0 and most <= high


def _is_of_constants(index: Expr) -> bool:
    """Whether a node depends on nothing that a program is given, as the places of elements beyond an edge do, which
    nxkernel clamps by itself.
    """
    waiting, met = [index], 0
    while waiting:
        node, met = waiting.pop(), met + 1
        if met > _NEAR or node.primitive is p.parameter or node.primitive.family == "control":
            return False
        waiting += node.operands
    return True


#: Under which keys a trace remembers the numbers that are checked, and the outermost one the group of places.
_MET = "numbers that are checked"


def _record(run: Trace, wrong: Expr, number: Expr, place: Place) -> None:
    memory, entries = run.outermost.memory, deferred_calls.entries(run)
    group = memory.get(checks.FAULTS)
    if group is None or not entries or entries[-1] is not group.entry:
        group = memory[checks.FAULTS] = _Group(run)
        entries.append(group.entry)
    group.places.append(place)
    first = checks.is_first_failure(wrong)
    flag, *cells = group.cells
    turns = [*checks.turns(run, _LOOPS), *[constant(0, types.s64)] * _LOOPS][:_LOOPS]
    run.write(flag, run.node(apply(p.logical_or, run.read(flag), first)))
    for cell, value in zip(cells, (constant(len(group.places) - 1, types.s64), number, *turns), strict=True):
        run.write(cell, run.node(apply(p.select, first, value, run.node(run.read(cell)))))
