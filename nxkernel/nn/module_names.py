"""Names of modules in parameter containers: by the variable that holds one, its position in a list, or its kind."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any


def names_of(builder: Callable[..., Any], function: Any, kind: type) -> dict[int, tuple[str, str]]:
    """Names of modules by identity: the key among parameters, and what precedes it in paths, such as ``[2]``."""
    names: dict[int, tuple[str, str]] = {}
    while isinstance(function, functools.partial):
        function = function.func
    subject = getattr(function, "__self__", None if isinstance(function, types.FunctionType) else function)
    spaces = [getattr(subject, "__dict__", {}) if not isinstance(subject, kind) else {}]
    plain = getattr(function, "__func__", function)
    if isinstance(plain, types.FunctionType) and plain.__closure__:
        spaces.append(inspect.getclosurevars(plain).nonlocals)
    listed = _variadic(builder)
    for space in spaces:
        for name, value in space.items():
            if name == listed and isinstance(value, tuple | list):
                for index, layer in enumerate(value):
                    names.setdefault(id(layer), ("", f"[{index}]"))
            for key, layer in _modules(name, value, kind):
                names.setdefault(id(layer), (key, ""))
    return names


def _variadic(builder: Callable[..., Any]) -> str | None:
    """The name of the ``*layers`` parameter of a builder, whose modules are named by kind and position."""
    try:
        parameters = inspect.signature(builder).parameters.values()
    except (TypeError, ValueError):
        return None
    return next((one.name for one in parameters if one.kind is one.VAR_POSITIONAL), None)


def _modules(name: str, value: Any, kind: type) -> list[tuple[str, Any]]:
    if isinstance(value, kind):
        return [(name, value)]
    if isinstance(value, tuple | list):
        return [(f"{name}_{index}", one) for index, one in enumerate(value) if isinstance(one, kind)]
    if isinstance(value, dict):
        return [(f"{name}_{key}", one) for key, one in value.items() if isinstance(one, kind)]
    return []


def name_of(function: Any) -> str:
    """The name of a function or class where it can be a key."""
    name = getattr(function, "__name__", type(function).__name__)
    return name if name.isidentifier() else "function"
