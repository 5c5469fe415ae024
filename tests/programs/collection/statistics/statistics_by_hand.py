"""Means, spreads and prices: statistics and finance."""

import math

import numpy as np

from collection.numpy_program import Program


def correlation(data):
    rows, columns = data.shape
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float(rows)) * stddev
    corr = np.eye(columns, dtype=data.dtype)
    for i in range(columns - 1):
        corr[i + 1 :, i] = corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    return corr


def covariance(data):
    rows, columns = data.shape
    mean = np.mean(data, axis=0)
    data -= mean
    cov = np.zeros((columns, columns), dtype=data.dtype)
    for i in range(columns):
        cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:] / (rows - 1.0)
    return cov


def running_moments(values):
    """Welford's way: mean and variance after every value."""
    mean, squares = 0.0, 0.0
    means = np.zeros(len(values))
    variances = np.zeros(len(values))
    for i, x in enumerate(values):
        delta = x - mean
        mean += delta / (i + 1)
        squares += delta * (x - mean)
        means[i] = mean
        if i > 0:
            variances[i] = squares / i
    return means, variances


def running_extremes(values):
    low = high = values[0]
    spread = 0.0
    where = 0
    for i in range(1, len(values)):
        low = min(low, values[i])
        if values[i] > high:
            high = values[i]
            where = i
        spread = max(spread, high - low)
    return low, high, where, spread


def compute(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


def pairwise(points):
    """Distances by loops over both points and coordinates."""
    n, d = points.shape
    out = np.empty((n, n), dtype=points.dtype)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(d):
                apart = points[i, k] - points[j, k]
                total += apart * apart
            out[i, j] = math.sqrt(total)
    return out


def gaussian_kernel_density(samples, places, width):
    out = np.zeros(places.shape)
    for s in samples:
        out += np.exp(-0.5 * ((places - s) / width) ** 2)
    return out / (samples.size * width * math.sqrt(2 * math.pi))


def least_squares_line(x, y):
    n = x.size
    slope = (n * np.sum(x * y) - np.sum(x) * np.sum(y)) / (n * np.sum(x**2) - np.sum(x) ** 2)
    intercept = y.mean() - slope * x.mean()
    rest = y - (slope * x + intercept)
    return slope, intercept, 1 - (rest @ rest) / np.sum((y - y.mean()) ** 2)


def _erf(x):
    t = 1 / (1 + 0.3275911 * np.abs(x))
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - tail * np.exp(-x * x))


def black_scholes(price, strike, time, rate, volatility):
    d1 = (np.log(price / strike) + (rate + volatility**2 / 2) * time) / (volatility * np.sqrt(time))
    d2 = d1 - volatility * np.sqrt(time)
    n1, n2 = 0.5 * (1 + _erf(d1 / np.sqrt(2))), 0.5 * (1 + _erf(d2 / np.sqrt(2)))
    discounted = strike * np.exp(-rate * time)
    call = price * n1 - discounted * n2
    return call, call - price + discounted


def binomial_tree(price, strike, time, rate, volatility, steps):
    """An American put, from the leaves of the tree to its root by slices that get shorter."""
    dt = time / steps
    up = np.exp(volatility * np.sqrt(dt))
    chance = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    discount = np.exp(-rate * dt)
    prices = price * up ** (2.0 * np.arange(steps + 1) - steps)
    values = np.maximum(strike - prices, 0)
    for i in range(steps - 1, -1, -1):
        values[: i + 1] = discount * (chance * values[1 : i + 2] + (1 - chance) * values[: i + 1])
        prices[: i + 1] = prices[: i + 1] * up
        values[: i + 1] = np.maximum(values[: i + 1], strike - prices[: i + 1])
    return values[0]


def implied_volatility(quotes, price, strikes, time, rate):
    """Each quote's volatility by halving."""
    out = np.zeros_like(quotes)
    for i in range(len(quotes)):
        low, high = 1e-4, 4.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            value, _ = black_scholes(price, strikes[i], time, rate, middle)
            if value < quotes[i]:
                low = middle
            else:
                high = middle
        out[i] = (low + high) / 2
    return out


def _table(random, n):
    return (random.random((n + 4, n)),)


def _options(random, n):
    return 80 + 40 * random.random(n), 80 + 40 * random.random(n), 0.2 + random.random(n), 0.03, 0.3


def _quotes(random, n):
    strikes = np.linspace(80.0, 120.0, n)
    return black_scholes(100.0, strikes, 0.5, 0.02, 0.2 + 0.2 * random.random(n))[0], 100.0, strikes, 0.5, 0.02


def _limits(random, n):
    return random.integers(0, 1000, (n, n)), random.integers(0, 1000, (n, n)), 4, 3, 9


PROGRAMS = [
    Program(correlation, _table, changes=("data",)),
    Program(covariance, lambda random, n: (random.random((n + 4, n), np.float32),), tolerance=1e-5, changes=("data",)),
    Program(running_moments, lambda random, n: (random.standard_normal(n),)),
    Program(running_extremes, lambda random, n: (random.standard_normal(n),)),
    Program(compute, _limits),
    Program(pairwise, lambda random, n: (random.random((n, 3), np.float32),), tolerance=1e-6),
    Program(gaussian_kernel_density, lambda random, n: (random.standard_normal(n), np.linspace(-3, 3, 2 * n), 0.4)),
    Program(least_squares_line, lambda random, n: (np.arange(float(n)), random.random(n) + np.arange(n))),
    Program(black_scholes, _options),
    Program(binomial_tree, lambda random, n: (100.0, 105.0, 1.0, 0.04, 0.25, 3 * n)),
    Program(implied_volatility, _quotes, sizes=(4, 6)),
]
