"""Where arrays are, and how they come from and go to other libraries."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.errors import NxAttributeError, NxTypeError, NxValueError


def test_device_and_to_device():
    x = nnp.asarray([1, 2])
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    with pytest.raises(NxValueError, match="there is no device 'tpu'"):
        x.to_device("tpu")
    with pytest.raises(NxValueError, match="stream is None, got 3"):
        x.to_device("cpu", stream=3)


MAKERS = {
    "arange": lambda d: nnp.arange(2, device=d), "asarray": lambda d: nnp.asarray([1], device=d),
    "empty": lambda d: nnp.empty(2, device=d), "empty_like": lambda d: nnp.empty_like(nnp.ones(2), device=d),
    "eye": lambda d: nnp.eye(2, device=d), "full": lambda d: nnp.full(2, 3, device=d),
    "full_like": lambda d: nnp.full_like(nnp.ones(2), 3, device=d),
    "linspace": lambda d: nnp.linspace(0, 1, 3, device=d), "ones": lambda d: nnp.ones(2, device=d),
    "ones_like": lambda d: nnp.ones_like(nnp.ones(2), device=d), "zeros": lambda d: nnp.zeros(2, device=d),
    "zeros_like": lambda d: nnp.zeros_like(nnp.ones(2), device=d),
    "fftfreq": lambda d: nnp.fft.fftfreq(4, device=d), "rfftfreq": lambda d: nnp.fft.rfftfreq(4, device=d),
    "from_dlpack": lambda d: nnp.from_dlpack(np.ones(2), device=d),
}  # fmt: skip


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_makers_put_arrays_on_a_device(make):
    assert make("cpu").device == make(None).device == "cpu"
    with pytest.raises(NxValueError, match="there is no device 'tpu'"):
        make("tpu")


def test_other_libraries():
    x = nnp.asarray([1.0, 2.0])
    assert x.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(x).tolist() == [1.0, 2.0]
    theirs = np.arange(3)
    shared, copied = nnp.from_dlpack(theirs), nnp.from_dlpack(theirs, copy=True)
    theirs[0] = 9
    assert (shared.tolist(), copied.tolist()) == ([9, 1, 2], [0, 1, 2])
    assert nnp.from_dlpack(x).tolist() == [1.0, 2.0]


def test_traced_ones_are_where_the_program_will_run():
    def moved(x):
        array = nnp.asarray(x)
        assert array.device is None
        return nnp.zeros(2, device=array.device) + array.to_device(array.device)

    assert np.asarray(nx.jit(moved)(np.ones(2))).tolist() == [1.0, 1.0]
    with pytest.raises(NxAttributeError, match=r"(?s)a traced array has no 'to_device'\..*Where a traced value is"):
        nx.jit(lambda x: nnp.asarray(x).to_device("cpu"))(np.ones(2))
    with pytest.raises(NxTypeError, match="from_dlpack takes arrays whose elements are there"):
        nx.jit(lambda x: nnp.from_dlpack(nnp.asarray(x)))(np.ones(2))
