"""Products of matrices and vectors, by loops and slices."""

import numpy as np

from collection.numpy_program import Program


def symm(alpha, beta, c, a, b):
    """A symmetric matrix, of which the lower triangle is stored, times another."""
    temp = np.empty((c.shape[1],), dtype=c.dtype)
    c *= beta
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            temp[j] = b[:i, j] @ a[i, :i]
        c[i, :] += alpha * b[i, :] * a[i, i] + alpha * temp


def syrk(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


def syr2k(alpha, beta, c, a, b):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha


def triple_loop(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ a + z
    w += alpha * a @ x


def doitgen(a, c4):
    nr, nq, n = a.shape
    for r in range(nr):
        for q in range(nq):
            total = np.zeros(n, dtype=a.dtype)
            for p in range(n):
                total[p] = np.sum(a[r, q, :] * c4[:, p])
            a[r, q, :] = total


def bicg(a, p, r):
    return r @ a, a @ p


def matrix_power(a, exponent):
    """By squaring, as the bits of the exponent say."""
    result = np.eye(a.shape[0])
    while exponent > 0:
        if exponent & 1:
            result = result @ a
        a = a @ a
        exponent >>= 1
    return result


def power_iteration(a, tolerance):
    """The largest eigenvalue and its vector."""
    x = np.ones(a.shape[0]) / np.sqrt(a.shape[0])
    value, before = 0.0, np.inf
    while abs(value - before) > tolerance:
        before = value
        y = a @ x
        value = np.linalg.norm(y)
        x = y / value
    return value, x


def conjugate_gradient(a, b, tolerance=1e-12):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rho = r @ r
    steps = 0
    for _ in range(10 * len(b)):
        q = a @ p
        alpha = rho / (p @ q)
        x += alpha * p
        r -= alpha * q
        after = r @ r
        steps += 1
        if np.sqrt(after) < tolerance:
            break
        p = r + (after / rho) * p
        rho = after
    return x, steps


def kronecker(a, b):
    rows, columns = b.shape
    out = np.zeros((a.shape[0] * rows, a.shape[1] * columns), dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns] = a[i, j] * b
    return out


def _square(random, n):
    return random.random((n, n))


def _definite(random, n):
    a = random.random((n, n)) / n
    return a + a.T + np.diag(np.arange(1.0, n + 1)), np.ones(n)


def _ranks(random, n):
    u1, v1, u2, v2, y, z = random.random((6, n))
    return 1.5, 1.2, _square(random, n), u1, v1, u2, v2, np.zeros(n), np.zeros(n), y, z


PROGRAMS = [
    Program(
        symm,
        lambda random, n: (1.5, 1.2, random.random((n, n + 2)), _square(random, n), random.random((n, n + 2))),
        changes=("c",),
    ),
    Program(syrk, lambda random, n: (1.5, 1.2, _square(random, n), random.random((n, n - 2))), changes=("c",)),
    Program(
        syr2k,
        lambda random, n: (1.5, 1.2, _square(random, n), random.random((n, n - 2)), random.random((n, n - 2))),
        changes=("c",),
    ),
    Program(trmm, lambda random, n: (1.5, _square(random, n), random.random((n, n + 1))), changes=("b",)),
    Program(triple_loop, lambda random, n: (random.random((n, n + 1)), random.random((n + 1, n + 2)))),
    Program(gemver, _ranks, changes=("a", "w", "x")),
    Program(
        doitgen,
        lambda random, n: (random.random((n - 3, n - 2, n), np.float32), random.random((n, n), np.float32)),
        tolerance=1e-5,
        changes=("a",),
    ),
    Program(bicg, lambda random, n: (random.random((n + 2, n)), random.random(n), random.random(n + 2))),
    Program(matrix_power, lambda random, n: (_square(random, n) / n, n)),
    Program(power_iteration, lambda random, n: (_square(random, n), 1e-12)),
    Program(conjugate_gradient, _definite),
    Program(kronecker, lambda random, n: (random.integers(0, 9, (3, n)), random.integers(0, 9, (n - 4, 2)))),
]
