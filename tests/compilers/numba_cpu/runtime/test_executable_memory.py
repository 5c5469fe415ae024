"""Memory for machine code: shared by many, given back, and refused in words where there is none left."""

import ctypes
import gc
import os
import random
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from nxkernel.compilers.numba_cpu.runtime import loader

pytestmark = [
    pytest.mark.skipif(not loader.OWN, reason="on this system LLVM places machine code"),
    pytest.mark.usefixtures("little_garbage"),
]

if loader.OWN:
    from nxkernel.compilers.numba_cpu.runtime import executable_memory
    from nxkernel.compilers.numba_cpu.runtime.executable_memory import ALIGNMENT, SLAB, _Slab, take

#: A function of x86-64 that returns a number: mov eax, number; ret.
RETURNS = b"\xb8%b\xc3"


@pytest.fixture(autouse=True)
def own_slabs(monkeypatch):
    """Slabs that no program is in."""
    gc.collect()
    monkeypatch.setattr(executable_memory, "_slabs", [])
    monkeypatch.setattr(executable_memory, "_released", executable_memory.deque())


def returning(number):
    block = take(6)
    block.write(RETURNS % number.to_bytes(4, "little"))
    return block


def call(block):
    return ctypes.CFUNCTYPE(ctypes.c_int32)(block.address)()


def protections():
    """How the memory of this process may be used, by address."""
    with open("/proc/self/maps") as file:
        found = [re.match(r"(\w+)-(\w+) (\S+)", line).groups() for line in file]
    return [(int(start, 16), int(end, 16), how) for start, end, how in found]


def test_code_that_was_placed_runs():
    blocks = [returning(number) for number in range(100)]
    assert [call(block) for block in blocks] == list(range(100))
    assert executable_memory.taken() == (1, 100 * ALIGNMENT)


def test_blocks_begin_at_lines_of_the_cache():
    assert [take(size).address % ALIGNMENT for size in (1, 63, 64, 65, 1000)] == [0] * 5


def test_code_may_be_run_and_not_written():
    block = returning(7)
    (how,) = (how for start, end, how in protections() if start <= block.address < end)
    assert how == "r-xp"


def test_what_is_released_is_taken_again():
    blocks = [take(1000) for _ in range(50)]
    addresses = [block.address for block in blocks]
    for block in blocks[10:20]:
        block.release()
    assert take(10 * 1024).address == addresses[10]
    assert executable_memory.taken() == (1, 50 * 1024)


def test_what_is_large_has_a_mapping_of_its_own():
    small, large = take(100), take(3 * SLAB)
    assert executable_memory.taken() == (2, 128 + 3 * SLAB)
    large.release()
    small.release()
    # One that is empty stays for the next program.
    assert executable_memory.taken() == (1, 0)


def test_mappings_are_given_back():
    blocks = [take(SLAB) for _ in range(5)]
    assert executable_memory.taken() == (5, 5 * SLAB)
    places = [block.address for block in blocks]
    for block in blocks:
        block.release()
    assert executable_memory.taken() == (1, 0)
    there = [start for start, end, how in protections() if how == "r-xp" and any(start <= p < end for p in places)]
    assert len(there) == 1


@pytest.mark.slow
def test_a_free_list_is_what_a_list_of_bytes_says():
    """At random, beside a list that has a mark for each byte."""
    for seed in range(20):
        choose = random.Random(seed)
        slab, marks, held = _Slab(0, 1000), [False] * 1000, []
        for _ in range(300):
            if held and choose.random() < 0.5:
                start, size = held.pop(choose.randrange(len(held)))
                slab.put(start, start + size)
                marks[start : start + size] = [False] * size
            else:
                size = choose.randint(1, 60)
                start = slab.take(size)
                fits = "0" * size in "".join("01"[mark] for mark in marks)
                assert (start is not None) == fits
                if fits:
                    assert not any(marks[start : start + size])
                    marks[start : start + size] = [True] * size
                    held.append((start, size))
            edges = [k for k in range(1001) if (marks[k : k + 1] != [False]) != (k == 0 or marks[k - 1])]
            assert slab.free == list(zip(edges[::2], edges[1::2], strict=True))


def test_code_runs_on_while_other_code_is_placed():
    block, over, wrong = returning(42), threading.Event(), []
    run = ctypes.CFUNCTYPE(ctypes.c_int32)(block.address)

    def work():
        while not over.is_set():
            wrong.extend(found for found in [run() for _ in range(1000)] if found != 42)

    thread = threading.Thread(target=work)
    thread.start()
    for number in range(2000):
        returning(number).release()
    over.set()
    thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_process_leaves_its_parents_memory_alone():
    ours = [returning(number) for number in range(4)]
    read, write = os.pipe()
    child = os.fork()
    if not child:
        before = executable_memory.taken()
        ours[1].release()
        own = returning(9)
        told = [before, executable_memory.taken(), call(own), call(ours[0]), own._slab is ours[0]._slab]
        os.write(write, repr(told).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1000).decode() == "[(0, 0), (1, 64), 9, 0, False]"
    os.close(read)
    os.close(write)
    assert executable_memory.taken() == (1, 4 * ALIGNMENT)
    assert [call(block) for block in ours] == list(range(4))


SHORT_OF_MAPPINGS = """
    import ctypes, mmap, os
    import numpy as np
    import nxkernel as nx
    x = np.ones(300)
    known = nx.jit(lambda a: nx.exp(a))
    known(x)
    before = len(os.listdir("/proc/self/fd"))
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    taken = []
    while True:
        address = libc.mmap(None, 4096, 1 if len(taken) % 2 else 3, 0x22, -1, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            break
        taken.append(address)
    for address in taken[-{left}:] if {left} else []:
        libc.munmap(address, 4096)
    for turn in range(3):
        try:
            nx.jit(lambda a: nx.sin(a) * (turn + 0.5) - nx.cos(a))(x)
        except MemoryError as error:
            print(error)
    print(float(known(x)[0]))
    for address in taken[-1000:]:
        libc.munmap(address, 4096)
    print(float(nx.jit(lambda a: nx.sin(a) - nx.cos(a))(np.zeros(300))[0]))
"""

REFUSED = (
    r"there is no room for more machine code: this process has [\d,]+ mappings of memory, "
    r"and the system allows [\d,]+ \(vm\.max_map_count\)\.\n"
    r"  Clear what is not needed: definitions by their clear_cache\(\), arrays over files \(np\.memmap\) by del; "
    r"or start the kernel anew\.\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("left", [0, 10])
def test_a_process_without_mappings_is_told_and_goes_on(left):
    limit = int(Path("/proc/sys/vm/max_map_count").read_text())
    if limit > 200_000:
        pytest.skip(f"this system allows {limit:,} mappings, which take long to use up")
    text = textwrap.dedent(SHORT_OF_MAPPINGS).format(left=left)
    environment = os.environ | {"NXKERNEL_CACHE_DIR": "off", "NUMBA_NUM_THREADS": "1"}
    child = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=300)
    assert (child.returncode, child.stderr) == (0, "")
    assert re.fullmatch(rf"({REFUSED}){{3}}2\.718281828459045\d*\n-1\.0\n", child.stdout), child.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (
            13,
            "CompilationError",
            "this system does not let the process make machine code: Permission denied.\n"
            '  Run the definition with compiler="evaluator", which makes none.',
        ),
        (
            12,
            "MemoryError",
            "there is no room for more machine code: the system gives this process no more memory.\n"
            "  Clear what is not needed: definitions by their clear_cache(), arrays over files (np.memmap) by del; or "
            "start the kernel anew.",
        ),
    ],
)
def test_what_the_system_refuses_is_told(monkeypatch, number, kind, text):
    class Refusing:
        @staticmethod
        def mmap(*args):
            ctypes.set_errno(number)
            return ctypes.c_void_p(-1).value

    monkeypatch.setattr(executable_memory, "_system", Refusing)
    for ask in (lambda: take(100), executable_memory.check_mappings):
        with pytest.raises((MemoryError, RuntimeError)) as error:
            ask()
        assert (type(error.value).__name__, str(error.value)) == (kind, text)
    assert executable_memory._lock.acquire(blocking=False)
    executable_memory._lock.release()
