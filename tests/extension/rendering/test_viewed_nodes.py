from dataclasses import replace

import pytest

from nxkernel_lab.rendering.viewed_nodes import name_of, view_of


def test_a_definition_stands_for_its_latest_compilation(definition, softmax):
    latest = softmax(reason=("argument t: f32[4][10] → f32[8][10]",))
    definition.views.append(latest)
    assert view_of(definition) is latest


def test_a_compilation_stands_for_itself(view):
    assert view_of(view) is view


def test_a_definition_that_was_never_called(defined):
    with pytest.raises(ValueError, match=r"softmax has not been compiled yet.\n  Call it once, then look again."):
        view_of(defined())


def test_something_else():
    with pytest.raises(TypeError) as error:
        view_of(len)
    assert str(error.value) == (
        "expected a numerical definition or one of its compilations(), got a builtin_function_or_method.\n"
        "  Decorate the function with nx.defn, or begin its cell with %%defn."
    )


def test_names_say_which_part_and_which_way(library, view):
    names = {node.id: name_of(node) for node in library.nodes}
    assert (names["c"], names["d"], names["e"]) == ("sort", "svd", "elem 1")
    transforms = [replace(view.nodes[4], label="fft", detail=f"axes=[1], inverse={back}") for back in (True, False)]
    assert list(map(name_of, transforms)) == ["inverse fft", "fft"]
