"""Elementary functions of every float32, and of many float64, beside NumPy's and the C library's in a wider type.

A float32 result is compared with NumPy's or SciPy's float64 result. A float64 result is compared with the C library's
of 80 bits where NumPy has one, and else with SciPy's of 64 bits, which may be off by one unit itself; what is further
away than a good result can be from such a reference is compared with mpmath's.
"""

import concurrent.futures
import multiprocessing
import os
import time

import numpy as np
import pytest

from elementary_errors import PIECE, WITHIN_ONE, of_float32, of_float64, reference
from elementary_functions import compiled, ulps
from stress_testing.stressing import many

FUNCTIONS = ["sin", "cos", "tan", "exp", "log", "tanh", "erf", "sqrt"]


def check(work, tasks, say, name):
    """Do all tasks in processes of their own; the worst error, where it is, and how many are beyond 1."""
    begin = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(many("WORKERS", os.cpu_count()), context) as pool:
        found = list(pool.map(work, *zip(*[(name, *task) for task in tasks], strict=True)))
    worst = max(found)
    beyond = sum(each[2] for each in found)
    seconds = time.monotonic() - begin
    say(f"{name}: at most {worst[0]:.2f} units off (at {worst[1]!r}), {beyond} beyond 1, {seconds:.0f} s")
    assert worst[0] <= 2
    assert not beyond


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_some_float32_of_every_size(name):
    """Every 256th piece of all, cut short: a run of all tests sees every power of two."""
    x = np.concatenate([np.arange(k << 23, (k << 23) + (1 << 23), 4099, dtype=np.uint32) for k in range(512)])
    x = x.view(np.float32)
    x = x[~np.isnan(x)]
    with np.errstate(all="ignore"):
        got, wide = compiled(name, "float", 16)(x), reference(name)(x.astype(np.float64))
    assert ulps(got, wide).max() <= 2
    assert name not in WITHIN_ONE or np.nanmax(np.abs(got)) <= 1


@pytest.mark.stress
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_float32(name, say):
    """All of the 2^32 bit patterns."""
    check(of_float32, [(first,) for first in range(0, 1 << 32, PIECE)], say, name)


@pytest.mark.stress
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_float64(name, say):
    """Ten million numbers of every size, as `NXKERNEL_STRESS_FLOATS` says."""
    count, piece = many("FLOATS", 10_000_000), 500_000
    check(of_float64, [(seed, piece) for seed in range(-(-count // piece))], say, name)
