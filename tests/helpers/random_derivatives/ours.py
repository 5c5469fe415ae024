"""The programs by nxkernel."""

from __future__ import annotations

import nxkernel as nx

sin, cos, tanh, atan, sigmoid, exp, log, sqrt = (
    nx.sin, nx.cos, nx.tanh, nx.atan, nx.sigmoid, nx.exp, nx.log, nx.sqrt,
)  # fmt: skip
absolute, erf, maximum, minimum, less, where, atan2, stop_grad = (
    nx.abs, nx.erf, nx.max, nx.min, nx.less, nx.select, nx.atan2, nx.stop_grad,
)  # fmt: skip
transpose, reshape, concatenate, stack = nx.transpose, nx.reshape, nx.concatenate, nx.stack
grad, jacobian, hessian, checkpoint = nx.grad, nx.jacobian, nx.hessian, nx.checkpoint
jacfwd, jacrev = nx.jacfwd, nx.jacrev


def constant(numbers, shape):
    return nx.reshape(nx.tensor(numbers, type="f64"), shape)


def square(x):
    return x * x


def total(x, axes):
    return nx.sum(x, axes=list(axes))


def mean(x, axes):
    return nx.mean(x, axes=list(axes))


def reduce_max(x, axes):
    return nx.reduce_max(x, axes=list(axes))


def log_sum_exp(x, axes):
    return nx.logsumexp(x, axes=list(axes))


def element(x, places):
    return x[tuple(places)]


def sort(x, axis):
    return nx.sort(x, axis=axis)


def reverse(x, axis):
    return nx.reverse(x, axes=[axis])


def cumulative_sum(x, axis):
    return nx.cumulative_sum(x, axis=axis)


def move(x, axis):
    order = list(range(1, len(x.shape)))
    order.insert(axis, 0)
    return nx.transpose(x, axes=order)


def take(x, places):
    return nx.take(x, nx.tensor(places), axis=0)


def put(x, place, row):
    return nx.put_slice(x, [place, *[0] * (len(x.shape) - 1)], nx.new_axis(row, 0))


def part(x, start, stop):
    return x[start:stop]


def matmul(a, b):
    return nx.dot(a, b)


def value_plus_grad(function):
    def of(x):
        value, slope = nx.value_and_grad(function)(x)
        return value + slope

    return of


def jvp(function, x, tangent):
    return nx.jvp(function, (x,), (tangent,))[1]


def linearize(function, x, tangent):
    return nx.linearize(function, x)[1](tangent)


def vjp(function, x, cotangent):
    return nx.vjp(function, x)[1](cotangent)[0]


def custom_grad(value, slope, x):
    return nx.custom_grad(value(x), [x], lambda g: [g * slope(x)])


def vmap(function, in_axes, out_axes):
    return nx.vmap(function, in_axes=in_axes, out_axes=out_axes)


def cond(predicate, then, otherwise, x):
    return nx.cond(predicate, then, otherwise, x)


def while_(most, condition, turn, x):
    def goes_on(state):
        return nx.logical_and(state[0] < most, condition(state[1]))

    return nx.while_(goes_on, lambda state: (state[0] + 1, turn(state[1])), (0, x))[1]


def fori(turns, turn, x):
    return nx.fori(0, turns, lambda k, x: turn(nx.as_type(k, "f64") + 0.375, x), x)


def scan(step, x, rows, backwards):
    def both(x, row):
        x = step(row, x)
        return x, x

    return nx.scan(both, x, rows, reverse=backwards)[1]
