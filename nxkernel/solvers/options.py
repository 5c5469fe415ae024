"""Checks of what solvers are given: methods, options, whole numbers."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.shapes import describe


def choice(
    solver: str, what: str, given: Any, names: Iterable[str], elsewhere: Callable[[str], str] = lambda _: ""
) -> str:
    """One of several names, in any case.

    Raises
    ------
    NxValueError
        For another one, with what to take instead.
    """
    names = list(names)
    if isinstance(given, str):
        for name in names:
            if name.lower() == given.lower():
                return name
        close = difflib.get_close_matches(given.lower(), [name.lower() for name in names], 1)
        hint = [f"Did you mean {name!r}?" for name in names if name.lower() in close]
        more = hint or [line for line in [elsewhere(given)] if line]
    else:
        more = []
    raise NxValueError(
        message(f"{solver}: {what} is one of {', '.join(map(repr, names))}, got {describe(given)}.", *more)
    )


def split(options: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """One option, and the others."""
    if options is not None and not isinstance(options, Mapping):
        raise NxTypeError(f"options is a dict, got {describe(options)}.")
    others = dict(options or {})
    return others.pop(name, None), others


def options(solver: str, method: str, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a method, those that were given before the defaults.

    Raises
    ------
    NxTypeError
        For one that the method does not have.
    """
    for name in given:
        if name not in defaults:
            raise NxTypeError(
                message(f"{solver}: {method} has no option {name!r}.", f"It has {', '.join(['disp', *defaults])}.")
            )
    return {**defaults, **given}


def whole(solver: str, name: str, value: Any) -> np.int64:
    """A whole number of at least 0.

    Raises
    ------
    NxTypeError
        For anything else.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < 0:
        raise NxTypeError(f"{solver}: {name} is a whole number of at least 0, got {describe(value)}.")
    return np.int64(value)
