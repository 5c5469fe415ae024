"""A compilation as the plain data that the widget's page gets: its nodes and kernels, and where they are drawn."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nxkernel.defn.report import CompilationView
from nxkernel_lab.scene import scene_of
from nxkernel_lab.subject import constants_of, name_of
from nxkernel_lab.svg import KINDS, curve
from nxkernel_lab.text import expression, origin, place, summary, work


def graph(view: CompilationView) -> dict[str, Any]:
    """What a page says about the nodes and kernels of a compilation.

    Parameters
    ----------
    view : CompilationView
        What to describe.

    Returns
    -------
    dict
        ``signature``, ``about`` (lines), ``nodes`` by id, and ``kernels`` by index.
    """
    constants = constants_of(view)
    readers: dict[str, list[str]] = {node.id: [] for node in view.nodes if node.id not in constants}
    for node in view.nodes:
        for operand in dict.fromkeys(node.operands):
            if operand in readers:
                readers[operand].append(node.id)
    nodes = {
        node.id: {
            "label": name_of(node),
            "expression": expression(node, constants),
            "body": list(node.body),
            "spec": node.spec,
            "role": node.role,
            "operands": list(dict.fromkeys(operand for operand in node.operands if operand in readers)),
            "readers": readers[node.id],
            "kernels": list(node.kernels),
            "output": node.output,
            "place": place(node).removesuffix(f": {node.code}"),
            "code": node.code,
        }
        for node in view.nodes
        if node.id in readers
    }
    kernels = {
        str(kernel.index): {
            "name": f"kernel {kernel.index + 1}",
            "title": kernel.title or kernel.kind,
            "about": [origin(kernel), *work(kernel)],
            "forms": list(kernel.texts),
        }
        for kernel in view.kernels
    }
    about = [summary(view), *view.reason]
    return {"signature": view.signature, "about": about, "nodes": nodes, "kernels": kernels}


def geometry(view: CompilationView, folded: Collection[int]) -> dict[str, Any]:
    """Where a page draws a compilation.

    Parameters
    ----------
    view : CompilationView
        What to draw.
    folded : collection of int
        Indices of the kernels that are shown as one box.

    Returns
    -------
    dict
        ``width``, ``height``, ``folded``, and the lists ``shapes``, ``frames`` and ``lines``.
    """
    scene = scene_of(view, folded)
    kinds = {kernel.index: KINDS.get(kernel.kind, "other") for kernel in view.kernels}
    shapes = [
        {
            "id": shape.id,
            "node": shape.node,
            "kernel": shape.kernel,
            "area": [round(each, 1) for each in shape.area],
            "label": shape.label,
            "sub": shape.sub,
            "look": f"{shape.look} {kinds[shape.kernel]}" if shape.look == "kernel" else shape.look,
            "output": shape.output,
        }
        for shape in scene.shapes
    ]
    frames = [
        {
            "kernel": frame.kernel,
            "look": kinds[frame.kernel],
            "area": [round(each, 1) for each in frame.area],
            "title": frame.title,
        }
        for frame in scene.frames
    ]
    lines = [[line.tail, line.head, line.before, curve(line)] for line in scene.lines]
    size = {"width": round(scene.width, 1), "height": round(scene.height, 1)}
    return {**size, "folded": sorted(scene.folded), "shapes": shapes, "frames": frames, "lines": lines}
