"""Layered graph layout (Sugiyama style), downwards; wires of one value share a trunk.

The method is that of Sugiyama, Tagawa and Toda (1981): a layer for each box, waypoints where a wire passes layers, an
order within each layer by the barycentre of the neighbours, and then the places that come closest to those of the
neighbours while the order is kept, which is an isotonic regression. Wires of one value share their waypoints, so that a
value read all the way down costs one trunk, not one wire for each reader.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: Space between neighbours in a layer, and between layers.
BETWEEN = 16.0
BELOW = 26.0
#: The width that a passing wire takes up in a layer.
LANE = 10.0
#: How much a wire within a trunk, and one between two boxes of adjoining layers, wants to be straight; others 1.
STRAIGHT = 8.0
CLOSE = 4.0
#: The width that layers may have in any case, and how wide they may be beside the square root of the boxes' area.
LEAST, SHAPE = 900.0, 1.5


class Link(NamedTuple):
    """An edge to be routed from one box to another.

    Parameters
    ----------
    tail, head : int
        Indices of the boxes.
    value : str
        What the wire carries; wires from one box with one value share a trunk.
    leave, enter : float
        Where it meets the boxes, from the left border of each.
    """

    tail: int
    head: int
    value: str
    leave: float
    enter: float


class Wire(NamedTuple):
    """A segment of an edge: a curve between two points, then straight down.

    Parameters
    ----------
    value : str
        What the wire carries.
    head : int
        The box at which it ends; -1 where other pieces go on.
    before : int
        The piece that it continues; -1 for the first one.
    points : tuple of float
        ``(x0, y0, x1, y1, y2)``: a curve from ``(x0, y0)`` to ``(x1, y1)``, and down to ``(x1, y2)``.
    """

    value: str
    head: int
    before: int
    points: tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Placement:
    """The result of the layout.

    Parameters
    ----------
    x, y : list of float
        The top left corner of each box.
    wires : list of Wire
        Each after the one that it continues.
    width, height : float
        Of the whole.
    """

    x: list[float]
    y: list[float]
    wires: list[Wire]
    width: float
    height: float


class _Neighbour(NamedTuple):
    """A neighbour: its offset if the wire is straight, and the weight of straightening it."""

    item: int
    shift: float
    weight: float


@dataclass
class _LayoutLayers:
    """The state of the layout: boxes first, then the waypoints inserted between them."""

    boxes: int
    widths: list[float]
    rank: list[int]
    rows: list[list[int]]
    pieces: list[tuple[int, int, Link, int]] = field(default_factory=list)
    above: list[list[_Neighbour]] = field(default_factory=list)
    below: list[list[_Neighbour]] = field(default_factory=list)

    def add(self, rank: int) -> int:
        """Add a waypoint to a layer."""
        self.widths.append(LANE)
        self.rank.append(rank)
        self.rows[rank].append(len(self.widths) - 1)
        return len(self.widths) - 1


def place(
    sizes: Sequence[tuple[float, float]],
    links: Iterable[Link],
    first: Iterable[int] = (),
    last: Iterable[int] = (),
    sweeps: int = 8,
) -> Placement:
    """Arrange boxes in layers, each below those that it reads.

    Parameters
    ----------
    sizes : sequence of (float, float)
        Width and height of each box, in pixels.
    links : iterable of Link
        What reads what. Links that would close a circle are drawn and otherwise ignored.
    first, last : iterable of int
        Boxes that stay in the first and in the last layer.
    sweeps : int
        How often the layers are gone through, for their order and again for the places.

    Returns
    -------
    Placement
    """
    if not sizes:
        return Placement([], [], [], 0.0, 0.0)
    links = list(dict.fromkeys(link for link in links if link.tail != link.head))
    rank = _ranks(sizes, links, set(first), set(last))
    layers = _with_waypoints([width for width, _ in sizes], rank, links)
    _order(layers, sweeps)
    centres = _settle(layers, sweeps)

    heights = [max((sizes[item][1] for item in row if item < len(sizes)), default=0.0) for row in layers.rows]
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + BELOW)
    y = [tops[layers.rank[box]] for box in range(len(sizes))]
    x = [centres[box] - sizes[box][0] / 2 for box in range(len(sizes))]
    wires = []
    for start, end, link, before in layers.pieces:
        if start < len(sizes):
            x0, y0 = x[start] + link.leave, y[start] + sizes[start][1]
        else:
            x0, y0 = centres[start], tops[layers.rank[start]] + heights[layers.rank[start]]
        if end < len(sizes):
            x1, y1, y2, head = x[end] + link.enter, y[end], y[end], end
        else:
            x1, y1, head = centres[end], tops[layers.rank[end]], -1
            y2 = y1 + heights[layers.rank[end]]
        wires.append(Wire(link.value, head, before, (x0, y0, x1, y1, y2)))
    width = max(x[box] + sizes[box][0] for box in range(len(sizes)))
    width = max([width, *(centres[item] + LANE / 2 for item in range(len(sizes), len(centres)))])
    return Placement(x, y, wires, width, tops[-1] - BELOW)


class _LayerPacking:
    """Assigns boxes to layers of limited width."""

    def __init__(self, sizes: Sequence[tuple[float, float]]) -> None:
        area = sum((width + BETWEEN) * (height + BELOW) for width, height in sizes)
        self.sizes, self.room = sizes, max(LEAST, SHAPE * math.sqrt(area))
        self.taken: list[float] = []

    def rank(self, box: int, least: int) -> int:
        """The first layer from `least` on with room for a box."""
        width = self.sizes[box][0]
        self.taken.extend([0.0] * (least + 1 - len(self.taken)))
        rank = least
        while rank < len(self.taken) and self.taken[rank] and self.taken[rank] + width > self.room:
            rank += 1
        self.taken.extend([0.0] * (rank + 1 - len(self.taken)))
        self.taken[rank] += width + BETWEEN
        return rank

    def move(self, box: int, rank: int, most: int) -> int:
        """The layer nearest to `most`, from `rank` on, with room for a box."""
        width = self.sizes[box][0] + BETWEEN
        for better in range(most, rank, -1):
            if self.taken[better] + width <= self.room + BETWEEN:
                self.taken[rank] -= width
                self.taken[better] += width
                return better
        return rank


def _ranks(sizes: Sequence[tuple[float, float]], links: Sequence[Link], first: set[int], last: set[int]) -> list[int]:
    count, shelves = len(sizes), _LayerPacking(sizes)
    heads: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for link in links:
        heads[link.tail].append(link.head)
        waiting[link.head] += 1
    rank = [1 if first and box not in first else 0 for box in range(count)]
    sources = [box for box in range(count) if not waiting[box]]
    ready, seen, order = list(reversed(sources)), [False] * count, []
    unseen = iter(range(count))
    while len(order) < count:
        # Only a circle leaves boxes that wait while none is ready: break it at the first one.
        box = ready.pop() if ready else next(box for box in unseen if not seen[box])
        if seen[box]:
            continue
        seen[box] = True
        order.append(box)
        if box not in first and box not in last:
            rank[box] = shelves.rank(box, rank[box])
        for head in heads[box]:
            waiting[head] -= 1
            if not seen[head]:
                rank[head] = max(rank[head], rank[box] + 1)
                if not waiting[head]:
                    ready.append(head)
    for box in sources:
        if heads[box] and box not in first:
            rank[box] = shelves.move(box, rank[box], min(rank[head] for head in heads[box]) - 1)
    bottom = max((rank[box] for box in range(count) if box not in last), default=0)
    for box in last:
        rank[box] = bottom + 1
    return rank


def _with_waypoints(widths: list[float], rank: list[int], links: Sequence[Link]) -> _LayoutLayers:
    layers = _LayoutLayers(len(widths), list(widths), list(rank), [[] for _ in range(max(rank) + 1)])
    for box, row in enumerate(rank):
        layers.rows[row].append(box)
    budget = 4 * len(widths) + 400
    trunks: dict[tuple[int, str], list[Link]] = {}
    for link in links:
        trunks.setdefault((link.tail, link.value), []).append(link)
    length = {key: max(rank[link.head] for link in trunk) - rank[key[0]] for key, trunk in trunks.items()}
    for key in sorted(trunks, key=length.__getitem__):
        tail, trunk = key[0], sorted(trunks[key], key=lambda link: rank[link.head])
        if length[key] - 1 > budget:
            layers.pieces.extend((tail, link.head, link, -1) for link in trunk)
            continue
        budget -= max(0, length[key] - 1)
        at, piece = tail, -1
        for link in trunk:
            while layers.rank[at] < rank[link.head] - 1:
                passing = layers.add(layers.rank[at] + 1)
                layers.pieces.append((at, passing, link, piece))
                at, piece = passing, len(layers.pieces) - 1
            layers.pieces.append((at, link.head, link, piece))
    layers.above = [[] for _ in layers.widths]
    layers.below = [[] for _ in layers.widths]
    for start, end, link, _ in layers.pieces:
        if layers.rank[end] == layers.rank[start] + 1:
            leave = link.leave - widths[start] / 2 if start < len(widths) else 0.0
            enter = link.enter - widths[end] / 2 if end < len(widths) else 0.0
            passing = (start >= len(widths)) + (end >= len(widths))
            weight = (CLOSE, 1.0, STRAIGHT)[passing]
            layers.below[start].append(_Neighbour(end, enter - leave, weight))
            layers.above[end].append(_Neighbour(start, leave - enter, weight))
    return layers


def _order(layers: _LayoutLayers, sweeps: int) -> None:
    position = [0.0] * len(layers.widths)

    def number(row: list[int]) -> None:
        # Counting from the middle lets the barycentres of short and long layers agree.
        for index, item in enumerate(row):
            position[item] = index - len(row) / 2

    def sort(row: list[int], neighbours: list[list[_Neighbour]]) -> None:
        wish = {}
        for item in row:
            near = neighbours[item]
            wish[item] = sum([position[other] for other, _, _ in near]) / len(near) if near else position[item]
        row.sort(key=wish.__getitem__)
        number(row)

    for row in layers.rows:
        number(row)
    for _ in range(sweeps):
        for row in layers.rows[1:]:
            sort(row, layers.above)
        for row in reversed(layers.rows[:-1]):
            sort(row, layers.below)


def _middle(weighted: list[tuple[float, float]]) -> tuple[float, float]:
    """The lower and the upper weighted median of sorted (position, weight) pairs."""
    half, reached = sum([weight for _, weight in weighted]) / 2, 0.0
    for index, (at, weight) in enumerate(weighted):
        reached += weight
        if reached > half:
            return at, at
        if reached == half:
            return at, weighted[index + 1][0]
    return weighted[-1][0], weighted[-1][0]


def _settle(layers: _LayoutLayers, sweeps: int) -> list[float]:
    widths, centres = layers.widths, [0.0] * len(layers.widths)

    def slide(row: list[int], wishes: list[float], weights: list[float]) -> None:
        offset, offsets, blocks = 0.0, [], []
        for index, item in enumerate(row):
            if index:
                offset += (widths[row[index - 1]] + widths[item]) / 2 + BETWEEN
            offsets.append(offset)
            total, weight, size = (wishes[index] - offset) * weights[index], weights[index], 1
            while blocks and blocks[-1][0] * weight >= total * blocks[-1][1]:
                more_total, more_weight, more_size = blocks.pop()
                total, weight, size = total + more_total, weight + more_weight, size + more_size
            blocks.append((total, weight, size))
        index = 0
        for total, weight, size in blocks:
            for _ in range(size):
                centres[row[index]] = total / weight + offsets[index]
                index += 1

    def follow(row: list[int], neighbours: list[list[_Neighbour]]) -> None:
        # The nearest place between the middle neighbours, not their mean: means drift sideways down a long chain.
        wishes, weights = [], []
        for item in row:
            low = high = centres[item]
            near = neighbours[item]
            # So steep that a box above its reader stays put when a passing wire must make room, and so does a trunk.
            weights.append(sum([weight for _, _, weight in near]) ** 4 if near else 0.2)
            if len(near) == 1:
                low = high = centres[near[0].item] + near[0].shift
            elif near:
                weighted = sorted([(centres[other] + shift, weight) for other, shift, weight in near])
                low, high = _middle(weighted)
            wishes.append(min(max(centres[item], low), high))
        slide(row, wishes, weights)

    def balance(row: list[int]) -> None:
        wishes, weights = [], []
        for item in row:
            near = layers.above[item] + layers.below[item]
            weight = sum([weight for _, _, weight in near])
            total = sum([(centres[other] + shift) * weight for other, shift, weight in near])
            wishes.append(total / weight if near else centres[item])
            # With the weight of its wires each step lowers the tension of the whole; with any other it may drift.
            weights.append(weight if near else 0.2)
        slide(row, wishes, weights)

    for row in layers.rows:
        slide(row, [0.0] * len(row), [1.0] * len(row))
    for _ in range(sweeps):
        for row in layers.rows[1:]:
            follow(row, layers.above)
        for row in reversed(layers.rows[:-1]):
            follow(row, layers.below)
    for sweep in range(2 * sweeps):
        for row in reversed(layers.rows) if sweep % 2 else layers.rows:
            balance(row)
    left = min(centre - width / 2 for centre, width in zip(centres, widths, strict=True))
    return [centre - left for centre in centres]
