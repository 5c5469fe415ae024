"""Source locations of user code for messages: cell or file, line number, and the line's text."""

from __future__ import annotations

import linecache
import os
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

from nxkernel.definitions.keys.static_values import installed_file
from nxkernel.graph.expr import SourceLocation

#: Asked for the name of a file, such as ``"cell 4"`` for the code of a notebook cell; None where it does not know.
_namers: list[Callable[[str], str | None]] = []

_PACKAGE = str(Path(os.path.abspath(__file__)).parents[2]) + os.sep


def add_namer(namer: Callable[[str], str | None]) -> Callable[[], None]:
    """Register a function that translates file names, such as to cell numbers; returns one that removes it."""
    _namers.append(namer)
    return lambda: _namers.remove(namer)


def name_of(file: str) -> str:
    """The name of a file for display."""
    for namer in reversed(_namers):
        name = namer(file)
        if name:
            return name
    return os.path.basename(file)


def code_at(file: str, line: int) -> str:
    """The text of a line, without its indentation; empty when the source is not at hand."""
    return linecache.getline(file, line).strip()


def caller() -> str:
    """Where the innermost frame outside nxkernel is: ``"cell 7"``, or ``"train.py, line 12"``."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return ""
    name = name_of(frame.f_code.co_filename)
    if name.startswith("<"):
        # Code that has no file, such as what %timeit makes of a line, stands in the cell that runs it.
        name = _cell_around(frame) or name
    return name if name.startswith("cell ") else f"{name}, line {frame.f_lineno}"


def _cell_around(frame: FrameType | None) -> str:
    """The name of the notebook cell that runs a frame; empty where none does."""
    while frame is not None:
        name = name_of(frame.f_code.co_filename)
        if name.startswith("cell "):
            return name
        frame = frame.f_back
    return ""


#: How an error names the line that made a traced value: by its file, as it does not know about cells.
_LINE = re.compile(r"\(([^()\n]+), line (\d+)\)")


def is_users(file: str) -> bool:
    """Whether a file is the user's: neither nxkernel's own nor that of an installed package."""
    return not file.startswith(_PACKAGE) and not installed_file(file)


def is_own(file: str) -> bool:
    """Whether a file is one of nxkernel's."""
    return file.startswith(_PACKAGE)


#: A constant that marks code as a block of a function: tracebacks show its lines as those of the function.
BLOCK = "<a block of a function>"


def is_block(code: CodeType) -> bool:
    """Whether code is a block of a function, which is called in its place."""
    return code.co_consts[-1:] == (BLOCK,)


def users_traceback(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of nxkernel itself, and without those of libraries that it calls.

    Parameters
    ----------
    traceback : traceback or None

    Returns
    -------
    traceback or None
        None where no other frame is left.
    """
    frames, hidden = [], False
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        hidden = is_own(file) or (hidden and not is_users(file))
        if not hidden:
            frames.append(traceback)
        traceback = traceback.tb_next
    rest = None
    for each in reversed(frames):
        rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest


def line_of(source: SourceLocation | None) -> list[str]:
    """The file, line number and text of a source line, for messages; empty where it is not known."""
    if source is None:
        return []
    where, code = f"{name_of(source.file)}, line {source.line}", code_at(source.file, source.line)
    return [f"{where}:  {code}" if code else f"{where}."]


def point_out(error: Exception) -> None:
    """Add the user's line that raised an error to its text, between what is wrong and what to do."""
    if getattr(error, "pointed_out", False):
        return
    error.pointed_out = True
    what, *hints = _LINE.sub(lambda match: f"({name_of(match[1])}, line {match[2]})", str(error)).split("\n")
    trail, innermost = error.__traceback__, None
    while trail is not None:
        file = trail.tb_frame.f_code.co_filename
        if is_users(file):
            innermost = (file, trail.tb_lineno)
        trail = trail.tb_next
    if innermost is not None:
        file, line = innermost
        code, where = code_at(file, line), f"{name_of(file)}, line {line}"
        what = what.replace(f" ({where})", "")
        hints.insert(0, f"  {where}{f':  {code}' if code else ''}")
    error.args = ("\n".join([what, *hints]),)


#: The registries of :mod:`warnings` for lines that were warned of, by file.
_warned: dict[str, dict[Any, Any]] = {}


def warn(source: SourceLocation, text: str, category: type[Warning]) -> None:
    """Warn of a line of the user's, as Python's filters say: by default once, until :func:`warn_again`."""
    registry = _warned.setdefault(source.file, {})
    warnings.warn_explicit(text, category, source.file, source.line, registry=registry)


def warn_again() -> None:
    """Warn about all lines again, when they are traced next."""
    _warned.clear()
