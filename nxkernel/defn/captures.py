"""What a function reads besides its arguments: globals, variables of enclosing functions, and attributes of those.

Arrays and tensors become implicit arguments: their values are read at every call. Numbers, strings and other constants
are compared at every call and part of the key. Functions of the user's are followed into their own captures, and count
by the content of their code.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.defn import fingerprint
from nxkernel.tensor.tensor import Tensor

_MISSING = object()
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


@dataclass(frozen=True, slots=True)
class Capture:
    """A name that a function reads from outside.

    Parameters
    ----------
    name : str
        As the person wrote it: ``weights`` or ``config.rate``.
    read : callable
        Gives the value now; ``_MISSING`` when there is none.
    """

    name: str
    read: Callable[[], Any]


def is_array(value: Any) -> bool:
    """Whether a captured value is read as an implicit argument."""
    return isinstance(value, Tensor | np.ndarray)


class Captures:
    """The captures of one function, with those of the functions that it calls."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self._own = _scan(function)

    def walk(self) -> list[Capture]:
        """Every capture, those of the user's functions that are called included."""
        found: list[Capture] = []
        seen: set[int] = set()
        todo = [self.function]
        while todo:
            function = todo.pop()
            if id(function.__code__) in seen:
                continue
            seen.add(id(function.__code__))
            for capture in self._own if function is self.function else _scan(function):
                found.append(capture)
                inner = _user_function(capture.read())
                if inner is not None:
                    todo.append(inner)
        return found


def state(value: Any) -> Any:
    """What of a captured value goes into a key; None for arrays, whose values do not."""
    if is_array(value) or value is _MISSING:
        return None
    if isinstance(value, _CONSTANTS):
        return (type(value).__name__, repr(value))
    inner = _user_function(value)
    if inner is not None:
        return ("function", fingerprint.of_function(inner))
    if isinstance(value, np.generic):
        return (type(value).__name__, repr(value))
    if isinstance(value, tuple | list):
        return (type(value).__name__, *(_inside(item) for item in value))
    if isinstance(value, dict):
        return ("dict", *((repr(key), _inside(item)) for key, item in value.items()))
    return ("object", id(value))


def _inside(value: Any) -> Any:
    """The state of a member of a container; arrays there count by identity, type and shape."""
    if is_array(value):
        return ("array", id(value), str(value.dtype), value.shape)
    return state(value)


def describe(value: Any) -> str:
    """A captured value for people."""
    if value is _MISSING:
        return "not defined"
    if is_array(value):
        return str(value.spec) if isinstance(value, Tensor) else f"{value.dtype}{list(value.shape)}"
    if isinstance(value, _CONSTANTS):
        return repr(value)
    if _user_function(value) is not None:
        return f"code of {getattr(value, '__name__', 'a function')}"
    return f"a {type(value).__name__}"


def _user_function(value: Any) -> types.FunctionType | None:
    """The Python function behind a value, if the user wrote it: installed packages are not followed."""
    function = getattr(value, "__nx_function__", value)
    if isinstance(function, types.FunctionType) and not _installed(function):
        return function
    return None


@functools.lru_cache(maxsize=4096)
def _installed_file(file: str) -> bool:
    return "site-packages" in file or "dist-packages" in file or file.startswith((sys.base_prefix, "<frozen"))


def _installed(function: types.FunctionType) -> bool:
    package = (function.__module__ or "").partition(".")[0]
    return package in ("nxkernel", "numpy", "scipy", "builtins") or _installed_file(function.__code__.co_filename)


def _scan(function: types.FunctionType) -> tuple[Capture, ...]:
    """The captures of one function, in the order in which its code names them."""
    names: dict[tuple[str, ...], str] = {}
    for path, where in _paths(function.__code__):
        names.setdefault(path, where)
    captures = []
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for path, where in names.items():
        root = path[0]
        if where == "free" and root not in cells:
            continue
        if where == "global" and root not in function.__globals__ and hasattr(__builtins__, root):
            continue
        read_root = (
            functools.partial(_read_cell, cells[root])
            if where == "free"
            else functools.partial(function.__globals__.get, root, _MISSING)
        )
        first = read_root()
        if first is _MISSING and where == "global" and root in _BUILTINS:
            continue
        captures.append(_capture(path, read_root, first))
    unique = {capture.name: capture for capture in captures if capture is not None}
    return tuple(unique.values())


_BUILTINS = frozenset(dir(__import__("builtins")))


def _read_cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _capture(path: tuple[str, ...], read_root: Callable[[], Any], first: Any) -> Capture | None:
    """The capture of a dotted path: of the root, or of what its attributes lead to while they are plain data."""
    value, depth = first, 0
    while depth < len(path) - 1 and not is_array(value) and not isinstance(value, _CONSTANTS):
        inner = _attribute(value, path[depth + 1])
        if inner is _MISSING or (callable(inner) and _user_function(inner) is None):
            break
        value, depth = inner, depth + 1
    if isinstance(first, types.ModuleType) and depth == 0:
        # A function or class of a module: it changes only with the installation.
        return Capture(path[0], read_root)
    if depth == 0:
        return Capture(path[0], read_root)
    attributes = path[1 : depth + 1]

    def read() -> Any:
        found = read_root()
        for name in attributes:
            found = _attribute(found, name)
        return found

    return Capture(".".join(path[: depth + 1]), read)


def _attribute(value: Any, name: str) -> Any:
    return getattr(value, name, _MISSING)


def _paths(code: types.CodeType) -> list[tuple[tuple[str, ...], str]]:
    """The dotted names that code loads from outside, with where their roots are looked up."""
    found: list[tuple[tuple[str, ...], str]] = []
    path: list[str] = []
    where = ""

    def close() -> None:
        if path:
            found.append((tuple(path), where))
            path.clear()

    free = set(code.co_freevars)
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            close()
            path.append(instruction.argval)
            where = "global"
        elif name in ("LOAD_DEREF", "LOAD_CLASSDEREF") and instruction.argval in free:
            close()
            path.append(instruction.argval)
            where = "free"
        elif name in ("LOAD_ATTR", "LOAD_METHOD") and path:
            path.append(instruction.argval)
        elif name not in ("PRECALL", "CACHE", "PUSH_NULL"):
            close()
    close()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _paths(constant)
            # A variable of this function that an inner one reads is no capture of this one.
            found += [(p, w) for p, w in inner if w == "global" or p[0] in free]
    return found


def sort_out(captures: list[Capture]) -> tuple[list[tuple[Capture, Any]], list[tuple[Capture, Any]]]:
    """Arrays, and everything else, each with its value now; names bound to modules are left out."""
    arrays, constants = [], []
    for capture in captures:
        value = capture.read()
        if isinstance(value, types.ModuleType | types.BuiltinFunctionType | type):
            continue
        (arrays if is_array(value) else constants).append((capture, value))
    return arrays, constants
