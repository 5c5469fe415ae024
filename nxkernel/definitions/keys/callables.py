"""Callables that definitions are made of (functions, methods, partials, objects): name, location and signature."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel.numpy import forwarding


def without_partials(function: Any) -> Any:
    """What partials call in the end."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def plain(function: Any) -> Any:
    """The Python function behind a method, partial or callable object."""
    function = without_partials(function)
    function = getattr(function, "__func__", function)
    return function if isinstance(function, types.FunctionType) else type(function).__call__


def name(function: Any) -> str:
    """The name of a function, as messages have it."""
    function = without_partials(function)
    return getattr(function, "__name__", type(function).__name__)


def qualified_name(function: Any) -> str:
    """Module and qualified name of a function; empty for lambdas and inner functions, which may have several."""
    name = getattr(function, "__qualname__", "<")
    return "" if "<" in name else f"{getattr(function, '__module__', '')}.{name}"


def module_of(function: Any) -> str:
    """The name of the module that a function, class or object is of: of a Python function, where its code stands.

    Its ``__module__`` may be another one's, which decorators give it with :func:`functools.wraps`.
    """
    if isinstance(function, types.FunctionType):
        return str(function.__globals__.get("__name__", ""))
    return str(getattr(function, "__module__", ""))


def made_of(function: Any) -> list[Any]:
    """Objects that identify a function as long as nobody changes it: code, defaults, and arguments of partials.

    They are the code and defaults of the Python function behind it, and what partials bind.
    """
    objects: list[Any] = []
    while isinstance(function, functools.partial):
        objects += [len(function.args), *function.args, len(function.keywords), *function.keywords]
        objects += function.keywords.values()
        function = function.func
    function = plain(function)
    if not isinstance(function, types.FunctionType):
        return objects
    keywords = function.__kwdefaults__ or {}
    return [*objects, function.__code__, function.__defaults__, len(keywords), *keywords, *keywords.values()]


def bound_names(function: functools.partial) -> list[str]:
    """The parameter names of the positional arguments that a partial binds.

    Examples
    --------
    >>> bound_names(functools.partial(round, 1.5)), bound_names(functools.partial(lambda x, *rest: x, 1, 2, 3))
    (['number'], ['x', 'rest[0]', 'rest[1]'])
    """
    names: list[str] = []
    rest = "args"
    for parameter in signature(function.func).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter.name
            break
        if parameter.kind is parameter.KEYWORD_ONLY:
            break
        names.append(parameter.name)
    count = len(function.args)
    return [*names[:count], *(f"{rest}[{number}]" for number in range(count - len(names)))]


def rest(signature: inspect.Signature, count: int) -> list[str]:
    """The names of arguments that go into ``*args``.

    Examples
    --------
    >>> rest(inspect.signature(lambda x, *signals: x), 2)
    ['signals[0]', 'signals[1]']
    """
    kinds = [p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL]
    name = kinds[0] if kinds else "arguments"
    return [f"{name}[{number}]" for number in range(count)]


def rest_by_position(
    signature: inspect.Signature, arguments: Sequence[Any], named: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of a call, where some that go into ``*args`` have names as :func:`rest` makes them.

    These go by position, and so do all before them, and those that cannot be named.

    Parameters
    ----------
    signature : inspect.Signature
    arguments : sequence
        The first ones, by position.
    named : dict
        The others, by name.

    Examples
    --------
    >>> rest_by_position(inspect.signature(lambda x, y=2, *z: x), [1], {"z[1]": 4, "z[0]": 3})
    ([1, 2, 3, 4], {})
    """
    many = next((name.partition("[")[0] for name in named if "[" in name), None)
    placed, left = [*arguments], dict(named)
    parameters = signature.parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    unnamed = [place for place, p in enumerate(positional) if p.kind is p.POSITIONAL_ONLY and p.name in left]
    count = max(unnamed, default=-1) + 1 if many is None else len(positional)
    placed += [left.pop(parameter.name, parameter.default) for parameter in positional[len(placed) : count]]
    if many is None:
        return placed, left
    number = len(placed) - len(positional)
    while f"{many}[{number}]" in left:
        placed.append(left.pop(f"{many}[{number}]"))
        number += 1
    return placed, left


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function; one that takes anything where Python does not know it."""
    try:
        found = inspect.signature(function)
        if isinstance(function, functools.partial) and isinstance(without_partials(function), forwarding.Forwarded):
            found = forwarding.open_signature(found.parameters.values())
        return found
    except (TypeError, ValueError):
        # Some functions written in C do not tell.
        kinds = inspect.Parameter
        return inspect.Signature([kinds("args", kinds.VAR_POSITIONAL), kinds("options", kinds.VAR_KEYWORD)])
