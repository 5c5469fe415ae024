"""What is said where no GPU can be used."""

import pytest

from nxkernel.backends.cuda import availability
from nxkernel.errors import CudaUnavailableError


@pytest.fixture(autouse=True)
def fresh():
    """Look at the machine in each test, and after the last."""
    availability.state.cache_clear()
    yield
    availability.state.cache_clear()


def refused(what="the device"):
    with pytest.raises(CudaUnavailableError) as caught:
        availability.require(what)
    assert not availability.is_available()
    return str(caught.value)


END = (
    '  compiler="numba_cpu" runs the same definitions here, and compiler="auto" takes what there is.\n'
    "  With NUMBA_ENABLE_CUDASIM=1 in the environment a simulator on the processor runs it, slowly."
)


def test_without_a_driver(monkeypatch):
    monkeypatch.setattr(availability, "_has_driver", lambda: False)
    monkeypatch.setattr(availability, "has_package", lambda module: True)
    assert refused('compiler="numba_cuda"') == (
        'compiler="numba_cuda" needs an NVIDIA GPU, and there is none to be used here.\n'
        "  Missing: the NVIDIA driver (libcuda), which comes with the system, not with pip.\n" + END
    )


def test_without_packages(monkeypatch):
    monkeypatch.setattr(availability, "_has_driver", lambda: True)
    monkeypatch.setattr(availability, "has_package", lambda module: module.startswith("cuda."))
    assert refused() == (
        "the device needs an NVIDIA GPU, and there is none to be used here.\n"
        "  Missing: the package CuPy.\n"
        "  Missing: the package numba-cuda.\n"
        "  pip install 'nxkernel[cuda]' brings the packages.\n" + END
    )


def test_without_a_library(monkeypatch):
    pytest.importorskip("cuda.pathfinder")
    monkeypatch.setattr(availability, "_has_driver", lambda: True)
    monkeypatch.setattr(availability, "has_package", lambda module: True)
    monkeypatch.setattr(availability, "LIBRARIES", {"no_such_library": "nvidia-nothing"})
    assert "  Missing: the library no_such_library (the wheel nvidia-nothing).\n  pip install" in refused()


def test_without_what_a_file_of_the_package_leads_to(monkeypatch):
    pytest.importorskip("cuda.pathfinder")
    monkeypatch.setattr(availability, "_has_driver", lambda: True)
    monkeypatch.setattr(availability, "has_package", lambda module: module != "numba.cuda")
    monkeypatch.setattr(availability, "LIBRARIES", {})
    assert "  Missing: the package numba.cuda, to which a .pth file of numba-cuda leads.\n  pip install" in refused()


class Runtime:
    """What CuPy offers of CUDA's runtime, as far as it is asked."""

    def __init__(self, version=13000, devices=(), error=None):
        self.version, self.devices, self.error = version, devices, error

    def driverGetVersion(self):
        return self.version

    def getDeviceCount(self):
        if self.error:
            raise RuntimeError(self.error)
        return len(self.devices)

    def getDeviceProperties(self, index):
        return {"name": self.devices[index].encode()}


@pytest.mark.parametrize(
    ("runtime", "missing"),
    [
        (Runtime(), "a device: the driver finds no NVIDIA GPU"),
        (Runtime(error="cudaErrorNoDevice: no CUDA-capable device is detected"), "a device: the driver finds"),
        (
            Runtime(12040, error="cudaErrorInsufficientDriver: too old"),
            "a newer NVIDIA driver: this one is for CUDA 12.4, and the installed packages are newer "
            "(nxkernel[cuda12] has those for CUDA 12).",
        ),
        (Runtime(error="cudaErrorUnknown"), "a driver that works: cudaErrorUnknown."),
    ],
)
def test_a_driver_without_a_device(monkeypatch, runtime, missing):
    monkeypatch.setattr(pytest.importorskip("cupy.cuda"), "runtime", runtime)
    monkeypatch.setattr(availability, "_has_driver", lambda: True)
    monkeypatch.setattr(availability, "_missing_libraries", list)
    assert f"  Missing: {missing}" in refused()


def test_a_device_that_can_be_used(monkeypatch):
    monkeypatch.setattr(pytest.importorskip("cupy.cuda"), "runtime", Runtime(devices=("NVIDIA H100",)))
    monkeypatch.setattr(availability, "_has_driver", lambda: True)
    monkeypatch.setattr(availability, "_missing_libraries", list)
    assert availability.is_available()
    assert availability.require() == availability.Availability((), "13.0", ("NVIDIA H100",))
