"""How far elementary functions are from what NumPy, SciPy or mpmath give, as tasks for processes of their own."""

import mpmath
import numpy as np
import scipy.special

from elementary_functions import compiled, ulps

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
