"""Property tests that run as long as they are told to, and limits that make small programs take every path."""

import os
import time

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from nxkernel.compilers.numba_cpu.program import parallel_loops
from nxkernel.compilers.numba_cpu.runtime import native_call
from nxkernel.compilers.rewrite import array_layouts, loop_nest_rewrites
from nxkernel.compilers.schedule import loop_nest

#: For how many seconds a test that is marked `fuzz` goes on.
SECONDS = "NXKERNEL_FUZZ_SECONDS"


#: Examples take as long as they take, and are as large as they are.
patient = settings(deadline=None, suppress_health_check=list(HealthCheck))


def repeat(*checks, examples=100):
    """Run functions that draw what they check, in turn, each time with another seed, until the time is over.

    Parameters
    ----------
    *checks : callable
        Functions of Hypothesis' ``data``.
    examples : int
        How often each of them is run before the next one.

    Returns
    -------
    int
        How many turns there were.
    """
    end = time.monotonic() + float(os.environ.get(SECONDS, "60"))
    first, turn = time.time_ns() % 2**32, 0
    while time.monotonic() < end:
        for check in checks:
            if time.monotonic() < end:
                run = given(st.data())(check)
                seed(first + turn)(settings(patient, max_examples=examples)(run))()
        turn += 1
    return turn


def make_small(set_):
    """Small limits: even small programs are cut into blocks, tiles and columns, and run on every thread."""
    set_(loop_nest_rewrites, "SPLIT_FROM", 256)
    set_(loop_nest_rewrites, "BLOCK", 64)
    set_(loop_nest_rewrites, "ENOUGH_ROWS", 8)
    set_(loop_nest_rewrites, "SMALL_PRODUCT", 16)
    set_(loop_nest, "TILE", 64)
    set_(loop_nest, "COLUMNS", 64)
    set_(native_call, "WORTH_SHARING", 50)
    set_(parallel_loops, "WORTH", 50)
    set_(parallel_loops, "FEW", 2)
    set_(array_layouts, "OFTEN", 0)
