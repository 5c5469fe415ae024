"""unique_* at once, and in definitions with room for as many as ``size=`` says."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.errors import NxTypeError, NxValueError

VALUES = [
    np.array([3, 1, 3, 2]),
    np.array([[2.5, 1.0], [1.0, np.nan]]),
    np.array([np.nan, np.nan, 0.0, -0.0]),
    np.array([True, False, True]),
]
NAMES = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]


@pytest.mark.parametrize("x", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize("name", NAMES)
def test_at_once(name, x):
    found, wanted = getattr(nnp, name)(nnp.asarray(x)), getattr(np, name)(x)
    if name != "unique_values":
        assert found._fields == wanted._fields
    else:
        found, wanted = (found,), (wanted,)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, np.sort(other) if name == "unique_values" else other)


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
@pytest.mark.parametrize("x", VALUES, ids=range(len(VALUES)))
def test_in_a_definition(x, compiler):
    wanted = np.unique_all(x)
    count = len(wanted.values)
    for size in (count, count + 3):
        found = nx.jit(lambda x, size=size: tuple(nnp.unique_all(x, size=size)), compiler=compiler)(x)
        values, indices, inverse, counts = map(np.asarray, found)
        np.testing.assert_array_equal(values, np.append(wanted.values, [wanted.values[-1]] * (size - count)))
        np.testing.assert_array_equal(indices, np.append(wanted.indices, [wanted.indices[-1]] * (size - count)))
        np.testing.assert_array_equal(inverse, wanted.inverse_indices)
        np.testing.assert_array_equal(counts, np.append(wanted.counts, [0] * (size - count)))


def test_more_than_there_is_room_for_are_left_out():
    found = nx.jit(lambda x: nnp.unique_values(x, size=2))(np.array([3, 1, 2, 1]))
    assert np.asarray(found).tolist() == [1, 2]


@pytest.mark.parametrize("name", NAMES)
def test_a_definition_asks_for_the_size(name):
    expected = rf"(?s){name} gives as many elements as only the running program knows\..*{name}\(x, size=n\) makes room"
    with pytest.raises(NxTypeError, match=expected):
        nx.jit(lambda x: getattr(nnp, name)(x))(np.ones(3))
    with pytest.raises(NxValueError, match="size is one or more, for an array with elements, got 0"):
        nx.jit(lambda x: getattr(nnp, name)(x, size=0))(np.ones(3))


@pytest.mark.usefixtures("ahead_of_calls")
def test_of_two_arrays():
    one, other = [3, 1, 2, 3], [2, 3, 5]
    for name in ("union1d", "intersect1d", "setdiff1d"):
        assert getattr(nnp, name)(one, other).tolist() == getattr(np, name)(one, other).tolist()
    values, counts = nnp.unique([3, 1, 3], return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([1, 3], [1, 2])
    with pytest.raises(NxTypeError, match=r"(?s)union1d gives .*unique_values\(x, size=n\)"):
        nx.jit(lambda x: nnp.union1d(x, x))(np.ones(3))


def test_known_elements_are_taken_together_while_tracing():
    def function(x):
        return x[np.unique([2, 0, 2])], x[np.union1d([1], [0])], x[np.setdiff1d(np.arange(3), [1])]

    x = np.array([5.0, 6.0, 7.0])
    for result, expected in zip(nx.defn(function)(x), function(x), strict=True):
        np.testing.assert_array_equal(result, expected)
