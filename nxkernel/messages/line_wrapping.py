"""Long lines of messages, broken between words: a notebook's page breaks them anywhere."""

from __future__ import annotations

import re

#: So many characters fit into a cell of a page of middling width.
PAGE = 88
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_INDENT = re.compile(r" *")


def wrapped(text: str, width: int = PAGE) -> str:
    r"""Text whose long lines go on in lines of their own, which are indented by two more.

    A line above a mark such as ``^^^^`` stays whole, as the mark is below one of its words.

    Parameters
    ----------
    text : str
        Codes of a terminal's colours in it take no room.
    width : int, optional
        How many characters a line has at most; words that are longer stay whole.

    Returns
    -------
    str

    Examples
    --------
    >>> print(wrapped("The first line.\n  A second one that is long.", 20))
    The first line.
      A second one that
        is long.
    """
    lines = text.split("\n")
    marked = [set(_COLOUR.sub("", line).strip()) == {"^"} for line in [*lines[1:], ""]]
    return "\n".join(line if keep else _line(line, width) for line, keep in zip(lines, marked, strict=True))


def _line(line: str, width: int) -> str:
    if len(_COLOUR.sub("", line)) <= width:
        return line
    indent = _INDENT.match(line)[0]
    shown, length = [indent], len(indent)
    # What is between words stays as it is where they stand in one line: it may be that of a table.
    for gap, word in re.findall(r"( *)([^ ]+)", line[len(indent) :]):
        size = len(_COLOUR.sub("", word))
        if length + len(gap) + size > width and length > len(indent) + 2:
            gap = "\n  " + indent
            length = len(indent) + 2 - len(gap)
        shown += [gap, word]
        length += len(gap) + size
    return "".join(shown)
