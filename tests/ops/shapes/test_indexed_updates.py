"""Elements joined with updates at indices, and rows of segments: values, types, gradients, entries, errors."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

JOINS = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}
RNG = np.random.default_rng(3)
PLACES = np.array([[0, 1], [2, 0], [0, 1], [1, 2], [0, 1]])


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
@pytest.mark.parametrize("type_", ["u8", "s16", "s64", "f16", "f32", "f64"])
@pytest.mark.parametrize("name", JOINS)
def test_values_are_those_of_ufuncs(name, type_, compiler):
    target, updates = (nx.tensor(RNG.integers(0, 5, shape), type=type_) for shape in ((3, 4), (5,)))
    expected = target.to_numpy().copy()
    JOINS[name].at(expected, tuple(PLACES.T), updates.to_numpy())
    found = nx.jit(getattr(nx, f"indexed_{name}"), compiler=compiler)(target, PLACES, updates)
    assert found.type == type_
    np.testing.assert_array_equal(found.to_numpy(), expected)


def test_what_is_special():
    assert np.isnan(nx.indexed_max([1.0, 2.0], [[0]], [np.nan]).to_numpy()[0])
    assert nx.jit(nx.indexed_multiply)(nx.c64([1j, 2]), nx.tensor([[0], [0]]), nx.c64([1j, 1j])).to_list() == [-1j, 2]
    assert nx.indexed_multiply(nx.iota((2, 2)), [1], [10, 20], axes=[1]).to_list() == [[0, 10], [2, 60]]
    assert nx.indexed_min([4, 5], [[0], [1]], 4.5).to_list() == [4.0, 4.5]
    with pytest.raises(NxTypeError, match=r"^indexed_max"):
        nx.indexed_max([1j], [[0]], [2j])
    with pytest.raises(
        NxValueError, match=r"^indexed_max: updates s64\[3\] do not fit indices s64\[1\]\[1\] into s64\[2\]"
    ):
        nx.indexed_max([1, 2], [[0]], [1, 2, 3])


def loop(x):
    for k in range(9):
        x = nx.indexed_max(x, nx.reshape(k % 3, (1, 1)), nx.reshape(k * 1.0, (1,)))
    return x


def test_in_a_loop():
    assert nx.defn(loop)(np.zeros(3)).to_list() == [6.0, 7.0, 8.0]


@pytest.mark.parametrize("name", ["multiply", "max", "min"])
def test_gradients(name):
    join = getattr(nx, f"indexed_{name}")
    target, updates = RNG.normal(size=4), RNG.normal(size=6)
    updates[2] = 0.0
    places = np.array([[0], [0], [1], [2], [1], [0]])
    weights = np.arange(1.0, 5.0)

    def loss(x, u):
        return nx.sum(join(x, places, u) * weights)

    for number, given in enumerate((target, updates)):
        slopes = nx.grad(lambda one, n=number: loss(one, updates) if n == 0 else loss(target, one))(given)
        for place in range(given.size):
            step = np.zeros_like(given)
            step[place] = 1e-6
            sides = [(given + step, updates), (given - step, updates)] if number == 0 else [
                (target, given + step), (target, given - step)
            ]  # fmt: skip
            above, below = (float(loss(*side)) for side in sides)
            assert slopes[place] == pytest.approx((above - below) / 2e-6, abs=1e-5)
    # Equal ones share.
    assert nx.grad(lambda x: nx.sum(nx.indexed_max(x, [[0]], [1.0])))(nx.tensor([1.0])).to_list() == [0.5]


SEGMENTS = {"sum": (np.add, 0), "prod": (np.multiply, 1), "max": (np.maximum, -np.inf), "min": (np.minimum, np.inf)}


@pytest.mark.parametrize("name", SEGMENTS)
def test_segments(name):
    join, first = SEGMENTS[name]
    function = getattr(nx, f"segment_{name}")
    data, ids = RNG.normal(size=(20, 3)), RNG.integers(-1, 6, 20)
    expected = np.full((5, 3), first, float)
    inside = (ids >= 0) & (ids < 5)
    join.at(expected, ids[inside], data[inside])
    for found in (function(data, ids, 5), nx.jit(lambda d, i: function(d, i, 5))(data, ids)):
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12)
    assert function([1, 2, 3], [0, 2, 2]).shape == (3,)
    assert function(np.zeros((0, 2)), np.zeros(0, int), 2).shape == (2, 2)
    assert function([5, 6], [0, 1], 0).shape == (0,)
    many = nx.vmap(lambda d, i: function(d, i, 2))(np.ones((2, 3)), np.array([[0, 1, 1], [1, 1, 0]]))
    np.testing.assert_allclose(many.to_numpy()[1], function(np.ones(3), [1, 1, 0], 2).to_numpy())
    with pytest.raises(
        NxTypeError, match=rf"^segment_{name}: only the running program knows how many segments there are"
    ):
        nx.jit(function)(data, ids)
    with pytest.raises(NxValueError, match=rf"^segment_{name}: segment_ids s64\[2\] have no number for each row"):
        function([1, 2, 3], [0, 1])


def test_types_of_segments():
    assert nx.segment_sum(nx.u8([200, 100]), [0, 0], 1).to_list() == [44]
    assert nx.segment_max(nx.s8([1]), [1], 2).to_list() == [-128, 1]
    assert nx.segment_sum(nx.tensor([[1, 2], [3, 4]]), [[0, 1], [1, 1]], 2).to_list() == [1, 9]
    assert nx.segment_sum(nx.tensor([[1, 2]], names=["row", "x"]), [0], 1).names == (None, "x")
    slopes = nx.grad(lambda d: nx.sum(nx.segment_prod(d, [0, 0, 1], 2)))(nx.tensor([2.0, 0.0, 5.0]))
    assert slopes.to_list() == [0.0, 2.0, 1.0]


def test_indices_as_vectors():
    assert nx.one_hot(2, 3).to_list() == [0.0, 0.0, 1.0]
    found = nx.jit(lambda i: nx.one_hot(i, 300, type="s64"))(nx.u8([255, 0]))
    np.testing.assert_array_equal(found.to_numpy(), np.eye(300, dtype=int)[[255, 0]])
    assert nx.one_hot([[0, -1]], 2, axis=0).to_list() == [[[1.0, 0.0]], [[0.0, 0.0]]]
    assert nx.one_hot([0], 0).shape == (1, 0)
    with pytest.raises(NxTypeError, match=r"^one_hot: indices are whole numbers, got f32\[1\]\."):
        nx.one_hot([0.5], 2)
    with pytest.raises(NxTypeError, match=r"^one_hot takes indices, got a mask"):
        nx.one_hot([True], 2)
