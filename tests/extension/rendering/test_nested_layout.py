import time

from nxkernel_lab.rendering.nested_layout import TITLE, Box, arrange


def inside(area, frame):
    return (
        area.x >= frame.x
        and area.y >= frame.y + TITLE
        and area.x + area.width <= frame.x + frame.width
        and area.y + area.height <= frame.y + frame.height
    )


def softmax():
    boxes = [Box("t", 60, 40), Box("max", 60, 40, "1"), Box("exp", 60, 40, "1"), Box("sum", 60, 40, "1")]
    boxes.append(Box("divide", 60, 40, "2"))
    links = [("t", "max"), ("t", "exp"), ("max", "exp"), ("exp", "sum"), ("exp", "divide"), ("sum", "divide")]
    return arrange(boxes, links, {"1": 200.0, "2": 120.0})


def test_boxes_stand_inside_their_frames():
    drawing = softmax()
    assert all(inside(drawing.boxes[name], drawing.frames["1"]) for name in ("max", "exp", "sum"))
    assert inside(drawing.boxes["divide"], drawing.frames["2"])
    assert drawing.frames["1"].width >= 200.0


def test_frames_stand_below_what_they_read():
    drawing = softmax()
    first, second = drawing.frames["1"], drawing.frames["2"]
    assert drawing.boxes["t"].y + 40 < first.y
    assert first.y + first.height < second.y


def test_every_link_ends_at_its_box_and_goes_back_to_its_source():
    drawing = softmax()
    for tail, head in (("t", "max"), ("t", "exp"), ("exp", "divide"), ("sum", "divide"), ("max", "exp")):
        (last,) = [i for i, line in enumerate(drawing.lines) if (line.tail, line.head) == (tail, head)]
        area = drawing.boxes[head]
        x, y = drawing.lines[last].points[2], drawing.lines[last].points[4]
        assert (x, y) == (area.x + area.width / 2, area.y)
        while drawing.lines[last].before >= 0:
            before = drawing.lines[last].before
            assert before < last
            start, end = drawing.lines[last].points[:2], drawing.lines[before].points
            assert abs(start[0] - end[2]) < 1e-6
            assert abs(start[1] - end[4]) < 1e-6
            last = before
        area = drawing.boxes[tail]
        assert drawing.lines[last].points[:2] == (area.x + area.width / 2, area.y + area.height)


def test_a_frame_without_boxes_has_its_title():
    drawing = arrange([], [], {"1": 90.0})
    assert drawing.frames["1"].width >= 90.0
    assert drawing.boxes == {}


def test_a_graph_of_three_thousand_boxes_is_laid_out_in_time():
    boxes = [Box(f"n{i}", 80, 40, str(i // 50)) for i in range(3000)]
    links = [(f"n{i - back}", f"n{i}") for i in range(9, 3000) for back in (1, 9)]
    start = time.process_time()
    drawing = arrange(boxes, links, {str(k): 100.0 for k in range(60)})
    # It takes about 0.15 s; the bound leaves room for a machine that is busy.
    assert time.process_time() - start < 1.0
    assert len(drawing.boxes) == 3000
