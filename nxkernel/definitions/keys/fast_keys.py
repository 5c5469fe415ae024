"""Fast keys: a flat tuple of the types, shapes and static values of a call, made without looking into anything.

Calls with equal fast keys have equal cache keys (`CallArguments.ident`), as long as nothing else has changed; the other
way round they need not. Keys are prefix codes: each part begins with something that tells how many follow.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from nxkernel.tensor.device import DeviceTensor
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

_array = np.array
_F32, _S64, _U8 = np.dtype("f4"), np.dtype("i8"), np.dtype("u1")
_OPTIONS, _STATIC, _SCALAR, _DEVICE = object(), object(), object(), object()
_PLAIN = frozenset({bool, int, str, type(None)})
#: What is no data for a NumPy program.
_NO_DATA = frozenset({str, type(None)})


def encode(
    args: tuple, options: dict[str, Any], parameters: Sequence[inspect.Parameter], static: frozenset[str],
    fixed: Collection[str], of_numpy: bool, key: list[Any], arrays: list[Any],
) -> bool:  # fmt: skip
    """Append the key of a call, and the arrays of its arguments; False where the call takes the long way.

    Where nothing is static, ``Definition.__call__`` does the same in place: as a function it would cost a call of three
    numbers 60 of its 1,650 nanoseconds. A test holds both together.

    Parameters
    ----------
    args : tuple
        By position.
    options : dict
        By name.
    parameters : sequence of inspect.Parameter
        Those that can be given by position.
    static : frozenset of str
        The names of arguments that are static.
    fixed : collection of str
        Those of numbers whose values were needed while tracing.
    of_numpy : bool
        Whether the definition follows NumPy's rules.
    key, arrays : list
        What is appended to.
    """
    add_data = add_of_numpy if of_numpy else add
    for place, value in enumerate(args):
        kind = type(value)
        if kind is np.ndarray:
            key += (value.dtype, value.shape)
            arrays.append(value)
        elif kind is Tensor:
            key.append(value.spec)
            arrays.append(value.data)
        else:
            name = parameters[place].name if place < len(parameters) else ""
            added = add_static(value, key) if name in static else add_data(value, key, arrays)
            if not added or (name in fixed and not add_static(value, key)):
                return False
    return not options or add_options(options, key)


def _adder(real: np.dtype, truth: np.dtype, largest: float) -> Callable[[Any, list[Any], list[np.ndarray]], bool]:
    """Make the function that appends an argument to a key, for the given types of Python numbers."""

    def add(value: Any, key: list[Any], arrays: list[np.ndarray]) -> bool:
        kind = type(value)
        # Arrays and tensors that are arguments come here only in containers.
        if kind is float:
            if not -largest <= value <= largest and value - value == 0:
                return False  # NumPy warns of what overflows to infinity; the long way knows.
            key.append(kind)
            arrays.append(_array(value, real))
        elif kind is int:
            key.append(kind)
            try:
                arrays.append(_array(value, _S64))
            except OverflowError:
                return False
        elif kind is np.ndarray:
            key += (value.dtype, value.shape)
            arrays.append(value)
        elif kind is Tensor:
            key.append(value.spec)
            arrays.append(value.data)
        elif kind is bool:
            key.append(kind)
            arrays.append(_array(value, truth))
        elif kind is tuple or kind is list:
            key += (kind, len(value))
            return add_all(value, key, arrays)
        elif kind is dict:
            names = tuple(value)
            if not _is_text(names):
                return False
            key += (kind, names)
            return add_all(value.values(), key, arrays)
        elif kind is DeviceTensor:
            key += (_DEVICE, value.spec)
            arrays.append(value.array)
        elif issubclass(kind, np.number | np.bool):
            key += (_SCALAR, value.dtype)
            arrays.append(_array(value))
        else:
            names = _fields(kind)
            if names is None:
                return False
            key.append(kind)
            try:
                members = [getattr(value, name) for name in names]
            except AttributeError:
                return False  # a field that nobody has set
            return add_all(members, key, arrays)
        return True

    def add_all(values: Iterable[Any], key: list[Any], arrays: list[np.ndarray]) -> bool:
        try:
            for value in values:
                if not add(value, key, arrays):
                    return False
        except RecursionError:
            return False
        return True

    return add


#: Append what an argument is to a key, and its leaves to arrays; False when it takes the long way. The second one
#: follows NumPy's rules.
add = _adder(_F32, _U8, float(np.finfo(_F32).max))
add_weak = _adder(np.dtype("f8"), np.dtype("?"), float("inf"))


def add_of_numpy(value: Any, key: list[Any], arrays: list[np.ndarray]) -> bool:
    """Append an argument by NumPy's rules to a key: text and None are no data, and a truth counts by its value."""
    kind = type(value)
    if kind in _NO_DATA:
        return add_static(value, key)
    return add_weak(value, key, arrays) and (kind is not bool or add_static(value, key))


def add_static(value: Any, key: list[Any]) -> bool:
    """Append a static value to a key; False if it needs the slow path."""
    kind = type(value)
    if kind is float:
        # Zeros of both signs are equal, and NaN is not itself.
        key += (_STATIC, kind, value if value and value == value else value.hex())
    elif kind in _PLAIN:
        key += (_STATIC, kind, value)
    else:
        return False
    return True


@functools.lru_cache(maxsize=1024)
def _is_text(names: tuple) -> bool:
    """Whether all keys of a dict are text: 1, 1.0 and True would be one."""
    return all(type(name) is str for name in names)


@functools.lru_cache(maxsize=1024)
def _fields(kind: type) -> tuple[str, ...] | None:
    """The members of a named tuple or dataclass."""
    if issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    return tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else None


def add_options(options: dict[str, Any], key: list[Any]) -> bool:
    """Append options to a key; False if one of them needs the slow path."""
    key.append(_OPTIONS)
    for name, value in options.items():
        kind = type(value)
        if kind in _PLAIN or kind is Type:
            key += (name, kind, value)
        elif kind is float:
            key += (name, kind, value.hex())
        elif kind is tuple or kind is list:
            for item in value:
                if type(item) not in _PLAIN:
                    return False
            key += (name, kind, repr(value))
        else:
            return False
    return True
