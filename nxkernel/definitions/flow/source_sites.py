"""The source location of a construct in the user's code, and how errors show it."""

from __future__ import annotations

import dis
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.syntax.unsupported_syntax import pointer as shown
from nxkernel.errors import NxError, message
from nxkernel.graph.expr import Expr, node_of

__all__ = ["SourceLine", "assigned", "error", "is_raised", "name", "place_of", "shown", "table"]


class SourceLine(NamedTuple):
    """A line of the user's code, and a remark about it."""

    file: str
    line: int
    said: str


def name(site: Any) -> str:
    """File or cell, and line number, as messages have it."""
    return f"{source_locations.name_of(site[0])}, line {site[1]}"


def table(rows: Sequence[SourceLine]) -> list[str]:
    """Lines of code, one below the other, with the remarks aligned at the right."""
    codes = [source_locations.code_at(row.file, row.line) for row in rows]
    lefts = [f"{name(row)}:  {code}" if code else name(row) for row, code in zip(rows, codes, strict=True)]
    width = max(map(len, lefts))
    return [f"{left:<{width}}   {row.said}" for left, row in zip(lefts, rows, strict=True)]


def place_of(value: Any, otherwise: Any, remark: str) -> SourceLine:
    """The line that made a traced value; `otherwise` for values that no line made."""
    node = node_of(value)
    source = node.source if type(node) is Expr else None
    if source is None:
        return SourceLine(otherwise[0], otherwise[1], remark)
    return SourceLine(source.file, source.line, remark)


def assigned(row: SourceLine, variable: str) -> str:
    """The right side of the assignment in a line; the variable's name if the line is no plain assignment."""
    match = re.fullmatch(rf"{re.escape(variable)}\s*=\s*([^=].*)", source_locations.code_at(row.file, row.line))
    return match[1].strip() if match else variable


def names(row: SourceLine, path: str) -> bool:
    """Whether a line mentions the variable at the beginning of a path such as ``h['a']``."""
    variable = re.split(r"\W", path, maxsplit=1)[0]
    return re.search(rf"\b{re.escape(variable)}\b", source_locations.code_at(row.file, row.line)) is not None


def is_raised(error: Exception) -> bool:
    """Whether an error was raised by a `raise` statement of the user's, and not inside a call or by a missing name."""
    trail = error.__traceback__
    while trail.tb_next is not None:
        trail = trail.tb_next
    code = trail.tb_frame.f_code
    # A module such as NumPy has a function that raises for names that it does not have.
    return code.co_name != "__getattr__" and dis.opname[code.co_code[trail.tb_lasti]] == "RAISE_VARARGS"


def error(kind: Callable[[str], NxError], what: str, *lines: str) -> NxError:
    """Make an error whose text already names the user's lines, so that no other line is added."""
    error_ = kind(message(what, *lines))
    error_.pointed_out = True
    return error_
