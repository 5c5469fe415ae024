"""Derivatives of special functions.

Each rule takes what gives special functions by name (`f`), the arguments, and the result of the function. Where an
argument has no rule its derivative is no function in use, and a gradient that asks for it is refused.

References
----------
NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov, chapters 5 to 8, 10 and 25.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, convert, filled

_ROOT_PI = math.sqrt(math.pi)
_ROOT_2_PI = math.sqrt(2 * math.pi)


def exp(x: Any) -> Any:
    """The exponential of an operand."""
    return apply(p.exp, x)


def like(x: Any, number: float) -> Any:
    """A constant of the type and shape of an operand."""
    return filled(number, x.type, x.shape)


def choose(mask: Any, then: Any, otherwise: Any) -> Any:
    """One operand or the other for each element; either may be a number."""
    one = otherwise if isinstance(then, int | float) else then
    sides = [like(one, side) if isinstance(side, int | float) else side for side in (then, otherwise)]
    return apply(p.select, mask, *sides)


def compare(primitive: p.Primitive, x: Any, y: Any) -> Any:
    """A comparison of an operand with another one or with a number."""
    return apply(primitive, x, like(x, y) if isinstance(y, int | float) else y)


def is_zero(x: Any) -> Any:
    """Where an operand is zero."""
    return compare(p.equal, x, 0)


def _over(x: Any, y: Any, at_zero: float) -> Any:
    """A quotient, with a value of its own where its divisor is zero."""
    none = is_zero(y)
    return choose(none, at_zero, x / choose(none, 1.0, y))


def _gamma_density(f: Any, a: Any, x: Any) -> Any:
    return exp(f.xlogy(a - 1, x) - x - f.gammaln(a))


def _beta_density(f: Any, a: Any, b: Any, x: Any) -> Any:
    return exp(f.xlogy(a - 1, x) + f.xlog1py(b - 1, -x) - f.betaln(a, b))


def _log_ndtr(f: Any, x: Any, y: Any) -> Any:
    # Far to the left both the density and what it is divided by are zero.
    left = compare(p.less, x, 0)
    near = choose(left, x, 0.0)
    far = choose(left, 0.0, x)
    below = math.sqrt(2 / math.pi) / f.erfcx(near * -math.sqrt(0.5))
    return choose(left, below, exp(far * far * -0.5) / (f.ndtr(far) * _ROOT_2_PI))


def _exprel(f: Any, x: Any, y: Any) -> Any:
    small = compare(p.less, apply(p.absolute, x), 0.1)
    near, far = choose(small, x, 0.0), choose(small, 1.0, x)
    series = functools.reduce(lambda total, k: total * near + k / math.factorial(k + 1), range(10, 0, -1), like(x, 0.0))
    return choose(small, series, (exp(far) - y) / far)


def _stdtr(f: Any, df: Any, t: Any, y: Any) -> Any:
    half = df * 0.5
    scale = exp(f.gammaln(half + 0.5) - f.gammaln(half)) / apply(p.sqrt, df * math.pi)
    return scale * exp(f.xlog1py(-half - 0.5, t * t / df))


Rule = Callable[..., Any]
#: By name, the derivative by each argument; None for those that are not known.
RULES: dict[str, Sequence[Rule | None]] = {
    "gammaln": [lambda f, x, y: f.psi(x)],
    "loggamma": [lambda f, x, y: f.psi(x)],
    "gamma": [lambda f, x, y: y * f.psi(x)],
    "rgamma": [lambda f, x, y: -y * f.psi(x)],
    "psi": [lambda f, x, y: f._zeta(like(x, 2.0), x)],
    "_zeta": [None, lambda f, x, q, y: -x * f._zeta(x + 1, q)],
    "poch": [lambda f, z, m, y: y * (f.psi(z + m) - f.psi(z)), lambda f, z, m, y: y * f.psi(z + m)],
    "binom": [
        lambda f, n, k, y: y * (f.psi(n + 1) - f.psi(n - k + 1)),
        lambda f, n, k, y: y * (f.psi(n - k + 1) - f.psi(k + 1)),
    ],
    "beta": [lambda f, a, b, y: y * (f.psi(a) - f.psi(a + b)), lambda f, a, b, y: y * (f.psi(b) - f.psi(a + b))],
    "betaln": [lambda f, a, b, y: f.psi(a) - f.psi(a + b), lambda f, a, b, y: f.psi(b) - f.psi(a + b)],
    "betainc": [None, None, lambda f, a, b, x, y: _beta_density(f, a, b, x)],
    "betaincc": [None, None, lambda f, a, b, x, y: -_beta_density(f, a, b, x)],
    "betaincinv": [None, None, lambda f, a, b, q, y: 1 / _beta_density(f, a, b, y)],
    "betainccinv": [None, None, lambda f, a, b, q, y: -1 / _beta_density(f, a, b, y)],
    "gammainc": [None, lambda f, a, x, y: _gamma_density(f, a, x)],
    "gammaincc": [None, lambda f, a, x, y: -_gamma_density(f, a, x)],
    "gammaincinv": [None, lambda f, a, q, y: 1 / _gamma_density(f, a, y)],
    "gammainccinv": [None, lambda f, a, q, y: -1 / _gamma_density(f, a, y)],
    "chdtr": [None, lambda f, v, x, y: _gamma_density(f, v * 0.5, x * 0.5) * 0.5],
    "chdtrc": [None, lambda f, v, x, y: _gamma_density(f, v * 0.5, x * 0.5) * -0.5],
    "stdtr": [None, _stdtr],
    "erfcx": [lambda f, x, y: x * y * 2 - 2 / _ROOT_PI],
    "erfcinv": [lambda f, x, y: exp(y * y) * (-_ROOT_PI / 2)],
    "erfi": [lambda f, x, y: exp(x * x) * (2 / _ROOT_PI)],
    "dawsn": [lambda f, x, y: 1 - x * y * 2],
    "ndtri": [lambda f, x, y: exp(y * y * 0.5) * _ROOT_2_PI],
    "log_ndtr": [_log_ndtr],
    "exprel": [_exprel],
    "expi": [lambda f, x, y: exp(x) / x],
    "exp1": [lambda f, x, y: -exp(-x) / x],
    "spence": [lambda f, x, y: choose(compare(p.equal, x, 1), -1.0, apply(p.log, x) / (1 - x))],
    "i0": [lambda f, x, y: f.i1(x)],
    "i0e": [lambda f, x, y: f.i1e(x) - apply(p.sign, x) * y],
    "i1": [lambda f, x, y: f.i0(x) - _over(y, x, 0.5)],
    "i1e": [lambda f, x, y: f.i0e(x) - apply(p.sign, x) * y - _over(y, x, 0.5)],
    "k0": [lambda f, x, y: -f.k1(x)],
    "k0e": [lambda f, x, y: y - f.k1e(x)],
    "k1": [lambda f, x, y: -f.k0(x) - y / x],
    "k1e": [lambda f, x, y: y - f.k0e(x) - y / x],
    "j0": [lambda f, x, y: -f.j1(x)],
    "j1": [lambda f, x, y: f.j0(x) - _over(y, x, 0.5)],
    "y0": [lambda f, x, y: -f.y1(x)],
    "y1": [lambda f, x, y: f.y0(x) - y / x],
    "jv": [None, lambda f, v, x, y: (f.jv(v - 1, x) - f.jv(v + 1, x)) * 0.5],
    "yv": [None, lambda f, v, x, y: (f.yv(v - 1, x) - f.yv(v + 1, x)) * 0.5],
    "iv": [None, lambda f, v, x, y: (f.iv(v - 1, x) + f.iv(v + 1, x)) * 0.5],
    "kv": [None, lambda f, v, x, y: (f.kv(v - 1, x) + f.kv(v + 1, x)) * -0.5],
}


def adjoint(name: str, functions: Any) -> Callable[[Any], list[Any]] | None:
    """The gradient rule of a special function, from the derivatives; None where none is known.

    Parameters
    ----------
    name : str
    functions : object
        Gives special functions of f64 by their names.
    """
    rules = RULES.get(name)
    if rules is None:
        return None

    def rule(at: Any) -> list[Any]:
        return _gains(name, rules, functions, at)

    return rule


def _gains(name: str, rules: Sequence[Rule | None], functions: Any, at: Any) -> list[Any]:
    if any(operand.type.is_complex for operand in at.node.operands):
        raise at.refusal(f"The derivative of {name} is known of real numbers alone.")
    arguments = [convert(at.bare(position), types.f64) for position in range(len(rules))]
    result = convert(at.y, types.f64)
    gains: list[Any] = []
    for position, (derivative, wanted) in enumerate(zip(rules, at.wanted, strict=True)):
        if not wanted or not at.node.operands[position].type.is_float:
            gains.append(None)
            continue
        if derivative is None:
            known = " and ".join(str(place) for place, one in enumerate(rules) if one is not None)
            raise at.refusal(f"The derivative of {name} by its argument {position} is not known, by {known} it is.")
        share: Expr = convert(at.g, types.f64) * derivative(functions, *arguments, result)
        gains.append(convert(share, at.node.operands[position].type))
    return gains
