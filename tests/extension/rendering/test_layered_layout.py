import random
from itertools import combinations, pairwise

import pytest

from nxkernel_lab.rendering.layered_layout import BELOW, BETWEEN, LEAST, Link, place


def links(*pairs):
    return [Link(tail, head, str(tail), 30.0, 30.0) for tail, head in pairs]


def rows(placed):
    return [placed.y.index(y) for y in placed.y]


def test_nothing_takes_no_room():
    placed = place([], [])
    assert (placed.x, placed.y, placed.wires, placed.width, placed.height) == ([], [], [], 0.0, 0.0)


def test_a_box_stands_below_those_that_it_reads():
    placed = place([(60.0, 40.0)] * 3, links((0, 1), (1, 2), (0, 2)))
    assert placed.y == [0.0, 40.0 + BELOW, 2 * (40.0 + BELOW)]
    assert placed.height == 3 * 40.0 + 2 * BELOW


def test_boxes_of_a_layer_keep_their_distance():
    placed = place([(60.0, 40.0)] * 4, links((0, 1), (0, 2), (0, 3)))
    left = sorted(placed.x[1:])
    assert all(b - a >= 60.0 + BETWEEN - 1e-9 for a, b in pairwise(left))
    assert placed.x[0] + 30.0 == pytest.approx(left[1] + 30.0)


def test_a_source_stands_just_above_its_reader():
    placed = place([(60.0, 40.0)] * 4, links((0, 1), (1, 2), (3, 2)))
    assert placed.y[3] == placed.y[1]


def test_wires_of_one_value_share_a_trunk():
    pairs = [(index, index + 1) for index in range(9)] + [(0, index) for index in range(2, 10)]
    placed = place([(60.0, 40.0)] * 10, links(*pairs))
    passing = [wire for wire in placed.wires if wire.value == "0" and wire.head < 0]
    assert len(passing) == 8
    assert sorted(wire.head for wire in placed.wires if wire.value == "0" and wire.head >= 0) == list(range(1, 10))
    assert all(wire.before < index for index, wire in enumerate(placed.wires))


def test_a_wire_begins_and_ends_at_its_boxes():
    placed = place([(60.0, 40.0), (80.0, 20.0)], [Link(0, 1, "a", 10.0, 70.0)])
    (wire,) = placed.wires
    assert wire.points == (placed.x[0] + 10.0, 40.0, placed.x[1] + 70.0, placed.y[1], placed.y[1])


def test_pinned_boxes_take_the_first_and_last_layer():
    placed = place([(60.0, 40.0)] * 4, links((0, 1), (1, 2)), first=[3], last=[0])
    assert placed.y[3] == 0.0
    assert placed.y[0] == max(placed.y)


def test_a_circle_is_drawn_all_the_same():
    placed = place([(60.0, 40.0)] * 3, links((0, 1), (1, 2), (2, 0)))
    assert sorted(placed.y) == [0.0, 66.0, 132.0]
    assert len(placed.wires) == 3


def test_a_long_chain_stays_straight():
    pairs = [(index - 1, index) for index in range(1, 300)] + [(index - 2, index) for index in range(2, 300)]
    placed = place([(60.0, 40.0)] * 300, links(*pairs))
    assert placed.width < 400


def test_a_chain_with_its_own_past_does_not_drift():
    pairs = [(index, index + 1) for index in range(160)] + [(index, index + 2) for index in range(0, 158, 2)]
    pairs += [(160, 161), (158, 161), (158, 162)]
    placed = place([(60.0, 40.0)] * 163, links(*pairs), sweeps=12)
    assert max(placed.x) - min(placed.x) < 150


def test_a_trunk_too_long_for_the_budget_is_one_curve():
    pairs = [(index - 1, index) for index in range(1, 200)]
    pairs += [(index, 199 - index) for index in range(90)]
    placed = place([(60.0, 40.0)] * 200, links(*pairs), sweeps=1)
    direct = [wire for wire in placed.wires if wire.head >= 0 and placed.y[wire.head] - placed.y[int(wire.value)] > 200]
    assert any(wire.before == -1 for wire in direct)


def test_no_two_boxes_overlap_in_random_graphs():
    random.seed(7)
    for size in (5, 20, 60):
        sizes = [(40.0 + 60 * random.random(), 40.0) for _ in range(size)]
        pairs = [(random.randrange(head), head) for head in range(1, size) for _ in range(2)]
        placed = place(sizes, [Link(t, h, str(t), sizes[t][0] / 2, sizes[h][0] / 2) for t, h in pairs])
        assert min(placed.x) >= -1e-9
        for a, b in combinations(range(size), 2):
            if placed.y[a] == placed.y[b]:
                assert (
                    placed.x[a] + sizes[a][0] <= placed.x[b] + 1e-6 or placed.x[b] + sizes[b][0] <= placed.x[a] + 1e-6
                )


def test_the_same_graph_is_placed_in_the_same_way():
    pairs = [(0, 2), (1, 2), (2, 3), (0, 3)]
    assert place([(60.0, 40.0)] * 4, links(*pairs)) == place([(60.0, 40.0)] * 4, links(*pairs))


def test_layers_are_not_much_wider_than_suits_the_whole():
    placed = place([(100.0, 40.0)] * 41, links(*((0, index) for index in range(1, 41))))
    shelf = int(LEAST // (100.0 + BETWEEN))
    assert [placed.y.count(y) for y in sorted(set(placed.y))][:2] == [1, shelf]
    assert placed.width <= LEAST + 41 * BETWEEN
    assert all(placed.y[index] > 0.0 for index in range(1, 41))


def test_sources_that_have_no_room_above_their_reader_stand_higher():
    placed = place([(100.0, 40.0)] * 21, links((0, 1), (1, 2), (2, 3), *((index, 3) for index in range(4, 21))))
    assert placed.width <= LEAST + 21 * BETWEEN
    assert {placed.y[index] for index in range(4, 21)} >= {placed.y[1], placed.y[2]}
    assert max(placed.y) == placed.y[3]
