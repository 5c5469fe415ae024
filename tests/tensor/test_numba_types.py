"""Tensors as arguments of functions that Numba compiled."""

import subprocess
import sys

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

numba = pytest.importorskip("numba")


@numba.njit
def itself(x):
    return x


@numba.njit
def squares(x):
    total = 0.0
    for value in x.flat:
        total += value * value
    return total


@numba.njit
def joined(x, y):
    return x + y


@numba.njit
def written(x):
    x[0] = 1


def test_memory_is_shared_and_read_only():
    tensor = nx.tensor([1.0, 2.0, 3.0])
    array = itself(tensor)
    assert type(array) is np.ndarray
    assert np.shares_memory(array, tensor.data)
    assert not array.flags.writeable


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", ["f64", "f32", "s32", "u8", "bool", "c64"])
def test_types(type_):
    tensor = nx.as_type(nx.tensor([[1, 0, 3]]), type_)
    found = itself(tensor)
    assert (found.dtype, found.shape) == (tensor.data.dtype, (1, 3))
    np.testing.assert_array_equal(found, tensor.data)


def test_tensors_beside_arrays_and_numbers():
    assert joined(nx.tensor([1.0, 2.0], type="f64"), np.array([3.0, 4.0])).tolist() == [4.0, 6.0]
    assert joined(nx.tensor(2.0), nx.tensor(3)) == 5.0
    assert squares(nx.tensor(np.zeros((0, 3)))) == 0.0


def test_the_tensor_may_go_before_the_array():
    array = itself(nx.tensor(np.arange(1000.0)) + 1)
    assert array.sum() == 500500.0


def test_nobody_writes_into_a_tensor():
    with pytest.raises(numba.TypingError, match=r"readonly|setitem"):
        written(nx.tensor([0.0]))


@pytest.mark.parametrize("type_", ["bf16", "f16"])
def test_half_widths_are_refused(type_):
    with pytest.raises(NxTypeError) as error:
        itself(nx.tensor([1.0], type=type_))
    name = {"bf16": "bfloat16", "f16": "float16"}[type_]
    assert str(error.value) == (
        f"Numba has no numbers of type {name} on processors.\n"
        '  nx.as_type(t, "f32") makes a tensor that its functions take.'
    )


def test_vectorized_axes_are_refused():
    with pytest.raises(NxTypeError) as error:
        itself(nx.vectorize(nx.tensor([[1.0]]), "a"))
    assert str(error.value) == (
        "a function compiled by Numba takes no vectorized axes, got vectorized[a: 1] f32[1].\n"
        "  nx.devectorize(t) makes plain axes of them."
    )


def test_numba_is_not_imported_with_the_library():
    code = "import sys, nxkernel; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
