"""Definitions for GPUs in cells: what is shown of their kernels, and the error where there is no GPU."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import availability, devices

DOUBLED = "%%defn --compiler numba_cuda\ndef doubled(x):\n    return x * 2"

#: What no option for rules of types is shown as.
BY_TEXT = "promotion = None: the text of each function says whose rules hold\nchecked = False, built in\n"


@pytest.fixture
def on_device(shell, monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 1)
    shell.ns["x"] = nx.iota((5,), type="f32")
    shell.run(DOUBLED)
    return shell


def test_a_call_is_answered_by_a_device(on_device):
    result = on_device.run("doubled(x)").value
    assert result.device == "cuda:0"
    assert np.asarray(result).tolist() == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(
    ("form", "part"), [("cuda", "cuda.threadIdx.x"), ("ptx", ".entry nxc_"), ("numba", "def map(")]
)
def test_the_code_of_its_kernels_is_shown(on_device, form, part):
    on_device.run("doubled(x)")
    text = on_device.run(f"%nx source doubled --form {form}").out
    assert text.startswith("# doubled(x: f32[5]): kernel 1 · map of 5, 1 read, 1 write")
    assert part in text


def test_kernels_of_a_cpu_have_no_ptx(on_device):
    on_device.run("%%defn\ndef g(x):\n    return x + 1\ng(x)")
    assert on_device.run("%nx source g --form ptx").err == (
        "UsageError: g(x: f32[5]): no kernel has the form 'ptx'.\n  There are numba, llvm, assembly, module.\n"
    )


def test_a_call_is_inspected(on_device):
    text = on_device.run("%nx inspect doubled(x) --text").out
    assert "compiled by numba_cuda" in text
    assert "in Numba's simulator, whose times say nothing of a GPU" in text
    (line,) = [line for line in text.splitlines() if line.startswith("  kernel 1 · ")]
    assert ", simulated · " in line
    assert line.split(" · ")[-1].endswith("s")


def test_why_tells_what_would_be_compiled(on_device):
    assert on_device.run("%nx why doubled(x)").out.startswith("doubled would compile: first call\n  kernel 1 (map of 5")


def test_options_take_it(on_device):
    assert on_device.run("%nx options compiler=numba_cuda").out.startswith(
        f"compiler = 'numba_cuda', this process\n{BY_TEXT}"
    )
    on_device.run("%%defn\ndef g(x):\n    return x + 1")
    assert on_device.run("g(x)").value.device == "cuda:0"


def test_without_a_gpu_a_cell_says_what_is_missing(shell, monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 0)
    missing = ("the NVIDIA driver (libcuda), which comes with the system, not with pip",)
    monkeypatch.setattr(availability, "state", lambda: availability.Availability(missing, None, ()))
    shell.run(DOUBLED)
    ran = shell.run("doubled(1.0)")
    assert not ran.success
    assert "nxkernel/" not in ran.out
    shown = ran.out[ran.out.rindex("CudaUnavailableError: ") :]
    assert shown.splitlines()[0] == (
        'CudaUnavailableError: the device "cuda:0" needs an NVIDIA GPU, and there is none to be used here.'
    )
    assert "\n  Missing: the NVIDIA driver (libcuda), which comes with the system, not with pip.\n" in shown
    assert '\n  compiler="numba_cpu" runs the same definitions here' in shown


def test_without_a_gpu_auto_takes_the_cpu(shell, monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 0)
    monkeypatch.setattr(availability, "state", lambda: availability.Availability(("a device",), None, ()))
    shell.run("%%defn --compiler auto\ndef doubled(x):\n    return x * 2")
    assert shell.run("doubled(2.0)").value.device == "cpu"
