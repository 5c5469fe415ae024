"""Pickling definitions: by name where they can be imported, else by their function."""

from __future__ import annotations

import contextlib
import linecache
import os
import pickle
import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from nxkernel.definitions.keys import callables

if TYPE_CHECKING:
    from nxkernel.definitions.calls.definition import Definition

#: Where a definition has the function that is pickled in its place.
ATTRIBUTE = "__nx_pickled__"


class _Sources(NamedTuple):
    """Text that is in no file: the name of its file for each function of it, and the lines of each such file."""

    files: dict[tuple[str, int], str]
    texts: dict[str, list[str]]


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
    function, sources = definition.__nx_function__, None
    if found(definition.__module__, definition.__qualname__) is definition:
        if definition.__module__ != "__main__":
            return definition.__qualname__
        function = getattr(definition, ATTRIBUTE)
    if definition.syntax:
        sources = _sources(definition.__nx_function__)
    # A bound method has the text of its function, which its class does not have under its name.
    is_ruled_by_itself = callables.plain(definition.ruled_by) is callables.plain(definition.__nx_function__)
    settings = {
        "compiler": definition.compiler,
        "on_conflict": definition.on_conflict,
        "syntax": definition.syntax,
        "promotion": definition.promotion,
        "ruled_by": None if is_ruled_by_itself else definition.ruled_by,
        "static_argnames": tuple(sorted(definition.static)),
        "donate_argnames": tuple(sorted(definition.donated)),
        "hooks": dict(definition.hooks),
    }
    return restored, (plain, function, settings, sources)


def _sources(function: Callable[..., Any]) -> _Sources:
    """The text of cells that a function and what it calls were written in, which this process alone knows."""
    files, texts = {}, {}
    for one in _helpers(function):
        file = one.__code__.co_filename
        if not os.path.exists(file):
            files[one.__code__.co_qualname, one.__code__.co_firstlineno] = file
            texts[file] = linecache.getlines(file)
    return _Sources(files, texts)


def _helpers(function: Callable[..., Any]) -> Iterator[types.FunctionType]:
    """A function, and the plain functions that it and they refer to by names."""
    seen, waiting = set(), [function]
    while waiting:
        one = waiting.pop()
        one = one.__func__ if isinstance(one, types.MethodType) else one
        if not isinstance(one, types.FunctionType) or one in seen:
            continue
        seen.add(one)
        yield one
        names, codes = set(), [one.__code__]
        while codes:
            code = codes.pop()
            names.update(code.co_names)
            codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        waiting += [one.__globals__[name] for name in names if name in one.__globals__]
        for cell in one.__closure__ or ():
            with contextlib.suppress(ValueError):  # a name that has no value yet
                waiting.append(cell.cell_contents)


def found(module: str | None, name: str) -> Any:
    """The object with a qualified name in a module; None if there is none."""
    value: Any = sys.modules.get(module or "")
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def placeholder(definition: Definition) -> Callable[..., Any]:
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
    sources: _Sources | None,
) -> Definition:
    """The definition that was pickled: the one that is there, or one that is made alike.

    Functions that came over by their code may have lost the name of their file, as cloudpickle's do: they get it back,
    since by it their text is found.
    """
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
    if sources is not None:
        for file, lines in sources.texts.items():
            linecache.cache.setdefault(file, (sum(map(len, lines)), None, lines, file))
        for one in _helpers(function):
            code = one.__code__
            file = sources.files.get((code.co_qualname, code.co_firstlineno))
            if file is not None and code.co_filename != file and not linecache.getlines(code.co_filename):
                one.__code__ = _of_file(code, file)
    return plain(function, **settings)


def _of_file(code: types.CodeType, file: str) -> types.CodeType:
    """The same code under another name of its file, with the functions in it."""
    inner = [_of_file(each, file) if isinstance(each, types.CodeType) else each for each in code.co_consts]
    return code.replace(co_filename=file, co_consts=tuple(inner))
