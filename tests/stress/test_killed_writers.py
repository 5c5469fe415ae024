"""Processes that are killed while they compile and write the disk cache, several at a time in one folder.

``NXKERNEL_STRESS_KILLS`` says how many. After each batch of kills a new process reads what they left.
"""

import os
import random
import time

import pytest

from stress_testing import stressing

pytestmark = [
    pytest.mark.stress,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
]

#: Processes that write at a time, programs that each batch of kills has of its own, and kills of a batch.
WRITERS, PROGRAMS, BATCH = 3, 8, 15

# Starts with nxkernel imported and nothing compiled; forks a process for each kill, so that they begin at once.
_NURSERY = """
import os, random, signal, sys, time
import numpy as np
import nxkernel as nx
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cpu import compiler
from nxkernel.compilers.numba_cpu.codegen import lower_nest, object_code
from nxkernel.compilers.numba_cpu.program import graph_compilation, program_writer
from stress_testing import stressing

def compile_all(numbers):
    for number in numbers:
        nx.jit(stressing.program(number)[0])(stressing.argument())

def write_all(numbers):
    # Large files: most of the time is spent between the first byte and the last.
    while True:
        for number in numbers:
            disk_cache.write(f"nxk_written_{number}", bytes([number % 256]) * (1 << 20))

first, count, kills, writers, seed = map(int, sys.argv[1:])
random.seed(seed)
disk_cache.directory()
alive, killed, ended = {}, 0, 0
while killed < kills:
    while len(alive) < writers:
        numbers = list(range(first, first + count))
        random.shuffle(numbers)
        work = write_all if random.random() < 0.4 else compile_all
        pause = random.uniform(0, 0.1 if work is write_all else 3)
        pid = os.fork()
        if not pid:
            try:
                work(numbers)
            finally:
                os._exit(0)
        alive[pid] = time.monotonic() + pause
    for pid, end in list(alive.items()):
        if time.monotonic() >= end:
            os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
            if os.WIFSIGNALED(status):
                killed += 1
            else:
                ended += 1
            del alive[pid]
    time.sleep(0.001)
for pid in alive:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
print(killed + len(alive), ended)
"""

# Reads with warnings as errors: nothing that was left may count as damaged.
_READER = """
import sys, warnings
warnings.simplefilter("error")
import nxkernel as nx
from nxkernel.compilers.cache import disk_cache
from stress_testing import stressing

compiled = disk = 0
for number in map(int, sys.argv[1:]):
    f = nx.jit(stressing.program(number)[0])
    assert stressing.is_right(number, f(stressing.argument())), number
    compiled, disk = compiled + f.cache_info().compiled, disk + f.cache_info().disk
    large = disk_cache.read(f"nxk_written_{number}")
    assert large is None or large == bytes([number % 256]) * (1 << 20), number
print(compiled, disk)
"""


def test_killed_writers(tmp_path, say):
    folder, kills = tmp_path / "cache", stressing.many("KILLS", 300)
    seed = stressing.many("SEED", time.time_ns() % 2**32)
    choose = random.Random(seed)
    say(f"\n{kills} kills, {WRITERS} writers at a time, seed {seed}")
    done = again = from_disk = ended = 0
    known = []
    while done < kills:
        first = 1000 * (seed % 1000) + len(known)
        numbers = list(range(first, first + PROGRAMS))
        wanted = max(min(BATCH, kills - done) - WRITERS + 1, 1)
        printed, said = stressing.run(
            _NURSERY, first, PROGRAMS, wanted, WRITERS, choose.randrange(2**32), folder=folder
        )
        died, finished = map(int, printed.split())
        assert said == ""
        done, ended = done + died, ended + finished
        whole, temporary = stressing.kept(folder)
        assert [path.name for path in whole if not stressing.is_whole(path)] == []
        read = [*numbers, *choose.sample(known, min(len(known), 4))]
        compiled, disk = map(int, stressing.run(_READER, *read, folder=folder)[0].split())
        known += numbers
        again, from_disk = again + compiled, from_disk + disk
        hits, more = map(int, stressing.run(_READER, *read, folder=folder)[0].split())
        assert (hits, more) == (0, compiled + disk)
        say(
            f"{done} killed, {ended} at their end before; {len(whole)} files, all whole, {len(temporary)} cut off; "
            f"{from_disk} kernels read from what was left, {again} compiled again"
        )
    assert from_disk
    _, temporary = stressing.kept(folder)
    cut = len(temporary)
    assert cut, "no process was killed while it wrote"
    for path in temporary:
        os.utime(path, (time.time() - 3700,) * 2)
    stressing.run(_SWEPT, folder=folder)
    assert stressing.kept(folder)[1] == []
    say(f"{cut} files that were cut off were swept by a later process")


# One write in 256 looks at all files; half of the processes need no more than 177.
_SWEPT = """
from nxkernel.compilers.cache import disk_cache
for number in range(4096):
    disk_cache.write(f"nxk_small_{number}", b"code")
"""
