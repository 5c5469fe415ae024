from dataclasses import replace

import pytest

from nxkernel_lab.launches import joined


def test_kernels_of_different_nodes_stay_as_they_are(view, chain, plain):
    for each in (view, chain, plain):
        assert joined(each) is each


def test_the_passes_of_a_sort_are_one_kernel(library):
    view = joined(library)
    assert [(kernel.index, kernel.title) for kernel in view.kernels] == [
        (0, "rows of 9 x 9"),
        (1, "sort of 9 by 3 digits, 3 steps"),
        (2, "svd of f32[9][9] by a library"),
    ]
    assert [(node.id, node.kernels) for node in view.nodes] == [
        ("a", ()),
        ("b", (0,)),
        ("c", (1,)),
        ("d", (2,)),
        ("e", ()),
    ]
    sort = view.kernels[1]
    assert (sort.origin, sort.milliseconds, sort.moved) == ("compiled", 4.5, 72)


def test_texts_stand_one_below_the_other_without_repetitions(library):
    sort = joined(library).kernels[1]
    assert {form: text() for form, text in sort.texts.items()} == {
        "NumPy": "c = np.sort(b, axis=0)",
        "algorithm": "def spread():\n    ...\n\ndef move():\n    ...\n\ndef finish():\n    ...",
        "LLVM": "define void @spread()\n\ndefine void @move()\n\ndefine void @finish()",
    }


def test_joined_twice_is_joined_once(library):
    once = joined(library)
    assert joined(once) is once


@pytest.mark.parametrize(
    ("titles", "title"),
    [
        (("totals of 4 blocks", "carry", "apply"), "apply, 3 steps"),
        (("sum of 2 x 3, count", "sum of 2 x 3, carry", "sum of 2 x 3, apply"), "sum of 2 x 3, 3 steps"),
    ],
)
def test_the_title_is_what_those_of_all_passes_say(library, titles, title):
    kernels = [replace(library.kernels[index], title=each) for index, each in enumerate(titles, 1)]
    assert joined(replace(library, kernels=(library.kernels[0], *kernels))).kernels[1].title == title


def test_of_kernels_that_differ_the_one_that_does_most_gives_its_name(library):
    first, *_, last = library.kernels
    pad = replace(library.kernels[1], kind="map", title="map of 36")
    tiles = replace(library.kernels[2], kind="tiles", title="tiles of 6", operations=9)
    (_, one, _) = joined(replace(library, kernels=(first, pad, tiles, library.kernels[3], last))).kernels
    assert (one.kind, one.title, one.symbol, one.operations) == ("tiles", "tiles of 6, 3 steps", "nx_move", 9)
