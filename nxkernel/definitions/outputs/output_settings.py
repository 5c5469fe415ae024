"""The settings by which output is made, which comes when a program has run: those where the definition asked for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.graph import tracing

#: Under which key the outermost trace counts the contexts that it is in.
_DEPTH = "contexts that are entered"


@dataclass(frozen=True)
class OutputSettings:
    """The settings by which output is made: what is warned of, and how arrays are printed.

    Parameters
    ----------
    filters : tuple
        As in :data:`warnings.filters`.
    printing : dict
        As :func:`numpy.get_printoptions` gives it.
    """

    filters: tuple[Any, ...]
    printing: dict[str, Any]

    def __call__(self, call: Callable[[tuple], Any], leaves: tuple) -> Any:
        """Make a call with these settings."""
        with warnings.catch_warnings(), np.printoptions(**self.printing):
            warnings.resetwarnings()
            warnings.filters[:] = self.filters
            return call(leaves)


def current() -> OutputSettings | None:
    """The settings that hold for output, inside of a `with` of the definition; None outside."""
    run = tracing.current()
    if run is None or not run.outermost.memory.get(_DEPTH):
        return None
    return OutputSettings(tuple(warnings.filters), np.get_printoptions())


def enter(more: int) -> None:
    """One context more that sets something is entered while a definition is traced, or one less."""
    run = tracing.current()
    if run is not None:
        memory = run.outermost.memory
        memory[_DEPTH] = memory.get(_DEPTH, 0) + more
