"""Elements at indices."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nxkernel as nx
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError

X = np.arange(24).reshape(2, 3, 4)
T = nx.tensor(X, names=["a", "b", "c"])


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_take_is_numpys_with_clamped_indices(data):
    x = data.draw(hnp.arrays(np.int64, hnp.array_shapes(max_dims=3, max_side=4)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    indices = data.draw(
        hnp.arrays(np.int32, hnp.array_shapes(min_dims=0, max_dims=2, max_side=3), elements=st.integers(-9, 9))
    )
    found = nx.take(x, nx.tensor(indices), axis=axis)
    np.testing.assert_array_equal(found, np.take(x, np.clip(indices, 0, x.shape[axis] - 1), axis=axis))


def test_names_of_take():
    assert nx.take(T, [0, 1]).names == ("a", "b", "c")
    assert nx.take(nx.iota((2, 3)), nx.tensor([0], names=["n"]), axis=1).names == (None, "n")
    assert nx.take(T, nx.tensor([[0], [1]], names=["r", None]), axis="b").names == ("a", "r", None, "c")
    assert nx.take(T, 1, axis="b").names == ("a", "c")
    with pytest.raises(
        NxValueError, match=re.escape("cannot merge the name 'a' on axis 0 with the name 'n' on axis 0.")
    ):
        nx.take(T, nx.tensor([0], names=["n"]))
    with pytest.raises(NxValueError, match="the name 'c' stands for two axes"):
        nx.take(T, nx.tensor([[0]], names=["c", None]))


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_compiled_agrees(compiler):
    indices = nx.tensor([[5, -1], [0, 1]])
    run = nx.jit(lambda t, i: nx.take(t, i, axis=1), compiler=compiler)
    np.testing.assert_array_equal(run(T, indices), nx.take(T, indices, axis=1))
    run = nx.jit(lambda t, i: nx.indexed_add(t, i, 1), compiler=compiler)
    np.testing.assert_array_equal(run(X, indices), nx.indexed_add(X, indices, 1))
    run = nx.jit(lambda t, i: nx.gather(t, i, axes=[0, 2])[..., [0, -1]], compiler=compiler)
    np.testing.assert_array_equal(run(X, indices), nx.gather(X, indices, axes=[0, 2])[:, [0, 2]])
    run = nx.jit(lambda t, i: nx.take_along_axis(t, i, axis=2), compiler=compiler)
    order = np.argsort(-X, axis=2)
    np.testing.assert_array_equal(run(X, order), X[..., ::-1])


@pytest.mark.parametrize(
    ("indices", "error", "text"),
    [
        (
            [0, 2],
            NxIndexError,
            "take: index 2 is out of bounds for axis 0 of s64[a: 2][b: 3][c: 4].\n  Indices go from 0 to 1",
        ),
        (np.array([1, -1]), NxIndexError, "take: index -1 is out of bounds for axis 0 of s64[a: 2][b: 3][c: 4]."),
        (-1, NxIndexError, "take: index -1 is out of bounds for axis 0 of s64[a: 2][b: 3][c: 4]."),
        (
            [0.5],
            NxTypeError,
            'take: indices are whole numbers, got f32[1].\n  Convert them: nx.as_type(indices, "s64")',
        ),
        (np.array([True, False]), NxTypeError, "take takes indices, got a mask: bool[2].\n  What a mask picks"),
    ],
)
def test_take_refuses(indices, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        nx.take(T, indices)


def test_nothing_can_be_taken_of_nothing():
    empty = np.zeros((0, 2))
    assert nx.take(empty, np.zeros(0, int)).shape == (0, 2)
    with pytest.raises(NxIndexError, match=re.escape("take: axis 0 of f64[0][2] has no elements to take")):
        nx.take(empty, nx.tensor([0]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_along_axis(axis):
    order = np.argsort(-X, axis=axis)
    found = nx.take_along_axis(T, order, axis=axis)
    np.testing.assert_array_equal(found, np.take_along_axis(X, order, axis))
    assert found.names == ("a", "b", "c")
    few = order.take([0], axis)
    np.testing.assert_array_equal(nx.take_along_axis(T, few, axis=axis), np.take_along_axis(X, few, axis))


@pytest.mark.parametrize("shape", [(2, 3), (2, 10, 3), (1, 2, 3, 4)])
def test_take_along_axis_refuses_other_shapes(shape):
    text = (
        f"take_along_axis: indices s64{''.join(f'[{n}]' for n in shape)} do not fit s64[a: 2][b: 3][c: 4] along axis 1."
    )
    with pytest.raises(NxValueError, match="^" + re.escape(text + "\n  Their shape is [2][any][4]; nx.take uses")):
        nx.take_along_axis(T, np.zeros(shape, int), axis=1)


@pytest.mark.parametrize(
    ("indices", "axes", "expected"),
    [
        ([[1, 2], [0, 0]], None, X[[1, 0], [2, 0]]),
        ([[1], [0]], None, X[[1, 0]]),
        ([1, 2, 3], None, X[1, 2, 3]),
        ([[[3, 0]], [[1, 2]]], [0, 2], None),
        (nx.tensor([[9, -9, 9]]), None, X[[1], [0], [3]]),
        ([[0, 1]], ["b", "c"], X[:, 0, 1][None]),
    ],
)
def test_gather(indices, axes, expected):
    if expected is None:
        indices = [[[1, 3]], [[0, 2]]]
        expected = np.stack([X[1, :, 3], X[0, :, 2]])[:, None]
    found = nx.gather(T, indices, axes=axes)
    np.testing.assert_array_equal(found, expected)
    assert set(found.names) <= {None}


def _refusals(function):
    return [
        ([[0, 0, 0, 0]], None, NxValueError, "indices s64[1][4] have 4 coordinates, s64[a: 2][b: 3][c: 4] has 3 axes"),
        (
            [[0, 1]],
            [1, 0],
            NxValueError,
            "axes come in ascending order, got axes=[1, 0]; reorder the coordinates instead",
        ),
        ([[0, 1]], [1], NxValueError, "indices s64[1][2] have 2 coordinates, axes=[1] names 1"),
        ([[0, 3]], None, NxIndexError, "index 3 is out of bounds for axis 1 of s64[a: 2][b: 3][c: 4]."),
        (0, None, NxValueError, "the last axis of indices holds coordinates, got s64."),
        ([[0.0]], None, NxTypeError, "indices are whole numbers, got f32[1][1]."),
        (np.zeros((2, 0), int), None, NxValueError, "indices s64[2][0] have no coordinates"),
    ]


@pytest.mark.parametrize(("indices", "axes", "error", "text"), _refusals("gather"))
@pytest.mark.parametrize("function", ["gather", "indexed_add", "indexed_put"])
def test_coordinates_refused(function, indices, axes, error, text):
    updates = [] if function == "gather" else [1]
    with pytest.raises(error, match="^" + re.escape(f"{function}: {text}")):
        getattr(nx, function)(T, indices, *updates, axes=axes)


def test_indexed_add_is_jaxs():
    jnp = pytest.importorskip("jax.numpy", reason="JAX, an optional part, is what this compares with")
    indices = np.array([[0, 1], [1, 2], [0, 1], [7, -3]])
    updates = np.arange(16.0).reshape(4, 4)
    found = nx.indexed_add(T, nx.tensor(indices), updates)
    clamped = np.clip(indices, 0, [1, 2])
    expected = jnp.asarray(X, np.float32).at[clamped[:, 0], clamped[:, 1]].add(updates)
    np.testing.assert_array_equal(found, expected)
    assert (found.type, found.names) == ("f64", ("a", "b", "c"))


def test_indexed_put_keeps_the_last():
    found = nx.indexed_put([0, 0, 0], [[1], [2], [1]], [5, 6, 7])
    assert found.to_list() == [0, 7, 6]
    np.testing.assert_array_equal(
        nx.indexed_put(T, [[0, 3], [1, 0]], [[1, 2, 3], [4, 5, 6]], axes=[0, "c"])[1, :, 0], [4, 5, 6]
    )
    assert nx.indexed_put(nx.u8([1]), [0], nx.u8(5)).spec == nx.template((1,), "u8").spec
    assert nx.indexed_add(np.array([True]), [0], np.array(True)).type == "s64"


def test_updates_refused():
    with pytest.raises(NxValueError) as error:
        nx.indexed_add(T, [[0], [1]], np.zeros((2, 3)))
    assert str(error.value) == (
        "indexed_add: updates f64[2][3] do not fit indices s64[2][1] into s64[a: 2][b: 3][c: 4].\n"
        "  Their shape is [2][3][4], or one number stands for all."
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda t, i: nx.take(t, i, axis=1),
        lambda t, i: t[:, i],
        nx.gather,
        lambda t, i: nx.indexed_add(t, i, 1),
        lambda t, i: nx.take_along_axis(t, i, axis=1),
    ],
)
def test_vectorized_axes(function):
    indices = np.array([[[5, -1], [0, 1], [2, 2]], [[1, 2], [0, 0], [3, 1]], [[1, 0], [0, 1], [2, 3]]])
    found = function(nx.vectorize(X, "v"), nx.vectorize(indices, "w"))
    assert found.vectorized_axes == (("v", 2), ("w", 3))
    wanted = [[function(nx.tensor(x), nx.tensor(i)).to_numpy() for i in indices] for x in X]
    np.testing.assert_array_equal(nx.devectorize(found), wanted)


@pytest.mark.parametrize(
    ("call", "first"),
    [
        (
            lambda: nx.indexed_add([1.0, 2.0, 3.0], nx.tensor([0, 1]), [5.0, 6.0]),
            "indexed_add: indices s64[2] have 2 coordinates, f32[3] has 1 axes",
        ),
        (
            lambda: nx.gather([1.0, 2.0], nx.tensor([0, 1])),
            "gather: indices s64[2] have 2 coordinates, f32[2] has 1 axes",
        ),
        (
            lambda: nx.gather(nx.eye(2), nx.tensor([0, 1]), axes=[1]),
            "gather: indices s64[2] have 2 coordinates, axes=[1] names 1",
        ),
        (
            lambda: nx.indexed_put(nx.eye(3), nx.tensor([0, 1]), [7, 8]),
            "indexed_put: updates s64[2] do not fit indices s64[2] into s64[3][3].",
        ),
    ],
)
def test_a_vector_of_indices_is_told_about_coordinates(call, first):
    with pytest.raises(NxValueError) as error:
        call()
    lines = str(error.value).splitlines()
    assert lines[0] == first
    assert lines[-1] == "  The last axis holds the coordinates of one element; for several write indices[:, None]."
    assert nx.gather([1.0, 2.0], nx.tensor([0, 1])[:, None]).to_list() == [1.0, 2.0]
