"""Sparse matrices in compressed rows: parts whose lengths only the data know."""

import numpy as np

from collection.numpy_program import Program


def spmv(indptr, indices, data, x):
    y = np.empty(len(indptr) - 1, data.dtype)
    for i in range(len(indptr) - 1):
        columns = indices[indptr[i] : indptr[i + 1]]
        values = data[indptr[i] : indptr[i + 1]]
        y[i] = values @ x[columns]
    return y


def spmv_by_scalars(indptr, indices, data, x):
    rows = indptr.shape[0] - 1
    y = np.zeros(rows)
    for i in range(rows):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * x[indices[k]]
        y[i] = total
    return y


def spmv_by_triplets(rows, columns, values, x, count):
    y = np.zeros(count)
    np.add.at(y, rows, values * x[columns])
    return y


def dense_from_csr(indptr, indices, data, columns):
    out = np.zeros((len(indptr) - 1, columns), dtype=data.dtype)
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            out[row, indices[place]] = data[place]
    return out


def sparse_jacobi(indptr, indices, data, b, tolerance):
    """Solves by Jacobi's iteration, the rows compressed; says how many rounds it took."""
    x = np.zeros_like(b)
    rounds = 0
    error = 1.0
    while error > tolerance:
        after = np.empty_like(x)
        for i in range(len(b)):
            total = b[i]
            diagonal = 1.0
            for k in range(indptr[i], indptr[i + 1]):
                if indices[k] == i:
                    diagonal = data[k]
                else:
                    total -= data[k] * x[indices[k]]
            after[i] = total / diagonal
        error = np.max(np.abs(after - x))
        x[:] = after
        rounds += 1
        if rounds >= 500:
            break
    return x, rounds


def pagerank(indptr, indices, damping, rounds):
    """Every page passes what it has to those that it links to."""
    n = len(indptr) - 1
    rank = np.full(n, 1.0 / n)
    for _ in range(rounds):
        after = np.full(n, (1.0 - damping) / n)
        for page in range(n):
            start, end = indptr[page], indptr[page + 1]
            if end > start:
                share = damping * rank[page] / (end - start)
                for k in range(start, end):
                    after[indices[k]] += share
            else:
                after += damping * rank[page] / n
        rank = after
    return rank


def _compressed(random, n, dtype=np.float64):
    filled = random.random((n, n + 2)) < 0.4
    filled[n // 2] = False
    indptr = np.concatenate(([0], np.cumsum(filled.sum(axis=1))))
    indices = np.nonzero(filled)[1]
    return indptr, indices, random.random(len(indices)).astype(dtype)


def _dominant(random, n):
    matrix = np.where(random.random((n, n)) < 0.3, random.random((n, n)), 0) + n * np.eye(n)
    filled = matrix != 0
    indptr = np.concatenate(([0], np.cumsum(filled.sum(axis=1))))
    return indptr, np.nonzero(filled)[1], matrix[filled], random.random(n), 1e-12


def _triplets(random, n):
    rows, columns = random.integers(0, n, (2, 4 * n))
    return rows, columns, random.random(4 * n), random.random(n), n


def _links(random, n):
    indptr, indices, _ = _compressed(random, n)
    return indptr, indices % n, 0.85, 2 * n


PROGRAMS = [
    Program(
        spmv, lambda random, n: (*_compressed(random, n, np.float32), random.random(n + 2, np.float32)), tolerance=1e-5
    ),
    Program(spmv_by_scalars, lambda random, n: (*_compressed(random, n), random.random(n + 2))),
    Program(spmv_by_triplets, _triplets),
    Program(dense_from_csr, lambda random, n: (*_compressed(random, n), n + 2)),
    Program(sparse_jacobi, _dominant),
    Program(pagerank, _links),
]
