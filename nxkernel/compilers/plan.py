"""The plan of a program: its steps in order, and where each value lives in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.compilers import matmul
from nxkernel.compilers.canonical import Bound
from nxkernel.compilers.fusion import WHOLE, Fusion, Kernel
from nxkernel.compilers.matmul import Product
from nxkernel.compilers.nesting import Builder
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec

#: Buffers begin at multiples of this, so that vectors do not straddle cache lines.
ALIGNMENT = 64


@dataclass(frozen=True, eq=False)
class Whole:
    """A whole operation.

    Parameters
    ----------
    node : Expr
    results : tuple of (Expr or None)
        The values that it computes; None for one that nobody needs.
    routine : Any
        How the compiler runs it.
    scratch : Expr or None
        Memory that only it uses.
    """

    node: Expr
    results: tuple[Expr | None, ...]
    routine: Any
    scratch: Expr | None


@dataclass(eq=False)
class Step:
    """A loop nest, a product of matrices or a whole operation, what it reads and what it writes."""

    work: Bound | Product | Whole
    reads: list[Expr]
    writes: list[Expr]
    after: list[Step] = field(default_factory=list)


@dataclass
class Plan:
    """Steps and memory of one graph.

    Parameters
    ----------
    steps : list of Step
        In the order in which they run.
    place : dict
        For each value in memory: ``("input", i)``, ``("output", j)`` or ``("work", offset)``.
    outputs : list of int
        For each output of the graph, which of the allocated arrays it is in.
    arrays : list of Expr
        For each array to allocate, the value in it (a reshape of what is computed, at most).
    workspace : int
        Bytes of the memory for values that are no outputs.
    """

    steps: list[Step]
    place: dict[Expr, tuple[str, int]]
    outputs: list[int]
    arrays: list[Expr]
    workspace: int


#: What a compiler says of a whole operation: how it runs it, and how many bytes it needs besides.
Routines = Callable[[Expr], tuple[Any, int]]


def plan(outputs: Sequence[Expr], routines: Routines) -> Plan:
    """The plan for a prepared graph.

    Parameters
    ----------
    outputs : sequence of Expr
    routines : callable
        Gives the compiler's routine for a whole operation, and the bytes of memory that it needs besides.
    """
    fusion = Fusion(outputs)
    owners = [fusion.buffer_of(output) for output in outputs]
    results = list(dict.fromkeys(owners))
    number = {result: index for index, result in enumerate(results)}
    steps = _ordered(_steps(fusion, results, routines))
    place, workspace = _Memory(steps, results).placed()
    for node in fusion.order:
        if node.primitive is p.parameter:
            place[node] = ("input", node.params["index"])
    for result, index in number.items():
        place[result] = ("output", index)
    for node in fusion.order:
        owner = fusion.buffer_of(node)
        if owner is not node and owner in place:
            place[node] = place[owner]
    shown = dict(zip(reversed(owners), reversed(outputs), strict=True))
    arrays = [shown[result] for result in results]
    return Plan(steps, place, [number[owner] for owner in owners], arrays, workspace)


def _steps(fusion: Fusion, results: list[Expr], routines: Routines) -> list[Step]:
    kept = set(results)
    for kernel in fusion.kernels:
        for anchor in kernel.anchors:
            for node, _ in fusion.reach(anchor, fusion.start(anchor, kernel), set()):
                owner = fusion.buffer_of(node)
                if fusion.home.get(owner) is not kernel:
                    kept.add(owner)
        for store in kernel.stores:
            kept.update(fusion.buffer_of(node) for node, _ in fusion.reach_store(store))
    steps: dict[object, Step] = {}
    for node in fusion.order:
        if node.primitive is p.dot:
            axes = matmul.axes_of(node)
            bases = dict(zip(node.operands, map(fusion.memory_of, node.operands, axes), strict=True))
            product = matmul.product(node, bases.__getitem__)
            reads = [fusion.buffer_of(product.left.base), fusion.buffer_of(product.right.base)]
            kept.update(reads)
            steps[node] = Step(product, reads, [node])
        elif node.primitive.family in WHOLE:
            reads = [fusion.buffer_of(operand) for operand in node.operands]
            kept.update(reads)
            steps[node] = _whole_step(node, reads, fusion.users[node], routines)
    for kernel in fusion.kernels:
        if not kernel.stores and not any(anchor in kept for anchor in kernel.anchors):
            continue
        steps[kernel] = _nest_step(fusion, kernel, kept)
    for kernel in fusion.kernels:
        if kernel.stores:
            steps[kernel].after = [steps[other] for other in kernel.needs if other.stores and other in steps]
    return list(steps.values())


def _whole_step(node: Expr, reads: list[Expr], users: list[Expr], routines: Routines) -> Step:
    if type(node.spec) is tuple:
        parts = {user.params["index"]: user for user in users}
        results = tuple(parts.get(index) for index in range(len(node.spec)))
    else:
        results = (node,)
    routine, size = routines(node)
    scratch = Expr(p.constant, (), {}, Spec(types.u8, (size,), (None,))) if size else None
    writes = [result for result in (*results, scratch) if result is not None]
    return Step(Whole(node, results, routine, scratch), reads, writes)


def _nest_step(fusion: Fusion, kernel: Kernel, kept: set[Expr]) -> Step:
    bound = Builder(fusion, kernel, kept.__contains__).build()
    roles = [bound.nest.buffers[number].role for number in bound.nest.memory]
    owners = [owner for owner, _ in bound.buffers]
    reads = [o for o, role in zip(owners, roles, strict=True) if role == "read"]
    writes = [o for o, role in zip(owners, roles, strict=True) if role == "write"]
    return Step(bound, reads, writes)


def _ordered(steps: list[Step]) -> list[Step]:
    """Steps so that each follows those that write what it reads."""
    writers: dict[Expr, list[Step]] = {}
    for step in steps:
        for node in step.writes:
            writers.setdefault(node, []).append(step)
    order: list[Step] = []
    done: set[Step] = set()
    waiting: set[Step] = set()
    for root in steps:
        stack = [root]
        while stack:
            step = stack[-1]
            waits = [w for node in step.reads for w in writers.get(node, ()) if w is not step] + step.after
            missing = [w for w in waits if w not in done]
            if step in done or not missing:
                stack.pop()
                if step not in done:
                    done.add(step)
                    order.append(step)
                continue
            if any(w in waiting for w in missing):
                raise AssertionError("two steps of a plan wait for each other")
            waiting.add(step)
            stack.extend(missing)
    return order


class _Memory:
    """Finds a place for each value that is no input: outputs have their arrays, the rest shares a workspace."""

    def __init__(self, steps: list[Step], results: list[Expr]) -> None:
        self.steps, self.results = steps, results
        self.first: dict[Expr, int] = {}
        self.last: dict[Expr, int] = {}
        for time, step in enumerate(steps):
            for node in step.writes:
                self.first.setdefault(node, time)
                self.last[node] = time
            for node in step.reads:
                self.last[node] = time

    def placed(self) -> tuple[dict[Expr, tuple[str, int]], int]:
        """Where values live, and the size of the workspace."""
        place: dict[Expr, tuple[str, int]] = {}
        outputs = {node: index for index, node in enumerate(self.results)}
        taken: list[tuple[int, int, int, int]] = []  # first, last, offset, end
        borrowed: dict[int, list[tuple[int, int]]] = {}
        total = 0
        values = [node for node in self.first if node not in outputs]
        for node in sorted(values, key=lambda n: (-_bytes(n), self.first[n])):
            first, last, size = self.first[node], self.last[node], _bytes(node)
            index = self._in_output(node, outputs, borrowed)
            if index is not None:
                borrowed.setdefault(index, []).append((first, last))
                place[node] = ("output", index)
                continue
            size = shapes.ceil_div(max(size, 1), ALIGNMENT) * ALIGNMENT
            offset = 0
            for _, _, begin, end in sorted((t for t in taken if t[0] <= last and first <= t[1]), key=lambda t: t[2]):
                if offset + size <= begin:
                    break
                offset = max(offset, end)
            taken.append((first, last, offset, offset + size))
            total = max(total, offset + size)
            place[node] = ("work", offset)
        return place, total

    def _in_output(self, node: Expr, outputs: dict[Expr, int], borrowed: dict[int, list]) -> int | None:
        """An output whose array is free while a value lives: written afterwards, or over it element by element."""
        for output, index in outputs.items():
            begin = self.first.get(output)
            if begin is None or _bytes(output) < _bytes(node):
                continue
            free = begin > self.last[node] or (begin == self.last[node] and self._over(self.steps[begin], node, output))
            clear = all(self.last[node] < a or b < self.first[node] for a, b in borrowed.get(index, ()))
            if free and clear:
                return index
        return None

    @staticmethod
    def _over(step: Step, old: Expr, new: Expr) -> bool:
        """Whether a step reads each element of `old` only where it writes the element of `new` in its place."""
        bound = step.work
        if not isinstance(bound, Bound) or bound.nest.kind != "map" or old.type.size != new.type.size:
            return False
        memory = [bound.nest.buffers[number] for number in bound.nest.memory]
        mine = [k for k, (owner, _) in enumerate(bound.buffers) if owner is old]
        others = [k for k, (owner, _) in enumerate(bound.buffers) if owner is new]
        if len(mine) != 1 or len(others) != 1 or len(step.writes) != 1:
            return False
        (a,), (b,) = mine, others
        if any(
            op.name in ("load", "gather") and op.args and op.extra == bound.nest.memory[a] for op in bound.nest.ops()
        ):
            return False
        whole = all(not set("0s2") & set(memory[k].strides) for k in (a, b))
        return whole and bound.nest.outer == 0 and bound.buffers[a][1] == bound.buffers[b][1] == 0


def _bytes(node: Expr) -> int:
    return shapes.size(node.shape) * node.type.size
