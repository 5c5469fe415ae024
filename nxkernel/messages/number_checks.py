"""Checks of the numbers that layers and optimizers are made with; tensors are taken as they come."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.operand import Operand
from nxkernel.shapes import describe


def share(where: str, name: str, value: Any) -> None:
    """Refuse a number that is not from 0 up to, but not, 1."""
    if number(where, name, value) and not 0 <= value < 1:
        raise NxValueError(f"{where}: {name} is at least 0 and less than 1, got {value!r}")


def at_least(where: str, name: str, value: Any, least: float) -> None:
    """Refuse a number below some other."""
    if number(where, name, value) and not value >= least:
        raise NxValueError(f"{where}: {name} is at least {least:g}, got {value!r}")


def above(where: str, name: str, value: Any, limit: float) -> None:
    """Refuse a number that is not above some other."""
    if number(where, name, value) and not value > limit:
        raise NxValueError(f"{where}: {name} is greater than {limit:g}, got {value!r}")


def between(where: str, name: str, value: Any, least: float, most: float) -> None:
    """Refuse a number that is not from one to another."""
    if number(where, name, value) and not least <= value <= most:
        raise NxValueError(f"{where}: {name} is from {least:g} to {most:g}, got {value!r}")


def flag(where: str, name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise NxTypeError(f"{where}: {name} is True or False, got {describe(value)}")


def axis(where: str, name: str, value: Any) -> None:
    """Refuse what is no number of an axis."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise NxTypeError(f"{where}: {name} is the number of an axis, got {describe(value)}")


def axes(where: str, name: str, value: Any) -> tuple[int, ...]:
    """Numbers of axes, also of a single one."""
    given = (value,) if isinstance(value, int) else value
    if not isinstance(given, tuple | list) or any(isinstance(one, bool) or not isinstance(one, int) for one in given):
        raise NxTypeError(f"{where}: {name} is the number of an axis or a list of such, got {describe(value)}")
    return tuple(given)


def count(where: str, name: str, value: Any, least: int = 1) -> None:
    """Refuse what is no whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise NxTypeError(f"{where}: {name} is a whole number, got {describe(value)}")
    if value < least:
        raise NxValueError(f"{where}: {name} is at least {least}, got {value}")


def number(where: str, name: str, value: Any) -> bool:
    """Whether a value is a Python number, and not a scalar that may be traced; anything else is refused."""
    if isinstance(value, bool) or not isinstance(value, int | float | Operand):
        raise NxTypeError(f"{where}: {name} is a number, got {describe(value)}")
    return not isinstance(value, Operand)
