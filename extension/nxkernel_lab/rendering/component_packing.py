"""Layout of disconnected graphs: each connected component by itself, then packed in rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from nxkernel_lab.rendering.layered_layout import Link, Placement, Wire

#: Space between parts.
APART = 36.0
#: How wide the whole is beside its height, about.
SHAPE = 1.3


def pack(
    sizes: Sequence[tuple[float, float]],
    links: Sequence[Link],
    place: Callable[[Sequence[tuple[float, float]], Sequence[Link]], Placement],
) -> Placement:
    """Lay out the connected components of a graph, and pack them.

    Parameters
    ----------
    sizes : sequence of (float, float)
        Width and height of each box, in pixels.
    links : sequence of Link
        What reads what.
    place : callable
        Lays out one part: ``place(sizes, links)``.

    Returns
    -------
    Placement
    """
    members = _parts(len(sizes), links)
    part_of = {box: number for number, boxes in enumerate(members) for box in boxes}
    inside: list[list[Link]] = [[] for _ in members]
    for link in links:
        inside[part_of[link.tail]].append(link)
    placed = []
    for boxes, own in zip(members, inside, strict=True):
        index = {box: number for number, box in enumerate(boxes)}
        moved = [link._replace(tail=index[link.tail], head=index[link.head]) for link in own]
        placed.append(place([sizes[box] for box in boxes], moved))
    corners, width, height = _shelves([(part.width, part.height) for part in placed])
    x, y, wires = [0.0] * len(sizes), [0.0] * len(sizes), []
    for boxes, part, (left, top) in zip(members, placed, corners, strict=True):
        first = len(wires)
        for box, own_x, own_y in zip(boxes, part.x, part.y, strict=True):
            x[box], y[box] = own_x + left, own_y + top
        for wire in part.wires:
            x0, y0, x1, y1, y2 = wire.points
            head = boxes[wire.head] if wire.head >= 0 else -1
            before = first + wire.before if wire.before >= 0 else -1
            wires.append(Wire(wire.value, head, before, (x0 + left, y0 + top, x1 + left, y1 + top, y2 + top)))
    return Placement(x, y, wires, width, height)


def _parts(count: int, links: Sequence[Link]) -> list[list[int]]:
    """The boxes of each connected component, in the given order."""
    parent = list(range(count))

    def root(box: int) -> int:
        while parent[box] != box:
            parent[box] = box = parent[parent[box]]
        return box

    for link in links:
        first, second = sorted((root(link.tail), root(link.head)))
        parent[second] = first
    components: dict[int, list[int]] = {}
    for box in range(count):
        components.setdefault(root(box), []).append(box)
    return list(components.values())


def _shelves(sizes: Sequence[tuple[float, float]]) -> tuple[list[tuple[float, float]], float, float]:
    """The top left corner of each component, packed in rows of similar height, and the total size."""
    area = sum((width + APART) * (height + APART) for width, height in sizes)
    room = max([math.sqrt(area * SHAPE), *(width for width, _ in sizes)])
    corners = [(0.0, 0.0)] * len(sizes)
    left = top = shelf = wide = 0.0
    for part in sorted(range(len(sizes)), key=lambda number: -sizes[number][1]):
        width, height = sizes[part]
        if left and left + width > room:
            left, top = 0.0, top + shelf + APART
        if not left:
            shelf = height
        corners[part] = (left, top)
        wide = max(wide, left + width)
        left += width + APART
    return corners, wide, top + shelf
