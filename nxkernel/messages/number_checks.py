"""Range checks of numeric hyperparameters of layers and optimizers; tensors are not checked."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.operand import Operand
from nxkernel.shapes import describe


def share(where: str, name: str, value: Any) -> None:
    """Raise an error for a number outside of [0, 1)."""
    if number(where, name, value) and not 0 <= value < 1:
        raise NxValueError(f"{where}: {name} is at least 0 and less than 1, got {value!r}")


def at_least(where: str, name: str, value: Any, least: float) -> None:
    """Raise an error for a number below a minimum."""
    if number(where, name, value) and not value >= least:
        raise NxValueError(f"{where}: {name} is at least {least:g}, got {value!r}")


def above(where: str, name: str, value: Any, limit: float) -> None:
    """Raise an error for a number that is not above a limit."""
    if number(where, name, value) and not value > limit:
        raise NxValueError(f"{where}: {name} is greater than {limit:g}, got {value!r}")


def between(where: str, name: str, value: Any, least: float, most: float) -> None:
    """Raise an error for a number outside of a closed range."""
    if number(where, name, value) and not least <= value <= most:
        raise NxValueError(f"{where}: {name} is from {least:g} to {most:g}, got {value!r}")


def flag(where: str, name: str, value: Any) -> None:
    """Raise an error for a value other than True and False."""
    if not isinstance(value, bool):
        raise NxTypeError(f"{where}: {name} is True or False, got {describe(value)}")


def axis(where: str, name: str, value: Any) -> None:
    """Raise an error for a value that is no axis number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise NxTypeError(f"{where}: {name} is the number of an axis, got {describe(value)}")


def axes(where: str, name: str, value: Any) -> tuple[int, ...]:
    """A sequence of axis numbers from one or several; other values raise an error."""
    numbers = (value,) if isinstance(value, int) else value
    if not isinstance(numbers, tuple | list) or any(
        isinstance(one, bool) or not isinstance(one, int) for one in numbers
    ):
        raise NxTypeError(f"{where}: {name} is the number of an axis or a list of such, got {describe(value)}")
    return tuple(numbers)


def count(where: str, name: str, value: Any, least: int = 1) -> None:
    """Raise an error for a value that is no integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise NxTypeError(f"{where}: {name} is a whole number, got {describe(value)}")
    if value < least:
        raise NxValueError(f"{where}: {name} is at least {least}, got {value}")


def number(where: str, name: str, value: Any) -> bool:
    """Whether a value is a Python number and no (possibly traced) scalar; other values raise an error."""
    if isinstance(value, bool) or not isinstance(value, int | float | Operand):
        raise NxTypeError(f"{where}: {name} is a number, got {describe(value)}")
    return not isinstance(value, Operand)
