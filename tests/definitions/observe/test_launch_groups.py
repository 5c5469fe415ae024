"""Kernels that compute one node in turn are one kernel, with one number wherever kernels are counted."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.interface import KernelRecord
from nxkernel.definitions.observe.launch_groups import joined, origins


def record(title, continues=False, origin="memory", **more):
    return KernelRecord(title.split()[0], title, f"nx_{title}", origin, 1.5, continues=continues, **more)


def sort(*titles):
    return [
        record(title, place > 0, "compiled" if place == 1 else "memory", moved=72) for place, title in enumerate(titles)
    ]


PASSES = sort("sort of 9: spread", "sort of 9: move", "sort of 9: finish")


def test_kernels_of_different_nodes_stay_as_they_are():
    records = [record("rows"), record("svd"), record("map")]
    made, places = joined(records)
    assert all(one is other for one, other in zip(made, records, strict=True))
    assert places == [0, 1, 2]


def test_the_passes_of_a_sort_are_one_kernel():
    made, places = joined([record("rows"), *PASSES, record("svd", origin="library")])
    assert [kernel.title for kernel in made] == ["rows", "sort of 9, 3 steps", "svd"]
    assert (made[1].origin, made[1].milliseconds, made[1].moved) == ("compiled", 4.5, 72)
    assert places == [0, 1, 1, 1, 2]
    assert origins([record("rows"), *PASSES, record("svd", origin="library")]) == ["memory", "compiled", "library"]


def test_texts_stand_one_below_the_other_without_repetitions():
    texts = [
        {"NumPy": lambda: "c = np.sort(b)", "LLVM": lambda step=step: f"define void @{step}()\n"}
        for step in ("spread", "move")
    ]
    ((one,), _) = joined([record(f"sort: {number}", number > 0, texts=each) for number, each in enumerate(texts)])
    assert {form: text() for form, text in one.texts.items()} == {
        "NumPy": "c = np.sort(b)",
        "LLVM": "define void @spread()\n\ndefine void @move()",
    }


@pytest.mark.parametrize(
    ("titles", "title"),
    [
        (("totals of 4 blocks", "carry", "apply"), "apply, 3 steps"),
        (("sum of 2 x 3, count", "sum of 2 x 3, carry", "sum of 2 x 3, apply"), "sum of 2 x 3, 3 steps"),
    ],
)
def test_the_title_is_what_those_of_all_passes_say(titles, title):
    assert joined(sort(*titles))[0][0].title == title


def test_of_kernels_that_differ_the_one_that_does_most_gives_its_name():
    tiles = record("tiles of 6", True, operations=9)
    ((one,), _) = joined([record("map of 36"), tiles, record("copy", True, operations=1)])
    assert (one.kind, one.title, one.symbol, one.operations) == ("tiles", "tiles of 6, 3 steps", "nx_tiles of 6", 10)


@pytest.mark.slow
def test_why_counts_kernels_as_compilations_do():
    @nx.defn(compiler="numba_cpu")
    def mixed(w, x):
        h = nx.tanh(nx.dot(x, w))
        return nx.sum(nx.dot(h, nx.transpose(w))), nx.sort(h, axis=0), nx.linalg.qr(h)[0]

    given = np.ones((200, 120), "f4"), np.ones((400, 200), "f4")
    foreseen = mixed.why(*given)
    mixed(*given)
    (view,) = mixed.compilations()
    assert [title for title, _ in foreseen.kernels] == [kernel.title for kernel in view.kernels]
    assert [kernel.index for kernel in view.kernels] == list(range(len(view.kernels)))
    assert {kernel.origin for kernel in view.kernels if kernel.kind == "matrix product"} == {"library"}
    assert {kernel.origin for kernel in view.kernels if kernel.kind == "qr"} <= {"compiled", "disk", "memory"}
    assert "kernel 1 (matrix product [400, 200] x [200, 120] by BLAS): library code" in str(foreseen)
    sorted_by = next(node.kernels for node in view.nodes if node.label == "sort")
    assert [view.kernels[number].kind for number in sorted_by] == ["sort"]
    assert sorted(view.measure().kernels) == list(range(len(view.kernels)))
    (event,) = nx.events(mixed, "miss")
    assert event.compiled + event.reused == len(view.kernels)
    info = mixed.cache_info()
    assert info.compiled + info.memory + info.disk == len(view.kernels)
