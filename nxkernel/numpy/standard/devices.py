"""Where arrays are, and their way to other places and to other libraries: ``device``, ``to_device``, DLPack."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from nxkernel.errors import NxAttributeError, NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import TracedValue
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value
from nxkernel.numpy.base.eager_rules import by_numpys_rules
from nxkernel.operand import Operand, Proxy
from nxkernel.tensor import device as places
from nxkernel.tensor.tensor import Tensor

__all__ = ["from_dlpack"]

_WHEN_CALLED = "Where a traced value is, is said where the definition is called: return it, and ask there."


def check(device: Any) -> None:
    """Refuse what is no device, as None and the name of one are not."""
    if device is not None and device not in places.available():
        known = ", ".join(f'"{name}"' for name in places.available())
        raise NxValueError(message(f"there is no device {device!r}.", f"Here are {known}."))


def _tensor(array: ArrayValue, name: str) -> Tensor:
    """The elements of an array that are known."""
    value = array.__nx_operand__()
    if isinstance(value, TracedValue):
        raise NxAttributeError(message(f"a traced array has no {name!r}.", _WHEN_CALLED))
    return value


def _device(self: ArrayValue) -> str | None:
    """The name of the place that an array is in, ``"cpu"`` or ``"cuda:0"``; None for where the program will run."""
    value = self.__nx_operand__()
    return None if isinstance(value, TracedValue) else value.device


def _to_device(self: ArrayValue, device: Any, /, *, stream: Any = None) -> Array:
    """The array in another place: itself where it is there already, else a copy."""
    check(device)
    if stream is not None:
        raise NxValueError(message(f"to_device: stream is None, got {stream!r}.", "Streams are nxkernel's own here."))
    if device is None and self.device is None:
        return self if isinstance(self, Array) else Array.of(self.__nx_operand__())
    value = _tensor(self, "to_device")
    moved = places.placed(value, device)
    return self if moved is value and isinstance(self, Array) else Array.of(moved)


def _dlpack(
    self: ArrayValue, /, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
) -> Any:
    """The DLPack capsule, of which others read; those that would write get a copy."""
    value = _tensor(self, "__dlpack__")
    return value.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def _dlpack_device(self: ArrayValue, /) -> tuple[int, int]:
    """The kind and the number of the place, as DLPack counts them."""
    return _tensor(self, "__dlpack_device__").__dlpack_device__()


#: What arrays have of this module.
METHODS = {
    "device": property(_device), "to_device": _to_device, "__dlpack__": _dlpack, "__dlpack_device__": _dlpack_device,
}  # fmt: skip


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """An array of another library's, by DLPack: its memory is shared where it can be, unless ``copy=True``.

    Parameters
    ----------
    x : object
        What answers ``__dlpack__``.
    device : str, optional
        Where the array is to be, such as ``"cpu"``.
    copy : bool, optional
        Whether its elements are copied; False refuses where they would have to be.

    Raises
    ------
    NxTypeError
        For a value of a definition that is traced, whose elements are not there yet.

    Examples
    --------
    >>> import numpy as np
    >>> from_dlpack(np.arange(3.0))
    Array([0., 1., 2.])
    """
    check(device)
    if isinstance(x, Operand | Proxy) and tracing.current() is not None:
        raise NxTypeError(message("from_dlpack takes arrays whose elements are there, not traced ones.", _WHEN_CALLED))
    if isinstance(x, ArrayValue):
        found = _tensor(x, "__dlpack__")
    else:
        found = places.from_dlpack(x)
    if copy and found.device == places.HOST:
        found = Tensor.from_numpy(found.data.copy())
    if device is None or found.device == device:
        return Array.of(found)
    if copy is False:
        raise NxValueError(
            message(f"an array on {found.device} comes to {device} by a copy.", "copy=None allows that.")
        )
    return Array.of(places.placed(found, device))


def install(module: Any, names: list[str]) -> None:
    """Let functions of a module that make arrays put them where ``device=`` says."""
    for name in names:
        setattr(module, name, _placing(getattr(module, name)))


def _placing(function: Callable[..., Any]) -> Callable[..., Any]:

    @functools.wraps(function)
    def placed(*args: Any, **options: Any) -> Any:
        device = options.get("device")
        if device is None:
            return function(*args, **options)
        check(device)
        result = function(*args, **options)
        return result if tracing.current() is not None else _moved(result, device)

    return placed


def _moved(result: Any, device: str) -> Any:
    if isinstance(result, tuple):
        return (_moved(result[0], device), *result[1:])
    return by_numpys_rules(_to_device)(as_value(result), device)
