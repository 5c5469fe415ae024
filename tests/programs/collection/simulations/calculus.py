"""Roots, integrals and differential equations, with helper functions and lambdas."""

import numpy as np

from collection.numpy_program import Program


def newton_root(start, tolerance):
    """The root of x³ - 2x - 5, and how many steps it took."""
    x = start
    error = 1.0
    steps = 0
    while error > tolerance:
        after = x - (x**3 - 2 * x - 5) / (3 * x**2 - 2)
        error = abs(after - x)
        x = after
        steps += 1
    return x, steps


def square_roots(values):
    """Heron's method on all numbers until the last of them stands still."""
    x = np.where(values > 1, values, np.ones_like(values))
    while True:
        after = 0.5 * (x + values / x)
        if np.all(np.abs(after - x) <= 1e-14 * x):
            return after
        x = after


def _runge_kutta(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lorenz(start, sigma, rho, beta, h, steps):
    def slope(t, p):
        x, y, z = p
        return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    path = np.empty((steps + 1, 3))
    path[0] = start
    for i in range(steps):
        path[i + 1] = _runge_kutta(slope, i * h, path[i], h)
    return path


def pendulum(angle, h, steps):
    """With a lambda for the slope; energy should stay."""
    slope = lambda t, y: np.stack((y[1], -np.sin(y[0])))  # noqa: E731
    y = np.array([angle, 0.0])
    energy = np.zeros(steps)
    for i in range(steps):
        y = _runge_kutta(slope, 0.0, y, h)
        energy[i] = 0.5 * y[1] ** 2 - np.cos(y[0])
    return y, energy


def adaptive_decay(rate, end, tolerance):
    """Steps that grow and shrink with the error of two methods."""
    t, y, h = 0.0, 1.0, 0.1
    accepted = rejected = 0
    while t < end:
        if t + h > end:
            h = end - t
        k1 = -rate * y
        k2 = -rate * (y + h * k1)
        error = abs(h * (k2 - k1) / 2)
        if error <= tolerance:
            t += h
            y += h * (k1 + k2) / 2
            accepted += 1
        else:
            rejected += 1
        h *= min(2.0, max(0.3, 0.9 * np.sqrt(tolerance / max(error, 1e-300))))
    return y, accepted, rejected


def simpson(low, high, count):
    x = np.linspace(low, high, count + 1)
    y = np.exp(-(x**2))
    return (high - low) / count / 3 * (y[0] + y[-1] + 4 * np.sum(y[1:-1:2]) + 2 * np.sum(y[2:-1:2]))


def legendre_points(n):
    """The points and weights of Gauss's quadrature, each root by Newton's method."""
    x = np.zeros(n)
    w = np.zeros(n)
    for i in range(n):
        z = np.cos(np.pi * (i + 0.75) / (n + 0.5))
        change = 1.0
        slope = 0.0
        while abs(change) > 1e-14:
            p1, p2 = 1.0, 0.0
            for j in range(n):
                p1, p2 = ((2 * j + 1) * z * p1 - j * p2) / (j + 1), p1
            slope = n * (z * p1 - p2) / (z * z - 1)
            change = p1 / slope
            z -= change
        x[i] = z
        w[i] = 2 / ((1 - z * z) * slope * slope)
    return x, w


def contour_integral(blocks, layer, points, y):
    """Integrals around a contour of the inverse of a sum of blocks, as in transport through a wire."""
    p0 = np.zeros((layer, y.shape[1]), dtype=np.complex128)
    p1 = np.zeros((layer, y.shape[1]), dtype=np.complex128)
    for z in points:
        total = np.zeros((layer, layer), dtype=np.complex128)
        for n in range(blocks.shape[0]):
            power = n - blocks.shape[0] // 2
            total += blocks[n] * z**power
        x = np.linalg.solve(total, y)
        if abs(z) < 1.0:
            x = -x
        p0 += x
        p1 += z * x
    return p0, p1


def arc_distance(theta1, phi1, theta2, phi2):
    """Angles between pairs of places on a sphere."""
    h = np.sin((theta2 - theta1) / 2) ** 2 + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def horner(coefficients, x):
    result = np.zeros_like(x)
    for c in coefficients[::-1]:
        result = result * x + c
    return result


def _wire(random, n):
    blocks = random.standard_normal((3, n, n)) + 1j * random.standard_normal((3, n, n))
    points = np.exp(2j * np.pi * random.random(4)) * np.array([0.5, 2.0, 0.4, 2.5])
    return blocks, n, points, random.random((n, 3)) + 0j


PROGRAMS = [
    Program(newton_root, lambda random, n: (float(n), 1e-12)),
    Program(square_roots, lambda random, n: (random.random(n) * 100,)),
    Program(lorenz, lambda random, n: (np.ones(3), 10.0, 28.0, 8.0 / 3.0, 0.01, 4 * n), tolerance=1e-8),
    Program(pendulum, lambda random, n: (1.0, 0.05, 3 * n)),
    Program(adaptive_decay, lambda random, n: (2.0, n / 4, 1e-4)),
    Program(simpson, lambda random, n: (0.0, 2.0, 4 * n)),
    Program(legendre_points, lambda random, n: (n,)),
    Program(contour_integral, _wire, tolerance=1e-8),
    Program(arc_distance, lambda random, n: tuple(random.random((4, n)))),
    Program(go_fast, lambda random, n: (random.random((n, n), np.float32),), tolerance=1e-5),
    Program(horner, lambda random, n: (random.standard_normal(6), random.random(n))),
]
