"""Buffer assignment: outputs get arrays of their own, intermediate values share a workspace by lifetime."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import Stride
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec

if TYPE_CHECKING:
    from nxkernel.compilers.plan.program_plan import Step

#: Buffers begin at multiples of this, so that vectors do not straddle cache lines.
ALIGNMENT = 64
#: Strides of a buffer of which a nest over one axis does not go over each element once, in order.
_OUT_OF_STEP = frozenset([Stride.NONE, Stride.DYNAMIC, Stride.DOUBLE])


def placed(
    steps: list[Step], results: list[Expr], root: Callable[[Expr], Expr], numbers: Collection[Expr]
) -> tuple[dict[Expr, Location], int]:
    """Assign memory to every value: the location of each, and the size of the workspace in bytes.

    Parameters
    ----------
    steps : list of Step
        In order.
    results : list of Expr
        The values that are outputs.
    root : callable
        The value whose memory a value is in.
    numbers : collection of Expr
        What the program keeps by itself.
    """
    return _BufferAssigner(steps, results, root, numbers).placed()


def aligned(size: int) -> int:
    """A size in bytes rounded up to the alignment of buffers."""
    return shapes.ceil_div(max(size, 1), ALIGNMENT) * ALIGNMENT


def bytes_of(node: Expr | Spec) -> int:
    """The size in bytes of a value, or of the value that a spec describes."""
    return shapes.size(node.shape) * node.type.size


class _BufferAssigner:
    """Assigns a location to each value that is no input: outputs have arrays, others share a workspace by lifetime."""

    def __init__(
        self, steps: list[Step], results: list[Expr], root: Callable[[Expr], Expr], numbers: Collection[Expr]
    ) -> None:
        self.steps, self.results, self.root, self.numbers = steps, results, root, numbers
        self.first: dict[Expr, int] = {}
        self.last: dict[Expr, int] = {}
        for time, step in enumerate(steps):
            for node in map(root, step.writes):
                self.first.setdefault(node, time)
                self.last[node] = time
            for node in map(root, step.reads):
                self.last[node] = time

    def placed(self) -> tuple[dict[Expr, Location], int]:
        """The location of each value, and the size of the workspace in bytes."""
        locations: dict[Expr, Location] = {}
        outputs = set(self.results)
        arrays = [
            (node, index, self.first[node], bytes_of(node))
            for index, node in enumerate(self.results)
            if node in self.first
        ]
        taken: list[tuple[int, int, int, int]] = []  # first, last, offset, end
        borrowed: dict[int, list[tuple[int, int]]] = {}
        total = 0
        values = [node for node in self.first if node not in outputs and node.primitive is not p.parameter]
        for node in sorted(values, key=lambda n: (-bytes_of(n), self.first[n])):
            if node in self.numbers or shapes.size(node.shape) == 1:
                locations[node] = Location.scalar(len(locations))
                continue
            first, last, size = self.first[node], self.last[node], bytes_of(node)
            index = self._in_output(node, size, arrays, borrowed)
            if index is not None:
                borrowed.setdefault(index, []).append((first, last))
                locations[node] = Location.output(index)
                continue
            size = aligned(size)
            offset = 0
            for _, _, begin, end in sorted((t for t in taken if t[0] <= last and first <= t[1]), key=lambda t: t[2]):
                if offset + size <= begin:
                    break
                offset = max(offset, end)
            taken.append((first, last, offset, offset + size))
            total = max(total, offset + size)
            locations[node] = Location.workspace(offset)
        return locations, total

    def _in_output(
        self, node: Expr, size: int, arrays: list[tuple[Expr, int, int, int]], borrowed: dict[int, list]
    ) -> int | None:
        """The index of an output array that is free during a value's lifetime, or None: written later, or over the
        value element by element.

        Of each output that is given there are its number, the time when it is written, and its bytes.
        """
        first, last = self.first[node], self.last[node]
        for output, index, begin, capacity in arrays:
            if begin < last or capacity < size:
                continue
            clear = all(last < a or b < first for a, b in borrowed.get(index, ()))
            if clear and (begin > last or self._over(self.steps[begin], node, output)):
                return index
        return None

    @staticmethod
    def _over(step: Step, old: Expr, new: Expr) -> bool:
        """Whether a step reads each element of `old` only where it writes the element of `new` at the same position."""
        bound = step.work
        if not isinstance(bound, BoundNest) or bound.nest.kind != "map" or old.type.size != new.type.size:
            return False
        memory = [bound.nest.buffers[number] for number in bound.nest.memory]
        mine = [k for k, (owner, _) in enumerate(bound.buffers) if owner is old]
        others = [k for k, (owner, _) in enumerate(bound.buffers) if owner is new]
        if len(mine) != 1 or len(others) != 1 or len(step.writes) != 1:
            return False
        (a,), (b,) = mine, others
        if any(
            op.name in ("load", "gather") and op.args and op.entry == bound.nest.memory[a] for op in bound.nest.ops()
        ):
            return False
        whole = all(_OUT_OF_STEP.isdisjoint(memory[k].strides) for k in (a, b))
        return whole and bound.nest.outer == 0 and bound.buffers[a][1] == bound.buffers[b][1] == 0
