"""Fluid flow: helpers that write into the fields that they are given."""

import numpy as np

from collection.numpy_program import Program


def _build_up_b(b, rho, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = rho * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )


def _pressure_poisson(rounds, p, dx, dy, b):
    pn = np.empty_like(p)
    pn[:] = p.copy()
    for _ in range(rounds):
        pn[:] = p.copy()
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def cavity_flow(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    """A square box under a lid that moves."""
    un = np.empty_like(u)
    vn = np.empty_like(v)
    b = np.zeros((ny, nx))
    for _ in range(nt):
        un[:] = u.copy()
        vn[:] = v.copy()
        _build_up_b(b, rho, dt, u, v, dx, dy)
        _pressure_poisson(nit, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
            + nu * dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def _diffused(f, fn, dt, dx, dy, nu):
    east, west = np.roll(fn, -1, axis=1), np.roll(fn, 1, axis=1)
    f[1:-1, :] += nu * dt / dx**2 * (east - 2 * fn + west)[1:-1, :]
    f[1:-1, :] += nu * dt / dy**2 * (fn[2:, :] - 2 * fn[1:-1, :] + fn[:-2, :])


def channel_flow(u, dt, dx, dy, nu, force, tolerance):
    """A flow driven along a channel without ends, stepped until it changes no more."""
    change = 1.0
    count = 0
    while change > tolerance:
        un = u.copy()
        _diffused(u, un, dt, dx, dy, nu)
        u[1:-1, :] += force * dt
        u[0, :] = 0
        u[-1, :] = 0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        count += 1
    return count


def burgers(u, nu, dx, dt, steps):
    """Upwind differences along a ring."""
    for _ in range(steps):
        left, right = np.roll(u, 1), np.roll(u, -1)
        u = u - np.where(u > 0, u * (u - left), u * (right - u)) * dt / dx + nu * (right - 2 * u + left) * dt / dx**2
    return u


def shallow_water(h, u, v, gravity, dt, dx, steps):
    """Waves in a basin, on a staggered grid."""
    for _ in range(steps):
        u[1:-1, :] -= gravity * dt / dx * (h[1:, :] - h[:-1, :])
        v[:, 1:-1] -= gravity * dt / dx * (h[:, 1:] - h[:, :-1])
        h -= dt / dx * (u[1:, :] - u[:-1, :] + v[:, 1:] - v[:, :-1])
    return np.sum(h)


def lattice_boltzmann(f, steps, relaxation):
    """Nine directions: particles stream, collide, and bounce off a pillar."""
    cx = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
    cy = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
    weights = np.array([16, 4, 1, 4, 1, 4, 1, 4, 1]) / 36
    rows, columns, _ = f.shape
    x, y = np.meshgrid(range(columns), range(rows))
    pillar = (x - columns / 4) ** 2 + (y - rows / 2) ** 2 < (rows / 6) ** 2
    for _ in range(steps):
        for i in range(9):
            f[:, :, i] = np.roll(f[:, :, i], cx[i], axis=1)
            f[:, :, i] = np.roll(f[:, :, i], cy[i], axis=0)
        rho = np.sum(f, 2)
        ux = np.sum(f * cx, 2) / rho
        uy = np.sum(f * cy, 2) / rho
        still = np.zeros(f.shape)
        for i in range(9):
            along = cx[i] * ux + cy[i] * uy
            still[:, :, i] = rho * weights[i] * (1 + 3 * along + 9 * along**2 / 2 - 3 * (ux**2 + uy**2) / 2)
        mirrored = f[:, :, [0, 5, 6, 7, 8, 1, 2, 3, 4]]
        f += -relaxation * (f - still)
        f[pillar, :] = mirrored[pillar, :]
    return rho


def upwind_advection(c, u, v, dt, steps):
    """What a wind carries, by loops over the cells."""
    rows, columns = c.shape
    for _ in range(steps):
        before = c.copy()
        for i in range(rows):
            for j in range(columns):
                from_x = before[i, j] - before[i, j - 1] if u > 0 else before[i, (j + 1) % columns] - before[i, j]
                from_y = before[i, j] - before[i - 1, j] if v > 0 else before[(i + 1) % rows, j] - before[i, j]
                c[i, j] = before[i, j] - dt * (u * from_x + v * from_y)


def _cavity(random, n):
    zero = np.zeros((n, n + 1))
    return n + 1, n, 5, 6, zero, zero.copy(), 0.001, 2 / n, 2 / (n - 1), zero.copy(), 1.0, 0.1


def _basin(random, n):
    return 1 + 0.1 * random.random((n, n + 1)), np.zeros((n + 1, n + 1)), np.zeros((n, n + 2)), 9.81, 0.01, 0.5, n


PROGRAMS = [
    Program(cavity_flow, _cavity, changes=("u", "v", "p")),
    Program(
        channel_flow,
        lambda random, n: (np.zeros((n, n + 1)), 0.01, 2 / n, 2 / (n - 1), 0.1, 1.0, 1e-3),
        changes=("u",),
    ),
    Program(burgers, lambda random, n: (np.sin(2 * np.pi * np.arange(n) / n), 0.05, 1 / n, 0.01 / n, 2 * n)),
    Program(shallow_water, _basin, changes=("h", "u", "v")),
    Program(lattice_boltzmann, lambda random, n: (1 + 0.1 * random.random((n, 2 * n, 9)), 4, 0.6), changes=("f",)),
    Program(upwind_advection, lambda random, n: (random.random((n, n)), 0.6, -0.4, 0.5, 3), changes=("c",)),
]
