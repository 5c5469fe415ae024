"""Pickling definitions: by name where they can be imported, else by their function."""

from __future__ import annotations

import linecache
import os
import pickle
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nxkernel.definitions.calls.definition import Definition

#: Where a definition has the function that is pickled in its place.
ATTRIBUTE = "__nx_pickled__"


def reduced(definition: Definition, plain: type[Definition]) -> str | tuple:
    """The arguments of ``__reduce__`` for a definition.

    A definition of a module is found there by its name. That of a script or notebook is found by its name in processes
    that have the same `__main__`, as those of multiprocessing; in those of joblib, to which cloudpickle takes functions
    of `__main__` by their code, it is made again.

    Parameters
    ----------
    definition : Definition
    plain : type
        The class of definitions: what is of another one stands for something of this process.

    Raises
    ------
    pickle.PicklingError
        For what :func:`nxkernel.compile` made, and whole cells.
    """
    if type(definition) is not plain:
        raise pickle.PicklingError(
            f"{definition!r} is compiled for this process: pickle its function, or a definition, which compiles anew"
        )
    function, text = definition.__nx_function__, None
    if found(definition.__module__, definition.__qualname__) is definition:
        if definition.__module__ != "__main__":
            return definition.__qualname__
        function = getattr(definition, ATTRIBUTE)
    code = getattr(function, "__code__", None)
    if definition.syntax and code is not None and not os.path.exists(code.co_filename):
        # What a cell was written in is known to this process alone.
        text = (code.co_filename, linecache.getlines(code.co_filename))
    settings = {
        "compiler": definition.compiler,
        "on_conflict": definition.on_conflict,
        "syntax": definition.syntax,
        "promotion": definition.face,
        "static_argnames": tuple(sorted(definition.static)),
        "donate_argnames": tuple(sorted(definition.donated)),
        "hooks": dict(definition.hooks),
    }
    return restored, (plain, function, settings, text)


def found(module: str | None, name: str) -> Any:
    """The object with a qualified name in a module; None if there is none."""
    value: Any = sys.modules.get(module or "")
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def stand_in(definition: Definition) -> Callable[..., Any]:
    """The function of a definition under a name where it is found, which its own leads to the definition."""
    function = definition.__nx_function__
    if not isinstance(function, types.FunctionType):
        return function
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__, made.__module__ = function.__kwdefaults__, function.__module__
    made.__qualname__ = f"{definition.__qualname__}.{ATTRIBUTE}"
    return made


def restored(
    plain: type[Definition],
    function: Callable[..., Any],
    settings: dict[str, Any],
    text: tuple[str, list[str]] | None,
) -> Definition:
    """The definition that was pickled: the one that is there, or one that is made alike."""
    if isinstance(function, plain):
        # A method of an object that came over, which it is bound to.
        return function
    name = getattr(function, "__qualname__", "")
    if name.endswith(f".{ATTRIBUTE}"):
        name = name.removesuffix(f".{ATTRIBUTE}")
        known = found(function.__module__, name)
        if isinstance(known, plain) and getattr(known, ATTRIBUTE) is function:
            return known
        function.__qualname__ = name
    if text is not None and text[0] not in linecache.cache:
        file, lines = text
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    return plain(function, **settings)
