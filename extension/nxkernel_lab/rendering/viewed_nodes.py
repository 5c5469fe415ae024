"""The compilation to view, and which of its nodes are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nxkernel.definitions.observe.compilation_report import CompilationView, NodeView


def view_of(subject: Any) -> CompilationView:
    """The compilation for an argument: itself, or the latest of a definition.

    Parameters
    ----------
    subject : definition or CompilationView
        What is to be shown.

    Returns
    -------
    CompilationView

    Raises
    ------
    TypeError
        Where it is neither.
    ValueError
        Where the definition has not been compiled yet.
    """
    if isinstance(subject, CompilationView):
        return subject
    if not hasattr(subject, "compilations"):
        raise TypeError(
            f"expected a numerical definition or one of its compilations(), got a {type(subject).__name__}.\n"
            "  Decorate the function with nx.defn, or begin its cell with %%defn."
        )
    views = subject.compilations()
    if not views:
        raise ValueError(f"{subject.__name__} has not been compiled yet.\n  Call it once, then look again.")
    return views[-1]


def constants_of(nodes: Iterable[NodeView]) -> dict[str, str]:
    """The constants that are written into the nodes that read them, by node id.

    Parameters
    ----------
    nodes : iterable of NodeView
        Those of a compilation, or of a part of one of its nodes.

    Returns
    -------
    dict
        Id to the text of the value. A constant that is returned, or that nothing reads, is a node like others.
    """
    nodes = list(nodes)
    read = {operand for node in nodes for operand in node.operands}
    return {
        node.id: node.detail or node.label
        for node in nodes
        if node.role == "constant" and not node.output and node.id in read
    }


def name_of(node: NodeView) -> str:
    """The name of a node in a picture.

    Parameters
    ----------
    node : NodeView

    Returns
    -------
    str
        Its label; of a part of several results with its number, of a transform with its direction.
    """
    if node.label == "elem":
        return f"elem {node.detail.removeprefix('index=')}"
    return "inverse fft" if node.label == "fft" and "inverse=True" in node.detail else node.label


def all_nodes(nodes: Iterable[NodeView]) -> Iterator[NodeView]:
    """Nodes in order, each loop or branch followed by the nodes of its bodies."""
    for node in nodes:
        yield node
        for part in node.parts:
            yield from all_nodes(part.nodes)


def short(name: str) -> str:
    """The name of a node without the prefixes of enclosing loops."""
    return name.rpartition(".")[2]
