"""Elementary and special functions: a table with one row for each."""

from __future__ import annotations

import math
from typing import Any

from nxkernel import primitives as p
from nxkernel.errors import NxValueError
from nxkernel.graph.expr import Expr
from nxkernel.ops.arithmetic.elementwise import divide
from nxkernel.ops.machinery import dispatch, function_factories
from nxkernel.ops.machinery.dispatch import is_number, ordered
from nxkernel.primitives import Primitive
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import to_floating

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erf_inv", "erfc", "exp", "expm1",
    "log", "log1p", "log2", "log10", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip

_FLOATING = "Integers become f32, other types stay."


def _row(primitive: Primitive, what: str, example: str, result: str) -> Any:
    name = primitive.name
    rule = to_floating if p.ELEMENTARY[name].complex else ordered(name, to_floating)
    return function_factories.unary(name, primitive, rule, what, _FLOATING, f"nx.{name}({example}).to_list()", result)


exp = _row(p.exp, "The exponential: e to the power of each element.", "[-np.inf, 0]", "[0.0, 1.0]")
expm1 = _row(p.expm1, "``exp(x) - 1``, precise for small x.", "[0, 1e-20]", "[0.0, 9.999999682655225e-21]")
log1p = _row(p.log1p, "``log(1 + x)``, precise for small x.", "[0, 1e-20]", "[0.0, 9.999999682655225e-21]")
log2 = _row(p.log2, "The logarithm to base 2.", "[1, 8]", "[0.0, 3.0]")
log10 = _row(p.log10, "The logarithm to base 10.", "[1, 10]", "[0.0, 1.0]")
sigmoid = _row(p.sigmoid, "The logistic function, ``1 / (1 + exp(-x))``.", "[-np.inf, 0]", "[0.0, 0.5]")

sin = _row(p.sin, "The sine of an angle in radians.", "[0, np.inf]", "[0.0, nan]")
cos = _row(p.cos, "The cosine of an angle in radians.", "[0, np.inf]", "[1.0, nan]")
tan = _row(p.tan, "The tangent of an angle in radians.", "[0, np.inf]", "[0.0, nan]")
asin = _row(p.asin, "The angle in radians whose sine each element is.", "[0, 2]", "[0.0, nan]")
acos = _row(p.acos, "The angle in radians whose cosine each element is.", "[1, 2]", "[0.0, nan]")
atan = _row(p.atan, "The angle in radians whose tangent each element is.", "[0, 0]", "[0.0, 0.0]")

sinh = _row(p.sinh, "The hyperbolic sine.", "[0, np.inf]", "[0.0, inf]")
cosh = _row(p.cosh, "The hyperbolic cosine.", "[0, np.inf]", "[1.0, inf]")
tanh = _row(p.tanh, "The hyperbolic tangent.", "[0, np.inf]", "[0.0, 1.0]")
asinh = _row(p.asinh, "The inverse of the hyperbolic sine.", "[0, np.inf]", "[0.0, inf]")
acosh = _row(p.acosh, "The inverse of the hyperbolic cosine.", "[1, 0]", "[0.0, nan]")
atanh = _row(p.atanh, "The inverse of the hyperbolic tangent.", "[0, 1]", "[0.0, inf]")

sqrt = _row(p.sqrt, "The square root.", "[4, -1]", "[2.0, nan]")
rsqrt = _row(p.rsqrt, "One over the square root.", "[4, 0]", "[0.5, inf]")
cbrt = _row(p.cbrt, "The cube root.", "[8, -8]", "[2.0, -2.0]")
erf = _row(p.erf, "The error function.", "[0, np.inf]", "[0.0, 1.0]")
erfc = _row(p.erfc, "One minus the error function.", "[0, np.inf]", "[1.0, 0.0]")
erf_inv = _row(p.erf_inv, "The inverse of the error function.", "[0, 1]", "[0.0, inf]")


def log(tensor: Any, base: Any = None) -> Tensor | Expr:
    """The natural logarithm, or the logarithm to a base.

    Parameters
    ----------
    tensor : tensor or number
    base : number or tensor, optional
        Positive, and not 1.

    Returns
    -------
    Tensor
        Of the same shape and names. Integers become f32, other types stay.

    Raises
    ------
    NxValueError
        For a number as the base that has no logarithms.

    Examples
    --------
    >>> nx.log([1, 0]).to_list()
    [0.0, -inf]
    >>> nx.log([1, 9], 3).to_list()
    [0.0, 2.0]
    """
    if is_number(base):
        if isinstance(base, complex) or base <= 0 or base == 1:
            raise NxValueError(f"the base of a logarithm is positive and not 1, got {base!r}")
        if base in (2, 10):
            return (log2 if base == 2 else log10)(tensor)
        return divide(log(tensor), math.log(base))
    natural = dispatch.unary(p.log, tensor, to_floating)
    return natural if base is None else divide(natural, log(base))
