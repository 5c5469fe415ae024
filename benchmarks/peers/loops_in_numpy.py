"""Programs with loops as their authors write them for NumPy alone; nxkernel is given them unchanged."""

from __future__ import annotations

import numpy as np


def jacobi(steps, a, b):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def _heated(a):
    inner = a[1:-1, 1:-1, 1:-1]
    return (
        0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * inner + a[:-2, 1:-1, 1:-1])
        + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * inner + a[1:-1, :-2, 1:-1])
        + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * inner + a[1:-1, 1:-1, :-2])
        + inner
    )


def heat(steps, a, b):
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = _heated(a)
        a[1:-1, 1:-1, 1:-1] = _heated(b)


def diffusion(field, out, coefficient):
    """Horizontal diffusion: fluxes of a Laplacian, cut off where they would sharpen; two cells beyond each side."""
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


def advection(stage, wind, now, tendency, u, step):
    """Vertical advection, half implicit: Thomas's algorithm in every column, along the last axis."""
    levels = stage.shape[2]
    c = np.empty_like(stage)
    d = np.empty_like(stage)
    above = 0.25 * (wind[1:, :, 1] + wind[:-1, :, 1])
    scale = 1.0 / (step - 0.5 * above)
    c[:, :, 0] = 0.5 * above * scale
    correction = -0.5 * above * (u[:, :, 1] - u[:, :, 0])
    d[:, :, 0] = (step * now[:, :, 0] + tendency[:, :, 0] + stage[:, :, 0] + correction) * scale
    for k in range(1, levels - 1):
        below = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
        above = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1])
        correction = -0.5 * (below * (u[:, :, k - 1] - u[:, :, k]) + above * (u[:, :, k + 1] - u[:, :, k]))
        right = step * now[:, :, k] + tendency[:, :, k] + stage[:, :, k] + correction
        scale = 1.0 / (step - 0.5 * (below + above) - c[:, :, k - 1] * 0.5 * below)
        c[:, :, k] = 0.5 * above * scale
        d[:, :, k] = (right - d[:, :, k - 1] * 0.5 * below) * scale
    k = levels - 1
    below = -0.25 * (wind[1:, :, k] + wind[:-1, :, k])
    correction = -0.5 * below * (u[:, :, k - 1] - u[:, :, k])
    right = step * now[:, :, k] + tendency[:, :, k] + stage[:, :, k] + correction
    carried = (right - d[:, :, k - 1] * 0.5 * below) / (step - 0.5 * below - c[:, :, k - 1] * 0.5 * below)
    stage[:, :, k] = step * (carried - now[:, :, k])
    for k in range(levels - 2, -1, -1):
        carried = d[:, :, k] - c[:, :, k] * carried
        stage[:, :, k] = step * (carried - now[:, :, k])


def cholesky(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def gram_schmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def _accelerations(position, mass, softening):
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = (dx**2 + dy**2 + dz**2 + softening**2) ** (-1.5)
    return np.hstack(((dx * inverse) @ mass, (dy * inverse) @ mass, (dz * inverse) @ mass))


def n_body(mass, position, velocity, steps, dt, softening):
    velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)
    acceleration = _accelerations(position, mass, softening)
    kinetic = np.empty(steps)
    for i in range(steps):
        velocity += acceleration * dt / 2.0
        position += velocity * dt
        acceleration = _accelerations(position, mass, softening)
        velocity += acceleration * dt / 2.0
        kinetic[i] = 0.5 * np.sum(mass * velocity**2)
    return kinetic


def mandelbrot(width, height, limit):
    counts = np.zeros((height, width), dtype=np.int64)
    for row in range(height):
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


def darts(seed, count):
    """Pi by darts, thrown with a linear congruential generator."""
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
