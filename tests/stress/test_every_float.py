"""Elementary functions of every float32, and of many float64, beside NumPy's and the C library's in a wider type.

A float32 result is compared with NumPy's or SciPy's float64 result. A float64 result is compared with the C library's
of 80 bits where NumPy has one, and else with SciPy's of 64 bits, which may be off by one unit itself; what is further
away than a good result can be from such a reference is compared with mpmath's.
"""

import concurrent.futures
import multiprocessing
import os
import time

import mpmath
import numpy as np
import pytest
import scipy.special

from stress_testing.stressing import many

FUNCTIONS = ["sin", "cos", "tan", "exp", "log", "tanh", "erf", "sqrt"]
WITHIN_ONE = ("sin", "cos", "tanh", "erf")
#: Numbers of a task.
PIECE = 1 << 24
EXTENDED = np.finfo(np.longdouble).nmant > 60


def reference(name):
    return scipy.special.erf if name == "erf" else getattr(np, name)


def keys(x):
    """Floats as whole numbers that are as far apart as the floats are, in units in the last place."""
    kind = np.int32 if x.dtype == np.float32 else np.int64
    bits = x.view(kind)
    return np.where(bits < 0, np.iinfo(kind).min - bits, bits).astype(np.int64)


def of_float32(name, first):
    """The worst error among `PIECE` bit patterns, where it is, and how many results are greater than 1."""
    from elementary_functions import compiled, ulps

    x = np.arange(first, first + PIECE, dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        x = x[~np.isnan(x)]
        if not x.size:
            return 0.0, 0.0, 0
        got = compiled(name, "float", 16)(x)
        wide = reference(name)(x.astype(np.float64))
        rounded = wide.astype(np.float32)
        # One unit from what is rounded is one and a half from what is exact, at most.
        far = (np.abs(keys(got) - keys(rounded)) > 1) & ~(np.isnan(got) & np.isnan(rounded))
        beyond = int((np.abs(got) > 1).sum()) if name in WITHIN_ONE else 0
    if not far.any():
        return 1.5, 0.0, beyond
    errors = ulps(got[far], wide[far])
    worst = int(np.argmax(errors))
    return float(errors[worst]), float(x[far][worst]), beyond


def sample(name, seed, count):
    """Numbers of every size and sign that the function takes, half of them where it varies."""
    rng = np.random.default_rng(seed)
    reach = {"exp": (-745, 709), "tanh": (-20, 20), "erf": (-6, 6)}.get(name)
    x = np.ldexp(rng.uniform(1, 2, count), rng.integers(-1022, 1024, count))
    if name not in ("log", "sqrt"):
        x *= rng.choice([-1, 1], count)
    half = count // 2
    x[:half] = rng.uniform(*reach, half) if reach else np.ldexp(rng.uniform(1, 2, half), rng.integers(-20, 45, half))
    return x


def of_float64(name, seed, count):
    """The worst error among random numbers, where it is, and how many results are greater than 1."""
    from elementary_functions import compiled

    x = sample(name, seed, count)
    with np.errstate(all="ignore"):
        got = compiled(name, "double", 8)(x)
        wide = reference(name)(x.astype(np.longdouble) if EXTENDED and name != "erf" else x)
        rounded = wide.astype(np.float64)
    far = np.flatnonzero(np.abs(keys(got) - keys(rounded)) > 1)
    beyond = int((np.abs(got) > 1).sum()) if name in WITHIN_ONE else 0
    worst, where = 1.5 if EXTENDED and name != "erf" else 2.0, 0.0
    with mpmath.workprec(1200):
        for place in far.tolist():
            exact = getattr(mpmath, name)(mpmath.mpf(float(x[place])))
            error = float(abs(exact - float(got[place])) / np.spacing(abs(float(exact))))
            if error > worst:
                worst, where = error, float(x[place])
    return worst, where, beyond


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


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_some_float32_of_every_size(name):
    """Every 256th piece of all, cut short: a run of all tests sees every power of two."""
    from elementary_functions import compiled, ulps

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
