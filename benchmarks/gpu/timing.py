"""Time on a device: many calls in a row, which are waited for once, and the speed of a copy."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.measuring.work import Settings

#: Seconds of one turn of a contender, and the most calls in it.
_TURN, _MOST = 0.03, 2000
_COPIED = 1 << 30


def seconds_a_call(call: Callable[[], Any], wait: Callable[[Any], Any], count: int) -> float:
    """Seconds for each of many calls that are not waited for but at the end.

    Parameters
    ----------
    call : callable
        Starts the work.
    wait : callable
        Takes what the last call gave and comes back when it is there.
    count : int
        How many.
    """
    result = None
    start = time.perf_counter()
    for _ in range(count):
        result = call()
    wait(result)
    return (time.perf_counter() - start) / count


def interleaved(
    calls: Mapping[str, tuple[Callable[[], Any], Callable[[Any], Any]]],
    settings: Settings,
) -> tuple[dict[str, float], list[str]]:
    """The best time of a call of each contender, taken in turns.

    Parameters
    ----------
    calls : mapping
        By name what is called and what waits for its result; each has been called before.
    settings : Settings

    Returns
    -------
    best : dict
        Seconds a call.
    failed : list of str
        Of contenders that raised, what.
    """
    best: dict[str, float] = {}
    failed: list[str] = []
    turns: dict[str, int] = {}
    left = dict(calls)
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        for number in range(1 + max(settings.rounds, 1000)):
            if number > settings.rounds and time.perf_counter() - begin > settings.seconds * len(calls):
                break
            for name, (call, wait) in list(left.items()):
                try:
                    if number == 0:
                        one = min(seconds_a_call(call, wait, 1) for _ in range(2))
                        turns[name] = max(1, min(_MOST, int(_TURN / max(one, 1e-9))))
                        continue
                    best[name] = min(seconds_a_call(call, wait, turns[name]), best.get(name, float("inf")))
                except Exception as error:
                    failed.append(failure(name, error))
                    best.pop(name, None)
                    del left[name]
    finally:
        gc.enable()
    return best, failed


def failure(name: str, error: Exception) -> str:
    """That a contender raised, in a line."""
    text = f"{type(error).__name__}: {error}".strip().splitlines()[0]
    return f"{name} failed: {text[:200]}"


def copy_bandwidth(size: int = _COPIED) -> float:
    """Bytes a second, read and written, of copies from one place of the device's memory to another.

    Parameters
    ----------
    size : int, optional
        Bytes that are copied.
    """
    from nxkernel.backends.cuda import devices

    device = devices.device(0)
    source, target = (device.allocate((size,), np.dtype(np.uint8)) for _ in range(2))
    device.fill(source.pointer, 1, size)

    def copy() -> None:
        device.copy(target.pointer, source.pointer, size)

    def wait(result: Any) -> None:
        device.synchronize()

    seconds_a_call(copy, wait, 2)
    return 2 * size / min(seconds_a_call(copy, wait, 10) for _ in range(5))
