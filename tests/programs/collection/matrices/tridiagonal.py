"""Tridiagonal systems: one pass down, one pass up."""

import numpy as np

from collection.numpy_program import Program


def thomas(lower, diagonal, upper, right):
    n = len(diagonal)
    c = np.empty(n)
    d = np.empty(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        scale = 1.0 / (diagonal[i] - lower[i] * c[i - 1])
        c[i] = upper[i] * scale
        d[i] = (right[i] - lower[i] * d[i - 1]) * scale
    x = np.empty(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


BETA_V = 0
BETA_M = 0.5 * (1 - BETA_V)
BETA_P = 0.5 * (1 + BETA_V)


def vertical_advection(stage, wind, u_now, u_tendency, u_stage, step):
    """Advection along the last axis, half implicit: a tridiagonal system in every column of air."""
    rows, columns, levels = stage.shape
    c_column = np.empty_like(stage)
    d_column = np.empty_like(stage)
    carried = np.empty((rows, columns), dtype=stage.dtype)

    for k in range(1):
        above = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
        c = above * BETA_P
        c_column[:, :, k] = c
        diagonal = step - c
        correction = -above * BETA_M * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        d_column[:, :, k] = step * u_now[:, :, k] + u_tendency[:, :, k] + stage[:, :, k] + correction
        scale = 1.0 / diagonal
        c_column[:, :, k] = c_column[:, :, k] * scale
        d_column[:, :, k] *= scale

    for k in range(1, levels - 1):
        below = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
        above = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
        a = below * BETA_P
        c_column[:, :, k] = above * BETA_P
        diagonal = step - a - c_column[:, :, k]
        correction = -below * BETA_M * (u_stage[:, :, k - 1] - u_stage[:, :, k]) - above * BETA_M * (
            u_stage[:, :, k + 1] - u_stage[:, :, k]
        )
        d_column[:, :, k] = step * u_now[:, :, k] + u_tendency[:, :, k] + stage[:, :, k] + correction
        scale = 1.0 / (diagonal - c_column[:, :, k - 1] * a)
        c_column[:, :, k] = c_column[:, :, k] * scale
        d_column[:, :, k] = (d_column[:, :, k] - d_column[:, :, k - 1] * a) * scale

    for k in range(levels - 1, levels):
        below = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
        a = below * BETA_P
        diagonal = step - a
        correction = -below * BETA_M * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        d_column[:, :, k] = step * u_now[:, :, k] + u_tendency[:, :, k] + stage[:, :, k] + correction
        scale = 1.0 / (diagonal - c_column[:, :, k - 1] * a)
        d_column[:, :, k] = (d_column[:, :, k] - d_column[:, :, k - 1] * a) * scale

    for k in range(levels - 1, levels - 2, -1):
        carried[:, :] = d_column[:, :, k]
        stage[:, :, k] = step * (carried - u_now[:, :, k])
    for k in range(levels - 2, -1, -1):
        carried[:] = d_column[:, :, k] - c_column[:, :, k] * carried[:]
        stage[:, :, k] = step * (carried - u_now[:, :, k])


def adi(steps, u):
    """Heat in a square, one direction implicit at a time."""
    n = u.shape[0]
    v = np.empty(u.shape, dtype=u.dtype)
    p = np.empty(u.shape, dtype=u.dtype)
    q = np.empty(u.shape, dtype=u.dtype)
    dx = 1.0 / n
    dt = 1.0 / steps
    mu1 = 2.0 * dt / (dx * dx)
    mu2 = 1.0 * dt / (dx * dx)
    a = -mu1 / 2.0
    b = 1.0 + mu1
    c = a
    d = -mu2 / 2.0
    e = 1.0 + mu2
    f = d
    for _ in range(1, steps + 1):
        v[0, 1 : n - 1] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = v[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -c / (a * p[1 : n - 1, j - 1] + b)
            q[1 : n - 1, j] = (
                -d * u[j, 0 : n - 2] + (1.0 + 2.0 * d) * u[j, 1 : n - 1] - f * u[j, 2:n] - a * q[1 : n - 1, j - 1]
            ) / (a * p[1 : n - 1, j - 1] + b)
        v[n - 1, 1 : n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1 : n - 1] = p[1 : n - 1, j] * v[j + 1, 1 : n - 1] + q[1 : n - 1, j]

        u[1 : n - 1, 0] = 1.0
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = u[1 : n - 1, 0]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = -f / (d * p[1 : n - 1, j - 1] + e)
            q[1 : n - 1, j] = (
                -a * v[0 : n - 2, j] + (1.0 + 2.0 * a) * v[1 : n - 1, j] - c * v[2:n, j] - d * q[1 : n - 1, j - 1]
            ) / (d * p[1 : n - 1, j - 1] + e)
        u[1 : n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]


def _solve_in_place(sub, main, sup, x):
    for i in range(1, x.shape[0]):
        factor = sub[i] / main[i - 1]
        main[i] -= factor * sup[i - 1]
        x[i] -= factor * x[i - 1]
    x[-1] /= main[-1]
    for i in range(x.shape[0] - 2, -1, -1):
        x[i] = (x[i] - sup[i] * x[i + 1]) / main[i]


def crank_nicolson(u, number, steps):
    """Heat in a rod with cold ends, with a helper that solves in place."""
    n = u.shape[0]
    for _ in range(steps):
        sub = np.full(n, -number / 2)
        main = np.full(n, 1 + number)
        sup = np.full(n, -number / 2)
        right = (1 - number) * u
        right[1:] += number / 2 * u[:-1]
        right[:-1] += number / 2 * u[1:]
        _solve_in_place(sub, main, sup, right)
        u = right
    return u


def natural_spline(x, y, places):
    """A cubic spline through points, evaluated at places between them."""
    n = len(x)
    h = x[1:] - x[:-1]
    slope = (y[1:] - y[:-1]) / h
    moments = np.zeros(n)
    main = np.ones(n)
    right = np.zeros(n)
    for i in range(1, n - 1):
        main[i] = 2 * (h[i - 1] + h[i])
        right[i] = 6 * (slope[i] - slope[i - 1])
    for i in range(2, n - 1):
        factor = h[i - 1] / main[i - 1]
        main[i] -= factor * h[i - 1]
        right[i] -= factor * right[i - 1]
    for i in range(n - 2, 0, -1):
        moments[i] = (right[i] - h[i] * moments[i + 1]) / main[i]
    result = np.empty_like(places)
    for k in range(len(places)):
        i = 0
        while i < n - 2 and places[k] > x[i + 1]:
            i += 1
        left, over = places[k] - x[i], x[i + 1] - places[k]
        result[k] = (moments[i] * over**3 + moments[i + 1] * left**3) / (6 * h[i])
        result[k] += (y[i] / h[i] - moments[i] * h[i] / 6) * over + (y[i + 1] / h[i] - moments[i + 1] * h[i] / 6) * left
    return result


def _bands(random, n):
    return random.random(n), 3 + random.random(n), random.random(n), random.random(n)


def _air(random, n):
    shape = (n, n + 1, n + 2)
    stage, now, tendency, u_stage = (random.random(shape) for _ in range(4))
    return stage, random.random((n + 1, n + 1, n + 2)), now, tendency, u_stage, 3.0 / 20.0


def _points(random, n):
    x = np.cumsum(0.1 + random.random(n))
    return x, np.sin(x), np.linspace(x[0], x[-1], 3 * n)


PROGRAMS = [
    Program(thomas, _bands),
    Program(vertical_advection, _air, sizes=(4, 6), changes=("stage",)),
    Program(adi, lambda random, n: (n // 2, random.random((n, n))), changes=("u",)),
    Program(crank_nicolson, lambda random, n: (random.random(n), 0.8, 5)),
    Program(natural_spline, _points),
]
