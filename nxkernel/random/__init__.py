"""Random numbers from keys: equal keys give equal numbers, whatever the order of calls and number of threads.

Every sampler takes a key and returns its numbers and a new key to go on with. Those that end in ``_split`` take a key
that was split before, and return the numbers alone.

>>> key = nx.random.key(12)
>>> x, key = nx.random.uniform(key)
>>> y, key = nx.random.uniform(key)
>>> x.to_list(), y.to_list()
(0.7691127061843872, 0.9648666381835938)

What ``Nx.Random`` has too are its numbers. Those of ``jax.random`` with ``jax_threefry_partitionable`` switched off are
the same, where a sampler does not say otherwise: in the words of JAX ``x, key = nx.random.gamma(key, a)`` is
``key, now = split(key)`` and ``x = gamma(now, a)``, and samplers that end in ``_split`` take the same key. Where
numbers are computed with after they are drawn, as all but bits and uniform numbers from 0 to 1 are, the last digits may
differ. Others are not JAX's: Nx takes narrow types (u8, u16, f16, bf16) from a word each, and draws whole numbers
between bounds from one stream where JAX splits the key.
"""

from __future__ import annotations

from typing import NoReturn

from nxkernel.messages import other_libraries
from nxkernel.messages.call_errors import explain
from nxkernel.random.counts import binomial, multinomial, poisson
from nxkernel.random.discrete import bernoulli, categorical, geometric, rademacher
from nxkernel.random.distributions import (
    bits,
    bits_split,
    gumbel,
    gumbel_split,
    normal,
    normal_split,
    randint,
    randint_split,
    uniform,
    uniform_split,
)
from nxkernel.random.gammas import ball, beta, chisquare, dirichlet, f, gamma, generalized_normal, loggamma, t
from nxkernel.random.keys import fold_in, key, split, threefry2x32_20_concat
from nxkernel.random.multivariate import multivariate_normal, multivariate_normal_split, orthogonal
from nxkernel.random.parametric_distributions import (
    double_sided_maxwell,
    lognormal,
    pareto,
    rayleigh,
    triangular,
    truncated_normal,
    wald,
    weibull_min,
)
from nxkernel.random.permutations import choice, permutation, shuffle
from nxkernel.random.standard_distributions import cauchy, exponential, laplace, logistic, maxwell

__all__ = [
    "ball", "bernoulli", "beta", "binomial", "bits", "bits_split", "categorical", "cauchy", "chisquare", "choice",
    "dirichlet", "double_sided_maxwell", "exponential", "f", "fold_in", "gamma", "generalized_normal", "geometric",
    "gumbel", "gumbel_split", "key", "laplace", "loggamma", "logistic", "lognormal", "maxwell", "multinomial",
    "multivariate_normal", "multivariate_normal_split", "normal", "normal_split", "orthogonal", "pareto",
    "permutation", "poisson", "rademacher", "randint", "randint_split", "rayleigh", "shuffle", "split", "t",
    "threefry2x32_20_concat", "triangular", "truncated_normal", "uniform", "uniform_split", "wald", "weibull_min",
]  # fmt: skip

explain(globals(), __all__, "nx.random")


def __getattr__(name: str) -> NoReturn:
    raise other_libraries.missing("nx.random", name, other_libraries.RANDOM, __all__)


def __dir__() -> list[str]:
    return __all__
