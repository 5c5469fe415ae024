from dataclasses import replace

import pytest

from nxkernel.definitions.observe.compilation_report import NodeView, PartView
from nxkernel_lab.inspector.compilation_view import side_of
from nxkernel_lab.rendering.node_groups import clusters, grouped
from nxkernel_lab.rendering.scene import first_folded, scene_of


def node(id_, label, *operands, role="operation", kernels=(), detail="", **more):
    return NodeView(id_, label, detail, "f32[4]", role, operands, kernels, **more)


@pytest.fixture
def loop(plain):
    """x goes through a loop that halves it, and is added to itself behind it."""
    condition = PartView(
        "condition",
        (node("b.condition.a", "u", role="argument"), node("b.condition.b", "less", "b.condition.a", output=True)),
        {"b.condition.a": "a"},
        ("b.condition.b",),
    )
    body = PartView(
        "body",
        (
            node("b.body.a", "u", role="argument"),
            node("b.body.b", "multiply", "b.body.a", kernels=(0,)),
            node("b.body.c", "negate", "b.body.b", kernels=(0,), output=True),
        ),
        {"b.body.a": "a"},
        ("b.body.c",),
    )
    nodes = (
        node("a", "x", role="argument"),
        node("b", "while", "a", parts=(condition, body)),
        node("c", "elem", "b", detail="index=0"),
        node("d", "add", "c", "c", kernels=(1,), output=True),
    )
    return replace(plain, nodes=nodes, kernels=())


@pytest.fixture
def kernels(view):
    return view.kernels


def test_a_loop_opens_as_a_frame_with_its_kernels_in_it(loop, kernels):
    found = grouped(replace(loop, kernels=kernels))
    assert [(group.id, group.around) for group in found.groups.values()] == [
        ("while b", ""),
        ("condition b", "while b"),
        ("kernel 1", "while b"),
        ("kernel 2", ""),
    ]
    assert found.groups["while b"].title == "loop · 1 value goes round"
    assert [(member.id, member.group) for member in found.members] == [
        ("a", ""),
        ("b.condition.a", "condition b"),
        ("b.condition.b", "condition b"),
        ("b.body.a", "while b"),
        ("b.body.b", "kernel 1"),
        ("b.body.c", "kernel 1"),
        ("c", ""),
        ("d", "kernel 2"),
    ]
    assert ("a", "b.body.a") in found.links
    assert ("b.body.c", "c") in found.links
    assert found.chain("kernel 1") == ["while b", "kernel 1"]


def test_a_folded_loop_is_one_box_between_what_it_is_given_and_what_it_gives(loop, kernels):
    scene = scene_of(replace(loop, kernels=kernels), folded={"while b", "kernel 1"})
    assert [shape.id for shape in scene.shapes] == ["while b", "a", "c", "d"]
    assert (scene.shapes[0].node, scene.shapes[0].label, scene.shapes[0].sub) == ("b", "loop", "5 nodes")
    reads = {(line.tail, line.head) for line in scene.lines if line.head}
    assert reads == {("a", "while b"), ("while b", "c"), ("c", "d")}
    assert [frame.id for frame in scene.frames] == ["kernel 2"]


def test_frames_lie_in_the_frames_around_them(loop, kernels):
    scene = scene_of(replace(loop, kernels=kernels), folded=())
    areas = {frame.id: frame.area for frame in scene.frames}
    outer, inner = areas["while b"], areas["kernel 1"]
    assert outer.x < inner.x < inner.x + inner.width < outer.x + outer.width
    assert outer.y < inner.y < inner.y + inner.height < outer.y + outer.height
    for shape in scene.shapes:
        if shape.group == "kernel 1":
            assert inner.x <= shape.area.x <= shape.area.x + shape.area.width <= inner.x + inner.width
            assert inner.y <= shape.area.y <= shape.area.y + shape.area.height <= inner.y + inner.height


def test_conditions_are_folded_first(loop, kernels):
    assert first_folded(replace(loop, kernels=kernels)) == {"condition b"}


def test_nodes_of_functions_and_modules_stand_together(loop):
    nodes = (
        node("a", "x", role="argument"),
        node("b", "exp", "a", function="inner", module="net/dense"),
        node("c", "negate", "b", function="outer"),
        node("d", "exp", "c", function="inner", module="net/dense"),
    )
    view = replace(loop, nodes=nodes)
    assert [(group.id, group.title) for group in grouped(view, "definitions").groups.values()] == [
        ("definition inner 1", "inner"),
        ("definition outer 1", "outer"),
        ("definition inner 2", "inner"),
    ]
    assert [group.title for group in grouped(view, "modules").groups.values()] == ["net/dense", "net/dense"]
    assert grouped(view, "nothing").groups == {}
    assert side_of(view).ways() == ["definitions", "modules", "nothing"]
    assert side_of(view, way="modules").way == "modules"


def test_no_way_leads_out_of_a_cluster_and_in_again():
    nodes = [node("a", "x"), node("b", "f", "a"), node("c", "g", "b"), node("d", "f", "b", "c"), node("e", "f", "a")]
    names = {"a": "f", "b": "f", "c": "g", "d": "f", "e": "f"}
    found = clusters(nodes, names)
    assert found["a"] == found["b"] == found["e"] == ("f", 0)
    assert found["d"] not in (found["a"], found["c"])
