"""How many elements there are the program finds out: what masks pick, indices of what holds, arrays that shrink."""

import numpy as np

from collection.numpy_program import Program


def mandelbrot_by_survivors(xmin, xmax, ymin, ymax, width, height, rounds, bound=2.0):
    """Only points that are still inside go on: arrays of points and of their places shrink together."""
    rows, columns = np.mgrid[0:width, 0:height]
    c = np.linspace(xmin, xmax, width)[rows] + 1j * np.linspace(ymin, ymax, height)[columns]
    steps = np.zeros(c.shape, dtype=np.int64)
    last = np.zeros(c.shape, dtype=np.complex128)
    rows.shape = columns.shape = c.shape = width * height
    z = np.zeros(c.shape, np.complex128)
    for i in range(rounds):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        left = abs(z) > bound
        steps[rows[left], columns[left]] = i + 1
        last[rows[left], columns[left]] = z[left]
        np.logical_not(left, left)
        z, c = z[left], c[left]
        rows, columns = rows[left], columns[left]
    return steps.T, last.T


def lloyd(points, centres, rounds=20, tolerance=1e-9):
    """Clusters around centres, of which some may be empty."""
    for turn in range(rounds):  # noqa: B007 - read after the loop
        distance = ((points[:, np.newaxis, :] - centres[np.newaxis, :, :]) ** 2).sum(axis=2)
        label = distance.argmin(axis=1)
        moved = np.empty_like(centres)
        for k in range(len(centres)):
            members = points[label == k]
            if len(members) > 0:
                moved[k] = members.mean(axis=0)
            else:
                moved[k] = centres[k]
        step = np.linalg.norm(moved - centres)
        centres = moved
        if step < tolerance:
            break
    return centres, label, distance[np.arange(len(points)), label].sum(), turn


def lines_through(picture, angles=30):
    """Votes of each bright point for the lines through it: Hough's transform."""
    height, width = picture.shape
    reach = int(np.ceil(np.hypot(height, width)))
    theta = np.deg2rad(np.linspace(-90, 90, angles, endpoint=False))
    votes = np.zeros((2 * reach + 1, angles), dtype=np.uint64)
    ys, xs = np.nonzero(picture)
    for x, y in zip(xs, ys):  # noqa: B905 - as people write it
        for t in range(angles):
            votes[round(x * np.cos(theta[t]) + y * np.sin(theta[t])) + reach, t] += 1
    return votes, theta


def first_peak(signal, height):
    """The first place that is higher than both neighbours, and how many there are."""
    inner = signal[1:-1]
    peaks = np.where((inner > signal[:-2]) & (inner > signal[2:]) & (inner > height))[0]
    if len(peaks) == 0:
        return -1, 0
    return peaks[0] + 1, len(peaks)


def descend(parameters, x, y, rate=0.05, rounds=12):
    """Gradient descent on parameters in a dict, which are changed for the caller too."""
    for _ in range(rounds):
        miss = x @ parameters["w"] + parameters["b"] - y
        slopes = {"w": x.T @ miss / len(y), "b": np.array([miss.mean()])}
        for name in parameters:
            parameters[name] -= rate * slopes[name]
    return parameters["w"], parameters["b"], (miss**2).mean()


def sieve_by_removal(limit):
    """The primes that are left when multiples are dropped again and again."""
    left = np.arange(2, limit)
    total, count = 0, 0
    while len(left) > 0:
        total += left[0]
        count += 1
        left = left[left % left[0] != 0]
    return total, count


def _parameters(random, n):
    return {"w": random.random(3), "b": np.zeros(1)}, random.random((n, 3)), random.random(n)


PROGRAMS = [
    Program(mandelbrot_by_survivors, lambda random, n: (-1.75, 0.25, -1.0, 1.0, n, n + 2, 12), tolerance=1e-8),
    Program(lloyd, lambda random, n: (points := random.random((5 * n, 2)), points[:4].copy())),
    Program(lines_through, lambda random, n: (random.random((n, n + 1)) > 0.8,)),
    Program(first_peak, lambda random, n: (random.random(4 * n), 0.9)),
    Program(descend, _parameters),
    Program(sieve_by_removal, lambda random, n: (5 * n,)),
]
