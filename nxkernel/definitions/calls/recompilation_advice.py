"""Advice on how to avoid a recompilation, by what changed in the cache key."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.definitions.calls.arguments import CallArguments
from nxkernel.definitions.keys import callables
from nxkernel.definitions.keys.fast_keys import root_of
from nxkernel.definitions.observe.key_changes import Change, Parts, changes, is_type
from nxkernel.definitions.syntax.sources import tree_of

#: From so many programs of one function on, advice is given that is not worth it before.
MANY = 4
#: The most names in a sentence.
_LISTED = 4


@dataclass(frozen=True)
class Declared:
    """How a definition declares its parameters: static, by keyword, with defaults.

    Parameters
    ----------
    function : callable
        The user's function.
    static_by : str
        The option that declares its static arguments, such as ``static_argnames``.
    """

    function: Any
    static_by: str = "static_argnames"

    def is_bound(self, name: str) -> bool:
        """Whether a ``functools.partial`` binds this option."""
        return isinstance(self.function, functools.partial) and name in self.function.keywords

    def by_keyword(self, name: str) -> bool:
        """Whether a parameter is declared after the ``*``."""
        inner = self.function.func if self.is_bound(name) else self.function
        parameter = callables.signature(inner).parameters.get(name)
        return parameter is not None and parameter.kind is inspect.Parameter.KEYWORD_ONLY

    def limits_a_loop(self, name: str) -> bool:
        """Whether a number limits a loop: it is in its ``range``, or in the condition of its ``while``."""
        code = getattr(callables.plain(self.function), "__code__", None)
        tree = tree_of(code) if code is not None else None
        for node in ast.walk(tree) if tree is not None else ():
            loop = node.iter if isinstance(node, ast.For) else node.test if isinstance(node, ast.While) else None
            if loop is None or (isinstance(node, ast.For) and not _is_range(loop)):
                continue
            if any(isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each) == name for each in ast.walk(loop)):
                return True
        return False


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def advice(changed: Sequence[Change], arguments: CallArguments, declared: Declared, programs: int = 0) -> str:
    """What the user could change so that such calls hit the cache; empty when there is nothing to say.

    Parameters
    ----------
    changed : sequence of Change
        The differences from the closest program.
    arguments : CallArguments
        The arguments of the call.
    declared : Declared
    programs : int, optional
        How many programs the function has: advice that is not worth giving for a few is given for many.
    """
    if not changed:
        return ""
    for change in changed:
        if change.role == "argument" and change.there.startswith("f32") and change.here == "f64" + change.there[3:]:
            return _of_float64(change, arguments)
    if all(change.kind == "number" and change.role for change in changed):
        return _of_numbers(changed, arguments, declared, programs)
    if programs >= MANY and all(map(_is_of_type, changed)) and len({change.role for change in changed}) == 1:
        return _of_types(changed)
    static = [name for change in changed if change.role == "argument" for name in change.names]
    if len(changed) > 1 and len(static) >= len(changed) and {*map(root_of, static)} <= {*arguments.placed}:
        return f"{_listed(static)} are static arguments: each new value makes a program of its own."
    if len(changed) > 1:
        return ""
    (change,) = changed
    if change.role == "argument":
        return _of_argument(change, arguments, programs)
    # A number that became a tensor did what is advised elsewhere: its next values make no programs.
    if programs >= MANY and change.role and change.kind == "value" and not is_type(change.here):
        what = "the option " if change.role == "option" else ""
        return f"Each new value of {what}{change.name} is a program of its own: keep to a few values."
    return ""


def unwatched(captures: Mapping[str, str]) -> str:
    """Advice about captured values that cannot be compared and so are read anew at each call.

    Parameters
    ----------
    captures : mapping
        A description of each value: ``"captured frame"`` to ``"a DataFrame, …"``.
    """
    name = next(iter(captures)).partition(" ")[2]
    return (
        f"To have it traced once, read what it needs of {name} outside, into a number, a list, a dict or an array: "
        "changes of those are seen."
    )


def of_computed_numbers(programs: int) -> str:
    """Advice where a function is compiled for numbers that it computes itself, such as how many elements a mask picks.

    Parameters
    ----------
    programs : int
        For how many of them there are programs.
    """
    if programs + 1 < MANY:
        return ""
    return (
        "Each new number there is a program of its own: keep the shape that all of them fit into, as in "
        "np.where(mask, x, 0), or call NumPy itself."
    )


def _is_of_type(change: Change) -> bool:
    return bool(change.role) and change.kind == "type" and is_type(change.there) and is_type(change.here)


def _of_types(changed: Sequence[Change]) -> str:
    """Advice for arrays whose types or shapes keep changing."""
    names = [name for change in changed for name in change.names]
    keeps, each = ("keeps", "it") if len(names) == 1 else ("keep", "them")
    shown = _listed(names if len(names) <= _LISTED else [*names[:_LISTED], f"{len(names) - _LISTED} more"])
    if changed[0].role == "captured":
        return (
            f"{shown} {keeps} changing: values of arrays are read at every call, and only another type or shape is "
            f"traced anew; pad {each} to a few fixed shapes of one type."
        )
    return (
        f"{shown} {keeps} changing: pad {each} to a few fixed shapes of one type, or group the calls by shape; each is "
        "traced once."
    )


def _of_float64(change: Change, arguments: CallArguments) -> str:
    """Advice for 64-bit arrays where 32-bit ones were compiled for."""
    name = change.name
    value = arguments.values[arguments.paths.index(name)]
    came = "tensor"
    if isinstance(value, np.ndarray | np.generic):
        came = "NumPy array" if isinstance(value, np.ndarray) else "NumPy number"
    if len(change.names) == 1:
        return f'float64 came in from a {came}; nx.as_type({name}, "f32") keeps the compiled f32 program.'
    return (
        f'float64 came in from {len(change.names)} {came}s; nx.as_type({name}, "f32"), and so for the others, keeps '
        f"the "
        "compiled f32 program."
    )


def _of_argument(change: Change, arguments: CallArguments, programs: int) -> str:
    """Advice for an argument that is no number, or whose type, shape or length changes."""
    if root_of(change.name) in arguments.placed:
        return f"{change.name} is a static argument: each new value makes a program of its own."
    if programs < MANY:
        return ""
    if change.kind == "length":
        return (
            f"Each length of {change.name} makes a program of its own: keep to a few lengths, or pass one array, "
            f"padded "
            "to a few fixed shapes."
        )
    return ""


_FIXED = (
    "The value of {name} is needed while tracing, as for a shape or an axis: each new value makes a program of its own."
)


def _of_numbers(changed: Sequence[Change], arguments: CallArguments, declared: Declared, programs: int) -> str:
    """Advice for numbers that are part of the cache key."""
    static = [name for change in changed if change.role == "argument" for name in change.names]
    if static:
        if len(static) > 1 or len(changed) > 1:
            return ""
        (name,) = static
        if name in arguments.fixed:
            return _FIXED.format(name=name)
        if name in arguments.inputs_now:
            return ""
        if root_of(name) != name:
            return (
                f"{name} is a static field: each new value makes a program of its own. Where it only feeds arithmetic, "
                "declare it among the fields that hold tensors."
            )
        return (
            f"{name} is a static argument: each new value makes a program of its own. Where it only feeds arithmetic, "
            f"take it out of {declared.static_by}."
        )
    names = [name for change in changed for name in change.names]
    behind = [
        name for change in changed if change.role == "option" for name in change.names if declared.by_keyword(name)
    ]
    partial = [name for name in names if declared.is_bound(name)]
    it, they, one = ("it", "it keeps", "a positional argument") if len(names) == 1 else (
        "them", "they keep", "positional arguments")  # fmt: skip
    shown = _listed(names)
    how = [f"declare {it if behind == names else _listed(behind)} before `*`"] if behind else []
    how += [f"leave {it if partial == names else _listed(partial)} out of functools.partial"] if partial else []
    how += [f"pass {it} by position" if how else f"pass {it} as {one}"]
    how_to = f"{', '.join(how[:-1])} and {how[-1]}" if len(how) > 1 else how[0]
    if not all(change.integers for change in changed):
        are = "is a number" if len(names) == 1 else "are numbers"
        return (
            f"{shown} {are}, and each new one makes a program of its own: if {they} changing, {how_to}, and it will be "
            "compiled once."
        )
    if all(map(declared.limits_a_loop, names)):
        limits = "says" if len(names) == 1 else "say"
        return (
            f"{shown} {limits} how often a loop turns: {how_to}, and it will be compiled once for any number of turns."
        )
    if programs >= MANY:
        what = f"the option {shown}" if changed[0].role == "option" and len(names) == 1 else shown
        feeds = "it only feeds" if len(names) == 1 else "they only feed"
        return (
            f"Each new value of {what} is a program of its own: keep to a few values, or, where {feeds} arithmetic, "
            f"{how_to}."
        )
    return ""


def restless(function: str, before: Parts, after: Parts) -> str:
    """The note on a function that changes its own captures while it is traced, so that its program is not kept."""
    changed = list(dict.fromkeys(name for change in changes(before, after) for name in change.names))
    return (
        f"{function} changed {', '.join(changed) or 'what it captures'} while it was traced, so its program was not "
        "kept. Return values instead of storing them."
    )


def changing(function: str, places: Collection[str]) -> str:
    """The note on a function that changes what is outside of it, so that each call runs it."""
    return (
        f"{function} changes {_listed(places)} when it is traced, so its program was not kept: each call traces it. "
        f"Change that where {function} is called."
    )


def _listed(names: Collection[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
