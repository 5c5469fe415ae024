"""A graph at each step of its compilation, and what each step changed: as traced, differentiated, simplified.

Nothing is traced again: a program keeps its traced graph, and simplification is repeated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from nxkernel import primitives as p
from nxkernel.definitions.observe.compilation_report import NodeView, StepView
from nxkernel.definitions.observe.node_records import PARTS, names_of, node_views
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.printing import constant_text
from nxkernel.graph.traverse import post_order
from nxkernel.messages.grammar import counted
from nxkernel.transforms.simplify import Simplification

Changes = dict[str, tuple[str, str]]


def views(graph: Graph) -> tuple[StepView, ...]:
    """The graph as traced, differentiated and simplified, for display.

    Parameters
    ----------
    graph : Graph
        The compiled graph.

    Returns
    -------
    tuple of StepView
        Empty if the traced graph is not known; without gradients: traced, simplified.
    """
    traced = graph.traced
    if traced is None:
        return ()
    order = post_order([*traced.outputs, *traced.parameters])
    # Named by its own order, which is that of the compiled graph: simplification gives the same one every time.
    changes = _Changes()
    after = changes.compare(traced, "", "")
    gone, new = changes.gone, changes.new
    counts = {word: sum(stages == word for stages in changes.fates) for word in _DONE}
    here, there = _count(order), _count(post_order(after.outputs))

    stages = []
    forward = _forward(order)
    if len(forward) < len(order):
        # Before differentiation there are only the nodes that need no gradient.
        before = [node for node in order if node in forward]
        part = Graph(graph.name, traced.parameters, _ends(before, traced), graph.rebuild)
        names, traced_names = names_of(part), names_of(traced)
        same = {traced_names[node]: names[node] for node in before if node in names}
        left = {same[name]: change for name, change in gone.items() if name in same}
        about = f"{counted(_count(before), 'node')} of the function itself, before it is differentiated"
        stages.append(StepView("traced", str(_count(before)), about, _nodes(part), left))
        lit = {
            traced_names[node]: ("new", "made by differentiation" if _of_gradient(node) else "computed of gradients")
            for node in order
            if node not in forward and node.primitive.family != "leaf"
        }
        about = f"differentiation added {counted(len(lit), 'node')}"
        stages.append(
            StepView("differentiated", _signed(here - _count(before)), about, _nodes(traced), {**gone, **lit})
        )
    else:
        about = f"{counted(here, 'node')} as the function's lines made them"
        stages.append(StepView("traced", str(here), about, _nodes(traced), gone))
    done = [f"{counts[word]} {text}" for word, text in _DONE.items() if counts[word]]
    rewritten = sum(word == "new" for word, _ in new.values())
    lines = ", ".join([*done, *([f"{counted(rewritten, 'node')} rewritten"] if rewritten else [])])
    about = f"{counted(there, 'node')} left of {here}: {lines}" if lines else "nothing to simplify"
    stages.append(StepView("simplified", _signed(there - here), about, _nodes(after), new))
    return tuple(stages)


_DONE = {"folded": "folded or left out", "merged": "merged with equal ones", "unused": "needed no more"}


def _nodes(graph: Graph) -> Callable[[], tuple[NodeView, ...]]:
    """The nodes of a graph, made when they are displayed."""
    return functools.cache(lambda: node_views(graph))


def _signed(number: int) -> str:
    return f"+{number}" if number > 0 else f"\N{MINUS SIGN}{-number}" if number else "0"


def _count(nodes: Iterable[Expr]) -> int:
    """The number of operations, with those in loops and branches; inputs and constants do not count."""
    total = 0
    for node in nodes:
        total += node.primitive.family != "leaf"
        total += sum(_count(post_order(part.outputs)) for _, part in _graphs(node))
    return total


def _graphs(node: Expr) -> list[tuple[str, Graph]]:
    """The graphs of a loop's or branch's parts."""
    return [(part, node.params[part]) for part in PARTS[node.primitive][0]] if node.primitive in PARTS else []


def _of_gradient(node: Expr) -> bool:
    return node.source is not None and node.source.gradient


def _forward(order: list[Expr]) -> set[Expr]:
    """The nodes that are computed without a gradient."""
    nodes: set[Expr] = set()
    for node in order:
        if not _of_gradient(node) and all(operand in nodes for operand in node.operands):
            nodes.add(node)
    return nodes


def _ends(nodes: list[Expr], graph: Graph) -> list[Expr]:
    """The results of a graph: its outputs, and nodes that nothing reads."""
    read = {operand for node in nodes for operand in node.operands}
    results = [node for node in graph.outputs if node in set(nodes)]
    return list(
        dict.fromkeys([*results, *(node for node in nodes if node not in read and node.primitive.family != "leaf")])
    )


class _Changes:
    """What simplification changes in a graph and in the graphs of its loops and branches.

    Attributes
    ----------
    gone : dict
        For each removed operation, by its name before, what became of it.
    new : dict
        For each new or changed operation, by its name afterwards, what it came from.
    fates : list of str
        A word for each removed operation.
    """

    def __init__(self) -> None:
        self.gone: Changes = {}
        self.new: Changes = {}
        self.fates: list[str] = []

    def compare(self, graph: Graph, before: str, afterwards: str) -> Graph:
        """Record the changes in one graph; returns the names of the nodes after them."""
        run = Simplification()
        outputs = run.outputs([*graph.outputs, *graph.parameters])
        after = Graph(graph.name, graph.parameters, outputs[: len(graph.outputs)], graph.rebuild)
        self._compare(graph, after, run, before, afterwards)
        return after

    def _compare(self, graph: Graph, after: Graph, run: Simplification, before: str, afterwards: str) -> None:
        order = post_order([*graph.outputs, *graph.parameters])
        new = {id(node): run.image(node) for node in order}
        names, then = names_of(graph), names_of(after)
        self._fates(order, names, then, new, set(post_order(after.outputs)), before)
        self._made(order, after, then, new, afterwards)
        for node in order:
            image = new[id(node)]
            if image in then and image.primitive is node.primitive:
                for part, inner in _graphs(node):
                    here, there = f"{before}{names[node]}.{part}.", f"{afterwards}{then[image]}.{part}."
                    self._compare(inner, image.params[part], run, here, there)

    def _fates(
        self,
        order: list[Expr],
        names: dict[Expr, str],
        then: dict[Expr, str],
        new: dict[int, Expr],
        kept: set[Expr],
        before: str,
    ) -> None:
        first: dict[Expr, str] = {}

        def goes(node: Expr, word: str, line: str) -> None:
            self.gone[before + names[node]] = ("gone", line)
            self.fates.append(word)

        for node in order:
            if node.primitive.family == "leaf":
                continue
            image = new[id(node)]
            if image not in kept:
                goes(node, "unused", "needed no more")
            elif image.primitive is p.constant:
                goes(node, "folded", f"folded to {constant_text(image)}")
            elif image.primitive is not node.primitive:
                if (
                    image in first
                    or image.primitive.family == "leaf"
                    or any(new[id(o)] is image for o in node.operands)
                ):
                    goes(node, "folded", f"the same as {then.get(image, 'its operand')}")
            elif image in first:
                goes(node, "merged", f"equal to {first[image]}: merged into {then[image]}")
            first.setdefault(image, names[node])

    def _made(
        self, order: list[Expr], after: Graph, then: dict[Expr, str], new: dict[int, Expr], afterwards: str
    ) -> None:
        sources: dict[Expr, list[Expr]] = {}
        for node in order:
            if node.primitive.family != "leaf":
                sources.setdefault(new[id(node)], []).append(node)
        for node in post_order(after.outputs):
            if node.primitive.family == "leaf":
                continue
            equal = [source for source in sources.get(node, ()) if source.primitive is node.primitive]
            if not equal:
                was = ", ".join(dict.fromkeys(source.primitive.name for source in sources.get(node, ())))
                line = f"written in place of {was}" if was else "a part of what was rewritten"
                self.new[afterwards + then[node]] = ("new", line)
            elif len(equal) > 1:
                self.new[afterwards + then[node]] = ("merged", f"{len(equal)} equal nodes became this one")
