"""Functions through points: ``nx.interpolate``, with SciPy's names and signatures."""

from __future__ import annotations

from typing import NoReturn

from nxkernel.interpolate.cubic_spline import CubicSpline
from nxkernel.interpolate.interp1d import interp1d
from nxkernel.interpolate.piecewise import PPoly
from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain

__all__ = ["CubicSpline", "PPoly", "interp1d"]

explain(globals(), __all__, "nx.interpolate")


def __getattr__(name: str) -> NoReturn:
    raise other_libraries.missing("nx.interpolate", name, {}, __all__)


def __dir__() -> list[str]:
    return __all__
