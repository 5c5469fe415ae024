"""Functions written for NumPy, run with NumPy and traced with nxkernel.numpy, and their results compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nxkernel as nx
import nxkernel.numpy as nnp


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def traced(function: Callable[..., Any], *inputs: Any) -> list[np.ndarray]:
    """The arrays that a function of ``np`` and arrays gives when it is traced and evaluated."""

    def definition(*values: Any) -> tuple[Any, ...]:
        try:
            return tuple(map(nnp.array, _leaves(function(nnp, *values))))
        finally:
            nnp.forget()

    results = nx.jit(definition, promotion="numpy", compiler="evaluator")(*inputs)
    return [np.asarray(result) for result in results]


def check(function: Callable[..., Any], *inputs: Any, rtol: float = 1e-12) -> None:
    """Assert that a function gives the same values, shapes and types with NumPy and traced."""
    found = traced(function, *[np.array(value) for value in inputs])
    with np.errstate(all="ignore"):
        wanted = _leaves(function(np, *[np.array(value) for value in inputs]))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        other = np.asarray(other)
        assert one.dtype == other.dtype, f"{one.dtype} is not {other.dtype}"
        assert one.shape == other.shape, f"{one.shape} is not {other.shape}"
        exact = other.dtype.kind in "biu"
        rtol = 1e-3 if other.dtype == np.float16 else 2e-6 if other.dtype in (np.float32, np.complex64) else rtol
        np.testing.assert_allclose(one, other, rtol=0 if exact else rtol, atol=0 if exact else rtol)
