"""Processes that compile: who compiles what, and what happens when one dies."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import pytest

from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain import compile_worker, object_code, worker_pool
from nxkernel.errors import CompilationError


def source(number):
    return KernelSource("k", f"def k(a):\n    a[{number}] = f32({number})\n", ("f32*",))


@pytest.fixture(scope="module")
def ready():
    """A process that is ready, until one of the last tests kills it."""
    one = worker_pool.Worker("sm_90")
    assert one.wait()
    yield one
    one.stop()


@pytest.fixture
def pool(monkeypatch):
    """No processes, and two processors, whatever the machine has."""
    monkeypatch.setattr(worker_pool, "_workers", [])
    monkeypatch.setattr(worker_pool, "_processors", lambda: 2)
    return worker_pool


def here(calls):
    """Compiles in this process, slowly enough for others to get something, too."""

    def compile_one(each, arch):
        calls.append(each)
        time.sleep(0.1)
        done = Future()
        done.set_result((each.symbol.encode(), 1.0))
        return done

    return compile_one


def test_few_kernels_are_compiled_here(pool):
    calls = []
    sources = [source(number) for number in range(3)]
    assert pool.compiled(sources, "sm_90", here(calls)) == [(each.symbol.encode(), 1.0) for each in sources]
    assert calls == sources
    assert pool._workers == []


def test_a_worker_that_is_ready_takes_its_part(pool, ready):
    pool._workers.append(ready)
    calls, sources = [], [source(number) for number in range(8)]
    found = pool.compiled(sources, "sm_90", here(calls))
    assert 0 < len(calls) < len(sources)
    for each, (code, ms) in zip(sources, found, strict=True):
        if each in calls:
            assert (code, ms) == (each.symbol.encode(), 1.0)
        else:
            assert code.startswith(b"\x7fELF")
            assert each.symbol.encode() in code
            assert ms > 0


def test_nobody_waits_for_a_worker_that_is_not_ready(pool, monkeypatch):
    class Late:
        ready, process = False, subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        asked = threading.Event()

        def wait(self):
            return self.asked.wait(30) and False

        def stop(self):
            self.asked.set()
            self.process.communicate()

    late = Late()
    pool._workers.append(late)
    calls, sources = [], [source(number) for number in range(8)]
    assert len(pool.compiled(sources, "sm_90", here(calls))) == len(calls) == len(sources)
    late.stop()


def test_what_does_not_compile_there_is_told_here(pool, ready):
    pool._workers.append(ready)
    wrong = KernelSource("wrong", "def wrong(a):\n    a[0] = nowhere\n", ("f32*",))
    assert "nowhere" in ready.ask(wrong, "sm_90", "cubin")["error"]
    with pytest.raises(CompilationError, match="nowhere"):
        object_code.codes([wrong, source(1), source(2)], "sm_90")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_process_starts_its_own(pool, ready):
    pool._workers.append(ready)
    child = os.fork()
    if not child:
        pool.stop()
        os._exit(10 * len(pool._workers) + ready.process.stdin.closed + 2 * ready.process.stdout.closed)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    assert ready.process.poll() is None
    assert "code" in ready.ask(source(1), "sm_90", "cubin")


@pytest.mark.slow
def test_what_a_dead_worker_had_is_compiled_here(pool, ready):
    pool._workers.append(ready)
    ready.process.kill()
    ready.process.wait()
    assert ready.ask(source(1), "sm_90", "cubin") is None
    calls, sources = [], [source(number) for number in range(4)]
    assert pool.compiled(sources, "sm_90", here(calls))[3] == (sources[3].symbol.encode(), 1.0)
    assert calls == sources
    assert pool._workers == []


def test_answers():
    request = {"name": "k", "text": source(1).text, "parameters": ["f32*"], "arch": "sm_80"}
    assert f".entry {source(1).symbol}(" in compile_worker.answer({**request, "form": "ptx"})["ptx"]
    found = compile_worker.answer({**request, "form": "cubin"})
    assert set(found) == {"code", "ms"}
    assert (
        "does not compile for sm_80"
        in compile_worker.answer({**request, "text": "def k(a):\n    b\n", "form": "ptx"})["error"]
    )
    assert json.loads(json.dumps(found)) == found


@pytest.mark.slow
def test_a_worker_without_work_ends():
    code = (
        "from nxkernel.compilers.numba_cuda.toolchain import compile_worker; "
        "compile_worker.IDLE = 0.1; compile_worker.main()"
    )
    asked = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, "sm_90"], stdin=asked, stdout=asked, text=True) as process:
        assert json.loads(process.stdout.readline()) == {"ready": True}
        assert process.wait(30) == 0
