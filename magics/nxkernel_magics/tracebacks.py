"""Tracebacks without nxkernel's own frames."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable
from traceback import walk_tb
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

import nxkernel
import nxkernel_lab
from nxkernel.definitions.flow.operators.output_calls import assert_
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.keys.source_locations import BLOCK
from nxkernel.errors import NxError
from nxkernel.graph.deferred_calls import RAISES_FOR_USERS
from nxkernel.messages.line_wrapping import wrapped
from nxkernel.numpy.dispatch_table import CALLS_FOR_USERS

_OWN = tuple(
    os.path.join(os.path.dirname(os.path.abspath(file)), "")
    for file in (nxkernel.__file__, nxkernel_lab.__file__, __file__)
)

#: Errors that are shown without nxkernel's frames wherever they come from.
_OURS = (NxError, KeyboardInterrupt)

_CALLED_BY_USERS = frozenset({assert_.__code__, CALLS_FOR_USERS})

#: What brings the names that notebooks usually have, and that tutorials write.
_IMPORTS = {"nx": "import nxkernel as nx", "np": "import numpy as np"}

_NAMES = frozenset({"nxkernel", "nxkernel_lab", "nxkernel_magics"})


def without_own(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without nxkernel's frames, and without library frames that they call.

    Blocks of a function, which are functions when it runs, are shown as lines of the function.

    Parameters
    ----------
    traceback : traceback or None

    Returns
    -------
    traceback or None
        A new one; the one that was given stays as it is, for ``%debug``.
    """
    kept: list[tuple[FrameType, int, int]] = []
    hidden = False
    while traceback is not None:
        frame, line = traceback.tb_frame, traceback.tb_lineno
        hidden = _is_own(traceback) or (hidden and not source_locations.is_users(frame.f_code.co_filename))
        # What a command evaluates for the cell stands where the cell does, whose frame is there.
        if not hidden and "__tracebackhide__" not in frame.f_locals:
            if BLOCK in frame.f_code.co_consts and kept and kept[-1][0].f_code.co_name == frame.f_code.co_name:
                made = _frame_at(kept[-1][0], line)
                kept[-1] = (made, made.f_lasti, line)
            else:
                kept.append((frame, traceback.tb_lasti, line))
        traceback = traceback.tb_next
    rest = None
    for frame, instruction, line in reversed(kept):
        rest = TracebackType(rest, frame, instruction, line)
    return rest


def _frame_at(frame: FrameType, line: int) -> FrameType:
    """A substitute frame with the same variables at a given line: IPython asks frames for their position."""
    code, values = frame.f_code, frame.f_locals
    arguments = inspect.getargs(code)
    plain = arguments.args[: code.co_argcount]
    named = arguments.args[code.co_argcount :]
    rest = [f"*{arguments.varargs}" if arguments.varargs else "*"] if arguments.varargs or named else []
    parameters = [*plain, *rest, *named, *([f"**{arguments.varkw}"] if arguments.varkw else [])]
    first = code.co_firstlineno
    head = "\n" * (first - 1) + f"def made({', '.join(parameters)}):"
    source = head + "\n" * (line - first) + " return nxkernel_frame()"
    code_at = next(one for one in compile(source, code.co_filename, "exec").co_consts if isinstance(one, CodeType))
    code_at = code_at.replace(co_name=code.co_name, co_qualname=code.co_qualname)
    function = FunctionType(code_at, {**frame.f_globals, "nxkernel_frame": lambda: sys._getframe(1)})
    positional = [values.get(name) for name in plain] + list(values.get(arguments.varargs, ()))
    return function(*positional, **{name: values.get(name) for name in named}, **values.get(arguments.varkw, {}))


def _is_own(traceback: TracebackType) -> bool:
    frame = traceback.tb_frame
    if frame.f_code.co_filename.startswith(_OWN):
        return True
    # A module may have been loaded from another copy of the same package.
    return not _NAMES.isdisjoint(str(frame.f_globals.get("__name__", "")).split("."))


def _concerns_us(error: BaseException) -> bool:
    """Whether the traceback of an error contains nxkernel's frames."""
    traceback = error.__traceback__
    while traceback is not None and not _is_own(traceback):
        traceback = traceback.tb_next
    return traceback is not None


def _raised_in_definition(error: BaseException) -> bool:
    """Whether user code, or what it calls, raised an error below nxkernel's frames.

    One that came out of nxkernel itself is a mistake of ours, of which every frame counts; an `assert` of the user's,
    and some calls of NumPy's functions, are calls of functions of ours, and so is a check of a function of NumPy's
    that was compiled alone.
    """
    concerns_us = of_person = False
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in _CALLED_BY_USERS:
            pass
        elif traceback.tb_frame.f_code is RAISES_FOR_USERS and traceback.tb_next is None:
            of_person = True
        elif _is_own(traceback):
            concerns_us, of_person = True, False
        else:
            of_person = of_person or source_locations.is_users(traceback.tb_frame.f_code.co_filename)
        traceback = traceback.tb_next
    return concerns_us and of_person


def show(
    shell: InteractiveShell, kind: type, error: BaseException, traceback: Any, tb_offset: int | None = None
) -> None:
    """Show an error of nxkernel, an error raised by user code in a definition, or an interrupt.

    Other errors are shown as IPython shows them. ``%tb`` and ``%xmode Verbose`` show every frame.

    Parameters
    ----------
    shell : InteractiveShell
    kind : type
    error : BaseException
    traceback : traceback
    tb_offset : int, optional
        How many frames at the start are IPython's.
    """
    if isinstance(error, NameError) and error.name in _IMPORTS and not hasattr(error, "__notes__"):
        error.add_note(f"Write {_IMPORTS[error.name]} in a cell above.")
    if not isinstance(error, _OURS) and not _raised_in_definition(error):
        # A cell that cannot be read has not run: its error has no frames but IPython's.
        ran = any(shell.compile.format_code_name(frame.f_code.co_filename) for frame, _ in walk_tb(traceback))
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset, running_compiled_code=ran)
        return
    # Where %tb and %debug look, which show every frame.
    shell._get_exc_info((kind, error, traceback))
    cause, context, suppressed = error.__cause__, error.__context__, error.__suppress_context__
    whole = error.__traceback__
    try:
        if shell.InteractiveTB.mode != "Verbose" and _concerns_us(error):
            traceback = without_own(traceback) or traceback
            error.__traceback__ = traceback
            # What was raised and caught inside of nxkernel is no line of the person's either.
            if all(before is None or before.__traceback__ is None or _is_own(before.__traceback__)
                   for before in (cause, context)):  # fmt: skip
                error.__cause__ = error.__context__ = None
        lines = shell.InteractiveTB.structured_traceback(kind, error, traceback, tb_offset=tb_offset)
        if isinstance(error, NxError) and getattr(shell, "kernel", None) is not None:
            lines = [*lines[:-1], wrapped(lines[-1])]
    finally:
        error.__cause__, error.__context__, error.__suppress_context__ = cause, context, suppressed
        error.__traceback__ = whole
    shell._showtraceback(kind, error, lines)
    if shell.call_pdb:
        shell.debugger(force=True)


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
#: What the first line of a cell has become, by what the person wrote.
_REWRITTEN = {
    "%%defn": re.compile(r"get_ipython\(\)\.run_line_magic\('defn', ['\"](.*)['\"]\)"),
    "%%jit": re.compile(r"get_ipython\(\)\.run_cell_magic\('jit', ['\"](.*)['\"], ''\)"),
}


def as_written(text: str) -> str:
    """Traceback lines in which the first line of a cell is shown as written, not as rewritten.

    Examples
    --------
    >>> as_written("----> 1 get_ipython().run_cell_magic('jit', '--compiler auto', '')")
    '----> 1 %%jit --compiler auto'
    """
    return "\n".join(map(_line_as_written, text.split("\n"))) if "get_ipython" in text else text


def _line_as_written(line: str) -> str:
    plain = _COLOUR.sub("", line)
    for command, call in _REWRITTEN.items():
        match = call.search(plain)
        if match is not None:
            end = "\x1b[0m" if plain != line else ""
            return line[: line.index("get_ipython")] + f"{command} {match[1]}".rstrip() + end
    return line


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Register with a shell; returns a function that unregisters.

    A shell has one handler for errors of its own: where there is another one already, it stays.

    Parameters
    ----------
    shell : InteractiveShell
        Whose errors are meant.

    Returns
    -------
    callable
    """
    if shell.custom_exceptions:
        return lambda: None
    shell.set_custom_exc((Exception, KeyboardInterrupt), show)
    ours, show_traceback = shell.CustomTB, shell._showtraceback

    def tell_as_written(kind: type, error: BaseException, lines: list[str]) -> None:
        show_traceback(kind, error, list(map(as_written, lines)))

    shell._showtraceback = tell_as_written

    def remove() -> None:
        if shell.CustomTB is ours:
            shell.set_custom_exc((), None)
        if shell._showtraceback is tell_as_written:
            del shell._showtraceback

    return remove
