"""A compilation as boxes, frames and lines with coordinates: what the static picture and the widget both draw.

Constants are written into the boxes of their readers, and a node that several kernels compute is shown in each of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from nxkernel.defn.report import CompilationView, KernelView, NodeView
from nxkernel_lab.frames import Area, Box, Drawing, Line, arrange
from nxkernel_lab.subject import constants_of, name_of
from nxkernel_lab.wording import count

#: A graph with more boxes than this opens with its kernels folded.
WHOLE = 120
#: A widget has room for so many pixels of height and width before labels become too small to read.
ROOM = (1600.0, 1500.0)
#: Longer labels and titles are cut; the widget's side pane and the picture's tooltips have the rest.
_LABEL, _TITLE = 30, 44
_HEIGHT, _FOLDED = 40.0, 44.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A box of the picture: a node, or a folded kernel.

    Parameters
    ----------
    id : str
        Its name in the picture: the node's, with ``@2`` for kernel 2 where several compute it; ``kernel 2`` if folded.
    node : str
        The id of the node; empty for a folded kernel.
    kernel : int
        The index of the kernel that it belongs to or is; -1 for none.
    area : Area
        Where it is.
    label, sub : str
        Its two lines.
    look : str
        ``"argument"``, ``"captured"``, ``"constant"``, ``"operation"`` or ``"kernel"``.
    output : bool
        Whether the function returns it, or something in it.
    """

    id: str
    node: str
    kernel: int
    area: Area
    label: str
    sub: str
    look: str
    output: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """An open kernel: the area around its boxes, with a title."""

    kernel: int
    kind: str
    area: Area
    title: str


@dataclass(frozen=True)
class Scene:
    """Everything that is drawn.

    Parameters
    ----------
    shapes : list of Shape
        The boxes, operands before their readers.
    frames : list of Frame
        The open kernels.
    lines : list of Line
        The wires, by the ids of shapes.
    width, height : float
        Of the whole, in pixels.
    folded : frozenset of int
        The kernels that are shown as one box.
    """

    shapes: list[Shape]
    frames: list[Frame]
    lines: list[Line]
    width: float
    height: float
    folded: frozenset[int]


def all_kernels(view: CompilationView) -> frozenset[int]:
    """The indices of a compilation's kernels."""
    return frozenset(kernel.index for kernel in view.kernels)


def first_folded(view: CompilationView) -> frozenset[int]:
    """Which kernels are folded when a compilation is shown first: none of a small one, all of a large one."""
    return all_kernels(view) if len(view.nodes) > WHOLE else frozenset()


def readable_folded(view: CompilationView) -> frozenset[int]:
    """As `first_folded`, for a place of limited size: all kernels where an open graph could not be read there."""
    folded = first_folded(view)
    if folded or len(view.kernels) < 2:
        return folded
    whole = scene_of(view, folded)
    return all_kernels(view) if whole.height > ROOM[0] or whole.width > ROOM[1] else folded


def scene_of(view: CompilationView, folded: Collection[int] | None = None) -> Scene:
    """Lay out a compilation.

    Parameters
    ----------
    view : CompilationView
        What to show.
    folded : collection of int, optional
        Indices of the kernels to show as one box; by default as in `first_folded`.

    Returns
    -------
    Scene
    """
    folded = first_folded(view) if folded is None else all_kernels(view).intersection(folded)
    kernels = all_kernels(view)
    constants = constants_of(view)
    homes = _homes(view, kernels, constants)
    shapes: dict[str, dict[str, Any]] = {}
    for kernel in view.kernels:
        if kernel.index in folded:
            inside = [node for node in view.nodes if kernel.index in homes.get(node.id, ())]
            shapes[f"kernel {kernel.index + 1}"] = {
                "node": "",
                "kernel": kernel.index,
                "label": f"kernel {kernel.index + 1} · {kernel.kind}",
                "sub": count(len(inside), "node"),
                "look": "kernel",
                "output": any(node.output for node in inside),
            }
    for node in view.nodes:
        for home in homes.get(node.id, ()):
            if home not in folded:
                shapes[_shape_id(node.id, home, homes)] = {
                    "node": node.id,
                    "kernel": home,
                    "label": _cut(_label(node, constants), _LABEL),
                    "sub": _cut(node.spec, _LABEL),
                    "look": node.role,
                    "output": node.output,
                }

    def end(node: str, home: int) -> str:
        return f"kernel {home + 1}" if home in folded else _shape_id(node, home, homes)

    links = []
    for node in view.nodes:
        for home in homes.get(node.id, ()):
            for operand in node.operands:
                if operand in homes:
                    earlier = [other for other in homes[operand] if other <= home]
                    origin = earlier[-1] if earlier else homes[operand][0]
                    links.append((end(operand, origin), end(node.id, home)))
    boxes = [Box(name, *_size(shape), _frame(shape, folded)) for name, shape in shapes.items()]
    opened = [kernel for kernel in view.kernels if kernel.index not in folded]
    titles = {
        kernel.index: _cut(f"kernel {kernel.index + 1} · {kernel.title or kernel.kind}", _TITLE) for kernel in opened
    }
    drawing = arrange(boxes, links, {str(index): 6.2 * len(title) + 48 for index, title in titles.items()})
    return _scene(shapes, opened, titles, drawing, frozenset(folded))


def _scene(
    shapes: dict[str, dict[str, Any]],
    opened: list[KernelView],
    titles: dict[int, str],
    drawing: Drawing,
    folded: frozenset[int],
) -> Scene:
    return Scene(
        [Shape(name, area=drawing.boxes[name], **shape) for name, shape in shapes.items()],
        [Frame(each.index, each.kind, drawing.frames[str(each.index)], titles[each.index]) for each in opened],
        drawing.lines,
        drawing.width,
        drawing.height,
        folded,
    )


def _homes(view: CompilationView, kernels: Collection[int], constants: Collection[str]) -> dict[str, tuple[int, ...]]:
    """For each node that gets a box of its own, the kernels that compute it, or -1 for none."""
    return {
        node.id: tuple(index for index in node.kernels if index in kernels) or (-1,)
        for node in view.nodes
        if node.id not in constants
    }


def _shape_id(node: str, home: int, homes: dict[str, tuple[int, ...]]) -> str:
    return node if len(homes[node]) == 1 else f"{node}@{home + 1}"


def _label(node: NodeView, constants: dict[str, str]) -> str:
    if node.role == "constant":
        return node.detail or node.label
    if not any(operand in constants for operand in node.operands):
        return name_of(node)
    return f"{name_of(node)} {', '.join(constants.get(operand, '·') for operand in node.operands)}"


def _size(shape: dict[str, Any]) -> tuple[float, float]:
    width = max(7.0 * len(shape["label"]), 6.3 * len(shape["sub"])) + 22
    if shape["look"] == "kernel":
        return max(width + 26, 120.0), _FOLDED
    return max(width, 60.0), _HEIGHT


def _frame(shape: dict[str, Any], folded: Collection[int]) -> str:
    return "" if shape["kernel"] < 0 or shape["kernel"] in folded else str(shape["kernel"])


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
