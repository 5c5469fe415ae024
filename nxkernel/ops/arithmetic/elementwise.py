"""Arithmetic, rounding and the parts of complex numbers, element by element."""

from __future__ import annotations

import builtins
import functools
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery import dispatch, function_factories
from nxkernel.ops.machinery.dispatch import (
    apply,
    arithmetic,
    convert,
    counted,
    elementwise,
    filled,
    filled_like,
    is_number,
    lasting,
    operand,
    ordered,
    spread,
    spread_vectors,
    whole,
)
from nxkernel.primitives import Primitive
from nxkernel.shapes import static_int
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type, to_floating

__all__ = [
    "abs", "add", "atan2", "ceil", "clip", "complex", "conjugate", "divide", "fill", "floor", "imag", "multiply",
    "negate", "phase", "pow", "quotient", "real", "remainder", "round", "sign", "subtract",
]  # fmt: skip

_MERGED = "The two types merged."
_COUNTED = "The two types merged; bool alone becomes s64."


add = function_factories.named(
    p.add, arithmetic, "Add. Integers wrap.", _COUNTED, "[1, 2], [[10], [20]]", "[[11, 12], [21, 22]]"
)
subtract = function_factories.named(
    p.subtract, arithmetic, "Subtract. Integers wrap.", _COUNTED, "nx.u8([1, 2]), 2", "[255, 0]"
)
multiply = function_factories.named(
    p.multiply, arithmetic, "Multiply. Integers wrap.", _COUNTED, "[1, 2], 1.5", "[1.5, 3.0]"
)
divide = function_factories.named(
    p.divide,
    to_floating,
    "Divide.",
    "The two types merged; integers divide in f32.",
    "[1, -1, 0], [2, 0, 0]",
    "[0.5, -inf, nan]",
)
remainder = function_factories.named(
    p.remainder,
    ordered("remainder", arithmetic),
    "What remains of a division that truncates; it has the dividend's sign. Of integers by zero it is 0.",
    _COUNTED,
    "[7, -7], 3",
    "[1, -1]",
)
quotient = function_factories.named(
    p.quotient,
    lambda type_: arithmetic(whole("quotient")(type_)),
    "Divide integers, truncating toward zero. The quotient by zero is 0.",
    _COUNTED,
    "[7, -7], 2",
    "[3, -3]",
)
atan2 = function_factories.named(
    p.atan2,
    ordered("atan2", to_floating),
    "The angle of the point (right, left) in radians, from -π to π.",
    "The two types merged; integers become f32.",
    "[0, -0.0], [1, -1]",
    "[0.0, -3.1415927410125732]",
)
max = function_factories.named(
    p.maximum, ordered("max"), "The greater element of each pair. NaN wins.", _MERGED, "[1, 5], 3", "[3, 5]"
)
min = function_factories.named(
    p.minimum, ordered("min"), "The lesser element of each pair. NaN wins.", _MERGED, "[1, 5], 3", "[1, 3]"
)


def pow(left: Any, right: Any) -> Tensor | Expr:
    """Raise to a power.

    Parameters
    ----------
    left, right : tensor or number
        The base and the exponent. Shapes are broadcast, axes aligned from the last.

    Returns
    -------
    Tensor
        The two types merged. An integer to a negative integer power is truncated toward zero.

    Raises
    ------
    NxValueError
        For an integer base and a negative integer as a number: the results would all be fractions.

    Examples
    --------
    >>> nx.pow([2, 3], 2).to_list()
    [4, 9]
    """
    if isinstance(right, int) and right < 0:
        left = operand(left, "left")
        if left.type.is_integer:
            raise NxValueError(
                message(
                    f"integers ({left.type}) to the power {right} would be fractions.",
                    f"Write the exponent as a float: nx.pow(t, {right}.0), or t ** {right}.0.",
                )
            )
    return elementwise(p.power, left, right, arithmetic)


def _rounding(primitive: Primitive, what: str, example: str, result: str) -> Any:
    def function(tensor: Any) -> Tensor | Expr:
        tensor = lasting(tensor, "tensor")
        return tensor if tensor.type.is_integer else dispatch.unary(primitive, tensor, ordered(primitive.name))

    example = f"nx.{primitive.name}({example}).to_list()"
    doc = function_factories.UNARY.format(what=what, types="Types stay.", example=example, result=result)
    return function_factories.documented(function, primitive.name, doc)


floor = _rounding(p.floor, "Round down.", "[1.5, -1.5]", "[1.0, -2.0]")
ceil = _rounding(p.ceil, "Round up.", "[1.5, -1.5]", "[2.0, -1.0]")
_whole = _rounding(p.round_half_away, "", "", "")


def round(tensor: Any, decimals: int = 0) -> Tensor | Expr:
    """Round to the nearest whole number, or to so many decimals; halves go away from zero.

    Parameters
    ----------
    tensor : tensor or number
    decimals : int, optional
        How many digits after the point; a negative number rounds before it.

    Returns
    -------
    Tensor
        Of the same shape and names. Types stay; of integers, decimals of at least 0 change nothing.

    Raises
    ------
    NxValueError
        For integers and a negative number of decimals.

    Examples
    --------
    >>> nx.round([0.5, -1.5]).to_list(), nx.round([1.26], 1).to_list()
    ([1.0, -2.0], [1.2999999523162842])
    """
    decimals = static_int(decimals, "decimals")
    if not decimals:
        return _whole(tensor)
    tensor = lasting(tensor, "tensor")
    if tensor.type.is_integer:
        if decimals > 0:
            return tensor
        raise NxValueError(
            message(
                f"round keeps integers as they are, got {tensor.type} and decimals={decimals}.",
                'Write nx.round(nx.as_type(t, "f64"), decimals=-1) to round them as floats.',
            )
        )
    scale = 10.0 ** builtins.abs(decimals)
    grow, shrink = (multiply, divide) if decimals > 0 else (divide, multiply)
    return shrink(_whole(grow(tensor, scale)), scale)


def _sign_family(primitive: Primitive, rule: Any, what: str, types: str, example: str, result: str) -> Any:
    name = primitive.name
    return function_factories.unary(name, primitive, rule, what, types, f"nx.{name}({example}).to_list()", result)


negate = _sign_family(
    p.negate, arithmetic, "Change the sign. Integers wrap.", "Types stay; bool becomes s64.", "[1, -2]", "[-1, 2]"
)
sign = _sign_family(
    p.sign,
    ordered("sign", arithmetic),
    "-1, 0 or 1 as each element is; NaN stays.",
    "Types stay; bool becomes s64.",
    "[5, 0, -5]",
    "[1, 0, -1]",
)
abs = _sign_family(
    p.absolute,
    arithmetic,
    "The absolute value. Integers wrap.",
    "Types stay; bool becomes s64, complex numbers become real.",
    "[1, -2]",
    "[1, 2]",
)


def clip(tensor: Any, min: Any = None, max: Any = None) -> Tensor | Expr:
    """Clip elements to a range.

    Parameters
    ----------
    tensor : tensor
    min, max : number or scalar tensor, optional
        The bounds; one that is not given does not bound. Numbers count as s64 or f32 here, and have all of their
        digits beside an f64.

    Returns
    -------
    Tensor
        Of the same shape and names, with the types of all three merged. NaN stays NaN.

    Examples
    --------
    >>> nx.clip([-1.0, 0.5, 2.0], 0, 1).to_list()
    [0.0, 0.5, 1.0]
    """
    tensor = operand(tensor, "tensor") if min is not None or max is not None else lasting(tensor, "tensor")
    given = (("min", p.maximum, min), ("max", p.minimum, max))
    bounds = [(name, cut, value, operand(value, name)) for name, cut, value in given if value is not None]
    for name, _, _, bound in bounds:
        if bound.shape or bound.vectorized_axes:
            raise NxValueError(
                message(
                    f"the bound {name!r} of clip is a scalar, got {bound.spec}.",
                    "nx.max(nx.min(t, upper), lower) takes bounds of other shapes.",
                )
            )
    type_ = ordered("clip")(functools.reduce(types.merge, [counted(bound) for _, _, _, bound in bounds], tensor.type))
    result = convert(tensor, type_)
    for _, cut, value, bound in bounds:
        bound = filled(value, type_, ()) if is_number(value) else convert(bound, type_)
        result = apply(cut, result, spread(bound, tensor.shape))
    return result


def fill(tensor: Any, value: Any, *, type: Any = None) -> Tensor | Expr:
    """A tensor filled with one value, with the shape and names of another.

    Parameters
    ----------
    tensor : tensor
        Gives shape and names.
    value : number or scalar tensor
    type : type, optional
        Without it, a number takes the tensor's type where that holds it; a scalar tensor's type is merged.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.fill([1, 2], 0).to_list()
    [0, 0]
    """
    tensor = operand(tensor, "tensor")
    if is_number(value):
        type_ = types.merge_number(tensor.type, value) if type is None else types.normalize(type)
        return filled_like(value, type_, tensor)
    value = operand(value, "value")
    if value.shape:
        raise NxValueError(f"fill takes one value, got {value.spec}; nx.broadcast spreads a tensor over a shape")
    type_ = types.merge(tensor.type, counted(value)) if type is None else types.normalize(type)
    return spread_vectors(spread(convert(value, type_), tensor.shape, tensor.names), tensor)


def complex(real: Any, imag: Any) -> Tensor | Expr:
    """Complex numbers from their real and imaginary parts.

    Parameters
    ----------
    real, imag : tensor or number
        Real; shapes are broadcast.

    Returns
    -------
    Tensor
        c128 where a part is f64, otherwise c64.

    Examples
    --------
    >>> nx.complex([1, 2], -1).to_list()
    [(1-1j), (2-1j)]
    """
    return elementwise(p.make_complex, real, imag, ordered("complex", _part))


def _part(type_: Type) -> Type:
    return types.to_real(types.to_complex(type_))


def conjugate(tensor: Any) -> Tensor | Expr:
    """The complex conjugate.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    Tensor
        Complex, also where the operand is real.

    Examples
    --------
    >>> nx.conjugate([1 + 2j]).to_list()
    [(1-2j)]
    """
    return dispatch.unary(p.conjugate, tensor, types.to_complex)


def real(tensor: Any) -> Tensor | Expr:
    """The real part.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    Tensor
        Real; integers become f32.

    Examples
    --------
    >>> nx.real([1 + 2j]).to_list()
    [1.0]
    """
    tensor = lasting(tensor, "tensor")
    return apply(p.real, tensor) if tensor.type.is_complex else convert(tensor, to_floating(tensor.type))


def imag(tensor: Any) -> Tensor | Expr:
    """The imaginary part, which is 0 for real numbers.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    Tensor
        Real; integers become f32.

    Examples
    --------
    >>> nx.imag([1 + 2j]).to_list()
    [2.0]
    """
    tensor = operand(tensor, "tensor")
    if tensor.type.is_complex:
        return apply(p.imag, tensor)
    return filled_like(0.0, to_floating(tensor.type), tensor)


def phase(tensor: Any) -> Tensor | Expr:
    """The angle of complex numbers in radians, from -π to π.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    Tensor
        Real; integers become f32.

    Examples
    --------
    >>> nx.phase([2, -1j]).to_list()
    [0.0, -1.5707963705062866]
    """
    tensor = operand(tensor, "tensor")
    return apply(p.phase, tensor) if tensor.type.is_complex else atan2(0.0, tensor)
