"""Programs whose loops are all spread over threads, however little they do, on any number of threads."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from nxkernel.compilers.numba_cpu.program import parallel_loops, saved_programs
from nxkernel.compilers.numba_cpu.runtime import native_call, thread_pool, threading_layer
from nxkernel.definitions.calls import graph_cache

Result = TypeVar("Result")

#: Numbers of threads on which every program gives the same.
COUNTS = (1, 2, 7)
_more = 0


@contextlib.contextmanager
def every_loop_is_spread() -> Iterator[None]:
    """Have each loop that may be spread over threads be, of the programs that are compiled meanwhile.

    Programs from before are forgotten at the beginning, and those from meanwhile at the end. Each turn of a spread loop
    is a piece that a thread may take.
    """
    kept = parallel_loops.WORTH, parallel_loops.FEW, saved_programs.WORTH_A_FILE
    graph_cache.clear()
    try:
        parallel_loops.WORTH, parallel_loops.FEW, saved_programs.WORTH_A_FILE = 1, 1, 1 << 30
        yield
    finally:
        parallel_loops.WORTH, parallel_loops.FEW, saved_programs.WORTH_A_FILE = kept
        graph_cache.clear()


@contextlib.contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Have programs run on so many threads meanwhile, more than this machine has processors where that is asked for."""
    native_call.prepare()
    before = int(threading_layer.STATE[thread_pool.THREADS])
    # Elsewhere the pool is Numba's, whose threads are started once.
    threading_layer.STATE[thread_pool.THREADS] = count if thread_pool.OWN else min(count, threading_layer._started)
    _start(count)
    try:
        yield
    finally:
        threading_layer.STATE[thread_pool.THREADS] = before


def on_each_count(run: Callable[[], Result]) -> list[Result]:
    """What a function gives on each of the `COUNTS` of threads."""
    found = []
    for count in COUNTS:
        with on_threads(count):
            found.append(run())
    return found


def _start(count: int) -> None:
    """Start the threads that the pool lacks; they stay, and work when they are asked for."""
    global _more
    if not thread_pool.OWN:
        return
    threading_layer.STATE[thread_pool.POOL] = 1
    work = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(thread_pool.load())
    for index in range(threading_layer._started - 1 + _more, count - 1):
        given = threading_layer.STATE.ctypes.data, index
        threading.Thread(target=work, args=given, name=f"more-for-tests-{index}", daemon=True).start()
        _more += 1
