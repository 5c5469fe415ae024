"""Factorizations and systems of equations by loops."""

import numpy as np

from collection.numpy_program import Program


def cholesky(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]


def lu_with_pivots(a):
    """Eliminates by rows, the largest number of the column first; gives both factors in one, and the order."""
    n = len(a)
    a = a.copy()
    order = np.arange(n)
    for k in range(n - 1):
        best = k + np.argmax(np.abs(a[k:, k]))
        if best != k:
            row = a[k].copy()
            a[k] = a[best]
            a[best] = row
            place = order[k]
            order[k] = order[best]
            order[best] = place
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a, order


def gram_schmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for k in range(a.shape[1]):
        length = np.dot(a[:, k], a[:, k])
        r[k, k] = np.sqrt(length)
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def forward_substitution(lower, x, b):
    for i in range(lower.shape[0]):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]


def back_substitution(upper, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        total = 0.0
        for j in range(i + 1, n):
            total += upper[i, j] * x[j]
        x[i] = (b[i] - total) / upper[i, i]
    return x


def durbin(r):
    """Solves the Yule–Walker equations of a Toeplitz matrix."""
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def ldl(a):
    """Square-root-free Cholesky: unit lower triangle and diagonal."""
    n = a.shape[0]
    lower = np.eye(n, dtype=a.dtype)
    diagonal = np.zeros(n, dtype=a.dtype)
    for j in range(n):
        diagonal[j] = a[j, j] - np.sum(lower[j, :j] ** 2 * diagonal[:j])
        for i in range(j + 1, n):
            lower[i, j] = (a[i, j] - np.sum(lower[i, :j] * lower[j, :j] * diagonal[:j])) / diagonal[j]
    return lower, diagonal


def householder(a):
    """The triangular factor, by reflections of the part that is left."""
    rows, columns = a.shape
    r = a.astype(np.float64)
    for k in range(min(rows - 1, columns)):
        v = np.zeros(rows)
        v[k:] = r[k:, k]
        size = np.sqrt(v @ v)
        v[k] += size if r[k, k] >= 0 else -size
        v /= np.sqrt(v @ v)
        r -= 2.0 * np.outer(v, v @ r)
    return r


def gauss_jordan_inverse(a):
    n = a.shape[0]
    work = np.hstack((a, np.eye(n)))
    for column in range(n):
        work[column] /= work[column, column]
        for row in range(n):
            if row != column:
                work[row] -= work[row, column] * work[column]
    return work[:, n:]


def jacobi_eigenvalues(a, tolerance):
    """Turns pairs of axes until nothing is left beside the diagonal."""
    a = a.copy()
    n = a.shape[0]
    rest = np.sum(a * a) - np.sum(np.diag(a) ** 2)
    sweeps = 0
    while rest > tolerance and sweeps < 30:
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) > 1e-14:
                    theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                    t = 1 / (abs(theta) + np.sqrt(theta * theta + 1))
                    if theta < 0:
                        t = -t
                    c = 1 / np.sqrt(t * t + 1)
                    s = t * c
                    at_p = a[p].copy()
                    a[p] = c * at_p - s * a[q]
                    a[q] = s * at_p + c * a[q]
                    at_p = a[:, p].copy()
                    a[:, p] = c * at_p - s * a[:, q]
                    a[:, q] = s * at_p + c * a[:, q]
        rest = np.sum(a * a) - np.sum(np.diag(a) ** 2)
        sweeps += 1
    return np.sort(np.diag(a))


def _definite(random, size, dtype=np.float64):
    a = random.random((size, size))
    return ((a @ a.T + size * np.eye(size)).astype(dtype),)


def _square(random, size):
    return (random.random((size, size)) + size * np.eye(size),)


PROGRAMS = [
    Program(cholesky, _definite, changes=("a",)),
    Program(lu, _square, changes=("a",)),
    Program(lu_with_pivots, lambda random, n: (random.standard_normal((n, n)),)),
    Program(gram_schmidt, lambda random, n: (random.random((n + 3, n)),), changes=("a",)),
    Program(
        forward_substitution,
        lambda random, n: (np.tril(random.random((n, n))) + np.eye(n), np.zeros(n), random.random(n)),
        changes=("x",),
    ),
    Program(back_substitution, lambda random, n: (np.triu(random.random((n, n))) + np.eye(n), random.random(n))),
    Program(durbin, lambda random, n: (0.5 ** np.arange(1, n + 1) + 0.01 * random.random(n),)),
    Program(ldl, lambda random, n: _definite(random, n, np.float32), tolerance=1e-4),
    Program(householder, lambda random, n: (random.standard_normal((n + 2, n), np.float32),), tolerance=1e-6),
    Program(gauss_jordan_inverse, _square),
    Program(jacobi_eigenvalues, lambda random, n: (_definite(random, n)[0], 1e-18), sizes=(5, 7)),
]
