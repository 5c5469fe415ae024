"""Building the loops over columns of a region, and the arrays that they produce."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.analysis.scalars import is_single
from nxkernel.compilers.rewrite.columns import column_axes as forms_of
from nxkernel.compilers.rewrite.columns.array_versions import Chain, chains, root
from nxkernel.compilers.rewrite.columns.column_body import Body, Level, Slot, parameters_like
from nxkernel.compilers.rewrite.columns.column_regions import Region
from nxkernel.compilers.rewrite.loop_nest_rewrites import make
from nxkernel.graph.expr import Expr, constant

#: How many columns are worked on side by side, where another loop around runs on all threads.
SIDE_BY_SIDE = 4


@dataclass
class _Result:
    """An array with all columns that the loops over columns compute.

    Parameters
    ----------
    value : Expr
        Which value of the region it is at the end.
    start : Expr
        What it is at first: a value from outside, or a constant.
    chain : Chain or None
        Its versions, where it is updated all along; otherwise its part of a column is put there at the end.
    """

    value: Expr
    start: Expr
    chain: Chain | None


class ColumnLoops(Body):
    """Writes the loops over columns of a region.

    Parameters
    ----------
    region : Region
    origin : dict
        Takes down for each new node the node of the graph that it came from.
    """

    def __init__(self, region: Region, origin: dict[Expr, Expr]) -> None:
        super().__init__(region, origin)
        self.results = self._results()
        self.seed = region.loops[0]

    def _results(self) -> list[_Result]:
        region, results = self.region, []
        chain_of = chains(region)
        for value in region.results():
            chain = chain_of.get(value)
            if chain is not None:
                self.full_arrays |= chain.versions
                results.append(_Result(value, chain.root, chain))
                continue
            form = region.form(value)
            start = root(value, region.nodes)
            if start is None or forms_of.has_all_columns(form, value.shape, region.extents):
                if not forms_of.has_all_columns(form, value.shape, region.extents):
                    raise forms_of.RefusedError("a result has other columns besides")
                start = constant(0, value.type, value.shape, value.names)
            results.append(_Result(value, start, None))
        return results

    def build(self, outside: Callable[[Expr], Expr]) -> dict[Expr, Expr]:
        """The new nodes for the region's results, given those of values outside it.

        Parameters
        ----------
        outside : callable
            The new node for a value from outside.
        """
        self.inputs = self.region.inputs()
        starts = [r.start if r.start.primitive is p.constant else outside(r.start) for r in self.results]
        arrays = self._loop(starts, [], [outside(value) for value in self.inputs])
        return {result.value: value for result, value in zip(self.results, arrays, strict=True)}

    # The loops around --------------------------------------------------------------------------------------------

    def _loop(self, arrays: Sequence[Expr], indices: Sequence[Expr], inputs: Sequence[Expr]) -> list[Expr]:
        """Nested loops over the remaining column indices; the arrays after them."""
        size, depth = self.region.extents[len(indices)], len(indices)
        if depth < len(self.region.extents) - 1:
            return self._range_loop(0, size, 1, self._loop, arrays, indices, inputs)
        blocks = size - size % SIDE_BY_SIDE
        for first, after, step in ((0, blocks, SIDE_BY_SIDE), (blocks, size, 1)):
            if first < after:
                work = functools.partial(self._column, lanes=step)
                arrays = self._range_loop(first, after, step, work, arrays, indices, inputs)
        return list(arrays)

    def _range_loop(
        self,
        first: int,
        after: int,
        step: int,
        work: Callable[..., list[Expr]],
        arrays: Sequence[Expr],
        indices: Sequence[Expr],
        inputs: Sequence[Expr],
    ) -> list[Expr]:
        """A loop that runs `work` for each index of a range; the arrays after it."""
        seed, count, depth = self.seed, 1 + len(arrays), len(indices)
        operands = [constant(first, types.s64), *arrays, *indices, *inputs]
        names = ["index", *["array"] * len(arrays), *["index"] * depth, *["given"] * len(inputs)]
        asked, turned = parameters_like(names, operands), parameters_like(names, operands)
        # So far that all of a step's indices are plainly in the range.
        bound = constant(after - step + 1, types.s64)
        question = self.new(seed, make(p.less, asked[0], bound, source=seed.source))
        rest = turned[count:]
        new_arrays = work(turned[1:count], [*rest[:depth], turned[0]], rest[depth:])
        loop = self.loop(seed, operands, count, (asked, question), (turned, [self._plus(turned[0], step), *new_arrays]))
        return [self.element(seed, loop, position) for position in range(1, count)]

    def _plus(self, index: Expr, by: int) -> Expr:
        if by == 0:
            return index
        return self.new(self.seed, make(p.add, index, constant(by, types.s64), source=self.seed.source))

    def _column(
        self, arrays: Sequence[Expr], indices: Sequence[Expr], inputs: Sequence[Expr], lanes: int
    ) -> list[Expr]:
        """The computation of one column, or of some side by side so that their steps overlap."""
        region, level = self.region, Level([[index] * lanes for index in indices])
        level.indices[-1] = [self._plus(indices[-1], lane) for lane in range(lanes)]
        for value, node in zip(self.inputs, inputs, strict=True):
            level.set(value, [node], Slot(0, not is_single(value), 1))
        for result, array in zip(self.results, arrays, strict=True):
            if result.chain is not None:
                self.bases[result.chain.first] = array
                if result.chain.read_alike and result.start.primitive is not p.constant:
                    level.full_arrays[result.start] = array
        self.nodes([node for node in region.order if node in region.nodes], level)
        return [self._after(result, array, level) for result, array in zip(self.results, arrays, strict=True)]

    def _after(self, result: _Result, array: Expr, level: Level) -> Expr:
        """An array updated by the columns that were computed."""
        value = result.value
        if result.chain is not None:
            return level.full_arrays[value]
        form = self.region.form(value)
        for lane in level.lanes:
            level.lane = lane
            starts = [self.index(level, entry, value) for entry in form]
            array = self.put(value, array, self.row(level, value, form), form, starts)
        return array
