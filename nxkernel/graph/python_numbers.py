"""Traced values that stand for Python numbers: which types they have, and with how many digits they are computed.

By Nx's rules a float is an f32 where it is alone. Beside an f64 it has all of its digits, as a literal has: a trace
begins with f32, and where that would round a number which then meets an f64, it is left by a
:class:`RoundedNumberError`, and begins anew with f64 for all of Python's floats. What is alone at the end is an f32
again, so that no type tells of it.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any

from nxkernel import types
from nxkernel.scoped_settings import ScopedSetting, kept
from nxkernel.types import Type, c64, c128, f32, f64


class RoundedNumberError(BaseException):
    """A number that has the digits of an f32 meets an f64: the function is traced again.

    It is no Exception, so that no `except` of the function keeps it.
    """


class _Precision(threading.local):
    #: Whether floats have all of their digits; None where nobody traces again.
    whole: bool | None = None


_precision = kept(_Precision())
_DOUBLE = {f32: f64, c64: c128}
_SINGLE = {f64: f32, c128: c64}


def digits(whole: bool) -> AbstractContextManager[None]:
    """A context in which Python's floats have all of their digits, or in which a value that lacks them is an error."""
    return ScopedSetting(_precision, "whole", whole)


def are_whole() -> bool:
    """Whether Python's floats have all of their digits now, by Nx's rules."""
    return _precision.whole is True and not types.follows_numpy()


def double(type_: Type) -> Type:
    """The type in which a number of this type has all of its digits."""
    return _DOUBLE.get(type_, type_)


def alone(type_: Type) -> Type:
    """The type of a result that stands for a number, from the one that it is computed in."""
    return _SINGLE.get(type_, type_) if _precision.whole and not types.follows_numpy() else type_


def infer(number: Any) -> Type:
    """The type in which a number of a loop's state is computed; see :func:`nxkernel.types.infer`."""
    type_ = types.infer(number)
    return _DOUBLE.get(type_, type_) if _precision.whole else type_


def is_of_numbers(type_: Type) -> bool:
    """Whether a type is the default type of Python numbers of some kind."""
    if types.follows_numpy():
        return type_ in (types.bool_, types.s64, f64, c128)
    return type_ in (types.s64, f32, c64) or (_precision.whole is True and type_ in _SINGLE)


def check(type_: Type, wanted: Type) -> None:
    """Leave a trace in which a value of `type_` that stands for a number lacks digits that `wanted` has.

    Raises
    ------
    RoundedNumberError
    """
    if _precision.whole is False and type_ in _DOUBLE and wanted in _SINGLE and not types.follows_numpy():
        raise RoundedNumberError
