"""Texts of objects of the user's classes that hold traced values: what their ``__str__`` and the like give."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any

from nxkernel.definitions.flow.values import followed_classes, object_changes
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.keys.static_values import installed, own_class
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import TracedValue
from nxkernel.messages.grammar import a
from nxkernel.operand import Proxy


def told(value: Any, method: str, text: Callable[..., Any], *spec: Any) -> Any:
    """What stands for an object in a text: traced text where its class makes that, or the object itself.

    Parameters
    ----------
    value : object
    method : str
        Which one Python would call.
    text : callable
        Makes an f-string of parts.
    *spec : str
        What that takes besides the object.

    Raises
    ------
    NxTypeError
        Where its class makes the text by what is not rewritten.
    """
    class_ = own_class(type(value))
    if (
        installed(class_)
        or isinstance(value, TracedValue | Proxy | BaseException | type)
        or not object_changes.holds_traced(value)
    ):
        return value
    function = getattr(class_, method)
    if method == "__format__" and function is object.__format__:
        return told(value, "__str__", text)
    if method == "__str__" and function is object.__str__:
        return told(value, "__repr__", text)
    if function is object.__repr__:
        return value
    if isinstance(function, types.FunctionType) and source_locations.is_users(function.__code__.co_filename):
        made = followed_classes.rewritten(function) if followed_classes.has_text(function) else None
        if made is not None:
            return made(value, *spec)
    if method == "__repr__" and dataclasses.is_dataclass(class_) and class_.__dataclass_params__.repr:
        parts: list[Any] = []
        for field in dataclasses.fields(class_):
            if field.repr:
                parts += [", " if parts else "", f"{field.name}=", (getattr(value, field.name), "r", "")]
        return text(f"{class_.__qualname__}(", *parts, ")")
    raise NxTypeError(
        message(
            f"{a(class_.__name__)} makes text of traced values, and its {method} is not Python code of its own.",
            "Say its attributes one by one.",
        )
    )
