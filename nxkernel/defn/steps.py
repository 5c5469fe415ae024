"""A graph at each step of its compilation, and what each step changed: as traced, differentiated, simplified.

Nothing is traced again for it: a program keeps the graph that the trace gave, and simplification is repeated.
"""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.defn.nodes import identity, names_of, node_views
from nxkernel.defn.report import StepView
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.printing import constant_text
from nxkernel.graph.traverse import post_order
from nxkernel.transforms.simplify import simplified
from nxkernel.wording import counted

Changes = dict[str, tuple[str, str]]


def views(graph: Graph) -> tuple[StepView, ...]:
    """The steps up to a simplified graph.

    Parameters
    ----------
    graph : Graph
        What was compiled.

    Returns
    -------
    tuple of StepView
        Nothing where it is not known what the graph was before. Without gradients: traced, simplified.
    """
    traced = graph.traced
    if traced is None:
        return ()
    order = post_order([*traced.outputs, *traced.parameters])
    new = simplified([*traced.outputs, *traced.parameters])
    outputs = [new[id(output)] for output in traced.outputs]
    # Named by its own order, which is that of the compiled graph: simplification gives the same one every time.
    after = Graph(graph.name, traced.parameters, outputs, graph.rebuild)
    then = names_of(after)
    fate = _fates(order, names_of(traced), then, new, set(post_order(outputs)))
    counts = {word: sum(found == word for found, _ in fate.values()) for word in ("folded", "merged", "unused")}
    gone: Changes = {node: ("gone", line) for node, (_, line) in fate.items()}
    made = _made(order, after, then, new)
    here, there = _count(order), _count(post_order([*outputs, *traced.parameters]))

    found = []
    forward = _forward(order)
    if len(forward) < len(order):
        # Of what the gradients are asked for, only what needs none of them is there before.
        before = [node for node in order if node in forward]
        part = Graph(graph.name, traced.parameters, _ends(before, traced), graph.rebuild)
        names, whole = names_of(part), names_of(traced)
        same = {whole[node]: names[node] for node in before if node in names}
        left = {same[name]: change for name, change in gone.items() if name in same}
        about = f"{counted(_count(before), 'node')} of the function itself, before it is differentiated"
        found.append(StepView("traced", str(_count(before)), about, node_views(part), left))
        lit = {
            identity(node, whole): ("new", "made by differentiation" if _of_gradient(node) else "computed of gradients")
            for node in order
            if node not in forward and node.primitive.family != "leaf"
        }
        about = f"differentiation added {counted(len(lit), 'node')}"
        found.append(
            StepView("differentiated", _signed(here - _count(before)), about, node_views(traced), {**gone, **lit})
        )
    else:
        about = f"{counted(here, 'node')} as the function's lines made them"
        found.append(StepView("traced", str(here), about, node_views(traced), gone))
    done = [f"{counts[word]} {text}" for word, text in _DONE.items() if counts[word]]
    rewritten = sum(word == "new" for word, _ in made.values())
    lines = ", ".join([*done, *([f"{counted(rewritten, 'node')} rewritten"] if rewritten else [])])
    about = f"{counted(there, 'node')} left of {here}: {lines}" if lines else "nothing to simplify"
    found.append(StepView("simplified", _signed(there - here), about, node_views(after), made))
    return tuple(found)


_DONE = {"folded": "folded or left out", "merged": "merged with equal ones", "unused": "needed no more"}


def _signed(number: int) -> str:
    return f"+{number}" if number > 0 else f"\N{MINUS SIGN}{-number}" if number else "0"


def _count(nodes: list[Expr]) -> int:
    """Operations: inputs and constants are there in any case."""
    return sum(node.primitive.family != "leaf" for node in nodes)


def _of_gradient(node: Expr) -> bool:
    return node.source is not None and node.source.gradient


def _forward(order: list[Expr]) -> set[Expr]:
    """The nodes that need no gradient."""
    found: set[Expr] = set()
    for node in order:
        if not _of_gradient(node) and all(operand in found for operand in node.operands):
            found.add(node)
    return found


def _ends(nodes: list[Expr], graph: Graph) -> list[Expr]:
    """What is computed and not read: the results of a part of a graph."""
    read = {operand for node in nodes for operand in node.operands}
    results = [node for node in graph.outputs if node in set(nodes)]
    return list(
        dict.fromkeys([*results, *(node for node in nodes if node not in read and node.primitive.family != "leaf")])
    )


def _fates(
    order: list[Expr], names: dict[Expr, str], then: dict[Expr, str], new: dict[int, Expr], kept: set[Expr]
) -> dict[str, tuple[str, str]]:
    """Of each operation that simplification takes away, what became of it."""
    found: dict[str, tuple[str, str]] = {}
    first: dict[Expr, str] = {}
    for node in order:
        if node.primitive.family == "leaf":
            continue
        name, image = identity(node, names), new[id(node)]
        if image not in kept:
            found[name] = ("unused", "needed no more")
        elif image.primitive is p.constant:
            found[name] = ("folded", f"folded to {constant_text(image)}")
        elif image.primitive is not node.primitive:
            if image in first or image.primitive.family == "leaf" or any(new[id(o)] is image for o in node.operands):
                found[name] = ("folded", f"the same as {then.get(image, 'its operand')}")
        elif image in first:
            found[name] = ("merged", f"equal to {first[image]}: merged into {then[image]}")
        first.setdefault(image, name)
    return found


def _made(order: list[Expr], after: Graph, then: dict[Expr, str], new: dict[int, Expr]) -> Changes:
    """Of each node of the simplified graph that is not as it was, what it came from."""
    sources: dict[Expr, list[Expr]] = {}
    for node in order:
        if node.primitive.family != "leaf":
            sources.setdefault(new[id(node)], []).append(node)
    found: Changes = {}
    for node in post_order(after.outputs):
        if node.primitive.family == "leaf":
            continue
        equal = [source for source in sources.get(node, ()) if source.primitive is node.primitive]
        if not equal:
            was = ", ".join(dict.fromkeys(source.primitive.name for source in sources.get(node, ())))
            found[then[node]] = ("new", f"written in place of {was}" if was else "a part of what was rewritten")
        elif len(equal) > 1:
            found[then[node]] = ("merged", f"{len(equal)} equal nodes became this one")
    return found
