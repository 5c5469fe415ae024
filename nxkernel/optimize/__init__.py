"""Minima, least squares and roots: ``nx.optimize``, with SciPy's names and signatures.

Each solver is one compiled program, with the person's function in it. Another start, tolerance or argument does not
compile again; in definitions solvers are parts of these.
"""

from __future__ import annotations

from typing import NoReturn

from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain
from nxkernel.optimize.least_squares import LeastSquaresResult, least_squares
from nxkernel.optimize.minimize import OptimizeResult, minimize
from nxkernel.optimize.root import RootResult, root
from nxkernel.optimize.root_scalar import RootResults, root_scalar

__all__ = [
    "LeastSquaresResult", "OptimizeResult", "RootResult", "RootResults", "least_squares", "minimize", "root",
    "root_scalar",
]  # fmt: skip

explain(globals(), __all__, "nx.optimize")


def __getattr__(name: str) -> NoReturn:
    raise other_libraries.missing("nx.optimize", name, {}, __all__)


def __dir__() -> list[str]:
    return __all__
