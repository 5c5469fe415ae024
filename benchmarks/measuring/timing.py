"""Best of interleaved repetitions, and the check that all contenders computed the same."""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measuring.work import Settings

_IN_A_ROW = 3


@dataclass(frozen=True)
class Prepared:
    """A call with arguments that are made anew each time, outside of what is timed, since it may write into them.

    Parameters
    ----------
    arguments : callable
        Makes them.
    function : callable
        What is timed.
    results : callable
        Takes what the function returned and the arguments, gives what the call computed.
    """

    arguments: Callable[[], list[Any]]
    function: Callable[..., Any]
    results: Callable[[Any, list[Any]], tuple[Any, ...]]

    def ready(self) -> Callable[[], Any]:
        """The call, with fresh arguments."""
        return functools.partial(self.function, *self.arguments())

    def outcome(self) -> tuple[Any, ...]:
        """What one call computes."""
        arguments = self.arguments()
        return self.results(self.function(*arguments), arguments)


def once(call: Callable[[], Any] | Prepared) -> float:
    """Seconds that one call takes, its result dropped afterwards."""
    if isinstance(call, Prepared):
        call = call.ready()
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    del result
    return seconds


def interleaved(calls: Mapping[str, Callable[[], Any] | Prepared], settings: Settings) -> dict[str, float]:
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
