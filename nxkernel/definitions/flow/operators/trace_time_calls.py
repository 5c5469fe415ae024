"""Calls that would run only once, at trace time, though meant for each call or iteration: refused."""

from __future__ import annotations

import builtins
import datetime
import os
import random
import time
from collections.abc import Callable
from typing import Any, NoReturn

from nxkernel.definitions.flow.retracing import MustUnrollError
from nxkernel.definitions.keys.static_values import numpys_generators
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.tracing import BodyTrace
from nxkernel.numpy.refused_random import refused as refused_draw

_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_TIMES = {getattr(time, name + ending): f"time.{name}{ending}" for name in _CLOCKS for ending in ("", "_ns")}
#: Those that look at the clock where they are not given a time, with how many arguments come before that.
_TIMES_BY_DEFAULT = {time.localtime: 0, time.gmtime: 0, time.ctime: 0, time.asctime: 0, time.strftime: 1}
#: Class methods of dates that look at the clock.
_DATES = frozenset({"now", "today", "utcnow"})
#: Names of the functions of `random` that draw, or change what is drawn next.
_DRAWS = frozenset(name for name in dir(random.Random) if not name.startswith("_")) - {"getstate"}
#: Functions of other modules that draw; these modules need not be there.
_DRAWS_OF = {
    "secrets": frozenset({"randbelow", "token_bytes", "token_hex", "token_urlsafe"}),
    "uuid": frozenset({"uuid1", "uuid4", "uuid6", "uuid7"}),
}
_OF_SYSTEM = frozenset(getattr(os, name) for name in ("urandom", "getrandom") if hasattr(os, name))


def is_clock_or_draw(function: Any) -> bool:
    """Whether a function looks at a clock, waits, or draws random numbers other than NumPy's.

    Examples
    --------
    >>> [is_clock_or_draw(each) for each in (time.time, random.random, os.urandom, time.struct_time, len)]
    [True, True, True, False, False]
    """
    return _clock_or_draw(function) is not None


def _clock_or_draw(function: Any) -> Callable[..., Any] | None:
    """What to call in place of such a function."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", None)
    if isinstance(owner, random.Random) and name in _DRAWS:
        return _draw(f"random.{name}")
    if isinstance(owner, type) and name in _DATES and issubclass(owner, datetime.date):
        return _clock(f"{owner.__name__}.{name}")
    module = getattr(function, "__module__", None)
    if isinstance(module, str) and name in _DRAWS_OF.get(module, ()):
        return _draw(f"{module}.{name}")
    try:
        return _OF_FUNCTIONS.get(function)
    except TypeError:
        return None


def refused(function: Any) -> Callable[..., NoReturn] | None:
    """What to call in place of a function that would run once: it raises. None for any other function.

    Parameters
    ----------
    function : callable
    """
    owner = getattr(function, "__self__", None)
    if isinstance(owner, numpys_generators()):
        return refused_draw(function.__name__)
    instead = _clock_or_draw(function)
    if instead is not None:
        return instead
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


def _draw(name: str) -> Callable[..., NoReturn]:
    return _refusing(
        f"{name}() in a definition would draw once, when it is traced.",
        "Draw outside and pass the numbers as an argument,",
        "or pass a key: def f(x, key), and nx.random.uniform(key, shape=x.shape).",
    )


def _clock(name: str) -> Callable[..., NoReturn]:
    return _refusing(
        f"{name}() in a definition would look at the clock once, when it is traced.",
        "Take the time outside, around the call: the program itself runs there.",
    )


def _clock_by_default(function: Callable[..., Any], before: int) -> Callable[..., Any]:
    """A function of times that is refused where it is given none."""

    def of_time(*args: Any) -> Any:
        if len(args) > before and args[before] is not None:
            return function(*args)
        return _clock(f"time.{function.__name__}")()

    return of_time


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
}
_OF_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{clock: _clock(name) for clock, name in _TIMES.items()},
    **{function: _clock_by_default(function, before) for function, before in _TIMES_BY_DEFAULT.items()},
    **{function: _draw(f"os.{function.__name__}") for function in _OF_SYSTEM},
    random.SystemRandom: _draw("random.SystemRandom"),
    time.sleep: _refusing(
        "time.sleep() in a definition would wait once, when it is traced.",
        "Wait outside, around the call: the program itself runs there.",
    ),
}
