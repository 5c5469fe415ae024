"""Sorting, searching and whole numbers, by loops that end when the data say so."""

import numpy as np

from collection.numpy_program import Program


def bubble_sort(a):
    swapped = True
    end = len(a) - 1
    while swapped:
        swapped = False
        for i in range(end):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                swapped = True
        end -= 1
    return a


def insertion_sort(a):
    for i in range(1, len(a)):
        value = a[i]
        j = i - 1
        while j >= 0 and a[j] > value:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = value


def odd_even_sort(a):
    """A sorting network: neighbours compare by slices with steps."""
    a = a.copy()
    n = a.shape[0]
    for step in range(n):
        if step % 2 == 0:
            left, right = a[0 : n - 1 : 2].copy(), a[1:n:2].copy()
            a[0 : n - 1 : 2] = np.minimum(left, right)
            a[1:n:2] = np.maximum(left, right)
        else:
            left, right = a[1 : n - 1 : 2].copy(), a[2:n:2].copy()
            a[1 : n - 1 : 2] = np.minimum(left, right)
            a[2:n:2] = np.maximum(left, right)
    return a


def bitonic_sort(a):
    n = len(a)
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            for i in range(n):
                other = i ^ j
                if other > i:
                    up = (i & k) == 0
                    if (a[i] > a[other]) == up:
                        kept = a[i]
                        a[i] = a[other]
                        a[other] = kept
            j //= 2
        k *= 2
    return a


def sieve(n):
    """How many primes there are below n, and their sum."""
    prime = np.ones(n, dtype=bool)
    prime[:2] = False
    i = 2
    while i * i < n:
        if prime[i]:
            prime[i * i :: i] = False
        i += 1
    return np.sum(prime), np.sum(np.arange(n)[prime])


def first_primes(count):
    """By trial division."""
    found = np.zeros(count, dtype=np.int64)
    total = 0
    candidate = 2
    while total < count:
        is_prime = True
        for k in range(total):
            p = found[k]
            if p * p > candidate:
                break
            if candidate % p == 0:
                is_prime = False
                break
        if is_prime:
            found[total] = candidate
            total += 1
        candidate += 1
    return found


def collatz(limit):
    """The start below a limit whose way to one is longest."""
    best, longest = 1, 1
    for start in range(1, limit):
        n, length = start, 1
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            length += 1
        if length > longest:
            best, longest = start, length
    return best, longest


def common_divisors(a, b):
    """Euclid's algorithm on all pairs at once."""
    a, b = np.abs(a), np.abs(b)
    while np.any(b != 0):
        going = b != 0
        rest = np.where(going, a % np.where(going, b, 1), 0)
        a = np.where(going, b, a)
        b = np.where(going, rest, b)
    return a


def lower_bounds(values, wanted):
    """Where each wanted value would go in a sorted array."""
    places = np.empty(len(wanted), dtype=np.int64)
    for i in range(len(wanted)):
        low, high = 0, len(values)
        while low < high:
            middle = (low + high) // 2
            if values[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = low
    return places


def queens(n):
    """Ways to place queens, counted with bits and a stack of our own."""
    full = (1 << n) - 1
    columns = np.zeros(n + 1, dtype=np.int64)
    left = np.zeros(n + 1, dtype=np.int64)
    right = np.zeros(n + 1, dtype=np.int64)
    free = np.zeros(n + 1, dtype=np.int64)
    free[0] = full
    row, count = 0, 0
    while row >= 0:
        if free[row] == 0:
            row -= 1
            continue
        bit = free[row] & -free[row]
        free[row] ^= bit
        if row == n - 1:
            count += 1
            continue
        columns[row + 1] = columns[row] | bit
        left[row + 1] = (left[row] | bit) << 1
        right[row + 1] = (right[row] | bit) >> 1
        free[row + 1] = full & ~(columns[row + 1] | left[row + 1] | right[row + 1])
        row += 1
    return count


PROGRAMS = [
    Program(bubble_sort, lambda random, n: (random.random(n),), changes=("a",)),
    Program(insertion_sort, lambda random, n: (random.integers(0, 50, n),), changes=("a",)),
    Program(odd_even_sort, lambda random, n: (random.random(n),)),
    Program(bitonic_sort, lambda random, n: (random.random(n),), sizes=(8, 32), changes=("a",)),
    Program(sieve, lambda random, n: (20 * n,)),
    Program(first_primes, lambda random, n: (2 * n,)),
    Program(collatz, lambda random, n: (5 * n,)),
    Program(common_divisors, lambda random, n: (random.integers(1, 999, n), random.integers(1, 999, n))),
    Program(lower_bounds, lambda random, n: (np.sort(random.random(2 * n)), random.random(n))),
    Program(queens, lambda random, n: (n,), sizes=(5, 6)),
]
