"""The disk cache: what it keeps, what it survives, what it never touches."""

import os
import subprocess
import sys
import warnings

import pytest

from nxkernel.compilers import disk_cache
from nxkernel.errors import CacheWarning

CODE = bytes(range(256)) * 20


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "cache"))
    disk_cache.reset()
    yield tmp_path / "cache"
    disk_cache.reset()


def only(folder):
    (found,) = (path for path in folder.glob("*/*") if path.is_file())
    return found


def test_round_trip(folder):
    assert disk_cache.read("nxk_a") is None
    disk_cache.write("nxk_a", CODE)
    assert disk_cache.read("nxk_a") == CODE
    assert disk_cache.has("nxk_a")
    assert not disk_cache.has("nxk_b")


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: data[:10], lambda data: b"", lambda data: data[:100] + b"?" + data[101:]],
    ids=["truncated", "header cut", "empty", "flipped"],
)
def test_a_damaged_file_counts_as_missing_and_is_written_anew(folder, damage):
    disk_cache.write("nxk_a", CODE)
    path = only(folder)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(CacheWarning, match="a file of the kernel cache was damaged: nxk_a"):
        assert disk_cache.read("nxk_a") is None
    assert not path.exists()
    disk_cache.write("nxk_a", CODE)
    assert disk_cache.read("nxk_a") == CODE


def test_a_file_under_another_name_is_refused(folder):
    disk_cache.write("nxk_a", CODE)
    only(folder).rename(only(folder).with_name("nxk_b"))
    with pytest.warns(CacheWarning, match="damaged: nxk_b"):
        assert disk_cache.read("nxk_b") is None


def test_a_folder_that_cannot_be_made_costs_one_warning(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "file" / "cache"))
    disk_cache.reset()
    with pytest.warns(CacheWarning, match="Set NXKERNEL_CACHE_DIR to a folder that you can write, or to off"):
        disk_cache.write("nxk_a", CODE)
    assert disk_cache.read("nxk_a") is None
    disk_cache.write("nxk_a", CODE)
    disk_cache.reset()


def test_a_full_disk_costs_one_warning(folder, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    assert disk_cache.directory() is not None
    monkeypatch.setattr(disk_cache.tempfile, "NamedTemporaryFile", full)
    with pytest.warns(CacheWarning, match="cannot write the kernel cache: No space left on device"):
        disk_cache.write("nxk_a", CODE)
    disk_cache.write("nxk_b", CODE)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of files")
def test_a_folder_that_others_can_write_is_not_used(folder):
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    with pytest.warns(CacheWarning, match="others can write there\n.*\n  Run chmod go-w"):
        disk_cache.write("nxk_a", CODE)
    assert list(folder.iterdir()) == []


def test_off(monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "off")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        disk_cache.write("nxk_a", CODE)
        assert disk_cache.read("nxk_a") is None


def test_trim_removes_what_was_unused_for_longest(folder):
    for age, name in enumerate(("nxk_new", "nxk_middle", "nxk_old")):
        disk_cache.write(name, CODE)
        os.utime(disk_cache.directory() / name, (1e9 - age, 1e9 - age))
    assert disk_cache.trim(limit=2 * len(CODE) + 200) == 1
    assert [disk_cache.has(name) for name in ("nxk_new", "nxk_middle", "nxk_old")] == [True, True, False]
    assert disk_cache.trim(most=1) == 1
    assert [disk_cache.has(name) for name in ("nxk_new", "nxk_middle", "nxk_old")] == [True, False, False]


def test_what_another_process_removed_meanwhile_makes_room(folder, monkeypatch):
    for age, name in enumerate(("nxk_new", "nxk_middle", "nxk_old")):
        disk_cache.write(name, CODE)
        os.utime(disk_cache.directory() / name, (1e9 - age, 1e9 - age))
    found = list(disk_cache.files())
    (disk_cache.directory() / "nxk_old").unlink()
    monkeypatch.setattr(disk_cache, "files", lambda: found)
    assert disk_cache.trim(most=2) == 0
    assert [disk_cache.has(name) for name in ("nxk_new", "nxk_middle")] == [True, True]


def test_what_is_written_keeps_files_few(folder, monkeypatch):
    monkeypatch.setattr(disk_cache, "MOST", 8)
    for number in range(1000):
        disk_cache.write(f"nxk_{number}", CODE)
    assert len(list(disk_cache.files())) < 900


def test_only_files_of_its_own_are_ever_removed(folder):
    disk_cache.write("nxk_a", CODE)
    project = folder / "project"
    project.mkdir()
    for path in (project / ".gitignore", project / "nxk_mine", only(folder).with_name("notes.txt")):
        path.write_text("somebody's")
        os.utime(path, (0, 0))
    disk_cache.trim(limit=0)
    assert disk_cache.clear() == 0
    assert sorted(path.name for path in folder.glob("*/*")) == [".gitignore", "notes.txt", "nxk_mine"]


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    program = (
        "import nxkernel as nx, numpy as np\n"
        "f = nx.jit(lambda x: nx.exp(x) * 3 + nx.sum(x))\n"
        "print(float(nx.sum(f(np.arange(5.0)))), f.cache_info().compiled, f.cache_info().disk)"
    )
    environment = {**os.environ, "NXKERNEL_CACHE_DIR": str(tmp_path)}
    run = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    (value, *first), (again, *second) = (done.stdout.split() for done in run)
    assert value == again
    assert first[1] == second[0] == "0"
    assert first[0] == second[1] != "0"
