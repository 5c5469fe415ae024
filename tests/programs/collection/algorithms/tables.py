"""Dynamic programming: tables that fill cell by cell."""

import numpy as np

from collection.numpy_program import Program


def _match(a, b):
    if a + b == 3:
        return 1
    return 0


def nussinov(seq):
    """The most pairs of bases that an RNA strand can fold into."""
    n = len(seq)
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + _match(seq[i], seq[j]))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def edit_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    table[:, 0] = np.arange(len(a) + 1)
    table[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table[len(a), len(b)]


def longest_common(a, b):
    """The longest common subsequence: its length, and itself, walked back from the end."""
    rows, columns = a.shape[0], b.shape[0]
    length = np.zeros((rows + 1, columns + 1), dtype=np.int64)
    for i in range(rows):
        for j in range(columns):
            if a[i] == b[j]:
                length[i + 1, j + 1] = length[i, j] + 1
            else:
                length[i + 1, j + 1] = max(length[i + 1, j], length[i, j + 1])
    found = np.full(min(rows, columns), -1)
    i, j, place = rows, columns, length[-1, -1]
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            place -= 1
            found[place] = a[i - 1]
            i -= 1
            j -= 1
        elif length[i - 1, j] >= length[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return length[rows, columns], found


def knapsack(values, weights, capacity):
    """One row, filled from the end by slices."""
    best = np.zeros(capacity + 1, dtype=values.dtype)
    for i in range(len(values)):
        w = weights[i]
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + values[i])
    return best


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def floyd_warshall_by_loops(distance):
    n = len(distance)
    distance = distance.copy()
    following = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        following[i, :] = np.arange(n)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = distance[i, k] + distance[k, j]
                if through < distance[i, j]:
                    distance[i, j] = through
                    following[i, j] = following[i, k]
    return distance, following


def viterbi(start, transition, emission, seen):
    """The likeliest states of a hidden Markov chain, in logarithms."""
    steps, states = len(seen), len(start)
    score = np.zeros((steps, states))
    came = np.zeros((steps, states), dtype=np.int64)
    score[0] = start + emission[:, seen[0]]
    for t in range(1, steps):
        for s in range(states):
            through = score[t - 1] + transition[:, s]
            came[t, s] = np.argmax(through)
            score[t, s] = through[came[t, s]] + emission[s, seen[t]]
    path = np.zeros(steps, dtype=np.int64)
    path[-1] = np.argmax(score[-1])
    for t in range(steps - 2, -1, -1):
        path[t] = came[t + 1, path[t + 1]]
    return path, score[-1, path[-1]]


def time_warping(a, b):
    cost = np.full((len(a) + 1, len(b) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost[i, j] = abs(a[i - 1] - b[j - 1]) + np.min([cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1]])
    return cost[-1, -1]


def matrix_chain(sizes):
    """The fewest multiplications for a product of many matrices."""
    n = len(sizes) - 1
    cost = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = np.iinfo(np.int64).max
            for k in range(i, j):
                here = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if here < best:
                    best = here
            cost[i, j] = best
    return cost[0, n - 1]


def ways_to_pay(coins, amount):
    ways = np.zeros(amount + 1, dtype=np.int64)
    ways[0] = 1
    for coin in coins:
        for total in range(coin, amount + 1):
            ways[total] += ways[total - coin]
    return ways


def _chain(random, n):
    transition, emission = np.log(random.random((3, 3))), np.log(random.random((3, 4)))
    return np.log(random.random(3)), transition, emission, random.integers(0, 4, n)


PROGRAMS = [
    Program(nussinov, lambda random, n: (random.integers(0, 4, n),)),
    Program(edit_distance, lambda random, n: (random.integers(0, 4, n), random.integers(0, 4, n + 2))),
    Program(longest_common, lambda random, n: (random.integers(0, 3, n), random.integers(0, 3, n + 1))),
    Program(knapsack, lambda random, n: (random.integers(1, 50, n), random.integers(1, n, n), 3 * n)),
    Program(floyd_warshall, lambda random, n: (random.integers(1, 100, (n, n)),), changes=("path",)),
    Program(floyd_warshall_by_loops, lambda random, n: (random.random((n, n)),)),
    Program(viterbi, _chain),
    Program(time_warping, lambda random, n: (random.random(n), random.random(n + 2))),
    Program(matrix_chain, lambda random, n: (random.integers(2, 30, n),)),
    Program(ways_to_pay, lambda random, n: (np.array([1, 2, 5, 10]), 4 * n)),
]
