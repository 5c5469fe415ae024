"""Scalars of a program: computed on the host where operands are known there, else in single-thread kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.numba_cuda.language.element_types import Value
from nxkernel.compilers.numba_cuda.program.host_numbers import follows
from nxkernel.compilers.numba_cuda.program.host_steps import (
    HostArithmetic,
    HostNumber,
    HostOperation,
    HostStep,
    HostValue,
    LaunchStep,
)
from nxkernel.compilers.numba_cuda.program.scalar_text import FIRST, Arithmetic, ScalarKernel
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.program_plan import ElementStore, ScalarStep
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.compilers.schedule.loop_nest import StoreMode
from nxkernel.graph.expr import Expr
from nxkernel.messages.grammar import counted
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cuda.program.program_writer import DeviceScope

#: The most numbers of one kernel.
MOST = 48


@dataclass(frozen=True, eq=False)
class _ScalarPart:
    """One scalar or element that the kernel computes or writes.

    Parameters
    ----------
    node : Expr or None
        What it computes; None for a known number that is written as it is.
    place : Location
        Where it is kept.
    type : Type
    value : HostNumber or None
        Of a known number the host's register.
    known : dict
        Of what the node takes that which was known: the host's registers.
    store : bool
        Whether it is an element of an array that is written.
    """

    node: Expr | None
    place: Location
    type: Type
    value: HostNumber | None = None
    known: dict[Expr, int] = field(default_factory=dict)
    store: bool = False


class Numbers:
    """A group of scalars computed in order, with element stores in between.

    Parameters
    ----------
    scope : DeviceScope
        Where values are.
    """

    def __init__(self, scope: DeviceScope) -> None:
        self.scope = scope
        self._parts: list[_ScalarPart] = []
        self._operations: list[HostOperation] = []

    @property
    def is_full(self) -> bool:
        """Whether the next scalar should go into another kernel."""
        return len(self._parts) >= MOST

    def write(self, location: Location, type_: Type, value: HostNumber) -> None:
        """Write a host number to memory, if a step on the device reads it there."""
        self._parts.append(_ScalarPart(None, location, type_, value))

    def take(self, work: ScalarStep | ElementStore) -> None:
        """Append a scalar or an element store."""
        scope, node = self.scope, work.node
        location = scope.plan.place[node]
        if isinstance(work, ScalarStep) and follows(scope.plan, node, scope.values):
            register = scope.writer.value()
            self._operations.append(HostOperation(register, *self._operation(node)))
            scope.values[location] = register
            self.write(location, node.type, register)
            return
        store = isinstance(work, ElementStore)
        known = {}
        for one in _stored(node) if store else scalars.reads_of(node):
            source = scope.plan.place.get(one)
            if scalars.is_single(one) and source in scope.values:
                known[one] = scope.values[source]
        scope.values.pop(location, None)
        self._parts.append(_ScalarPart(node, location, node.type, None, known, store))

    def _operation(self, node: Expr) -> tuple[Callable[..., HostValue], list[HostNumber]]:
        """The function and operands by which the host computes a scalar."""
        scope = self.scope
        low, high = scope.plan.ranges.get(node, (0, 1))
        if low == high:
            return _same, [cast_number(low, node.type)]
        if node.primitive.family == "elementwise":
            return _meaning(node), [known_value(scope, operand) for operand in node.operands]
        if node.primitive in (p.iota, p.constant):
            return _same, [cast_number(node.params.get("value", 0), node.type)]
        return _same, [known_value(scope, scalars.element_of(node).base)]

    def finished(self) -> list[HostStep]:
        """The host arithmetic, and the launch if the device needs any of the scalars."""
        scope = self.scope
        parts = [part for part in self._parts if part.node is not None or part.place in scope.needed]
        steps: list[HostStep] = [HostArithmetic(self._operations)] if self._operations else []
        if not parts:
            return steps
        text = _Text(scope, f"{counted(len(parts), 'single number')}, by one thread", parts)
        launch, places, numbers = text.kernel.launch()
        nodes = [part.node for part in parts if part.node is not None]
        writer = scope.writer
        record = writer.records.numbers(launch, nodes)
        step = LaunchStep(
            launch.title, launch, places, numbers, nodes=record.nodes, record=writer.records.number(record)
        )
        return [*steps, step]


def known_value(scope: DeviceScope, node: Expr) -> HostNumber:
    """The host register of a known number, or the number itself if it is constant."""
    if node.primitive is p.constant:
        return cast_number(node.params["value"], node.type)
    return scope.values[scope.plan.place[node]]


def _same(value: HostValue) -> HostValue:
    return value


def _meaning(node: Expr) -> Callable[..., HostValue]:
    meaning, spec, params = MEANING[node.primitive], node.spec, node.params

    def computed(*operands: HostValue) -> HostValue:
        with np.errstate(all="ignore"):
            return meaning(spec, *[np.reshape(operand, spec.shape) for operand in operands], **params)

    return computed


def _stored(node: Expr) -> list[Expr]:
    """The operands of an element store: its value and the indices."""
    (store,) = piecewise_buffers.stores(node, in_place=True)
    return [store.value, *(at.index for at in store.places)]


class _Text(Arithmetic):
    """Writes the single-thread kernel of a group."""

    def __init__(self, scope: DeviceScope, title: str, parts: list[_ScalarPart]) -> None:
        super().__init__(ScalarKernel("numbers", title), scope.plan)
        self.scope = scope
        #: What numbers are, by their places, as long as nothing else is written there.
        self._held: dict[Location, Value] = {}
        self._known: dict[Expr, int] = {}
        stored = {part.place for part in parts if part.store}
        for part in parts:
            self._known = part.known
            if part.node is None:
                self._put(part, self.kernel.number(part.value, part.type))
            elif part.store:
                self._store(part)
            else:
                value = self._held[part.place] = self.value(part.node)
                if part.place in scope.needed or part.place in stored:
                    self._put(part, value)

    def _put(self, part: _ScalarPart, value: Value) -> None:
        self.w.store(self.kernel.pointer_to(self.scope.at(part.place), part.type), FIRST, value, part.type)

    def _store(self, part: _ScalarPart) -> None:
        index, value, mode = self.stored(part.node)
        pointer = self.array(part.node)
        if mode is not StoreMode.PUT:
            value = self.joined(self.w.load(pointer, index, part.type), value, part.type, mode)
        self.w.store(pointer, index, value, part.type)
        self._held.pop(part.place, None)

    def operand(self, node: Expr) -> Value:
        """The text of a scalar: a host number, one of this kernel, or one in memory."""
        if node in self._known:
            return self.kernel.number(self._known[node], node.type)
        location = self.plan.place[node]
        if location not in self._held:
            self._held[location] = self.w.load(self.array(node), FIRST, node.type)
        return self._held[location]

    def array(self, node: Expr) -> str:
        """The name of the pointer to an array."""
        return self.kernel.pointer_to(self.scope.where(node), node.type)
