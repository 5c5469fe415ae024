"""Calls that would run only once, at trace time, though meant for each call or iteration: refused."""

from __future__ import annotations

import builtins
import datetime
import functools
import os
import random
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from nxkernel import types as rules
from nxkernel.definitions.captures.object_contents import contents_of
from nxkernel.definitions.flow.operators import random_draws
from nxkernel.definitions.flow.retracing import MustUnrollError
from nxkernel.definitions.keys import bytecode_reads
from nxkernel.definitions.keys.bytecode_reads import Path
from nxkernel.definitions.keys.static_values import attributes_of, definition_of, installed
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
#: Functions that draw of what the system has; these modules need not be there.
_DRAWS_OF = {
    "secrets": frozenset({"randbelow", "token_bytes", "token_hex", "token_urlsafe"}),
    "uuid": frozenset({"uuid1", "uuid4", "uuid6", "uuid7"}),
}
_OF_SYSTEM = frozenset(getattr(os, name) for name in ("urandom", "getrandom") if hasattr(os, name))
#: What reads the state of a generator, which is compared at each call.
_READING = frozenset({"getstate", "get_state"})
_CALLED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
#: Modules that a function may import itself.
_MODULES = frozenset({"datetime", "random", "secrets", "time", "uuid"})


def _clock(function: Any) -> Callable[..., Any] | None:
    """What to call in place of what looks at a clock, waits, or draws of what the system has."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", None)
    if isinstance(owner, type) and name in _DATES and issubclass(owner, datetime.date):
        return _refusing_clock(f"{owner.__name__}.{name}")
    module = getattr(function, "__module__", None)
    if isinstance(module, str) and name in _DRAWS_OF.get(module, ()):
        return _refusing_draw(f"{module}.{name}")
    try:
        return _OF_FUNCTIONS.get(function)
    except TypeError:
        return None


def _draw(function: Any) -> Callable[..., NoReturn] | None:
    """What to call in place of what draws from a generator of random numbers, or makes one."""
    draw = random_draws.draw_by(function)
    if draw is None and not random_draws.makes(function):
        return None
    if draw is not None and draw.name in _READING and not rules.follows_numpy():
        return None
    maker = function if isinstance(function, type) else None
    of_python = issubclass(maker or type(getattr(function, "__self__", None)), random.Random)
    return _refusing_draw(f"random.{function.__name__}") if of_python else refused_draw(function.__name__)


def refused(function: Any) -> Callable[..., NoReturn] | None:
    """What to call in place of a function that would run once: it raises. None for any other function.

    Parameters
    ----------
    function : callable
    """
    instead = _clock(function) or _draw(function)
    if instead is not None:
        return instead
    if function is os.getenv or getattr(function, "__self__", None) is os.environ:
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


def _refusing_draw(name: str) -> Callable[..., NoReturn]:
    return _refusing(
        f"{name}() in a definition would draw once, when it is traced.",
        "Draw outside and pass the numbers as an argument,",
        "or pass a key: def f(x, key), and nx.random.uniform(key, shape=x.shape).",
    )


def _refusing_clock(name: str) -> Callable[..., NoReturn]:
    return _refusing(
        f"{name}() in a definition would look at the clock once, when it is traced.",
        "Take the time outside, around the call: the program itself runs there.",
    )


def _clock_by_default(function: Callable[..., Any], before: int) -> Callable[..., Any]:
    """A function of times that is refused where it is given none."""

    def of_time(*args: Any) -> Any:
        if len(args) > before and args[before] is not None:
            return function(*args)
        return _refusing_clock(f"time.{function.__name__}")()

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
    **{clock: _refusing_clock(name) for clock, name in _TIMES.items()},
    **{function: _clock_by_default(function, before) for function, before in _TIMES_BY_DEFAULT.items()},
    **{function: _refusing_draw(f"os.{function.__name__}") for function in _OF_SYSTEM},
    time.sleep: _refusing(
        "time.sleep() in a definition would wait once, when it is traced.",
        "Wait outside, around the call: the program itself runs there.",
    ),
}


# Names --------------------------------------------------------------------------------------------------------


def are_named(function: Any, draws: bool = True) -> bool:
    """Whether a function, or one of the user's that it reaches by name, names a clock or random numbers.

    Parameters
    ----------
    function : callable
        A function, method, partial, definition or callable object.
    draws : bool, optional
        Whether generators of random numbers count, from which NumPy programs draw at each run.

    Examples
    --------
    >>> are_named(lambda x: x + time.time()), are_named(lambda x: x + 1)
    (True, False)
    """
    waiting, met = [function], {}
    while waiting:
        one = waiting.pop()
        if id(one) in met:
            continue
        met[id(one)] = one
        # Others may run code of their own when they are asked for an attribute.
        if issubclass(type(one), _CALLED) and (_clock(one) or (draws and _draw(one))):
            return True
        if draws and (random_draws.makes(one) or issubclass(type(one), random.Random)):
            return True
        waiting += _reached(one)
    return False


def _reached(one: Any) -> Iterator[Any]:
    """What code is run where a value is called, and what it names."""
    inner = definition_of(one)
    if inner is not None:
        yield inner
    elif isinstance(one, functools.partial):
        yield from (one.func, *one.args, *one.keywords.values())
    elif isinstance(one, types.MethodType):
        yield one.__func__
        yield from (attributes_of(one.__self__) or {}).values()
    elif isinstance(one, types.FunctionType):
        if hasattr(one, "__nx_transform__"):
            # Made of a function of the user's, which it captures.
            yield from map(contents_of, one.__closure__ or ())
        elif not installed(one):
            found = (_found(one, path) for path in bytecode_reads.of_code(one.__code__).paths)
            yield from (value for value in found if value is not None)
    elif isinstance(one, type):
        if not installed(one):
            yield from (each for each in vars(one).values() if isinstance(each, types.FunctionType))
    elif callable(one) and not installed(one):
        yield type(one).__call__
        yield from (attributes_of(one) or {}).values()


def _found(function: types.FunctionType, path: Path) -> Any:
    """What a dotted name in the code of a function stands for; None where that is not known."""
    name, *rest = path.names
    if path.root == "import":
        # What is called of a module that has a local name is not known: a clock may be.
        value = time.time if not rest and name in _MODULES else sys.modules.get(name)
    elif path.root == "global":
        value = function.__globals__.get(name)
    elif path.root == "free":
        value = contents_of((function.__closure__ or ())[function.__code__.co_freevars.index(name)])
    else:
        return None
    for attribute in rest:
        value = _attribute(value, attribute)
    return value


def _attribute(value: Any, name: str) -> Any:
    """An attribute, without running code of the user's; None where it is not known."""
    if isinstance(value, types.ModuleType):
        return vars(value).get(name)
    if isinstance(value, random.Random) or (isinstance(value, type) and installed(value)):
        return getattr(value, name, None)
    own = (attributes_of(value) or {}).get(name)
    if own is not None:
        return own
    kinds = value.__mro__ if isinstance(value, type) else type(value).__mro__
    found = next((vars(kind)[name] for kind in kinds if name in vars(kind)), None)
    return found if isinstance(found, types.FunctionType) else None
