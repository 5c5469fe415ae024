"""Calls of functions that Numba compiled, on traced values: by their Python text, element by element, or as they are.

A function of whole arrays is traced from its text, where that can be: it becomes part of the program, with gradients.
What cannot be traced is called as it is, on the program's memory, and a note says which line stands in the way.
"""

from __future__ import annotations

import functools
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import numba_functions
from nxkernel import types as rules
from nxkernel.definitions.flow.control import unrolling
from nxkernel.definitions.flow.values import variable_leaves
from nxkernel.errors import NxError, NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import TracedValue
from nxkernel.numpy.arrays.array import Array, ArrayValue, Scalar, as_value, wrap
from nxkernel.numpy.scipy import hosted
from nxkernel.operand import Proxy
from nxkernel.ops.programs.numba_functions import njit_map

#: Makes the function that is traced in the place of one of the user's.
Rewrite = Callable[[types.FunctionType], Callable[..., Any]]


def replacement(function: Any, rewritten: Rewrite) -> Callable[..., Any] | None:
    """What is called in the place of a function of Numba's while a program is traced; None for other functions.

    Parameters
    ----------
    function : object
    rewritten : callable
    """
    if numba_functions.is_compiled(function):
        return functools.partial(_called, function, rewritten)
    if numba_functions.is_generalized(function):
        return functools.partial(_generalized, function)
    # A range whose turns Numba shares among threads; those of a program are shared where that is worth it.
    return (
        range if getattr(function, "__module__", "") == "numba.misc.special" and _name(function) == "prange" else None
    )


def _name(function: Any) -> str:
    return getattr(function, "__name__", "")


def _called(function: Any, rewritten: Rewrite, *args: Any, **options: Any) -> Any:
    """Call a Numba function: on traced values by its text or element by element, directly on others."""
    values = [*args, *options.values()]
    if not variable_leaves.has_traced(values):
        return function(*args, **options)
    text = getattr(function, "py_func", None)
    try:
        return _of_each(function, args, options)
    except NxTypeError as error:
        if text is None:
            raise
        refused = error
    try:
        result = _by_text(function, rewritten(text), args, options)
    except _REFUSED as error:
        return _as_it_is(function, args, options, error, refused)
    _note(function, "traced from its Python text")
    return result


#: What a text raises that cannot be traced.
_REFUSED = (NxError, TypeError, ValueError, AttributeError, IndexError)


def _of_each(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Apply a function of single numbers to each element."""
    result = njit_map(function, *args, **options)
    return wrap(result) if any(isinstance(value, ArrayValue) for value in (*args, *options.values())) else result


def _by_text(function: Any, text: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Trace a function's text, which follows NumPy's rules as Numba does; results are of the program's own rules."""
    if rules.follows_numpy():
        return text(*args, **options)
    with rules.promotion("numpy"):
        result = text(*map(_array, args), **{name: _array(value) for name, value in options.items()})
    return _value(result)


def _array(value: Any) -> Any:
    """A traced value as an array or number by NumPy's rules."""
    if isinstance(value, TracedValue):
        return Array.of(value, "") if value.shape else Scalar(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_array, value))
    return value


def _value(result: Any) -> Any:
    """A result as traced values."""
    if isinstance(result, list | tuple):
        return type(result)(map(_value, result))
    return as_value(result) if isinstance(result, Proxy | ArrayValue) else result


def _as_it_is(
    function: Any, args: Sequence[Any], options: dict[str, Any], error: Exception, refused: NxError | None
) -> Any:
    """Call a function on the program's arrays; an example tells the shapes of its results."""
    reason, name = _reason(error), numba_functions.name_of(function)
    try:
        result = _hosted(function)(*args, **options)
    except NxTypeError as second:
        raise NxTypeError(
            message(
                f"{name}, which Numba compiled, can neither be traced nor be called as it is.",
                f"Traced from its text: {reason}.",
                f"Called: {str(second).splitlines()[0]}",
                f"nx.njit_call({name}, ..., shape=..., type=...) calls it, where you say what it returns.",
            )
        ) from (refused or error)
    _note(function, f"called as it is, without gradients: {reason}")
    return result if rules.follows_numpy() else _value(result)


def _hosted(function: Any) -> Callable[..., Any]:
    """A function that the program calls as it is."""
    reason = "Nobody but its author knows the derivative of a function of Numba that is called as it is."
    return hosted.hosted(function, {}, numba_functions.name_of(function), reason)


def _reason(error: Exception) -> str:
    """The first line of an error, with the line of the function that it is about."""
    text = str(error).splitlines()[0].strip().rstrip(".") if str(error) else type(error).__name__
    source = getattr(error, "source", None)
    line = getattr(source, "line", None)
    if line is None:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename)]
        line = frames[-1].lineno if frames else None
    return f"line {line}: {text}" if line and "line" not in text else text


def _is_users(file: str) -> bool:
    return "site-packages" not in file and "nxkernel" not in file


def _note(function: Any, text: str) -> None:
    run = tracing.current()
    if run is not None:
        name = numba_functions.name_of(function)
        unrolling.add_note(run, ("numba", name), f"{name}, which Numba compiled, is {text}")


def _generalized(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function made by `numba.guvectorize`: on traced values the program calls it as it is."""
    if not variable_leaves.has_traced([*args, *options.values()]):
        return function(*args, **options)
    name = numba_functions.name_of(function)
    if options:
        what = f"{name}() takes no {', '.join(options)} for values that are traced."
        raise NxTypeError(message(what, f"Write {name}({', '.join('xyzuvw'[: len(args)])})."))
    result = _hosted(function)(*args)
    _note(function, "called as it is, without gradients: numba.guvectorize made it")
    return result if rules.follows_numpy() else _value(result)
