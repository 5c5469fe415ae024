"""Transforms by hand: Fourier, Walsh, Haar, cosine."""

import numpy as np

from collection.numpy_program import Program


def slow_fourier(x):
    n = x.shape[0]
    k = np.arange(n)
    return np.exp(-2j * np.pi * k * k.reshape((n, 1)) / n) @ x


def fourier_by_bits(x):
    """Radix two in place: order by reversed bits, then butterflies, all by loops."""
    n = len(x)
    a = x.astype(np.complex128)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            kept = a[i]
            a[i] = a[j]
            a[j] = kept
    length = 2
    while length <= n:
        half = length // 2
        turn = np.exp(-2j * np.pi / length)
        for start in range(0, n, length):
            w = 1 + 0j
            for k in range(half):
                even = a[start + k]
                odd = w * a[start + k + half]
                a[start + k] = even + odd
                a[start + k + half] = even - odd
                w *= turn
        length *= 2
    return a


def stockham(steps, radix, x, y):
    """Stockham's transform of radix**steps numbers: reshapes, twiddles and small transforms."""
    n = radix**steps
    small = np.arange(radix)
    matrix = np.exp(-2j * np.pi * np.outer(small, small) / radix)
    y[:] = x[:]
    for i in range(steps):
        left, right = radix**i, radix ** (steps - i - 1)
        turns = np.exp(-2j * np.pi * np.outer(small, np.arange(left)) / (radix * left))
        shuffled = np.reshape(y, (radix, right, left))
        twisted = shuffled * np.reshape(turns, (radix, 1, left))
        mixed = matrix @ np.reshape(twisted, (radix, n // radix))
        y[:] = np.reshape(np.transpose(np.reshape(mixed, (radix, right, left)), (1, 0, 2)), (n,))


def fast_by_reshapes(x):
    """Starts from many small transforms, joins them two by two."""
    n = x.shape[0]
    smallest = min(n, 4)
    k = np.arange(smallest)
    result = np.exp(-2j * np.pi * k * k[:, None] / smallest) @ x.reshape((smallest, -1))
    while result.shape[0] < n:
        even = result[:, : result.shape[1] // 2]
        odd = result[:, result.shape[1] // 2 :]
        turns = np.exp(-1j * np.pi * np.arange(result.shape[0]) / result.shape[0])[:, None]
        result = np.vstack([even + turns * odd, even - turns * odd])
    return result.ravel()


def walsh_hadamard(a):
    h = 1
    while h < len(a):
        for i in range(0, len(a), 2 * h):
            for j in range(i, i + h):
                x = a[j]
                y = a[j + h]
                a[j] = x + y
                a[j + h] = x - y
        h *= 2
    return a


def haar(signal, levels):
    """Averages and differences, on a shorter and shorter front part."""
    out = signal.copy()
    length = len(signal)
    for _ in range(levels):
        half = length // 2
        front = out[:length].copy()
        out[:half] = (front[0::2] + front[1::2]) / np.sqrt(2)
        out[half:length] = (front[0::2] - front[1::2]) / np.sqrt(2)
        length = half
    return out


def cosine(x):
    n = len(x)
    out = np.zeros(n)
    for k in range(n):
        for i in range(n):
            out[k] += 2 * x[i] * np.cos(np.pi * k * (2 * i + 1) / (2 * n))
    return out


def goertzel(signal, frequency):
    """The power at one frequency."""
    coefficient = 2 * np.cos(2 * np.pi * frequency)
    before, last = 0.0, 0.0
    for sample in signal:
        before, last = last, sample + coefficient * last - before
    return last * last + before * before - coefficient * last * before


def _complex(random, n):
    return random.random(n) + 1j * random.random(n)


PROGRAMS = [
    Program(slow_fourier, lambda random, n: (_complex(random, n),), tolerance=1e-9),
    Program(fourier_by_bits, lambda random, n: (random.random(n),), sizes=(8, 32)),
    Program(
        stockham,
        lambda random, n: (n, 3, _complex(random, 3**n), np.zeros(3**n, np.complex128)),
        sizes=(2, 4),
        changes=("y",),
        grows="every step has other shapes",
    ),
    Program(
        fast_by_reshapes, lambda random, n: (random.random(n),), sizes=(8, 64), grows="every step has other shapes"
    ),
    Program(walsh_hadamard, lambda random, n: (random.integers(-9, 9, n),), sizes=(8, 32), changes=("a",)),
    Program(haar, lambda random, n: (random.random(2**n), n - 1), sizes=(3, 5), grows="every level has other shapes"),
    Program(cosine, lambda random, n: (random.random(n),)),
    Program(goertzel, lambda random, n: (np.sin(np.arange(4 * n)), 0.15)),
]
