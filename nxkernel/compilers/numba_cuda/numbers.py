"""Single numbers of a program: on the host where they are known, and else by a kernel of one thread for several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.numpy import cast_number
from nxkernel.compilers import pieces, scalars
from nxkernel.compilers.loops import Op
from nxkernel.compilers.nesting import extra_of
from nxkernel.compilers.numba_cuda import elements
from nxkernel.compilers.numba_cuda.elements import Value
from nxkernel.compilers.numba_cuda.known import Place, follows
from nxkernel.compilers.numba_cuda.launches import KernelLaunch, Source
from nxkernel.compilers.numba_cuda.operations import emit
from nxkernel.compilers.numba_cuda.steps import Launched, Reckoned, Step, Where, part_of
from nxkernel.compilers.numba_cuda.writing import Writer
from nxkernel.compilers.plan import ElementStore, Scalar
from nxkernel.compilers.scalars import Offset, Term
from nxkernel.graph.expr import Expr
from nxkernel.types import Type
from nxkernel.wording import counted

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cuda.program import Scope

#: The most numbers of one kernel.
MOST = 48


@dataclass(frozen=True, eq=False)
class _Part:
    """Something that the kernel computes or writes.

    Parameters
    ----------
    node : Expr or None
        What it computes; None for a known number that is written as it is.
    place : Place
        Where it is kept.
    type : Type
    value : Any
        Of a known number the host's register.
    known : dict
        Of what the node takes that which was known: the host's registers.
    store : bool
        Whether it is an element of an array that is written.
    """

    node: Expr | None
    place: Place
    type: Type
    value: Any = None
    known: dict[Expr, int] = field(default_factory=dict)
    store: bool = False


class Numbers:
    """Single numbers that are computed one after the other, and elements that are written in between.

    Parameters
    ----------
    scope : Scope
        Where values are.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._parts: list[_Part] = []
        self._reckoned: list[tuple[int, Callable[..., Any], list[Any]]] = []

    @property
    def is_full(self) -> bool:
        """Whether the next number should go into another kernel."""
        return len(self._parts) >= MOST

    def write(self, place: Place, type_: Type, value: Any) -> None:
        """A known number gets into memory, if something on the device reads it there."""
        self._parts.append(_Part(None, place, type_, value))

    def take(self, work: Scalar | ElementStore) -> None:
        """Go on with a number, or an element that is written."""
        scope, node = self.scope, work.node
        place = scope.plan.place[node]
        if isinstance(work, Scalar) and follows(scope.plan, node, scope.values):
            register = scope.writer.value()
            self._reckoned.append((register, *self._reckoning(node)))
            scope.values[place] = register
            self.write(place, node.type, register)
            return
        store = isinstance(work, ElementStore)
        known = {}
        for one in _stored(node) if store else scalars.reads_of(node):
            found = scope.plan.place.get(one)
            if scalars.is_single(one) and found in scope.values:
                known[one] = scope.values[found]
        scope.values.pop(place, None)
        self._parts.append(_Part(node, place, node.type, None, known, store))

    def _reckoning(self, node: Expr) -> tuple[Callable[..., Any], list[Any]]:
        """How the host computes a number."""
        scope = self.scope
        low, high = scope.plan.ranges.get(node, (0, 1))
        if low == high:
            return _same, [cast_number(low, node.type)]
        if node.primitive.family == "elementwise":
            return _meaning(node), [known_value(scope, operand) for operand in node.operands]
        if node.primitive in (p.iota, p.constant):
            return _same, [cast_number(node.params.get("value", 0), node.type)]
        return _same, [known_value(scope, scalars.element_of(node).base)]

    def finished(self) -> list[Step]:
        """What the host computes, and the launch, if the device needs any of it."""
        scope = self.scope
        parts = [part for part in self._parts if part.node is not None or part.place in scope.needed]
        steps: list[Step] = [Reckoned(self._reckoned)] if self._reckoned else []
        if not parts:
            return steps
        text = _Text(scope, f"{counted(len(parts), 'single number')}, by one thread", parts)
        launch, places, numbers = text.launch()
        nodes = [part.node for part in parts if part.node is not None]
        writer = scope.writer
        record = writer.records.numbers(launch, nodes)
        made = Launched(launch.title, launch, places, numbers, nodes=record.nodes, record=writer.records.number(record))
        return [*steps, made]


def known_value(scope: Scope, node: Expr) -> Any:
    """A known number: the host's register of it, or where it is part of the program the number itself."""
    if node.primitive is p.constant:
        return cast_number(node.params["value"], node.type)
    return scope.values[scope.plan.place[node]]


def _same(value: Any) -> Any:
    return value


def _meaning(node: Expr) -> Callable[..., Any]:
    meaning, spec, params = MEANING[node.primitive], node.spec, node.params

    def reckon(*operands: Any) -> Any:
        with np.errstate(all="ignore"):
            return meaning(spec, *[np.reshape(operand, spec.shape) for operand in operands], **params)

    return reckon


def _stored(node: Expr) -> list[Expr]:
    """What an element that is written goes by: its value, and the indices."""
    (store,) = pieces.stores(node, in_place=True)
    return [store.value, *(at.index for at in store.places)]


class _Text:
    """Writes the kernel of one thread."""

    def __init__(self, scope: Scope, title: str, parts: list[_Part]) -> None:
        self.scope, self.title, self.w = scope, title, Writer(1)
        self._pointers: dict[tuple[Where, str], str] = {}
        self._words: list[tuple[str, float]] = []
        self._numbers: list[tuple[int, int, int | None]] = []
        self._known: dict[Any, Value] = {}
        #: What numbers are, by their places, as long as nothing else is written there.
        self._held: dict[Place, Value] = {}
        self._stored = {part.place for part in parts if part.store}
        for part in parts:
            self.part(part)

    def part(self, part: _Part) -> None:
        """Write one part."""
        if part.node is None:
            self._put(part.place, "s64(0)", self._number(part.value, part.type), part.type)
        elif part.store:
            self._store(part)
        else:
            value = self.w.held(self._value(part))
            self._held[part.place] = value
            if part.place in self.scope.needed or part.place in self._stored:
                self._put(part.place, "s64(0)", value, part.type)

    def _value(self, part: _Part) -> Value:
        node = part.node
        if node.primitive.family == "elementwise":
            values = [self._operand(operand, part) for operand in node.operands]
            operands = [Op("", operand.type) for operand in node.operands]
            op = Op(node.primitive.name, node.type, tuple(range(len(values))), extra_of(node))
            return emit(self.w, op, values, operands)
        found = scalars.element_of(node)
        if scalars.is_single(found.base):
            return self._operand(found.base, part)
        return self.w.load(self._pointer(found.base, node.type), self._index(found.offset, part), node.type)

    def _store(self, part: _Part) -> None:
        (store,) = pieces.stores(part.node, in_place=True)
        terms = [Term(at.index, at.most, at.stride) for at in store.places]
        index, type_ = self._index(Offset(store.offset, terms), part), part.type
        pointer, value = self._pointer(part.node, type_), self._operand(store.value, part)
        if store.combine == "add":
            before = self.w.load(pointer, index, type_)
            value = emit(self.w, Op("add", type_, (0, 1)), [before, value], [Op("", type_), Op("", type_)])
        self.w.store(pointer, index, value, type_)
        self._held.pop(part.place, None)

    def _operand(self, node: Expr, part: _Part) -> Value:
        """A number that is taken: part of the program, of the host, or on the device."""
        if node.primitive is p.constant:
            return self._number(cast_number(node.params["value"], node.type), node.type)
        if node in part.known:
            return self._number(part.known[node], node.type)
        place = self.scope.plan.place[node]
        if place not in self._held:
            self._held[place] = self.w.load(self._pointer(node, node.type), "s64(0)", node.type)
        return self._held[place]

    def _index(self, offset: Offset, part: _Part) -> str:
        total = self._word("s64", offset.fixed)
        for term in offset.terms:
            if term.most == 0 or term.stride == 0:
                continue
            index, most = self._operand(term.index, part), self._word("s64", term.most)
            if term.index.type is types.u64:
                clamped = f"s64(minimum({index}, u64({most})))"
            else:
                clamped = f"minimum(maximum(s64({index}), s64(0)), {most})"
            total = self.w.let(f"{total} + {self.w.let(clamped)} * {self._word('s64', term.stride)}")
        return total

    # Parameters ------------------------------------------------------------------------------------------------

    def _put(self, place: Place, index: str, value: Value, type_: Type) -> None:
        self.w.store(self._named(self.scope.at(place), type_), index, value, type_)

    def _pointer(self, node: Expr, type_: Type) -> str:
        return self._named(self.scope.where(node), type_)

    def _named(self, where: Where, type_: Type) -> str:
        return self._pointers.setdefault((where, elements.memory_type(type_)), f"p{len(self._pointers)}")

    def _number(self, value: Any, type_: Type) -> Value:
        """A number that is handed to the kernel: one that is fixed, or in a register of the host."""
        live = type(value) is int
        key = (value if live else value.tobytes(), type_)
        if key not in self._known:
            kinds = elements.word_types(type_)
            names = []
            for part, kind in enumerate(kinds):
                half = part if type_.is_complex else None
                names.append(self._live(kind, value, half) if live else self._word(kind, part_of(value.item(), half)))
            self._known[key] = elements.constant(names, type_)
        return self._known[key]

    def _word(self, kind: str, number: float) -> str:
        """An argument that is the same in every run."""
        self._words.append((kind, number))
        return f"c{len(self._words) - 1}"

    def _live(self, kind: str, value: int, part: int | None) -> str:
        """An argument that the host knows when it gets there."""
        self._numbers.append((len(self._words), value, part))
        return self._word(kind, 0)

    def launch(self) -> tuple[KernelLaunch, list[Where], list[tuple[int, int, int | None]]]:
        """The launch, the places of its pointers, and the words that the host knows only while it runs."""
        names = [*self._pointers.values(), *(f"c{place}" for place in range(len(self._words)))]
        parameters = (*(kind for _, kind in self._pointers), *(kind for kind, _ in self._words))
        source = Source("numbers", f"def numbers({', '.join(names)}):\n{self.w.text}\n", parameters)
        count = len(self._pointers)
        numbers = [(count + place, value, part) for place, value, part in self._numbers]
        launch = KernelLaunch(source, (), [number for _, number in self._words], (1,), (1,), title=self.title)
        return launch, [where for where, _ in self._pointers], numbers
