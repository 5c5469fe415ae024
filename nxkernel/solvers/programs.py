"""Solvers as programs: a call of one, its compiled program, and what its result is for the caller."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.tracing import whose_rules
from nxkernel.graph import tracing
from nxkernel.tensor.tensor import StoredTensor

#: How many solvers of functions are remembered, so that another call of one needs no look at its function.
_REMEMBERED = 64


def run(program: Callable[..., Any], static: Sequence[Any], inputs: Sequence[Any]) -> Any:
    """Call a solver's program, compiled; in a definition it becomes a part of that.

    Parameters
    ----------
    program : callable
        Of whether it is a part of a definition, which may be differentiated; of the static values, and then of the
        inputs, as traced values by Nx's rules.
    static : sequence
        Functions, and what decides how the program is written.
    inputs : sequence of tensors, arrays, numbers or containers
        What may change without another compilation.
    """
    is_inner = tracing.current() is not None
    try:
        made = _remembered(program, is_inner, *static)
    except TypeError:  # a function that has no hash
        made = _definition(program, is_inner, *static)
    return made(*inputs)


def _definition(program: Callable[..., Any], *static: Any) -> Definition:
    return Definition(functools.partial(program, *static), promotion=whose_rules.NX)


_remembered = functools.lru_cache(_REMEMBERED, typed=True)(_definition)


def number(value: Any) -> Any:
    """A number as an input of a program: Python's as one of 64 bits."""
    if isinstance(value, bool | int | float):
        return np.float64(value)
    return value


def gives_arrays(rules: str, inputs: Sequence[Any]) -> bool:
    """Whether results are NumPy's arrays: by NumPy's rules, where no tensor came in."""
    return rules == whose_rules.NUMPY and not whose_rules.holds_tensors(inputs)


def as_python(value: Any) -> Any:
    """A number that a program has computed as Python's; in a definition it stays traced."""
    return value.data.item() if isinstance(value, StoredTensor) and not value.shape else value


def as_array(value: Any) -> Any:
    """Tensors that a program has computed as NumPy's arrays and scalars; in a definition they stay as they are."""
    if isinstance(value, tuple):
        return tuple(map(as_array, value))
    return np.array(value.data)[()] if isinstance(value, StoredTensor) else value


def is_known(value: Any) -> bool:
    """Whether a value is there, and no traced one."""
    return isinstance(value, StoredTensor | np.ndarray | np.generic)
