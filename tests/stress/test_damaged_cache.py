"""A cache folder that is full, read-only, gone, of another version or damaged: right results, one warning at most.

``NXKERNEL_STRESS_DAMAGES`` says how many files are damaged in test_damaged_files.
"""

import os
import random
import re
import shutil
import subprocess
import time

import pytest

from nxkernel.compilers.cache import disk_cache
from stress_testing import stressing

pytestmark = pytest.mark.stress

#: Programs that every process runs.
NUMBERS = [1, 2, 3, 4]

# Runs programs, checks them, and tells what came from where and every warning. `between` may do something on the way.
_PROCESS = """
import os, sys, warnings
heard = []
warnings.showwarning = lambda text, kind, *_, **__: heard.append(f"{kind.__name__}: {str(text).splitlines()[0]}")
warnings.simplefilter("always")
import nxkernel as nx
from stress_testing import stressing

BEFORE

def use(numbers):
    compiled = disk = 0
    for number in numbers:
        f = nx.jit(stressing.program(number)[0])
        assert stressing.is_right(number, f(stressing.argument())), number
        f.why(stressing.argument()[:7])
        compiled, disk = compiled + f.cache_info().compiled, disk + f.cache_info().disk
    return compiled, disk

numbers = list(map(int, sys.argv[1:]))
compiled, disk = use(numbers)
BETWEEN
print(compiled, disk)
print("\\n".join(heard))
"""


def process(folder, numbers=NUMBERS, before="", between="", **more):
    """Kernels that a new process compiled, those that it read, and its warnings; it must say nothing else."""
    text = _PROCESS.replace("BEFORE", before).replace("BETWEEN", between)
    printed, said = stressing.run(text, *numbers, folder=folder, **more)
    first, *heard = printed.splitlines()
    assert said == ""
    compiled, disk = map(int, first.split())
    return compiled, disk, [line for line in heard if line]


@pytest.fixture
def folder(tmp_path):
    """A folder in which a process has left its programs."""
    compiled, disk, heard = process(tmp_path / "cache")
    assert (disk, heard) == (0, [])
    assert process(tmp_path / "cache") == (0, compiled, [])
    return tmp_path / "cache"


def damage(path, choose):
    """Change a file at a random place; how."""
    data = bytearray(path.read_bytes())
    kind = choose.choice(["bits", "cut", "zeros", "longer", "empty", "other"])
    place = choose.randrange(len(data))
    if kind == "bits":
        for _ in range(choose.choice([1, 1, 1, 8])):
            data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
    elif kind == "cut":
        del data[place:]
    elif kind == "zeros":
        length = min(choose.choice([16, 512, 4096]), len(data) - place)
        data[place : place + length] = bytes(b ^ 0xFF if not b else 0 for b in data[place : place + length])
    elif kind == "longer":
        data += choose.randbytes(choose.randint(1, 100))
    elif kind == "empty":
        data.clear()
    else:
        # Another whole file, under a wrong name.
        others = [other for other in path.parent.iterdir() if other != path and stressing.is_whole(other)]
        data = bytearray(choose.choice(others).read_bytes()) if others else data[:-1]
    path.write_bytes(data)
    return kind


def test_damaged_files(folder, say):
    wanted, seed = stressing.many("DAMAGES", 400), stressing.many("SEED", time.time_ns() % 2**32)
    choose = random.Random(seed)
    say(f"\n{wanted} files to damage, seed {seed}")
    done, turns, kinds = 0, 0, {}
    names = {path.name for path in stressing.kept(folder)[0]}
    while done < wanted:
        whole, _ = stressing.kept(folder)
        assert {path.name for path in whole} == names
        damaged = choose.sample(whole, choose.choice([1, len(whole) // 2, len(whole)]))
        for path in damaged:
            kind = damage(path, choose)
            kinds[kind] = kinds.get(kind, 0) + 1
            assert not stressing.is_whole(path)
        heard = process(folder)[2]
        assert len(heard) == 1, heard
        assert re.fullmatch(r"CacheWarning: a file of the kernel cache was damaged: nx[kpg]_\w+", heard[0])
        # What is not needed, such as a kernel of a program whose record is damaged, is read some other time.
        left = [path for path in stressing.kept(folder)[0] if not stressing.is_whole(path)]
        for path in left:
            path.unlink()
        again, _, heard = process(folder)
        assert heard == []
        assert again <= len(left)
        done, turns = done + len(damaged), turns + 1
        if turns % 10 == 0:
            say(f"{done} files damaged in {turns} turns: {kinds}")
    assert process(folder)[1] == process(folder)[1] > 0
    say(f"{done} files damaged in {turns} turns: {kinds}")


def test_files_as_large_as_the_process_may_write(tmp_path):
    resource = pytest.importorskip("resource", reason="this system has no such limits")
    compiled, disk, heard = process(
        tmp_path / "cache",
        before=f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, {resource.RLIM_INFINITY}))",
    )
    assert compiled > 0 == disk
    assert heard == ["CacheWarning: cannot write the kernel cache: File too large"]
    assert stressing.kept(tmp_path / "cache")[1] == []
    assert process(tmp_path / "cache")[2] == []


def test_a_full_disk(tmp_path):
    (tmp_path / "small").mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", tmp_path / "small"], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        compiled, _, heard = process(tmp_path / "small", range(1, 9))
        assert heard == ["CacheWarning: cannot write the kernel cache: No space left on device"]
        assert stressing.kept(tmp_path / "small")[1] == []
        again, disk, _ = process(tmp_path / "small", range(1, 9))
        assert again < compiled
        assert disk > 0
    finally:
        subprocess.run(["umount", tmp_path / "small"], check=True)


# The superuser may do what permissions forbid; without these rights it is a user like others.
_WITHOUT_RIGHTS = """
import ctypes
if not os.getuid() and ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()):
    raise OSError("cannot give up rights")
"""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no owners of files")
@pytest.mark.parametrize(
    "what", ["a folder to read", "a folder to list", "a closed folder", "a closed folder in it", "closed files"]
)
def test_a_read_only_folder(folder, what):
    found = [folder, *folder.rglob("*")]
    known = process(folder, before=_WITHOUT_RIGHTS)[1]
    assert known > 0
    for path in found:
        if what == "closed files":
            path.chmod(0o700 if path.is_dir() else 0)
        elif path.is_dir() and not (what == "a closed folder in it" and path == folder):
            path.chmod({"a folder to read": 0o500, "a folder to list": 0o400}.get(what, 0))
    try:
        compiled, disk, heard = process(folder, [*NUMBERS, 5], before=_WITHOUT_RIGHTS)
    finally:
        for path in found:
            path.chmod(0o700)
    assert len(heard) == 1, heard
    assert re.match(r"CacheWarning: cannot (write|read|use) .*: Permission denied", heard[0])
    assert disk == (known if what == "a folder to read" else 0)
    assert compiled > 0


def test_a_folder_that_is_removed_while_it_is_used(folder):
    _, disk, heard = process(folder, between=f"import shutil; shutil.rmtree({str(folder)!r}); use([6, 7]); use([6])")
    assert (disk > 0, heard) == (True, [])
    again, disk, heard = process(folder, [6, 7])
    assert (again, disk > 0, heard) == (0, True, [])


def test_a_file_that_takes_the_place_of_the_folder_while_it_is_used(folder):
    _, _, heard = process(
        folder, between=f"import shutil; shutil.rmtree({str(folder)!r}); os.mknod({str(folder)!r}); use([6, 7])"
    )
    assert len(heard) == 1
    assert heard[0] == f"CacheWarning: cannot use {folder} as kernel cache: Not a directory"


@pytest.mark.parametrize("inner", [False, True], ids=["the folder", "a folder in it"])
def test_a_file_in_the_place_of_the_folder(folder, inner):
    place = next(folder.iterdir()) if inner else folder
    shutil.rmtree(place)
    place.write_text("in the way")
    compiled, disk, heard = process(folder)
    assert compiled > 0 == disk
    assert len(heard) == 1
    assert re.match(r"CacheWarning: cannot use .*: (File exists|Not a directory)", heard[0])
    assert place.read_text() == "in the way"


def test_a_folder_in_the_place_of_a_file(folder):
    for path in stressing.kept(folder)[0]:
        path.unlink()
        path.mkdir()
    _, disk, heard = process(folder)
    assert disk == 0
    assert len(heard) == 1
    assert re.match(r"CacheWarning: cannot (read|write) the kernel cache: Is a directory", heard[0])


# What other versions differ in, as the process sees it before it looks at the cache.
_VERSIONS = {
    "nxkernel": "nx.__version__ = '0.0.1'",
    "llvmlite": "import llvmlite; llvmlite.__version__ = '0.1'",
    "numba": """
import importlib.util, pathlib, types
find, place = importlib.util.find_spec, pathlib.Path(sys.argv[0] or ".").absolute()
other = pathlib.Path(os.environ["OTHER"]); other.mkdir(exist_ok=True)
(other / "_version.py").write_text("version = '0.1'")
spec = types.SimpleNamespace(origin=str(other / "__init__.py"))
importlib.util.find_spec = lambda name, *more: spec if name == "numba" else find(name, *more)
""",
    "processor": "from nxkernel.compilers.numba_cpu.target import target_processor; "
    "target_processor.processor = lambda: 'another one'",
}


@pytest.mark.parametrize("what", _VERSIONS)
def test_another_version(folder, tmp_path, what):
    before = {path: path.read_bytes() for path in stressing.kept(folder)[0]}
    more = {"environment": {"OTHER": str(tmp_path / "other")}}
    compiled, disk, heard = process(folder, before=_VERSIONS[what], **more)
    assert (compiled > 0, disk, heard) == (True, 0, [])
    assert {path: path.read_bytes() for path in before} == before
    assert len(list(folder.iterdir())) == 2
    # Both are there then, and each finds its own.
    assert process(folder, before=_VERSIONS[what], **more) == (0, compiled, [])
    assert process(folder) == (0, compiled, [])


def test_another_python(folder):
    for path in stressing.kept(folder)[0]:
        if path.name.startswith("nxk_runtime"):
            # What reads Python's objects has their layout in its name: that of another Python is another file.
            path.rename(path.with_name(path.name[:-4] + "0000"))
    _, disk, heard = process(folder)
    assert (disk > 0, heard) == (True, [])


def test_processes_with_different_limits(folder, say):
    turns = stressing.many("LIMITS", 40)
    known = len(stressing.kept(folder)[0])
    limit = "from nxkernel.compilers.cache import disk_cache; disk_cache.LIMIT, disk_cache.MOST = {}, {}"
    text = _PROCESS.replace(
        "BETWEEN", f"for turn in range({turns}):\n    use([turn % 12, 20 + turn]); disk_cache.trim()"
    )
    generous = stressing.start(text.replace("BEFORE", limit.format(1 << 30, 1 << 15)), 1, 2, folder=folder)
    strict = stressing.start(text.replace("BEFORE", limit.format(100_000, 6)), 1, 2, folder=folder)
    for one in (generous, strict):
        printed, said = one.communicate(timeout=300)
        assert one.returncode == 0, said
        assert said == ""
        assert printed.splitlines()[1:] in ([], [""])
    whole, temporary = stressing.kept(folder)
    assert temporary == []
    assert all(map(stressing.is_whole, whole))
    process(folder, before=limit.format(100_000, 6), between="disk_cache.trim()")
    left = stressing.kept(folder)[0]
    assert len(left) <= 6
    say(f"\n{known} files before, {len(whole)} after {turns} turns of both, {len(left)} after the strict one alone")
    assert disk_cache.LIMIT == 512 << 20
