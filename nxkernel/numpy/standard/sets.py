"""Sets of elements: their values, how often each is there, and where. How many there are depends on the values: while a
definition is traced ``size=`` says how many the result has room for, as in :func:`jax.numpy.unique_values`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing, values_of_call
from nxkernel.numpy.arrays import fancy_indexing, subscripts
from nxkernel.numpy.arrays.array import Array, as_value, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import sorting
from nxkernel.numpy.functions.creation import arange
from nxkernel.numpy.functions.cumulative import cumsum
from nxkernel.numpy.functions.joining import concatenate
from nxkernel.numpy.functions.selection import where
from nxkernel.numpy.functions.shaping import in_one_axis
from nxkernel.ops.machinery.dispatch import filled, operand
from nxkernel.tensor.tensor import Tensor

__all__ = [
    "intersect1d", "setdiff1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip


class UniqueAllResult(NamedTuple):
    """What :func:`unique_all` gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """What :func:`unique_counts` gives."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """What :func:`unique_inverse` gives."""

    values: Array
    inverse_indices: Array


def _elements(value: Any) -> np.ndarray:
    return np.asarray(subscripts.known_elements(as_value(value)))


def _array(value: np.ndarray) -> Array:
    return Array.of(Tensor.from_numpy(value))


def unique_all(x: Any, /, *, size: int | None = None) -> UniqueAllResult:
    """The different elements, where each is first, which of them each element is, and how many are equal.

    Parameters
    ----------
    x : array
    size : int, optional
        How many different elements there are at most, which is asked for while a definition is traced: the results have
        so many, and where there are less the rest repeats the greatest element, with a count of 0.

    Returns
    -------
    UniqueAllResult
        ``values``, ``indices``, ``inverse_indices`` and ``counts``.

    Raises
    ------
    NxTypeError
        While a definition is traced and no ``size=`` is given.

    Examples
    --------
    >>> values, _, _, counts = unique_all([3, 1, 3])
    >>> values, counts
    (Array([1, 3]), Array([1, 2]))
    """
    return _unique(x, size, "unique_all")


def unique_counts(x: Any, /, *, size: int | None = None) -> UniqueCountsResult:
    """The different elements, and how many of each there are; `size` as for :func:`unique_all`."""
    found = _unique(x, size, "unique_counts")
    return UniqueCountsResult(found.values, found.counts)


def unique_inverse(x: Any, /, *, size: int | None = None) -> UniqueInverseResult:
    """The different elements, and where each element is among them; `size` as for :func:`unique_all`."""
    found = _unique(x, size, "unique_inverse")
    return UniqueInverseResult(found.values, found.inverse_indices)


def unique_values(x: Any, /, *, size: int | None = None) -> Array:
    """The different elements in order; `size` as for :func:`unique_all`."""
    return _unique(x, size, "unique_values").values


def _unique(x: Any, size: int | None, name: str) -> UniqueAllResult:
    value = as_value(x)
    if tracing.current() is None and size is None:
        return UniqueAllResult(*map(_array, np.unique_all(_elements(value))))
    if size is None:
        raise _needs_size(name)
    line = in_one_axis(value)
    if size < 1 or not line.shape[0]:
        raise NxValueError(
            message(f"{name}: size is one or more, for an array with elements, got {size!r}.", "Give the greatest.")
        )
    order = sorting.argsort(line)
    ordered = line[order]
    begins = e.not_equal(ordered[1:], ordered[:-1])
    begins = concatenate([wrap(filled(True, types.bool_, (1,))), begins])
    # Of which group each sorted element is; what is beyond the last place is left out there.
    group = e.subtract(cumsum(begins), 1)
    last = e.minimum(group[-1], size - 1)
    firsts = _scattered(order, where(begins, group, size), size, "put")
    counts = _scattered(e.add(e.multiply(group, 0), 1), group, size, "add")
    firsts = firsts[e.minimum(arange(size), last)]
    inverse = _scattered(group, order, line.shape[0], "put")
    return UniqueAllResult(line[firsts], firsts, inverse.reshape(value.shape), counts)


def _scattered(values: Any, places: Any, size: int, how: str) -> Any:
    """Values brought to places of a vector; those beyond its end go nowhere."""
    room = filled(0, types.s64, (size + 1,))
    inside = operand(e.minimum(places, size))
    return wrap(fancy_indexing.put(room, {0: inside}, False, operand(values), how))[:size]


def _needs_size(name: str) -> NxTypeError:
    return NxTypeError(
        message(
            f"{name} gives as many elements as only the running program knows.",
            f"{name}(x, size=n) makes room for n of them: more are left out, less are filled up."
            if name.startswith("unique_")
            else "unique_values(x, size=n) makes room for n of them.",
            "Sorted, equal elements are neighbours: s = np.sort(x); s[1:] != s[:-1] tells where a new one begins.",
        )
    )


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True,
) -> Any:  # fmt: skip
    """The different elements, as :func:`numpy.unique`; while traced, of known elements, or for a call."""
    if _are_for_call(ar) and axis is None:
        found = _unique_for_call(as_value(ar), equal_nan)
        wanted = [part for part, asked in zip(found[1:], (return_index, return_inverse, return_counts), strict=True)
                  if asked]  # fmt: skip
        return (found.values, *wanted) if wanted else found.values
    _refuse_traced("unique", ar)
    found = np.unique(_elements(ar), return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    return tuple(map(_array, found)) if isinstance(found, tuple) else _array(found)


def union1d(ar1: Any, ar2: Any) -> Array:
    """The elements of two arrays, each once, as :func:`numpy.union1d`; while traced, for a call."""
    if _are_for_call(ar1, ar2):
        return unique(concatenate([in_one_axis(as_value(ar1)), in_one_axis(as_value(ar2))]))
    _refuse_traced("union1d", ar1, ar2)
    return _array(np.union1d(_elements(ar1), _elements(ar2)))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements that two arrays have, as :func:`numpy.intersect1d`; while traced, for a call."""
    if _are_for_call(ar1, ar2) and not return_indices:
        line = unique(ar1)
        return line[sorting.isin(line, ar2)]
    _refuse_traced("intersect1d", ar1, ar2)
    found = np.intersect1d(_elements(ar1), _elements(ar2), assume_unique, return_indices)
    return tuple(map(_array, found)) if isinstance(found, tuple) else _array(found)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The elements of one array that another has not, as :func:`numpy.setdiff1d`; while traced, for a call."""
    if _are_for_call(ar1, ar2):
        line = in_one_axis(as_value(ar1)) if assume_unique else unique(ar1)
        return line[sorting.isin(line, ar2, invert=True)]
    _refuse_traced("setdiff1d", ar1, ar2)
    return _array(np.setdiff1d(_elements(ar1), _elements(ar2), assume_unique))


def _are_for_call(*arrays: Any) -> bool:
    """Whether sets of arrays are made for a call whose numbers the trace may ask for."""
    return values_of_call.are_told() and not all(map(_is_known, map(as_value, arrays)))


def _unique_for_call(value: Any, equal_nan: bool) -> UniqueAllResult:
    """The different elements of an array, as many as there are for the call."""
    line = in_one_axis(value)
    if not line.shape[0]:
        nothing = arange(0)
        return UniqueAllResult(line, nothing, nothing, nothing)
    order = sorting.argsort(line, kind="stable")
    ordered = line[order]
    apart = e.not_equal(ordered[1:], ordered[:-1])
    if equal_nan and not value.type.is_integer:
        apart = e.logical_and(apart, e.logical_not(e.isnan(ordered[:-1])))
    begins = concatenate([wrap(filled(True, types.bool_, (1,))), apart])
    firsts = arange(line.shape[0])[begins]
    values, ends = ordered[begins], concatenate([firsts[1:], arange(line.shape[0], line.shape[0] + 1)])
    inverse = _scattered(e.subtract(cumsum(begins), 1), order, line.shape[0], "put")
    return UniqueAllResult(values, order[firsts], inverse.reshape(value.shape), e.subtract(ends, firsts))


def _refuse_traced(name: str, *arrays: Any) -> None:
    if tracing.current() is not None and not all(map(_is_known, map(as_value, arrays))):
        raise _needs_size(name)


def _is_known(value: Any) -> bool:
    return isinstance(value, Array) and subscripts.known_elements(value) is not None
