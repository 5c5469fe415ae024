"""``reduceat``."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxIndexError, NxTypeError

X = np.arange(21).reshape(3, 7)


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("places", [[0, 2], [0], [0, 3, 1, 5], [6, 0], [0, 2, 4, 6], [1, 2, 3, 4], [2, 2, 5]])
@pytest.mark.parametrize("type_", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.multiply])
def test_parts_between_places(ufunc, places, type_):
    x = X.astype(type_)
    expected = ufunc.reduceat(x, places, axis=1)
    result = nx.defn(lambda x: ufunc.reduceat(x, places, axis=1))(x)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == expected.dtype


def test_boxes_of_an_image():
    def boxes(z, k):
        rows = np.add.reduceat(z, np.arange(0, z.shape[0], k), axis=0)
        return np.add.reduceat(rows, np.arange(0, z.shape[1], k), axis=1)

    z = np.arange(35.0).reshape(5, 7)
    np.testing.assert_array_equal(nx.defn(lambda z: boxes(z, 2))(z), boxes(z, 2))


def test_places_that_are_not_known_or_not_there():
    with pytest.raises(NxTypeError, match=r"^add\.reduceat takes places that are known while tracing"):
        nx.defn(lambda x, k: np.add.reduceat(x, k))(np.ones(4), np.array([0, 2]))
    with pytest.raises(NxIndexError, match=r"^add\.reduceat: 4 is no place in an axis of 4 elements"):
        nx.defn(lambda x: np.add.reduceat(x, [0, 4]))(np.ones(4))
