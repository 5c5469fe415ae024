"""A compilation as JSON data for a widget's page: nodes, groups, kernels and their layout."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from nxkernel.definitions.observe.compilation_report import CompilationView, Measurement, NodeView
from nxkernel_lab.rendering.kernel_speed import pace, share
from nxkernel_lab.rendering.scene import scene_of
from nxkernel_lab.rendering.svg import KINDS, curve
from nxkernel_lab.rendering.text import expression, origin, place, summary, work, work_alone
from nxkernel_lab.rendering.viewed_nodes import all_nodes, constants_of, name_of
from nxkernel_lab.text_escaping import clipped


def graph(
    view: CompilationView,
    changes: Mapping[str, tuple[str, str]] | None = None,
    measured: Measurement | None = None,
    about: str = "",
) -> dict[str, Any]:
    """The nodes and kernels of a compilation as data for a page.

    Parameters
    ----------
    view : CompilationView
        What to describe.
    changes : mapping, optional
        What a step did to nodes, by id: a word and a line.
    measured : Measurement, optional
        What its kernels took.
    about : str, optional
        A line about the step that it is.

    Returns
    -------
    dict
        ``signature``, ``about`` (lines), ``nodes`` by id, and ``kernels`` by index.
    """
    nodes = list(all_nodes(view.nodes))
    constants = constants_of(nodes)
    readers: dict[str, list[str]] = {node.id: [] for node in nodes if node.id not in constants}
    for node in nodes:
        for operand in dict.fromkeys(node.operands):
            if operand in readers:
                readers[operand].append(node.id)
    kernels = {
        str(kernel.index): {
            "name": f"kernel {kernel.index + 1}",
            "title": kernel.title or kernel.kind,
            "about": [origin(kernel), *work(kernel), *filter(None, [kernel.launch])],
            "time": pace(kernel, measured),
            "share": share(kernel, measured),
            "forms": list(kernel.texts),
        }
        for kernel in view.kernels
    }
    lines = [about] if about else [summary(view), *view.reason, *filter(None, [view.rules]), *_baked(view)]
    return {
        "signature": view.signature,
        "about": lines,
        "nodes": {node.id: _node(node, constants, readers, changes or {}) for node in nodes if node.id in readers},
        "kernels": kernels,
    }


def _baked(view: CompilationView) -> list[str]:
    """The captured values that are baked in as constants, as text."""
    values = [line.removeprefix("captured ") for line in view.baked if line.startswith("captured ")]
    return [clipped(f"baked in: {', '.join(values)}", 200)] if values else []


def _node(
    node: NodeView,
    constants: Mapping[str, str],
    readers: Mapping[str, list[str]],
    changes: Mapping[str, tuple[str, str]],
) -> dict[str, Any]:
    shown = {
        "label": name_of(node),
        "expression": expression(node, constants),
        "spec": node.spec,
        "role": node.role,
        "operands": list(dict.fromkeys(operand for operand in node.operands if operand in readers)),
        "readers": readers[node.id],
        "kernels": list(node.kernels),
        "place": place(node).removesuffix(f": {node.code}"),
        "code": node.code,
        "at": [node.cell, node.line],
    }
    more = {
        "body": list(node.body) if not node.parts else [],
        "output": node.output and "." not in node.id,
        "work": " · ".join(work_alone(node)),
        "module": node.module,
        "gradient": node.gradient,
        "change": list(changes.get(node.id, ())),
    }
    # What says nothing is left out: large graphs travel as fast as small ones then.
    return shown | {name: value for name, value in more.items() if value}


def sources(view: CompilationView) -> list[dict[str, Any]]:
    """The functions whose source lines made nodes: ``name``, ``cell``, ``first`` line and ``lines``."""
    return [
        {"name": each.name, "cell": each.cell, "first": each.first, "lines": list(each.lines)}
        for each in view.sources()
    ]


def geometry(view: CompilationView, folded: Collection[str], way: str = "kernels") -> dict[str, Any]:
    """The layout of a compilation as data for a page.

    Parameters
    ----------
    view : CompilationView
        What to draw.
    folded : collection of str
        The groups that are shown as one box.
    way : str, optional
        What stands together.

    Returns
    -------
    dict
        ``width``, ``height``, ``folded``, ``groups`` (all that there are), ``homes`` (the groups around each node,
        the outermost first, where there are any), and the lists ``shapes``, ``frames`` and ``lines``.
    """
    scene = scene_of(view, folded, way)
    grouping = scene.grouping
    homes: dict[str, list[str]] = {}
    for member in grouping.members:
        if member.group:
            homes.setdefault(member.node.id, grouping.chain(member.group))
    shapes = [
        {
            "id": shape.id,
            "node": shape.node,
            "kernel": shape.kernel,
            "area": [round(each, 1) for each in shape.area],
            "label": shape.label,
            "sub": shape.sub,
            "look": f"group {KINDS.get(shape.kind, 'other')}" if shape.look == "group" else shape.look,
            "output": shape.output,
        }
        for shape in scene.shapes
    ]
    frames = [
        {
            "id": frame.id,
            "node": frame.node,
            "kernel": frame.kernel,
            "look": KINDS.get(frame.kind, "other"),
            "area": [round(each, 1) for each in frame.area],
            "title": frame.title,
        }
        for frame in scene.frames
    ]
    lines = [[line.tail, line.head, line.before, curve(line)] for line in scene.lines]
    return {
        "width": round(scene.width, 1),
        "height": round(scene.height, 1),
        "folded": sorted(scene.folded),
        "groups": list(grouping.groups),
        "homes": homes,
        "shapes": shapes,
        "frames": frames,
        "lines": lines,
    }
