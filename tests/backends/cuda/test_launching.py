"""The arguments of launches, as the driver reads them."""

import ctypes

import numpy as np
import pytest

from nxkernel.backends.cuda.launching import DeviceKernel, Prepared, pointers
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource

PARAMETERS = ("f32*", "u16*", "s64", "f32", "u8", "f64", "s32", "u64")


def kernel():
    return DeviceKernel(KernelSource("k", "", PARAMETERS), 7, None, pointers(PARAMETERS))


def test_each_argument_is_where_its_address_says():
    prepared = Prepared(kernel(), (3,), (2, 4), 0, [-5, 0.5, True, 1e300, -1, 2**64 - 1])
    prepared.point([0x1000, 0x2000])
    assert (prepared.grid, prepared.block) == ((3, 1, 1), (2, 4, 1))
    addresses = (ctypes.c_void_p * 8).from_address(prepared.addresses)
    kinds = [np.uint64, np.uint64, np.int64, np.float32, np.uint8, np.float64, np.int32, np.uint64]
    found = [
        np.frombuffer(ctypes.string_at(address, np.dtype(kind).itemsize), kind)[0]
        for address, kind in zip(addresses, kinds, strict=True)
    ]
    assert found == [0x1000, 0x2000, -5, 0.5, 1, 1e300, -1, 2**64 - 1]
    prepared.arguments[1] = 0x3000
    assert ctypes.c_uint64.from_address(addresses[1]).value == 0x3000


def test_the_number_of_scalar_parameters_is_checked():
    with pytest.raises(ValueError, match=r"k \(nxc_\w{8}\) takes 6 scalar parameters, got 1"):
        Prepared(kernel(), (1,), (1,), 0, [1])


def test_pointers_come_first():
    with pytest.raises(ValueError, match="pointers come first"):
        pointers(("s64", "f32*"))
