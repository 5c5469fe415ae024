"""How long derivatives of one order after the other take until their first result, in a process that does nothing else.

``python orders_of_derivatives.py NAME`` prints the seconds of the orders of one function.
"""

import gc
import json
import sys
import time

import numpy as np

import nxkernel as nx

ORDERS = 4
NUMBER, VECTOR = 1.3, np.linspace(0.1, 0.9, 5)


def first(x):
    for _ in range(3):
        x = x * nx.tanh(x)
    return x


def continued(x):
    i = 0
    s = x
    while i < 10:
        i += 1
        if s > 3.0:
            s = s * 0.5
            continue
        s = s * nx.sin(s) + x
    return s


def counted(x):
    s = x
    for i in range(20):
        s = s * nx.sin(s) * 0.5 + x * i * 0.125
    return s


def nested(x):
    s = x
    for _ in range(8):
        for _ in range(5):
            s = s * nx.cos(s) + x
    return s


def two_states(x):
    i = 0
    s, t = x, x * 0.5
    while i < 10 and s < 100.0:
        i += 1
        if t > 3.0:
            t = t * 0.5
            continue
        s = s + nx.sin(t) * x
        t = t * nx.cos(s) + 0.1
    return s * t


def two_loops(x):
    s = x
    for _ in range(7):
        s = s * nx.sin(s) + x
    t = s
    for _ in range(5):
        t = t * nx.cos(s * t) + x
    return t


def straight(x):
    return nx.tanh(nx.sin(x) * x + nx.exp(-x * x)) * nx.log(1 + x * x)


def sides(x):
    if x > 0.5:
        y = nx.sin(x) * x
    else:
        y = nx.cos(x) + x
    return y * x


def elements(x):
    s = x
    for i in range(6):
        s = nx.tanh(s * x[i % 5]) + x
    return s.sum()


def pairs(x):
    t = 0.0
    for i in range(5):
        for j in range(5):
            t = t + x[i] * x[j] * nx.sin(x[i] - x[j])
    return t


def bounded(x):
    s, i = x, 0
    while i < 8 and s.sum() < 30.0:
        i += 1
        s = s * s * 0.5 + x + 1.0
    return nx.log(s).sum()


def products(x):
    s = nx.outer(x, x)
    for _ in range(4):
        s = nx.dot(s, s) * 0.1 + nx.sin(s)
    return s.sum()


def loop_in_side(x):
    if x.sum() > 0:
        s = x
        for _ in range(4):
            s = s * nx.cos(s)
    else:
        s = x * 2
    return (s * x).sum()


def normalized(x):
    y = nx.exp(x) / nx.exp(x).sum()
    return nx.log(y[0]) * nx.logsumexp(x)


def rows(x):
    s = x[0]
    for v in x:
        s = s * nx.sin(v) + v
    return s


def sorted_sums(x):
    y = nx.cumulative_sum(x) * x
    return (nx.sort(y) * nx.reverse(y)).sum()


def volume(x):
    y = x.reshape((5, 1)) * x
    return nx.linalg.determinant(nx.dot(y, y) + nx.eye(5))


OF_NUMBERS = [continued, counted, nested, two_states, two_loops, straight, sides]
OF_VECTORS = [elements, pairs, bounded, products, loop_in_side, normalized, rows, sorted_sums, volume]


def further(function, x):
    """The next derivative: of a number by a number, or of a weighted sum by a vector."""
    if np.ndim(x) == 0:
        return nx.grad(function)
    weights = nx.tensor([1.0, 0.5, 0.3, 0.2, 0.1])
    return nx.grad(nx.defn(lambda x: (function(x) * weights).sum()))


def seconds(function, x):
    """What each order of a function's derivatives takes until its first result."""
    found = []
    derivative = nx.grad(nx.defn(function))
    for order in range(ORDERS):
        if order:
            derivative = further(derivative, x)
        gc.collect()
        begin = time.perf_counter()
        derivative(x)
        found.append(time.perf_counter() - begin)
    return found


if __name__ == "__main__":
    # What is imported and made once for all is no part of an order.
    nx.grad(nx.defn(lambda x: (x * x).sum()))(VECTOR)
    nx.grad(nx.defn(first))(NUMBER)
    name = sys.argv[1]
    one = globals()[name]
    gc.disable()
    print(json.dumps(seconds(one, NUMBER if one in OF_NUMBERS else VECTOR)))
