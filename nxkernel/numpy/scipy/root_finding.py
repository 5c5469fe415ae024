"""Roots of functions of one number, in Python's own text: a definition traces it as it traces a person's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["bisect", "brentq"]


def brentq(
    f: Callable[..., Any], a: Any, b: Any, args: Sequence[Any] = (), xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16, maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """A root between two numbers, as :func:`scipy.optimize.brentq`.

    References
    ----------
    R. P. Brent, "Algorithms for Minimization Without Derivatives", 1973, chapter 4.
    """
    if full_output:
        raise TypeError("brentq() in a definition gives the root alone: full_output=False")
    before, here = np.float64(a), np.float64(b)
    value_before, value = np.float64(f(before, *args)), np.float64(f(here, *args))
    if value_before * value > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    if value_before == 0:
        here, value = before, value_before
    other, value_other = before, value_before
    step_before = step = here - before
    turns = 0
    while value != 0 and turns < maxiter:
        if value_before != 0 and (value_before > 0) != (value > 0):
            other, value_other = before, value_before
            step_before = step = here - before
        if np.abs(value_other) < np.abs(value):
            before, here, other = here, other, here
            value_before, value, value_other = value, value_other, value
        nearest = (xtol + rtol * np.abs(here)) / 2
        half = (other - here) / 2
        if value == 0 or np.abs(half) < nearest:
            break
        trial, fits = half, False
        if np.abs(step_before) > nearest and np.abs(value) < np.abs(value_before):
            if before == other:
                trial = -value * (here - before) / (value - value_before)
            else:
                slope = (value_before - value) / (before - here)
                slope_other = (value_other - value) / (other - here)
                trial = -value * (value_other * slope_other - value_before * slope)
                trial = trial / (slope_other * slope * (value_other - value_before))
            fits = 2 * np.abs(trial) < np.minimum(np.abs(step_before), 3 * np.abs(half) - nearest)
        step_before = np.where(fits, step, half)[()]
        step = np.where(fits, trial, half)[()]
        before, value_before = here, value
        if np.abs(step) > nearest:
            here = here + step
        else:
            here = here + np.where(half > 0, nearest, -nearest)[()]
        value = np.float64(f(here, *args))
        turns = turns + 1
    return float(here)


def bisect(
    f: Callable[..., Any], a: Any, b: Any, args: Sequence[Any] = (), xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16, maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """A root between two numbers, by halving the distance, as :func:`scipy.optimize.bisect`."""
    if full_output:
        raise TypeError("bisect() in a definition gives the root alone: full_output=False")
    begin, width = np.float64(a), np.float64(b) - np.float64(a)
    value, at_end = np.float64(f(begin, *args)), np.float64(f(np.float64(b), *args))
    if value * at_end > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    middle = np.where(value == 0, begin, np.float64(b))[()]
    turns = 0
    if value != 0 and at_end != 0:
        while turns < maxiter:
            width = width / 2
            middle = begin + width
            there = np.float64(f(middle, *args))
            if there * value >= 0:
                begin = middle
            if there == 0 or np.abs(width) < xtol + rtol * np.abs(middle):
                break
            turns = turns + 1
    return float(middle)


#: What has to be rewritten before it is called.
for _function in (brentq, bisect):
    _function.__nx_text__ = True  # pyright: ignore[reportFunctionMemberAccess]
