"""Small neural networks, in single precision."""

import itertools

import numpy as np

from collection.numpy_program import Program


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    high = np.max(x, axis=-1, keepdims=True)
    out = np.exp(x - high)
    return out / np.sum(out, axis=-1, keepdims=True)


def perceptron(x, w1, b1, w2, b2, w3, b3):
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax(x @ w3 + b3)


def _convolved(image, weights):
    size = weights.shape[0]
    count, rows, columns = image.shape[0], image.shape[1] - size + 1, image.shape[2] - size + 1
    out = np.empty((count, rows, columns, weights.shape[3]), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            out[:, i, j, :] = np.sum(
                image[:, i : i + size, j : j + size, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3)
            )
    return out


def convolution_bias(image, weights, bias):
    """Over windows, one place of the result at a time."""
    return _convolved(image, weights) + bias


def _pooled(x):
    out = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def digits_network(image, conv1, bias1, conv2, bias2, w1, b1, w2, b2, count, flat):
    """Two convolutions with pooling, two dense layers."""
    x = relu(_convolved(image, conv1) + bias1)
    x = _pooled(x)
    x = relu(_convolved(x, conv2) + bias2)
    x = _pooled(x)
    x = np.reshape(x, (count, flat))
    x = relu(x @ w1 + b1)
    return x @ w2 + b2


def _normalized(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std**2 + eps)


def residual_block(x, conv1, conv2, conv3):
    """Three convolutions with batch normalization, and a way around them."""
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, conv1.shape[3]), dtype=np.float32)
    padded[:, 1:-1, 1:-1, :] = _convolved(x, conv1)
    y = relu(_normalized(padded))
    y = relu(_normalized(_convolved(y, conv2)))
    y = _normalized(_convolved(y, conv3))
    return relu(y + x)


def attention(x, query, key, value, heads):
    """Each head looks at the words before."""
    words, width = x.shape
    part = width // heads
    q = (x @ query).reshape(words, heads, part).transpose(1, 0, 2)
    k = (x @ key).reshape(words, heads, part).transpose(1, 0, 2)
    v = (x @ value).reshape(words, heads, part).transpose(1, 0, 2)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(part))
    later = np.triu(np.ones((words, words), dtype=bool), 1)
    scores = np.where(later, np.float32(-np.inf), scores)
    return (softmax(scores) @ v).transpose(1, 0, 2).reshape(words, width)


def recurrent(words, wx, wh, bias):
    """A gated recurrent cell along a sequence."""
    hidden = np.zeros(wh.shape[1], dtype=words.dtype)
    states = np.zeros((words.shape[0], wh.shape[1]), dtype=words.dtype)
    for t, word in enumerate(words):
        update = 1 / (1 + np.exp(-(word @ wx[0] + hidden @ wh[0] + bias[0])))
        reset = 1 / (1 + np.exp(-(word @ wx[1] + hidden @ wh[1] + bias[1])))
        candidate = np.tanh(word @ wx[2] + (reset * hidden) @ wh[2] + bias[2])
        hidden = (1 - update) * hidden + update * candidate
        states[t] = hidden
    return states


def logistic_regression(x, y, rate, rounds):
    """Gradient descent, with the gradient by hand; the loss of every round."""
    weights = np.zeros(x.shape[1])
    bias = 0.0
    losses = np.zeros(rounds)
    for i in range(rounds):
        p = 1 / (1 + np.exp(-(x @ weights + bias)))
        losses[i] = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
        error = p - y
        weights -= rate * x.T @ error / len(y)
        bias -= rate * error.mean()
    return weights, bias, losses


def k_means(points, centres, rounds):
    centres = centres.copy()
    for _ in range(rounds):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        label = np.argmin(distance, axis=1)
        for k in range(centres.shape[0]):
            mine = label == k
            if np.any(mine):
                centres[k] = np.sum(points * mine[:, None], axis=0) / np.sum(mine)
    return centres, label


def _floats(random, *shape):
    return (random.random(shape) - 0.5).astype(np.float32)


def _layers(random, n):
    sizes = (n, 2 * n, n + 3, 10)
    layers = [(_floats(random, a, b), _floats(random, b)) for a, b in itertools.pairwise(sizes)]
    return _floats(random, 5, n), *(part for layer in layers for part in layer)


def _digits(random, n):
    side = 4 * n
    inner = ((side - 2) // 2 - 2) // 2
    flat = inner * inner * 5
    return (
        _floats(random, 3, side, side, 1), _floats(random, 3, 3, 1, 4), _floats(random, 4),
        _floats(random, 3, 3, 4, 5), _floats(random, 5), _floats(random, flat, 12), _floats(random, 12),
        _floats(random, 12, 10), _floats(random, 10), 3, flat,
    )  # fmt: skip


def _block(random, n):
    return (
        _floats(random, 4, n, n, 6), _floats(random, 1, 1, 6, 3), _floats(random, 3, 3, 3, 3),
        _floats(random, 1, 1, 3, 6),
    )  # fmt: skip


def _sentence(random, n):
    return _floats(random, n, 12), *(_floats(random, 12, 12) for _ in range(3)), 3


PROGRAMS = [
    Program(softmax, lambda random, n: (_floats(random, 2, n, n + 1),), tolerance=1e-5),
    Program(perceptron, _layers, tolerance=1e-5),
    Program(
        convolution_bias,
        lambda random, n: (_floats(random, 2, n, n, 3), _floats(random, 3, 3, 3, 4), _floats(random, 4)),
        tolerance=1e-5,
    ),
    Program(digits_network, _digits, sizes=(4, 5), tolerance=1e-5),
    Program(residual_block, _block, sizes=(6, 9), tolerance=1e-3),
    Program(attention, _sentence, tolerance=1e-5),
    Program(
        recurrent,
        lambda random, n: (
            _floats(random, n, 4),
            _floats(random, 3, 4, 5),
            _floats(random, 3, 5, 5),
            _floats(random, 3, 5),
        ),
        tolerance=1e-5,
    ),
    Program(logistic_regression, lambda random, n: (random.random((4 * n, 3)), random.integers(0, 2, 4 * n), 0.5, n)),
    Program(k_means, lambda random, n: (random.random((4 * n, 2)), random.random((3, 2)), 5)),
]
