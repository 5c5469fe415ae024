"""Programs of few loops that ask much of NumPy's names."""

import numpy as np

from collection.numpy_program import Program


def atax(a, x):
    return (a @ x) @ a


def three_products(a, b, c, d):
    return a @ b @ (c @ d)


def cholesky_whole(a):
    a[:] = np.linalg.cholesky(a) + np.triu(a, k=1)


def covariance_whole(data):
    return np.cov(np.transpose(data))


def solve_by_lu(a, b):
    """Factors in place, then substitutes forth and back."""
    n = a.shape[0]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


def oscillators(end, dt, stiffness):
    """How many steps there are, the floats say."""
    steps = int(np.ceil(end / dt))
    energy = np.ndarray(steps + 1, dtype=np.float64)
    x = np.ones(stiffness.shape)
    v = np.zeros(stiffness.shape)
    energy[0] = 0.5 * np.sum(stiffness * x**2)
    for i in range(steps):
        v -= stiffness * x * dt
        x += v * dt
        energy[i + 1] = 0.5 * np.sum(v**2) + 0.5 * np.sum(stiffness * x**2)
    return energy


def self_energies(neighbours, dh, g, d, sigma):
    """Eight loops around two small products, as in transport through a transistor."""
    momenta, energies, atoms = g.shape[0], g.shape[1], dh.shape[0]
    for k in range(momenta):
        for e in range(energies):
            for q in range(d.shape[0]):
                for w in range(d.shape[1]):
                    for i in range(dh.shape[2]):
                        for j in range(dh.shape[2]):
                            for a in range(atoms):
                                for b in range(dh.shape[1]):
                                    if e - w >= 0:
                                        left = g[k, e - w, neighbours[a, b]] @ dh[a, b, i]
                                        right = dh[a, b, j] * d[q, w, a, b, i, j]
                                        sigma[k, e, a] += left @ right


def _edges(a, bins):
    edges = np.zeros((bins + 1,), dtype=np.float64)
    low, high = a.min(), a.max()
    delta = (high - low) / bins
    for i in range(edges.shape[0]):
        edges[i] = low + i * delta
    edges[-1] = high
    return edges


def _bin_of(x, edges):
    n = edges.shape[0] - 1
    low, high = edges[0], edges[-1]
    if x == high:
        return n - 1
    return int(n * (x - low) / (high - low))


def _weighted_histogram(a, bins, weights):
    counts = np.zeros((bins,), a.dtype)
    edges = _edges(a, bins)
    for i in range(a.shape[0]):
        counts[_bin_of(a[i], edges)] += weights[i]
    return counts


def azimuthal_by_helpers(data, radius, bins):
    """Histograms by helpers of its own."""
    counts = _weighted_histogram(radius, bins, np.ones_like(radius))
    return _weighted_histogram(radius, bins, data) / counts


def polynomial_fit(x, y, degree):
    """Least squares by the normal equations."""
    powers = np.stack([x**k for k in range(degree + 1)], axis=1)
    return np.linalg.solve(powers.T @ powers, powers.T @ y)


def principal_axis(points):
    """The direction of most spread, by turning a vector until it stays."""
    centred = points - points.mean(axis=0, keepdims=True)
    spread = np.einsum("ki,kj->ij", centred, centred) / (len(points) - 1)
    axis = np.ones(points.shape[1])
    for _ in range(200):
        axis = spread @ axis
        axis /= np.linalg.norm(axis)
    return axis, axis @ spread @ axis


def spectrogram(signal, width, step):
    """Windows, tapered and transformed."""
    taper = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(width) / width)
    count = (len(signal) - width) // step + 1
    out = np.empty((count, width // 2 + 1))
    for k in range(count):
        part = signal[k * step : k * step + width] * taper
        out[k] = np.abs(np.fft.rfft(part)) ** 2
    return out


def drawdown(prices):
    """Returns, their spread, and the deepest fall from a peak."""
    returns = np.diff(np.log(prices))
    peaks = np.maximum.accumulate(prices)
    falls = 1 - prices / peaks
    return returns.mean(), returns.std(ddof=1), falls.max(), np.argmax(falls)


def ranks(values):
    order = np.argsort(values)
    places = np.empty(len(values), dtype=np.int64)
    places[order] = np.arange(len(values))
    return places, values[order][::-1], np.cumsum(values[order])


def centre_of_mass(field):
    y, x = np.meshgrid(np.arange(field.shape[0]), np.arange(field.shape[1]), indexing="ij")
    total = field.sum()
    gy, gx = np.gradient(field)
    return np.array([(y * field).sum(), (x * field).sum()]) / total, np.sqrt(gy**2 + gx**2).max()


def scaled_into(a, b, out):
    """Through ``out=``, step by step."""
    np.multiply(a, 2.0, out=out)
    np.add(out, b, out=out)
    np.sqrt(np.abs(out), out=out)
    out[::2] *= -1
    out[..., -1] = 0
    return out[::-1].T


def _couplings(random, n):
    neighbours = random.integers(0, n, (n, 2))
    dh = random.random((n, 2, 2, 3, 3))
    g = random.random((2, n, n, 3, 3)) + 1j * random.random((2, n, n, 3, 3))
    return neighbours, dh, g, random.random((2, 2, n, 2, 2, 2)), np.zeros((2, n, n, 3, 3), np.complex128)


def _walk(random, n):
    return (100 * np.exp(np.cumsum(random.standard_normal(4 * n) / 50)),)


def _definite(random, n):
    a = random.random((n, n))
    return (a @ a.T + n * np.eye(n),)


PROGRAMS = [
    Program(atax, lambda random, n: (random.random((n, n + 2)), random.random(n + 2))),
    Program(three_products, lambda random, n: tuple(random.random((4, n, n)))),
    Program(cholesky_whole, _definite, changes=("a",)),
    Program(covariance_whole, lambda random, n: (random.random((n + 4, n)),)),
    Program(solve_by_lu, lambda random, n: (*_definite(random, n), random.random(n)), changes=("a",)),
    Program(oscillators, lambda random, n: (n / 10, 0.03, random.random(n))),
    Program(self_energies, _couplings, sizes=(2, 3), changes=("sigma",)),
    Program(azimuthal_by_helpers, lambda random, n: (random.random(20 * n), random.random(20 * n), n)),
    Program(polynomial_fit, lambda random, n: (random.random(4 * n), random.random(4 * n), 3), tolerance=1e-7),
    Program(principal_axis, lambda random, n: (random.random((4 * n, 3)) * np.array([3.0, 1.0, 0.5]),)),
    Program(spectrogram, lambda random, n: (random.random(8 * n), 16, 4)),
    Program(drawdown, _walk),
    Program(ranks, lambda random, n: (random.random(n),)),
    Program(centre_of_mass, lambda random, n: (random.random((n, n + 1)),)),
    Program(
        scaled_into, lambda random, n: (random.random((n, 4)), random.random(4), np.empty((n, 4))), changes=("out",)
    ),
]
