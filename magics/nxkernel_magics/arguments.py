"""Parsing the options on the line of a magic."""

from __future__ import annotations

from argparse import Namespace

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser


def parse(parser: MagicArgumentParser, line: str) -> Namespace:
    """Parse the options of a line.

    Parameters
    ----------
    parser : MagicArgumentParser
        Of a function that was decorated with ``magic_arguments``, its attribute ``parser``.
    line : str

    Returns
    -------
    Namespace

    Raises
    ------
    UsageError
        Where the line cannot be read.
    """
    try:
        return parser.parse_argstring(line)
    except ValueError as error:
        # It comes from what splits a line into words: a traceback would show IPython's own lines only.
        said = f"{str(error).lower()} in `{line}`: quotes come in pairs, a backslash keeps one as it is."
        raise UsageError(said) from None
