"""What is looked at: a compilation, or the latest one of a definition; and which of its nodes are shown."""

from __future__ import annotations

from typing import Any

from nxkernel.defn.report import CompilationView, NodeView
from nxkernel_lab.launches import joined


def view_of(subject: Any) -> CompilationView:
    """The compilation that a person means by a definition or a compilation.

    Parameters
    ----------
    subject : definition or CompilationView
        What is to be shown.

    Returns
    -------
    CompilationView
        With one kernel for each whole operation, see `joined`.

    Raises
    ------
    TypeError
        Where it is neither.
    ValueError
        Where the definition has not been compiled yet.
    """
    if isinstance(subject, CompilationView):
        return joined(subject)
    if not hasattr(subject, "compilations"):
        raise TypeError(
            f"expected a numerical definition or one of its compilations(), got a {type(subject).__name__}.\n"
            "  Decorate the function with nx.defn, or begin its cell with %%defn."
        )
    views = subject.compilations()
    if not views:
        raise ValueError(f"{subject.__name__} has not been compiled yet.\n  Call it once, then look again.")
    return joined(views[-1])


def constants_of(view: CompilationView) -> dict[str, str]:
    """The constants that are written into the nodes that read them, by id.

    Parameters
    ----------
    view : CompilationView
        The compilation.

    Returns
    -------
    dict
        Id to the text of the value. A constant that is returned, or that nothing reads, is a node like others.
    """
    read = {operand for node in view.nodes for operand in node.operands}
    return {
        node.id: node.detail or node.label
        for node in view.nodes
        if node.role == "constant" and not node.output and node.id in read
    }


def name_of(node: NodeView) -> str:
    """What a node is called in a picture.

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
