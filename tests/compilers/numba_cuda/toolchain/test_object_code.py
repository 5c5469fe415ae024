"""Sources to machine code: what it is called, where it comes from, what is refused. No GPU is needed."""

import re
import time

import numpy as np
import pytest

from nxkernel.backends.cuda import devices
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain import object_code, worker_pool
from nxkernel.errors import CompilationError

ARCHITECTURES = ["sm_80", "sm_90"]


def scaled(by, name="scaled"):
    text = f"""
def {name}(a, b, n, c):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < n:
        b[i] = f32(exp(a[i]) * c + f32({by}))
        i += s64(cuda.gridDim.x * cuda.blockDim.x)
"""
    return KernelSource(name, text, ("f32*", "f32*", "s64", "f32"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache folder, and nothing in memory."""
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "cache"))
    disk_cache.reset()
    object_code.forget()
    yield
    object_code.forget()
    disk_cache.reset()


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_ptx(arch):
    source = scaled(1)
    text = object_code.ptx(source, arch)
    assert f".target {arch}" in text
    assert re.findall(r"\.visible \.entry (\w+)\(", text) == [source.symbol]
    # One word an argument, in the order and the widths of the source.
    assert re.findall(r"\.param (?:\.align \d+ )?\.(\w+) (?:\.ptr.*? )?\w+_param_\d", text) == ["u64"] * 2 + [
        "u64",
        "f32",
    ]
    assert object_code.ptx(source, arch) is text


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_code_is_an_object_file_with_the_kernel(arch):
    ((code, origin, ms),) = object_code.codes([scaled(2)], arch)
    assert code.startswith(b"\x7fELF")
    assert scaled(2).symbol.encode() in code
    assert origin == "compiled"
    assert 1 < ms < 60_000


def test_from_memory_and_from_disk():
    sources = [scaled(3), scaled(4), scaled(3)]
    assert object_code.whereabouts(sources[0], "sm_90") == "compiled"
    first = object_code.codes(sources, "sm_90")
    assert [each.origin for each in first] == ["compiled"] * 3
    assert first[0].code == first[2].code != first[1].code
    assert [each.origin for each in object_code.codes(sources, "sm_90")] == ["memory"] * 3
    sizes = {(each.symbol, "sm_90"): len(code.code) for each, code in zip(sources, first, strict=True)}
    kept = object_code.in_memory()
    assert {key: size for key, (size, _) in kept.items()} == sizes
    assert all(0 <= time.time() - when < 600 for _, when in kept.values())
    assert object_code.forget() == 2
    assert object_code.whereabouts(sources[0], "sm_90") == "disk"
    again = object_code.codes(sources, "sm_90")
    assert [each.origin for each in again] == ["disk"] * 3
    assert [each.code for each in again] == [each.code for each in first]
    # Another architecture is another code.
    assert object_code.whereabouts(sources[0], "sm_80") == "compiled"


def test_files_are_the_caches_own():
    object_code.codes([scaled(5)], "sm_90")
    (entry,) = disk_cache.files()
    assert re.fullmatch(r"nxc_[0-9a-f]{40}_sm_90_[0-9a-f]{12}", entry.name)
    assert disk_cache.clear() == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def wrong(a):\n    a[0] = nowhere(a[1])\n", "line 2, a[0] = nowhere(a[1]): nowhere of float32 is not known"),
        ("def wrong(a):\n    a[0] = 'text'\n", "the kernel wrong does not compile for sm_90."),
    ],
)
def test_what_does_not_compile(text, told):
    with pytest.raises(CompilationError, match=r"^the kernel wrong does not compile for sm_90\.\n  ") as caught:
        object_code.codes([KernelSource("wrong", text, ("f32*",))], "sm_90")
    assert told in str(caught.value)


def test_ptx_that_does_not_link():
    with pytest.raises(CompilationError, match=r"the PTX of broken does not link for sm_90: ERROR") as caught:
        object_code.linked(".version 8.0\n.target sm_90\n.address_size 64\nnonsense\n", "broken", "sm_90")
    assert len(str(caught.value).splitlines()) > 1


def test_a_simulated_device_needs_no_code():
    devices.use_simulator()
    try:
        device, source = devices.device(), scaled(6)
        first, second = object_code.loaded(device, [source, source])
        assert first.kernel is second.kernel
        assert (first.origin, second.origin) == ("compiled", "memory")
        assert object_code.loaded(device, [source])[0].origin == "memory"
        a, b = device.upload(np.array([0, 1], np.float32)), device.allocate((2,), np.float32)
        launch = device.prepare(first.kernel, (1,), (2,), 0, [2, 0.5])
        launch.point([a.pointer, b.pointer])
        device.launch(launch)
        np.testing.assert_allclose(b.host(), [6.5, 6 + np.e / 2], rtol=1e-6)
        assert object_code.in_memory() == {}
    finally:
        devices.reset()


def test_a_device_loads_each_code_once(monkeypatch):
    class Device:
        arch, simulated, loads = "sm_80", False, []

        def load(self, source, code):
            self.loads.append((source.symbol, code[:4]))
            return source.symbol

    device, sources = Device(), [scaled(7), scaled(8), scaled(7)]
    found = object_code.loaded(device, sources)
    assert [each.kernel for each in found] == [each.symbol for each in sources]
    assert device.loads == [(each.symbol, b"\x7fELF") for each in sources[:2]]
    assert [each.origin for each in object_code.loaded(device, sources)] == ["memory"] * 3
    assert len(device.loads) == 2


@pytest.mark.slow
def test_the_simulators_environment_has_ptx_too(monkeypatch):
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    try:
        text = object_code.ptx(scaled(9), "sm_80")
        assert f".entry {scaled(9).symbol}(" in text
        with pytest.raises(
            CompilationError, match=r"there is no PTX of the kernel wrong\.\n  the kernel wrong does not"
        ):
            object_code.ptx(KernelSource("wrong", "def wrong(a):\n    a[0] = nowhere\n", ("f32*",)), "sm_80")
    finally:
        worker_pool.stop()
