"""What is known of a call's arguments while a program is made, apart from the arrays that only its runs have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.container_classes.object_forms import members, opened
from nxkernel.operand import Operand, Proxy


@dataclass(frozen=True)
class Slot:
    """The place of an array among arguments that are known."""

    index: int


def _mapped(value: Any, part: Callable[[Any], Any], kinds: type | Any) -> Any:
    """A container with its parts replaced; itself where none of them, however deep, is of these types."""
    if not _holds(value, kinds):
        return value
    found = opened(value)
    if found is not None:
        form, parts = found
        pairs = zip(parts, form.static_flags, strict=True)
        return form.filled([one if is_static else part(one) for one, is_static in pairs])
    if isinstance(value, dict):
        return {name: part(one) for name, one in value.items()}
    return type(value)([part(one) for one in value]) if isinstance(value, list | tuple) else value


def _holds(value: Any, kinds: type | Any) -> bool:
    if isinstance(value, kinds):
        return True
    parts = members(value)
    if parts is None and isinstance(value, list | tuple | dict):
        parts = value.values() if isinstance(value, dict) else value
    return parts is not None and any(_holds(one, kinds) for one in parts)


def taken_out(value: Any, arrays: list[Any]) -> Any:
    """A structure with slots instead of traced values and arrays, which are put into a list, each once.

    Examples
    --------
    >>> arrays = []
    >>> taken_out((np.ones(2), {"order": 3, "x": np.zeros(2)}), arrays)
    (Slot(index=0), {'order': 3, 'x': Slot(index=1)})
    >>> len(arrays)
    2
    """
    if isinstance(value, Operand | Proxy | np.ndarray):
        for place, array in enumerate(arrays):
            if array is value:
                return Slot(place)
        arrays.append(value)
        return Slot(len(arrays) - 1)
    return _mapped(value, lambda part: taken_out(part, arrays), Operand | Proxy | np.ndarray)


def filled(value: Any, arrays: Sequence[Any]) -> Any:
    """The structure with arrays in the places of its slots."""
    if isinstance(value, Slot):
        return arrays[value.index]
    return _mapped(value, lambda part: filled(part, arrays), Slot)


def given_copies(values: Sequence[np.ndarray]) -> list[Any]:
    """Copies of a program's arrays, and NumPy's numbers for those of no axes.

    A function may keep what it is given, or write into it, and the memory is the program's.
    """
    return [np.array(value) if np.ndim(value) else np.asarray(value)[()] for value in values]


def frozen(known: Any) -> Any:
    """What is known as what can be compared; something equal to nothing else where that cannot be told."""
    try:
        key = _hashable(known), repr(known)
        hash(key)
    except Exception:
        # The text of an object may ask for data, too.
        return object()
    return key


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple([(one, _hashable(part)) for one, part in value.items()])
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
