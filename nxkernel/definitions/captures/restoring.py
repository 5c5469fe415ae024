"""Undoing a trace that was made only for an explanation: captured objects are restored to their snapshot."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nxkernel.definitions.captures import object_contents, object_states
from nxkernel.definitions.keys import bytecode_reads
from nxkernel.definitions.keys.static_values import MISSING, definition_of, installed

_NONE = object()


def run_and_restore(values: Iterable[Any], trace: Callable[[], Any]) -> Any:
    """Run a trace and then restore the contents of these values.

    What is bound to a context, such as a variable of `contextvars`, is bound in a copy of it.

    Parameters
    ----------
    values : iterable
        Functions, objects, classes and containers.
    trace : callable
    """
    undo = [step for value in values for step in _kept(value)]
    try:
        return contextvars.copy_context().run(trace)
    finally:
        for step in reversed(undo):
            with contextlib.suppress(Exception):
                # What does not let itself be put back, such as the attribute of a class that refuses it.
                step()


def _kept(value: Any) -> Iterator[Callable[[], None]]:
    """Functions that restore a value to what it holds now."""
    if isinstance(value, types.FunctionType):
        yield from _of_function(value)
        return
    if isinstance(value, type):
        if not installed(value):
            yield from _of_classes(value)
        return
    if isinstance(value, type(os.environ)):
        yield functools.partial(_fill_environment, value, dict(value))
        return
    if isinstance(value, types.ModuleType):
        if not installed(value):
            yield functools.partial(_fill_names, vars(value), dict(vars(value)))
        return
    if isinstance(value, threading.local):
        yield functools.partial(_fill_names, vars(value), dict(vars(value)))
        return
    states = None if definition_of(value) is not None else object_states.states_of(value, of_libraries=True)
    if states is not None:
        yield functools.partial(object_states.put_back, value, states)
    elif object_contents.origin(type(value)) is not object:
        yield from _of_memory(value)
    if not installed(type(value)):
        yield from _of_classes(type(value))


def _of_function(function: types.FunctionType) -> Iterator[Callable[[], None]]:
    yield functools.partial(_fill_names, function.__dict__, dict(function.__dict__))
    for cell in function.__closure__ or ():
        yield functools.partial(_fill_cell, cell, object_contents.contents_of(cell))
    space = function.__globals__
    for name in bytecode_reads.of_code(function.__code__).written:
        yield functools.partial(_fill_name, space, name, space.get(name, _NONE))


def _of_memory(value: Any) -> Iterator[Callable[[], None]]:
    """What lies in memory that other code writes to as bytes: of a bytearray, an `array.array`, one of ctypes."""
    with contextlib.suppress(TypeError, ValueError, BufferError), memoryview(value) as view:
        if not view.readonly:
            yield functools.partial(_fill_memory, value, view.tobytes())


def _of_classes(class_: type) -> Iterator[Callable[[], None]]:
    for parent in class_.__mro__:
        if not installed(parent):
            yield functools.partial(_fill_class, parent, dict(vars(parent)))


def _fill_class(class_: type, before: dict[str, Any]) -> None:
    now = dict(vars(class_))
    for name in now.keys() - before.keys():
        type.__delattr__(class_, name)
    for name, value in before.items():
        if now.get(name, _NONE) is not value:
            type.__setattr__(class_, name, value)


def _fill_environment(held: Any, before: dict[str, str]) -> None:
    for name in held.keys() - before.keys():
        del held[name]
    for name, value in before.items():
        if held.get(name) != value:
            held[name] = value


def _fill_names(held: dict[str, Any], before: dict[str, Any]) -> None:
    for name in held.keys() - before.keys():
        del held[name]
    for name, value in before.items():
        if held.get(name, _NONE) is not value:
            held[name] = value


def _fill_name(space: dict[str, Any], name: str, before: Any) -> None:
    if before is _NONE:
        space.pop(name, None)
    elif space.get(name, _NONE) is not before:
        space[name] = before


def _fill_cell(cell: types.CellType, before: Any) -> None:
    if object_contents.contents_of(cell) is before:
        return
    if before is MISSING:
        del cell.cell_contents
    else:
        cell.cell_contents = before


def _fill_memory(held: Any, before: bytes) -> None:
    with memoryview(held) as view:
        if view.tobytes() != before:
            view.cast("B")[:] = before
