"""Filters of signals and images: recursive ones, windows, medians."""

import numpy as np

from collection.numpy_program import Program


def deriche(alpha, image):
    """Smooths with recursive filters that run both ways over rows, then over columns."""
    k = (1.0 - np.exp(-alpha)) * (1.0 - np.exp(-alpha)) / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)
    c1 = c2 = 1

    forth = np.empty_like(image)
    forth[:, 0] = a1 * image[:, 0]
    forth[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * forth[:, 0]
    for j in range(2, image.shape[1]):
        forth[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * forth[:, j - 1] + b2 * forth[:, j - 2]
    back = np.empty_like(image)
    back[:, -1] = 0.0
    back[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        back[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    out = c1 * (forth + back)

    forth[0, :] = a5 * out[0, :]
    forth[1, :] = a5 * out[1, :] + a6 * out[0, :] + b1 * forth[0, :]
    for i in range(2, image.shape[0]):
        forth[i, :] = a5 * out[i, :] + a6 * out[i - 1, :] + b1 * forth[i - 1, :] + b2 * forth[i - 2, :]
    back[-1, :] = 0.0
    back[-2, :] = a7 * out[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        back[i, :] = a7 * out[i + 1, :] + a8 * out[i + 2, :] + b1 * back[i + 1, :] + b2 * back[i + 2, :]
    out[:] = c2 * (forth + back)
    return out


def exponential_average(signal, weight):
    out = np.zeros_like(signal)
    value = signal[0]
    for i in range(signal.size):
        value = weight * signal[i] + (1 - weight) * value
        out[i] = value
    return out


def biquad(signal, b, a):
    """A recursive filter of second order, its memory in two numbers."""
    out = np.empty(len(signal))
    first = second = 0.0
    for n, x in enumerate(signal):
        y = b[0] * x + first
        first = b[1] * x - a[1] * y + second
        second = b[2] * x - a[2] * y
        out[n] = y
    return out


def fir(signal, taps):
    out = np.zeros(len(signal) - len(taps) + 1)
    for k in range(len(taps)):
        out += taps[k] * signal[len(taps) - 1 - k : len(signal) - k]
    return out


def moving_average(signal, width):
    """By a running sum: what comes in minus what goes out."""
    out = np.empty(signal.shape[0] - width + 1)
    total = signal[:width].sum()
    out[0] = total / width
    for i in range(1, out.shape[0]):
        total += signal[i + width - 1] - signal[i - 1]
        out[i] = total / width
    return out


def median_of_three(signal):
    out = signal.copy()
    for i in range(1, len(signal) - 1):
        a, b, c = signal[i - 1], signal[i], signal[i + 1]
        if a > b:
            a, b = b, a
        if b > c:
            b = c
        out[i] = max(a, b)
    return out


def median_image(image):
    """The median of nine neighbours."""
    out = np.zeros_like(image)
    for i in range(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            out[i, j] = np.median(image[i - 1 : i + 2, j - 1 : j + 2])
    return out


def edges(image):
    """Sobel's operator, by sums of shifted images."""
    gx = np.zeros(image.shape)
    gy = np.zeros(image.shape)
    kernel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
    rows, columns = image.shape
    for i in range(3):
        for j in range(3):
            shifted = image[i : rows - 2 + i, j : columns - 2 + j]
            gx[1:-1, 1:-1] += kernel[i, j] * shifted
            gy[1:-1, 1:-1] += kernel.T[i, j] * shifted
    size = np.hypot(gx, gy)
    size *= 255.0 / np.max(size)
    return np.rint(size).astype(np.uint8)


def kalman(measured, drift, noise):
    """A value that wanders, seen through noise; gives estimates and their variances."""
    estimate, variance = measured[0], 1.0
    estimates, variances = np.zeros(len(measured)), np.zeros(len(measured))
    for k, z in enumerate(measured):
        variance = variance + drift
        gain = variance / (variance + noise)
        estimate = estimate + gain * (z - estimate)
        variance = (1 - gain) * variance
        estimates[k], variances[k] = estimate, variance
    return estimates, variances


def bilateral(image, radius, near, alike):
    """Smooths, but not across edges."""
    rows, columns = image.shape
    out = np.zeros_like(image)
    for i in range(rows):
        for j in range(columns):
            total, weights = 0.0, 0.0
            for y in range(max(0, i - radius), min(rows, i + radius + 1)):
                for x in range(max(0, j - radius), min(columns, j + radius + 1)):
                    apart = (i - y) ** 2 + (j - x) ** 2
                    weight = np.exp(-apart / (2 * near**2) - (image[i, j] - image[y, x]) ** 2 / (2 * alike**2))
                    total += weight * image[y, x]
                    weights += weight
            out[i, j] = total / weights
    return out


PROGRAMS = [
    Program(deriche, lambda random, n: (0.25, random.random((n, n + 2), np.float32)), tolerance=1e-4),
    Program(exponential_average, lambda random, n: (random.random(n), 0.2)),
    Program(biquad, lambda random, n: (random.random(n), np.array([0.2, 0.3, 0.1]), np.array([1.0, -0.4, 0.2]))),
    Program(fir, lambda random, n: (random.random(3 * n), random.random(n))),
    Program(moving_average, lambda random, n: (random.random(3 * n), 4)),
    Program(median_of_three, lambda random, n: (random.integers(0, 100, 3 * n),)),
    Program(median_image, lambda random, n: (random.random((n, n)),)),
    Program(edges, lambda random, n: (random.integers(0, 256, (n, n)),)),
    Program(kalman, lambda random, n: (random.standard_normal(n), 0.01, 0.5)),
    Program(bilateral, lambda random, n: (random.random((n, n)), 2, 1.5, 0.3), sizes=(5, 7)),
]
