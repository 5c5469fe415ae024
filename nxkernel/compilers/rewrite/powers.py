"""Powers by constant exponents as cheaper operations that are as exact."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr, constant
from nxkernel.primitives import Primitive


def written_out(node: Expr) -> Expr:
    """A power by a constant as other operations that are within two units in the last place; None if there are none.

    Parameters
    ----------
    node : Expr
        A ``pow``.
    """
    base, exponent = node.operands
    if exponent.primitive is not p.constant or node.type not in (types.f32, types.f64):
        return node
    rule = _RULES.get(exponent.params["value"])
    return rule(node, base) if rule is not None else node


def _new(node: Expr, primitive: Primitive, *operands: Expr) -> Expr:
    params = node.params if primitive is p.multiply else {}
    return Expr(primitive, operands, params, primitive.rule(*[operand.spec for operand in operands]), node.source)


def _number(node: Expr, value: float) -> Expr:
    return constant(value, node.type, node.shape, node.names)


def _cube(node: Expr, base: Expr) -> Expr:
    return _new(node, p.multiply, _new(node, p.multiply, base, base), base)


def _square_of_square(node: Expr, base: Expr) -> Expr:
    square = _new(node, p.multiply, base, base)
    return _new(node, p.multiply, square, square)


def _inverse(node: Expr, base: Expr) -> Expr:
    return _new(node, p.divide, _number(node, 1.0), base)


def _inverse_square(node: Expr, base: Expr) -> Expr:
    # Not the inverse of the square, which is out of range where this is not.
    inverse = _inverse(node, base)
    return _new(node, p.multiply, inverse, inverse)


def _by_root(node: Expr, base: Expr, number: float) -> Expr:
    """What is NaN below zero, but at minus infinity; and of -0.0 what it is of 0.0."""
    plain = _new(node, p.add, base, _number(node, 0.0))
    result = _new(node, p.sqrt, plain)
    if number == 1.5:
        result = _new(node, p.multiply, plain, result)
    elif number == -0.5:
        result = _inverse(node, result)
    elif number == -1.5:
        result = _new(node, p.divide, _inverse(node, plain), result)
    lowest = _new(node, p.equal, base, _number(node, -math.inf))
    return _new(node, p.select, lowest, _number(node, math.inf if number > 0 else 0.0), result)


_RULES: dict[float, Callable[[Expr, Expr], Expr]] = {
    3: _cube,
    4: _square_of_square,
    -1: _inverse,
    -2: _inverse_square,
    **{number: functools.partial(_by_root, number=number) for number in (0.5, -0.5, 1.5, -1.5)},
}
