"""Integrals and differential equations: ``nx.integrate``, with SciPy's names and signatures."""

from __future__ import annotations

from typing import NoReturn

from nxkernel.integrate.dense_output import OdeSolution
from nxkernel.integrate.quad import IntegrationWarning, quad
from nxkernel.integrate.samples import cumulative_trapezoid, simpson, trapezoid
from nxkernel.integrate.solve_ivp import OdeResult, solve_ivp
from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain

__all__ = [
    "IntegrationWarning", "OdeResult", "OdeSolution", "cumulative_trapezoid", "quad", "simpson", "solve_ivp",
    "trapezoid",
]  # fmt: skip

explain(globals(), __all__, "nx.integrate")


def __getattr__(name: str) -> NoReturn:
    raise other_libraries.missing("nx.integrate", name, {}, __all__)


def __dir__() -> list[str]:
    return __all__
