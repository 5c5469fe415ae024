"""Linear algebra: ``nx.linalg``. Matrices are the last two axes, and axes before them are a batch of matrices.

Integers become f32, and f16 and bf16 are computed in f32. Where there is no result, as for the inverse of a singular
matrix, elements are NaN: a compiled program does not stop.
"""

from __future__ import annotations

from typing import NoReturn

from nxkernel.linalg.factor_solving import cho_factor, cho_solve, lu_factor, lu_solve
from nxkernel.linalg.factorizations import cholesky, eig, eigh, lu, qr, svd
from nxkernel.linalg.matrix_functions import expm, sqrtm
from nxkernel.linalg.matrix_powers import adjoint, matrix_power
from nxkernel.linalg.norms import determinant, matrix_rank, norm
from nxkernel.linalg.solving import invert, least_squares, pinv, solve, triangular_solve
from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain

__all__ = [
    "adjoint", "cho_factor", "cho_solve", "cholesky", "determinant", "eig", "eigh", "expm", "invert", "least_squares",
    "lu", "lu_factor", "lu_solve", "matrix_power", "matrix_rank", "norm", "pinv", "qr", "solve", "sqrtm", "svd",
    "triangular_solve",
]  # fmt: skip

explain(globals(), __all__, "nx.linalg")


def __getattr__(name: str) -> NoReturn:
    raise other_libraries.missing("nx.linalg", name, other_libraries.LINALG, __all__)


def __dir__() -> list[str]:
    return __all__
