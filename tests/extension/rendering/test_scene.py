from dataclasses import replace

from nxkernel_lab.rendering.scene import ROOM, WHOLE, first_folded, readable_folded, scene_of

FOUR = frozenset({"kernel 1", "kernel 2", "kernel 3", "kernel 4"})


def by_id(scene):
    return {shape.id: shape for shape in scene.shapes}


def test_constants_are_written_into_their_readers(view):
    shapes = by_id(scene_of(view))
    assert "b" not in shapes
    assert shapes["f@1"].label == "multiply ·, 2.0"


def test_a_node_of_two_kernels_stands_in_both(view):
    scene = scene_of(view)
    assert [shape.id for shape in scene.shapes] == ["a", "c", "d@1", "d@2", "e@1", "e@2", "f@1", "f@2", "g", "h"]
    reads = {(line.tail, line.head) for line in scene.lines if line.head}
    assert {("d@1", "e@1"), ("d@2", "e@2"), ("f@1", "g"), ("f@2", "h"), ("g", "h")} <= reads
    assert ("d@1", "e@2") not in reads


def test_frames_say_what_their_kernels_are(view):
    assert [(frame.kernel, frame.kind, frame.title) for frame in scene_of(view).frames] == [
        (0, "rows", "kernel 1 · rows · 1 read 2 writes · 4 × 10"),
        (1, "map", "kernel 2 · map · 3 reads 1 write · 4 × 10"),
    ]


def test_a_folded_kernel_is_one_box(view):
    scene = scene_of(view, folded={"kernel 1"})
    shapes = by_id(scene)
    assert [frame.kernel for frame in scene.frames] == [1]
    assert (shapes["kernel 1"].label, shapes["kernel 1"].sub) == ("kernel 1 · rows", "5 nodes")
    assert not shapes["kernel 1"].output
    assert {("a", "kernel 1"), ("kernel 1", "h")} <= {(line.tail, line.head) for line in scene.lines}


def test_a_folded_kernel_tells_that_it_computes_an_output(view):
    assert by_id(scene_of(view, folded={"kernel 1", "kernel 2"}))["kernel 2"].output


def test_small_graphs_open_whole_and_large_ones_folded(view, chain):
    assert len(view.nodes) <= WHOLE < len(chain.nodes)
    assert first_folded(view) == frozenset()
    assert first_folded(chain) == FOUR
    assert len(scene_of(chain).shapes) == 5


def test_kernels_that_there_are_not_fold_nothing(view):
    assert scene_of(view, folded={"kernel 8"}).folded == frozenset()


def test_without_kernels_the_nodes_stand_free(plain):
    scene = scene_of(plain)
    assert scene.frames == []
    assert {shape.kernel for shape in scene.shapes} == {-1}


def test_long_names_are_cut(named):
    (shape,) = scene_of(named("x" * 80)).shapes
    assert shape.label == "x" * 29 + "…"


def test_a_part_of_several_results_says_which(library):
    assert by_id(scene_of(library))["e"].label == "elem 1"


def test_a_value_comes_from_the_latest_kernel_up_to_its_reader(view):
    homes = {"c": (0,), "d": (0, 2), "e": (1,), "f": (3,), "g": (3,), "h": (3,)}
    nodes = tuple(replace(node, kernels=homes.get(node.id, ())) for node in view.nodes)
    kernels = tuple(replace(view.kernels[0], index=index) for index in range(4))
    reads = {(line.tail, line.head) for line in scene_of(replace(view, nodes=nodes, kernels=kernels)).lines}
    assert ("d@1", "e") in reads
    nodes = tuple(replace(node, operands=("d",)) if node.id == "f" else node for node in nodes)
    reads = {(line.tail, line.head) for line in scene_of(replace(view, nodes=nodes, kernels=kernels)).lines}
    assert ("d@3", "f") in reads


def test_graphs_that_could_not_be_read_at_once_open_folded_where_room_is_limited(view, long, plain):
    assert readable_folded(view) == readable_folded(plain) == frozenset()
    tall = long(60)
    assert scene_of(tall).height > ROOM[0]
    assert first_folded(tall) == frozenset()
    assert readable_folded(tall) == FOUR
    assert scene_of(tall, readable_folded(tall)).height < ROOM[0] / 2
    assert readable_folded(long(60, kernels=1)) == frozenset()
    assert readable_folded(long(300)) == FOUR
