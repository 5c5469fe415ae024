"""``match`` in definitions: Python matches what is known while the function is traced, and other values are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.definitions.flow.values import variable_leaves
from nxkernel.definitions.syntax import unsupported_syntax
from nxkernel.errors import NxError, TracedValueError


def match_(chosen: Callable[[Any], tuple[int, tuple]], subject: Any, site: tuple, asks: bool) -> tuple[int, tuple]:
    """Which case of a ``match`` is taken, and the values of its names.

    Parameters
    ----------
    chosen : callable
        Has the patterns: it gives the number of the case, or -1, and the values.
    subject : Any
        Options, static values, and containers: their structure is known, whatever their parts are.
    site : tuple
        Where the ``match`` is.
    asks : bool
        Whether a pattern asks what a traced value stands for and is not: a number, a truth value, an array.

    Raises
    ------
    RefusedSyntaxError
        Where a traced value would decide.
    """
    if asks and variable_leaves.has_traced(subject):
        raise _refusal("asks for the class of a value", site)
    try:
        return chosen(subject if variable_leaves.is_traced(subject) else variable_leaves.known(subject))
    except TracedValueError as error:
        raise _refusal("compares a value", site) from error


def _refusal(what: str, site: tuple) -> NxError:
    return unsupported_syntax.refusal(
        f"a `match` {what} that only the running program knows: its cases are chosen while the function is traced",
        site,
        "Write if … elif … else for values of the program, also inside of a case.",
        "Options, static arguments, and how containers are built are known, and can be matched.",
    )
