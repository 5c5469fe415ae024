"""Images, fields and histograms: masks, places computed from data, counts."""

import numpy as np

from collection.numpy_program import Program


def azimuthal_by_masks(data, radius, rings):
    """The mean of an image in rings around its centre."""
    farthest = radius.max()
    result = np.zeros(rings)
    for i in range(rings):
        r1 = farthest * i / rings
        r2 = farthest * (i + 1) / rings
        mask = np.logical_and((r1 <= radius), (radius < r2))
        result[i] = data[mask].mean()
    return result


def azimuthal_by_histograms(data, radius, rings):
    counts = np.histogram(radius, rings)[0]
    sums = np.histogram(radius, rings, weights=data)[0]
    return sums / counts


def histogram_by_loop(values, bins, low, high):
    counts = np.zeros(bins, dtype=np.int64)
    width = (high - low) / bins
    for x in values:
        if x < low or x > high:
            continue
        place = int((x - low) / width)
        if place == bins:
            place -= 1
        counts[place] += 1
    return counts


def equalized(image):
    """An image whose grey values are spread evenly."""
    counts = np.bincount(image.ravel(), minlength=256)
    below = np.cumsum(counts)
    first = below[below > 0].min()
    table = np.round((below - first) / (image.size - first) * 255).astype(np.uint8)
    return table[image]


def life(board, generations):
    """The game of life on a torus."""
    for _ in range(generations):
        around = np.zeros(board.shape, dtype=np.int64)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy or dx:
                    around += np.roll(np.roll(board, dy, axis=0), dx, axis=1)
        board = ((around == 3) | ((board == 1) & (around == 2))).astype(np.int64)
    return board


def bilinear(image, y, x):
    """An image between its pixels."""
    rows, columns = image.shape
    y0 = np.clip(np.floor(y).astype(int), 0, rows - 2)
    x0 = np.clip(np.floor(x).astype(int), 0, columns - 2)
    fy, fx = y - y0, x - x0
    top = image[y0, x0] * (1 - fx) + image[y0, x0 + 1] * fx
    bottom = image[y0 + 1, x0] * (1 - fx) + image[y0 + 1, x0 + 1] * fx
    return top * (1 - fy) + bottom * fy


def lookup(x, y, places):
    """Straight lines between points, each place found by halving."""
    out = np.zeros(len(places))
    for i, place in enumerate(places):
        low, high = 0, len(x) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if x[middle] <= place:
                low = middle
            else:
                high = middle
        t = (place - x[low]) / (x[high] - x[low])
        out[i] = (1 - t) * y[low] + t * y[high]
    return out


def summed_area(image, radius):
    """Means of squares of pixels by a table of sums."""
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    table[1:, 1:] = image.cumsum(axis=0).cumsum(axis=1)
    side = 2 * radius + 1
    return (table[side:, side:] - table[:-side, side:] - table[side:, :-side] + table[:-side, :-side]) / side**2


def distance_field(obstacles):
    """Steps to the nearest obstacle: one pass forth, one back."""
    rows, columns = obstacles.shape
    distance = np.where(obstacles, 0, rows + columns)
    for i in range(rows):
        for j in range(columns):
            if i > 0:
                distance[i, j] = min(distance[i, j], distance[i - 1, j] + 1)
            if j > 0:
                distance[i, j] = min(distance[i, j], distance[i, j - 1] + 1)
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            if i < rows - 1:
                distance[i, j] = min(distance[i, j], distance[i + 1, j] + 1)
            if j < columns - 1:
                distance[i, j] = min(distance[i, j], distance[i, j + 1] + 1)
    return distance


def _disc(random, n):
    y, x = np.mgrid[-1 : 1 : 1j * n, -1 : 1 : 1j * n]
    return random.random(n * n), np.sqrt(x * x + y * y).ravel(), 5


def _rays(random, n):
    return random.random((n, n + 1)), random.random(3 * n) * (n - 1), random.random(3 * n) * n


def _lines(random, n):
    x = np.cumsum(0.1 + random.random(n))
    return x, random.random(n), random.uniform(x[0], x[-1], 2 * n)


PROGRAMS = [
    Program(azimuthal_by_masks, _disc),
    Program(azimuthal_by_histograms, _disc),
    Program(histogram_by_loop, lambda random, n: (random.standard_normal(8 * n), n, -1.5, 1.5)),
    Program(equalized, lambda random, n: (random.integers(0, 256, (n, n), dtype=np.uint8),)),
    Program(life, lambda random, n: (random.integers(0, 2, (n, n)), n)),
    Program(bilinear, _rays),
    Program(lookup, _lines),
    Program(summed_area, lambda random, n: (random.random((2 * n, 2 * n)), 2)),
    Program(distance_field, lambda random, n: (random.random((n, n)) < 0.1,)),
]
