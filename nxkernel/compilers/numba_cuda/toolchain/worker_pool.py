"""A pool of worker processes that compile kernels in parallel.

A worker takes a second until it has imported Numba, in which this process compiles thirty kernels: it gets nothing to
do before it says that it is ready.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from nxkernel import fork_safety
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.errors import CompilationError, message

#: How many kernels must be missing at once for workers to be worth their start, and how many workers there may be.
WORTH, MOST = 32, 7

_workers: list[Worker] = []


class Worker:
    """A worker process that compiles kernels.

    Parameters
    ----------
    arch : str
        What it is to get ready for; it compiles for others, too.
    """

    def __init__(self, arch: str):
        # The project may be on the path of this process only, and `-P` keeps the folder that one is in off it.
        paths = [str(Path(__file__).parents[4]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "0", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "nxkernel.compilers.numba_cuda.toolchain.compile_worker", arch],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            # Pipes as they are: the locks of Python's buffers, and what is in them, would go along into a child.
            bufsize=0,
        )
        self._read = b""
        self.ready = False
        self.lock = fork_safety.lock()

    def wait(self) -> bool:
        """Wait until it is ready; False if it never will be."""
        with self.lock, contextlib.suppress(ValueError, OSError):
            self.ready = self.ready or "ready" in json.loads(self._line() or "{}")
        return self.ready

    def ask(self, source: KernelSource, arch: str, form: str) -> dict | None:
        """Compile a source in the process; None if it has died."""
        request = {"name": source.name, "text": source.text, "parameters": source.parameters}
        try:
            with self.lock:
                text = memoryview(json.dumps({**request, "arch": arch, "form": form}).encode() + b"\n")
                while text:
                    text = text[self.process.stdin.write(text) :]
                return json.loads(self._line())
        except (OSError, ValueError):
            self.ready = False
            return None

    def _line(self) -> bytes:
        """The next line of output; empty if the process has ended."""
        while b"\n" not in self._read:
            more = self.process.stdout.read(1 << 16)
            if not more:
                return b""
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line

    def leave(self) -> None:
        """Detach from the process in a forked child, without ending it."""
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.returncode = 0

    def stop(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def compiled(
    sources: Sequence[KernelSource], arch: str, here: Callable[[KernelSource, str], Future[tuple[bytes, float]]]
) -> list[tuple[bytes, float]]:
    """The code of all sources, compiled by this process and the ready workers in parallel.

    Parameters
    ----------
    sources : sequence of KernelSource
    arch : str
    here : callable
        Compiles one in this process: what will be its code, and how many milliseconds that took.

    Returns
    -------
    list of (bytes, float)
        In the order of the sources.
    """
    todo = list(range(len(sources)))[::-1]
    done: dict[int, tuple[bytes, float]] = {}
    begun: dict[int, Future[tuple[bytes, float]]] = {}
    left: list[int] = []

    def serve(worker: Worker) -> None:
        while worker.wait():
            try:
                index = todo.pop()
            except IndexError:
                return
            reply = worker.ask(sources[index], arch, "cubin")
            if reply is None or "code" not in reply:
                # What went wrong there is told when it goes wrong here.
                left.append(index)
            else:
                done[index] = base64.b64decode(reply["code"]), reply["ms"]

    # A thread that waits for a worker's start may go on to do so when all is done.
    threads = [
        (worker, threading.Thread(target=serve, args=(worker,), daemon=True)) for worker in _pool(len(sources), arch)
    ]
    for _, thread in threads:
        thread.start()
    while todo:
        with contextlib.suppress(IndexError):
            index = todo.pop()
            begun[index] = here(sources[index], arch)
    for worker, thread in threads:
        if worker.ready:
            thread.join()
    for index in left:
        begun[index] = here(sources[index], arch)
    done |= {index: future.result() for index, future in begun.items()}
    return [done[index] for index in range(len(sources))]


def ptx(source: KernelSource, arch: str) -> str:
    """The PTX of a source, compiled by a worker.

    Parameters
    ----------
    source : KernelSource
    arch : str

    Returns
    -------
    str

    Raises
    ------
    CompilationError
        When it does not compile.
    """
    worker = _some(1, arch)[0]
    reply = worker.ask(source, arch, "ptx") if worker.wait() else None
    if reply is None or "ptx" not in reply:
        why = reply["error"] if reply else "The process that compiles has ended."
        raise CompilationError(message(f"there is no PTX of the kernel {source.name}.", *why.splitlines()))
    return reply["ptx"]


def _pool(count: int, arch: str) -> list[Worker]:
    """The workers for a number of kernels: existing ones, and new ones if that is worth it."""
    spare = min(_processors() - 1, MOST)
    wanted = min(spare, count // WORTH) if sys.executable else 0
    return _some(wanted, arch) if count > 1 else []


def _some(count: int, arch: str) -> list[Worker]:
    for each in [each for each in _workers if each.process.poll() is not None]:
        _workers.remove(each)
        each.stop()
    _workers.extend(Worker(arch) for _ in range(count - len(_workers)))
    return list(_workers)


def _processors() -> int:
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@atexit.register
def stop() -> None:
    """End all workers."""
    for each in _workers:
        each.stop()
    _workers.clear()


@fork_safety.in_child
def _leave_workers() -> None:
    """Forget, in a forked child, the parent's workers."""
    for each in _workers:
        each.leave()
    _workers.clear()
