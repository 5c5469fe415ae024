"""Undoing a trace that was made only for an explanation: captured objects are restored to their snapshot."""

from __future__ import annotations

import contextlib
import contextvars
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nxkernel.definitions.captures.object_states import Kind, put_back, states_of, stored_names
from nxkernel.definitions.keys import bytecode_reads
from nxkernel.definitions.keys.static_values import definition_of, installed


def run_and_restore(values: Iterable[Any], trace: Callable[[], Any]) -> Any:
    """Run a trace and then restore the contents of these values.

    What is bound to a context, such as a variable of `contextvars`, is bound in a copy of it.

    Parameters
    ----------
    values : iterable
        Functions, objects, classes and containers.
    trace : callable
    """
    kept = [pair for value in values for pair in _kept(value)]
    try:
        return contextvars.copy_context().run(trace)
    finally:
        for value, states in reversed(kept):
            with contextlib.suppress(Exception):
                # What does not let itself be put back, such as the attribute of a class that refuses it.
                put_back(value, states)


def _kept(value: Any) -> Iterator[tuple[Any, list[tuple[Kind, Any]]]]:
    """A value and the objects that it is made of, each with what it holds now."""
    if isinstance(value, types.FunctionType):
        yield value, [stored_names(value)]
        for cell in value.__closure__ or ():
            yield cell, states_of(cell, of_libraries=True) or []
        yield value.__globals__, [stored_names(value.__globals__, bytecode_reads.of_code(value.__code__).written)]
        return
    if isinstance(value, types.ModuleType):
        if not installed(value):
            yield value, [stored_names(value)]
        return
    if not isinstance(value, type) and definition_of(value) is None:
        yield value, states_of(value, of_libraries=True) or []
    class_ = value if isinstance(value, type) else type(value)
    if not installed(class_):
        for parent in class_.__mro__:
            if not installed(parent):
                yield parent, [stored_names(parent)]
