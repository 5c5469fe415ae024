"""Stencils: every point from its neighbours, again and again."""

import numpy as np

from collection.numpy_program import Program


def jacobi_1d(steps, a, b):
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def jacobi_2d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def heat_3d(steps, a, b):
    def diffuse(source, target):
        inner = source[1:-1, 1:-1, 1:-1]
        target[1:-1, 1:-1, 1:-1] = (
            0.125 * (source[2:, 1:-1, 1:-1] - 2.0 * inner + source[:-2, 1:-1, 1:-1])
            + 0.125 * (source[1:-1, 2:, 1:-1] - 2.0 * inner + source[1:-1, :-2, 1:-1])
            + 0.125 * (source[1:-1, 1:-1, 2:] - 2.0 * inner + source[1:-1, 1:-1, :-2])
            + inner
        )

    for _ in range(steps):
        diffuse(a, b)
        diffuse(b, a)
    return a


def seidel_2d(steps, a):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2]
            a[i, 1:-1] += a[i + 1, 1:-1] + a[i + 1, 2:]
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


def fdtd_2d(steps, ex, ey, hz, source):
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def horizontal_diffusion(field, out, coefficient):
    rows, columns = out.shape[0], out.shape[1]
    laplacian = 4.0 * field[1 : rows + 3, 1 : columns + 3, :] - (
        field[2 : rows + 4, 1 : columns + 3, :]
        + field[0 : rows + 2, 1 : columns + 3, :]
        + field[1 : rows + 3, 2 : columns + 4, :]
        + field[1 : rows + 3, 0 : columns + 2, :]
    )
    flux = laplacian[1:, 1 : columns + 1, :] - laplacian[:-1, 1 : columns + 1, :]
    step = field[2 : rows + 3, 2 : columns + 2, :] - field[1 : rows + 2, 2 : columns + 2, :]
    along = np.where(flux * step > 0, 0, flux)
    flux = laplacian[1 : rows + 1, 1:, :] - laplacian[1 : rows + 1, :-1, :]
    step = field[2 : rows + 2, 2 : columns + 3, :] - field[2 : rows + 2, 1 : columns + 2, :]
    across = np.where(flux * step > 0, 0, flux)
    out[:, :, :] = field[2 : rows + 2, 2 : columns + 2, :] - coefficient[:, :, :] * (
        along[1:, :, :] - along[:-1, :, :] + across[:, 1:, :] - across[:, :-1, :]
    )


def laplace_until_still(potential, tolerance):
    """Relaxes the inner points until none moves by more than the tolerance."""
    steps = 0
    change = np.inf
    while change > tolerance and steps < 1000:
        before = potential.copy()
        potential[1:-1, 1:-1] = 0.25 * (before[2:, 1:-1] + before[:-2, 1:-1] + before[1:-1, 2:] + before[1:-1, :-2])
        change = np.max(np.abs(potential - before))
        steps += 1
    return steps, change


def wave_1d(start, speed, steps):
    """A string between two fixed ends; three buffers take turns."""
    before = start.copy()
    now = start.copy()
    after = np.zeros_like(start)
    for _ in range(steps):
        after[1:-1] = 2 * now[1:-1] - before[1:-1] + speed**2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        before, now, after = now, after, before
    return now


def red_black(grid, load, sweeps):
    """Gauss–Seidel on a chessboard: first its white, then its black squares."""
    for _ in range(sweeps):
        for colour in range(2):
            for i in range(1, grid.shape[0] - 1):
                for j in range(1, grid.shape[1] - 1):
                    if (i + j) % 2 == colour:
                        around = grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1]
                        grid[i, j] = 0.25 * (around - load[i, j])
    return grid


def gray_scott(u, v, steps):
    """Two substances that react and spread on a torus."""
    feed, kill = np.float32(0.035), np.float32(0.06)

    def spread(z):
        return np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z

    for _ in range(steps):
        reaction = u * v * v
        u = u + 0.16 * spread(u) - reaction + feed * (1 - u)
        v = v + 0.08 * spread(v) + reaction - (feed + kill) * v
    return u, v


def _fdtd(random, size):
    shape = (size, size + 3)
    return size // 2, random.random(shape), random.random(shape), random.random(shape), np.arange(float(size))


def _diffusion(random, size):
    return random.random((size + 4, size + 5, 3)), np.zeros((size, size + 1, 3)), random.random((size, size + 1, 3))


def _string(random, size):
    return np.sin(np.linspace(0, np.pi, 4 * size)), 0.5, size


def _substances(random, size):
    return 1 - random.random((size, size), np.float32) / 2, random.random((size, size), np.float32) / 2, size


PROGRAMS = [
    Program(jacobi_1d, lambda random, n: (n // 2, random.random(n), random.random(n)), changes=("a", "b")),
    Program(jacobi_2d, lambda random, n: (n // 2, random.random((n, n)), random.random((n, n))), changes=("a", "b")),
    Program(heat_3d, lambda random, n: (3, random.random((n, n, n)), random.random((n, n, n))), changes=("a", "b")),
    Program(seidel_2d, lambda random, n: (3, random.random((n, n))), changes=("a",)),
    Program(fdtd_2d, _fdtd, changes=("ex", "ey", "hz")),
    Program(horizontal_diffusion, _diffusion, changes=("out",)),
    Program(laplace_until_still, lambda random, n: (random.random((n, n)), 1e-3), changes=("potential",)),
    Program(wave_1d, _string),
    Program(red_black, lambda random, n: (random.random((n, n)), random.random((n, n)), 2), changes=("grid",)),
    Program(gray_scott, _substances, tolerance=1e-4),
]
