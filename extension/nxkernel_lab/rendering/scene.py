"""A compilation as boxes, frames and lines with coordinates, drawn by the static picture and the widget.

Constants are written into the boxes of their readers, and a node that several kernels compute is shown in each of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel.definitions.observe.compilation_report import CompilationView, NodeView
from nxkernel.messages.grammar import counted
from nxkernel_lab.rendering.nested_layout import Area, Box, Line, arrange
from nxkernel_lab.rendering.node_groups import Group, Member, NodeGroups, grouped
from nxkernel_lab.rendering.viewed_nodes import all_nodes, name_of

#: A graph with more boxes than this opens with its groups folded.
WHOLE = 120
#: A widget has room for so many pixels of height and width before labels become too small to read.
ROOM = (1600.0, 1500.0)
#: Longer labels and titles are cut; the widget's side pane and the picture's tooltips have the rest.
_LABEL, _TITLE = 30, 64
_HEIGHT, _FOLDED = 40.0, 44.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A box: a node, or a folded group.

    Parameters
    ----------
    id : str
        Its name in the picture: the node's, with ``@2`` for kernel 2 where several compute it; the group's if folded.
    node : str
        The id of the node; empty for a folded group that is none.
    kernel : int
        The index of the kernel that it belongs to or is; -1 for none.
    group : str
        The id of the group that it is, or that it is in; empty for none.
    area : Area
        Where it is.
    label, sub : str
        Its two lines.
    look : str
        ``"argument"``, ``"captured"``, ``"constant"``, ``"operation"`` or ``"group"``.
    kind : str
        The kind of a group; empty for others.
    output : bool
        Whether the function returns it, or something in it.
    """

    id: str
    node: str
    kernel: int
    group: str
    area: Area
    label: str
    sub: str
    look: str
    kind: str
    output: bool


@dataclass(frozen=True, slots=True)
class GroupFrame:
    """An open group: a titled area around its boxes."""

    id: str
    node: str
    kernel: int
    kind: str
    area: Area
    title: str


@dataclass(frozen=True)
class Scene:
    """The complete drawing.

    Parameters
    ----------
    shapes : list of Shape
        The boxes, operands before their readers.
    frames : list of GroupFrame
        The open groups, outer ones first.
    lines : list of Line
        The wires, by the ids of shapes.
    width, height : float
        Of the whole, in pixels.
    folded : frozenset of str
        The groups that are shown as one box, whether they are in another one or not.
    grouping : NodeGroups
        All groups and members that there are.
    """

    shapes: list[Shape]
    frames: list[GroupFrame]
    lines: list[Line]
    width: float
    height: float
    folded: frozenset[str]
    grouping: NodeGroups


def first_folded(view: CompilationView, way: str = "kernels") -> frozenset[str]:
    """The groups folded at first: conditions in a small compilation, all groups in a large one."""
    groups = grouped(view, way).groups.values()
    if sum(1 for _ in all_nodes(view.nodes)) > WHOLE:
        return frozenset(group.id for group in groups)
    return frozenset(group.id for group in groups if group.kind == "condition")


def readable_folded(view: CompilationView, way: str = "kernels") -> frozenset[str]:
    """As `first_folded`, but folds more groups where the area is too small for an open graph to be readable."""
    groups = grouped(view, way).groups.values()
    first = first_folded(view, way)
    if len(first) == len(groups) or len(groups) < 2:
        return first
    inner = first | {group.id for group in groups if group.kind not in ("loop", "choice")}
    for folded in (first, inner):
        scene = scene_of(view, folded, way)
        if scene.height <= ROOM[0] and scene.width <= ROOM[1]:
            return folded
    return frozenset(group.id for group in groups)


def scene_of(view: CompilationView, folded: Collection[str] | None = None, way: str = "kernels") -> Scene:
    """Lay out a compilation.

    Parameters
    ----------
    view : CompilationView
        What to show.
    folded : collection of str, optional
        The groups to show as one box; by default as in `first_folded`.
    way : str, optional
        What stands together; see `grouped`.

    Returns
    -------
    Scene
    """
    grouping = grouped(view, way)
    folded = frozenset(first_folded(view, way) if folded is None else grouping.groups.keys() & folded)
    hidden = {
        name: next((outer for outer in grouping.chain(group.around) if outer in folded), "")
        for name, group in grouping.groups.items()
    }

    def shown_as(member: Member) -> str:
        group = member.group
        return (hidden[group] or (group if group in folded else "")) if group else ""

    inside: dict[str, list[Member]] = {name: [] for name in grouping.groups}
    for member in grouping.members:
        for name in grouping.chain(member.group):
            inside[name].append(member)
    shapes = {
        name: _folded(grouping.groups[name], inside[name])
        for name in grouping.groups
        if name in folded and not hidden[name]
    }
    stands_for = {member.id: shown_as(member) or member.id for member in grouping.members}
    for member in grouping.members:
        if stands_for[member.id] == member.id:
            shapes[member.id] = _node(member, grouping.constants)
    links = [(stands_for[tail], stands_for[head]) for tail, head in grouping.links]
    boxes = [Box(name, *_size(shape), _around(name, shape, grouping)) for name, shape in shapes.items()]
    opened = [group for group in grouping.groups.values() if group.id not in folded and not hidden[group.id]]
    titles = {group.id: _cut(group.title, _TITLE) for group in opened}
    drawing = arrange(
        boxes,
        list(dict.fromkeys(links)),
        {name: 6.2 * len(title) + 48 for name, title in titles.items()},
        {group.id: group.around for group in opened},
    )
    return Scene(
        [Shape(name, area=drawing.boxes[name], **shape) for name, shape in shapes.items()],
        [
            GroupFrame(group.id, group.node, group.kernel, group.kind, drawing.frames[group.id], titles[group.id])
            for group in opened
        ],
        drawing.lines,
        drawing.width,
        drawing.height,
        folded,
        grouping,
    )


def _folded(group: Group, inside: Sequence[Member]) -> dict[str, Any]:
    return {
        "node": group.node,
        "kernel": group.kernel,
        "group": group.id,
        "label": _cut(group.label, _LABEL),
        "sub": counted(len(inside), "node"),
        "look": "group",
        "kind": group.kind,
        "output": any(member.node.output for member in inside if "." not in member.node.id),
    }


def _node(member: Member, constants: dict[str, str]) -> dict[str, Any]:
    return {
        "node": member.node.id,
        "kernel": member.kernel,
        "group": member.group,
        "label": _cut(_label(member.node, constants), _LABEL),
        "sub": _cut(member.node.spec, _LABEL),
        "look": member.node.role,
        "kind": "",
        "output": member.node.output and "." not in member.node.id,
    }


def _around(name: str, shape: dict[str, Any], grouping: NodeGroups) -> str:
    """The frame that contains a box."""
    group: Group | None = grouping.groups.get(name)
    return group.around if group is not None and shape["look"] == "group" else shape["group"]


def _label(node: NodeView, constants: dict[str, str]) -> str:
    if node.role == "constant":
        return node.detail or node.label
    if not any(operand in constants for operand in node.operands):
        return name_of(node)
    return f"{name_of(node)} {', '.join(constants.get(operand, '·') for operand in node.operands)}"


def _size(shape: dict[str, Any]) -> tuple[float, float]:
    width = max(7.0 * len(shape["label"]), 6.3 * len(shape["sub"])) + 22
    if shape["look"] == "group":
        return max(width + 26, 120.0), _FOLDED
    return max(width, 60.0), _HEIGHT


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
