"""What is said to be in the caches is there."""

import time

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.definitions.calls import graph_cache
from nxkernel_lab.records import cache_contents


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "kernels"))
    disk_cache.reset()
    cache_contents.look_again()
    code_store.forget()
    yield tmp_path / "kernels"
    disk_cache.reset()
    cache_contents.look_again()


@pytest.fixture
def doubled():
    graph_cache.clear()
    table = np.arange(4, dtype=np.float32)

    @nx.defn(compiler="numba_cpu")
    def doubled(t):
        return nx.sin(t) * 2.0 + nx.tensor(table)

    yield doubled
    graph_cache.clear()


def test_programs(doubled):
    begin = time.time()
    for _ in range(3):
        doubled(np.ones(4, np.float32))
    doubled(np.ones(1, np.float32))
    (row,) = cache_contents.functions()
    assert (row["name"], row["programs"], row["limit"], row["hits"]) == ("doubled", 2, 256, 2)
    assert row["signatures"] == ["doubled(t: f32[4])", "doubled(t: f32[1])"]
    assert begin <= row["oldest"] < row["latest"] <= time.time()
    assert row["bytes"] in (0, 32)


def test_kernels_in_memory_and_on_disk(doubled, folder):
    before = cache_contents.memory()
    doubled(np.ones(4, np.float32))
    after = cache_contents.memory()
    assert (after["kernels"] - before["kernels"], after["programs"] - before["programs"]) == (1, 1)
    assert after["bytes"] > before["bytes"]
    assert after["latest"] >= after["oldest"] > 0
    cache_contents.look_again()
    found = cache_contents.disk()
    assert found["on"]
    assert found["whole"]
    assert (found["kernels"], found["records"], found["others"]) == (1, 1, 0)
    sizes = [sum(path.stat().st_size for path in folder.rglob(f"nx{kind}_*")) for kind in "kp"]
    assert [found["kernel_bytes"], found["record_bytes"], found["bytes"]] == [*sizes, sum(sizes)]
    assert found["limit"] == 512 << 20
    assert time.time() - 60 < found["oldest"] <= found["latest"]


def test_files_of_other_versions_and_of_programs(folder):
    own, other = disk_cache.directory(), folder / ("0" * 24)
    other.mkdir()
    (own / "nxg_ab").write_bytes(b"12345")
    (own / "nxk_ab").write_bytes(b"123")
    (other / "nxk_ab").write_bytes(b"1")
    (other / "holiday.jpg").write_bytes(b"12")
    found = cache_contents.disk()
    assert (found["kernels"], found["records"], found["others"]) == (1, 1, 1)
    assert (found["kernel_bytes"], found["record_bytes"], found["other_bytes"], found["bytes"]) == (3, 5, 1, 9)


def test_the_disk_is_not_looked_at_all_the_time(folder, monkeypatch):
    (disk_cache.directory() / "nxk_ab").write_bytes(b"123")
    assert cache_contents.disk()["kernels"] == 1
    (disk_cache.directory() / "nxk_cd").write_bytes(b"123")
    assert cache_contents.disk()["kernels"] == 1
    cache_contents.look_again()
    assert cache_contents.disk()["kernels"] == 2


def test_functions_of_one_name_are_told_apart():
    space = {"nx": nx, "__name__": "a_cell"}
    for text in ("def f(x):\n    return x + 1", "def f(x):\n    return x + 2"):
        exec(f"@nx.defn(compiler='evaluator')\n{text}", space)
        space["f"](1.0)
    assert [row["label"] for row in cache_contents.functions()] == ["f (before its code changed)", "f"]
    nx.jit(lambda x: x * 3, compiler="evaluator")(1.0)
    nx.jit(lambda x: x - 1, compiler="evaluator")(1.0)
    labels = [row["label"] for row in cache_contents.functions()]
    line = int(labels[-1].rpartition(" ")[2].rstrip(")"))
    assert labels[2:] == [f"<lambda> (first called in test_cache_contents.py, line {n})" for n in (line - 1, line)]


def test_what_was_counted_stays_until_all_was_counted_again(folder, monkeypatch):
    for number in range(3):
        (disk_cache.directory() / f"nxk_{number}").write_bytes(b"123")
    monkeypatch.setattr(cache_contents, "PAUSE", 0.0)
    monkeypatch.setattr(cache_contents, "REST", 0)
    cache_contents.look_again()
    monkeypatch.setattr(cache_contents, "LOOK", -1.0)
    cache_contents._disk.reset()
    assert (cache_contents.disk()["kernels"], cache_contents.disk()["whole"]) == (0, False)
    monkeypatch.setattr(cache_contents, "LOOK", 60.0)
    cache_contents._disk.reset()
    assert (cache_contents.disk()["kernels"], cache_contents.disk()["whole"]) == (3, True)
    monkeypatch.setattr(cache_contents._disk, "_seconds", -1.0)
    (disk_cache.directory() / "nxk_3").write_bytes(b"123")
    assert (cache_contents.disk()["kernels"], cache_contents.disk()["whole"]) == (3, True)


def test_a_look_ends(folder):
    for number in range(3):
        (disk_cache.directory() / f"nxk_{number}").write_bytes(b"123")
    assert disk_cache.summary(-1.0) == disk_cache.CacheSummary(complete=False)
    assert disk_cache.summary().kernels == 3


def test_without_a_disk(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")
    disk_cache.reset()
    cache_contents.look_again()
    found = cache_contents.disk()
    assert (found["on"], found["folder"], found["bytes"]) == (False, "", 0)
    monkeypatch.undo()
    disk_cache.reset()
    cache_contents.look_again()


def test_ones_own_folder_is_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "kernels"))
    disk_cache.reset()
    cache_contents.look_again()
    assert cache_contents.disk()["folder"] == "~/kernels"
    monkeypatch.undo()
    disk_cache.reset()
    cache_contents.look_again()
