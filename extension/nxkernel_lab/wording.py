"""Numbers as people read them, with their units, and people's own texts as they can be read."""

from __future__ import annotations


def duration(milliseconds: float) -> str:
    """A time in the unit that suits it.

    Parameters
    ----------
    milliseconds : float
        The time in milliseconds.

    Returns
    -------
    str

    Examples
    --------
    >>> duration(0.00034), duration(0.0123), duration(1.44), duration(41.2), duration(2300)
    ('340 ns', '12 µs', '1.4 ms', '41 ms', '2.3 s')
    """
    if 0 < milliseconds < 0.0009995:
        return f"{milliseconds * 1e6:.0f} ns"
    if milliseconds < 0.9995:
        return f"{milliseconds * 1e3:.0f} µs"
    if milliseconds < 999.5:
        return f"{milliseconds:.1f} ms" if milliseconds < 9.95 else f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1e3:.1f} s"


def amount(number: float) -> str:
    """A large number with a decimal prefix, to be followed by its unit.

    Parameters
    ----------
    number : float
        Such as bytes or arithmetic operations.

    Returns
    -------
    str

    Examples
    --------
    >>> amount(12) + "B", amount(4_194_304) + "B", amount(1_040_400) + "flop"
    ('12 B', '4.2 MB', '1.0 Mflop')
    """
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= factor:
            return f"{number / factor:.1f} {prefix}"
    return f"{number:.0f} "


def count(number: int, noun: str) -> str:
    """A number and its noun.

    Parameters
    ----------
    number : int
        How many.
    noun : str
        Of what, in the singular.

    Returns
    -------
    str

    Examples
    --------
    >>> count(1, "kernel"), count(2, "kernel")
    ('1 kernel', '2 kernels')
    """
    return f"{number} {noun}" + ("" if number == 1 else "s")


def ago(seconds: float) -> str:
    """How long ago something was.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str

    Examples
    --------
    >>> ago(0.2), ago(40), ago(60), ago(600), ago(7300), ago(200_000)
    ('just now', '40 seconds ago', '1 minute ago', '10 minutes ago', '2 hours ago', '2 days ago')
    """
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            return f"{count(int(seconds // size), unit)} ago"
    return "just now"


def visible(text: str) -> str:
    r"""A text in which characters that are not seen are written out, such as those that turn the direction of writing.

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
    """A text of so many characters at the most.

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
