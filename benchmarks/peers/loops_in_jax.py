"""The programs with loops in JAX's way: loops as its primitives, bodies over whole arrays.

Each takes the program's arguments and gives what the program returns, then what it leaves in the arguments that it
changes.
"""

from __future__ import annotations

from typing import Any

from benchmarks.peers.libraries import jax


def jacobi(steps, a, b):
    def relaxed(a):
        return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

    def body(_, state):
        a, b = state
        b = b.at[1:-1, 1:-1].set(relaxed(a))
        return a.at[1:-1, 1:-1].set(relaxed(b)), b

    return jax().lax.fori_loop(0, steps, body, (a, b))


def heat(steps, a, b):
    def heated(a):
        around = a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, :-2, 1:-1]
        return 0.125 * (around + a[1:-1, 1:-1, 2:] + a[1:-1, 1:-1, :-2]) + 0.25 * a[1:-1, 1:-1, 1:-1]

    def body(_, state):
        a, b = state
        b = b.at[1:-1, 1:-1, 1:-1].set(heated(a))
        return a.at[1:-1, 1:-1, 1:-1].set(heated(b)), b

    return jax().lax.fori_loop(0, steps, body, (a, b))


def diffusion(field, out, coefficient):
    np = jax().numpy
    laplacian = 4.0 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    flux = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    step = field[2:-1, 2:-2] - field[1:-2, 2:-2]
    along = np.where(flux * step > 0, 0, flux)
    flux = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    step = field[2:-2, 2:-1] - field[2:-2, 1:-2]
    across = np.where(flux * step > 0, 0, flux)
    return field[2:-2, 2:-2] - coefficient * (along[1:] - along[:-1] + across[:, 1:] - across[:, :-1])


def advection(stage, wind, now, tendency, u, step):
    np, lax = jax().numpy, jax().lax
    # What does not wait for other levels is computed for all of them; the scans run over the last axis, put first.
    between = 0.25 * (wind[1:, :, 1:] + wind[:-1, :, 1:])
    ends = ((0, 0), (0, 0))
    below = np.pad(-between, (*ends, (1, 0)))
    above = np.pad(between, (*ends, (0, 1)))
    rise = np.pad(u[:, :, 1:] - u[:, :, :-1], (*ends, (1, 1)))
    right = step * now + tendency + stage - 0.5 * (above * rise[:, :, 1:] - below * rise[:, :, :-1])
    diagonal = step - 0.5 * (below + above)

    def first(array: Any) -> Any:
        return np.moveaxis(array, 2, 0)

    def down(carry, level):
        c, d = carry
        below, above, diagonal, right = level
        scale = 1.0 / (diagonal - c * 0.5 * below)
        carry = 0.5 * above * scale, (right - d * 0.5 * below) * scale
        return carry, carry

    def up(carried, level):
        c, d = level
        carried = d - c * carried
        return carried, carried

    zero = np.zeros(stage.shape[:2])
    _, columns = lax.scan(down, (zero, zero), tuple(map(first, (below, above, diagonal, right))))
    _, solution = lax.scan(up, zero, columns, reverse=True)
    return step * (np.moveaxis(solution, 0, 2) - now)


def cholesky(a):
    np, lax = jax().numpy, jax().lax
    places = np.arange(a.shape[0])

    def column(j, state):
        a, lower = state
        rest = a[:, j] - lower @ lower[j]
        here = np.where(places >= j, rest / np.sqrt(rest[j]), 0)
        return a, lower.at[:, j].set(here)

    _, lower = lax.fori_loop(0, a.shape[0], column, (a, np.zeros_like(a)))
    return lower + np.triu(a, 1)


def gram_schmidt(a):
    np, lax = jax().numpy, jax().lax
    left = a.T
    places = np.arange(len(left))

    def column(k, state):
        left, q, r = state
        length = np.sqrt(left[k] @ left[k])
        here = left[k] / length
        row = np.where(places > k, left @ here, 0)
        return left - np.outer(row, here), q.at[k].set(here), r.at[k].set(row.at[k].set(length))

    left, q, r = lax.fori_loop(
        0, len(left), column, (left, np.zeros_like(left), np.zeros((len(left), len(left)), a.dtype))
    )
    return q.T, r, left.T


def n_body(mass, position, velocity, steps, dt, softening):
    np, lax = jax().numpy, jax().lax
    mass_ = mass[:, 0]

    def accelerations(position):
        apart = position[:, :, None] - position[:, None, :]
        square = np.sum(apart * apart, axis=0) + softening**2
        return np.sum(apart * (mass_[:, None] / (square * np.sqrt(square))), axis=1)

    def body(state, _):
        place, speed, pull = state
        speed = speed + pull * dt / 2.0
        place = place + speed * dt
        pull = accelerations(place)
        speed = speed + pull * dt / 2.0
        return (place, speed, pull), 0.5 * np.sum(mass_ * speed**2)

    place, speed = position.T, velocity.T
    speed = speed - (mass_ * speed).mean(1, keepdims=True) / mass_.mean()
    (place, speed, _), kinetic = lax.scan(body, (place, speed, accelerations(place)), length=steps)
    return kinetic, place.T, speed.T


def mandelbrot(width, height, limit):
    np, lax = jax().numpy, jax().lax

    def pixel(cx, cy):
        def going(state):
            x, y, n = state
            return (n < limit) & (x * x + y * y <= 4.0)

        def step(state):
            x, y, n = state
            return x * x - y * y + cx, 2.0 * x * y + cy, n + 1

        return lax.while_loop(going, step, (0.0, 0.0, 0))[2]

    def row(cy):
        return jax().vmap(pixel, (0, None))(-2.0 + 2.5 * np.arange(width) / width, cy)

    # A row ends when its last pixel does; that is faster here than all pixels in step, or each by itself.
    return lax.map(row, -1.25 + 2.5 * np.arange(height) / height)


def darts(seed, count):
    lax = jax().lax

    def thrown(state):
        return (1103515245 * state + 12345) % 2147483648

    def body(state):
        number, inside, done = state
        first = thrown(number)
        second = thrown(first)
        x, y = first / 2147483648, second / 2147483648
        return second, inside + (x * x + y * y <= 1.0), done + 1

    return 4.0 * lax.while_loop(lambda state: state[2] < count, body, (seed, 0, 0))[1] / count


#: The arguments of each that are part of the program, as sizes are.
STATIC = {
    "jacobi": (0,),
    "heat": (0,),
    "n_body": (3,),
    "mandelbrot": (0, 1, 2),
}
