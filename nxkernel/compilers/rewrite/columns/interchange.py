"""Loop interchange: loops over planes become an outer loop over columns with the loops inside.

A loop that works on ``a[:, :, k]`` for one ``k`` after another strides through memory, and has every plane in memory
in between. Column by column, the same is done by numbers in registers and by rows that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.compilers.rewrite.columns.column_axes import RefusedError, parts
from nxkernel.compilers.rewrite.columns.column_loops import ColumnLoops
from nxkernel.compilers.rewrite.columns.column_regions import Region, gain, worth
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order, users


def by_columns(graph: Graph) -> tuple[Graph, dict[Expr, Expr]]:
    """The graph with loops over planes interchanged into loops over columns, where that is faster.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    Graph
        The same one where there is nothing to do.
    dict
        For each new node the node of the given graph that it came from.
    """
    origin: dict[Expr, Expr] = {}
    return _Interchange(origin).graph(graph), origin


class _Interchange:
    """Rewrites graphs, and those inside their loops and branches.

    Parameters
    ----------
    origin : dict
        Takes down where new nodes came from.
    """

    def __init__(self, origin: dict[Expr, Expr]) -> None:
        self.origin = origin
        self.done: set[Expr] = set()
        self.new_loops: set[Expr] = set()

    def graph(self, graph: Graph) -> Graph:
        """A graph with its loops and branches rewritten."""
        if not any(node.primitive.family == "control" for node in post_order(graph.outputs)):
            return graph
        outputs = list(graph.outputs)
        while (changed := self._one(outputs)) is not None:
            outputs = changed
        outputs = self._inside(outputs)
        if all(new is old for new, old in zip(outputs, graph.outputs, strict=True)):
            return graph
        return Graph(graph.name, graph.parameters, outputs, graph.rebuild, graph.updates)

    def _one(self, outputs: Sequence[Expr]) -> list[Expr] | None:
        """The outputs after rewriting one more region; None when there is none left."""
        order = post_order(outputs)
        table = users(order)
        for node in order:
            if node.primitive is not p.while_ or node in self.done:
                continue
            self.done.add(node)
            if gain(node) <= 0:
                continue
            try:
                region = Region(order, table, outputs, node)
                if region.loops and worth(region):
                    return self._rewritten(outputs, order, region, ColumnLoops(region, self.origin))
            except RefusedError:
                continue
        return None

    def _rewritten(
        self, outputs: Sequence[Expr], order: Sequence[Expr], region: Region, columns: ColumnLoops
    ) -> list[Expr]:
        new: dict[Expr, Expr] = {}
        after = set(region.nodes)
        rest = []
        for node in order:
            if node in region.nodes:
                continue
            if any(operand in after for operand in node.operands):
                after.add(node)
                rest.append(node)
            else:
                new[node] = node
        new |= columns.build(new.__getitem__)
        before = set(order)
        new_loops = [
            node for node in post_order(new.values()) if node.primitive.family == "control" and node not in before
        ]
        self.done.update(new_loops)
        self.new_loops.update(new_loops)
        for node in rest:
            new[node] = self._with(node, tuple(new[operand] for operand in node.operands), node.params)
        return [new[output] for output in outputs]

    def _with(self, node: Expr, operands: tuple[Expr, ...], params: dict) -> Expr:
        """The node with other operands."""
        new = Expr(node.primitive, operands, params, node.spec, node.source)
        self.origin[new] = self.origin.get(node, node)
        for nodes in (self.done, self.new_loops):
            if node in nodes:
                nodes.add(new)
        return new

    def _inside(self, outputs: Sequence[Expr]) -> list[Expr]:
        """The outputs with the graphs of their loops and branches rewritten."""
        new: dict[Expr, Expr] = {}
        for node in post_order(outputs):
            operands = tuple(new[operand] for operand in node.operands)
            params = node.params
            if node.primitive.family == "control" and node not in self.new_loops:
                graphs = {name: self.graph(graph) for name, graph in parts(node)}
                if any(graph is not params[name] for name, graph in graphs.items()):
                    params = params | graphs
            same = params is node.params and all(a is b for a, b in zip(operands, node.operands, strict=True))
            new[node] = node if same else self._with(node, operands, params)
        return [new[output] for output in outputs]
