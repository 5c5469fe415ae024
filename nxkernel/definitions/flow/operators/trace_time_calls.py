"""Calls that would run only once, at trace time, though meant for each call or iteration: refused."""

from __future__ import annotations

import builtins
import os
import random
import time
from collections.abc import Callable
from typing import Any, NoReturn

from nxkernel.definitions.flow.operators import random_draws
from nxkernel.definitions.flow.retracing import MustUnrollError
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.tracing import BodyTrace
from nxkernel.numpy.refused_random import refused as refused_draw

_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_TIMES = {getattr(time, name + ending): f"time.{name}{ending}" for name in _CLOCKS for ending in ("", "_ns")}


def refused(function: Any) -> Callable[..., NoReturn] | None:
    """What to call in place of a function that would run once: it raises. None for any other function.

    Parameters
    ----------
    function : callable
    """
    owner = getattr(function, "__self__", None)
    if random_draws.draw_by(function) is not None or random_draws.makes(function):
        if not (isinstance(owner, random.Random) or function in (random.Random, random.SystemRandom)):
            return refused_draw(function.__name__)
        return _refusing(
            f"random.{function.__name__}() in a definition would draw once, when it is traced.",
            "Draw outside and pass the numbers as an argument,",
            "or pass a key: def f(x, key), and nx.random.uniform(key, shape=x.shape).",
        )
    if function is os.getenv or owner is os.environ:
        return _refusing(
            "a definition would read the environment once, when it is traced.",
            "Read it outside, as in level = os.environ.get('LEVEL'): the name is compared at each call.",
        )
    try:
        return _FUNCTIONS.get(function)
    except TypeError:
        return None


def _refusing(what: str, *hints: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise NxTypeError(message(what, *hints))

    return refuse


def _next(*args: Any) -> Any:
    """``next``: an iteration of a loop of the program, or a side of its branches, would take one item for all of
    them.
    """
    if isinstance(tracing.current(), BodyTrace):
        raise MustUnrollError("it takes the next item of an iterator")
    return builtins.next(*args)


def _open(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
    """``open``, for reading: a function that reads files is traced at each call."""
    if not set(mode).isdisjoint("wax+"):
        raise NxTypeError(
            message(
                f"open(..., {mode!r}) in a definition would write when it is traced, once for many calls or twice for "
                "one.",
                "Return what is to be written, and open the file where the definition is called.",
                "nx.hook(x, function) calls a function with a value each time that the program has run.",
            )
        )
    return builtins.open(file, mode, *args, **options)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    builtins.next: _next,
    builtins.open: _open,
    builtins.globals: _refusing(
        "globals() in a definition is looked at once, when it is traced.",
        "Write the name itself, or pass a dict: names and dicts are compared at each call.",
    ),
    **{
        clock: _refusing(
            f"{name}() in a definition would look at the clock once, when it is traced.",
            "Take the time outside, around the call: the program itself runs there.",
        )
        for clock, name in _TIMES.items()
    },
}
