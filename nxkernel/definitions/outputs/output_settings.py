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
#: And those in which nobody sees what is warned of.
_SILENT = "contexts that record what is warned of"
#: As in :data:`warnings.filters`.
_NOTHING = (("ignore", None, Warning, None, 0),)


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
    silent = run.outermost.memory.get(_SILENT)
    return OutputSettings(_NOTHING if silent else tuple(warnings.filters), np.get_printoptions())


def enter(more: int) -> None:
    """One context more that sets something is entered while a definition is traced, or one less."""
    _count(_DEPTH, more)


def silence(more: int) -> None:
    """One context more, or one less, records what is warned of in it."""
    _count(_SILENT, more)


def _count(what: str, more: int) -> None:
    run = tracing.current()
    if run is not None:
        memory = run.outermost.memory
        memory[what] = memory.get(what, 0) + more
