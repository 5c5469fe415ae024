"""``min``, ``max`` and ``sorted`` with a key that only the running program knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.messages.grammar import a
from nxkernel.numpy.arrays.array import wrap
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import convert, is_number, operand, spread, together
from nxkernel.ops.shapes import sorting
from nxkernel.ops.shapes.shaping import stack

#: Makes a traced value stand for a Python number.
AsNumber = Callable[[Any], Any]


def extreme(
    name: str, values: Sequence[Any], keys: Sequence[Any], beats: Callable[..., Any], as_number: AsNumber
) -> Any:
    """The value whose key is the most extreme, the first of equal ones.

    Parameters
    ----------
    name : str
        What is called, for errors.
    values, keys : sequence
        Numbers, or tuples of these; and a number for each.
    beats : callable
        Whether one key is strictly more extreme than another.
    as_number : callable
    """
    best, best_key = values[0], operand(keys[0])
    for value, key in zip(values[1:], keys[1:], strict=True):
        first, second, type_ = together(best_key, operand(key))
        pair = convert(first, type_), convert(second, type_)
        wins = beats(pair[1], pair[0])
        best_key = comparison.select(wins, pair[1], pair[0])
        best = _either(name, wins, value, best, as_number)
    return best


def in_order(name: str, values: Sequence[Any], keys: Sequence[Any], reverse: bool, as_number: AsNumber) -> list[Any]:
    """The values in the order of their keys, equal ones as they came.

    Parameters
    ----------
    name : str
        What is called, for errors.
    values, keys : sequence
        As for :func:`extreme`.
    reverse : bool
        Whether those with great keys come first.
    as_number : callable
    """
    row = stack([operand(key) for key in keys])
    places = sorting.argsort(row, direction="desc" if reverse else "asc", stable=True)
    return [_picked(name, values, places[position], as_number) for position in range(len(values))]


def _either(name: str, condition: Any, one: Any, other: Any, as_number: AsNumber) -> Any:
    if _are_alike([one, other], tuple):
        return tuple([_either(name, condition, *pair, as_number) for pair in zip(one, other, strict=True)])
    _check(name, [one, other])
    first, second, type_ = together(operand(one), operand(other))
    chosen = comparison.select(spread(condition, first.shape), convert(first, type_), convert(second, type_))
    return _like([one, other], chosen, as_number)


def _picked(name: str, values: Sequence[Any], place: Any, as_number: AsNumber) -> Any:
    if _are_alike(values, tuple):
        return tuple([_picked(name, parts, place, as_number) for parts in zip(*values, strict=True)])
    _check(name, values)
    return _like(values, stack([operand(value) for value in values])[place], as_number)


def _are_alike(values: Sequence[Any], kind: type) -> bool:
    return all(type(value) is kind and len(value) == len(values[0]) for value in values)


def _check(name: str, values: Sequence[Any]) -> None:
    for value in values:
        is_of_program = isinstance(value, Operand | Proxy)
        if is_number(value) or (is_of_program and not value.shape):
            continue
        # One of several arrays could be assigned into.
        got = "an array" if is_of_program else a(type(value).__name__)
        raise NxTypeError(
            message(
                f"{name}() with a key that only the running program knows gives numbers or tuples of these, got {got}.",
                "Choose among places instead, as by np.argsort of the keys.",
            )
        )


def _like(values: Sequence[Any], result: Any, as_number: AsNumber) -> Any:
    """A result as the values are: a number of Python's where all of them are."""
    if not result.shape and all(is_number(value) or tracing.weak(operand(value)) for value in values):
        result = as_number(result)
    return wrap(result) if types.follows_numpy() else result
