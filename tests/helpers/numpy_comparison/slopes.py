"""Gradients of functions written for NumPy, against differences of what NumPy computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import nxkernel as nx


def weighed(result: Any) -> Any:
    """A sum of all elements, each of which counts differently."""
    return np.sum(result * np.cos(np.arange(result.size)).reshape(result.shape))


def check_slopes(
    function: Callable[..., Any], *arrays: Any, by: Sequence[int] | None = None, tolerance: float = 1e-6
) -> None:
    """Assert that gradients of the weighed sum of a function's result are central differences of it.

    Parameters
    ----------
    function : callable
        Of arrays, written for NumPy.
    *arrays : array
    by : sequence of int, optional
        Which arrays gradients are asked for; all unless given.
    tolerance : float, optional
        Relative, and absolute.
    """
    arrays = [np.array(one, float) for one in arrays]
    for place in range(len(arrays)) if by is None else by:

        def of_one(x: Any, place: int = place) -> Any:
            return weighed(function(*arrays[:place], x, *arrays[place + 1 :]))

        found = nx.grad(of_one, promotion="numpy")(arrays[place])
        wanted = np.zeros_like(arrays[place])
        for index in np.ndindex(*wanted.shape):
            step = np.zeros_like(wanted)
            step[index] = 1e-5
            wanted[index] = (of_one(arrays[place] + step) - of_one(arrays[place] - step)) / 2e-5
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
