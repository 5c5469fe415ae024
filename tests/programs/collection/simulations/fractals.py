"""Fractals: by masks, and pixel by pixel with an early exit."""

import numpy as np

from collection.numpy_program import Program


def mandelbrot_by_masks(xmin, xmax, ymin, ymax, size, steps, horizon=2.0):
    x = np.linspace(xmin, xmax, size, dtype=np.float64)
    y = np.linspace(ymin, ymax, size, dtype=np.float64)
    c = x + y[:, None] * 1j
    counts = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for n in range(steps):
        inside = np.less(np.abs(z), horizon)
        counts[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    counts[counts == steps - 1] = 0
    return z, counts


def mandelbrot_by_pixels(width, height, steps):
    counts = np.zeros((height, width), dtype=np.int32)
    for row in range(height):
        for column in range(width):
            cx = -2.0 + 2.5 * column / width
            cy = -1.25 + 2.5 * row / height
            x = y = 0.0
            n = 0
            while x * x + y * y <= 4.0 and n < steps:
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                n += 1
            counts[row, column] = n
    return counts


def _escape(z, c, steps):
    for n in range(steps):
        if abs(z) > 2.0:
            return n
        z = z * z + c
    return steps


def julia(size, steps):
    """Pixel by pixel with complex numbers; a helper returns early."""
    axis = np.linspace(-1.5, 1.5, size)
    counts = np.zeros((size, size), dtype=np.int64)
    for i in range(size):
        for j in range(size):
            counts[i, j] = _escape(axis[j] + 1j * axis[i], -0.4 + 0.6j, steps)
    return counts


def newton_fractal(size, steps):
    """Which of the three cube roots of one Newton's method finds."""
    axis = np.linspace(-1.0, 1.0, size) + 0.01
    z = axis[np.newaxis, :] + 1j * axis[:, np.newaxis]
    for _ in range(steps):
        z = z - (z**3 - 1) / (3 * z**2)
    roots = np.exp(2j * np.pi * np.arange(3) / 3)
    return np.argmin(np.abs(z[..., np.newaxis] - roots), axis=-1)


def logistic_map(rates, warmup, steps):
    """Where the map settles, and its Lyapunov exponent, for many rates at once."""
    x = np.full(rates.shape, 0.5)
    for _ in range(warmup):
        x = rates * x * (1 - x)
    exponent = np.zeros_like(rates)
    orbit = np.empty((steps, rates.size))
    for i in range(steps):
        x = rates * x * (1 - x)
        orbit[i] = x
        exponent += np.log(np.abs(rates - 2 * rates * x))
    return orbit, exponent / steps


def sandpile(grid):
    """Piles of four and more topple onto their neighbours until none is left."""
    topplings = 0
    while np.any(grid >= 4):
        falls = grid // 4
        grid -= 4 * falls
        grid[1:, :] += falls[:-1, :]
        grid[:-1, :] += falls[1:, :]
        grid[:, 1:] += falls[:, :-1]
        grid[:, :-1] += falls[:, 1:]
        topplings += falls.sum()
    return topplings


PROGRAMS = [
    Program(mandelbrot_by_masks, lambda random, n: (-2.0, 0.5, -1.25, 1.25, n, 2 * n)),
    Program(mandelbrot_by_pixels, lambda random, n: (n, n + 1, 3 * n)),
    Program(julia, lambda random, n: (n, 3 * n)),
    Program(newton_fractal, lambda random, n: (n, 30)),
    Program(logistic_map, lambda random, n: (np.linspace(2.5, 3.4, n), 10 * n, n), tolerance=1e-8),
    Program(sandpile, lambda random, n: (random.integers(0, 12, (n, n)),), changes=("grid",)),
]
