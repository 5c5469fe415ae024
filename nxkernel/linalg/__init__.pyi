# Written by docs/type_stubs.py out of the code; tests/test_typing.py holds it to that.
"""Linear algebra: ``nx.linalg``. Matrices are the last two axes, and axes before them are a batch of matrices."""

from collections.abc import Sequence
from typing import Any

from nxkernel.tensor import Tensor

__all__ = [
    "adjoint",
    "cholesky",
    "determinant",
    "eigh",
    "invert",
    "least_squares",
    "lu",
    "matrix_power",
    "matrix_rank",
    "norm",
    "pinv",
    "qr",
    "solve",
    "svd",
    "triangular_solve",
]

def adjoint(t: Any) -> Tensor: ...
def cholesky(tensor: Any) -> Tensor: ...
def determinant(tensor: Any) -> Tensor: ...
def eigh(tensor: Any, *, max_iter: int = 1000, eps: float = 0.0001) -> tuple[Tensor, Tensor]: ...
def invert(tensor: Any) -> Tensor: ...
def least_squares(a: Any, b: Any, *, eps: float | None = None) -> Tensor: ...
def lu(tensor: Any) -> tuple[Tensor, Tensor, Tensor]: ...
def matrix_power(tensor: Any, power: int) -> Tensor: ...
def matrix_rank(a: Any, *, eps: float = 1e-07) -> Tensor: ...
def norm(
    tensor: Any,
    *,
    ord: Any = None,
    axes: int | str | Sequence[int | str] | None = None,
    axis: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    keepdims: bool = False,
) -> Tensor: ...
def pinv(tensor: Any, *, eps: float | None = None) -> Tensor: ...
def qr(tensor: Any, *, mode: str = "reduced", eps: float = 1e-10) -> tuple[Tensor, Tensor]: ...
def solve(a: Any, b: Any) -> Tensor: ...
def svd(
    tensor: Any, *, full_matrices: bool = True, max_iter: int = 100, **options: Any
) -> tuple[Tensor, Tensor, Tensor]: ...
def triangular_solve(
    a: Any, b: Any, *, lower: bool = True, left_side: bool = True, transform_a: str = "none"
) -> Tensor: ...
