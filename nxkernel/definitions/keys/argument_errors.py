"""Errors for calls with wrong arguments: what was passed, and what to pass instead."""

from __future__ import annotations

import collections
import dis
import re
import sys
import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from nxkernel.container_classes.declarations import hint as class_hint
from nxkernel.definitions.keys import containers, source_locations
from nxkernel.definitions.keys.static_values import describe as described
from nxkernel.errors import CompilationError, ManyArgumentsWarning, NxAttributeError, NxError, NxTypeError, message
from nxkernel.graph.expr import TracedValue
from nxkernel.messages import other_libraries
from nxkernel.messages.grammar import a
from nxkernel.numpy import forwarding
from nxkernel.operand import Proxy
from nxkernel.ops.machinery.dispatch import is_number
from nxkernel.shapes import describe


def checked_function(function: Any) -> Any:
    """A function as it can be traced: NumPy's pass on what they get.

    Raises
    ------
    NxTypeError
        For what is no function.
    """
    if not callable(function):
        raise NxTypeError(f"a definition is made of a function, got {describe(function)}")
    return forwarding.traceable(function)


def check_once(function: str, used_up: Sequence[str]) -> None:
    """Refuse to trace a call twice whose captures are used up by the first trace, such as an iterator.

    Raises
    ------
    NxTypeError
    """
    if used_up:
        name = used_up[0]
        raise NxTypeError(
            message(
                f"{function} reads {name}, which gives each value once, and has to be traced twice for this call.",
                f"Take the value where {function} is called, and pass it: {function}(…, next({name})).",
            )
        )


#: How to make an array of something, by the names of its type.
_MADE_ARRAYS = (
    ({"range", "dict_values", "dict_keys", "set", "frozenset", "deque", "generator", "map", "filter", "zip"},
     "np.array(list({}))"),
    ({"memoryview", "bytearray", "array"}, "np.asarray({})"),
    ({"bytes"}, 'np.frombuffer({}, "uint8")'),
    ({"toarray"}, "{}.toarray()"),
)  # fmt: skip


def _names(value: Any) -> set[str]:
    """The names by which such a value is recognized: its type's, and "toarray" for SciPy's sparse matrices."""
    return {type(value).__name__, "toarray" if hasattr(value, "toarray") else ""}


def no_data(function: str, path: str, value: Any) -> NxTypeError:
    """The error for an argument, or a part of one, that is neither a tensor nor a number."""
    got = "None" if value is None else a(type(value).__name__)
    top = path.partition("[")[0].partition(".")[0]
    if path == top:
        shown = f'"{value}"' if isinstance(value, str) else "None" if value is None else "…"
        declared = f"lambda *, {top}: …" if function == "<lambda>" else f"def {function}(*, {top})"
        called = "call it with" if function == "<lambda>" else "call"
        call = f"{top}={shown}" if function == "<lambda>" else f"{function}({top}={shown})"
        hint = f"Python values go in as options: declare them after `*`, as in `{declared}`, and {called} {call}."
        form = next((form for names, form in _MADE_ARRAYS if names & _names(value)), "")
        hint = f"Pass an array: {form.format(path)}." if form else hint
    else:
        hint = "A container holds tensors and numbers; Python values are arguments of their own, or options, after `*`."
    what = f"{function}() takes tensors or numbers as positional arguments, got {got} for {path!r}."
    return NxTypeError(message(what, *class_hint(value), hint))


#: From so many Python numbers in one argument on, a warning says that each is an argument of its own.
MANY = 256


def warn_of_numbers(function: str, paths: Sequence[str], values: Sequence[Any]) -> None:
    """Warn of a long list of numbers, each of which would be an argument of its own, before it is traced."""
    if len(values) < MANY:
        return
    tops = [re.split(r"[.[]", path, maxsplit=1)[0] for path, value in zip(paths, values, strict=True)
            if is_number(value)]  # fmt: skip
    for name, count in collections.Counter(tops).items():
        frame = sys._getframe(1)
        while frame.f_back is not None and not source_locations.is_users(frame.f_code.co_filename):
            frame = frame.f_back
        if count >= MANY:
            text = message(
                f"{name} of {function} holds {count} Python numbers, and each is an argument of its own: that takes "
                "long to trace and to compile.",
                f"Pass an array: np.array({name}).",
            )
            warnings.warn_explicit(text, ManyArgumentsWarning, frame.f_code.co_filename, frame.f_lineno)


def traced(function: str, path: str, forced: bool) -> NxTypeError:
    """The error for a traced value that is passed to a definition which is not part of that trace."""
    if forced:
        return NxTypeError(
            message(
                f'{function}, which has on_conflict="force", got a traced value for {path!r}.',
                "It is compiled and run on its own, while the function around it is traced: give it data, or use "
                'on_conflict="reuse" to make it part of that graph.',
            )
        )
    return NxTypeError(
        message(
            f"{function} got a traced value for {path!r} outside of any trace.",
            "A traced value lives only while its definition is traced; return it from there.",
        )
    )


def template(function: str, path: str) -> NxTypeError:
    """The error for a template where data is needed."""
    return NxTypeError(
        message(
            f"{function} got a template for {path!r}, which has no data.",
            "Templates are for nx.compile and for the `why` of a definition.",
        )
    )


#: How error messages of Python and NumPy name traced values.
_NAMED = re.compile(r"\b(Scalar|Array|Part|MaskedElements|Expr)\b|setting an array element with a sequence")


def is_of_traced(error: Exception) -> bool:
    """Whether an error was raised by foreign code that cannot work on traced values.

    Parameters
    ----------
    error : Exception
    """
    if isinstance(error, NxError):
        return False
    trail = _innermost(error)
    code = trail.tb_frame.f_code
    if source_locations.is_own(code.co_filename):
        return False
    if not source_locations.is_users(code.co_filename) and any(map(_holds_traced, trail.tb_frame.f_locals.values())):
        return True
    if code.co_code[trail.tb_lasti] == dis.opmap["RAISE_VARARGS"]:
        return False
    if getattr(error, "obj", None) is not None:
        # It says itself whose attribute is missing.
        return _holds_traced(error.obj)
    return any(not _has_class(trail.tb_frame, match[0]) for match in _NAMED.finditer(str(error)))


def _has_class(frame: types.FrameType, name: str) -> bool:
    """Whether the user has a class of that name."""
    values = [*frame.f_locals.values(), *frame.f_globals.values()]
    kinds = [value if isinstance(value, type) else type(value) for value in values]
    return any(kind.__name__ == name and not kind.__module__.startswith("nxkernel.") for kind in kinds)


def _holds_traced(value: Any) -> bool:
    inside = value if isinstance(value, tuple | list) else (value,)
    return any(isinstance(one, TracedValue | Proxy) for one in inside)


def _innermost(error: Exception) -> Any:
    trail = error.__traceback__
    while trail.tb_next is not None:
        trail = trail.tb_next
    return trail


def not_taken(error: Exception) -> NxTypeError | NxAttributeError:
    """The error for foreign code that cannot work on traced values, and for attributes that they have not.

    Parameters
    ----------
    error : Exception
    """
    frame = _innermost(error).tb_frame
    module = "" if source_locations.is_users(frame.f_code.co_filename) else frame.f_globals.get("__name__", "")
    if isinstance(error, AttributeError) and not module and isinstance(error.obj, Proxy):
        return other_libraries.missing("an array of a NumPy program", error.name, {}, dir(type(error.obj)), error.obj)
    where = f"{module}.{frame.f_code.co_name}()" if module else "a function without code in Python"
    return NxTypeError(
        message(
            f"{where} does not take a value that only the running program knows: {type(error).__name__}: {error}",
            "Write it with operators and functions of arrays, or call it before and pass what it gives.",
        )
    )


def note_of_values(error: Exception, data: Mapping[str, Any], static: Mapping[str, Any]) -> None:
    """Tell in an error for an operand that Python does not take which argument is one, and what to pass.

    Parameters
    ----------
    error : Exception
        To which a note is added.
    data : mapping
        The arguments that are computed with, by name: a list of numbers may be meant as an array.
    static : mapping
        Those that are static values.
    """
    if not isinstance(error, TypeError | AttributeError) or hasattr(error, "__notes__"):
        return
    text = str(error)
    for name, value in data.items():
        if type(value) in (list, tuple) and f"'{type(value).__name__}'" in text and all(map(is_number, value)):
            error.add_note(f"  {name} is a {type(value).__name__} of numbers, as Python has it: pass np.array({name}).")
            return
    for name, value in static.items():
        if f"'{type(value).__name__}'" in text or (isinstance(value, str) and "sequence" in text):
            what = f"  {name} is {described(value)}, a static argument: to compute with it, pass an array or a number."
            error.add_note(what)
            return


def in_another_trace(function: str) -> CompilationError:
    """The error for a function with ``on_conflict="raise"`` that is called while another one is traced."""
    return CompilationError(
        message(
            f'{function} was wrapped with nx.jit(fun, on_conflict="raise") and is called while another function is '
            "traced.",
            "Without that option it becomes part of that function's graph.",
            'With on_conflict="force" it is compiled on its own.',
        )
    )


def endless(function: str, error: RecursionError) -> CompilationError:
    """The error for recursion without an end, or deeper than Python's limit, while tracing."""
    lines, trail = collections.Counter(), error.__traceback__
    while trail is not None:
        code = trail.tb_frame.f_code
        if source_locations.is_users(code.co_filename):
            lines[code.co_filename, trail.tb_lineno, code.co_name] += 1
        trail = trail.tb_next
    # One that was called as often as any other is part of the circle.
    (file, line, name), repeats = lines.most_common(1)[0] if lines else (("", 0, function), 0)
    limit = sys.getrecursionlimit()
    if repeats > _CIRCLES:
        lines = [
            f"{name} calls itself without end while it is traced, or deeper than Python's limit of {limit} calls.",
            f"{source_locations.name_of(file)}, line {line}:  {source_locations.code_at(file, line)}",
            "What ends a recursion must be known then: an option that counts down, not a tensor.",
            "Else write a loop: `while` or `for`, with what changes from call to call as variables.",
            f"If it ends as it is, sys.setrecursionlimit({4 * limit}) before the call makes room.",
        ]
    else:
        lines = [
            f"{function} calls functions inside of others, deeper than Python's limit of {limit} calls while it is "
            "traced.",
            f"sys.setrecursionlimit({4 * limit}) before the call makes room.",
        ]
    circular = CompilationError(message(*lines))
    circular.pointed_out = True
    return circular


#: A line that is in the traceback more often than that is part of an endless recursion.
_CIRCLES = 8


def nested(function: str, path: str, value: Any) -> NxTypeError:
    """The error for an argument that is nested too deeply, or holds itself."""
    depth, seen = 0, set()
    opened = containers.inside(value)
    while opened is not None and opened[2] and id(value) not in seen:
        # Mostly it is the last part, or the only one, that goes on.
        seen.add(id(value))
        value = next((part for _, part in reversed(opened[2]) if containers.inside(part) is not None), None)
        depth, opened = depth + 1, containers.inside(value)
    if id(value) in seen:
        got = f"{function}() takes containers of tensors, got one for {path!r} that holds itself."
        return NxTypeError(message(got, "Take it out of itself."))
    limit = sys.getrecursionlimit()
    return NxTypeError(
        message(
            f"{function}() takes containers of tensors, got one for {path!r} that is {depth} deep: Python's limit is "
            f"{limit} calls.",
            "Pass its tensors side by side, as in a list or dict of them, or one array, "
            f"or make room by sys.setrecursionlimit({4 * max(limit, depth)}) before the call.",
        )
    )


def check_list(name: str, what: str, values: Any) -> None:
    """Refuse arguments that are not in a list: a tensor would be split into its rows.

    Parameters
    ----------
    name : str
        Of the public function that takes them.
    what : str
        What it takes, for the message.
    values : object
    """
    if not isinstance(values, list | tuple):
        raise NxTypeError(
            message(
                f"nx.{name} takes its {what} as a list, got {describe(values)}.", f"Write nx.{name}(function, [t])."
            )
        )


def unsettled(function: str) -> NxError:
    """The error where each program computes other numbers than the one before, which it was traced for."""
    return NxTypeError(
        message(
            f"{function} is traced for numbers that it computes, and each of its programs rounds them otherwise.",
            "Round them before they say how much there is: int(np.round(x)).",
        )
    )
