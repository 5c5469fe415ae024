"""Every sampler against the distribution function that SciPy has of it: by Kolmogorov and Smirnov, or chi-squared."""

import numpy as np
import pytest
from scipy import stats

import nxkernel as nx

COUNT = 4000
#: By sampler, its parameters and SciPy's distribution.
CONTINUOUS = {
    "cauchy": ((), stats.cauchy()),
    "exponential": ((), stats.expon()),
    "gumbel": ((), stats.gumbel_r()),
    "laplace": ((), stats.laplace()),
    "logistic": ((), stats.logistic()),
    "maxwell": ((), stats.maxwell()),
    "normal": ((1.0, 2.0), stats.norm(1, 2)),
    "uniform": ((-1.0, 3.0), stats.uniform(-1, 4)),
    "beta": ((0.4, 2.5), stats.beta(0.4, 2.5)),
    "chisquare": ((3,), stats.chi2(3)),
    "double_sided_maxwell": ((1.0, 2.0), stats.dgamma(1.5)),
    "f": ((5.0, 7.0), stats.f(5, 7)),
    "gamma": ((0.3,), stats.gamma(0.3)),
    "generalized_normal": ((1.5,), stats.gennorm(1.5)),
    "loggamma": ((0.7,), stats.loggamma(0.7)),
    "lognormal": ((0.5,), stats.lognorm(0.5)),
    "pareto": ((2.5,), stats.pareto(2.5)),
    "rayleigh": ((2.0,), stats.rayleigh(scale=2)),
    "t": ((2.5,), stats.t(2.5)),
    "triangular": ((-1.0, 0.5, 3.0), stats.triang(1.5 / 4, -1, 4)),
    "truncated_normal": ((-0.5, 2.0), stats.truncnorm(-0.5, 2)),
    "wald": ((2.0,), stats.invgauss(2.0)),
    "weibull_min": ((2.0, 1.5), stats.weibull_min(1.5, scale=2)),
}
DISCRETE = {
    "bernoulli": ((0.3,), {}, stats.bernoulli(0.3)),
    "binomial": ((12, 0.3), {}, stats.binom(12, 0.3)),
    "binomial, many": ((200, 0.7), {}, stats.binom(200, 0.7)),
    "geometric": ((0.3,), {}, stats.geom(0.3)),
    "poisson": ((3.0,), {}, stats.poisson(3)),
    "poisson, many": ((60.0,), {}, stats.poisson(60)),
    "rademacher": ((), {}, stats.rv_discrete(values=([-1, 1], [0.5, 0.5]))),
    "randint": ((2, 7), {}, stats.randint(2, 7)),
    "categorical": ((np.log([0.1, 0.2, 0.7]),), {}, stats.rv_discrete(values=([0, 1, 2], [0.1, 0.2, 0.7]))),
}


@pytest.mark.parametrize("type_", ["f32", "f64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, type_):
    parameters, distribution = CONTINUOUS[name]
    found, _ = getattr(nx.random, name)(nx.random.key(1701), *parameters, shape=(COUNT,), type=type_)
    assert found.type == type_
    numbers = found.to_numpy().astype(float)
    if name == "double_sided_maxwell":
        # Squares of numbers of Maxwell's distribution, halved, have the gamma distribution of 3/2.
        numbers = np.sign(numbers - 1) * ((numbers - 1) / 2) ** 2 / 2
    assert stats.kstest(numbers, distribution.cdf).pvalue > 0.001


@pytest.mark.parametrize("a", [0.05, 1.0, 2.5, 40.0, 2e4])
def test_gamma(a):
    found, _ = nx.random.gamma(nx.random.key(3), a, shape=(COUNT,), type="f64")
    assert stats.kstest(found.to_numpy(), stats.gamma(a).cdf).pvalue > 0.001


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    parameters, options, distribution = DISCRETE[name]
    sampler = name.split(",", maxsplit=1)[0]
    found, _ = getattr(nx.random, sampler)(nx.random.key(1701), *parameters, shape=(COUNT,), **options)
    assert found.type == ("bool" if sampler == "bernoulli" else "s64")
    numbers = found.to_numpy().astype(int)
    values, seen = np.unique(numbers, return_counts=True)
    expected = distribution.pmf(values) * COUNT
    # Rare values are counted together.
    rare = expected < 8
    seen = np.append(seen[~rare], COUNT - seen[~rare].sum())
    expected = np.append(expected[~rare], COUNT - expected[~rare].sum())
    if expected[-1] < 1e-6:
        seen, expected = seen[:-1], expected[:-1]
    assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 0.001


def test_shares():
    """The marginal distributions of Dirichlet's are beta, those of the multinomial are binomial."""
    shares, _ = nx.random.dirichlet(nx.random.key(5), [0.5, 1.0, 3.0], shape=(COUNT,), type="f64")
    np.testing.assert_allclose(shares.to_numpy().sum(1), 1, rtol=1e-12)
    for place, a in enumerate((0.5, 1.0, 3.0)):
        assert stats.kstest(shares.to_numpy()[:, place], stats.beta(a, 4.5 - a).cdf).pvalue > 0.001
    counts, _ = nx.random.multinomial(nx.random.key(5), 20, [2.0, 3.0, 5.0], shape=(COUNT,))
    assert counts.type == "s64"
    assert (counts.to_numpy().sum(1) == 20).all()
    for place, p in enumerate((0.2, 0.3, 0.5)):
        seen = np.bincount(counts.to_numpy()[:, place], minlength=21)
        expected = stats.binom(20, p).pmf(np.arange(21)) * COUNT
        many = expected > 8
        assert stats.chisquare(seen[many], expected[many] * seen[many].sum() / expected[many].sum()).pvalue > 0.001


def test_points_and_matrices():
    points, _ = nx.random.ball(nx.random.key(5), 3, shape=(COUNT,), type="f64")
    radii = np.linalg.norm(points.to_numpy(), axis=1)
    assert stats.kstest(radii**3, stats.uniform.cdf).pvalue > 0.001
    matrices, _ = nx.random.orthogonal(nx.random.key(5), 3, shape=(COUNT,), type="f64")
    first = matrices.to_numpy()[:, 0, 0]
    # Of a random direction in space, each coordinate is uniform.
    assert stats.kstest(first, stats.uniform(-1, 2).cdf).pvalue > 0.001
    for n, m in ((4, 2), (2, 4)):
        one = nx.random.orthogonal(nx.random.key(1), n, m=m)[0].to_numpy()
        small = one.T @ one if n > m else one @ one.T
        np.testing.assert_allclose(small, np.eye(2), atol=1e-6)
