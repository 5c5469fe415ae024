"""The programs by NumPy: derivatives by dual numbers of dual numbers, entries one by one, control flow as Python's.

Nothing is recorded and nothing goes backwards, so this has nothing in common with what it is beside.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

_tags = itertools.count(1)


class Dual:
    """A value and how it changes along one direction; both may be dual numbers of older directions.

    Parameters
    ----------
    tag : int
        Of the direction, newer ones have greater numbers.
    value, tangent : ndarray or Dual
    """

    __array_priority__ = 1000

    def __init__(self, tag, value, tangent):
        self.tag, self.value, self.tangent = tag, value, tangent

    def __add__(self, other):
        return add(self, other)

    def __radd__(self, other):
        return add(other, self)

    def __sub__(self, other):
        return add(self, -other)

    def __rsub__(self, other):
        return add(other, -self)

    def __neg__(self):
        return linear(np.negative)(self)

    def __mul__(self, other):
        return multiply(self, other)

    def __rmul__(self, other):
        return multiply(other, self)

    def __truediv__(self, other):
        return multiply(self, reciprocal(other))

    def __rtruediv__(self, other):
        return multiply(other, reciprocal(self))

    def __pow__(self, number):
        return smooth(lambda x: x**number, lambda x: x ** (number - 1) * number)(self)


def known(x):
    """The numbers of a value."""
    while isinstance(x, Dual):
        x = x.value
    return np.asarray(x)


def shape(x):
    return known(x).shape


def apart(x, tag):
    """A value and its change along a direction, which is None for nothing."""
    return (x.value, x.tangent) if isinstance(x, Dual) and x.tag == tag else (x, None)


def newest(*values):
    return max([x.tag for x in values if isinstance(x, Dual)], default=0)


def linear(function):
    """A linear function of arrays, of dual numbers."""

    def of(*values):
        tag = newest(*values)
        if not tag:
            return function(*values)
        parts = [apart(x, tag) for x in values]
        zeros = [np.zeros(shape(x)) if t is None else t for x, t in parts]
        return Dual(tag, of(*[x for x, _ in parts]), of(*zeros))

    return of


def smooth(function, slope):
    """A function of elements, and its derivative as one of these functions."""

    def of(x):
        return Dual(x.tag, of(x.value), multiply(slope(x.value), x.tangent)) if isinstance(x, Dual) else function(x)

    return of


def product(function):
    """A function that is linear in each of two values."""

    def of(a, b):
        tag = newest(a, b)
        if not tag:
            return function(np.asarray(a), np.asarray(b))
        (a, da), (b, db) = apart(a, tag), apart(b, tag)
        ways = [of(da, b)] if da is not None else []
        ways += [of(a, db)] if db is not None else []
        return Dual(tag, of(a, b), ways[0] if len(ways) == 1 else add(*ways))

    return of


add = linear(lambda a, b: np.asarray(a) + np.asarray(b))
multiply = product(np.multiply)
matmul = product(np.matmul)
reciprocal = smooth(lambda x: 1 / np.asarray(x), lambda x: -(reciprocal(x) * reciprocal(x)))
square = smooth(np.square, lambda x: 2.0 * x)
sin = smooth(np.sin, lambda x: cos(x))
cos = smooth(np.cos, lambda x: -sin(x))
exp = smooth(np.exp, lambda x: exp(x))
log = smooth(np.log, reciprocal)
sqrt = smooth(np.sqrt, lambda x: 0.5 * reciprocal(sqrt(x)))
tanh = smooth(np.tanh, lambda x: 1.0 - square(tanh(x)))
atan = smooth(np.arctan, lambda x: reciprocal(1.0 + square(x)))
sigmoid = smooth(lambda x: 1 / (1 + np.exp(-x)), lambda x: sigmoid(x) * (1.0 - sigmoid(x)))
erf = smooth(np.vectorize(math.erf, otypes=[float]), lambda x: exp(-square(x)) * (2 / math.sqrt(math.pi)))
absolute = smooth(np.abs, lambda x: np.sign(known(x)))


def constant(numbers, shape):
    return np.array(numbers).reshape(shape)


def less(a, b):
    return known(a) < known(b)


def where(mask, a, b):
    return linear(lambda a, b: np.where(mask, a, b))(a, b)


def maximum(a, b):
    return _one_of(known(a) > known(b), a, b)


def minimum(a, b):
    return _one_of(known(a) < known(b), a, b)


def _one_of(first, a, b):
    """One of two values, and where they are the same both of them, by halves."""
    return where(known(a) == known(b), multiply(0.5, add(a, b)), where(first, a, b))


def atan2(a, b):
    """Of a positive second value."""
    return atan(a / b) if isinstance(b, Dual) else atan(multiply(a, 1 / np.asarray(b)))


def stop_grad(x):
    return known(x)


def total(x, axes):
    return linear(lambda x: np.sum(x, axis=axes))(x)


def mean(x, axes):
    return linear(lambda x: np.mean(x, axis=axes))(x)


def reduce_max(x, axes):
    """Over all axes; several that are the same count by parts."""
    greatest = known(x) == np.max(known(x))
    return total(multiply(greatest / np.sum(greatest), x), axes)


def log_sum_exp(x, axes):
    return log(total(exp(x), axes))


def element(x, places):
    return linear(lambda x: np.asarray(x)[tuple(places)])(x)


def reverse(x, axis):
    return linear(lambda x: np.flip(x, axis))(x)


def cumulative_sum(x, axis):
    return linear(lambda x: np.cumsum(x, axis))(x)


def sort(x, axis):
    order = np.argsort(known(x), axis=axis, kind="stable")
    return linear(lambda x: np.take_along_axis(np.asarray(x), order, axis))(x)


def concatenate(parts):
    return linear(lambda *parts: np.concatenate(parts))(*parts)


def stack(parts, axis=0):
    return linear(lambda *parts: np.stack(parts, axis))(*parts)


def transpose(x):
    return linear(np.transpose)(x)


def move(x, axis):
    return linear(lambda x: np.moveaxis(x, 0, axis))(x)


def reshape(x, shape):
    return linear(lambda x: np.reshape(x, shape))(x)


def take(x, places):
    return linear(lambda x: np.asarray(x)[places])(x)


def put(x, place, row):
    rows = [row if k == place else element(x, (k,)) for k in range(shape(x)[0])]
    return stack(rows)


def part(x, start, stop):
    return linear(lambda x: np.asarray(x)[start:stop])(x)


# Transformations -----------------------------------------------------------------------------------------------------


def jvp(function, x, tangent):
    tag = next(_tags)
    value, change = apart(function(Dual(tag, x, tangent)), tag)
    return np.zeros(shape(value)) if change is None else change


def jacobian(function):
    def of(x):
        own = shape(x)
        basis = np.eye(math.prod(own)).reshape(-1, *own)
        columns = stack([jvp(function, x, way) for way in basis], -1)
        return reshape(columns, (*shape(columns)[:-1], *own))

    return of


linearize, jacfwd, jacrev = jvp, jacobian, jacobian


def grad(function):
    return jacobian(function)


def hessian(function):
    return jacobian(jacobian(function))


def value_plus_grad(function):
    return lambda x: function(x) + grad(function)(x)


def vjp(function, x, cotangent):
    slopes = jacobian(function)(x)
    rank = len(shape(slopes)) - len(shape(x))
    wide = reshape(cotangent, (*shape(cotangent), *(1,) * len(shape(x))))
    return total(multiply(wide, slopes), tuple(range(rank)))


def checkpoint(function):
    return function


def custom_grad(value, slope, x):
    return smooth(value, slope)(x)


def vmap(function, in_axes, out_axes):
    def of(*arguments):
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(arguments)
        size = next(shape(x)[axis] for x, axis in zip(arguments, axes, strict=True) if axis is not None)

        def entry(k):
            return [
                x if axis is None else linear(lambda x, axis=axis: np.take(x, k, axis))(x)
                for x, axis in zip(arguments, axes, strict=True)
            ]

        return stack([function(*entry(k)) for k in range(size)], out_axes)

    return of


def cond(predicate, then, otherwise, x):
    return then(x) if predicate else otherwise(x)


def while_(most, condition, turn, x):
    for _ in range(most):
        if not condition(x):
            break
        x = turn(x)
    return x


def fori(turns, turn, x):
    for k in range(turns):
        x = turn(k + 0.375, x)
    return x


def scan(step, x, rows, backwards):
    """The states after each step."""
    places, found = range(shape(rows)[0]), {}
    for k in reversed(places) if backwards else places:
        x = found[k] = step(element(rows, (k,)), x)
    return stack([found[k] for k in places])


def run(function, values, lanes):
    """What a function gives for values, for one lane after the other where there are such."""
    if not lanes:
        return known(function(*values))
    return np.stack([known(function(*entry)) for entry in zip(*values, strict=True)])
