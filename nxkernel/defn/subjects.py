"""What a definition is made of: the name, the place and the parameters of a function, method, partial or object."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any


def plain(function: Any) -> Any:
    """The Python function behind a method, partial or callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    return function if isinstance(function, types.FunctionType) else type(function).__call__


def name(function: Any) -> str:
    """What people call it."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def place(function: Any) -> str:
    """Where a function is defined, for those that have one definition: not for lambdas and what functions make."""
    name = getattr(function, "__qualname__", "<")
    return "" if "<" in name else f"{getattr(function, '__module__', '')}.{name}"


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Its parameters."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        # Some functions written in C do not tell.
        kinds = inspect.Parameter
        return inspect.Signature([kinds("args", kinds.VAR_POSITIONAL), kinds("options", kinds.VAR_KEYWORD)])
