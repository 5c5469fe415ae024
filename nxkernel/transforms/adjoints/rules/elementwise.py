"""Gradients of arithmetic and elementary functions."""

from __future__ import annotations

import math

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.transforms.adjoints.rule_table import CONSTANT, RULES, AdjointSite, Gain, bare, rule, tangent_type

CONSTANT |= {
    p.equal, p.not_equal, p.greater, p.less, p.greater_equal, p.less_equal,
    p.logical_and, p.logical_or, p.logical_xor, p.logical_not, p.is_nan, p.is_infinity,
    p.floor, p.ceil, p.round_half_away, p.round_half_even, p.truncate, p.sign,
}  # fmt: skip


def _like(value: Expr, number: complex) -> Expr:
    return filled(number, value.type, value.shape)


def _choose(mask: Expr, then: Expr, otherwise: Expr) -> Expr:
    return apply(p.select, mask, then, otherwise)


def _is(value: Expr, number: float) -> Expr:
    return apply(p.equal, value, _like(value, number))


def _one(primitive: p.Primitive, value: Expr) -> Expr:
    return apply(primitive, value)


@rule(p.add)
def _add(at: AdjointSite) -> list[Gain]:
    return [at.g, at.g]


@rule(p.subtract)
def _subtract(at: AdjointSite) -> list[Gain]:
    return [at.g, -at.g]


@rule(p.multiply)
def _multiply(at: AdjointSite) -> list[Gain]:
    return [at.g * at.x(1), at.g * at.x(0)]


@rule(p.divide)
def _divide(at: AdjointSite) -> list[Gain]:
    share = at.g / at.x(1)
    return [share, -share * at.y]


@rule(p.power)
def _power(at: AdjointSite) -> list[Gain]:
    x, y = at.x(0), at.x(1)
    exponent = at.node.operands[1]
    if exponent.primitive is p.constant:
        number = exponent.params["value"]
        if number == 0:
            return [None, None]
        return [at.g * apply(p.power, x, _like(x, number - 1)) * number, None]
    none = _is(y, 0)
    below = apply(p.power, x, _choose(none, _like(y, 1), y - 1))
    base = _choose(none, _like(x, 0), y * below)
    # Where the base is zero the power does not change with the exponent, and its logarithm is infinite.
    safe = _choose(_is(x, 0), _like(x, 1), x)
    return [at.g * base, at.g * at.y * _one(p.log, safe)]


@rule(p.remainder)
def _remainder(at: AdjointSite) -> list[Gain]:
    times = _one(p.round_half_even, (at.x(0) - at.y) / at.x(1))
    return [at.g, -at.g * times]


@rule(p.atan2)
def _atan2(at: AdjointSite) -> list[Gain]:
    share = at.g / (at.x(0) * at.x(0) + at.x(1) * at.x(1))
    return [share * at.x(1), -share * at.x(0)]


@rule(p.maximum, p.minimum)
def _extreme(at: AdjointSite) -> list[Gain]:
    # Both gain half of it where they are equal.
    x, y = at.x(0), at.x(1)
    first, second = (x, y) if at.node.primitive is p.maximum else (y, x)
    share = _choose(apply(p.equal, first, second), _like(x, 0.5), convert(apply(p.greater, first, second), x.type))
    return [at.g * share, at.g * (1 - share)]


@rule(p.select)
def _select(at: AdjointSite) -> list[Gain]:
    mask, none = bare(at.node.operands[0]), at.zeros(1)
    return [None, _choose(mask, at.g, none), _choose(mask, none, at.g)]


@rule(p.as_type)
def _as_type(at: AdjointSite) -> list[Gain]:
    before, after = at.node.operands[0].type, at.node.type
    if not (after.is_float or after.is_complex) and (before.is_float or before.is_complex):
        return [None]
    if at.g.type.is_complex and not before.is_complex:
        return [convert(_one(p.real, at.g), tangent_type(before))]
    return [convert(at.g, tangent_type(before))]


@rule(p.make_complex)
def _complex(at: AdjointSite) -> list[Gain]:
    return [_one(p.real, at.g), -_one(p.imag, at.g)]


@rule(p.conjugate)
def _conjugate(at: AdjointSite) -> list[Gain]:
    return [_one(p.conjugate, at.g)]


@rule(p.real)
def _real(at: AdjointSite) -> list[Gain]:
    return [apply(p.make_complex, at.g, _like(at.g, 0)) if at.node.operands[0].type.is_complex else at.g]


@rule(p.imag)
def _imag(at: AdjointSite) -> list[Gain]:
    if not at.node.operands[0].type.is_complex:
        return [None]
    return [apply(p.make_complex, _like(at.g, 0), -at.g)]


@rule(p.phase)
def _phase(at: AdjointSite) -> list[Gain]:
    if not at.node.operands[0].type.is_complex:
        return [None]
    return [apply(p.make_complex, _like(at.g, 0), -at.g) / at.x(0)]


@rule(p.absolute)
def _absolute(at: AdjointSite) -> list[Gain]:
    x = at.x(0)
    if not x.type.is_complex:
        return [at.g * _one(p.sign, x)]
    length = _choose(_is(at.y, 0), _like(at.y, 1), at.y)
    share = at.g / length
    return [apply(p.make_complex, share * _one(p.real, x), -share * _one(p.imag, x))]


@rule(p.negate)
def _negate(at: AdjointSite) -> list[Gain]:
    return [-at.g]


#: The derivative of each function of one number, from what it takes and what it gives.
DERIVATIVES = {
    p.exp: lambda x, y: y,
    p.expm1: lambda x, y: y + 1,
    p.sigmoid: lambda x, y: y * (1 - y),
    p.sin: lambda x, y: _one(p.cos, x),
    p.cos: lambda x, y: -_one(p.sin, x),
    p.tan: lambda x, y: y * y + 1,
    p.asin: lambda x, y: _one(p.rsqrt, 1 - x * x),
    p.acos: lambda x, y: -_one(p.rsqrt, 1 - x * x),
    p.sinh: lambda x, y: _one(p.cosh, x),
    p.cosh: lambda x, y: _one(p.sinh, x),
    p.tanh: lambda x, y: 1 - y * y,
    p.asinh: lambda x, y: _one(p.rsqrt, x * x + 1),
    p.acosh: lambda x, y: _one(p.rsqrt, x - 1) * _one(p.rsqrt, x + 1),
    p.erf: lambda x, y: _one(p.exp, -x * x) * (2 / math.sqrt(math.pi)),
    p.erfc: lambda x, y: _one(p.exp, -x * x) * (-2 / math.sqrt(math.pi)),
    p.erf_inv: lambda x, y: _one(p.exp, y * y) * (math.sqrt(math.pi) / 2),
}
#: The same for functions whose derivative is better divided by.
DIVISORS = {
    p.log: lambda x, y: x,
    p.log1p: lambda x, y: x + 1,
    p.log2: lambda x, y: x * math.log(2),
    p.log10: lambda x, y: x * math.log(10),
    p.atan: lambda x, y: x * x + 1,
    p.atanh: lambda x, y: 1 - x * x,
    p.sqrt: lambda x, y: y * 2,
    p.cbrt: lambda x, y: y * y * 3,
}


def _by(derivative):
    return lambda at: [at.g * derivative(at.x(0), at.y)]


def _over(divisor):
    return lambda at: [at.g / divisor(at.x(0), at.y)]


RULES.update({primitive: _by(derivative) for primitive, derivative in DERIVATIVES.items()})
RULES.update({primitive: _over(divisor) for primitive, divisor in DIVISORS.items()})


@rule(p.rsqrt)
def _rsqrt(at: AdjointSite) -> list[Gain]:
    return [at.g * (at.y / at.x(0)) * -0.5]
