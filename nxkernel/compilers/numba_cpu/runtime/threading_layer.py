"""The threads that kernels run on: their number, and how they are started, by us or by Numba's threading layer.

``NXKERNEL_THREADS``, or else ``NUMBA_NUM_THREADS``, says how many there are; without them, one for each processor.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.machinery
import importlib.util
import os
import types
from collections.abc import Iterator

import numpy as np

from nxkernel import fork_safety
from nxkernel.compilers.numba_cpu.runtime import thread_pool
from nxkernel.compilers.numba_cpu.runtime.thread_pool import POOL, TAKEN, THREADS, WORDS
from nxkernel.errors import NxValueError, message


def _shared(words: int) -> np.ndarray:
    """An int64 array that starts at a cache line."""
    memory = np.zeros(words + 8, dtype=np.int64)
    skip = -memory.ctypes.data % 64 // 8
    return memory[skip : skip + words]


#: What native code shares: that of the pool, and between its words, from 3 on, for BLAS how many programs have it on
#: one thread, the number of threads that it had, and whether somebody is changing those two.
STATE = _shared(WORDS)

#: How often a thread of the OpenMP pool looks whether there is work before it sleeps.
TURNS = 10_000

#: The environment variables for the number of threads: ours, and Numba's.
VARIABLE, _OF_NUMBA = "NXKERNEL_THREADS", "NUMBA_NUM_THREADS"

_lock = fork_safety.rlock()
_numba: types.ModuleType | None = None
_started = 1


def available() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def get_threads() -> int:
    """The most threads that a kernel runs on.

    Returns
    -------
    int

    Examples
    --------
    >>> get_threads() >= 1
    True
    """
    return int(STATE[THREADS]) or _wanted()


def set_threads(count: int) -> None:
    """Run kernels on at most `count` threads from now on. Results do not depend on it.

    Parameters
    ----------
    count : int

    Raises
    ------
    NxValueError
        For less than one, or more than the pool was started with.

    Examples
    --------
    >>> set_threads(get_threads())
    """
    start()
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _started:
        hint = [f"{VARIABLE} says how many there are at most."] if _setting(VARIABLE) else []
        raise NxValueError(message(f"the number of threads is from 1 to {_started} here, got {count!r}", *hint))
    STATE[THREADS] = count


def source() -> str:
    """What says on how many threads kernels run: ``"this process"``, an environment variable, or ``"built in"``."""
    if STATE[THREADS] and STATE[THREADS] != _started:
        return "this process"
    return next((name for name in (VARIABLE, _OF_NUMBA) if _setting(name)), "built in")


def _wanted() -> int:
    setting = _setting(VARIABLE) or _setting(_OF_NUMBA)
    return int(setting) if setting else available()


def _setting(name: str) -> str:
    """The value of an environment variable, as digits; of Numba's own, what is no number counts as nothing."""
    setting = os.environ.get(name, "").strip()
    if not setting or (setting.isascii() and setting.isdigit() and int(setting) > 0):
        return setting
    if name == _OF_NUMBA:
        return ""
    raise NxValueError(
        message(
            f"the environment variable {name} is {setting!r}: it says on how many threads kernels run.",
            f"Set it to a whole number from 1 on, or unset it: unset {name}.",
        )
    )


def start() -> None:
    """Start the pool, once. After a fork kernels run on the calling thread, as threads are not inherited."""
    global _numba, _started
    with _lock:
        if STATE[THREADS]:
            return
        count = _wanted()
        if count > 1 and thread_pool.OWN:
            thread_pool.begin(count - 1, STATE.ctypes.data)
            STATE[POOL] = 1
        elif count > 1:
            with _short_waits():
                _numba = _load()
            ctypes.CFUNCTYPE(None, ctypes.c_int)(_numba.launch_threads)(count)
            STATE[POOL] = _numba.parallel_for
        STATE[THREADS] = _started = count


@fork_safety.in_child
def _leave_pool() -> None:
    """Run kernels on the calling thread from now on; a child that had no pool may start its own."""
    global _started
    STATE[POOL] = STATE[TAKEN] = 0
    if STATE[THREADS]:
        STATE[THREADS] = _started = 1


@contextlib.contextmanager
def _short_waits() -> Iterator[None]:
    """Limit spinning of an OpenMP pool that is loaded in this context to microseconds, unless the user has set it.

    It reads its settings once. By itself it turns for a millisecond, and where another process wants the processor too,
    each kernel then waits for that one's time to be up: 8 ms instead of 0.1 for a softmax on two cores.
    """
    names = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    if any(name in os.environ for name in names):
        yield
        return
    os.environ[names[0]] = str(TURNS)
    try:
        yield
    finally:
        del os.environ[names[0]]


def _load() -> types.ModuleType:
    """Load Numba's threading layer from its file: importing all of Numba takes a quarter of a second.

    The one on OpenMP wakes its threads within microseconds; where the system has no OpenMP it is the work queue, which
    takes a tenth of a millisecond.
    """
    spec = importlib.util.find_spec("numba")
    folder = os.path.join(os.path.dirname(spec.origin), "np", "ufunc")
    for name in ("omppool", "workqueue"):
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = os.path.join(folder, name + suffix)
            if os.path.exists(path):
                loader = importlib.machinery.ExtensionFileLoader(name, path)
                try:
                    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=path))
                    loader.exec_module(module)
                except ImportError:
                    continue
                return module
    raise ImportError(f"Numba's thread pools are missing in {folder}")
