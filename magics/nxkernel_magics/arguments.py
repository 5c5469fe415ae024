"""The words of a magic's line, read as its options."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from IPython.core import magic_arguments
from IPython.core.error import UsageError


def parse_argstring(command: Callable[..., Any], line: str) -> Namespace:
    """Read the options of a command that was decorated with ``magic_arguments``.

    Parameters
    ----------
    command : callable
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
        return magic_arguments.parse_argstring(command, line)
    except ValueError as error:
        # It comes from what splits a line into words: a traceback would show IPython's own lines only.
        said = f"{str(error).lower()} in `{line}`: quotes come in pairs, a backslash keeps one as it is."
        raise UsageError(said) from None
