"""Samplers of counts: the Poisson, binomial and multinomial distributions.

References
----------
W. Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance: Mathematics and
Economics 12, 1993, and "The generation of binomial random variates", Journal of Statistical Computation and Simulation
46, 1993.
"""

from __future__ import annotations

import math
from typing import Any

from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.comparison import (
    equal,
    greater,
    greater_equal,
    is_infinity,
    is_nan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    select,
)
from nxkernel.ops.arithmetic.elementary import log, log1p, sqrt
from nxkernel.ops.arithmetic.elementwise import abs, ceil, clip, floor
from nxkernel.ops.machinery.dispatch import convert, filled, operand, spread
from nxkernel.ops.programs.control_flow import run_while
from nxkernel.ops.reductions.cumulative import cumulative_sum
from nxkernel.ops.reductions.reduction import any
from nxkernel.ops.shapes.gathering import take
from nxkernel.ops.shapes.indexing import put_slice
from nxkernel.ops.shapes.shaping import new_axis, transpose
from nxkernel.ops.tensors.creation import tensor
from nxkernel.random.bit_stream import KeyWords, advance, key_of_each, pair_of, subkeys
from nxkernel.random.distributions import Names
from nxkernel.random.sampler_options import count_drawn, named, parameter, real_drawn, shape_drawn, uniforms
from nxkernel.tensor.tensor import Tensor

__all__ = ["binomial", "multinomial", "poisson"]

#: What Stirling's formula leaves of log(k!), for k from 0 to 9.
_STIRLING = [
    0.08106146679532726, 0.041340695955409294, 0.02767792568499834, 0.020790672103765093, 0.016644691189821193,
    0.013876128823070748, 0.011896709945891770, 0.010411265261972096, 0.009255462182712733, 0.008330563433362871,
]  # fmt: skip


def poisson(
    key: Any, lam: Any, *, shape: Any = None, type: Any = "s64", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Poisson distribution: how often something happens that happens `lam` times on average.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    lam : number or tensor
        The mean. Where it is negative, infinite or NaN the result is -1.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        Of integers, or of floats that hold them.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For complex numbers and bool.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    As ``jax.random.poisson``, in f32: up to 10 by products of uniform floats, from there on by rejection, whose test
    is exact for large means, too.

    Examples
    --------
    >>> x, key = nx.random.poisson(nx.random.key(7), 4.0, shape=(1000,))
    >>> round(nx.mean(x).to_number(), 1)
    4.0
    """
    pair, following = advance(pair_of(key))
    shape, type_ = shape_drawn("poisson", shape, lam=lam), count_drawn("poisson", type)
    real_drawn("poisson", None, lam)
    rate = parameter(lam, types.f32, shape)
    few = logical_or(is_nan(rate), less(rate, 10))
    counts = select(few, _few_events(pair, rate, few), _many_events(pair, rate, few))
    return named(
        convert(
            select(equal(rate, 0), _constant(0, rate), select(is_infinity(rate), _constant(-1, rate), counts)), type_
        ),
        names,
    ), following


def _constant(value: float, like: Operand) -> Operand:
    return filled(value, like.type, like.shape)


def _few_events(pair: KeyWords, rate: Operand, few: Operand) -> Operand:
    """How many uniform floats have a product above exp(-rate): Knuth's algorithm."""
    rate = select(few, rate, _constant(0, rate))

    def going_on(state: Any) -> Operand:
        return any(greater(state[3], -rate))

    def draw(state: Any) -> list[Operand]:
        own, now = subkeys(KeyWords(*state[:2]), 2)
        count, total = state[2:]
        count = select(greater(total, -rate), count + 1, count)
        return [*own, count, total + log(uniforms(now, rate.shape, types.f32))]

    state = [*pair, _constant(0, rate), _constant(0, rate)]
    return run_while(state, going_on, draw, ["key", "key'", "count", "total"])[2] - 1


def _many_events(pair: KeyWords, rate: Operand, few: Operand) -> Operand:
    """Transformed rejection."""
    rate = select(logical_or(few, is_infinity(rate)), _constant(1e5, rate), rate)
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse, most = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)

    def attempt(u: Operand, v: Operand) -> tuple[Operand, Operand]:
        shifted = 0.5 - abs(u)
        k = floor((2 * a / shifted + b) * u + rate + 0.43)
        none = logical_or(less(k, 0), logical_and(less(shifted, 0.013), greater(v, shifted)))
        at = select(less(k, 0), _constant(0, k), k)
        # The logarithm of the probability; of k log(rate) - rate - log(k!) the great terms are put together.
        logarithm = at * log(rate / (at + 1)) + ((at + 1) - rate) - 0.5 * log(at + 1) - _left_by_stirling(at)
        fits = less_equal(log(v * inverse / (a / (shifted * shifted) + b)), logarithm - 0.5 * math.log(2 * math.pi))
        surely = logical_and(greater_equal(shifted, 0.07), less_equal(v, most))
        return k, logical_or(surely, logical_and(logical_not(none), fits))

    return _by_rejection(pair, attempt, _constant(-1, rate), few)


def _by_rejection(pair: KeyWords, attempt: Any, first: Operand, unused: Operand) -> Operand:
    """Draw pairs of uniform floats, the first one from -1/2 to 1/2, until all numbers made of them were accepted once.

    What stays is the last number that was accepted, and all take part, be they `unused`: as in JAX, whose numbers these
    are. Where all are unused, nothing is drawn.
    """
    wanted = any(logical_not(unused))

    def going_on(state: Any) -> Operand:
        return logical_and(wanted, any(logical_not(state[3])))

    def draw(state: Any) -> list[Operand]:
        own, *now = subkeys(KeyWords(*state[:2]), 3)
        u, v = (uniforms(each, first.shape, first.type) for each in now)
        found, accepted = attempt(u - 0.5, v)
        return [*own, select(accepted, found, state[2]), logical_or(state[3], accepted)]

    state = [*pair, first, filled(False, types.bool_, first.shape)]
    return run_while(state, going_on, draw, ["key", "key'", "found", "done"])[2]


def _left_by_stirling(k: Operand) -> Operand:
    """log(k!) - (k + 1/2) log(k + 1) + (k + 1) - log(2 π) / 2, of whole numbers of at least 0."""
    squared = (k + 1) * (k + 1)
    far = (1 / 12 - (1 / 360 - 1 / 1260 / squared) / squared) / (k + 1)
    near = take(tensor(_STIRLING, type=k.type), convert(clip(k, 0, 9), types.s64))
    return select(less_equal(k, 9), near, far)


def binomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, type: Any = "s64", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the binomial distribution: how many of `n` trials succeed.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    n : number or tensor
        How many trials; fractions are cut off.
    p : number or tensor
        How likely each is to succeed, from 0 to 1. Where it is not, or `n` is negative or infinite, the result is -1.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        Of integers, or of floats that hold them.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For complex numbers and bool.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    As ``jax.random.binomial`` in the type of `p`, f32 for numbers: where few trials succeed, or fail, by waiting times,
    else by rejection.

    Examples
    --------
    >>> x, key = nx.random.binomial(nx.random.key(7), 100, 0.3, shape=(1000,))
    >>> round(nx.mean(x).to_number())
    30
    """
    pair, following = advance(pair_of(key))
    shape, type_ = shape_drawn("binomial", shape, n=n, p=p), count_drawn("binomial", type)
    _, inner = real_drawn("binomial", None, p)
    real_drawn("binomial", None, n)
    drawn = _binomials(pair, parameter(n, inner, shape), parameter(p, inner, shape))
    return named(convert(drawn, type_), names), following


def _binomials(pair: KeyWords, n: Operand, p: Operand) -> Operand:
    wrong = logical_or(logical_not(greater_equal(p, 0)), logical_not(less_equal(p, 1)))
    wrong = logical_or(wrong, logical_or(logical_not(greater_equal(n, 0)), is_infinity(n)))
    n, p = floor(select(wrong, _constant(0, n), n)), select(wrong, _constant(0.5, p), p)
    rare = less(p, 0.5)
    least = select(rare, p, 1 - p)
    few = less_equal(n * least, 10)
    found = select(few, _few_successes(pair, n, least, few), _many_successes(pair, n, least, few))
    return select(wrong, _constant(-1, n), select(rare, found, n - found))


def _few_successes(pair: KeyWords, n: Operand, p: Operand, few: Operand) -> Operand:
    """How many waiting times between successes fit into all trials."""
    n = select(few, n, _constant(0, n))
    none = abs(log1p(-p))

    def going_on(state: Any) -> Operand:
        return any(less_equal(state[3], n))

    def wait(state: Any) -> list[Operand]:
        now, own = subkeys(KeyWords(*state[:2]), 2)
        count, total = state[2:]
        count = select(less_equal(total, n), count + 1, count)
        return [*own, count, total + ceil(abs(log(uniforms(now, n.shape, n.type))) / none)]

    state = [*pair, _constant(0, n), _constant(0, n)]
    return run_while(state, going_on, wait, ["key", "key'", "count", "total"])[2] - 1


def _many_successes(pair: KeyWords, n: Operand, p: Operand, few: Operand) -> Operand:
    """Transformed rejection."""
    n, p = select(few, _constant(1e4, n), n), select(few, _constant(0.5, p), p)
    deviation = sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    odds, middle, mode = p / (1 - p), n * p + 0.5, floor((n + 1) * p)
    alpha, most = (2.83 + 5.1 / b) * deviation, 0.92 - 4.2 / b

    def attempt(u: Operand, v: Operand) -> tuple[Operand, Operand]:
        shifted = 0.5 - abs(u)
        k = floor((2 * a / shifted + b) * u + middle)
        none = logical_or(less(k, 0), greater(k, n))
        at = select(none, mode, k)
        bound = (
            (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * log((n - mode + 1) / (n - at + 1))
            + (at + 0.5) * log(odds * (n - at + 1) / (at + 1))
            + (_left_by_stirling(mode) + _left_by_stirling(n - mode))
            - (_left_by_stirling(at) + _left_by_stirling(n - at))
        )
        fits = less_equal(log(v * alpha / (a / (shifted * shifted) + b)), bound)
        surely = logical_and(greater_equal(shifted, 0.07), less_equal(v, most))
        return k, logical_or(surely, logical_and(logical_not(none), fits))

    return _by_rejection(pair, attempt, _constant(-1, n), few)


def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, type: Any = "s64", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the multinomial distribution: how many of `n` things fall into each category.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    n : number or tensor
        How many things are drawn.
    p : tensor
        How likely each category is, along the last axis; it need not add up to 1.
    shape : tuple of int, optional
        How many draws, over which `n` and `p` without its last axis spread, and whose shape they give when it is not
        given. The result has the last axis of `p` besides.
    type : type, optional
        Of integers, or of floats that hold them.
    names : list of str or None, optional
        For all axes of the result.

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For complex numbers and bool.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    A binomial number of what is left for each category in turn, as ``jax.random.multinomial``, whose `shape` includes
    the categories.

    Examples
    --------
    >>> x, key = nx.random.multinomial(nx.random.key(7), 100, [0.2, 0.3, 0.5], shape=(4,))
    >>> x.shape, nx.sum(x, axes=[1]).to_list()
    ((4, 3), [100, 100, 100, 100])
    """
    pair, following = advance(pair_of(key))
    p, type_ = operand(p, "p"), count_drawn("multinomial", type)
    if not p.rank or not p.shape[-1]:
        raise NxValueError(
            message(
                f"multinomial: p is a vector with a probability for each category, got {p.spec}.",
                "nx.random.binomial(key, n, p) draws how many of n succeed.",
            )
        )
    _, inner = real_drawn("multinomial", None, p)
    real_drawn("multinomial", None, n)
    shape, categories = shape_drawn("multinomial", shape, n=n, p=p[..., 0]), p.shape[-1]
    p, n = parameter(p, inner, (*shape, categories)), parameter(n, inner, shape)
    wrong = logical_or(logical_not(greater_equal(n, 0)), is_infinity(n))
    left = cumulative_sum(p, axis=-1, reverse=True)
    shares = clip(p / select(equal(left, 0), _constant(1, left), left), 0, 1)
    shares = transpose(shares, axes=[len(shape), *range(len(shape))])
    keys = key_of_each(pair, (categories,))

    def fill(state: Any) -> list[Operand]:
        place, rest, found = state
        count = _binomials(KeyWords(keys.first[place], keys.second[place]), rest, shares[place])
        starts = [place, *[0] * len(shape)]
        return [place + 1, rest - count, put_slice(found, starts, new_axis(count, 0))]

    first = floor(select(wrong, _constant(0, n), n))
    state = [filled(0, types.s64, ()), first, filled(0, inner, (categories, *shape))]
    found = run_while(state, lambda state: less(state[0], categories), fill, ["category", "left", "found"])[2]
    found = transpose(select(spread(wrong, found.shape), _constant(-1, found), found), axes=[*range(1, found.rank), 0])
    return named(convert(found, type_), names), following
