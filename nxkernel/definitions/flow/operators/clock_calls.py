"""Clocks and generators of random numbers that a function names: where it is traced as it is, nobody sees the call."""

from __future__ import annotations

import functools
import random
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

from nxkernel.definitions.captures.object_contents import contents_of
from nxkernel.definitions.flow.operators import trace_time_calls
from nxkernel.definitions.keys import bytecode_reads
from nxkernel.definitions.keys.bytecode_reads import Path
from nxkernel.definitions.keys.static_values import attributes_of, definition_of, installed

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
#: Modules that a function may import itself.
_MODULES = frozenset({"datetime", "random", "secrets", "time", "uuid"})


def are_named(function: Any) -> bool:
    """Whether a function, or one of the user's that it reaches by name, names a clock or a generator of Python's.

    Parameters
    ----------
    function : callable
        A function, method, partial, definition or callable object.

    Examples
    --------
    >>> import time
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
        if issubclass(type(one), _FUNCTIONS) and trace_time_calls.is_clock_or_draw(one):
            return True
        if issubclass(type(one), random.Random) or one is random.SystemRandom:
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
