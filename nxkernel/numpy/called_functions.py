"""Functions of NumPy's that a running program calls NumPy for: of bits, and histograms of several axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel.numpy.scipy.hosted import hosted

__all__ = ["frexp", "histogram2d", "histogramdd", "ldexp", "packbits", "spacing", "unpackbits"]


def _of_numpy(name: str) -> Callable[..., Any]:
    return hosted(getattr(np, name), {}, f"numpy.{name}")


_frexp, _ldexp, _spacing = map(_of_numpy, ("frexp", "ldexp", "spacing"))
_packbits, _unpackbits = map(_of_numpy, ("packbits", "unpackbits"))
_histogramdd, _histogram2d = map(_of_numpy, ("histogramdd", "histogram2d"))


def frexp(x: Any, /) -> Any:
    """Fractions and powers of two, as :func:`numpy.frexp`."""
    return _frexp(x)


def ldexp(x1: Any, x2: Any, /) -> Any:
    """Numbers times powers of two, as :func:`numpy.ldexp`."""
    return _ldexp(x1, x2)


def spacing(x: Any, /) -> Any:
    """How far the next number is, as :func:`numpy.spacing`."""
    return _spacing(x)


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    """Truth values as bits of bytes, as :func:`numpy.packbits`."""
    return _packbits(a, axis=axis, bitorder=bitorder)


def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    """The bits of bytes, as :func:`numpy.unpackbits`."""
    return _unpackbits(a, axis=axis, count=count, bitorder=bitorder)


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """How many points are in each box of a grid, and its edges, as :func:`numpy.histogramdd`."""
    return _histogramdd(sample, bins=bins, range=range, density=density, weights=weights)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:  # fmt: skip
    """How many points are in each cell of a grid, and its edges, as :func:`numpy.histogram2d`."""
    return _histogram2d(x, y, bins=bins, range=range, density=density, weights=weights)
