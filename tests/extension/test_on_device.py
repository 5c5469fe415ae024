"""What views show of kernels for GPUs: how they are launched, their code, and times of a simulator."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import devices
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain import object_code
from nxkernel_lab import Inspector, to_text
from nxkernel_lab.inspector.page_data import graph
from nxkernel_lab.inspector.widget import kernel_text
from nxkernel_lab.records.cache_clearing import Clearing, ClearRequest


@pytest.fixture
def scaled(monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 1)

    @nx.defn(compiler="numba_cuda")
    def scaled(x):
        return nx.exp(x) * 2

    scaled(np.arange(6, dtype=np.float32))
    return scaled


def test_the_page_is_told_how_a_kernel_is_launched(scaled):
    (view,) = scaled.compilations()
    (kernel,) = graph(view)["kernels"].values()
    assert kernel["about"][-1] == view.kernels[0].launch
    assert view.kernels[0].launch.endswith(", simulated")
    assert kernel["forms"] == ["Numba source", "Numba CUDA source", "PTX"]


def test_its_code_is_shown_in_all_forms(scaled):
    (view,) = scaled.compilations()
    assert kernel_text(view, 0, "Numba CUDA source").startswith("def map(a, b, ")
    assert ".target sm_90" in kernel_text(view, 0, "PTX")


def test_a_measured_call_names_the_simulator(scaled):
    view = scaled.measure(np.arange(6, dtype=np.float32))
    inspector = Inspector(scaled, view)
    try:
        assert inspector.measured["text"].endswith("in Numba's simulator, whose times say nothing of a GPU.")
        (kernel,) = inspector.graph["kernels"].values()
        assert " % of the time on your call, " in kernel["time"]
        assert "B/s" not in kernel["time"]
        assert inspector.choices[0].endswith(" · numba_cuda")
    finally:
        inspector.close()


def test_the_text_tells_launches_without_times_too(scaled):
    (line,) = [each for each in to_text(scaled, times=False).splitlines() if each.startswith("  kernel 1")]
    assert line.endswith(", simulated")


def test_kernels_in_memory_are_forgotten(monkeypatch, tmp_path):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path))
    source = KernelSource("one", "def one(a):\n    a[0] = f32(1.0)\n", ("f32*",))
    object_code.codes([source], "sm_90")
    assert object_code.in_memory()
    assert Clearing().perform(ClearRequest("memory"))["text"].startswith("Forgot ")
    assert object_code.in_memory() == {}
