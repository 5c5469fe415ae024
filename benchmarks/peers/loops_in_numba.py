"""The programs with loops as fused loops over elements, written by hand for Numba."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange
from numba.core.dispatcher import Dispatcher


@njit(parallel=True, fastmath=True)
def jacobi(steps, a, b):
    for _ in range(steps):
        for i in prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


@njit(inline="always")
def _heated(a, i, j, k):
    around = a[i + 1, j, k] + a[i - 1, j, k] + a[i, j + 1, k] + a[i, j - 1, k]
    return 0.125 * (around + a[i, j, k + 1] + a[i, j, k - 1]) + 0.25 * a[i, j, k]


@njit(parallel=True, fastmath=True)
def heat(steps, a, b):
    for _ in range(steps):
        for i in prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(1, a.shape[2] - 1):
                    b[i, j, k] = _heated(a, i, j, k)
        for i in prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(1, a.shape[2] - 1):
                    a[i, j, k] = _heated(b, i, j, k)


@njit(inline="always")
def _laplacian(field, i, j, k):
    around = field[i + 1, j, k] + field[i - 1, j, k] + field[i, j + 1, k] + field[i, j - 1, k]
    return 4.0 * field[i, j, k] - around


@njit(inline="always")
def _limited(flux, step):
    return 0.0 if flux * step > 0 else flux


@njit(parallel=True, fastmath=True)
def diffusion(field, out, coefficient):
    rows, columns, levels = out.shape
    for row in prange(rows):
        for column in range(columns):
            i, j = row + 2, column + 2
            for k in range(levels):
                centre = _laplacian(field, i, j, k)
                here = field[i, j, k]
                south = _limited(_laplacian(field, i + 1, j, k) - centre, field[i + 1, j, k] - here)
                north = _limited(centre - _laplacian(field, i - 1, j, k), here - field[i - 1, j, k])
                east = _limited(_laplacian(field, i, j + 1, k) - centre, field[i, j + 1, k] - here)
                west = _limited(centre - _laplacian(field, i, j - 1, k), here - field[i, j - 1, k])
                out[row, column, k] = here - coefficient[row, column, k] * (south - north + east - west)


@njit(parallel=True, fastmath=True)
def advection(stage, wind, now, tendency, u, step):
    rows, columns, levels = stage.shape
    for i in prange(rows):
        c = np.empty(levels)
        d = np.empty(levels)
        for j in range(columns):
            below = 0.0
            for k in range(levels):
                above = 0.25 * (wind[i + 1, j, k + 1] + wind[i, j, k + 1]) if k < levels - 1 else 0.0
                right = step * now[i, j, k] + tendency[i, j, k] + stage[i, j, k]
                if k > 0:
                    right -= 0.5 * below * (u[i, j, k - 1] - u[i, j, k])
                if k < levels - 1:
                    right -= 0.5 * above * (u[i, j, k + 1] - u[i, j, k])
                scale = step - 0.5 * (below + above)
                if k > 0:
                    scale -= c[k - 1] * 0.5 * below
                    right -= d[k - 1] * 0.5 * below
                c[k] = 0.5 * above / scale
                d[k] = right / scale
                below = -above
            carried = 0.0
            for k in range(levels - 1, -1, -1):
                carried = d[k] - c[k] * carried
                stage[i, j, k] = step * (carried - now[i, j, k])


@njit(fastmath=True)
def cholesky(a):
    for i in range(a.shape[0]):
        for j in range(i):
            total = 0.0
            for k in range(j):
                total += a[i, k] * a[j, k]
            a[i, j] = (a[i, j] - total) / a[j, j]
        total = 0.0
        for k in range(i):
            total += a[i, k] * a[i, k]
        a[i, i] = math.sqrt(a[i, i] - total)


@njit(fastmath=True)
def gram_schmidt(a):
    rows, columns = a.shape
    # Transposed, so that the innermost loops run along memory.
    left = a.T.copy()
    q = np.empty((columns, rows))
    r = np.zeros((columns, columns))
    for k in range(columns):
        total = 0.0
        for i in range(rows):
            total += left[k, i] * left[k, i]
        r[k, k] = math.sqrt(total)
        for i in range(rows):
            q[k, i] = left[k, i] / r[k, k]
        for j in range(k + 1, columns):
            total = 0.0
            for i in range(rows):
                total += q[k, i] * left[j, i]
            r[k, j] = total
            for i in range(rows):
                left[j, i] -= q[k, i] * total
    a[:] = left.T
    return q.T.copy(), r


@njit(fastmath=True)
def _accelerate(x, y, z, mass, softening, ax, ay, az):
    for i in range(len(x)):
        total_x = total_y = total_z = 0.0
        for j in range(len(x)):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz + softening * softening
            pull = mass[j] / (square * math.sqrt(square))
            total_x += dx * pull
            total_y += dy * pull
            total_z += dz * pull
        ax[i], ay[i], az[i] = total_x, total_y, total_z


@njit(fastmath=True)
def n_body(mass, position, velocity, steps, dt, softening):
    n = len(mass)
    m = mass[:, 0].copy()
    place = position.T.copy()
    speed = velocity.T.copy()
    pull = np.empty((3, n))
    for d in range(3):
        mean = 0.0
        for i in range(n):
            mean += m[i] * speed[d, i]
        mean /= m.sum()
        for i in range(n):
            speed[d, i] -= mean
    _accelerate(place[0], place[1], place[2], m, softening, pull[0], pull[1], pull[2])
    kinetic = np.empty(steps)
    for step in range(steps):
        for d in range(3):
            for i in range(n):
                speed[d, i] += pull[d, i] * dt / 2.0
                place[d, i] += speed[d, i] * dt
        _accelerate(place[0], place[1], place[2], m, softening, pull[0], pull[1], pull[2])
        total = 0.0
        for d in range(3):
            for i in range(n):
                speed[d, i] += pull[d, i] * dt / 2.0
                total += m[i] * speed[d, i] * speed[d, i]
        kinetic[step] = 0.5 * total
    position[:] = place.T
    velocity[:] = speed.T
    return kinetic


@njit(parallel=True)
def mandelbrot(width, height, limit):
    counts = np.zeros((height, width), dtype=np.int64)
    for row in prange(height):
        for column in range(width):
            cx = -2.0 + 2.5 * column / width
            cy = -1.25 + 2.5 * row / height
            x = y = 0.0
            n = 0
            while n < limit:
                xx = x * x
                yy = y * y
                if xx + yy > 4.0:
                    break
                y = 2.0 * x * y + cy
                x = xx - yy + cx
                n += 1
            counts[row, column] = n
    return counts


@njit
def darts(seed, count):
    state = seed
    inside = 0
    thrown = 0
    while thrown < count:
        state = (1103515245 * state + 12345) % 2147483648
        x = state / 2147483648
        state = (1103515245 * state + 12345) % 2147483648
        y = state / 2147483648
        if x * x + y * y <= 1.0:
            inside += 1
        thrown += 1
    return 4.0 * inside / count


def on_one_thread(function: Dispatcher) -> Dispatcher | None:
    """A function with parallel loops compiled without them, which is faster where others want the cores too."""
    options = {name: value for name, value in function.targetoptions.items() if name not in ("nopython", "parallel")}
    return njit(**options)(function.py_func) if function.targetoptions.get("parallel") else None
