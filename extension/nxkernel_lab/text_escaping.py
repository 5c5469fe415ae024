"""Making user texts readable: invisible characters are escaped, long texts truncated."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""A text with invisible characters escaped, such as those that change the writing direction.

    Parameters
    ----------
    text : str
        People's own; ends of lines and tabs stay.

    Returns
    -------
    str

    Examples
    --------
    >>> visible("\x1b[31mred \u202e é")
    '\\x1b[31mred \\u202e é'
    """
    if text.isprintable():
        return text
    shown = (each if each.isprintable() or each in "\n\t\xa0" else repr(each)[1:-1] for each in text)
    return "".join(shown)


def clipped(text: str, longest: int = 400) -> str:
    """A text truncated to a number of characters.

    Parameters
    ----------
    text : str
    longest : int, optional

    Returns
    -------
    str

    Examples
    --------
    >>> clipped("argument", 4), clipped("axis", 4)
    ('arg…', 'axis')
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"
