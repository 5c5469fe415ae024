"""Dependence analysis of loops: whether iterations are independent, so that they can run in parallel.

Such a loop counts, carries nothing else from iteration to iteration, and goes through each array that it changes along
one axis: iteration ``i`` touches ``a[.., m * i + c, ..]`` alone, for values of ``c`` that lie closer than one iteration
is to the next. Its iterations may run in any order, and on all threads.

That is read off the plan of an iteration and not off its graph: an update that is no update in place, a branch that
brings a side's array to where the other side's is, and a loop that begins with a copy touch all of an array. What is
not known to touch a part of an array touches all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.compilers.analysis import integer_ranges, scalars
from nxkernel.compilers.analysis.integer_ranges import Interval
from nxkernel.compilers.plan import loop_buffers
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.graph.expr import Expr
from nxkernel.graph.intervals import iteration_step
from nxkernel.graph.traverse import post_order

if TYPE_CHECKING:
    from nxkernel.compilers.plan.program_plan import Control, ProgramPlan

#: ``(m, c)`` for an index that is ``m`` times the counter plus ``c``, with `m` other than 0.
Line = tuple[int, int]
#: An axis of an array, the `m`, and the least and greatest `c` of the indices along it.
Lane = tuple[int, int, int, int]


@dataclass(frozen=True)
class Independence:
    """A loop with independent iterations: its counter, its range, and the arrays that iterations write.

    Parameters
    ----------
    counter : int
        Its place in the state.
    step : int
        What is added to it in an iteration.
    bound : Expr
        A parameter of the condition, or a constant, before which the counter ends.
    lanes : dict
        For each array of the state that changes, by place, where an iteration touches it.
    """

    counter: int
    step: int
    bound: Expr
    lanes: dict[int, Lane]


def independence(node: Expr, body: ProgramPlan) -> Independence | None:
    """Analyze whether the iterations of a loop are independent; None if they are not, or it is unknown.

    Parameters
    ----------
    node : Expr
        A ``while``.
    body : ProgramPlan
        Of its body.
    """
    graph, count = body.graph, node.params["state"]
    counted = _counted(node)
    if counted is None:
        return None
    counter, step, bound = counted
    changing = [k for k in range(count) if body.outputs[k] != Location.input(k) or k in body.overwritten]
    used = set(post_order([body.results[position] for position in changing]))
    arrays = [position for position in changing if not scalars.is_single(node.operands[position])]
    for position in changing:
        # A number that an iteration reads before it has set it comes from the iteration before.
        if position != counter and position not in arrays and graph.parameters[position] in used:
            return None
    if any(body.outputs[position] != Location.input(position) for position in arrays):
        return None
    touched = _Touched(abs(step))
    try:
        touched.plan(body, {position: position for position in arrays}, {graph.parameters[counter]: (1, 0)})
    except _DependentError:
        return None
    lanes = {position: touched.lane(position) for position in arrays}
    if None in lanes.values():
        return None
    return Independence(counter, step, bound, lanes)


def _counted(node: Expr) -> tuple[int, int, Expr] | None:
    """The position of a loop's counter in its state, its step, and the bound that it is compared with; None if it has
    none.
    """
    condition, body, count = node.params["condition"], node.params["body"], node.params["state"]
    (asked,) = condition.outputs
    if asked.primitive not in (p.less, p.greater):
        return None
    left, right = asked.operands
    positions = {parameter: position for position, parameter in enumerate(condition.parameters)}
    fixed = right.primitive is p.constant or positions.get(right, 0) >= count
    position = positions.get(left, count)
    if not fixed or position >= count or left.type is not types.s64 or right.type is not types.s64:
        return None
    step = iteration_step(body, position)
    if not step or (step > 0) != (asked.primitive is p.less):
        return None
    return position, step, right


class _DependentError(Exception):
    """Two iterations may access the same element, and one of them writes it."""


class _Touched:
    """Collects which elements of each array the iterations access, as index ranges relative to the counter.

    Parameters
    ----------
    step : int
        How far the counter gets in an iteration.
    """

    def __init__(self, step: int) -> None:
        self.step = step
        #: By array, then by axis and `m`: the least and greatest `c`.
        self.lanes: dict[int, dict[tuple[int, int], tuple[int, int]]] = {}

    def lane(self, array: int) -> Lane | None:
        """The index range of an array that only one iteration accesses; None if there is none."""
        spans = sorted(self.lanes.get(array, {}).items())
        disjoint = [(*key, *span) for key, span in spans if span[1] - span[0] < abs(key[1]) * self.step]
        return disjoint[0] if disjoint else None

    def plan(self, plan: ProgramPlan, arrays: Mapping[int, int], counters: Mapping[Expr, Line]) -> None:
        """Collect the accesses of a plan's steps.

        Parameters
        ----------
        plan : ProgramPlan
        arrays : mapping
            Its inputs in whose memory arrays of the loop are.
        counters : mapping
            Its parameters that are the counter, or come from it.
        """

        def which(node: Expr) -> int | None:
            """The array in whose memory a value is."""
            location = plan.place.get(node)
            return arrays.get(location.number) if location and location.memory is MemoryKind.INPUT else None

        for node in post_order(plan.results):
            mine = [position for position, operand in enumerate(node.operands) if which(operand) is not None]
            if node.primitive is p.parameter or node.primitive is p.elem or (not mine and which(node) is None):
                continue
            if node.primitive.family == "control":
                if node in plan.controls:
                    self._control(
                        plan.controls[node],
                        {position: which(node.operands[position]) for position in mine},
                        counters,
                        plan,
                    )
                continue
            array = which(node.operands[0]) if mine == [0] else None
            if array is None or node.primitive not in _INDEXED:
                raise _DependentError
            if node.primitive in _UPDATES and which(node) != array:
                # It is written elsewhere, and begins with a copy of what it updates.
                raise _DependentError
            axes, indices, lengths = _INDEXED[node.primitive](node)
            self._touch(array, node.operands[0], axes, indices, lengths, counters, plan.ranges)

    def _touch(
        self,
        array: int,
        node: Expr,
        axes: Sequence[int],
        indices: Sequence[Expr],
        lengths: Sequence[int],
        counters: Mapping[Expr, Line],
        known: Mapping[Expr, Interval],
    ) -> None:
        here: dict[tuple[int, int], tuple[int, int]] = {}
        for axis, index, length in zip(axes, indices, lengths, strict=True):
            line = _line(index, counters, known)
            low, high = known.get(index, (-1, integer_ranges.UNKNOWN))
            # An index that could be moved to where there are elements would be that of two iterations.
            if line is not None and length and low >= 0 and high + length <= node.shape[axis]:
                factor, offset = line
                here[axis, factor] = offset, offset + length - 1
        before = self.lanes.get(array, here)
        self.lanes[array] = {
            key: (min(span[0], before[key][0]), max(span[1], before[key][1]))
            for key, span in here.items()
            if key in before
        }
        if self.lane(array) is None:
            raise _DependentError

    def _control(
        self, control: Control, arrays: Mapping[int, int], counters: Mapping[Expr, Line], around: ProgramPlan
    ) -> None:
        """Collect the accesses of an inner loop or branch that has arrays of the loop among its operands."""
        node = control.node
        if loop_buffers.copied(node, control.parts, control.shared) & set(arrays):
            raise _DependentError
        first = int(node.primitive is p.cond)
        # What a loop changes from iteration to iteration is no function of the counter of the loop around it.
        fixed = first or node.params["state"]
        for part in control.parts:
            passed = zip(part.graph.parameters[fixed - first :], node.operands[fixed:], strict=True)
            inside = {position - first: array for position, array in arrays.items()}
            self.plan(part, inside, _handed(list(passed), counters, around.ranges))


def _handed(
    passed: Sequence[tuple[Expr, Expr]], counters: Mapping[Expr, Line], known: Mapping[Expr, Interval]
) -> dict[Expr, Line]:
    """The parameters of a part that depend linearly on the counter of the loop around it."""
    lines = [(parameter, _line(operand, counters, known)) for parameter, operand in passed]
    return {parameter: line for parameter, line in lines if line is not None}


def _line(index: Expr, counters: Mapping[Expr, Line], known: Mapping[Expr, Interval]) -> Line | None:
    """An index as ``factor * counter + distance``; None if it is not of that form."""
    if index in counters:
        return counters[index]
    if index.primitive is p.reshape:
        return _line(index.operands[0], counters, known)
    if index.primitive is p.select:
        # A negative index counts from the end; this one is known to be none, or to be one.
        truth = known.get(index.operands[0], (0, 1))
        return _line(index.operands[1 if truth[0] else 2], counters, known) if truth[0] == truth[1] else None
    if index.primitive not in (p.add, p.subtract, p.multiply) or index.type is not types.s64:
        return None
    left, right = index.operands
    if index.primitive is not p.subtract and left.primitive is p.constant:
        left, right = right, left
    line = _line(left, counters, known) if right.primitive is p.constant else None
    if line is None:
        return None
    (factor, offset), value = line, int(right.params["value"])
    if index.primitive is p.multiply:
        return (factor * value, offset * value) if value else None
    return factor, offset + (value if index.primitive is p.add else -value)


def _sliced(node: Expr) -> tuple[Sequence[int], Sequence[Expr], Sequence[int]]:
    return range(len(node.shape)), node.operands[1:], node.params["lengths"]


def _put(node: Expr) -> tuple[Sequence[int], Sequence[Expr], Sequence[int]]:
    counts = node.operands[1].shape
    strides = node.params.get("strides", (1,) * len(counts))
    return range(len(node.shape)), node.operands[2:], shapes.spans(counts, strides)


def _picked(node: Expr) -> tuple[Sequence[int], Sequence[Expr], Sequence[int]]:
    return _single(node.params["axes"], node.operands[1:])


def _scattered(node: Expr) -> tuple[Sequence[int], Sequence[Expr], Sequence[int]]:
    return _single(node.params["axes"], node.operands[2:])


def _single(axes: Sequence[int], indices: Sequence[Expr]) -> tuple[Sequence[int], Sequence[Expr], Sequence[int]]:
    return axes, indices, [1 if scalars.is_single(index) else 0 for index in indices]


_UPDATES = frozenset([p.put_slice, p.put_strided, p.scatter])
#: Primitives that touch a part of their first operand: along which axes, from which index, how many elements.
_INDEXED = {
    p.dynamic_slice: _sliced, p.put_slice: _put, p.put_strided: _put, p.gather: _picked, p.scatter: _scattered,
}  # fmt: skip
