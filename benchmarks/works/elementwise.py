"""Element-wise throughput: short chains, elementary functions, black-scholes."""

from __future__ import annotations

import math

import numpy as np

import nxkernel as nx
from benchmarks.measuring.work import Goal
from benchmarks.works.contest import Program, contest

FOUR_MILLION = 4_000_000
MILLION = 1_000_000


@nx.defn
def exp_chain(x):
    return nx.exp(x) * x + 1


@nx.defn
def sin(x):
    return nx.sin(x)


@nx.defn
def log(x):
    return nx.log(x)


@nx.defn
def normal_cdf(x):
    return 0.5 + 0.5 * nx.erf(x * math.sqrt(0.5))


@nx.defn
def black_scholes(spot, strike, years):
    """The prices of European calls and puts at a rate of 2 % and a volatility of 30 % a year."""
    deviation = 0.3 * nx.sqrt(years)
    d1 = (nx.log(spot / strike) + (0.02 + 0.3 * 0.3 / 2) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * nx.exp(-0.02 * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    return call, call - spot + discounted


def black_scholes_with_arrays(xp, special, spot, strike, years):
    def cdf(x):
        return 0.5 + 0.5 * special.erf(x * math.sqrt(0.5))

    deviation = 0.3 * xp.sqrt(years)
    d1 = (xp.log(spot / strike) + (0.02 + 0.3 * 0.3 / 2) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * xp.exp(-0.02 * years)
    call = spot * cdf(d1) - discounted * cdf(d2)
    return call, call - spot + discounted


def _options(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (
        random.uniform(10.0, 50.0, MILLION),
        random.uniform(10.0, 50.0, MILLION),
        random.uniform(0.5, 2.0, MILLION),
    )


WORKS = [
    contest(
        "exp(x) * x + 1, 4 M float32",
        Program(
            exp_chain,
            lambda xp, special, x: xp.exp(x) * x + 1,
            lambda random: (random.standard_normal(FOUR_MILLION, dtype=np.float32),),
        ),
        Goal(0.75),
    ),
    contest(
        "sin of 4 M float64",
        Program(sin, lambda xp, special, x: xp.sin(x), lambda random: (random.uniform(-10, 10, FOUR_MILLION),), 1e-14),
        Goal(0.7),
    ),
    contest(
        "log of 4 M float64",
        Program(
            log, lambda xp, special, x: xp.log(x), lambda random: (random.uniform(1e-3, 1e3, FOUR_MILLION),), 1e-14
        ),
        Goal(0.7),
    ),
    contest(
        "black-scholes of 1 M float64",
        Program(black_scholes, black_scholes_with_arrays, _options, 1e-12),
        Goal(0.7),
    ),
]
