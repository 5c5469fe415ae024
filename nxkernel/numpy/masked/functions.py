"""The functions of ``numpy.ma`` on arrays of a program; what is known while tracing goes to NumPy's own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, message
from nxkernel.numpy.arrays.array import Array, as_value, holds_traced
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.shaping import as_array, broadcast_to
from nxkernel.numpy.masked.masked_array import MaskedArray, as_masked, elements
from nxkernel.ops.machinery.dispatch import filled as constant_array
from nxkernel.types import bool_


def masked_like(
    data: Any, dtype: Any = None, copy: Any = False, order: Any = None, mask: Any = np.ma.nomask,
    fill_value: Any = None, keep_mask: bool = True, hard_mask: bool = False, shrink: bool = True, subok: bool = True,
    ndmin: int = 0,
) -> MaskedArray:  # fmt: skip
    """A masked array, as :func:`numpy.ma.array`."""
    if fill_value is not None or hard_mask:
        raise NxTypeError(
            message(
                f"a masked array of a program takes no {'hard_mask' if hard_mask else 'fill_value'}.",
                "x.filled(value) puts a value where it is masked.",
            )
        )
    found = as_masked(data)
    base = found.base if dtype is None else as_array(found.base.astype(dtype))
    if base.ndim < ndmin:
        base = base.reshape((1,) * (ndmin - base.ndim) + base.shape)
    base = base.copy() if copy else base
    held = found.held
    if mask is not np.ma.nomask:
        given = as_array(broadcast_to(_truths(mask), base.shape))
        held = given.copy() if held is None or not keep_mask else as_array(e.logical_or(held, given))
    return MaskedArray(base, held)


def masked_of(a: Any, dtype: Any = None, order: Any = None) -> MaskedArray:
    """A masked array of anything, as :func:`numpy.ma.asarray`."""
    return masked_like(a, dtype)


def masked_array(
    data: Any = None, mask: Any = np.ma.nomask, dtype: Any = None, copy: Any = False, **options: Any
) -> Any:
    """A masked array, as :class:`numpy.ma.MaskedArray` makes one."""
    return masked_like(data, dtype, copy, mask=mask, **options)


def _truths(value: Any) -> Any:
    return e.not_equal(elements(value), 0) if as_value(elements(value)).type is not bool_ else elements(value)


def masked_where(condition: Any, a: Any, copy: bool = True) -> MaskedArray:
    """An array masked where a condition holds, as :func:`numpy.ma.masked_where`."""
    value = as_masked(a)
    hidden = filled(condition, True) if isinstance(condition, MaskedArray) else _truths(condition)
    hidden = as_array(broadcast_to(hidden, value.shape))
    held = hidden.copy() if value.held is None else as_array(e.logical_or(value.held, hidden))
    return MaskedArray(value.base.copy() if copy else value.base, held)


def masked_invalid(a: Any, copy: bool = True) -> MaskedArray:
    """An array masked where it is NaN or infinite, as :func:`numpy.ma.masked_invalid`."""
    value = as_masked(a)
    return masked_where(e.logical_not(e.isfinite(value.base)), value, copy)


def _where_compared(compare: Callable[[Any, Any], Any]) -> Callable[..., MaskedArray]:
    def function(x: Any, value: Any, copy: bool = True) -> MaskedArray:
        found = as_masked(x)
        return masked_where(compare(found.base, value), found, copy)

    return function


def getmask(a: Any) -> Any:
    """The mask of an array, or ``nomask``, as :func:`numpy.ma.getmask`."""
    return a.mask if isinstance(a, MaskedArray) else np.ma.nomask


def getmaskarray(arr: Any) -> Any:
    """The mask of an array, with an element for each, as :func:`numpy.ma.getmaskarray`."""
    return (
        arr.whole_mask if isinstance(arr, MaskedArray) else Array.of(constant_array(False, bool_, as_value(arr).shape))
    )


def getdata(a: Any, subok: bool = True) -> Any:
    """The elements of an array, masked or not, as :func:`numpy.ma.getdata`."""
    return elements(a)


def filled(a: Any, fill_value: Any = None) -> Any:
    """The elements of an array, with a value where they are masked, as :func:`numpy.ma.filled`."""
    return a.filled(fill_value) if isinstance(a, MaskedArray) else as_value(a)


def mask_or(m1: Any, m2: Any, copy: bool = False, shrink: bool = True) -> Any:
    """A mask of what one of two masks hides, as :func:`numpy.ma.mask_or`."""
    masks = [_truths(mask) for mask in (m1, m2) if mask is not np.ma.nomask and mask is not False]
    return functools.reduce(e.logical_or, masks) if masks else np.ma.nomask


def is_masked(x: Any) -> Any:
    """Whether an element is masked, as :func:`numpy.ma.is_masked`."""
    return isinstance(x, MaskedArray) and x.held is not None and reductions.any(x.held)


def is_masked_array(x: Any) -> bool:
    """Whether a value is a masked array, as :func:`numpy.ma.isMaskedArray`."""
    return isinstance(x, MaskedArray)


def _method(name: str) -> Callable[..., Any]:
    def function(a: Any, *args: Any, **options: Any) -> Any:
        return getattr(as_masked(a), name)(*args, **options)

    return function


_METHODS = ("sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "count", "compressed", "ravel", "copy")
_COMPARED = {
    "masked_equal": e.equal, "masked_not_equal": e.not_equal, "masked_less": e.less,
    "masked_less_equal": e.less_equal, "masked_greater": e.greater, "masked_greater_equal": e.greater_equal,
}  # fmt: skip


def _answering(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **options: Any) -> Any:
        traced = any(map(holds_traced, (*args, *options.values())))
        return (ours if traced else theirs)(*args, **options)

    function.__name__ = function.__qualname__ = getattr(theirs, "__name__", "function")
    function.__doc__ = f"As :func:`numpy.ma.{function.__name__}`."
    return function


@functools.cache
def table() -> dict[Any, Callable[..., Any]]:
    """By function of ``numpy.ma`` what takes its place while a definition is traced."""
    pairs = {
        np.ma.array: masked_like, np.ma.asarray: masked_of, np.ma.asanyarray: masked_of,
        np.ma.MaskedArray: masked_array,
        np.ma.masked_where: masked_where, np.ma.masked_invalid: masked_invalid, np.ma.getmask: getmask,
        np.ma.getmaskarray: getmaskarray, np.ma.getdata: getdata, np.ma.filled: filled, np.ma.mask_or: mask_or,
        np.ma.is_masked: is_masked, np.ma.isMaskedArray: is_masked_array,
        **{getattr(np.ma, name): _method(name) for name in _METHODS},
        **{getattr(np.ma, name): _where_compared(compare) for name, compare in _COMPARED.items()},
    }  # fmt: skip
    return {theirs: _answering(theirs, ours) for theirs, ours in pairs.items()}
