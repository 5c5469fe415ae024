"""Removing index clamps of a nest that range analysis proves unnecessary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from nxkernel import types
from nxkernel.compilers.analysis import integer_ranges
from nxkernel.compilers.analysis.integer_ranges import Interval
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import NestPass, Op, ScalarKind
from nxkernel.graph.expr import Expr

_LEAST, _MOST = types.limits(types.s64)


@dataclass
class Facts:
    """Parameters of a bound nest of which more is known than their kind, so that an inlined kernel can do less.

    Parameters
    ----------
    numbers : dict of int to int
        For constants that are part of clamps, what may as well be in their place: 0, which is the same for all arrays,
        or the end of the type, where the clamp never cuts.
    strides : dict of int to Expr
        For constants that an index is multiplied by, the array that it is an index of.
    limits_fit_size : bool
        Whether the limits of the last axis are never beyond its end.
    """

    numbers: dict[int, int] = field(default_factory=dict)
    strides: dict[int, Expr] = field(default_factory=dict)
    limits_fit_size: bool = False


def facts(bound: BoundNest, known: Mapping[Expr, Interval]) -> Facts:
    """The facts that range analysis proves for the scalar parameters of a nest.

    Parameters
    ----------
    bound : BoundNest
    known : mapping
        The intervals of single integers.
    """
    return _NestReader(bound, known).read()


class _NestReader:
    def __init__(self, bound: BoundNest, known: Mapping[Expr, Interval]) -> None:
        self.bound, self.nest, self.known = bound, bound.nest, known
        scalars = list(zip(bound.scalars, self.nest.scalars(), strict=True))
        self.constants = {number: scalar for scalar, (kind, number, _) in scalars if kind is ScalarKind.CONSTANT}
        self.size = next(
            (scalar for scalar, (kind, _, axis) in scalars if kind is ScalarKind.SIZE and axis == self.nest.outer), 0
        )
        self.owners = dict(zip(self.nest.memory, bound.buffers, strict=True))
        self.slots: dict[int, Interval] = {}
        self.kept: dict[int, tuple[NestPass, int]] = {}
        used = Counter(nest_pass.code[arg].entry for nest_pass in self.nest.passes for arg in _constants(nest_pass))
        self.used_once = {number for number, uses in used.items() if uses == 1}
        self.found = Facts()

    def read(self) -> Facts:
        """Collect the facts from all passes."""
        for nest_pass in self.nest.passes:
            intervals = self._intervals(nest_pass)
            for slot, number in nest_pass.keeps:
                self.kept[slot] = nest_pass, number
                if number in intervals:
                    self.slots[slot] = intervals[number]
            for op in nest_pass.code:
                if op.name in ("load", "gather") and op.args:
                    self._strides(nest_pass, op.args[0], op.entry)
            for scatter in nest_pass.scatters:
                self._strides(nest_pass, scatter.offset, scatter.buffer)
        if self.nest.limits and self.nest.inner == 1 and not self.nest.scratches:
            self.found.limits_fit_size = self.slots.get(self.nest.limits[1], (0, _MOST))[1] <= self.size
        return self.found

    def _intervals(self, nest_pass: NestPass) -> dict[int, Interval]:
        intervals: dict[int, Interval] = {}
        for number, op in enumerate(nest_pass.code):
            interval = self._interval(op, intervals)
            low, high = types.limits(op.type) if op.type.is_integer else (1, 0)
            if interval is not None and low <= interval[0] and interval[1] <= high:
                intervals[number] = interval
            if op.name in ("max", "min") and op.type is types.s64:
                self._clamp(nest_pass, op, intervals.get(op.args[0]))
        return intervals

    def _interval(self, op: Op, intervals: Mapping[int, Interval]) -> Interval | None:
        if op.name == "const" and op.type.is_integer:
            value = int(self.constants[op.entry][0])
            return value, value
        if op.name == "slot":
            return self.slots.get(op.entry)
        if op.name == "load" and not op.args:
            owner, offset = self.owners[op.entry]
            return self.known.get(owner) if offset == 0 and owner.type is op.type else None
        rule = integer_ranges.rule(op.name)
        if rule is None or any(arg not in intervals for arg in op.args):
            return None
        return rule(*(intervals[arg] for arg in op.args))

    def _clamp(self, nest_pass: NestPass, op: Op, interval: Interval | None) -> None:
        bound = nest_pass.code[op.args[1]]
        if bound.name != "const" or bound.entry not in self.used_once:
            return
        limit, low_high = int(self.constants[bound.entry][0]), interval or (_LEAST, _MOST)
        if op.name == "max" and low_high[0] >= limit:
            self.found.numbers[bound.entry] = _LEAST
        elif op.name == "min" and low_high[1] <= limit:
            self.found.numbers[bound.entry] = _MOST
        elif limit == 0:
            self.found.numbers[bound.entry] = 0

    def _strides(self, nest_pass: NestPass, number: int, buffer: int) -> None:
        """Record the constants that indices are multiplied by in a buffer's offset."""
        op = nest_pass.code[number]
        if op.name == "slot" and op.entry in self.kept:
            self._strides(*self.kept[op.entry], buffer)
        elif op.name == "add":
            for arg in op.args:
                self._strides(nest_pass, arg, buffer)
        elif op.name == "multiply" and nest_pass.code[op.args[1]].name == "const":
            self.found.strides[nest_pass.code[op.args[1]].entry] = self.owners[buffer][0]


def _constants(nest_pass: NestPass) -> list[int]:
    """The constants that a pass's instructions take as arguments, once for each use."""
    args = [arg for op in nest_pass.code for arg in op.args]
    args += [arg for reduce in nest_pass.reduces for arg in reduce.args]
    args += [number for _, number in (*nest_pass.stores, *nest_pass.keeps, *nest_pass.scratches)]
    args += [number for scatter in nest_pass.scatters for number in (scatter.value, scatter.offset)]
    return [arg for arg in args if nest_pass.code[arg].name == "const"]
