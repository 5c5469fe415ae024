"""Best of interleaved repetitions, and the check that all contenders computed the same."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.work import Settings

_IN_A_ROW = 3


def once(call: Callable[[], Any]) -> float:
    """Seconds that one call takes, its result dropped afterwards."""
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    del result
    return seconds


def interleaved(calls: dict[str, Callable[[], Any]], settings: Settings) -> dict[str, float]:
    """The best time of each call, taken in turns, so that a drift of the machine hits all alike.

    Each takes part until it has used its share of the time and had its rounds. A turn is several calls in a row: the
    threads of the one before still spin for a while, waiting for more work, and hold up the first of them.
    """
    best = dict.fromkeys(calls, float("inf"))
    spent = dict.fromkeys(calls, 0.0)
    rounds = 0
    gc.collect()
    gc.disable()
    try:
        while True:
            going = [name for name in calls if rounds < settings.rounds or spent[name] < settings.seconds]
            if not going:
                return best
            for name in going:
                turn = [once(calls[name]) for _ in range(_IN_A_ROW)]
                best[name] = min(best[name], *turn)
                spent[name] += sum(turn)
            rounds += 1
    finally:
        gc.enable()


def arrays(result: Any) -> tuple[np.ndarray, ...]:
    """A result, one value or a tuple of them, as NumPy arrays."""
    return tuple(np.asarray(part) for part in (result if isinstance(result, tuple) else (result,)))


def check(name: str, result: Any, expected: Any, tolerance: float) -> None:
    """Raise AssertionError where a contender's result is not the expected one: a wrong answer is never fast.

    The tolerance is relative to the largest of the expected values, NaN equals NaN.
    """
    found, wanted = arrays(result), arrays(expected)
    if len(found) != len(wanted):
        raise AssertionError(f"{name} returned {len(found)} values, expected {len(wanted)}")
    for ours, reference in zip(found, wanted, strict=True):
        if reference.dtype.kind == "i":
            np.testing.assert_array_equal(ours, reference, err_msg=name)
        else:
            scale = float(np.abs(reference).max())
            np.testing.assert_allclose(ours, reference, rtol=tolerance, atol=tolerance * scale, err_msg=name)
