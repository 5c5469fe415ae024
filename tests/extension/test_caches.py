"""What is said to be in the caches is there."""

import time

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers import disk_cache
from nxkernel.compilers.numba_cpu import store
from nxkernel.defn import cache
from nxkernel_lab import caches


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "kernels"))
    disk_cache.reset()
    caches.look_again()
    store.forget()
    yield tmp_path / "kernels"
    disk_cache.reset()
    caches.look_again()


@pytest.fixture
def doubled():
    cache.clear()
    table = np.arange(4, dtype=np.float32)

    @nx.defn(compiler="numba_cpu")
    def doubled(t):
        return nx.sin(t) * 2.0 + nx.tensor(table)

    yield doubled
    cache.clear()


def test_programs(doubled):
    begin = time.time()
    for _ in range(3):
        doubled(np.ones(4, np.float32))
    doubled(np.ones(1, np.float32))
    (row,) = caches.functions()
    assert (row["name"], row["programs"], row["limit"], row["hits"]) == ("doubled", 2, 256, 2)
    assert row["signatures"] == ["doubled(t: f32[4])", "doubled(t: f32[1])"]
    assert begin <= row["oldest"] < row["latest"] <= time.time()
    assert row["bytes"] in (0, 32)


def test_kernels_in_memory_and_on_disk(doubled, folder):
    before = caches.memory()
    doubled(np.ones(4, np.float32))
    after = caches.memory()
    assert after["kernels"] > before["kernels"]
    assert after["bytes"] > before["bytes"]
    assert after["latest"] >= after["oldest"] > 0
    caches.look_again()
    found = caches.disk()
    assert found["on"]
    assert found["whole"]
    assert found["kernels"] >= 1
    assert found["others"] == found["records"] == 0
    assert found["bytes"] == found["kernel_bytes"] == sum(path.stat().st_size for path in folder.rglob("nx?_*"))
    assert found["limit"] == 512 << 20
    assert time.time() - 60 < found["oldest"] <= found["latest"]


def test_files_of_other_versions_and_of_programs(folder):
    own, other = disk_cache.directory(), folder / ("0" * 24)
    other.mkdir()
    (own / "nxg_ab").write_bytes(b"12345")
    (own / "nxk_ab").write_bytes(b"123")
    (other / "nxk_ab").write_bytes(b"1")
    (other / "holiday.jpg").write_bytes(b"12")
    found = caches.disk()
    assert (found["kernels"], found["records"], found["others"]) == (1, 1, 1)
    assert (found["kernel_bytes"], found["record_bytes"], found["other_bytes"], found["bytes"]) == (3, 5, 1, 9)


def test_the_disk_is_not_looked_at_all_the_time(folder, monkeypatch):
    (disk_cache.directory() / "nxk_ab").write_bytes(b"123")
    assert caches.disk()["kernels"] == 1
    (disk_cache.directory() / "nxk_cd").write_bytes(b"123")
    assert caches.disk()["kernels"] == 1
    caches.look_again()
    assert caches.disk()["kernels"] == 2


def test_a_look_ends(folder):
    for number in range(3):
        (disk_cache.directory() / f"nxk_{number}").write_bytes(b"123")
    assert disk_cache.survey(-1.0) == disk_cache.Kept(whole=False)
    assert disk_cache.survey().kernels == 3


def test_without_a_disk(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")
    disk_cache.reset()
    caches.look_again()
    found = caches.disk()
    assert (found["on"], found["folder"], found["bytes"]) == (False, "", 0)
    monkeypatch.undo()
    disk_cache.reset()
    caches.look_again()


def test_ones_own_folder_is_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "kernels"))
    disk_cache.reset()
    caches.look_again()
    assert caches.disk()["folder"] == "~/kernels"
    monkeypatch.undo()
    disk_cache.reset()
    caches.look_again()
