"""Boxes in frames: each frame is laid out for itself, then the frames and the free boxes as one graph of boxes.

A wire that enters or leaves a frame does so through a port in the frame's border, so that the inside of one frame does
not depend on the others, and folding a frame moves nothing inside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nxkernel_lab.layout import LANE, Link, place
from nxkernel_lab.packing import pack

#: Height of the strip for a frame's title, and the space between its border and its boxes.
TITLE = 26.0
PADDING = 14.0
#: About how many boxes are visited in one kind of sweep through the layers: large graphs get fewer sweeps.
SWEPT = 4000


@dataclass(frozen=True, slots=True)
class Box:
    """Something to be placed.

    Parameters
    ----------
    id : str
        Its name.
    width, height : float
        Its size in pixels.
    frame : str
        The name of the frame around it; empty for none.
    """

    id: str
    width: float
    height: float
    frame: str = ""


class Line(NamedTuple):
    """A piece of a wire; `before` is the index of the piece that it continues, or -1.

    Parameters
    ----------
    tail, head : str
        The box whose value it carries, and the box at which it ends, empty where other pieces go on.
    before : int
        Index of the piece that it continues; -1 for the first.
    points : tuple of float
        ``(x0, y0, x1, y1, y2)``: a curve from ``(x0, y0)`` to ``(x1, y1)``, then down to ``(x1, y2)``.
    """

    tail: str
    head: str
    before: int
    points: tuple[float, float, float, float, float]


class Area(NamedTuple):
    """A rectangle, by its top left corner and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Drawing:
    """Where everything went.

    Parameters
    ----------
    boxes, frames : dict
        Name to `Area`.
    lines : list of Line
        Each after the one that it continues.
    width, height : float
        Of the whole.
    """

    boxes: dict[str, Area]
    frames: dict[str, Area]
    lines: list[Line]
    width: float
    height: float


class _Inside:
    """The layout inside one frame, with ports for the values that enter and leave."""

    def __init__(self, boxes: Sequence[Box], links: Sequence[tuple[str, str]], title_width: float, sweeps: int) -> None:
        self.boxes = boxes
        index = {box.id: number for number, box in enumerate(boxes)}
        sizes = [(box.width, box.height) for box in boxes]
        self.entries: dict[str, int] = {}
        self.exits: dict[str, int] = {}

        def port(ports: dict[str, int], value: str) -> int:
            if value not in ports:
                ports[value] = len(sizes)
                sizes.append((LANE, 0.0))
            return ports[value]

        pairs = []
        for tail, head in links:
            start = index[tail] if tail in index else port(self.entries, tail)
            pairs.append((start, index[head] if head in index else port(self.exits, tail), tail))
        wires = [Link(start, end, value, sizes[start][0] / 2, sizes[end][0] / 2) for start, end, value in pairs]
        self.placed = place(sizes, wires, self.entries.values(), self.exits.values(), sweeps)
        self.width = max(self.placed.width + 2 * PADDING, title_width)
        self.left = (self.width - self.placed.width) / 2
        self.top = TITLE + (0.0 if self.entries else PADDING)
        self.height = self.top + self.placed.height + (0.0 if self.exits else PADDING)

    def port(self, number: int) -> float:
        """How far from the frame's left border a port is."""
        return self.left + self.placed.x[number] + LANE / 2


def arrange(boxes: Sequence[Box], links: Iterable[tuple[str, str]], titles: dict[str, float]) -> Drawing:
    """Place boxes and the frames around them.

    Parameters
    ----------
    boxes : sequence of Box
        Everything that is shown.
    links : iterable of (str, str)
        Which box's value goes to which box.
    titles : dict
        Name of each frame to the width that its title needs, in pixels.

    Returns
    -------
    Drawing
    """
    frame_of = {box.id: box.frame for box in boxes}
    links = list(dict.fromkeys((tail, head) for tail, head in links if tail != head))
    members: dict[str, list[Box]] = {name: [] for name in titles}
    crossing: dict[str, list[tuple[str, str]]] = {name: [] for name in titles}
    for box in boxes:
        if box.frame:
            members[box.frame].append(box)
    for tail, head in links:
        for name in {frame_of[tail], frame_of[head]} - {""}:
            crossing[name].append((tail, head))
    sweeps = _sweeps(len(boxes))
    inside = {name: _Inside(members[name], crossing[name], width, sweeps) for name, width in titles.items()}

    free = [box for box in boxes if not box.frame]
    names = [*titles, *(box.id for box in free)]
    number = {name: index for index, name in enumerate(names)}
    sizes = [(inside[name].width, inside[name].height) for name in titles] + [(box.width, box.height) for box in free]
    outer: dict[tuple[str, str], Link] = {}
    for tail, head in links:
        start, end = frame_of[tail] or tail, frame_of[head] or head
        if start != end and (tail, end) not in outer:
            leave = inside[start].port(inside[start].exits[tail]) if start in inside else sizes[number[start]][0] / 2
            enter = inside[end].port(inside[end].entries[tail]) if end in inside else sizes[number[end]][0] / 2
            outer[tail, end] = Link(number[start], number[end], tail, leave, enter)
    sweeps = _sweeps(len(sizes) + len(outer))
    whole = pack(sizes, list(outer.values()), lambda own, wires: place(own, wires, sweeps=sweeps))

    areas = {name: Area(whole.x[index], whole.y[index], *sizes[index]) for name, index in number.items()}
    drawing = Drawing({}, {name: areas[name] for name in titles}, [], whole.width, whole.height)
    drawing.boxes.update({box.id: areas[box.id] for box in free})
    _draw(drawing, inside, whole.wires, names)
    return drawing


def _sweeps(boxes: int) -> int:
    return max(1, min(24, SWEPT // max(1, boxes)))


def _draw(drawing: Drawing, inside: dict[str, _Inside], wires: Sequence, names: Sequence[str]) -> None:
    """Add what is inside the frames, and all lines, in the order in which they continue each other."""
    left_by: dict[str, int] = {}
    entered_by: dict[tuple[str, str], int] = {}

    def draw_inside(name: str, ready: bool) -> None:
        # Pieces that start at a box of the frame come before the outer ones, pieces that start at its ports after them.
        part, frame = inside[name], drawing.frames[name]
        dx, dy = frame.x + part.left, frame.y + part.top
        lines: dict[int, int] = {}
        ends = {port: value for value, port in part.exits.items()}
        for index, wire in enumerate(part.placed.wires):
            if (wire.value in part.entries) == ready:
                continue
            x0, y0, x1, y1, y2 = wire.points
            before = lines[wire.before] if wire.before >= 0 else entered_by.get((wire.value, name), -1)
            head = part.boxes[wire.head].id if 0 <= wire.head < len(part.boxes) else ""
            lines[index] = len(drawing.lines)
            if wire.head in ends:
                left_by[wire.value] = lines[index]
            drawing.lines.append(Line(wire.value, head, before, (x0 + dx, y0 + dy, x1 + dx, y1 + dy, y2 + dy)))

    for name, part in inside.items():
        frame = drawing.frames[name]
        for index, box in enumerate(part.boxes):
            x, y = frame.x + part.left + part.placed.x[index], frame.y + part.top + part.placed.y[index]
            drawing.boxes[box.id] = Area(x, y, box.width, box.height)
        draw_inside(name, ready=True)
    lines: dict[int, int] = {}
    for index, wire in enumerate(wires):
        x0, y0, x1, y1, y2 = wire.points
        before = lines[wire.before] if wire.before >= 0 else left_by.get(wire.value, -1)
        lines[index] = len(drawing.lines)
        end = names[wire.head] if wire.head >= 0 else ""
        if end in inside:
            entered_by[wire.value, end] = lines[index]
            y2 += inside[end].top
        drawing.lines.append(Line(wire.value, "" if end in inside else end, before, (x0, y0, x1, y1, y2)))
    for name in inside:
        draw_inside(name, ready=False)
