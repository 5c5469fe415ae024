"""What a child of a fork begins anew: nothing that threads wait for is made anywhere else, and children go on."""

import ast
import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import nxkernel as nx
from nxkernel import fork_safety
from nxkernel.errors import ClosedStreamError, CompilationError
from stress_testing import forks, stressing

ROOT = Path(__file__).resolve().parent.parent
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
#: Python 3.12 warns of every fork beside threads.
LOUD = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

#: What is shared by threads or processes and does not go along into a child; `kinds` are made in `forks` alone.
KINDS = {
    "threading.Lock", "threading.RLock", "threading.Semaphore", "threading.BoundedSemaphore", "threading.Barrier",
    "threading.Condition", "threading.Event", "threading.Thread", "threading.Timer", "_thread.allocate_lock",
    "_thread.start_new_thread", "functools.cached_property", "queue.Queue", "queue.SimpleQueue", "queue.LifoQueue",
    "queue.PriorityQueue", "subprocess.Popen", "concurrent.futures.ThreadPoolExecutor",
    "concurrent.futures.ProcessPoolExecutor", "os.register_at_fork", "asyncio.Lock", "asyncio.Queue",
}  # fmt: skip
PACKAGES = {"multiprocessing"}
#: Where else such a thing is made, and why a child is none the worse for it.
ELSEWHERE = {
    ("nxkernel/__init__.py", "threading.Thread"): "imports; a fork waits for its end",
    ("nxkernel/fork_safety.py", "threading.Lock"): "is what makes them",
    ("nxkernel/fork_safety.py", "threading.RLock"): "is what makes them",
    ("nxkernel/fork_safety.py", "os.register_at_fork"): "the one handler",
    ("nxkernel/fork_safety.py", "functools.cached_property"): "other people's are looked for",
    ("nxkernel/definitions/streams/stream.py", "threading.Thread"): "Channel._lose_thread",
    (
        "nxkernel/definitions/streams/channel.py",
        "threading.Condition",
    ): "over a lock of `forks`, and Channel._lose_thread",
    ("nxkernel/compile_thread.py", "_thread.start_new_thread"): "_lose_thread",
    ("nxkernel/compile_thread.py", "queue.SimpleQueue"): "_lose_thread",
    ("nxkernel/compile_thread.py", "threading.Lock"): "_lose_thread, and those of single jobs",
    ("nxkernel/compilers/numba_cpu/runtime/thread_pool.py", "threading.Thread"): "threads._leave_pool",
    ("nxkernel/compilers/numba_cpu/runtime/code_store.py", "threading.Event"): "_abandon",
    (
        "nxkernel/compilers/numba_cuda/toolchain/object_code.py",
        "concurrent.futures.ThreadPoolExecutor",
    ): "ends with its call",
    (
        "nxkernel/compilers/numba_cuda/toolchain/compile_worker.py",
        "threading.Timer",
    ): "a process of its own, which never forks",
    ("nxkernel/compilers/numba_cuda/toolchain/worker_pool.py", "subprocess.Popen"): "_leave_workers",
    ("nxkernel/compilers/numba_cuda/toolchain/worker_pool.py", "threading.Thread"): "ends with its call",
    ("nxkernel/container_classes/declarations.py", "functools.cached_property"): "other people's are looked for",
    ("nxkernel/definitions/captures/name_lookup.py", "functools.cached_property"): "other people's are asked for",
    (
        "nxkernel/definitions/flow/values/followed_classes.py",
        "functools.cached_property",
    ): "other people's are rewritten",
}


def names(path):
    """What a module names of other modules, in full."""
    tree = ast.parse(path.read_text())
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {
                (alias.asname or alias.name.partition(".")[0]): alias.asname and alias.name for alias in node.names
            }
        if isinstance(node, ast.ImportFrom):
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            text = ast.unparse(node)
            first, dot, rest = text.partition(".")
            if first in known:
                yield (known[first] or first) + dot + rest


def shared():
    """Each place at which something is made that a child shares with its parent's threads."""
    words = "|".join(PACKAGES | {name.rpartition(".")[2] for name in KINDS})
    for package in ("nxkernel", "magics", "extension"):
        for path in sorted((ROOT / package).rglob("*.py")):
            # Most modules name none of them, and need no parsing.
            if re.search(words, path.read_text()):
                for name in set(names(path)):
                    if name in KINDS or name.partition(".")[0] in PACKAGES:
                        yield path.relative_to(ROOT).as_posix(), name


def test_what_threads_share_is_made_in_one_place_or_told_why():
    found = set(shared())
    assert found - ELSEWHERE.keys() == set()
    assert ELSEWHERE.keys() - found == set()


@pytest.fixture(autouse=True)
def watched():
    """As in a process that has a definition."""
    fork_safety.watch()


def in_child(work, begins=None):
    """What a forked child ended with: the number that `work` gives, 100 for an error; when it began is told, too."""
    child = os.fork()
    if begins is not None:
        begins.append(time.perf_counter())
    if not child:
        status = 100
        try:
            status = int(work())
        finally:
            os._exit(status)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


def busy(work, seconds, ends=None):
    """A thread that has begun to do something with a lock held for a while; it says when it is about to end."""
    begun = threading.Event()

    def run():
        with work:
            begun.set()
            time.sleep(seconds)
            if ends is not None:
                ends.append(time.perf_counter())

    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(10)
    return thread


def compiles(number):
    return stressing.is_right(number, nx.jit(stressing.program(number)[0])(stressing.argument()))


@pytest.mark.slow
@pytest.mark.alone
@FORKS
def test_children_that_begin_while_threads_compile_never_hang():
    """`tests/stress/test_forks.py` does it for long."""
    hung, failed, compiled, longest = forks.forked(30, seed=7, from_numba=0)
    assert (hung, failed) == (0, 0)
    assert compiled > 0
    assert longest < fork_safety.PATIENCE


@FORKS
@LOUD
def test_locks_are_open_in_a_child_unless_it_holds_them():
    plain, held, own = fork_safety.lock(), fork_safety.rlock(), fork_safety.rlock()
    threads = [busy(plain, 0.3), busy(held, 0.3)]

    def look():
        with plain, held:
            own.release()
        return own.acquire(blocking=False)

    with own:
        assert in_child(look) == 1
    for thread in threads:
        thread.join()
    assert not plain.locked()


@FORKS
@LOUD
def test_a_fork_waits_for_llvm_and_numba():
    from llvmlite.binding import ffi
    from numba.core.compiler_lock import global_compiler_lock

    for lock in (ffi.lib._lock._lock, global_compiler_lock._lock):
        ends, begins = [], []
        thread = busy(lock, 0.3, ends)
        assert in_child(lambda: compiles(5), begins) == 1
        assert ends[0] < begins[0]
        thread.join()


@FORKS
@LOUD
def test_a_child_of_a_fork_that_waited_too_long_says_so(monkeypatch):
    from llvmlite.binding import ffi

    monkeypatch.setattr(fork_safety, "PATIENCE", 0.05)
    thread = busy(ffi.lib._lock._lock, 0.5)

    def compile_one():
        with pytest.raises(CompilationError) as error:
            nx.jit(stressing.program(6)[0])(stressing.argument())
        return str(error.value) == (
            "nothing can be compiled in this process: it was forked while another thread was compiling, for longer "
            "than the 0.05 s that a fork waits.\n"
            '  Start processes with multiprocessing\'s "spawn" or "forkserver", or fork before.'
        )

    assert in_child(compile_one) == 1
    thread.join()
    fork_safety.check()


@FORKS
@LOUD
def test_a_fork_waits_for_imports_of_what_may_be_needed(tmp_path, monkeypatch):
    (tmp_path / "slowly_imported.py").write_text("import time; first = 1; time.sleep(0.3); last = 2")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(fork_safety, "_LATE", {"slowly_imported"})

    def look():
        import slowly_imported

        return slowly_imported.last

    for patience in (60, 0.05):
        monkeypatch.setattr(fork_safety, "PATIENCE", patience)
        thread = threading.Thread(target=look)
        thread.start()
        while "slowly_imported" not in sys.modules:
            time.sleep(0.001)
        # Where the wait is too long, the child imports it again.
        assert in_child(look) == 2
        thread.join()
        del sys.modules["slowly_imported"]


@FORKS
@LOUD
def test_who_waits_for_work_and_forks_meanwhile_has_it_done_in_the_child():
    """In a signal handler: the child goes on where the parent waits."""
    from nxkernel import compile_thread

    parent, children = os.getpid(), []

    def fork(*_):
        pid = os.fork()
        if pid:
            children.append(pid)

    before = signal.signal(signal.SIGUSR1, fork)
    try:
        main = threading.main_thread().ident
        threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGUSR1)).start()
        done = compile_thread.do(lambda: (time.sleep(0.5), os.getpid())[1])
        if os.getpid() != parent:
            os._exit(done == os.getpid())
        assert done == parent
        assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 1
    finally:
        if os.getpid() != parent:
            os._exit(100)
        signal.signal(signal.SIGUSR1, before)


@FORKS
@LOUD
def test_a_stream_has_no_thread_in_a_child():
    stream = nx.stream(lambda x, total: (total + x, total + x), [nx.template((), "f32"), nx.f32(0)])
    stream.send(2.0)
    assert float(stream.recv()) == 2.0

    def use():
        for each in (stream.recv, stream.done, lambda: stream.send(1.0)):
            with pytest.raises(ClosedStreamError) as error:
                each()
        assert "takes no more inputs" in str(error.value)
        with pytest.raises(ClosedStreamError) as error:
            stream.done()
        return str(error.value) == (
            "the stream <lambda>(x, total) has no thread in this process: it was opened before this one was forked.\n"
            "  Open another one here."
        )

    assert in_child(use) == 1
    stream.send(3.0)
    assert float(stream.done()) == 5.0


@FORKS
@LOUD
def test_everything_is_called_in_a_child_whatever_one_of_them_raises():
    class Counter:
        def __init__(self):
            self.children = 0
            fork_safety.in_child(self.count)

        def count(self):
            self.children += 1
            raise ZeroDivisionError

    known = len(fork_safety._children)
    first, second, gone = Counter(), Counter(), Counter()
    del gone
    assert len(fork_safety._children) == known + 2

    def look():
        return 10 * first.children + second.children

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert in_child(look) == 11
    assert first.children == 0


def test_a_property_is_computed_once_and_without_a_lock():
    class Owner:
        calls = 0

        @fork_safety.cached_property
        def value(self):
            """What it is."""
            self.calls += 1
            return self.calls

    one = Owner()
    assert (one.value, one.value, one.calls) == (1, 1, 1)
    assert Owner.value.__doc__ == "What it is."
    assert not any(hasattr(each, "acquire") for each in vars(Owner.value).values())


# Other people's ways to start processes, while threads compile and while none does ---------------------------------

_BEGIN = """
import sys, threading, time
import numpy as np
import nxkernel as nx
from stress_testing import stressing

X = stressing.argument()
right = stressing.program(3)[1](X)
scaled = nx.jit(stressing.program(3)[0])

def use(number):
    return np.allclose(np.asarray(scaled(X)), right) and stressing.is_right(
        number, nx.jit(stressing.program(number)[0])(X)
    )

def compile_all():
    number = 10**6
    while not stop.is_set():
        number += 1
        nx.jit(stressing.program(number)[0])(X)
        time.sleep(0.02)

if __name__ == "__main__":
    stop = threading.Event()
    threads = [threading.Thread(target=compile_all, daemon=True)]
    scaled(X)
    for thread in threads:
        thread.start()
"""
_WAYS = {
    "fork": """
    import concurrent.futures, multiprocessing
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        print(all(pool.map(use, range(4))))
""",
    "forkserver": """
    import concurrent.futures, multiprocessing
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["nxkernel"])
    with concurrent.futures.ProcessPoolExecutor(2, context) as pool:
        print(all(pool.map(use, range(4))))
""",
    "spawn": """
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(all(pool.map(use, range(4))))
""",
    "joblib": """
    import joblib
    print(all(all(joblib.Parallel(n_jobs=2, backend=name)(joblib.delayed(use)(number) for number in range(4)))
              for name in ("loky", "multiprocessing", "threading")))
""",
    "torch": """
    import torch
    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 4
        def __getitem__(self, number):
            return torch.tensor(use(number))
    print(all(bool(torch.cat(list(torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=2, **more))).all())
              for more in ({"multiprocessing_context": "fork"}, {})))
""",
    "dask": """
    import dask
    print(all(dask.compute(*[dask.delayed(use)(number) for number in range(4)], scheduler="processes", num_workers=2)))
    from dask.distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        print(all(client.gather(client.map(use, range(4)))))
""",
}
_NEEDED = {"dask": "distributed"}


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("way", _WAYS)
def test_processes_that_others_start(way, tmp_path):
    needed = _NEEDED.get(way, way)
    if way in ("joblib", "torch", "dask") and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if way == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    script = tmp_path / "started.py"
    end = "    stop.set()\n    for thread in threads:\n        thread.join()\n"
    script.write_text(_BEGIN + _WAYS[way] + end)
    command = [sys.executable, "-W", "ignore", script]
    environment = stressing.variables(tmp_path / "cache")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {"True"}


@FORKS
@LOUD
@pytest.mark.parametrize("lock", ["lock", "_lock"])
@pytest.mark.parametrize("made", ["target_context", "typing_context"])
def test_a_child_makes_numbas_contexts_that_another_thread_was_making(made, lock):
    """A fork cannot wait for these: who makes one may wait for the compiler's lock, and the other way round."""
    from numba.core.registry import CPUTarget

    held = getattr(vars(CPUTarget)[f"_toplevel_{made}"], lock, None)
    if held is None:
        pytest.skip("Python has no lock of its own for such properties from 3.12 on")
    thread = busy(held, 0.5)
    assert in_child(lambda: getattr(CPUTarget("cpu"), made) is None) == 0
    thread.join()


def test_a_property_that_others_compute_once_is_known():
    """Python 3.11 computes them under a lock that all objects of a class share."""
    from numba.core.base import BaseContext

    fork_safety._find_properties()
    assert vars(BaseContext)["nrt"] in fork_safety._properties
