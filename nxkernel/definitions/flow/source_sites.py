"""The source location of a construct in the user's code, and how errors show it."""

from __future__ import annotations

import dis
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.syntax.unsupported_syntax import pointer as shown
from nxkernel.errors import NxError, message
from nxkernel.graph.expr import Expr

__all__ = ["SourceLine", "assigned", "error", "is_raised", "name", "place_of", "shown", "table"]


class SourceLine(NamedTuple):
    """A line of code and what is said about it."""

    file: str
    line: int
    said: str


def name(site: Any) -> str:
    """The file or cell and the line, as in messages."""
    return f"{source_locations.name_of(site[0])}, line {site[1]}"


def table(rows: Sequence[SourceLine]) -> list[str]:
    """Lines of code one below the other, with what is said about each at the right."""
    codes = [source_locations.code_at(row.file, row.line) for row in rows]
    lefts = [f"{name(row)}:  {code}" if code else name(row) for row, code in zip(rows, codes, strict=True)]
    width = max(map(len, lefts))
    return [f"{left:<{width}}   {row.said}" for left, row in zip(lefts, rows, strict=True)]


def place_of(value: Any, otherwise: Any, said: str) -> SourceLine:
    """The line that made a traced value; that of a site for what has none."""
    node = getattr(value, "node", value)
    source = node.source if type(node) is Expr else None
    if source is None:
        return SourceLine(otherwise[0], otherwise[1], said)
    return SourceLine(source.file, source.line, said)


def assigned(row: SourceLine, variable: str) -> str:
    """What a line assigns to a variable, or the variable where it is no plain assignment."""
    found = re.fullmatch(rf"{re.escape(variable)}\s*=\s*([^=].*)", source_locations.code_at(row.file, row.line))
    return found[1].strip() if found else variable


def names(row: SourceLine, path: str) -> bool:
    """Whether a line has the name of the variable in it that a path such as ``h['a']`` begins with."""
    variable = re.split(r"\W", path, maxsplit=1)[0]
    return re.search(rf"\b{re.escape(variable)}\b", source_locations.code_at(row.file, row.line)) is not None


def is_raised(error: Exception) -> bool:
    """Whether a `raise` statement raised an error, and not a call, nor a name that is not there."""
    place = error.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    code = place.tb_frame.f_code
    # A module such as NumPy has a function that raises for names that it does not have.
    return code.co_name != "__getattr__" and dis.opname[code.co_code[place.tb_lasti]] == "RAISE_VARARGS"


def error(kind: Callable[[str], NxError], what: str, *lines: str) -> NxError:
    """An error that says by itself which lines of the user's it is about."""
    made = kind(message(what, *lines))
    made.pointed_out = True
    return made
