"""Loops over axes in kernel source: element by element, several elements in flight, or vectors of 16 bytes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import KernelArguments, total
from nxkernel.compilers.numba_cuda.kernels.pass_writer import Lane, PassWriter
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.loop_nest import NestPass, Stride

#: Instructions of a pass up to which it is written for several elements at once.
SHORT = 64
#: Elements that a thread has in flight where it takes no vectors.
ABREAST = 4
#: Bytes of a vector.
VECTOR = 16


class Span(NamedTuple):
    """An axis to loop over: its number, the text of its first index (None for 0), and that of its length."""

    axis: int
    first: str | None
    count: str


#: Writes what happens at some lanes; a mapping tells which buffers they read and write as vectors.
Body = Callable[[Sequence[Lane], frozenset[int]], None]


def product(writer: SourceWriter, counts: Sequence[str], prefix: str) -> str:
    """The name of the product of counts; "1" for none."""
    return writer.let(" * ".join(counts), prefix) if len(counts) > 1 else counts[0] if counts else "1"


def axis_indices(writer: SourceWriter, number: str, spans: Sequence[Span]) -> dict[int, str]:
    """The index of each axis from a linear index over all; the last axis is the fastest."""
    indices: dict[int, str] = {}
    for position, span in reversed(list(enumerate(spans))):
        index = number
        if position:
            rest = writer.let(f"div({number}, {span.count})", "q")
            index = writer.let(f"{number} - {rest} * {span.count}", "i")
            number = rest
        indices[span.axis] = index if span.first is None else writer.let(f"{span.first} + {index}", "i")
    return indices


def one_by_one(
    writer: SourceWriter, spans: Sequence[Span], first: str, step: str, body: Body, *, abreast: int = 1, count: str = ""
) -> None:
    """Write a grid-stride loop over all indices of some axes, from the linear index `first` in steps of `step`."""
    count = count or product(writer, [span.count for span in spans], "count")
    item = writer.name("item")
    writer.line(f"{item} = {first}")
    if abreast > 1:
        with writer.block(f"while {item} + {abreast - 1} * {step} < {count}:"):
            items = [item, *(writer.let(f"{item} + {n} * {step}", "item") for n in range(1, abreast))]
            body([axis_indices(writer, one, spans) for one in items], frozenset())
            writer.line(f"{item} += {abreast} * {step}")
    with writer.block(f"while {item} < {count}:"):
        body([axis_indices(writer, item, spans)], frozenset())
        writer.line(f"{item} += {step}")


def nested(
    code: PassWriter,
    spans: Sequence[Span],
    body: Body,
    *,
    first: str = "s64(0)",
    step: str = "1",
    abreast: int = 1,
    count: str = "",
) -> None:
    """Write nested loops over axes in which one thread visits all indices in order.

    Of the first axis it takes those from the number `first` on, `step` further each iteration.
    """
    w, (*leading, last) = code.w, spans or [None]
    before = code.located
    with contextlib.ExitStack() as loops:
        for span in leading:
            index = w.name("i")
            w.line(f"{index} = {total([span.first, first])}")
            stop = span.count if span.first is None else w.let(f"{span.first} + {span.count}", "stop")
            loops.enter_context(w.block(f"while {index} < {stop}:"))
            loops.callback(w.line, f"{index} += {step}")
            code.locate({span.axis: index})
            first, step = "s64(0)", "1"
        one_by_one(w, [last] if last else [], first, step, body, abreast=abreast, count=count)
    code.located = before


def by_rows(code: PassWriter, spans: Sequence[Span], first: str, step: str, body: Body, abreast: int) -> None:
    """Write a loop over all indices of some axes in which a thread processes several elements of a row at once.

    They are as far from each other as there are threads for the row, and what the others give is found once for all.
    """
    with _rows(code, spans, first, step, abreast) as (slot, slots):
        one_by_one(code.w, spans[-1:], slot, slots, body, abreast=abreast)


@contextlib.contextmanager
def _rows(code: PassWriter, spans: Sequence[Span], first: str, step: str, taken: int) -> Iterator[tuple[str, str]]:
    """Write a loop over rows and slots of `taken` elements in each; yields the text of the slot and of their number."""
    w, (*leading, last) = code.w, spans
    slots = w.let(f"div({last.count} + {taken - 1}, {taken})", "slots")
    count = product(w, [*(span.count for span in leading), slots], "count")
    item = w.name("item")
    w.line(f"{item} = {first}")
    with w.block(f"while {item} < {count}:"):
        before = code.located
        row = w.let(f"div({item}, {slots})", "row")
        slot = w.let(f"{item} - {row} * {slots}", "place")
        code.locate(axis_indices(w, row, leading))
        yield slot, slots
        code.located = before
        w.line(f"{item} += {step}")


def suits_vectors(arguments: KernelArguments, passes: Sequence[NestPass]) -> tuple[int, frozenset[int]]:
    """The number of elements of a vector access (1 for none), and the buffers accessed so.

    Those are the ones that move by one element along the last axis, if they can all be aligned at the same places.
    """
    nest = arguments.nest
    bare = [op.entry for nest_pass in passes for op in nest_pass.code if op.name == "load" and not op.args]
    used = {*bare, *(number for nest_pass in passes for number, _ in nest_pass.stores)}
    moved = {op.entry for nest_pass in passes for op in nest_pass.code if op.name in ("load", "gather") and op.args}
    chosen = {number for number in used if nest.buffers[number].strides[-1:] == (Stride.UNIT,)} - moved
    if not chosen or sum(len(nest_pass.code) for nest_pass in passes) > SHORT:
        return 1, frozenset()
    sizes = {number: nest.buffers[number].type.dtype.itemsize for number in chosen}
    lanes = VECTOR // max(sizes.values())
    if lanes == 1 or len({arguments.offset(number) % lanes for number in chosen}) > 1:
        return 1, frozenset()
    return lanes, frozenset(chosen)


def by_vectors(
    code: PassWriter,
    spans: Sequence[Span],
    first: str,
    step: str,
    body: Body,
    lanes: int,
    vectors: frozenset[int],
    *,
    abreast: int = 1,
) -> None:
    """Write a loop over axes in vectors along the last one, with single elements before and after them.

    Each row has a few elements before the first aligned vector, and a few after the last one; where the buffers are
    not aligned at the same elements, or rows are short, it has no vectors.

    Parameters
    ----------
    code : PassWriter
    spans : sequence of Span
    first, step : str
        The number of this thread's first vector, and how far it is to its next one.
    body : callable
    lanes : int
    vectors : frozenset of int
        The buffers.
    abreast : int, optional
        How many vectors a thread has in flight, where rows are not short.
    """
    w, (*leading, last) = code.w, spans
    if not leading:
        head, whole = _aligned(code, last, lanes, sorted(vectors))
        vector, single = _vector_and_rest(w, last, lanes, vectors, body, head, whole)
        item = w.let(f"s64({first})", "item")
        if abreast > 1:
            with w.block(f"while ({item} + {abreast - 1} * {step}) * {lanes} < {whole}:"):
                for number in range(abreast):
                    vector(w.let(f"{item} + {number} * {step}", "item") if number else item)
                w.line(f"{item} += {abreast} * {step}")
        with w.block(f"while {item} * {lanes} < {whole}:"):
            vector(item)
            w.line(f"{item} += {step}")
        one_by_one(w, [last._replace(first=None)], first, step, single, count=w.let(f"{last.count} - {whole}", "rest"))
        return
    with _rows(code, spans, first, step, lanes) as (slot, slots):
        head, whole = _aligned(code, last, lanes, sorted(vectors))
        vector, single = _vector_and_rest(w, last, lanes, vectors, body, head, whole)
        with w.block(f"if {slot} * {lanes} < {whole}:"):
            vector(slot)
        rest = w.let(f"{last.count} - {whole}", "rest")
        one_by_one(w, [last._replace(first=None)], slot, slots, single, count=rest)


def _vector_and_rest(
    writer: SourceWriter, last: Span, lanes: int, vectors: frozenset[int], body: Body, head: str, whole: str
) -> tuple[Callable[[str], None], Body]:
    """Two writers: of the vector with a number, and of a single element outside of all vectors."""

    def vector(number: str) -> None:
        index = writer.let(total([last.first, head, f"{number} * {lanes}"]), "i")
        others = [writer.let(f"{index} + {lane}", "i") for lane in range(1, lanes)]
        body([{last.axis: i} for i in (index, *others)], vectors)

    def single(places: Sequence[Lane], none: frozenset[int]) -> None:
        (number,) = (lane[last.axis] for lane in places)
        index = writer.let(total([last.first, number, f"select({number} < {head}, 0, {whole})"]), "i")
        body([{last.axis: index}], none)

    return vector, single


def _aligned(code: PassWriter, last: Span, lanes: int, vectors: Sequence[int]) -> tuple[str, str]:
    """The names of two counts: elements before the first aligned vector, and elements in vectors."""
    w, nest = code.w, code.nest
    sizes = {number: nest.buffers[number].type.dtype.itemsize for number in vectors}
    begins = {}
    for number in vectors:
        offset = code.place(number, {last.axis: last.first} if last.first else {})
        begin = f"address({code.arguments.buffers[number]})"
        begins[number] = w.let(begin if offset == "0" else f"{begin} + {sizes[number]} * ({offset})", "byte")
    widest = max(vectors, key=sizes.__getitem__)
    head = w.let(f"div(-{begins[widest]} & {VECTOR - 1}, {sizes[widest]})", "head")
    off = " | ".join(
        f"(({begins[number]} + {sizes[number]} * {head}) & {lanes * sizes[number] - 1})" for number in vectors
    )
    fits = w.let(f"(({off}) == 0) & ({head} < {last.count})", "fits")
    whole = w.let(f"select({fits}, {last.count} - {head}, 0) & -{lanes}", "whole")
    return w.let(f"select({fits}, {head}, 0)", "head"), whole
