"""The solution of a differential equation as a function of the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class OdeSolution:
    """A solution between its steps, as a function of the time.

    Parameters
    ----------
    ts : array
        The times of the steps.
    ys : array
        The values there, a row each.
    between : array
        The coefficients between each two of them.
    weights : callable
        By what these are multiplied, of a part of a step.
    """

    def __init__(
        self, ts: np.ndarray, ys: np.ndarray, between: np.ndarray, weights: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        self.ts, self._ys, self._between, self._weights = ts, ys, between, weights
        self.t_min, self.t_max = min(ts[0], ts[-1]), max(ts[0], ts[-1])

    def __call__(self, t: Any) -> np.ndarray:
        """The values at a time, or at each of several: ``n`` rows."""
        times = np.asarray(t, dtype=self.ts.dtype)
        if len(self._between) == 0:
            return np.repeat(self._ys[0], times.size).reshape(-1, *times.shape)
        sign = 1 if self.ts[-1] >= self.ts[0] else -1
        place = np.searchsorted(sign * self.ts, sign * times, side="left") - 1
        place = np.clip(place, 0, len(self.ts) - 2)
        part = (times - self.ts[place]) / (self.ts[place + 1] - self.ts[place])
        weights = self._weights(part)
        values = self._ys[place] + np.einsum("p...,...pn->...n", weights, self._between[place])
        return np.moveaxis(values, -1, 0)

    def __repr__(self) -> str:
        return f"<solution from {self.ts[0]:g} to {self.ts[-1]:g}, {len(self.ts) - 1} steps>"
