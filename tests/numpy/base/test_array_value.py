"""There is one class of array outside of definitions; what stands for a scalar of NumPy's does not change."""

import numpy as np
import pytest

import nxkernel.numpy as nnp
from nxkernel.errors import NxTypeError


def test_one_class():
    x = nnp.asarray([3, 1, 2])
    for one in (
        x,
        x[0],
        x.sum(),
        x > 1,
        x[x > 1],
        nnp.nonzero(x)[0],
        nnp.asarray(3),
        x.max() + 1,
        nnp.unique_values(x),
    ):
        assert type(one) is nnp.Array


def test_numbers_do_not_change():
    x = nnp.asarray([3, 1, 2])
    first = other = x[0]
    first += 1
    assert (int(first), int(other)) == (4, 3)
    with pytest.raises(NxTypeError, match=r"'numpy.int64' object does not support item assignment, as in Python\."):
        other[...] = 5
    own = nnp.asarray(other)
    own[...] = 5
    assert (int(own), int(other)) == (5, 3)


def test_masks_pick_and_are_assigned_through():
    x, y = nnp.asarray([[3, 1], [2, 5]]), np.array([[3, 1], [2, 5]])
    assert x[x > 1].tolist() == y[y > 1].tolist()
    assert x[nnp.asarray([True, False])].tolist() == [[3, 1]]
    x[x > 2], y[y > 2] = 0, 0
    assert x.tolist() == y.tolist()


def test_numbers_are_members_of_sets_and_arrays_are_not():
    x = nnp.asarray([1, 2, 1])
    assert {x[0], x[1], x[2]} == {1, 2}
    with pytest.raises(NxTypeError, match=r"its elements may change, s64\[3\]\.\s+x\.item\(\)"):
        hash(x)
