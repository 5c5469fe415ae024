from nxkernel_lab.rendering.component_packing import APART, pack
from nxkernel_lab.rendering.layered_layout import BELOW, Link, place
from nxkernel_lab.rendering.nested_layout import Box, arrange


def links(*pairs):
    return [Link(tail, head, str(tail), 30.0, 30.0) for tail, head in pairs]


def test_a_connected_graph_is_laid_out_as_it_is():
    sizes, wires = [(60.0, 40.0)] * 4, links((0, 1), (1, 2), (0, 3))
    assert pack(sizes, wires, place) == place(sizes, wires)


def test_nothing_takes_no_room():
    placed = pack([], [], place)
    assert (placed.x, placed.y, placed.wires, placed.width, placed.height) == ([], [], [], 0.0, 0.0)


def test_two_chains_stand_side_by_side():
    placed = pack([(60.0, 40.0)] * 4, links((0, 2), (1, 3)), place)
    assert placed.x == [0.0, 60.0 + APART, 0.0, 60.0 + APART]
    assert placed.y == [0.0, 0.0, 40.0 + BELOW, 40.0 + BELOW]
    assert (placed.width, placed.height) == (120.0 + APART, 80.0 + BELOW)


def test_wires_know_their_boxes_and_their_trunks():
    pairs = [(0, 1), (3, 4), (4, 5), (3, 5), (1, 2)]
    placed = pack([(60.0, 40.0)] * 6, links(*pairs), place)
    assert sorted((int(wire.value), wire.head) for wire in placed.wires if wire.head >= 0) == sorted(pairs)
    for index, wire in enumerate(placed.wires):
        assert wire.before < index
        before = placed.wires[wire.before] if wire.before >= 0 else None
        tail = int(wire.value)
        assert wire.points[:2] == (
            (before.points[2], before.points[4]) if before else (placed.x[tail] + 30.0, placed.y[tail] + 40.0)
        )
        if wire.head >= 0:
            assert wire.points[2::2] == (placed.x[wire.head] + 30.0, placed.y[wire.head])


def test_what_does_not_fit_on_a_shelf_begins_another():
    placed = pack([(100.0, 40.0)] * 6, [], place)
    # Room for sqrt(6 * 136 * 76 * 1.3) = 283.8: two on a shelf.
    assert placed.x == [0.0, 136.0] * 3
    assert placed.y == [0.0, 0.0, 76.0, 76.0, 152.0, 152.0]
    assert (placed.width, placed.height) == (236.0, 192.0)


def test_high_parts_come_first():
    placed = pack([(60.0, 40.0)] * 4, links((1, 2), (2, 3)), place)
    assert (placed.x[0], placed.y[0]) == (60.0 + APART, 0.0)
    assert placed.x[1:] == [0.0, 0.0, 0.0]


def test_a_part_wider_than_the_shelf_stands_alone():
    placed = pack([(40.0, 40.0), (900.0, 30.0), (40.0, 20.0)], [], place)
    assert placed.x == [0.0, 0.0, 0.0]
    assert placed.y == [0.0, 76.0, 142.0]


def test_kernels_that_share_nothing_stand_side_by_side():
    boxes = [Box("x", 60, 40), Box("y", 60, 40), Box("sin", 60, 40, "1"), Box("cos", 60, 40, "2")]
    drawing = arrange(boxes, [("x", "sin"), ("y", "cos")], {"1": 100.0, "2": 100.0})
    first, second = drawing.frames["1"], drawing.frames["2"]
    assert first.y == second.y
    assert second.x == first.x + first.width + APART
