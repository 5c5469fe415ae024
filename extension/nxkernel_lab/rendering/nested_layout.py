"""Layout of nested groups: each frame is laid out by itself, then placed as a box in its parent.

A wire that enters or leaves a frame does so through a port in the frame's border, so that the inside of one frame does
not depend on the others, and folding a frame moves nothing inside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from nxkernel_lab.rendering.component_packing import pack
from nxkernel_lab.rendering.layered_layout import LANE, Link, Placement, place

#: Height of the strip for a frame's title, and the space between its border and its boxes.
TITLE = 26.0
PADDING = 14.0
#: About how many boxes are visited in one kind of sweep through the layers: large graphs get fewer sweeps.
SWEPT = 4000


@dataclass(frozen=True, slots=True)
class Box:
    """A box to be placed.

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
    """A segment of an edge; `before` is the index of the segment that it continues, or -1.

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
    """A rectangle, by top left corner and size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Drawing:
    """The result of the layout.

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


@dataclass
class _Frame:
    """A frame, or the whole picture: its boxes, and the edges that enter, leave and cross it.

    Parameters
    ----------
    name : str
        The frame's; empty for the picture.
    children : list of str
        The boxes and frames in it.
    links : list of (str, str, str)
        From one child to another with a value; an empty name is the border.
    """

    name: str
    children: list[str] = field(default_factory=list)
    links: dict[tuple[str, str, str], None] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)
    exits: dict[str, int] = field(default_factory=dict)
    sizes: list[tuple[float, float]] = field(default_factory=list)
    placed: Placement | None = None
    width: float = 0.0
    height: float = 0.0
    left: float = 0.0
    top: float = 0.0

    def port(self, number: int) -> float:
        """The distance of a port from the frame's left border."""
        return self.left + self.placed.x[number] + LANE / 2


def arrange(
    boxes: Sequence[Box],
    links: Iterable[tuple[str, str]],
    titles: Mapping[str, float],
    around: Mapping[str, str] = MappingProxyType({}),
) -> Drawing:
    """Lay out boxes and the frames around them.

    Parameters
    ----------
    boxes : sequence of Box
        Everything that is shown.
    links : iterable of (str, str)
        Which box's value goes to which box.
    titles : mapping
        Name of each frame to the width that its title needs, in pixels; frames come after those that they are in.
    around : mapping, optional
        Name of a frame to that of the frame that it is in.

    Returns
    -------
    Drawing
    """
    rooms = {"": _Frame(""), **{name: _Frame(name) for name in titles}}
    for name in titles:
        rooms[around.get(name, "")].children.append(name)
    size = {box.id: (box.width, box.height) for box in boxes}
    for box in boxes:
        rooms[box.frame].children.append(box.id)
    _connect(rooms, {box.id: box.frame for box in boxes}, links, around)
    for name in reversed(titles):
        _furnish(rooms[name], rooms, size, titles[name], _sweeps(len(boxes)))
        size[name] = (rooms[name].width, rooms[name].height)
    whole = rooms[""]
    _furnish(whole, rooms, size, 0.0, _sweeps(len(whole.children) + len(whole.links)))

    drawing = Drawing({}, {}, [], whole.placed.width, whole.placed.height)
    _locate(whole, rooms, size, drawing, 0.0, 0.0)
    pen = _EdgeDrawing(rooms, drawing)
    pen.leaving(whole)
    pen.entering(whole)
    return drawing


def _sweeps(boxes: int) -> int:
    return max(1, min(24, SWEPT // max(1, boxes)))


def _connect(
    rooms: dict[str, _Frame], frame_of: dict[str, str], links: Iterable[tuple[str, str]], around: Mapping[str, str]
) -> None:
    """Split each edge into segments: in the common frame of both ends, and in the frames that it leaves and enters."""
    chains: dict[str, list[str]] = {"": []}

    def chain(frame: str) -> list[str]:
        if frame not in chains:
            chains[frame] = [*chain(around.get(frame, "")), frame]
        return chains[frame]

    for tail, head in links:
        if tail == head:
            continue
        left, entered = chain(frame_of[tail]), chain(frame_of[head])
        same = 0
        while same < min(len(left), len(entered)) and left[same] == entered[same]:
            same += 1
        start, end = tail, head
        for frame in reversed(left[same:]):
            rooms[frame].links[start, "", tail] = None
            start = frame
        for frame in reversed(entered[same:]):
            rooms[frame].links["", end, tail] = None
            end = frame
        rooms[left[same - 1] if same else ""].links[start, end, tail] = None


def _furnish(
    room: _Frame, rooms: dict[str, _Frame], size: dict[str, tuple[float, float]], title: float, sweeps: int
) -> None:
    """Lay out the contents of a frame; the frames in it are laid out already."""
    index = {name: number for number, name in enumerate(room.children)}
    room.sizes = [size[name] for name in room.children]

    def port(ports: dict[str, int], value: str) -> int:
        if value not in ports:
            ports[value] = len(room.sizes)
            room.sizes.append((LANE, 0.0))
        return ports[value]

    wires = []
    for start, end, value in room.links:
        tail = index[start] if start else port(room.entries, value)
        head = index[end] if end else port(room.exits, value)
        leave, enter = room.sizes[tail][0] / 2, room.sizes[head][0] / 2
        if start in rooms and start:
            leave = rooms[start].port(rooms[start].exits[value])
        if end in rooms and end:
            enter = rooms[end].port(rooms[end].entries[value])
        wires.append(Link(tail, head, value, leave, enter))
    if not room.name:
        room.placed = pack(room.sizes, wires, lambda own, some: place(own, some, sweeps=sweeps))
        return
    room.placed = place(room.sizes, wires, room.entries.values(), room.exits.values(), sweeps)
    room.width = max(room.placed.width + 2 * PADDING, title)
    room.left = (room.width - room.placed.width) / 2
    room.top = TITLE + (0.0 if room.entries else PADDING)
    room.height = room.top + room.placed.height + (0.0 if room.exits else PADDING)


def _locate(
    room: _Frame, rooms: dict[str, _Frame], size: dict[str, tuple[float, float]], drawing: Drawing, x: float, y: float
) -> None:
    """Compute the absolute positions of everything in a frame, from that of its inside."""
    for number, name in enumerate(room.children):
        area = Area(x + room.placed.x[number], y + room.placed.y[number], *size[name])
        if name in rooms:
            drawing.frames[name] = area
            _locate(rooms[name], rooms, size, drawing, area.x + rooms[name].left, area.y + rooms[name].top)
        else:
            drawing.boxes[name] = area


class _EdgeDrawing:
    """Draws edges as segments in the order in which they continue each other."""

    def __init__(self, rooms: dict[str, _Frame], drawing: Drawing) -> None:
        self.rooms, self.drawing = rooms, drawing
        self.left_by: dict[str, int] = {}
        self.entered_by: dict[tuple[str, str], int] = {}

    def leaving(self, room: _Frame) -> None:
        """Draw the segments that begin in a frame, up to its border."""
        for name in room.children:
            if name in self.rooms:
                self.leaving(self.rooms[name])
        self._draw(room, from_border=False)

    def entering(self, room: _Frame) -> None:
        """Draw the segments from the border of a frame inwards."""
        self._draw(room, from_border=True)
        for name in room.children:
            if name in self.rooms:
                self.entering(self.rooms[name])

    def _draw(self, room: _Frame, from_border: bool) -> None:
        area = self.drawing.frames.get(room.name)
        dx, dy = (area.x + room.left, area.y + room.top) if area else (0.0, 0.0)
        ends = {port: value for value, port in room.exits.items()}
        lines: dict[int, int] = {}
        for number, wire in enumerate(room.placed.wires):
            if (wire.value in room.entries) != from_border:
                continue
            x0, y0, x1, y1, y2 = wire.points
            if wire.before >= 0:
                before = lines[wire.before]
            elif from_border:
                before = self.entered_by[wire.value, room.name]
            else:
                # What leaves a room in this one has come to its border by now, and no further.
                before = self.left_by.get(wire.value, -1)
            lines[number] = len(self.drawing.lines)
            end = room.children[wire.head] if 0 <= wire.head < len(room.children) else ""
            if wire.head in ends:
                self.left_by[wire.value] = lines[number]
            if end in self.rooms and end:
                self.entered_by[wire.value, end] = lines[number]
                y2, end = y2 + self.rooms[end].top, ""
            self.drawing.lines.append(Line(wire.value, end, before, (x0 + dx, y0 + dy, x1 + dx, y1 + dy, y2 + dy)))
