# Written by docs/type_stubs.py out of the code; tests/test_typing.py holds it to that.
"""Random numbers from keys: equal keys give equal numbers, whatever the order of calls and number of threads."""

from collections.abc import Sequence
from typing import Any

from nxkernel.tensor import Tensor

__all__ = [
    "bits",
    "bits_split",
    "choice",
    "fold_in",
    "gumbel",
    "gumbel_split",
    "key",
    "multivariate_normal",
    "multivariate_normal_split",
    "normal",
    "normal_split",
    "randint",
    "randint_split",
    "shuffle",
    "split",
    "threefry2x32_20_concat",
    "uniform",
    "uniform_split",
]

def bits(
    key: Any, *, shape: Any = (), type: Any = "u32", dtype: Any = "u32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def bits_split(
    key: Any, *, shape: Any = (), type: Any = "u32", dtype: Any = "u32", names: Sequence[str | None] | None = None
) -> Tensor: ...
def choice(
    key: Any,
    tensor: Any,
    p: Any = None,
    *,
    samples: int = 1,
    axis: int | str | None = None,
    axes: int | str | None = None,
    replace: bool = True,
) -> tuple[Tensor, Tensor]: ...
def fold_in(key: Any, data: Any) -> Tensor: ...
def gumbel(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def gumbel_split(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> Tensor: ...
def key(seed: Any) -> Tensor: ...
def multivariate_normal(
    key: Any,
    mean: Any,
    covariance: Any,
    *,
    shape: Any = (),
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
    method: str = "cholesky",
) -> tuple[Tensor, Tensor]: ...
def multivariate_normal_split(
    key: Any,
    mean: Any,
    covariance: Any,
    *,
    shape: Any = (),
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
    method: str = "cholesky",
) -> Tensor: ...
def normal(
    key: Any,
    mean: Any = 0.0,
    standard_deviation: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def normal_split(
    key: Any,
    mean: Any = 0.0,
    standard_deviation: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> Tensor: ...
def randint(
    key: Any,
    min_val: Any,
    max_val: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def randint_split(
    key: Any,
    min_val: Any,
    max_val: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> Tensor: ...
def shuffle(
    key: Any, tensor: Any, axis: int | str = 0, *, axes: int | str = 0, independent: bool = False
) -> tuple[Tensor, Tensor]: ...
def split(key: Any, *, parts: int = 2) -> Tensor: ...
def threefry2x32_20_concat(xs: Any, ks: Any) -> Tensor: ...
def uniform(
    key: Any,
    min_val: Any = 0.0,
    max_val: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def uniform_split(
    key: Any,
    min_val: Any = 0.0,
    max_val: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> Tensor: ...
