import json
from dataclasses import replace

from nxkernel_lab.inspector.page_data import geometry, graph


def test_nodes_know_their_operands_readers_and_lines(view):
    nodes = graph(view)["nodes"]
    assert nodes["e"] == {
        "label": "exp",
        "expression": "e = exp d",
        "spec": "f32[4][10]",
        "role": "operation",
        "operands": ["d"],
        "readers": ["f"],
        "kernels": [0, 1],
        "place": "cell 4, line 4",
        "code": "e = nx.exp(t - m) * 2.0",
        "at": ["cell 4", 4],
    }
    assert nodes["a"]["readers"] == ["c", "d"]
    assert nodes["a"]["place"] == ""


def test_kernels_name_their_forms_but_carry_no_text(view):
    assert graph(view)["kernels"]["1"] == {
        "name": "kernel 2",
        "title": "map · 3 reads 1 write · 4 × 10",
        "about": ["loaded from disk in 1.5 ms", "480 B moved", "160 flop"],
        "time": "",
        "share": 0.0,
        "forms": ["Numba source", "LLVM", "assembly"],
    }


def test_captured_values_that_are_baked_in_are_told(view):
    changed = replace(view, baked=("option axis = -1", "captured rate = 0.1", "captured table['k'] = 2"))
    assert graph(changed)["about"][2:] == ["baked in: rate = 0.1, table['k'] = 2"]
    long = graph(replace(view, baked=(f"captured text = {'x' * 300}",)))["about"][2]
    assert (len(long), long[:25], long[-1]) == (200, "baked in: text = xxxxxxxx", "…")


def test_the_summary_comes_first(view):
    assert graph(view)["about"] == [
        "compiled by numba_cpu in cell 4 · trace 1.4 ms, lowering 2.0 ms, native code 22 ms · answered 12 calls",
        "first call",
    ]


def test_shapes_frames_and_lines(view):
    drawn = geometry(view, {"kernel 1"})
    assert drawn["folded"] == ["kernel 1"]
    assert [(shape["id"], shape["look"]) for shape in drawn["shapes"]][:2] == [
        ("kernel 1", "group reduce"),
        ("a", "argument"),
    ]
    assert [(frame["kernel"], frame["look"]) for frame in drawn["frames"]] == [(1, "map")]
    ends = [(tail, head) for tail, head, _, _ in drawn["lines"] if head]
    assert ends == [
        ("d@2", "e@2"),
        ("e@2", "f@2"),
        ("f@2", "h"),
        ("a", "kernel 1"),
        ("a", "d@2"),
        ("kernel 1", "d@2"),
        ("kernel 1", "h"),
    ]
    assert all(before < index and path[0] == "M" for index, (_, _, before, path) in enumerate(drawn["lines"]))


def test_it_is_json(view, chain):
    for each in (view, chain):
        both = {"graph": graph(each), "geometry": geometry(each, ())}
        assert json.loads(json.dumps(both)) == both
