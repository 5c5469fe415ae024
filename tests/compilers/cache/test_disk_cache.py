"""The disk cache: what it keeps, what it survives, what it never touches."""

import os
import shutil
import subprocess
import sys
import warnings

import pytest

from nxkernel.compilers.cache import disk_cache, file_trust
from nxkernel.errors import CacheWarning

CODE = bytes(range(256)) * 20
OWNERS = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners of files")
AS_ROOT = pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root can give files to other users"
)


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


@OWNERS
def test_a_folder_that_others_can_write_is_not_used(folder):
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    with pytest.warns(CacheWarning) as told:
        disk_cache.write("nxk_a", CODE)
    assert [str(each.message) for each in told] == [
        f"{folder} is not used as kernel cache: others can write {folder}\n"
        "  Results are the same; kernels are kept in memory.\n"
        f"  Run chmod go-w {folder}, or set NXKERNEL_CACHE_DIR to a folder that nobody else can write, or to off."
    ]
    assert disk_cache.read("nxk_a") is None
    assert list(folder.iterdir()) == []


@OWNERS
@pytest.mark.parametrize("mode", [0o770, 0o777])
def test_a_subfolder_that_others_can_write_is_not_used(folder, mode, monkeypatch):
    monkeypatch.setattr(file_trust, "_is_private_group", lambda group: False)
    disk_cache.write("nxk_a", CODE)
    inner = disk_cache.directory()
    inner.chmod(mode)
    for _ in range(2):
        # Seen in the process that has it open, and in a new one.
        with pytest.warns(CacheWarning) as told:
            assert disk_cache.read("nxk_a") is None
        disk_cache.write("nxk_b", CODE)
        assert f"others can write {inner}" in str(told[0].message)
        assert f"Run chmod go-w {inner}, or set" in str(told[0].message)
        disk_cache.reset()
    assert [path.name for path in inner.iterdir()] == ["nxk_a"]


@OWNERS
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_written_anew(folder, mode, monkeypatch):
    monkeypatch.setattr(file_trust, "_is_private_group", lambda group: False)
    disk_cache.write("nxk_a", CODE)
    only(folder).chmod(mode)
    with pytest.warns(CacheWarning) as told:
        assert disk_cache.read("nxk_a") is None
    assert str(told[0].message) == (
        f"a file of the kernel cache may be somebody else's: others can write {disk_cache.directory() / 'nxk_a'}\n"
        "  Results are the same; kernels are kept in memory.\n"
        "  It is compiled again and written anew."
    )
    disk_cache.write("nxk_a", CODE)
    assert disk_cache.read("nxk_a") == CODE
    assert only(folder).stat().st_mode & 0o777 == 0o600


@OWNERS
@AS_ROOT
def test_what_belongs_to_others_is_not_used(folder):
    disk_cache.write("nxk_a", CODE)
    os.chown(only(folder), 12345, 12345)
    with pytest.warns(
        CacheWarning, match="nxk_a belongs to the user 12345\n.*\n  It is compiled again and written anew"
    ):
        assert disk_cache.read("nxk_a") is None
    disk_cache.write("nxk_a", CODE)
    assert disk_cache.read("nxk_a") == CODE
    inner = disk_cache.directory()
    for path in (inner, folder):
        disk_cache.reset()
        os.chown(path, 12345, 12345)
        with pytest.warns(CacheWarning) as told:
            assert disk_cache.read("nxk_a") is None
        assert str(told[0].message) == (
            f"{folder} is not used as kernel cache: {path} belongs to the user 12345\n"
            "  Results are the same; kernels are kept in memory.\n"
            f"  Run chown 0 {path}, as root, or set NXKERNEL_CACHE_DIR to a folder that nobody else can write, "
            "or to off."
        )


@OWNERS
def test_links_in_the_folder_are_not_followed(folder, tmp_path):
    disk_cache.write("nxk_a", CODE)
    only(folder).rename(tmp_path / "elsewhere")
    (disk_cache.directory() / "nxk_a").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(CacheWarning, match="nxk_a is a link"):
        assert disk_cache.read("nxk_a") is None
    disk_cache.write("nxk_a", CODE)
    assert disk_cache.read("nxk_a") == CODE
    inner = disk_cache.directory()
    disk_cache.reset()
    inner.rename(tmp_path / "inner")
    inner.symlink_to(tmp_path / "inner")
    with pytest.warns(CacheWarning, match=f"{inner} is a link\n.*\n  Remove {inner}, or set NXKERNEL_CACHE_DIR"):
        assert disk_cache.read("nxk_a") is None
    assert disk_cache.clear() == 0
    assert [path.name for path in (tmp_path / "inner").iterdir()] == ["nxk_a"]


def test_what_is_no_file_keeps_nobody_waiting(folder):
    disk_cache.write("nxk_a", CODE)
    only(folder).unlink()
    (os.mkfifo if hasattr(os, "mkfifo") else os.mkdir)(disk_cache.directory() / "nxk_a")
    with pytest.warns(CacheWarning, match="nxk_a is no file"):
        assert disk_cache.read("nxk_a") is None
    disk_cache.write("nxk_a", CODE)
    assert disk_cache.read("nxk_a") == CODE


@OWNERS
def test_new_folders_are_for_the_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "one" / "two" / "three"))
    monkeypatch.setenv("NXKERNEL_CACHE_KEY", str(tmp_path / "keys" / "mine" / "key"))
    disk_cache.reset()
    before = os.umask(0)
    try:
        disk_cache.write("nxk_a", CODE)
    finally:
        os.umask(before)
    made = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert len(made) == 6
    assert {path.stat().st_mode & 0o7777 for path in made} == {0o700}
    assert {path.stat().st_mode & 0o7777 for path in tmp_path.rglob("*") if path.is_file()} == {0o600}
    disk_cache.reset()


def test_a_relative_folder_is_that_of_the_first_moment(tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", "cache")
    disk_cache.reset()
    disk_cache.write("nxk_a", CODE)
    monkeypatch.chdir(tmp_path / "there")
    assert disk_cache.read("nxk_a") == CODE
    disk_cache.write("nxk_b", CODE)
    assert sorted(path.name for path in (tmp_path / "here" / "cache").glob("*/*")) == ["nxk_a", "nxk_b"]
    assert list((tmp_path / "there").iterdir()) == []
    disk_cache.reset()


def test_a_folder_that_went_is_made_again(folder):
    disk_cache.write("nxk_a", CODE)
    shutil.rmtree(folder)
    assert disk_cache.read("nxk_a") is None
    disk_cache.write("nxk_a", CODE)
    assert disk_cache.read("nxk_a") == CODE


@OWNERS
def test_a_process_that_closed_all_its_files_opens_the_folder_again(folder):
    program = (
        "import os, sys; from nxkernel.compilers.cache import disk_cache\n"
        "disk_cache.write('nxk_a', b'code')\n"
        "os.closerange(3, 200)\n"
        "kept = [open('/dev/null') for _ in range(30)]\n"
        "disk_cache.write('nxk_b', b'more'); print(disk_cache.read('nxk_a'), disk_cache.read('nxk_b'))\n"
        "disk_cache.reset(); print(sum(not file.closed and os.fstat(file.fileno()) is not None for file in kept))"
    )
    environment = {**os.environ, "NXKERNEL_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["b'code' b'more'", "30"]


def test_files_of_another_key_are_left_alone_and_written_anew(folder, tmp_path, monkeypatch):
    for name in ("nxk_a", "nxk_b"):
        disk_cache.write(name, CODE)
    monkeypatch.setenv("NXKERNEL_CACHE_KEY", str(tmp_path / "another"))
    with pytest.warns(CacheWarning) as told:
        assert [disk_cache.read(name) for name in ("nxk_a", "nxk_b")] == [None, None]
    assert not disk_cache.has("nxk_a")
    assert [str(each.message) for each in told] == [
        f"files of the kernel cache were made with another key than that in {tmp_path / 'another'}, such as nxk_a in "
        f"{disk_cache.directory()}: the folder is shared, or a copy.\n"
        "  Results are the same; kernels are kept in memory.\n"
        "  They are compiled again and written anew. To use them, bring the key of where they were made, too."
    ]
    disk_cache.write("nxk_a", CODE[:100])
    assert disk_cache.read("nxk_a") == CODE[:100]
    monkeypatch.delenv("NXKERNEL_CACHE_KEY")
    assert disk_cache.read("nxk_b") == CODE
    assert disk_cache.read("nxk_a") is None


def test_a_copy_with_its_key_is_used(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_KEY", str(tmp_path / "key"))
    disk_cache.write("nxk_a", CODE)
    shutil.copytree(folder, tmp_path / "copy")
    shutil.copy(tmp_path / "key", tmp_path / "key of the other")
    monkeypatch.setenv("NXKERNEL_CACHE_KEY", str(tmp_path / "key of the other"))
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "copy"))
    assert disk_cache.read("nxk_a") == CODE


def test_a_key_inside_of_the_folder_is_no_key(folder, monkeypatch):
    monkeypatch.setenv("NXKERNEL_CACHE_KEY", str(folder / "key"))
    with pytest.warns(CacheWarning) as told:
        disk_cache.write("nxk_a", CODE)
    assert str(told[0].message) == (
        f"{folder} is not used as kernel cache: its key {folder / 'key'} lies inside, and would go along\n"
        "  Results are the same; kernels are kept in memory.\n"
        "  Set NXKERNEL_CACHE_KEY to a file elsewhere, which is made, or NXKERNEL_CACHE_DIR to off."
    )
    assert disk_cache.read("nxk_a") is None


def test_without_a_place_for_the_key_there_is_no_cache(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NXKERNEL_CACHE_KEY", str(tmp_path / "file" / "key"))
    with pytest.warns(CacheWarning) as told:
        disk_cache.write("nxk_a", CODE)
    assert str(told[0].message) == (
        f"the kernel cache is not used: cannot read its key {tmp_path / 'file' / 'key'}: Not a directory\n"
        "  Results are the same; kernels are kept in memory.\n"
        "  Set NXKERNEL_CACHE_KEY to a file elsewhere, which is made, or NXKERNEL_CACHE_DIR to off."
    )
    monkeypatch.setattr(disk_cache.Path, "expanduser", lambda path: (_ for _ in ()).throw(RuntimeError()))
    monkeypatch.delenv("NXKERNEL_CACHE_KEY")
    disk_cache.reset()
    with pytest.warns(CacheWarning, match="there is no home directory"):
        disk_cache.write("nxk_a", CODE)


@OWNERS
def test_a_key_that_others_can_read_is_no_key(folder, tmp_path, monkeypatch):
    key = tmp_path / "key"
    monkeypatch.setenv("NXKERNEL_CACHE_KEY", str(key))
    disk_cache.write("nxk_a", CODE)
    for mode, why in ((0o640, f"others can read {key}"), (0o600, f"{key} has 5 bytes, a key has 32")):
        if mode == 0o600:
            key.write_bytes(b"short")
        key.chmod(mode)
        disk_cache.reset()
        with pytest.warns(CacheWarning) as told:
            assert disk_cache.read("nxk_a") is None
        assert str(told[0].message) == (
            f"the kernel cache is not used, for its key may be somebody else's: {why}\n"
            "  Results are the same; kernels are kept in memory.\n"
            f"  Remove {key}: another key is made."
        )


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
    monkeypatch.setattr(disk_cache.Folder, "_place", full)
    with pytest.warns(CacheWarning, match="cannot write the kernel cache: No space left on device"):
        disk_cache.write("nxk_a", CODE)
    disk_cache.write("nxk_b", CODE)
    assert list(disk_cache.files()) == []


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
