"""Devices by number and by name."""

import pytest

from nxkernel.backends.cuda import availability, devices
from nxkernel.errors import CudaUnavailableError, NxTypeError, NxValueError


@pytest.fixture(autouse=True)
def no_device(monkeypatch):
    """Nothing is simulated, and there is no GPU."""
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.setattr(availability, "_has_driver", lambda: False)
    devices.reset()
    yield
    devices.reset()


def test_names_and_numbers():
    devices.use_simulator()
    first = devices.device()
    assert devices.count() == 2
    assert devices.device("cuda") is first
    assert devices.device("cuda:0") is devices.device(first) is devices.device(0)
    assert devices.device("cuda:1") is not first
    assert repr(devices.device(1)) == "<cuda:1: Numba's CUDA simulator>"


def test_a_device_that_is_not_there():
    devices.use_simulator(devices=1)
    with pytest.raises(NxValueError) as caught:
        devices.device("cuda:3")
    assert str(caught.value) == 'there is no device "cuda:3".\n  There is cuda:0.'


@pytest.mark.parametrize(("which", "error"), [("gpu", NxValueError), (-1, NxValueError), (1.5, NxTypeError)])
def test_what_is_no_device(which, error):
    devices.use_simulator()
    with pytest.raises(error, match=f"{which!r} is no device.\n  Devices are"):
        devices.device(which)


def test_without_a_gpu():
    assert devices.count() == 0
    with pytest.raises(CudaUnavailableError, match='the device "cuda:1" needs an NVIDIA GPU'):
        devices.device(1)


def test_the_environment_asks_for_the_simulator(monkeypatch):
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    assert devices.simulating()
    assert devices.device().simulated
    devices.use_simulator(False)
    assert not devices.simulating()
    assert devices.count() == 0


def test_the_simulator_needs_its_package(monkeypatch):
    monkeypatch.setattr(devices, "_devices", {})
    monkeypatch.setattr(availability, "has_package", lambda module: False)
    monkeypatch.setattr(devices._Simulation, "count", 2)
    for ask in (devices.use_simulator, devices.device):
        with pytest.raises(CudaUnavailableError) as caught:
            ask()
        assert str(caught.value) == (
            "the simulator of GPUs is a part of numba-cuda, which is not installed.\n"
            "  pip install 'numba-cuda[cu13]' brings it, about 600 MB. "
            "Then start Python anew, or the notebook's kernel."
        )


def test_a_package_that_does_not_lead_to_its_part_of_numba(monkeypatch):
    monkeypatch.setattr(devices, "_devices", {})
    monkeypatch.setattr(availability, "has_package", lambda module: module != "numba.cuda")
    with pytest.raises(CudaUnavailableError) as caught:
        devices.use_simulator()
    assert str(caught.value) == (
        "numba-cuda is installed, and numba.cuda, to which it leads, is not found.\n"
        "  A .pth file of its wheel does that, which Python reads when it starts, in folders like site-packages.\n"
        "  pip install --force-reinstall 'numba-cuda[cu13]' puts it into this environment. "
        "Then start Python anew, or the notebook's kernel."
    )
