"""Property tests that run as long as they are told to, and limits that make small programs take every path."""

import os
import time

from hypothesis import seed, settings

from nxkernel.compilers import loops, prepare
from nxkernel.compilers.numba_cpu import runtime

#: For how many seconds a test that is marked `fuzz` goes on.
SECONDS = "NXKERNEL_FUZZ_SECONDS"


def repeat(*tests, examples=100):
    """Run tests of Hypothesis in turn, each time with another seed, until the time is over; gives how often."""
    end = time.monotonic() + float(os.environ.get(SECONDS, "60"))
    first, turn = time.time_ns() % 2**32, 0
    while time.monotonic() < end:
        for test in tests:
            if time.monotonic() < end:
                seed(first + turn)(settings(max_examples=examples)(test))()
        turn += 1
    return turn


def make_small(set_):
    """Small limits: even small programs are cut into blocks, tiles and columns, and run on every thread."""
    set_(prepare, "SPLIT_FROM", 256)
    set_(prepare, "BLOCK", 64)
    set_(prepare, "ENOUGH_ROWS", 8)
    set_(prepare, "SMALL_PRODUCT", 16)
    set_(loops, "TILE", 64)
    set_(loops, "COLUMNS", 64)
    set_(runtime, "WORTH_SHARING", 50)
