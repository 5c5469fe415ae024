"""Fusion: which values are kept in memory, and which loop nest computes each of them.

A value that must exist in memory (an output, a reduction, an operand of a library) is an *anchor*. Everything between
anchors is computed inside the nests that need it. An anchor joins an existing nest when it runs over the same space and
nothing that it needs waits for that nest; so a softmax becomes one nest with three passes over each row.
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


def weight(node: Expr) -> int:
    """About how many simple instructions a node costs for one element."""
    if node.primitive.family != "elementwise":
        return GATHER if node.primitive is p.gather else 0
    return cost(node.primitive.name)


class Fusion:
    """Finds anchors and kernels for a prepared graph.

    Attributes
    ----------
    order : list of Expr
        The graph's nodes, operands first.
    kernels : list of KernelGroup
        In no particular order; :mod:`nxkernel.compilers.plan.planner` sorts them.
    home : dict
        The kernel that computes each anchor; library calls, pieces, single numbers and parameters have none.
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
        self.home: dict[Expr, KernelGroup] = {}
        self._computed: dict[Expr, dict[KernelGroup, set[Map]]] = {}
        self.anchors = self._first_anchors()
        # Before anything is grouped every anchor counts as a kernel. What then turns out to be needed in one kernel
        # only is computed there and not stored, so that an anchor too many costs nothing.
        self.anchors |= self._worth_keeping()
        self._group()
        for _ in range(4):
            more = self._worth_keeping()
            if not more:
                break
            self.anchors |= more
            self._group()

    # Anchors ---------------------------------------------------------------------------------------------------

    def is_buffer(self, node: Expr) -> bool:
        """Whether a value is in memory by the time that others read it."""
        if node.primitive is p.parameter or node in self.anchors:
            return True
        return node.primitive is p.reshape and self.is_buffer(node.operands[0])

    def buffer_of(self, node: Expr) -> Expr:
        """The parameter or anchor whose memory a value is in; reshapes share it."""
        while node not in self.anchors and node.primitive is p.reshape:
            node = node.operands[0]
        return node

    @staticmethod
    def _below(output: Expr) -> Expr:
        """What an output is a reshape of."""
        while output.primitive is p.reshape:
            output = output.operands[0]
        return output

    @staticmethod
    def memory_of(operand: Expr, axes: tuple[list[int], list[int], list[int]]) -> Expr:
        """The value that must be in memory for a library to read an operand of a dot."""
        found = matrix_products.readable(operand, axes)
        return operand if found is None else found.base

    def _first_anchors(self) -> set[Expr]:
        anchors = {self._below(output) for output in self.outputs}
        for node in self.order:
            family = node.primitive.family
            if family in ("reduction", "contraction", "tuple") or node.primitive in piecewise_buffers.PIECES:
                anchors.add(node)
            elif family in WHOLE:
                anchors.update(operand for operand in node.operands if not self._is_literal(operand, node))
                if type(node.spec) is not tuple:
                    anchors.add(node)
            if node.primitive is p.dot:
                anchors.update(map(self.memory_of, node.operands, matrix_products.axes_of(node)))
            elif node.primitive is p.pad:
                anchors.add(node.operands[1])
            elif node.primitive in dynamic_indices.READS:
                anchors.add(node.operands[0])
        for node in self.scalars:
            anchors.add(node)
            anchors.update(scalars.reads_of(node))
        anchors |= self.kept
        anchors.update(
            piecewise_buffers.target(node) for node in self.in_place if node.primitive in piecewise_buffers.PIECES
        )
        self.anchors = anchors = {self._below(anchor) for anchor in anchors}
        for node in self.order:
            operand = node.operands[0] if node.operands else None
            if node.primitive is p.reshape and not index_maps.keeps_axes(node) and not self.is_buffer(operand):
                anchors.add(operand)
        cost = self._costs()
        for node in self.order:
            operand = node.operands[0] if node.operands else None
            least = {p.broadcast: self.keeping.value, p.windows: 1}.get(node.primitive)
            wider = least is not None and shapes.size(node.shape) > shapes.size(operand.shape)
            if wider and cost[operand] >= least and operand not in anchors:
                while index_maps.is_view(operand) and operand.primitive is not p.slice_:
                    operand = operand.operands[0]
                anchors.add(operand)
        return {anchor for anchor in anchors if anchor.primitive is not p.parameter}

    def _is_literal(self, operand: Expr, user: Expr) -> bool:
        """Whether an operand of a loop or branch is a number that the program has by itself."""
        return operand.primitive is p.constant and user.primitive.family == "control" and scalars.is_single(operand)

    def stores_element(self, node: Expr) -> bool:
        """Whether an update in place is a store of one element by the program itself."""
        return (
            self.inline
            and node in self.in_place
            and node.primitive in piecewise_buffers.PIECES
            and scalars.is_single(node.operands[1])
        )

    def _costs(self) -> dict[Expr, int]:
        """What computing each value from memory costs for one element, counting at most a thousand."""
        cost: dict[Expr, int] = {}
        for node in self.order:
            inner = sum(0 if o in self.anchors else cost[o] for o in node.operands)
            cost[node] = min(inner + weight(node), 1000)
        return cost

    def _worth_keeping(self) -> set[Expr]:
        """Values that several kernels compute, or one kernel at several places, and that cost enough to keep."""
        cost, more = self._costs(), set()
        wanted: dict[Expr, set[object]] = {}
        for node in reversed(self.order):
            # The kernels that ask for this value directly; a value that is kept asks once for all that need it.
            by: set[object] = set()
            for user in self.users[node]:
                by |= {self.home.get(user, user)} if user in self.anchors or user in more else wanted[user]
            wanted[node] = by
            if node.primitive.family != "elementwise" or node in self.anchors:
                continue
            large = shapes.size(node.shape) * node.type.size >= LARGE
            if cost[node] < (self.keeping.large if large else self.keeping.value):
                continue
            if len(by) > 1 or (self._places(node) > 1 and any(self._places(user) <= 1 for user in self.users[node])):
                more.add(node)
        return more

    def _places(self, node: Expr) -> int:
        """At how many different places, at most, one kernel computes a value."""
        return max((len(maps_) for maps_ in self._computed.get(node, {}).values()), default=0)

    # Grouping --------------------------------------------------------------------------------------------------

    def start(self, anchor: Expr, kernel: KernelGroup) -> Map:
        """The map from which an anchor is computed in a kernel: of its value, or of its operand if it reduces."""
        if anchor.primitive.family == "reduction":
            return index_maps.identity(kernel.space)
        if anchor.shape == kernel.space and not self._row_level(anchor, kernel):
            return index_maps.identity(kernel.space)
        outer = [a for a in kernel.outer if kernel.space[a] != 1]
        places = iter(outer)
        return index_maps.identity(anchor.shape, [next(places) if n != 1 else -1 for n in anchor.shape])

    @staticmethod
    def _row_level(anchor: Expr, kernel: KernelGroup) -> bool:
        return kernel.reduce is not None and shapes.size(anchor.shape) < shapes.size(kernel.space)

    def _slow_by_rows(self, anchor: Expr, kernel: KernelGroup) -> bool:
        """Whether computing a value once a row, without vectors, takes longer than the row itself does with them."""
        cost = self._cost[anchor]
        if cost < self.keeping.value or len(kernel.space) - 1 not in kernel.reduce:
            return False
        readers = [self.users[user] if user.primitive is p.reshape else [user] for user in self.users[anchor]]
        if any(user.primitive is p.broadcast for group in readers for user in group):
            return False
        length = shapes.size([kernel.space[axis] for axis in kernel.reduce or ()])
        each = sum(1 + self._cost[one.operands[0]] for one in kernel.anchors if one.primitive.family == "reduction")
        return each * length < LANES * cost

    def reach(self, anchor: Expr, map_: Map, found: set[tuple[Expr, Map]]) -> set[tuple[Expr, Map | None]]:
        """The values in memory that computing an anchor from a map reads; `found` collects what it computes.

        What is read at a place that is known when the program runs has no map.
        """
        reads: set[tuple[Expr, Map | None]] = set()
        todo = [(anchor, map_)]
        if anchor.primitive.family == "reduction":
            # A fold's first value and what its body takes from outside are scalars.
            first, *rest = anchor.operands
            todo = [(first, map_), *((number, ()) for number in rest)]
        while todo:
            node, map_ = todo.pop()
            if (node, map_) in found:
                continue
            if node is not anchor and (self.is_buffer(node) or node.primitive is p.constant):
                if node.primitive is not p.constant:
                    reads.add((node, map_))
                continue
            found.add((node, map_))
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
        self.home = {}
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
            elif node not in self.anchors or node.primitive is p.parameter:
                continue
            elif node.primitive in piecewise_buffers.PIECES:
                self._pieces(node)
            elif node.primitive.family == "contraction":
                bases = map(self.memory_of, node.operands, matrix_products.axes_of(node))
                self._waits[node] = self._kernels_of([(base, ()) for base in bases])
            else:
                self._place(node)

    def _kernels_of(self, reads: Sequence[tuple[Expr, Map | None]]) -> set[KernelGroup]:
        """The kernels that must have run before values can be read."""
        waits: set[KernelGroup] = set()
        for node, _ in reads:
            owner = self.buffer_of(node)
            if owner in self.home:
                waits.add(self.home[owner])
            else:
                waits |= self._waits.get(owner, set())
        return waits

    def _place(self, anchor: Expr) -> None:
        space, reduce, block = space_of(anchor)
        alone, inside = KernelGroup(space, reduce, block, [anchor]), set()
        reads = self.reach(anchor, self.start(anchor, alone), inside)
        for kernel in self._candidates(reads):
            found = self._fits(anchor, kernel, space, reduce, block)
            if found is None:
                continue
            others = [(node, map_) for node, map_ in found if self.home.get(self.buffer_of(node)) is not kernel]
            outside = self._kernels_of(others)
            if kernel.is_awaited_by(outside):
                continue
            if reduce is not None:
                kernel.reduce, kernel.block = reduce, block
            kernel.anchors.append(anchor)
            kernel.wait_for(outside)
            self._settle(anchor, kernel, found, inside)
            return
        self._add(alone, self._kernels_of(list(reads)))
        self._settle(anchor, alone, reads, inside)

    def _add(self, kernel: KernelGroup, needs: set[KernelGroup]) -> None:
        kernel.number = len(self.kernels)
        self.kernels.append(kernel)
        kernel.wait_for(needs)

    def _settle(
        self,
        anchor: Expr,
        kernel: KernelGroup,
        reads: Iterable[tuple[Expr, Map | None]],
        inside: Iterable[tuple[Expr, Map]],
    ) -> None:
        """Note where an anchor is computed, with what on the way, and what its kernel goes over for it."""
        self.home[anchor] = kernel
        for node, map_ in inside:
            if node is not anchor:
                self._computed.setdefault(node, {}).setdefault(kernel, set()).add(map_)
        for node, _ in reads:
            owner = self.buffer_of(node)
            if 2 * shapes.size(owner.shape) >= shapes.size(kernel.space):
                kernel.reads.add(owner)
                self._readers.setdefault(owner, {})[kernel] = None

    def _candidates(self, reads: Iterable[tuple[Expr, Map | None]]) -> list[KernelGroup]:
        """The kernels that compute something that is read, or go over the same memory; the latest first."""
        found: dict[KernelGroup, None] = {}
        for node, _ in reads:
            owner = self.buffer_of(node)
            if owner in self.home:
                found[self.home[owner]] = None
            found.update(self._readers.get(owner, {}))
        return sorted(found, key=lambda kernel: kernel.number, reverse=True)

    def _fits(self, anchor, kernel, space, reduce, block) -> list[tuple[Expr, Map]] | None:
        """What the anchor would read in a kernel, or None where it cannot be part of it."""
        if sum(known.primitive.family == "reduction" for known in kernel.anchors) >= MOST_REDUCTIONS:
            return None
        if reduce is not None:
            if kernel.space != space or (
                kernel.reduce is not None and (kernel.reduce, kernel.block) != (reduce, block)
            ):
                return None
        elif kernel.space != space and (
            kernel.reduce is None
            or kernel.block is not None
            or [n for n in anchor.shape if n != 1] != [kernel.space[a] for a in kernel.outer if kernel.space[a] != 1]
        ):
            return None
        reads = list(self.reach(anchor, self.start(anchor, kernel), set()))
        mine = [(node, map_) for node, map_ in reads if self.home.get(self.buffer_of(node)) is kernel]
        if not mine and not kernel.reads.intersection(self.buffer_of(node) for node, _ in reads):
            return None
        if self._row_level(anchor, kernel) and reduce is None and (not mine or self._slow_by_rows(anchor, kernel)):
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
        """Whether a value of the same kernel is read at the very element that the kernel is at."""
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
        """The map of a reduction's result inside the kernel that computes it."""
        outer = iter([a for a in kernel.outer if kernel.space[a] != 1])
        return index_maps.identity(reduction.shape, [next(outer) if n != 1 else -1 for n in reduction.shape])

    def _pieces(self, node: Expr) -> None:
        """A buffer that is written in pieces: one kernel for each, after the one before.

        Those of a concatenation that have values to compute in common are written by one kernel.
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
            if alike and shared & computed and len(previous.stores) < MOST_STORES:
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

    def reach_store(self, store: Store, found: set[tuple[Expr, Map]]) -> list[tuple[Expr, Map | None]]:
        """What computing what is stored, and where, reads; `found` collects what it computes."""
        map_ = index_maps.identity(store.value.shape)
        wanted = [(store.value, map_), *((place.index, map_[: len(place.index.shape)]) for place in store.places)]
        reads: list[tuple[Expr, Map | None]] = []
        for value, at in wanted:
            reads += [(value, at)] if self.is_buffer(value) else self.reach(value, at, found)
        return reads
