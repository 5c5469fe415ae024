"""Functions that give several arrays: lists where the standard 2024.12 says so, and NumPy tuples."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from nxkernel.graph import tracing
from nxkernel.numpy.base import eager_rules
from nxkernel.numpy.functions import creation, joining

__all__ = ["broadcast_arrays", "meshgrid"]


def _listed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives a list in calls of this package that run at once; in NumPy's programs it is a tuple."""

    @functools.wraps(function)
    def listed(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        return result if tracing.current() is not None or eager_rules.are_kept() else list(result)

    return listed


broadcast_arrays = _listed(joining.broadcast_arrays)
meshgrid = _listed(creation.meshgrid)
