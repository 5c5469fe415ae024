"""Leaves: what a value is, and the array that a program takes for it."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys import leaves
from nxkernel.errors import NxTypeError, NxValueError


class Wrapped:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (True, "bool"),
        (1, "s64"),
        (1.0, "f32"),
        (1j, "c64"),
        (np.True_, "bool"),
        (np.float64(1), "f64"),
        (np.float16(1), "f16"),
        (np.zeros((2, 3), ">i4"), "s32[2][3]"),
        (np.zeros(2, bool), "bool[2]"),
        (nx.tensor([1.0], names=["x"]), "f32[x: 1]"),
        (nx.template((2,), "bf16"), "bf16[2]"),
        (Wrapped(), "f64[2]"),
    ],
)
def test_what_a_leaf_is(value, spec):
    assert leaves.is_leaf(value)
    assert str(leaves.spec_of(value)) == spec


@pytest.mark.parametrize("value", [None, "x", [1], object(), Wrapped])
def test_what_is_no_leaf(value):
    assert not leaves.is_leaf(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, np.array(True)),
        (-3, np.array(-3, np.int64)),
        (0.1, np.array(0.1, np.float32)),
        (1e300, np.array(np.inf, np.float32)),
        (-1e300, np.array(-np.inf, np.float32)),
        (float("nan"), np.array(np.nan, np.float32)),
        (1e300 + 2j, np.array(np.inf + 2j, np.complex64)),
        (np.float64(0.1), np.array(0.1)),
        (np.arange(6.0)[::2], np.array([0.0, 2.0, 4.0])),
        (np.array([1, 2], ">i4"), np.array([1, 2], np.int32)),
        (np.ones((2, 3)).T, np.ones((3, 2))),
        (Wrapped(), np.array([1.0, 2.0])),
    ],
)
def test_the_array_of_a_leaf(value, expected):
    made = leaves.array_of(value, leaves.spec_of(value))
    assert made.dtype == expected.dtype
    assert made.dtype.isnative
    assert made.flags.c_contiguous
    assert made.shape == expected.shape
    np.testing.assert_array_equal(made, expected)


def test_arrays_are_not_copied_without_need():
    array, tensor = np.ones(3), nx.tensor([1.0])
    assert leaves.array_of(array, leaves.spec_of(array)).base is array
    assert leaves.array_of(tensor, tensor.spec) is tensor.data


def test_what_is_read_at_every_call():
    assert leaves.is_array(np.ones(3))
    assert leaves.is_array(nx.tensor(1))
    assert not any(map(leaves.is_array, [1.0, np.float64(1), np.array(["a"]), [1], nx.template((2,), "f32")]))


def test_errors():
    with pytest.raises(NxTypeError) as raised:
        leaves.spec_of(np.array(["a"]), "names")
    assert str(raised.value) == (
        'an array of dtype <U1 is no tensor (argument names).\n  x.astype("float64") reads numbers out of text.'
    )
    with pytest.raises(NxValueError) as raised:
        leaves.spec_of(2**63)
    assert str(raised.value) == "the integer 9223372036854775808 does not fit into 64 bits.\n  Write it as a float."
    with pytest.raises(NxTypeError) as raised:
        leaves.array_of(nx.template((2,), "f32"), nx.template((2,), "f32").spec)
    assert str(raised.value) == "a template of type f32[2] has no data.\n  Templates are for nx.compile and f.why."
