"""Bodies that move: helpers that write into their arguments, all pairs by broadcasting and by loops."""

import numpy as np

from collection.numpy_program import Program


def _accelerations(position, mass, gravity, softening):
    x = position[:, 0:1]
    y = position[:, 1:2]
    z = position[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    cubed = dx**2 + dy**2 + dz**2 + softening**2
    cubed[cubed > 0] = cubed[cubed > 0] ** (-1.5)
    ax = gravity * (dx * cubed) @ mass
    ay = gravity * (dy * cubed) @ mass
    az = gravity * (dz * cubed) @ mass
    return np.hstack((ax, ay, az))


def _energies(position, velocity, mass, gravity):
    kinetic = 0.5 * np.sum(mass * velocity**2)
    x = position[:, 0:1]
    y = position[:, 1:2]
    z = position[:, 2:3]
    distance = np.sqrt((x.T - x) ** 2 + (y.T - y) ** 2 + (z.T - z) ** 2)
    inverse = np.where(distance > 0, 1.0 / np.where(distance > 0, distance, 1.0), 0.0)
    return kinetic, gravity * np.sum(np.triu(-(mass * mass.T) * inverse, 1))


def n_body(mass, position, velocity, steps, dt, gravity, softening):
    """A leapfrog over all pairs at once, and the energies at every step."""
    velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)
    acceleration = _accelerations(position, mass, gravity, softening)
    kinetic = np.ndarray(steps + 1, dtype=np.float64)
    potential = np.ndarray(steps + 1, dtype=np.float64)
    kinetic[0], potential[0] = _energies(position, velocity, mass, gravity)
    for i in range(steps):
        velocity += acceleration * dt / 2.0
        position += velocity * dt
        acceleration[:] = _accelerations(position, mass, gravity, softening)
        velocity += acceleration * dt / 2.0
        kinetic[i + 1], potential[i + 1] = _energies(position, velocity, mass, gravity)
    return kinetic, potential


def _pull(place, speed, mass, dt):
    n = len(mass)
    for i in range(n):
        for j in range(i + 1, n):
            apart = place[i] - place[j]
            distance = np.sqrt(np.sum(apart * apart))
            strength = dt / distance**3
            speed[i] -= apart * mass[j] * strength
            speed[j] += apart * mass[i] * strength


def _drift(place, speed, dt):
    place += dt * speed


def planets(place, speed, mass, steps, dt):
    """All pairs by loops; the helpers change places and speeds."""
    for _ in range(steps):
        _pull(place, speed, mass, dt)
        _drift(place, speed, dt)
    energy = 0.0
    for i in range(len(mass)):
        energy += 0.5 * mass[i] * np.dot(speed[i], speed[i])
        for j in range(i + 1, len(mass)):
            energy -= mass[i] * mass[j] / np.linalg.norm(place[i] - place[j])
    return energy


def lennard_jones(position, box, cutoff):
    """Forces and energy of a gas in a box that goes on on the other side."""
    n = position.shape[0]
    force = np.zeros_like(position)
    energy = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            apart = position[i] - position[j]
            apart -= box * np.round(apart / box)
            square = (apart**2).sum()
            if square < cutoff * cutoff:
                sixth = 1.0 / square**3
                energy += 4.0 * sixth * (sixth - 1.0)
                strength = 48.0 * sixth * (sixth - 0.5) / square
                force[i] += strength * apart
                force[j] -= strength * apart
    return force, energy


def bouncing(height, speed, dt, steps):
    """Balls that fall and bounce with a loss; how often each hit the ground."""
    bounces = np.zeros(height.shape, dtype=np.int64)
    for _ in range(steps):
        speed -= 9.81 * dt
        height += speed * dt
        below = height < 0
        bounces[below] += 1
        height[below] = -height[below]
        speed[below] *= -0.9
    return bounces


def random_walks(seeds, steps):
    """Walkers on a grid, each with a generator of its own; how far from home they came."""
    state = seeds.copy()
    x = np.zeros(len(seeds), dtype=np.int64)
    y = np.zeros(len(seeds), dtype=np.int64)
    farthest = np.zeros(len(seeds))
    for _ in range(steps):
        state = (state * 1103515245 + 12345) % 2147483648
        way = (state >> 16) % 4
        x += np.where(way == 0, 1, np.where(way == 1, -1, 0))
        y += np.where(way == 2, 1, np.where(way == 3, -1, 0))
        np.maximum(farthest, np.hypot(x, y), out=farthest)
    return farthest


def _bodies(random, n):
    return 20.0 * np.ones((n, 1)) / n, random.standard_normal((n, 3)), random.standard_normal((n, 3)), 6, 0.01, 1.0, 0.1


PROGRAMS = [
    Program(n_body, _bodies, tolerance=1e-9, changes=("position", "velocity")),
    Program(
        planets,
        lambda random, n: (random.random((n, 3)) * n, random.standard_normal((n, 3)), 1 + random.random(n), 4, 0.001),
        sizes=(4, 6),
        changes=("place", "speed"),
    ),
    Program(lennard_jones, lambda random, n: (random.random((n, 3)) * n, float(n), 2.5), tolerance=1e-8),
    Program(bouncing, lambda random, n: (1 + random.random(n), np.zeros(n), 0.01, 10 * n), changes=("height", "speed")),
    Program(random_walks, lambda random, n: (random.integers(0, 2**31, n), 4 * n)),
]
