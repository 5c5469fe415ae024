"""Rules of shapes, axes and names."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel import shapes
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError, TracedValueError

sizes = st.lists(st.integers(1, 3), max_size=4).map(tuple)


def says(text):
    """A pattern that a text matches from its beginning."""
    return "^" + re.escape(text)


def test_normalize_shape():
    assert shapes.normalize_shape([2, np.int64(3)]) == (2, 3)
    assert shapes.normalize_shape(4) == (4,)
    assert shapes.normalize_shape(()) == ()
    assert shapes.normalize_shape((0, 2)) == (0, 2)


@pytest.mark.parametrize(
    ("shape", "error", "text"),
    [
        (
            (2, 3.0),
            NxTypeError,
            "a size in a shape must be a whole number that is known when the graph is built, got 3.0.",
        ),
        (
            (True,),
            NxTypeError,
            "a size in a shape must be a whole number that is known when the graph is built, got True.",
        ),
        ("23", NxTypeError, "a shape is a tuple of whole numbers, got '23'."),
        (None, NxTypeError, "a shape is a tuple of whole numbers, got None."),
        ((-1, 2), NxValueError, "the sizes in a shape are at least 0, got (-1, 2)"),
    ],
)
def test_normalize_shape_refuses(shape, error, text):
    with pytest.raises(error, match=says(text)):
        shapes.normalize_shape(shape)


def test_a_tensor_is_no_shape():
    with pytest.raises(NxTypeError, match=says("a shape is a tuple of whole numbers, got a tensor (s64[2]).")):
        shapes.normalize_shape(nx.tensor([2, 3]))


def test_a_traced_value_is_no_size(record):
    with pytest.raises(
        TracedValueError, match=r"A static whole number \(a shape, an axis, range\(\)\) asks for the data"
    ):
        record(lambda n: shapes.normalize_shape((n, 2)), nx.template((), "s64"))


def test_normalize_axis():
    assert shapes.normalize_axis(-1, (2, 3)) == 1
    assert shapes.normalize_axis("b", (2, 3), ("a", "b")) == 1


@pytest.mark.parametrize(
    ("axis", "shape", "error", "text"),
    [
        (
            2,
            (2, 3),
            NxIndexError,
            "axis 2 is out of range for the shape [2][3].\n  It has 2 axes, so an axis is from -2 to 1.",
        ),
        (0, (), NxIndexError, "axis 0 is out of range for the shape [] (a scalar).\n  A scalar has no axes."),
        ("x", (2,), NxValueError, "no axis is named 'x' in [2].\n  Its names are [None]."),
        (1.0, (2,), NxTypeError, "an axis must be a whole number that is known when the graph is built, got 1.0."),
    ],
)
def test_normalize_axis_refuses(axis, shape, error, text):
    with pytest.raises(error, match=says(text)):
        shapes.normalize_axis(axis, shape)


def test_normalize_axes():
    assert shapes.normalize_axes(None, (2, 3)) == (0, 1)
    assert shapes.normalize_axes(-1, (2, 3)) == (1,)
    assert shapes.normalize_axes(["b", 0], (2, 3), (None, "b")) == (1, 0)
    with pytest.raises(NxValueError, match=says("axes must differ, got [0, -2] for the shape [2][3]")):
        shapes.normalize_axes([0, -2], (2, 3))
    with pytest.raises(NxTypeError, match=says("axes is a list of axes, got 1.5; write axes=[0, 1]")):
        shapes.normalize_axes(1.5, (2, 3))


@given(sizes, sizes)
def test_broadcasting_is_numpys(left, right):
    try:
        expected = np.broadcast_shapes(left, right)
    except ValueError:
        with pytest.raises(NxValueError):
            shapes.broadcast_shapes(left, right)
    else:
        assert shapes.broadcast_shapes(left, right) == expected


def test_broadcasting_names_both_shapes():
    with pytest.raises(NxValueError) as error:
        shapes.broadcast_shapes((2, 3), (4,))
    assert str(error.value) == (
        "cannot broadcast [2][3] with [4]: axis -1 has sizes 3 and 4.\n"
        "  Axes are aligned from the last one; sizes must be equal, or one of them 1.\n"
        "  nx.new_axis(t, axis) adds an axis of size 1."
    )


def test_broadcasting_tells_names_and_of_a_reduction_that_would_fit():
    with pytest.raises(NxValueError) as error:
        shapes.broadcast_shapes((2, 3), (2,), ("rows", None), ("rows",))
    assert str(error.value) == (
        "cannot broadcast [rows: 2][3] with [rows: 2]: axis -1 has sizes 3 and 2.\n"
        "  Axes are aligned from the last one; sizes must be equal, or one of them 1.\n"
        "  A reduction along axis 1 fits with keep_axes=True, which gives [2][1].\n"
        "  nx.new_axis(t, axis) adds an axis of size 1."
    )


def test_names():
    assert shapes.normalize_names(None, (2, 3)) == (None, None)
    assert shapes.merge_names(("a", None), ("a", "b")) == ("a", "b")
    with pytest.raises(NxValueError, match=says("cannot merge the name 'x' on axis 0 with the name 'y' on axis 0.")):
        shapes.merge_names(("x",), ("y",))


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (["a"], NxValueError, "names has 1 entries, the shape [2][3] has 2 axes."),
        (["a", "a"], NxValueError, "the name 'a' stands for two axes in names=['a', 'a']; names must differ"),
        (["a", 1], NxTypeError, "the name of an axis is a str or None, got 1 in names=['a', 1]"),
    ],
)
def test_names_are_checked(names, error, text):
    with pytest.raises(error, match=says(text)):
        shapes.normalize_names(names, (2, 3))


def test_resolve_auto():
    assert shapes.resolve_auto((2, "auto"), 6) == (2, 3)
    assert shapes.resolve_auto((-1,), 6) == (6,)
    for shape, text in [
        (("auto", -1), "only one size can be left open, got ('auto', -1)"),
        ((4, -1), "cannot reshape 6 elements to (4, -1): 6 is no multiple of 4"),
        ((4, 2), "cannot reshape 6 elements to [4][2], which has 8."),
    ]:
        with pytest.raises(NxValueError, match=says(text)):
            shapes.resolve_auto(shape, 6)


def test_reduce_and_pad():
    assert shapes.reduce((2, 3), ("a", "b"), (0,), keep_axes=False) == ((3,), ("b",))
    assert shapes.reduce((2, 3), ("a", "b"), (0,), keep_axes=True) == ((1, 3), ("a", "b"))
    assert shapes.pad((3, 2), [(1, -1, 1), (0, 2, 0)]) == (5, 4)
    with pytest.raises(NxValueError, match="crops more of"):
        shapes.pad((2,), [(-2, -1, 0)])


def test_dot_names_both_sides():
    left, right = nx.template((2, 3), "f32").spec, nx.template((4, 5), "f32").spec
    with pytest.raises(NxValueError) as error:
        shapes.dot(left, right, ((1,), (0,)), ((), ()))
    assert str(error.value) == (
        "dot of f32[2][3] and f32[4][5]: the contracted axis 1 on the left has size 3, "
        "axis 0 on the right has size 4.\n"
        "  They must be equal."
    )
    named = nx.template((2, 3), "f32", names=["a", None]).spec
    with pytest.raises(NxValueError, match=says("dot of f32[a: 2][3] and f32[a: 2][3] would have two axes named 'a'.")):
        shapes.dot(named, named, ((1,), (1,)), ((), ()))
    with pytest.raises(NxValueError, match="the batch axis 0 has size 2 on the left and 4 on the right"):
        shapes.dot(left, right, ((), ()), ((0,), (0,)))


def test_whole_numbers_have_64_bits():
    class Wrong:
        def __index__(self):
            raise TypeError("no number")

    assert shapes.static_int(2**63 - 1, "n") == 2**63 - 1
    with pytest.raises(NxValueError, match=f"^n has 64 bits, {2**63} does not fit$"):
        shapes.static_int(2**63, "n")
    with pytest.raises(
        NxTypeError, match=r"^n must be a whole number that is known when the graph is built, got a Wrong"
    ):
        shapes.static_int(Wrong(), "n")


@pytest.mark.parametrize("names", [3, "ab", object()])
def test_names_are_a_list(names):
    text = "names is a list with a str or None for each axis, got " + re.escape(shapes.describe(names))
    with pytest.raises(NxTypeError, match=f"^{text}$"):
        shapes.normalize_names(names, (2, 3))


def test_an_axis_without_elements_has_no_windows():
    assert shapes.windows((0, 4), (1, 2), (3, 1), (1, 1)) == (0, 3)
    with pytest.raises(NxValueError, match="a window of size 2 does not fit axis 0 of size 0"):
        shapes.windows((0, 4), (2, 2), (1, 1), (1, 1))
