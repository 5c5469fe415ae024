"""The canonical form of a nest: axes walked as one are merged; sizes, strides and constants become parameters."""

from __future__ import annotations

from dataclasses import dataclass

from nxkernel import shapes, types
from nxkernel.compilers.analysis.operation_costs import cost
from nxkernel.compilers.schedule import loop_nest
from nxkernel.compilers.schedule.hoisting import hoisted
from nxkernel.compilers.schedule.kernel_groups import KernelGroup
from nxkernel.compilers.schedule.loop_nest import (
    Access,
    BufferRole,
    LaneAxis,
    Nest,
    NestConstant,
    NestPass,
    PassLevel,
    ScalarKind,
    Stride,
)
from nxkernel.graph.expr import Expr
from nxkernel.types import Type


@dataclass
class BoundNest:
    """A nest with the sizes, strides, constants and buffers of one graph.

    Parameters
    ----------
    nest : Nest
    buffers : list of (Expr, int)
        For each memory buffer of the nest: whose memory, and the offset in bytes.
    scalars : list of (int or NestConstant)
        The values of the parameters that :meth:`Nest.scalars` lists.
    count : int
        Length of the parallel range.
    work : int
        About how many simple instructions one step of it takes.
    nodes : list of Expr
        What it computes.
    elements : int
        Elements of the full space.
    in_order : bool
        Whether steps must follow each other.
    """

    nest: Nest
    buffers: list[tuple[Expr, int]]
    scalars: list[int | NestConstant]
    count: int
    work: int
    nodes: list[Expr]
    elements: int
    in_order: bool = False


@dataclass
class Raw:
    """A buffer or running index, with its steps in elements along the axes before they are merged."""

    owner: Expr | None
    type: Type
    role: BufferRole
    offset: int
    steps: dict[int, int]


@dataclass
class Draft:
    """A nest over the axes of its kernel's space, before any are merged.

    Parameters
    ----------
    kernel : KernelGroup
    lanes, tile
        How vectors run; see :class:`~nxkernel.compilers.schedule.axis_roles.AxisRoles`.
    sizes : dict
        Of each axis.
    outer, inner : list of int
        The axes.
    raws : list of Raw
    passes : list of NestPass
    slots, scratches : list of Type
    constants : list of NestConstant
    nodes : list of Expr
    in_order : bool
        Whether steps must follow each other.
    limits : tuple of int
        The slots of the limits of the last inner axis.
    """

    kernel: KernelGroup
    lanes: LaneAxis
    tile: tuple[int, ...]
    sizes: dict[int, int]
    outer: list[int]
    inner: list[int]
    raws: list[Raw]
    passes: list[NestPass]
    slots: list[Type]
    scratches: list[Type]
    constants: list[NestConstant]
    nodes: list[Expr]
    in_order: bool
    limits: tuple[int, ...]

    def bound(self) -> BoundNest:
        """The nest in canonical form, bound to this graph's parameters."""
        kernel = self.kernel
        self._merge_axes()
        if self.lanes is LaneAxis.INNER:
            self.passes, self.slots, self.limits = hoisted(self.passes, self.slots, self.limits)
        block = kernel.block
        split = self.inner.index(block[0]) if block else -1
        reducing = kernel.reduce is not None
        tiled = not reducing and bool(self.inner)
        flat = tiled and len(self.inner) == 2
        axes = [*self.outer, *self.inner]
        lane = axes[-1] if self.lanes is LaneAxis.INNER and self.inner else self.outer[-1] if self.outer else None
        accesses = tuple(
            Access(
                raw.type,
                raw.role,
                self._strides(raw, axes, lane, flat),
                like,
            )
            for raw, like in zip(self.raws, self._alike(), strict=True)
        )
        nest = Nest(
            self.lanes,
            self.tile,
            len(self.outer),
            len(self.inner),
            tiled,
            flat,
            split,
            self.limits,
            tuple(self.passes),
            accesses,
            tuple(self.slots),
            tuple(self.scratches),
            tuple(type_ for _, type_ in self.constants),
        )
        return self._bind(nest, axes)

    def _strides(self, raw: Raw, axes: list[int], lane: int | None, flat: bool) -> tuple[Stride, ...]:
        steps = [raw.steps.get(axis, 0) for axis in axes]
        if not flat:
            pairs = zip(steps, axes, strict=True)
            return tuple(
                Stride.DOUBLE if _doubled(raw, step, axis == lane) else _stride(step, axis == lane)
                for step, axis in pairs
            )
        outer = tuple(_stride(step, False) for step in steps[:-2])
        if steps[-1] == 1 and steps[-2] == self.sizes[axes[-1]]:
            return (*outer, Stride.MERGED, Stride.UNIT)
        return (*outer, _stride(steps[-2], False), Stride.UNIT if steps[-1] == 1 else _stride(steps[-1], False))

    def _alike(self) -> list[int]:
        """For each buffer the first one in the same memory with the same steps; -1 where that is itself."""
        first: dict[object, int] = {}
        likes = []
        for number, raw in enumerate(self.raws):
            moves = (id(raw.owner), raw.type, raw.role, tuple(sorted(raw.steps.items())))
            other = first.setdefault(moves if raw.owner is not None else number, number)
            likes.append(-1 if other == number else other)
        return likes

    def _bind(self, nest: Nest, axes: list[int]) -> BoundNest:
        sizes = [self.sizes[a] for a in axes]
        block = self.kernel.block
        tiles = (
            shapes.ceil_div(shapes.size(sizes[-2:] if nest.flat else sizes[-1:]), loop_nest.TILE) if nest.tiled else 1
        )
        values = {ScalarKind.TILES: tiles, ScalarKind.FAILURE: 0}
        if block:
            values |= {
                ScalarKind.BLOCK: block[1],
                ScalarKind.BLOCKS: block[2],
                ScalarKind.STEP: shapes.size(sizes[: nest.outer]),
            }
        scalars: list[int | NestConstant] = []
        for kind, number, axis in nest.scalars():
            if kind is ScalarKind.SIZE:
                scalars.append(sizes[axis])
            elif kind is ScalarKind.STRIDE:
                scalars.append(self.raws[number].steps[axes[axis]])
            elif kind is ScalarKind.START:
                scalars.append(self.raws[number].offset)
            elif kind is ScalarKind.CONSTANT:
                scalars.append(_part(self.constants[number], axis))
            else:
                scalars.append(values[kind])
        outer = sizes[: nest.outer]
        if nest.lanes is LaneAxis.OUTER:
            outer = [*outer[:-1], shapes.ceil_div(outer[-1], loop_nest.COLUMNS)]
        elif nest.tile:
            rows, vectors, lanes = nest.tile
            if rows > 1:
                outer[-2] = shapes.ceil_div(outer[-2], rows)
            outer[-1] = shapes.ceil_div(outer[-1], vectors * lanes)
        count = shapes.size(outer) * tiles * (block[2] if block else 1)
        buffers = [
            (self.raws[number].owner, self.raws[number].offset * self.raws[number].type.size) for number in nest.memory
        ]
        elements = shapes.size(sizes)
        full = [nest_pass for nest_pass in nest.passes if nest_pass.level is PassLevel.FULL]
        body = sum(cost(op.name) for nest_pass in full for op in nest_pass.code) or 1
        work = max(elements, 1) * body // max(count, 1)
        return BoundNest(nest, buffers, scalars, count, work, self.nodes, elements, self.in_order)

    def _merge_axes(self) -> None:
        """Merge adjacent axes that every buffer walks as if they were one."""
        self._merge(self.outer, None)
        self._merge(self.inner, self.kernel.block[0] if self.kernel.block else None)
        if self.kernel.reduce is None and self.inner:
            while self.outer and self._mergeable(self.outer[-1], self.inner[0]):
                self._fuse(self.outer.pop(), self.inner[0])

    def _merge(self, axes: list[int], fixed: int | None) -> None:
        position = len(axes) - 2
        while position >= 0:
            first, second = axes[position], axes[position + 1]
            if fixed not in (first, second) and self._mergeable(first, second):
                axes.pop(position)
                self._fuse(first, second)
            position -= 1

    def _mergeable(self, first: int, second: int) -> bool:
        size = self.sizes[second]
        return all(raw.steps.get(first, 0) == raw.steps.get(second, 0) * size for raw in self.raws)

    def _fuse(self, first: int, second: int) -> None:
        self.sizes[second] *= self.sizes[first]
        for raw in self.raws:
            raw.steps.pop(first, None)


def _part(constant: NestConstant, which: int) -> NestConstant:
    """A real constant, or one part of a complex constant: 0 for the real part, 1 for the imaginary one."""
    if not constant.type.is_complex:
        return constant
    number = complex(constant.value)
    return NestConstant(number.imag if which else number.real, types.to_real(constant.type))


def _doubled(raw: Raw, step: int, lane: bool) -> bool:
    """Whether vectors take every second element: two loads and a shuffle are faster than a gather."""
    return lane and step == 2 and raw.role is BufferRole.READ


def _stride(step: int, lane: bool) -> Stride:
    """The kind of stride for a step in elements; unit strides are told apart only along the lanes."""
    return _ALONG_LANES.get(step, _DYNAMIC) if lane or not step else _DYNAMIC


_ALONG_LANES = {0: Stride.NONE, 1: Stride.UNIT, -1: Stride.REVERSED}
_DYNAMIC = Stride.DYNAMIC
