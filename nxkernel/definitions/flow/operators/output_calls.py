"""``print``, warnings, logging and raised errors in definitions, with traced values in their text.

Output belongs to the run of a program, not to its trace: it is made each time that the program has run, in a branch
only if that is taken, with the values that the program computed. Errors that are raised on a condition that only the
running program knows are too; others are raised while the function is traced.
"""

from __future__ import annotations

import builtins
import functools
import re
import string
import sys
import types as python
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from nxkernel import types
from nxkernel.definitions.captures.impure_functions import LOGGING, is_logger
from nxkernel.definitions.flow.control import checks, repeated_calls
from nxkernel.definitions.flow.control.branches import if_
from nxkernel.definitions.flow.values import object_texts
from nxkernel.definitions.flow.values.traced_text import TracedText
from nxkernel.definitions.flow.values.variable_leaves import has_traced, is_traced, known
from nxkernel.definitions.keys import containers
from nxkernel.definitions.outputs import output_settings
from nxkernel.definitions.outputs.printed_values import (
    DeferredAssertion,
    DeferredCall,
    FixedText,
    OutputStream,
    Percent,
    PickedElements,
    RunTimeValue,
    Several,
    TextTemplate,
)
from nxkernel.errors import NxError, TracedValueError
from nxkernel.graph import tracing
from nxkernel.graph.expr import TracedValue
from nxkernel.graph.tracing import BodyTrace
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice
from nxkernel.numpy.arrays.masked_elements import MaskedElements
from nxkernel.operand import Proxy
from nxkernel.ops.machinery.dispatch import operand


def has_values(value: Any) -> bool:
    """Whether a value is traced, or contains traced values or traced text."""
    if isinstance(value, TracedText):
        return True
    if isinstance(value, list | tuple | dict):
        return any(map(has_values, value.values() if isinstance(value, dict) else value))
    # An array of constants has no text of its own either.
    return has_traced(value) or (isinstance(value, TracedValue | Proxy) and bool(operand(value).shape))


def _plain(value: Any) -> Any:
    """A value that tracing knows, as a Python or NumPy value."""
    if isinstance(value, TracedValue | Proxy) and not operand(value).shape:
        value_ = operand(value)
        number = known(value)
        return number if tracing.weak(value_) else value_.type.dtype.type(number)
    return value


def _part(value: Any, leaves: list[Any]) -> Any:
    """A part of a deferred call or text; its traced values are appended to `leaves`."""
    if isinstance(value, TracedText):
        leaves += value.leaves
        return value.template
    if not has_values(value):
        return FixedText(_plain(value))
    if isinstance(value, MaskedElements):
        leaves += [value.base, value.mask]
        return PickedElements(value.axis)
    if isinstance(value, DynamicSlice):
        leaves.append(value.base)
        for stretch in value.stretches:
            leaves += () if stretch is None else (stretch.offset, stretch.length)
        return PickedElements(None, tuple([stretch is not None for stretch in value.stretches]))
    pairs: list[tuple[str, Any]] = []
    structure = containers.flatten(value, "the value", pairs, containers.no_tensor("print"))
    leaves += [leaf for _, leaf in pairs]
    numbers = tuple([isinstance(leaf, int | float | complex) or tracing.weak(operand(leaf)) for _, leaf in pairs])
    return RunTimeValue(structure, numbers, types.follows_numpy())


# Text ------------------------------------------------------------------------------------------------------------


def text(*parts: Any) -> Any:
    """An f-string from its parts: text, or a tuple of value, conversion and format."""
    parts = tuple([part if isinstance(part, str) else _of_object(*part) for part in parts])
    if not any(isinstance(part, tuple) and (has_values(part[0]) or isinstance(part[2], TracedText)) for part in parts):
        return "".join([part if isinstance(part, str) else _formatted(*part) for part in parts])
    form, values = "", []
    for part in parts:
        if isinstance(part, str):
            form += part.replace("{", "{{").replace("}", "}}")
            continue
        value, conversion, spec = part
        # The format is itself a part, so that nothing in it is read as one.
        form += f"{{{len(values)}{conversion and '!' + conversion}:{{{len(values) + 1}}}}}"
        values += [value, spec]
    return _traced_text(form, values)


def _of_object(value: Any, conversion: str, spec: Any) -> Any:
    """A part of an f-string, with the text of an object of the user's in its place."""
    made = _told(value, {"": "__format__", "s": "__str__"}.get(conversion, "__repr__"), *([] if conversion else [spec]))
    if made is value:
        return value, conversion, spec
    return (made, "a" if conversion == "a" else "", spec) if conversion else (made, "", "")


def _told(value: Any, method: str = "__str__", *spec: Any) -> Any:
    return object_texts.told(value, method, text, *spec)


def _formatted(value: Any, conversion: str, spec: str) -> str:
    value = _plain(value)
    if conversion:
        value = {"r": repr, "s": str, "a": ascii}[conversion](value)
    return format(value, spec)


def _traced_text(form: str, values: Iterable[Any]) -> TracedText:
    leaves: list[Any] = []
    parts = tuple([_part(value, leaves) for value in values])
    return TracedText(TextTemplate(form, parts), tuple(leaves))


def percent(form: str, values: Any) -> Any:
    """``form % given``."""
    if not has_values(values):
        return form % (tuple(map(_plain, values)) if isinstance(values, tuple) else _plain(values))
    leaves: list[Any] = []
    if isinstance(values, tuple):
        parts = tuple([_part(value, leaves) for value in values])
        return TracedText(Percent(form, Several(parts)), tuple(leaves))
    part = _part(values, leaves)
    return TracedText(Percent(form, part), tuple(leaves))


def joined(gap: str, parts: Iterable[Any]) -> Any:
    """``gap.join(parts)``."""
    parts = list(parts)
    if not any(isinstance(part, TracedText) for part in parts):
        return gap.join(parts)
    mark = gap.replace("{", "{{").replace("}", "}}")
    return _traced_text(mark.join(f"{{{number}}}" for number in range(len(parts))), parts)


def filled(form: str, *args: Any, **options: Any) -> Any:
    """``form.format(...)``."""
    if not any(map(has_values, [*args, *options.values()])):
        return form.format(*map(_plain, args), **{name: _plain(value) for name, value in options.items()})
    return _traced_text(_numbered(form, len(args), list(options)), [*args, *options.values()])


def _numbered(form: str, count: int, names: list[str]) -> str:
    """A format string whose fields are numbered."""
    pieces, number = [], 0
    for literal, name, spec, conversion in string.Formatter().parse(form):
        pieces.append(literal.replace("{", "{{").replace("}", "}}"))
        if name is None:
            continue
        first, rest = re.fullmatch(r"([^.\[]*)(.*)", name, re.DOTALL).groups()
        if not first:
            first, number = str(number), number + 1
        number_ = count + names.index(first) if first in names else first
        end = f"!{conversion}" if conversion else ""
        pieces.append(f"{{{number_}{rest}{end}:{_numbered(spec, count, names) if spec else ''}}}")
    return "".join(pieces)


def _str(value: Any = "", *rest: Any, **options: Any) -> Any:
    """``str``."""
    value = _told(value)
    if rest or options or not has_values(value):
        return builtins.str(_plain(value), *rest, **options)
    return value if isinstance(value, TracedText) else _traced_text("{}", [value])


def _repr(value: Any, /) -> Any:
    """``repr``."""
    made = _told(value, "__repr__")
    if made is not value:
        return made
    return _traced_text("{!r}", [value]) if has_values(value) else builtins.repr(_plain(value))


def _format(value: Any, spec: Any = "", /) -> Any:
    """``format``."""
    return text((value, "", spec))


# Errors ----------------------------------------------------------------------------------------------------------


class _Shown:
    """Formats as the traced value's repr, whatever the format."""

    def __init__(self, value: Any) -> None:
        self._text = builtins.repr(operand(value))

    def __repr__(self) -> str:
        return self._text

    def __format__(self, spec: str) -> str:
        return self._text


def _now(value: Any) -> Any:
    """Traced text, formatted with the reprs of its traced values; other values as they are."""
    if not isinstance(value, TracedText):
        return value
    shown = list(map(_Shown, value.leaves))
    try:
        return value.template.formatted(iter(shown))
    except (TypeError, ValueError, IndexError, TracedValueError):
        # Such as "%d", which takes numbers alone, and the part of an array.
        return f"{value.template.form} {', '.join(map(builtins.str, shown))}"


def error(kind: type[BaseException], *args: Any, **options: Any) -> BaseException:
    """Make an exception whose text shows traced values by their reprs; how it is made of their values goes with it."""
    if not any(map(has_values, (*args, *options.values()))):
        error = kind(*map(_plain, args), **{name: _plain(value) for name, value in options.items()})
    else:
        shown = [_now(value) for value in args]
        try:
            error = kind(*shown, **{name: _now(value) for name, value in options.items()})
        except NxError:
            # A class of the user's may compute with what it is given.
            error = kind.__new__(kind, *shown)
    leaves: list[Any] = []
    parts = tuple([_part(value, leaves) for value in args])
    more = tuple([(name, _part(value, leaves)) for name, value in options.items()])
    return checks.came_from(error, DeferredCall(kind, parts, more), tuple(leaves))


def assert_(condition: Any, text: Callable[[], Any], site: Any) -> None:
    """``assert``."""
    if is_traced(condition):

        def fail() -> tuple:
            raise _failed(text())

        if_(condition, tuple, fail, (), (), site)
    elif not known(condition):
        raise _failed(text())


def _failed(what: Any) -> BaseException:
    return error(AssertionError, *([] if what is None else [what]))


# Calls -----------------------------------------------------------------------------------------------------------


def print_(*values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: Any = False) -> None:
    """``print``."""
    values = tuple(map(_told, values))
    asked = any(map(has_values, values))
    if not asked and not _is_delayed():
        print(*map(_plain, values), sep=sep, end=end, file=file, flush=flush)
        return
    # What is known is printed as it is now.
    values = [value if has_values(value) else builtins.str(_plain(value)) for value in values]
    _say(
        "print() of traced values" if asked else "print()",
        print,
        tuple(values),
        {"sep": sep, "end": end, "file": file, "flush": flush},
    )


def _is_delayed() -> bool:
    """Whether output waits until the program has run: in NumPy programs, and inside branches."""
    run = tracing.current()
    return run is not None and (types.follows_numpy() or isinstance(run, BodyTrace))


def _hooks() -> python.ModuleType:
    """The module that records hooks and deferred calls in the trace."""
    from nxkernel.definitions.tracing import hooks

    return hooks


def _say(
    what: str,
    function: Callable[..., Any],
    args: tuple,
    options: dict[str, Any],
    kind: type[DeferredCall] = DeferredCall,
) -> None:
    """Record a call to be made after the program has run."""
    if not _hooks().are_possible():
        raise repeated_calls.refusal(f"{what} is not possible", f"{'print' if what[:5] == 'print' else 'say'} them")
    leaves: list[Any] = []
    parts = tuple([_part(value, leaves) for value in args])
    more = tuple([(name, _stream(value) or _part(value, leaves)) for name, value in options.items()])
    call = kind(function, parts, more)
    settings = output_settings.current()
    _hooks().defer_call(call if settings is None else functools.partial(settings, call), tuple(leaves))


def _stream(value: Any) -> OutputStream | None:
    """A reference to ``sys.stdout`` or ``sys.stderr``, resolved when the program runs; None for other objects."""
    return next((OutputStream(name) for name in ("stdout", "stderr") if value is getattr(sys, name)), None)


def _warn(warning: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
    """``warnings.warn``, at the user's line."""
    if not _is_delayed() and not has_values(warning):
        warnings.warn(warning, category, stacklevel + 1, source, **options)
        return
    line = tracing.user_line()
    kind = type(warning) if isinstance(warning, Warning) else category or UserWarning
    options_ = {"filename": line.file, "lineno": line.line, "registry": {}}
    _say("warnings.warn()", warnings.warn_explicit, (warning, kind), options_)


def _saying(function: Callable[..., Any], name: str, kind: type[DeferredCall] = DeferredCall) -> Callable[..., None]:
    """A function that makes the same call after the program has run."""

    def say(*args: Any, **options: Any) -> Any:
        if not _is_delayed() and not any(map(has_values, [*args, *options.values()])):
            return function(*args, **options)
        _say(name, function, args, options, kind)
        return None

    return say


_TWINS: dict[Any, Callable[..., Any]] = {
    builtins.print: print_,
    builtins.str: _str,
    builtins.repr: _repr,
    builtins.format: _format,
    warnings.warn: _warn,
}


def twin(function: Any) -> Callable[..., Any] | None:
    """The replacement for a function that prints, logs or formats; None for others."""
    if isinstance(function, python.FunctionType | python.BuiltinFunctionType | type):
        replacement = _TWINS.get(function)
        if replacement is not None:
            return replacement
    if isinstance(function, type) and issubclass(function, BaseException) and not issubclass(function, Warning):
        return functools.partial(error, function)
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(owner, str) and name == "format":
        return lambda *args, **options: filled(owner, *args, **options)
    if isinstance(owner, str) and name == "join":
        return lambda parts, /: joined(owner, parts)
    if name.startswith("assert") and function is getattr(sys.modules.get("numpy.testing"), name, None):
        return _saying(function, f"np.testing.{name}()", DeferredAssertion)
    if name in LOGGING:
        return _logging(function, owner, name)
    stream = _stream(owner) if name in ("write", "flush") else None
    if stream is not None:
        return _saying(lambda *args: getattr(stream.formatted(iter(())), name)(*args), f"{name}()")
    return None


def _logging(function: Any, owner: Any, name: str) -> Callable[..., Any] | None:
    """The replacement for a logging function or method; None while `logging` is not imported."""
    if function is getattr(sys.modules.get("logging"), name, None):
        return _saying(function, f"logging.{name}()")
    return _saying(function, f"{name}() of a logger") if is_logger(owner) else None
