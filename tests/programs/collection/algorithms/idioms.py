"""Python as people write it around arrays: for-else, zip, closures, comprehensions, early returns, star unpacking."""

import math

import numpy as np

from collection.numpy_program import Program


def find_pair(values, wanted):
    """The first two places whose values add up to what is wanted."""
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            if values[i] + values[j] == wanted:
                return i, j
    return -1, -1


def prime_factors(n):
    """The greatest prime factor, and how many there are."""
    count = 0
    greatest = 1
    p = 2
    while p * p <= n:
        while n % p == 0:
            n //= p
            count += 1
            greatest = p
        p += 1
    if n > 1:
        count += 1
        greatest = n
    return greatest, count


def gaps_without_primes(limit):
    """For each even number the least prime that leaves a prime: Goldbach's, by for and else."""
    found = np.zeros(limit, dtype=np.int64)
    for n in range(4, limit, 2):
        for p in range(2, n):
            for d in range(2, p):
                if p % d == 0:
                    break
            else:
                rest = n - p
                prime = rest > 1
                for d in range(2, rest):
                    if rest % d == 0:
                        prime = False
                        break
                if prime:
                    found[n] = p
                    break
    return found


def dot_products(rows, other):
    """With zip over rows, and a list of results."""
    return np.array([np.dot(a, b) for a, b in zip(rows, other, strict=True)])


def weighted_layers(x):
    """Layers in a list of dictionaries, options in a closure."""
    layers = [{"scale": 0.5 + k, "shift": k / 3, "power": k % 2 == 0} for k in range(4)]

    def apply(value, layer, limit=10.0):
        value = layer["scale"] * value + layer["shift"]
        return np.minimum(value**2 if layer["power"] else value, limit)

    for layer in layers:
        x = apply(x, layer)
    first, *others = [apply(x, layer, limit=5.0) for layer in layers]
    return first + sum(others)


def clamp_chain(values, low, high):
    """Chained comparisons, and both kinds of choice."""
    out = np.empty_like(values)
    inside = 0
    for k in range(values.size):
        v = values[k]
        if low <= v < high:
            inside += 1
            out[k] = v
        elif v < low and not (v == -9 or v == -8):
            out[k] = low - (0.5 if v < 2 * low else 0.25)
        else:
            out[k] = high
    return out, inside


def reversed_sums(matrix):
    """Sums from the back, along both diagonals, by reversed ranges."""
    n = len(matrix)
    total = 0.0
    anti = 0.0
    tails = np.zeros(n)
    for i in reversed(range(n)):
        total += matrix[i, i]
        anti += matrix[i, n - 1 - i]
        tails[i] = total
    return tails, anti


def bouncing_counter(steps):
    """A closure that writes into arrays of the function around it."""
    visits = np.zeros(8, dtype=np.int64)
    state = np.array([0, 1])

    def move():
        if state[0] + state[1] > 7 or state[0] + state[1] < 0:
            state[1] = -state[1]
        state[0] += state[1]
        visits[state[0]] += 1

    for _ in range(steps):
        move()
    return visits


def first_above(values, limit):
    """The first value above a limit: a while with two conditions, and a default."""
    i = 0
    while i < len(values) and values[i] <= limit:
        i += 1
    return (i, values[i]) if i < len(values) else (-1, math.nan)


def two_sums(values):
    """Compensated and plain sums side by side, unpacked together."""
    total = plain = carry = 0.0
    for x in values:
        y = x - carry
        t = total + y
        carry, total = (t - total) - y, t
        plain += x
    return total, plain


def spiral(n):
    """A square filled from outside in; directions in a tuple of tuples."""
    out = np.full((n, n), -1)
    ways = ((0, 1), (1, 0), (0, -1), (-1, 0))
    steps = np.array(ways)
    row, column, way = 0, 0, 0
    for k in range(n * n):
        out[row, column] = k
        r, c = row + steps[way, 0], column + steps[way, 1]
        if not (0 <= r < n and 0 <= c < n) or out[r, c] >= 0:
            way = (way + 1) % len(ways)
            r, c = row + steps[way, 0], column + steps[way, 1]
        row, column = r, c
    return out


PROGRAMS = [
    Program(find_pair, lambda random, n: (random.integers(0, 50, n), 60)),
    Program(prime_factors, lambda random, n: (n * 9973 * 4,)),
    Program(gaps_without_primes, lambda random, n: (3 * n,)),
    Program(dot_products, lambda random, n: (random.random((n, 5)), random.random((n, 5))), grows="a list"),
    Program(weighted_layers, lambda random, n: (random.random(n),)),
    Program(clamp_chain, lambda random, n: (random.standard_normal(3 * n), -0.5, 0.8)),
    Program(reversed_sums, lambda random, n: (random.random((n, n)),)),
    Program(bouncing_counter, lambda random, n: (4 * n,)),
    Program(first_above, lambda random, n: (random.random(n), 0.9)),
    Program(two_sums, lambda random, n: (random.random(n) * 1e6,)),
    Program(spiral, lambda random, n: (n,), sizes=(5, 8)),
]
