"""Arrays on a device: what they hold, their parts, and what is left of those that are given away."""

import gc

import ml_dtypes
import numpy as np
import pytest

from nxkernel.errors import NxTypeError, NxValueError

pytestmark = pytest.mark.usefixtures("little_garbage")


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, ml_dtypes.bfloat16, np.complex128, np.uint64])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3, 2)])
def test_what_is_uploaded_comes_back(device, dtype, shape):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    there = device.upload(array)
    assert (there.shape, there.dtype, there.size, there.ndim) == (shape, np.dtype(dtype), array.size, array.ndim)
    assert there.nbytes == array.nbytes
    back = there.host()
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_an_upload_is_a_copy_in_c_order(device):
    array = np.arange(6.0).reshape(2, 3).T
    there = device.upload(array)
    array[...] = 0
    np.testing.assert_array_equal(there.host(), [[0, 3], [1, 4], [2, 5]])
    here = there.host()
    here[...] = 7
    np.testing.assert_array_equal(there.host()[0], [0, 3])


def test_shapes_and_parts_share_memory(device):
    there = device.upload(np.arange(12, dtype=np.int32))
    assert there.reshape((3, 4)).pointer == there.pointer
    np.testing.assert_array_equal(there.part(16, (2, 2), np.int32).host(), [[4, 5], [6, 7]])
    np.testing.assert_array_equal(there.part(4, (4,), np.uint8).host(), [1, 0, 0, 0])
    with pytest.raises(NxValueError, match=r"int32\[5\] at byte 32 does not fit an array of 48 bytes on cuda:0"):
        there.part(32, (5,), np.int32)
    with pytest.raises(NxValueError, match="does not fit"):
        there.reshape((3, 3))


def test_an_array_that_was_given_away_says_so(device):
    there = device.upload(np.ones(3, np.float32))
    assert not there.released
    there.release()
    there.release()
    assert there.released
    assert repr(there) == "DeviceArray(float32[3] on cuda:0, given away)"
    with pytest.raises(NxValueError) as caught:
        there.host()
    assert str(caught.value) == (
        "this array on cuda:0 was given away, and its memory is used for something else.\n"
        "  A transfer to another device and a donated argument of a call give arrays away.\n"
        "  nx.backend_copy keeps the original; a call without donate_argnums keeps its arguments."
    )
    with pytest.raises(AttributeError, match="has no attribute 'size_of'"):
        _ = there.size_of


def test_parts_keep_the_memory_of_what_is_released(device):
    before = device.memory.used
    there = device.upload(np.arange(4, dtype=np.float32))
    part = there.part(8, (2,), np.float32)
    there.release()
    np.testing.assert_array_equal(part.host(), [2, 3])
    del part
    gc.collect()
    assert device.memory.used == before


def test_numpy_does_not_take_one_by_accident(device):
    with pytest.raises(NxTypeError, match="an array on a device is no NumPy array"):
        np.asarray(device.upload(np.ones(3)))
