# Written by docs/type_stubs.py out of the code; tests/test_typing.py holds it to that.
"""Random numbers from keys: equal keys give equal numbers, whatever the order of calls and number of threads."""

from collections.abc import Sequence
from typing import Any

from nxkernel.tensor import Tensor

__all__ = [
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "bits_split",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "gumbel_split",
    "key",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "multivariate_normal_split",
    "normal",
    "normal_split",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "randint_split",
    "rayleigh",
    "shuffle",
    "split",
    "t",
    "threefry2x32_20_concat",
    "triangular",
    "truncated_normal",
    "uniform",
    "uniform_split",
    "wald",
    "weibull_min",
]

def ball(
    key: Any,
    d: int,
    p: Any = 2,
    *,
    shape: Any = (),
    type: Any = "f32",
    dtype: Any = "f32",
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def bernoulli(
    key: Any, p: Any = 0.5, *, shape: Any = None, mode: str = "low", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def beta(
    key: Any,
    a: Any,
    b: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def binomial(
    key: Any,
    n: Any,
    p: Any,
    *,
    shape: Any = None,
    type: Any = "s64",
    dtype: Any = "s64",
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def bits(
    key: Any, *, shape: Any = (), type: Any = "u32", dtype: Any = "u32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def bits_split(
    key: Any, *, shape: Any = (), type: Any = "u32", dtype: Any = "u32", names: Sequence[str | None] | None = None
) -> Tensor: ...
def categorical(
    key: Any,
    logits: Any,
    axis: int | str = -1,
    *,
    axes: int | str = -1,
    shape: Any = None,
    replace: bool = True,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def cauchy(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def chisquare(
    key: Any,
    df: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def choice(
    key: Any,
    tensor: Any,
    p: Any = None,
    *,
    samples: int = 1,
    shape: Any = None,
    axis: int | str | None = None,
    axes: int | str | None = None,
    replace: bool = True,
) -> tuple[Tensor, Tensor]: ...
def dirichlet(
    key: Any,
    alpha: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def double_sided_maxwell(
    key: Any,
    loc: Any = 0.0,
    scale: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def exponential(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def f(
    key: Any,
    dfnum: Any,
    dfden: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def fold_in(key: Any, data: Any) -> Tensor: ...
def gamma(
    key: Any,
    a: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def generalized_normal(
    key: Any,
    p: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def geometric(
    key: Any,
    p: Any,
    *,
    shape: Any = None,
    type: Any = "s64",
    dtype: Any = "s64",
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def gumbel(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def gumbel_split(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> Tensor: ...
def key(seed: Any) -> Tensor: ...
def laplace(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def loggamma(
    key: Any,
    a: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def logistic(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def lognormal(
    key: Any,
    sigma: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def maxwell(
    key: Any, *, shape: Any = (), type: Any = "f32", dtype: Any = "f32", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
def multinomial(
    key: Any,
    n: Any,
    p: Any,
    *,
    shape: Any = None,
    type: Any = "s64",
    dtype: Any = "s64",
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
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
def orthogonal(
    key: Any,
    n: int,
    *,
    m: int | None = None,
    shape: Any = (),
    type: Any = "f32",
    dtype: Any = "f32",
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def pareto(
    key: Any,
    b: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def permutation(
    key: Any, x: Any, axis: int | str = 0, *, axes: int | str = 0, independent: bool = False
) -> tuple[Tensor, Tensor]: ...
def poisson(
    key: Any,
    lam: Any,
    *,
    shape: Any = None,
    type: Any = "s64",
    dtype: Any = "s64",
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def rademacher(
    key: Any, *, shape: Any = (), type: Any = "s64", dtype: Any = "s64", names: Sequence[str | None] | None = None
) -> tuple[Tensor, Tensor]: ...
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
def rayleigh(
    key: Any,
    scale: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def shuffle(
    key: Any, tensor: Any, axis: int | str = 0, *, axes: int | str = 0, independent: bool = False
) -> tuple[Tensor, Tensor]: ...
def split(key: Any, *, parts: int = 2) -> Tensor: ...
def t(
    key: Any,
    df: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def threefry2x32_20_concat(xs: Any, ks: Any) -> Tensor: ...
def triangular(
    key: Any,
    left: Any,
    mode: Any,
    right: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def truncated_normal(
    key: Any,
    lower: Any,
    upper: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
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
def wald(
    key: Any,
    mean: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
def weibull_min(
    key: Any,
    scale: Any,
    concentration: Any,
    *,
    shape: Any = None,
    type: Any = None,
    dtype: Any = None,
    names: Sequence[str | None] | None = None,
) -> tuple[Tensor, Tensor]: ...
