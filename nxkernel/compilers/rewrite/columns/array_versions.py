"""Whether all versions of an array that a region updates can share one buffer, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.rewrite.columns import column_axes as forms_of
from nxkernel.compilers.rewrite.columns.column_regions import Region
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order, users


@dataclass(frozen=True)
class Chain:
    """The versions of one array, each an update of the previous one.

    Parameters
    ----------
    root : Expr
        What it is before the region: a value from outside, or a constant.
    first : tuple of (Expr, int)
        The first update, and which of its operands that is.
    versions : frozenset
        All the others; a result of a branch goes by the branch and a number.
    read_alike : bool
        Whether the region reads the root, too, only where columns are in the other versions.
    """

    root: Expr
    first: tuple[Expr, int]
    versions: frozenset[object]
    read_alike: bool


def root(value: Expr, nodes: Iterable[Expr]) -> Expr | None:
    """The array outside a set of nodes that a value results from by updates; None if there is none."""
    start = _start(value, nodes)
    return None if start is None else start[0].operands[start[1]]


def _start(value: Expr, nodes: Iterable[Expr]) -> tuple[Expr, int] | None:
    """The first update, within a set of nodes, on the way from an outside array to a value."""
    first = None
    while value in nodes:
        first = _updated(value)
        if first is None:
            return None
        value = first[0].operands[first[1]]
    return first


def _updated(value: Expr) -> tuple[Expr, int] | None:
    """The node that updates an array to give a value, and the position of that operand; None if none does."""
    if value.primitive is p.put_slice:
        return value, 0
    if value.primitive is not p.elem or value.operands[0].primitive is not p.while_:
        return None
    loop, position = value.operands[0], value.params["index"]
    body = loop.params["body"]
    end = body.outputs[position]
    while end is not body.parameters[position]:
        before = _updated(end)
        if before is None:
            return None
        end = before[0].operands[before[1]]
    return loop, position


def chains(region: Region) -> dict[Expr, Chain]:
    """The chains of versions in a region of which only the last is needed outside."""
    chain_of = {}
    results = region.results()
    readers = {one: [user for user in all_ if user in region.nodes] for one, all_ in region.users.items()}
    for value in results:
        if shapes.size(forms_of.left(region.form(value), value.shape)) == 1:
            continue
        start = _start(value, region.nodes)
        if start is None:
            continue
        before, follow, others = start[0].operands[start[1]], _Follow(region), set(results) - {value}
        is_constant = before.primitive is p.constant
        try:
            # A constant is another one each time that it is used.
            first = follow.after(*start, readers) if is_constant else before
            last = follow.to_end(first, region.order, readers, others)
        except _TangledError:
            continue
        if last is value:
            alike = is_constant or region.asked.get(before) == {region.form(value)}
            chain_of[value] = Chain(before, start, frozenset(follow.versions - {before}), alike)
    return chain_of


class _TangledError(Exception):
    """Two versions of an array are live at the same time, so that they cannot share a buffer."""


class _Follow:
    """Follows an array from version to version."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.versions: set[object] = set()

    def to_end(self, value: Expr, order: Sequence[Expr], readers: Mapping[Expr, list[Expr]], wanted: set[Expr]) -> Expr:
        """The last version of a value in a graph."""
        while True:
            self.versions.add(value)
            uses = list(dict.fromkeys(readers.get(value, ())))
            updates = [use for use in uses if self._updates(use, value)]
            if not updates:
                return value
            if len(updates) > 1 or value in wanted:
                raise _TangledError
            (update,) = updates
            if sum(operand is value for operand in update.operands) > 1:
                raise _TangledError
            later = _later(update, order)
            if any(self._reads_in(use, later, readers) for use in uses if use is not update):
                raise _TangledError
            position = next(k for k, operand in enumerate(update.operands) if operand is value)
            value = self.after(update, position, readers)

    def after(self, update: Expr, position: int, readers: Mapping[Expr, list[Expr]]) -> Expr:
        """The version that an update makes of one of its operands."""
        if update.primitive is p.put_slice:
            return update
        if update.primitive is p.while_:
            body = update.params["body"]
            last = self._through(body, body.parameters[position])
            if [k for k, output in enumerate(body.outputs) if output is last] != [position]:
                raise _TangledError
            index = position
        else:
            index = self._result_index(update, position)
        results = [use for use in readers[update] if use.params["index"] == index]
        if len(results) != 1:
            raise _TangledError
        return results[0]

    def _result_index(self, branch: Expr, position: int) -> int:
        """The index of the branch result that is the next version of an operand."""
        candidates = []
        for name in ("then", "otherwise"):
            side = branch.params[name]
            last = self._through(side, side.parameters[position - 1])
            candidates.append([k for k, output in enumerate(side.outputs) if output is last])
        if candidates[0] != candidates[1] or len(candidates[0]) != 1:
            raise _TangledError
        (index,) = candidates[0]
        self.versions.add((branch, index))
        return index

    def _through(self, graph: Graph, value: Expr) -> Expr:
        order = post_order(graph.outputs)
        readers = users(order)
        if value not in readers:
            self.versions.add(value)
            return value
        follow = _Follow(self.region)
        last = follow.to_end(value, order, readers, set())
        if any(version in follow.versions and version is not last for version in set(graph.outputs)):
            raise _TangledError
        self.versions |= follow.versions
        return last

    def _updates(self, use: Expr, value: Expr) -> bool:
        positions = [k for k, operand in enumerate(use.operands) if operand is value]
        if use.primitive is p.put_slice:
            return 0 in positions
        if use.primitive is p.while_:
            return positions[0] < use.params["state"]
        if use.primitive is not p.cond or positions == [0]:
            return False
        sides = [(use.params[name], use.params[name].parameters[positions[-1] - 1]) for name in ("then", "otherwise")]
        return any(_Follow(self.region)._through(side, parameter) is not parameter for side, parameter in sides)

    def _reads_in(self, use: Expr, later: set[Expr], readers: Mapping[Expr, list[Expr]]) -> bool:
        """Whether a version is read after the next version exists; a view counts as read where it is used."""
        if use in later:
            return True
        if use.primitive.family != "shape" or type(use.spec) is tuple:
            return False
        if shapes.size(forms_of.left(self.region.form(use), use.shape)) == 1:
            return False
        return any(self._reads_in(one, later, readers) for one in readers.get(use, ()))


def _later(node: Expr, order: Sequence[Expr]) -> set[Expr]:
    """A node and all nodes computed from it."""
    later = {node}
    for one in order:
        if any(operand in later for operand in one.operands):
            later.add(one)
    return later
