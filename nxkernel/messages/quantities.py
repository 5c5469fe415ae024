"""The one formatter of quantities: times, bytes, and large numbers with units."""

from __future__ import annotations

from nxkernel.messages.grammar import counted

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def duration(milliseconds: float) -> str:
    """A time in a suitable unit.

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


def scaled(number: float) -> tuple[float, str]:
    """A number divided by a power of 1000, and its prefix.

    Parameters
    ----------
    number : float

    Returns
    -------
    tuple of float and str
        How many, and the decimal prefix: of kilo to tera, or none.

    Examples
    --------
    >>> scaled(4_200_000), scaled(12)
    ((4.2, 'M'), (12, ''))
    """
    for factor, prefix in _PREFIXES:
        if number >= factor:
            return number / factor, prefix
    return number, ""


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
    value, prefix = scaled(number)
    return f"{value:.1f} {prefix}" if prefix else f"{number:.0f} "


def memory(count: int) -> str:
    """An amount of memory.

    Parameters
    ----------
    count : int
        In bytes.

    Returns
    -------
    str

    Examples
    --------
    >>> memory(896), memory(38_440)
    ('896 bytes', '38.4 kB')
    """
    return f"{amount(count)}B" if scaled(count)[1] else counted(count, "byte")


def ago(seconds: float) -> str:
    """The age of something as text, such as "5 min ago".

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
            return f"{counted(int(seconds // size), unit)} ago"
    return "just now"
