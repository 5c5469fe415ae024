"""Examples of arrays, by which is found what a function of a library gives: its shapes and types.

There are examples of several kinds of values. Where what a function gives for these agrees, it is taken for that of
every run, and a run that gives something else is an error.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.ops.machinery.known_parts import given_copies

#: What makes an object, or calls a function, from arrays.
Recipe = Callable[[Sequence[np.ndarray]], Any]


class NoExampleError(Exception):
    """No example tells what a function gives."""


def of_examples(recipe: Recipe, arrays: Sequence[Any], table: Any) -> list[Any]:
    """What a function gives for examples of different values.

    Parameters
    ----------
    recipe : callable
    arrays : sequence
        What it takes: arrays that are known, and traced ones, of which shapes and types count.
    table : array or None
        Where an interpolator has its points: examples lie between them.

    Raises
    ------
    NoExampleError
        If it fails for all of them.
    """
    known = [one for one in (*arrays, table) if isinstance(one, np.ndarray) and one.ndim == 1 and one.size]
    tables = [one for one in known if one.dtype.kind == "f" and np.isfinite(one).all()]
    within = (max(map(np.min, tables)), min(map(np.max, tables))) if tables else (0.2, 0.8)
    found = []
    with np.errstate(all="ignore"), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for make in _KINDS:
            try:
                found += [recipe(_example(make, arrays, seed, within)) for seed in (0, 1)]
            except Exception:
                continue
    if not found:
        raise NoExampleError
    return found


def _example(make: _Kind, arrays: Sequence[Any], seed: int, within: tuple[float, float]) -> list[Any]:
    values = _Values(np.random.default_rng(seed), seed, within)
    return given_copies(
        [
            array if isinstance(array, np.ndarray) else make(values, tuple(array.shape), array.type.dtype)
            for array in arrays
        ]
    )


@dataclass(frozen=True)
class _Values:
    """Where the values of an example come from: at random, or between the ends of a table that is known."""

    random: np.random.Generator
    seed: int
    within: tuple[float, float]


_Kind = Callable[[_Values, tuple[int, ...], np.dtype], np.ndarray]


def _any_values(values: _Values, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.asarray(values.random.uniform(size=shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(values.random.integers(1, 9, shape)).astype(dtype)
    return np.asarray(values.random.uniform(0.2, 0.8, shape)).astype(dtype)


def _definite(values: _Values, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    any_ = _any_values(values, shape, dtype)
    if len(shape) < 2 or shape[-1] != shape[-2] or dtype.kind in "biu":
        return any_
    return ((any_ + any_.swapaxes(-1, -2)) / 2 + np.eye(shape[-1]) * shape[-1]).astype(dtype)


def _ascending(values: _Values, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b" or not shape:
        return _any_values(values, shape, dtype)
    steps = np.arange(shape[0]).reshape(-1, *(1,) * (len(shape) - 1))
    return (np.sort(_any_values(values, shape, np.dtype(float)), axis=0) + steps).astype(dtype)


def _even(values: _Values, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "biu" or not shape:
        return _any_values(values, shape, dtype)
    first, last = values.within
    steps = np.linspace(first, last - values.seed * (last - first) / 8, shape[0])
    return np.broadcast_to(steps.reshape(-1, *(1,) * (len(shape) - 1)), shape).astype(dtype)


def _signed(values: _Values, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    any_ = _any_values(values, shape, dtype)
    return any_ if dtype.kind in "biu" else np.asarray(5 * values.random.normal(size=shape)).astype(dtype)


def _shares(values: _Values, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    any_ = _any_values(values, shape, dtype)
    return any_ if dtype.kind in "biu" or not any_.size else (any_ / any_.sum()).astype(dtype)


#: Examples: for what wants good matrices, an order, points within others, tells apart what is large or below zero, or
#: takes probabilities.
_KINDS: tuple[_Kind, ...] = (_definite, _ascending, _even, _signed, _shares)


def are_alike(found: Sequence[Any]) -> bool:
    """Whether all that a function gave for examples has the same shapes."""
    return all(_forms(one) == _forms(found[0]) for one in found)


def _forms(value: Any) -> Any:
    """The shapes of a result. Types that depend on values, as those of matrix functions, are those of good matrices."""
    return (type(value), tuple(map(_forms, value))) if isinstance(value, list | tuple) else np.shape(value)
