"""Fusion: which values are materialized in memory, and which loop nest computes each of them.

A value that must exist in memory (an output, a reduction, an operand of a library) is *materialized*. Everything in
between is computed inside the nests that need it. A materialized value joins an existing nest when it runs over the
same space and nothing that it needs waits for that nest; so a softmax becomes one nest with three passes over each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.analysis import index_maps, matrix_products, scalars
from nxkernel.compilers.analysis.index_maps import Map
from nxkernel.compilers.analysis.operation_costs import ON_PROCESSOR, Keeping, cost
from nxkernel.compilers.schedule import dynamic_indices, piecewise_buffers
from nxkernel.compilers.schedule.kernel_groups import KernelGroup, space_of
from nxkernel.compilers.schedule.piecewise_buffers import Store
from nxkernel.graph.expr import Expr
from nxkernel.graph.traverse import post_order, users

#: Families whose primitives are whole operations: they read and write memory, apart from any nest.
WHOLE = frozenset(["cumulative", "sorting", "library", "control"])
#: Bytes of a value that no cache holds.
LARGE = 1 << 21


#: Elements that a kernel does at once, about.
LANES = 16
#: What a gathered element costs, in simple instructions.
GATHER = 4
#: Reductions of one nest at most: where lanes run along columns, each carries rows of them on the stack.
MOST_REDUCTIONS = 12
#: Most pieces that one kernel writes.
MOST_STORES = 64
#: Elements of a piece up to which all of a concatenation are written by one kernel.
SMALL_PIECES = 16
#: Operations in them up to which they are: longer code is shared by kernels that are equal.
SMALL_WORK = 32


def weight(node: Expr) -> int:
    """The cost of a node for one element, in simple instructions."""
    if node.primitive.family != "elementwise":
        return GATHER if node.primitive is p.gather else 0
    return cost(node.primitive.name)


class Fusion:
    """Decides which values of a prepared graph are materialized, and which kernel computes each of them.

    Attributes
    ----------
    order : list of Expr
        The graph's nodes, operands first.
    kernels : list of KernelGroup
        In no particular order; :mod:`nxkernel.compilers.plan.planner` sorts them.
    group_of : dict
        The kernel of each value that nests compute; library calls, pieces, single numbers and parameters have none.
    scalars : set of Expr
        What the program computes by itself, between the kernels.

    Parameters
    ----------
    outputs : sequence of Expr
    inline : bool
        Whether the program computes single numbers by itself.
    in_place : frozenset of Expr
        The updates that are written into the memory of what they update.
    kept : frozenset of Expr
        Values that are in memory whatever it costs.
    keeping : Keeping
        Which others are worth it.
    """

    def __init__(
        self,
        outputs: Sequence[Expr],
        inline: bool = False,
        in_place: frozenset[Expr] = frozenset(),
        kept: frozenset[Expr] = frozenset(),
        keeping: Keeping = ON_PROCESSOR,
    ) -> None:
        self.outputs = list(outputs)
        self.order = post_order(outputs)
        self.users = users(self.order)
        self.inline, self.in_place, self.kept, self.keeping = inline, in_place, kept, keeping
        self.scalars = scalars.inline(self.order, map(self._below, outputs)) if inline else set()
        self.group_of: dict[Expr, KernelGroup] = {}
        self._computed: dict[Expr, dict[KernelGroup, set[Map]]] = {}
        self.materialized = self._first_materialized()
        # Before anything is grouped every materialized value counts as a kernel. What then turns out to be needed in
        # one kernel only is computed there and not stored, so that a materialized value too many costs nothing.
        self.materialized |= self._worth_keeping()
        self._group()
        for _ in range(4):
            more = self._worth_keeping()
            if not more:
                break
            self.materialized |= more
            self._group()

    # Materialized values ----------------------------------------------------------------------------------------

    def is_buffer(self, node: Expr) -> bool:
        """Whether a value is in memory by the time that others read it, as a parameter or materialized value."""
        if node.primitive is p.parameter or node in self.materialized:
            return True
        return node.primitive is p.reshape and self.is_buffer(node.operands[0])

    def buffer_of(self, node: Expr) -> Expr:
        """The parameter or materialized value whose memory a value is in; reshapes share it."""
        while node not in self.materialized and node.primitive is p.reshape:
            node = node.operands[0]
        return node

    @staticmethod
    def _below(output: Expr) -> Expr:
        """The value that a chain of reshapes starts from."""
        while output.primitive is p.reshape:
            output = output.operands[0]
        return output

    @staticmethod
    def memory_of(operand: Expr, axes: tuple[list[int], list[int], list[int]]) -> Expr:
        """The value that must be materialized for BLAS to read an operand of a dot."""
        matrix = matrix_products.readable(operand, axes)
        return operand if matrix is None else matrix.base

    def _first_materialized(self) -> set[Expr]:
        materialized = {self._below(output) for output in self.outputs}
        for node in self.order:
            family = node.primitive.family
            if family in ("reduction", "contraction", "tuple") or node.primitive in piecewise_buffers.PIECES:
                materialized.add(node)
            elif family in WHOLE:
                materialized.update(operand for operand in node.operands if not self._is_literal(operand, node))
                if type(node.spec) is not tuple:
                    materialized.add(node)
            if node.primitive is p.dot:
                materialized.update(map(self.memory_of, node.operands, matrix_products.axes_of(node)))
            elif node.primitive is p.pad:
                materialized.add(node.operands[1])
            elif node.primitive in dynamic_indices.READS:
                materialized.add(node.operands[0])
        for node in self.scalars:
            materialized.add(node)
            materialized.update(scalars.reads_of(node))
        materialized |= self.kept
        materialized.update(
            piecewise_buffers.target(node) for node in self.in_place if node.primitive in piecewise_buffers.PIECES
        )
        self.materialized = materialized = {self._below(value) for value in materialized}
        for node in self.order:
            operand = node.operands[0] if node.operands else None
            if node.primitive is p.reshape and not index_maps.keeps_axes(node) and not self.is_buffer(operand):
                materialized.add(operand)
        cost = self._costs()
        for node in self.order:
            operand = node.operands[0] if node.operands else None
            least = {p.broadcast: self.keeping.value, p.windows: 1}.get(node.primitive)
            wider = least is not None and shapes.size(node.shape) > shapes.size(operand.shape)
            if wider and cost[operand] >= least and operand not in materialized:
                while index_maps.is_view(operand) and operand.primitive is not p.slice_:
                    operand = operand.operands[0]
                materialized.add(operand)
        return {value for value in materialized if value.primitive is not p.parameter}

    def _is_literal(self, operand: Expr, user: Expr) -> bool:
        """Whether an operand of a loop or branch is a constant scalar in the program's code."""
        return operand.primitive is p.constant and user.primitive.family == "control" and scalars.is_single(operand)

    def stores_element(self, node: Expr) -> bool:
        """Whether an in-place update writes one element, which the program does without a kernel."""
        return (
            self.inline
            and node in self.in_place
            and node.primitive in piecewise_buffers.PIECES
            and scalars.is_single(node.operands[1])
        )

    def _costs(self) -> dict[Expr, int]:
        """The cost of computing each value from materialized ones, for one element, up to 1000."""
        cost: dict[Expr, int] = {}
        for node in self.order:
            inner = sum(0 if o in self.materialized else cost[o] for o in node.operands)
            cost[node] = min(inner + weight(node), 1000)
        return cost

    def _worth_keeping(self) -> set[Expr]:
        """The values worth materializing: costly, and needed by several kernels or at several indices of one."""
        cost, more = self._costs(), set()
        wanted: dict[Expr, set[object]] = {}
        for node in reversed(self.order):
            # The kernels that ask for this value directly; a value that is kept asks once for all that need it.
            by: set[object] = set()
            for user in self.users[node]:
                by |= {self.group_of.get(user, user)} if user in self.materialized or user in more else wanted[user]
            wanted[node] = by
            if node.primitive.family != "elementwise" or node in self.materialized:
                continue
            large = shapes.size(node.shape) * node.type.size >= LARGE
            if cost[node] < (self.keeping.large if large else self.keeping.value):
                continue
            if len(by) > 1 or (self._places(node) > 1 and any(self._places(user) <= 1 for user in self.users[node])):
                more.add(node)
        return more

    def _places(self, node: Expr) -> int:
        """The most index maps at which one kernel computes a value."""
        return max((len(maps_) for maps_ in self._computed.get(node, {}).values()), default=0)

    # Grouping --------------------------------------------------------------------------------------------------

    def start(self, value: Expr, kernel: KernelGroup) -> Map:
        """The index map from which a kernel computes a materialized value: its own, or its operand's if it reduces."""
        if value.primitive.family == "reduction":
            return index_maps.identity(kernel.space)
        if value.shape == kernel.space and not self._row_level(value, kernel):
            return index_maps.identity(kernel.space)
        outer = [a for a in kernel.outer if kernel.space[a] != 1]
        places = iter(outer)
        return index_maps.identity(value.shape, [next(places) if n != 1 else -1 for n in value.shape])

    @staticmethod
    def _row_level(value: Expr, kernel: KernelGroup) -> bool:
        return kernel.reduce is not None and shapes.size(value.shape) < shapes.size(kernel.space)

    def _slow_by_rows(self, value: Expr, kernel: KernelGroup) -> bool:
        """Whether computing a value once a row, in scalar code, would take longer than the row's vectors."""
        cost = self._cost[value]
        if cost < self.keeping.value or len(kernel.space) - 1 not in kernel.reduce:
            return False
        readers = [self.users[user] if user.primitive is p.reshape else [user] for user in self.users[value]]
        if any(user.primitive is p.broadcast for group in readers for user in group):
            return False
        length = shapes.size([kernel.space[axis] for axis in kernel.reduce or ()])
        each = sum(
            1 + self._cost[one.operands[0]] for one in kernel.materialized if one.primitive.family == "reduction"
        )
        return each * length < LANES * cost

    def reach(self, value: Expr, map_: Map, computed: set[tuple[Expr, Map]]) -> set[tuple[Expr, Map | None]]:
        """The materialized values that computing a value reads, with their index maps; `computed` collects what is
        computed.

        What is read at a place that is known when the program runs has no map.
        """
        reads: set[tuple[Expr, Map | None]] = set()
        todo = [(value, map_)]
        if value.primitive.family == "reduction":
            # A fold's first value and what its body takes from outside are scalars.
            first, *rest = value.operands
            todo = [(first, map_), *((number, ()) for number in rest)]
        while todo:
            node, map_ = todo.pop()
            if (node, map_) in computed:
                continue
            if node is not value and (self.is_buffer(node) or node.primitive is p.constant):
                if node.primitive is not p.constant:
                    reads.add((node, map_))
                continue
            computed.add((node, map_))
            if index_maps.is_view(node):
                todo.append((node.operands[0], index_maps.through(node, map_)))
            elif node.primitive is p.reshape:
                reads.add((node, map_))
            elif node.primitive is p.dynamic_slice:
                reads.add((node.operands[0], None))
                todo.extend((start, ()) for start in node.operands[1:])
            elif node.primitive is p.gather:
                reads.add((node.operands[0], None))
                todo.extend((index, map_[: len(index.shape)]) for index in node.operands[1:])
            else:
                todo.extend((operand, map_) for operand in node.operands)
        return reads

    def _group(self) -> None:
        self.kernels: list[KernelGroup] = []
        self.group_of = {}
        self._waits: dict[Expr, set[KernelGroup]] = {}
        self._readers: dict[Expr, dict[KernelGroup, None]] = {}
        self._computed = {}
        self._cost = self._costs()
        for node in self.order:
            if node.primitive.family in WHOLE:
                self._waits[node] = self._kernels_of([(operand, ()) for operand in node.operands])
            elif node in self.scalars:
                self._waits[node] = self._kernels_of([(value, ()) for value in scalars.reads_of(node)])
            elif node.primitive is p.elem:
                self._waits[node] = self._waits[node.operands[0]]
            elif node not in self.materialized or node.primitive is p.parameter:
                continue
            elif node.primitive in piecewise_buffers.PIECES:
                self._pieces(node)
            elif node.primitive.family == "contraction":
                bases = map(self.memory_of, node.operands, matrix_products.axes_of(node))
                self._waits[node] = self._kernels_of([(base, ()) for base in bases])
            else:
                self._place(node)

    def _kernels_of(self, reads: Sequence[tuple[Expr, Map | None]]) -> set[KernelGroup]:
        """The kernels that must run before values can be read."""
        waits: set[KernelGroup] = set()
        for node, _ in reads:
            owner = self.buffer_of(node)
            if owner in self.group_of:
                waits.add(self.group_of[owner])
            else:
                waits |= self._waits.get(owner, set())
        return waits

    def _place(self, value: Expr) -> None:
        space, reduce, block = space_of(value)
        own_group, inside = KernelGroup(space, reduce, block, [value]), set()
        reads = self.reach(value, self.start(value, own_group), inside)
        for kernel in self._candidates(reads):
            joint_reads = self._can_join(value, kernel, space, reduce, block)
            if joint_reads is None:
                continue
            others = [
                (node, map_) for node, map_ in joint_reads if self.group_of.get(self.buffer_of(node)) is not kernel
            ]
            outside = self._kernels_of(others)
            if kernel.is_awaited_by(outside):
                continue
            if reduce is not None:
                kernel.reduce, kernel.block = reduce, block
            kernel.materialized.append(value)
            kernel.wait_for(outside)
            self._settle(value, kernel, joint_reads, inside)
            return
        self._add(own_group, self._kernels_of(list(reads)))
        self._settle(value, own_group, reads, inside)

    def _add(self, kernel: KernelGroup, needs: set[KernelGroup]) -> None:
        kernel.number = len(self.kernels)
        self.kernels.append(kernel)
        kernel.wait_for(needs)

    def _settle(
        self,
        value: Expr,
        kernel: KernelGroup,
        reads: Iterable[tuple[Expr, Map | None]],
        inside: Iterable[tuple[Expr, Map]],
    ) -> None:
        """Record that a kernel computes a materialized value, with the values in between, and the buffers it reads."""
        self.group_of[value] = kernel
        for node, map_ in inside:
            if node is not value:
                self._computed.setdefault(node, {}).setdefault(kernel, set()).add(map_)
        for node, _ in reads:
            owner = self.buffer_of(node)
            if 2 * shapes.size(owner.shape) >= shapes.size(kernel.space):
                kernel.reads.add(owner)
                self._readers.setdefault(owner, {})[kernel] = None

    def _candidates(self, reads: Iterable[tuple[Expr, Map | None]]) -> list[KernelGroup]:
        """The kernels that a value could join, latest first: they compute what it reads, or read the same memory."""
        candidates: dict[KernelGroup, None] = {}
        for node, _ in reads:
            owner = self.buffer_of(node)
            if owner in self.group_of:
                candidates[self.group_of[owner]] = None
            candidates.update(self._readers.get(owner, {}))
        return sorted(candidates, key=lambda kernel: kernel.number, reverse=True)

    def _can_join(self, value, kernel, space, reduce, block) -> list[tuple[Expr, Map]] | None:
        """The reads of a value if it is computed in a kernel; None if it cannot be."""
        if sum(known.primitive.family == "reduction" for known in kernel.materialized) >= MOST_REDUCTIONS:
            return None
        if reduce is not None:
            if kernel.space != space or (
                kernel.reduce is not None and (kernel.reduce, kernel.block) != (reduce, block)
            ):
                return None
        elif kernel.space != space and (
            kernel.reduce is None
            or kernel.block is not None
            or [n for n in value.shape if n != 1] != [kernel.space[a] for a in kernel.outer if kernel.space[a] != 1]
        ):
            return None
        reads = list(self.reach(value, self.start(value, kernel), set()))
        mine = [(node, map_) for node, map_ in reads if self.group_of.get(self.buffer_of(node)) is kernel]
        if not mine and not kernel.reads.intersection(self.buffer_of(node) for node, _ in reads):
            return None
        if self._row_level(value, kernel) and reduce is None and (not mine or self._slow_by_rows(value, kernel)):
            return None
        for node, map_ in mine:
            owner = self.buffer_of(node)
            if owner is not node and not (node.primitive is p.reshape and index_maps.keeps_axes(node)):
                return None
            if owner.primitive.family == "reduction" and kernel.block is not None:
                return None
            if map_ is None or not self._in_place(node, map_, owner, kernel, reduce):
                return None
        return reads

    def _in_place(self, node: Expr, map_: Map, owner: Expr, kernel: KernelGroup, reduce) -> bool:
        """Whether a value of the same kernel is read at the very element that the kernel is computing."""
        here = KernelGroup(kernel.space, kernel.reduce if kernel.reduce is not None else reduce)
        if owner.primitive.family == "reduction":
            own = self._own_map(owner, here)
        else:
            own = self.start(owner, here)
            if self._row_level(owner, kernel) and kernel.reduce is None:
                return False
        moved = [entry for entry, n in zip(map_, node.shape, strict=True) if n != 1]
        return moved == [entry for entry, n in zip(own, owner.shape, strict=True) if n != 1]

    @staticmethod
    def _own_map(reduction: Expr, kernel: KernelGroup) -> Map:
        """The index map of a reduction's result in the kernel that computes it."""
        outer = iter([a for a in kernel.outer if kernel.space[a] != 1])
        return index_maps.identity(reduction.shape, [next(outer) if n != 1 else -1 for n in reduction.shape])

    def _pieces(self, node: Expr) -> None:
        """Group a buffer that is written in pieces: one kernel a piece, each after the previous one.

        Those of a concatenation that have values to compute in common are written by one kernel. So are those of few
        elements: a matrix of sines and cosines has 16 pieces, and a kernel of each would take longer to start and to
        compile than all of them.
        """
        waits: set[KernelGroup] = set()
        if self.stores_element(node):
            self._waits[node] = self._kernels_of([(value, ()) for value in node.operands])
            return
        previous: KernelGroup | None = None
        shared: set[Expr] = set()
        for store in piecewise_buffers.stores(node, node in self.in_place):
            inside: set[tuple[Expr, Map]] = set()
            needs = self._kernels_of(self.reach_store(store, inside))
            computed = {one for one, _ in inside if one.primitive.family == "elementwise"}
            alike = previous is not None and node.primitive is p.concatenate and previous.space == store.value.shape
            small = shapes.size(store.value.shape) <= SMALL_PIECES and len(shared | computed) <= SMALL_WORK
            together = small or bool(shared & computed)
            if alike and together and len(previous.stores) < MOST_STORES:
                previous.stores.append(store)
                previous.wait_for(needs)
                shared |= computed
                continue
            shared = computed
            kernel = KernelGroup(store.value.shape, stores=[store])
            self._add(kernel, needs if previous is None else needs | {previous})
            previous = kernel
            waits.add(kernel)
        self._waits[node] = waits

    def reach_store(self, store: Store, computed: set[tuple[Expr, Map]]) -> list[tuple[Expr, Map | None]]:
        """The materialized values that a store reads, with index maps; `computed` collects what it computes."""
        map_ = index_maps.identity(store.value.shape)
        wanted = [(store.value, map_), *((dynamic.index, map_[: len(dynamic.index.shape)]) for dynamic in store.places)]
        reads: list[tuple[Expr, Map | None]] = []
        for value, at in wanted:
            reads += [(value, at)] if self.is_buffer(value) else self.reach(value, at, computed)
        return reads
