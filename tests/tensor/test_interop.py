"""Other libraries' protocols."""

import gc

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

T = nx.f32([[1, 2], [3, 4]])


def test_arrays():
    assert np.shares_memory(np.asarray(T), T.data)
    assert not np.asarray(T).flags.writeable
    assert not np.shares_memory(np.array(T), T.data)
    assert np.array(T).flags.writeable
    assert np.asarray(T, dtype=np.float64).dtype == np.float64
    assert np.asarray(T, dtype=np.float32, copy=False) is not None
    assert T.__array__() is T.data
    with pytest.raises(NxValueError, match="a tensor of float32 becomes an array of int64 only by a copy"):
        T.__array__(np.int64, copy=False)


def test_numpy_functions_take_tensors():
    np.testing.assert_array_equal(np.exp(T), np.exp(T.data))
    assert np.concatenate([T, T]).shape == (4, 2)


def test_the_array_interface_keeps_the_memory_alive():
    class Only:
        def __init__(self, interface, owner):
            self.__array_interface__, self.owner = interface, owner

    array = np.asarray(Only(nx.iota((3,)).__array_interface__, T))
    assert array.shape == (3,)
    tensor = nx.iota((1000,))
    array = np.asarray(tensor)
    del tensor
    gc.collect()
    assert array[999] == 999
    assert T.__array_interface__["data"] == (T.data.ctypes.data, True)


def test_bfloats_reach_numpy_with_their_type():
    tensor = nx.bf16([1.5])
    assert np.asarray(tensor).dtype == tensor.dtype
    assert not hasattr(tensor, "__array_interface__")


def test_dlpack():
    array = np.from_dlpack(T)
    np.testing.assert_array_equal(array, T.data)
    assert np.shares_memory(array, T.data)
    assert not array.flags.writeable
    assert T.__dlpack_device__() == (1, 0)


def test_dlpack_before_1_0_cannot_tell_read_only_and_gets_a_copy():
    class Old:
        def __dlpack__(self, **_):
            return T.__dlpack__()

        def __dlpack_device__(self):
            return T.__dlpack_device__()

    array = np.from_dlpack(Old())
    np.testing.assert_array_equal(array, T.data)
    assert not np.shares_memory(array, T.data)
    with pytest.raises(BufferError, match=r"a tensor is read-only, which DLPack can tell from version 1\.0 on"):
        T.__dlpack__(copy=False)
    with pytest.raises(BufferError, match=r"a tensor is in the main memory \(1, 0\), asked for is \(2, 0\)"):
        T.__dlpack__(dl_device=(2, 0))


def test_plain_python():
    assert T.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert T.numpy() is T.to_numpy() is T.data
    assert nx.tensor([[5]]).item() == 5
    assert nx.bf16(0.5).item() == 0.5
    with pytest.raises(NxTypeError) as error:
        T.item()
    assert str(error.value) == "item() needs a tensor with one element, this one has 4.\n  t[0, 1] takes one."
