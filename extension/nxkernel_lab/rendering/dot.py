"""A compilation as a ``graphviz.Digraph``, a cluster for each kernel, for documents and other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nxkernel_lab.rendering.scene import scene_of
from nxkernel_lab.rendering.viewed_nodes import view_of

if TYPE_CHECKING:
    import graphviz

_SHAPES = {"argument": "box", "captured": "box", "constant": "plaintext", "operation": "box"}


def to_dot(subject: Any) -> graphviz.Digraph:
    """Describe a compilation to Graphviz.

    Parameters
    ----------
    subject : definition or CompilationView
        A definition stands for its latest compilation.

    Returns
    -------
    graphviz.Digraph
        Its ``source`` needs no installed Graphviz; drawing it does.
    """
    import graphviz

    view = view_of(subject)
    scene = scene_of(view, folded=())
    graph = graphviz.Digraph(graphviz.escape(view.function), comment=view.signature.replace("\n", " "))
    graph.attr("graph", label=graphviz.escape(view.signature), labelloc="t", fontname="Helvetica")
    graph.attr("node", fontname="Helvetica", fontsize="11")
    around = {group.id: group.around for group in scene.grouping.groups.values()}
    names = {shape.id: f"n{index}" for index, shape in enumerate(scene.shapes)}

    def add(to: graphviz.Digraph, group: str) -> None:
        for shape in scene.shapes:
            if shape.group == group:
                style = "rounded,dashed" if shape.look == "captured" else "rounded"
                label = graphviz.escape(shape.label) + "\\n" + graphviz.escape(shape.sub)
                pen = "2" if shape.output else "1"
                to.node(names[shape.id], label, shape=_SHAPES.get(shape.look, "box"), style=style, penwidth=pen)

        for number, frame in enumerate(scene.frames):
            if around[frame.id] == group:
                # Without a graph it gives a context manager, as its types do not say.
                with to.subgraph(name=f"cluster_{number}") as cluster:  # pyright: ignore[reportOptionalContextManager]
                    cluster.attr(label=graphviz.escape(frame.title), style="rounded", fontsize="10")
                    add(cluster, frame.id)

    add(graph, "")
    for tail, head in sorted({(names[line.tail], names[line.head]) for line in scene.lines if line.head}):
        graph.edge(tail, head)
    return graph
