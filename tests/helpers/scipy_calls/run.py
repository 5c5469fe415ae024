"""Runs the calls of some modules of SciPy's, compiled and at once; it is a program for a process of its own.

It writes, as JSON, by name what came of the call compiled and at once: nothing where it agrees with NumPy's, else what
was wrong. SCIPY_ARRAY_API=1 has to be in its environment.
"""

import importlib
import json
import sys
import warnings

import numpy as np

import nxkernel as nx
import nxkernel.numpy as nnp
from scipy_calls.calls import CALLS


def _leaves(value):
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in _leaves(part)]
    if value is None or isinstance(value, str):
        return []
    return [getattr(value, name) for name in ("statistic", "pvalue")] if hasattr(value, "pvalue") else [value]


def _wrong(found, wanted):
    """What is wrong with results; empty if they agree."""
    found, wanted = _leaves(found), _leaves(wanted)
    if len(found) != len(wanted):
        return f"{len(found)} results for {len(wanted)}"
    for one, other in zip(found, wanted, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape:
            return f"shape {one.shape} for {other.shape}"
        if one.dtype != other.dtype:
            return f"type {one.dtype} for {other.dtype}"
        if not np.allclose(one, other, rtol=1e-9, atol=1e-11, equal_nan=True):
            return "other values"
    return ""


def _outcome(run, wanted):
    try:
        return _wrong(run(), wanted)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]


def _both(function, call, arrays):
    """What came of a call compiled, and at once."""
    wanted = call(function, *arrays)
    compiled = nx.jit(lambda *given: _leaves(call(function, *given)), promotion="numpy", compiler="evaluator")
    eager = [nnp.asarray(array) for array in arrays]
    return _outcome(lambda: compiled(*arrays), wanted), _outcome(lambda: call(function, *eager), wanted)


def outcomes(module, only=None):
    """By name of a module's functions, what came of the call compiled, and at once."""
    library = importlib.import_module(module)
    found = {}
    for name, (arrays, call) in CALLS[module].items():
        if only and name not in only:
            continue
        found[name] = _both(getattr(library, name), call, arrays)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump({module: outcomes(module, sys.argv[2:]) for module in sys.argv[1].split(",")}, sys.stdout)
