"""Loop nests interpreted: what the passes of a canonical nest do to memory, by the scalar parameters of one graph.

A nest runs over all of its space at once, pass by pass, by NumPy. What it touches is kept by step: no step reads
or writes an element that another one writes, since steps run on any thread, and no element of a pass one that
another element of it writes, since several of them are one vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.numpy_primitives import cast, cast_number
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import NestPass, Op, PassLevel, Reduce, ScalarKind, StoreMode, Stride
from nxkernel.primitives import Spec

from .memory import Address, Memory

#: By mode of a store at a computed offset, what joins its value with the element that is there.
_JOINING = {
    StoreMode.ADD: np.add, StoreMode.MULTIPLY: np.multiply, StoreMode.MAX: np.maximum, StoreMode.MIN: np.minimum,
}  # fmt: skip


class DisorderError(AssertionError):
    """What a nest does depends on the order of its steps, or of the elements of a vector."""


def run(bound: BoundNest, addresses: Sequence[Address], memory: Memory, what: object) -> None:
    """Run a nest.

    Parameters
    ----------
    bound : BoundNest
    addresses : sequence of Address
        Of its buffers.
    memory : Memory
    what : object
        What messages call it.
    """
    nest = _Nest(bound, addresses, memory, what)
    for block in range(nest.blocks):
        nest.run(block)
    nest.touched.check(what)


class _Nest:
    def __init__(self, bound: BoundNest, addresses: Sequence[Address], memory: Memory, what: object) -> None:
        self.nest, self.memory, self.what = bound.nest, memory, what
        self.addresses = dict(zip(self.nest.memory, addresses, strict=True))
        scalars = dict(zip(self.nest.scalars(), bound.scalars, strict=True))
        self.rank = self.nest.outer + self.nest.inner
        self.sizes = [scalars[ScalarKind.SIZE, 0, axis] for axis in range(self.rank)]
        self.starts = {number: scalar for (kind, number, _), scalar in scalars.items() if kind is ScalarKind.START}
        self.steps = {
            (number, axis): self._step(number, axis, stride, scalars)
            for number, access in enumerate(self.nest.buffers)
            for axis, stride in enumerate(access.strides)
        }
        self.constants = [self._constant(scalars, number, type_) for number, type_ in enumerate(self.nest.constants)]
        split = self.nest.split >= 0
        self.length, self.blocks = (
            (scalars[ScalarKind.BLOCK, 0, 0], scalars[ScalarKind.BLOCKS, 0, 0]) if split else (0, 1)
        )
        self.step = scalars[ScalarKind.STEP, 0, 0] if split else 0
        self.touched = Touched(bound)

    def _step(self, number: int, axis: int, stride: Stride, scalars: dict) -> int:
        if stride is Stride.MERGED:
            return self.sizes[axis + 1]
        if stride is Stride.DYNAMIC:
            return scalars[ScalarKind.STRIDE, self.nest.mover(number), axis]
        return stride.elements

    @staticmethod
    def _constant(scalars: dict, number: int, type_: types.Type) -> np.ndarray:
        value = scalars[ScalarKind.CONSTANT, number, 0].value
        if type_.is_complex:
            value = complex(value, scalars[ScalarKind.CONSTANT, number, 1].value)
        return cast_number(value, type_)

    def run(self, block: int) -> None:
        """Run one block of the axis that is split; all there is where none is."""
        self.block = block
        self.slots: dict[int, np.ndarray] = {}
        self.scratches: dict[int, np.ndarray] = {}
        self.ranges = [(0, size) for size in self.sizes]
        if self.nest.split >= 0:
            axis = self.nest.outer + self.nest.split
            self.ranges[axis] = (block * self.length, min(self.sizes[axis], (block + 1) * self.length))
        self.active: np.ndarray | None = None
        for number, nest_pass in enumerate(self.nest.passes):
            self._pass(number, nest_pass)

    def _coordinates(self, level: PassLevel) -> list[np.ndarray]:
        """The indices of each axis, as arrays that broadcast to the space of a pass."""
        found = []
        for axis in range(self.rank):
            low, high = self.ranges[axis] if level is PassLevel.FULL or axis < self.nest.outer else (0, 1)
            shape = [1] * self.rank
            shape[axis] = max(high - low, 0)
            found.append(np.arange(low, max(high, low), dtype=np.int64).reshape(shape))
        return found

    def _pass(self, number: int, nest_pass: NestPass) -> None:
        self.level, self.number = nest_pass.level, number
        self.at = self._coordinates(nest_pass.level)
        self.shape = np.broadcast_shapes(*(c.shape for c in self.at)) if self.at else ()
        self.inside = (
            self._inside() if nest_pass.level is PassLevel.FULL and self.nest.limits else np.ones(self.shape, bool)
        )
        if any(reduce.name == "reduce" for reduce in nest_pass.reduces):
            self._fold(nest_pass)
            return
        values = self._code(nest_pass, {})
        self._written(nest_pass, values)
        for reduce in nest_pass.reduces:
            self.slots[reduce.slot] = self._reduced(reduce, values)

    def _inside(self) -> np.ndarray:
        """Which places of the last axis lie between the limits."""
        low, high = self.nest.limits
        last = self.at[-1]
        inside = last < self.slots[high]
        return np.broadcast_to(inside if low < 0 else inside & (last >= self.slots[low]), self.shape)

    def _code(self, nest_pass: NestPass, carried: dict[int, np.ndarray]) -> list[np.ndarray]:
        values: list[np.ndarray] = []
        for op in nest_pass.code:
            values.append(self._op(op, [values[arg] for arg in op.args], carried))
        return values

    def _written(self, nest_pass: NestPass, values: list[np.ndarray]) -> None:
        for row, number in nest_pass.scratches:
            self.scratches[row] = values[number]
        for buffer, number in nest_pass.stores:
            indices = self._indices(buffer)
            if nest_pass.level is PassLevel.ROW and self.nest.split >= 0:
                indices = indices + self.block * self.step
            self._store(buffer, indices, values[number], False)
        for scatter in nest_pass.scatters:
            indices = self._indices(scatter.buffer) + values[scatter.offset]
            value = values[scatter.value]
            if scatter.mode is not StoreMode.PUT:
                self._join(scatter.buffer, indices, value, _JOINING[scatter.mode])
            else:
                self._store(scatter.buffer, indices, value, True)
        for slot, number in nest_pass.keeps:
            self.slots[slot] = values[number]

    def _store(self, buffer: int, indices: np.ndarray, value: np.ndarray, several: bool) -> None:
        places, values = self._chosen(indices, value)
        values = cast(values, self.nest.buffers[buffer].type)
        self._touch(buffer, indices, True, several)
        self.memory.write(self.addresses[buffer], places, values, self.what)

    def _join(self, buffer: int, indices: np.ndarray, value: np.ndarray, function: np.ufunc) -> None:
        """Join one element after the other, as several may go to one place."""
        places, values = self._chosen(indices, value)
        type_, address = self.nest.buffers[buffer].type, self.addresses[buffer]
        self._touch(buffer, indices, True, True)
        unique, which = np.unique(places, return_inverse=True)
        held = self.memory.read(address, type_.dtype, unique, self.what)
        with np.errstate(all="ignore"):
            function.at(held, which.reshape(-1), cast(values, type_))
        self.memory.write(address, unique, held, self.what)

    def _chosen(self, indices: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Indices and values of the places that the pass runs over, in order."""
        return np.broadcast_to(indices, self.shape)[self.inside], np.broadcast_to(value, self.shape)[self.inside]

    def _indices(self, number: int) -> np.ndarray:
        total = np.full((1,) * self.rank, self.starts.get(number, 0), dtype=np.int64)
        for axis in range(self.rank if self.level is PassLevel.FULL else self.nest.outer):
            total = total + self.at[axis] * self.steps[number, axis]
        return total

    # Values ----------------------------------------------------------------------------------------------------

    def _op(self, op: Op, args: list[np.ndarray], carried: dict[int, np.ndarray]) -> np.ndarray:
        if op.name == "const":
            return self.constants[op.entry]
        if op.name == "slot":
            return self.slots[op.entry]
        if op.name == "scratch":
            return self.scratches[op.entry]
        if op.name == "carry":
            return carried[op.entry]
        if op.name == "index":
            return cast(self._indices(op.entry), op.type)
        if op.name in ("load", "gather"):
            indices = self._indices(op.entry) + (args[0] if args else 0)
            return self._load(op, indices)
        return apply(op, args)

    def _load(self, op: Op, indices: np.ndarray) -> np.ndarray:
        self._touch(op.entry, indices, False, False)
        inside = self.inside
        wanted = np.broadcast_to(indices, self.shape) if not inside.all() else indices
        if inside.all():
            return self.memory.read(self.addresses[op.entry], op.type.dtype, wanted, self.what)
        found = np.zeros(self.shape, op.type.dtype)
        found[inside] = self.memory.read(self.addresses[op.entry], op.type.dtype, wanted[inside], self.what)
        return found

    def _touch(self, buffer: int, indices: np.ndarray, writes: bool, several: bool) -> None:
        size = self.nest.buffers[buffer].type.size
        address = self.addresses[buffer]
        places = address.offset + np.broadcast_to(indices, self.shape) * size
        outer = np.indices(self.shape[: self.nest.outer] or (1,)).reshape(max(self.nest.outer, 1), -1)
        steps = np.ravel_multi_index(tuple(outer), self.shape[: self.nest.outer] or (1,))
        steps = steps.reshape(self.shape[: self.nest.outer] + (1,) * (self.rank - self.nest.outer))
        steps = np.broadcast_to(steps * self.blocks + self.block, self.shape)
        self.touched.add(
            address.block, places[self.inside], steps[self.inside], self.number, writes, several, self.level
        )

    # Reductions ------------------------------------------------------------------------------------------------

    def _rows(self, value: np.ndarray) -> np.ndarray:
        """A value as rows: outer axes, then all inner ones as one."""
        outer, inner = self.shape[: self.nest.outer], self.shape[self.nest.outer :]
        return np.broadcast_to(value, self.shape).reshape(*outer, math.prod(inner))

    def _back(self, rows: np.ndarray, type_: types.Type) -> np.ndarray:
        return cast(rows, type_).reshape(self.shape[: self.nest.outer] + (1,) * (self.rank - self.nest.outer))

    def _reduced(self, reduce: Reduce, values: list[np.ndarray]) -> np.ndarray:
        rows, inside = self._rows(values[reduce.args[0]]), self._rows(self.inside)
        result = self.nest.slots[reduce.slot]
        if reduce.name in ("argmax", "argmin"):
            return self._best(reduce, rows, inside, self._rows(values[reduce.args[1]]), result)
        if reduce.name in ("all", "any"):
            found = (
                np.all(rows.astype(bool) | ~inside, axis=-1)
                if reduce.name == "all"
                else np.any(rows.astype(bool) & inside, axis=-1)
            )
            return self._back(found, result)
        computed = types.compute_type(result).dtype
        function = {"sum": np.add, "product": np.multiply, "reduce_max": np.maximum, "reduce_min": np.minimum}
        rows = cast(rows, types.compute_type(result)) if rows.dtype != computed else rows
        with np.errstate(all="ignore"):
            identity = np.asarray(reduce.identity).astype(computed)
            found = function[reduce.name].reduce(np.where(inside, rows, identity), axis=-1, initial=identity)
        return self._back(np.asarray(found), result)

    def _best(
        self, reduce: Reduce, rows: np.ndarray, inside: np.ndarray, index: np.ndarray, type_: types.Type
    ) -> np.ndarray:
        if not rows.shape[-1]:
            return self._back(np.zeros(rows.shape[:-1], np.int64), type_)
        choose = np.argmax if reduce.name == "argmax" else np.argmin
        rows = np.asarray(rows, np.float32) if rows.dtype.kind not in "iufb" else rows
        if reduce.takes_last:
            place = rows.shape[-1] - 1 - choose(rows[..., ::-1], axis=-1)
        else:
            place = choose(rows, axis=-1)
        return self._back(np.take_along_axis(index, np.asarray(place)[..., None], -1)[..., 0], type_)

    def _fold(self, nest_pass: NestPass) -> None:
        """Folds run over one element of the inner axes after the other."""
        space, whole = self.ranges, [range(*self.ranges[a]) for a in range(self.nest.outer, self.rank)]
        carried: dict[int, np.ndarray] = {}
        points = np.stack(np.meshgrid(*whole, indexing="ij"), -1).reshape(-1, len(whole)) if whole else np.zeros((1, 0))
        if not len(points):
            # What is first is known without an element: its instructions read none.
            self.ranges = [*space[: self.nest.outer], *[(0, 1)] * self.nest.inner]
            points = None
        for point in [None] if points is None else points:
            if point is not None:
                self.ranges = [*space[: self.nest.outer], *((int(k), int(k) + 1) for k in point)]
            self.at = self._coordinates(PassLevel.FULL)
            self.shape = np.broadcast_shapes(*(c.shape for c in self.at)) if self.at else ()
            self.inside = np.ones(self.shape, bool)
            if not carried:
                for place, reduce in enumerate(nest_pass.reduces):
                    carried[place] = self._first(nest_pass, reduce.args[1])
            if point is None:
                break
            values = self._code(nest_pass, carried)
            self._written(nest_pass, values)
            carried = {place: values[reduce.args[0]] for place, reduce in enumerate(nest_pass.reduces)}
        for place, reduce in enumerate(nest_pass.reduces):
            shape = self.shape[: self.nest.outer] + (1,) * (self.rank - self.nest.outer)
            self.slots[reduce.slot] = np.broadcast_to(carried[place], shape)
        self.ranges = space

    def _first(self, nest_pass: NestPass, number: int) -> np.ndarray:
        op = nest_pass.code[number]
        return self._op(op, [self._first(nest_pass, arg) for arg in op.args], {})


def apply(op: Op, args: Sequence[np.ndarray]) -> np.ndarray:
    """What an element-wise instruction gives."""
    primitive = p.TABLE[op.name]
    params: dict[str, Any] = {}
    if primitive in (p.as_type, p.bitcast):
        params = {"type": op.type}
    elif primitive is p.threefry2x32:
        params = {"word": op.attribute}
    elif primitive is p.njit:
        params = {"function": op.attribute, "type": op.type}
    arrays = np.broadcast_arrays(*args)
    spec = Spec(op.type, arrays[0].shape, (None,) * arrays[0].ndim)
    return MEANING[primitive](spec, *map(np.ascontiguousarray, arrays), **params).reshape(spec.shape)


class Touched:
    """What the steps of a nest read and write."""

    def __init__(self, bound: BoundNest) -> None:
        self.bound = bound
        self.found: dict[object, list[tuple]] = {}

    def add(
        self, block: Any, places: np.ndarray, steps: np.ndarray, nest_pass: int, writes: bool, several: bool, level: str
    ) -> None:
        """Note elements, by their first byte, and the steps that touch them."""
        self.found.setdefault(block, []).append((places, steps, nest_pass, writes, several, level))

    def check(self, what: object) -> None:
        """Raise DisorderError where the order of steps or of elements matters."""
        for block, touched in self.found.items():
            for places, steps, nest_pass, writes, several, _ in touched:
                if not writes:
                    continue
                unique, first, counts = np.unique(places, return_index=True, return_counts=True)
                if not several and (counts > 1).any():
                    raise DisorderError(f"{what} writes an element of {block.name} twice")
                for others, their, where, also, more, _ in touched:
                    if (places is others and steps is their) or (several and more):
                        continue
                    found = np.searchsorted(unique, others).clip(max=max(len(unique) - 1, 0))
                    same = unique[found] == others if len(unique) else np.zeros(len(others), bool)
                    apart = same & (steps[first[found]] != their) if len(unique) else same
                    if apart.any() and not self.bound.in_order:
                        does = "writes" if also else "reads"
                        raise DisorderError(
                            f"a step of {what} {does} an element of {block.name} that another one writes"
                        )
                    if where != nest_pass or also or len(others) == 0:
                        continue
                    # Reads of the same pass: each element may read what it writes itself.
                    number = np.arange(len(others))
                    if len(others) == len(places) and (same & (first[found] != number)).any() and not several:
                        raise DisorderError(f"an element of {what} reads one of {block.name} that another one writes")
