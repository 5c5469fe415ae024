"""Gamma numbers by rejection, each with a key of its own, and their gradient by the parameter.

References
----------
G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical
Software 26, 2000. M. Figurnov, S. Mohamed and A. Mnih, "Implicit reparameterization gradients", NeurIPS 2018.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes

from nxkernel import types
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.comparison import (
    equal,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    select,
)
from nxkernel.ops.arithmetic.elementary import exp, log, log1p, sqrt
from nxkernel.ops.arithmetic.elementwise import max, pow
from nxkernel.ops.machinery.dispatch import convert, filled
from nxkernel.ops.programs.control_flow import run_while
from nxkernel.ops.programs.own_gradients import with_gradient
from nxkernel.ops.reductions.reduction import any
from nxkernel.random.bit_stream import KeyWords, key_of_each, subkeys
from nxkernel.random.sampler_options import normal_of_each, uniform_of_each
from nxkernel.types import Type

#: Parameters from which on the derivative is that of an expansion for large ones.
_LARGE = 1e4


def gammas(pair: KeyWords, a: Operand, type_: Type) -> Operand:
    """Numbers of the gamma distribution.

    Parameters
    ----------
    pair : KeyWords
    a : operand
        A parameter for each, of `type_`.
    type_ : Type
        A float type to compute in.
    """
    keys, scale, accepted = _accepted(pair, a, type_)
    whole = greater_equal(a, 1)
    boost = select(whole, filled(1, type_, a.shape), pow(1 - uniform_of_each(keys, type_), 1 / a))
    drawn = scale * accepted * boost
    least = float(ml_dtypes.finfo(type_.dtype).smallest_normal)
    return with_gradient(drawn, a, lambda g: g * drawn * _log_derivative(a, log(max(drawn, least))))


def log_gammas(pair: KeyWords, a: Operand, type_: Type) -> Operand:
    """Logarithms of numbers of the gamma distribution; parameters as those of :func:`gammas`."""
    keys, scale, accepted = _accepted(pair, a, type_)
    boost = log1p(-uniform_of_each(keys, type_))
    none = logical_or(greater_equal(a, 1), equal(boost, 0))
    boost = select(none, filled(0, type_, a.shape), boost * (1 / a))
    drawn = log(scale) + log(accepted) + boost
    return with_gradient(drawn, a, lambda g: g * _log_derivative(a, drawn))


def _accepted(pair: KeyWords, a: Operand, type_: Type) -> tuple[KeyWords, Operand, Operand]:
    """Keys to go on with, and two numbers whose product is a gamma number of `a`, or of a + 1 where a is below 1."""
    scale = select(greater_equal(a, 1), a, a + 1) - 1 / 3
    width = (1 / 3) / sqrt(scale)
    keys, following = subkeys(key_of_each(pair, a.shape), 2)

    def drawing(state: Any) -> Operand:
        return any(logical_not(state[-1]))

    def attempt(state: Any) -> list[Operand]:
        # A normal number is drawn anew until its cube is positive, and then everything until it is accepted.
        own, for_normal, for_uniform = (KeyWords(*state[k : k + 2]) for k in (0, 2, 4))
        accepted, done = state[6:]
        next_normal, now = subkeys(for_normal, 2)
        x = normal_of_each(now, type_)
        base = x * width + 1
        cube, square, u = base * base * base, x * x, uniform_of_each(for_uniform, type_)
        failed = logical_and(
            greater_equal(u, 1 - 0.0331 * (square * square)),
            greater_equal(log(u), square * 0.5 + scale * ((1 - cube) + log(cube))),
        )
        again = less_equal(base, 0)
        anew = logical_and(logical_not(again), failed)
        fresh = [word for each in subkeys(own, 3) for word in each]
        kept = [*own, *next_normal, *for_uniform]
        words = [select(anew, new, old) for new, old in zip(fresh, kept, strict=True)]
        ends = logical_not(logical_or(again, failed))
        return [*words, select(done, accepted, cube), logical_or(done, ends)]

    first = [word for each in subkeys(keys, 3) for word in each]
    state = [*first, filled(1, type_, a.shape), filled(False, types.bool_, a.shape)]
    names = ["key", "key'", "x", "x'", "u", "u'", "accepted", "done"]
    return following, scale, run_while(state, drawing, attempt, names)[6]


# The gradient ----------------------------------------------------------------------------------------------------


def _log_derivative(a: Operand, log_x: Operand) -> Operand:
    """The derivative of log(x) by the parameter, if the probability to the left of x stays.

    With the density f and the distribution function F, which is f x Σ tₙ for tₙ = xⁿ / (a (a + 1) … (a + n)), it is
    -∂F/∂a / (f x) = Σ tₙ (ψ(a + n + 1) - log x).
    """
    type_, wide = a.type, types.f64
    a, log_x = convert(a, wide), convert(log_x, wide)
    x, large = exp(log_x), greater_equal(a, _LARGE)
    small = select(large, filled(1, wide, a.shape), a)
    bounded = select(large, filled(1, wide, a.shape), x)
    log_bounded = select(large, filled(0, wide, a.shape), log_x)

    def going_on(state: Any) -> Operand:
        n, term, _, total = state
        rising = less(small + n, bounded)
        return any(logical_or(rising, greater_equal(term, 1e-17 * total)))

    def add(state: Any) -> list[Operand]:
        n, term, psi, total = state
        n = n + 1
        term = term * bounded / (small + n)
        psi = psi + 1 / (small + n)
        return [n, term, psi, total + term * (psi - log_bounded)]

    psi = _digamma(small + 1)
    first = 1 / small
    state = [filled(0, wide, a.shape), first, psi, first * (psi - log_bounded)]
    total = run_while(state, going_on, add, ["n", "term", "psi", "total"])[3]
    return convert(select(large, _expanded(a, x) / x, total), type_)


def _digamma(x: Operand) -> Operand:
    """The logarithmic derivative of the gamma function of numbers of at least 1."""
    below: Operand = 1 / x
    for k in range(1, 8):
        below = below + 1 / (x + k)
    x = x + 8
    s = 1 / (x * x)
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132)))))
    return log(x) - 0.5 / x - series - below


def _expanded(a: Operand, x: Operand) -> Operand:
    """The derivative of x by a large parameter, from the expansion of Cornish and Fisher."""
    root = sqrt(a)
    r = (x - a) / root
    w = r - (r * r - 1) / (3 * root)
    return 1 + w / (2 * root) - (w * w * w - 7 * w) / (72 * a * root)
