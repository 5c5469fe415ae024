"""The compile thread: compilation runs there while the main thread waits, so that an interrupt cannot cut it in two.

Python runs signal handlers in the main thread, after any call that returns there. One that raises between a lock and
its release, LLVM's or that of Python's imports, or between claiming a name and giving it back, would leave every later
call waiting. Here it ends the wait and nothing else: the work goes on to its end, and the next call finds what it made.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import importlib
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from nxkernel import fork_safety

Made = TypeVar("Made")


class _Job:
    """A function to run, and its result or error."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None
        #: Whether the thread that was to do it is that of another process.
        self.lost = False
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        """Run it, and wake the waiting thread."""
        try:
            self.result = self.work()
        except BaseException as error:
            self.error = error
        finally:
            # Nobody may need what it made; the traceback of an error would keep it.
            del self.work
            self.done.release()


# Locks, queues and the starting of threads are those written in C, which a signal handler cannot cut in two.
_jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
_busy = threading.Lock()
_awaited: list[_Job] = []
_started = _over = False
#: The imports that keep Python from looking for garbage.
_pauses: list[str] = []


#: Seconds after which who waits looks up: a signal that came right before the wait does not end it.
_LISTENS = 0.25


def do(work: Callable[[], Made]) -> Made:
    """Run a function in the compile thread, where interrupts do not reach; waiting for it can be interrupted.

    Parameters
    ----------
    work : callable
        Without arguments. It may not rely on what belongs to a thread.

    Returns
    -------
    Any
        What it returned; what it raised is raised.

    Examples
    --------
    >>> do(lambda: 2 + 3)
    5
    """
    global _started
    fork_safety.check()
    if threading.get_ident() != threading.main_thread().ident or _over:
        return work()
    _give_back_locks()
    if not _started:
        fork_safety.watch()
        _thread.start_new_thread(_work, (_jobs, _busy))
        _started = True
    job = _Job(work)
    _awaited.append(job)
    try:
        _jobs.put(job)
        while not job.done.acquire(timeout=_LISTENS):
            pass
    finally:
        _awaited.remove(job)
    if job.lost:
        return do(work)
    if job.error is not None:
        raise job.error
    return job.result


def load(name: str) -> None:
    """Import a module in the compile thread: an interrupted import may leave a lock that other threads wait for.

    Parameters
    ----------
    name : str
        Of the module, which an import statement takes afterwards.

    Examples
    --------
    >>> load("colorsys")
    >>> import colorsys
    """
    module = sys.modules.get(name)
    if module is not None and not getattr(module.__spec__, "_initializing", False):
        return
    if fork_safety.imports():
        # The other thread would wait for what this one has begun to import, and this one for that thread.
        _import(name)
    else:
        do(lambda: _import(name))


def _import(name: str) -> None:
    """Import a module without looking for garbage meanwhile: all that it makes stays."""
    collects = gc.isenabled()
    if collects:
        _pauses.append(name)
    gc.disable()
    try:
        importlib.import_module(name)
    finally:
        if collects:
            _pauses[-1:] = []
            gc.enable()


@fork_safety.in_child
def _collect_again() -> None:
    """In a child of a fork amid an import of another thread, look for garbage again: that thread is not there."""
    if _pauses:
        _pauses.clear()
        gc.enable()


def _work(jobs: queue.SimpleQueue[_Job], busy: threading.Lock) -> None:
    while True:
        job = jobs.get()
        with busy:
            job.run()
        del job


@atexit.register
def _finish() -> None:
    """Wait for running work at exit, since LLVM must not be torn down under it."""
    global _over
    _over = True
    _busy.acquire()


def _give_back_locks() -> None:
    """Release locks that an interrupted compilation by Numba left held by this thread."""
    for lock in fork_safety.native():
        if lock._is_owned():
            lock._release_save()


@fork_safety.in_child
def _lose_thread() -> None:
    """After a fork in a signal handler: the thread is gone, so that waiting work is run again."""
    global _jobs, _busy, _started
    _jobs, _busy, _started = queue.SimpleQueue(), threading.Lock(), False
    for job in _awaited:
        job.lost = job.done.locked()
        if job.lost:
            job.done.release()
