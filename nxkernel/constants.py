"""Named constants such as pi and infinity, as scalars of any type.

Without a type, π, e, γ and i are plain numbers while a definition is traced, which take the type of what is beside
them; otherwise they are scalars of f32 or c64.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from nxkernel import types
from nxkernel.errors import NxTypeError
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import filled
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = [
    "e", "epsilon", "euler_gamma", "i", "infinity", "max", "max_finite", "min", "min_finite", "nan", "neg_infinity",
    "pi", "smallest_positive_normal",
]  # fmt: skip

Scalar = Tensor | Expr


def _floating(name: str, value: float, type: Any) -> Scalar:
    type_ = types.normalize(type)
    if type_.is_integer:
        raise NxTypeError(f'there is no {name} among the integers ({type_}); write nx.constants.{name}("f32")')
    return filled(value, type_, ())


def _limits(type: Any, name: str) -> Any:
    """NumPy's description of a float type."""
    type_ = types.normalize(type)
    if not type_.is_float:
        raise NxTypeError(f'{name} is a property of float types, got {type_}; write nx.constants.{name}("f32")')
    return ml_dtypes.finfo(type_.dtype) if type_.kind == "bf" else np.finfo(type_.dtype)


def _real(type: Any, name: str) -> Type:
    type_ = types.normalize(type)
    if type_.is_complex:
        raise NxTypeError(f"complex numbers ({type_}) have no order, so there is no {name}")
    return type_


def nan(type: Any = "f32") -> Scalar:
    """Not a number.

    Parameters
    ----------
    type : type, optional
        A float or complex type.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.nan("f64").to_list()
    nan
    """
    return _floating("nan", math.nan, type)


def infinity(type: Any = "f32") -> Scalar:
    """Positive infinity.

    Parameters
    ----------
    type : type, optional
        A float or complex type.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.infinity().to_list()
    inf
    """
    return _floating("infinity", math.inf, type)


def neg_infinity(type: Any = "f32") -> Scalar:
    """Negative infinity.

    Parameters
    ----------
    type : type, optional
        A float or complex type.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.neg_infinity().to_list()
    -inf
    """
    return _floating("neg_infinity", -math.inf, type)


def max(type: Any) -> Scalar:
    """The largest value of a type: infinity for floats.

    Parameters
    ----------
    type : type
        Any but complex ones.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.max("u8").to_list(), nx.constants.max("f32").to_list()
    (255, inf)
    """
    type_ = _real(type, "max")
    return filled(types.greatest(type_), type_, ())


def min(type: Any) -> Scalar:
    """The smallest value of a type: minus infinity for floats.

    Parameters
    ----------
    type : type
        Any but complex ones.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.min("s8").to_list(), nx.constants.min("f32").to_list()
    (-128, -inf)
    """
    type_ = _real(type, "min")
    return filled(types.least(type_), type_, ())


def max_finite(type: Any) -> Scalar:
    """The largest finite number of a type.

    Parameters
    ----------
    type : type
        Any but complex ones.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.max_finite("f16").to_list()
    65504.0
    """
    type_ = _real(type, "max_finite")
    value = types.greatest(type_) if type_.is_integer else float(_limits(type_, "max_finite").max)
    return filled(value, type_, ())


def min_finite(type: Any) -> Scalar:
    """The smallest (most negative) finite number of a type.

    Parameters
    ----------
    type : type
        Any but complex ones.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.min_finite("f16").to_list()
    -65504.0
    """
    type_ = _real(type, "min_finite")
    value = types.least(type_) if type_.is_integer else float(_limits(type_, "min_finite").min)
    return filled(value, type_, ())


def smallest_positive_normal(type: Any) -> Scalar:
    """The smallest positive number of a float type that keeps its full precision.

    Parameters
    ----------
    type : type
        A float type.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.smallest_positive_normal("f64").to_list()
    2.2250738585072014e-308
    """
    return filled(float(_limits(type, "smallest_positive_normal").smallest_normal), types.normalize(type), ())


def epsilon(type: Any) -> Scalar:
    """The machine epsilon: the distance from 1 to the next larger number of a float type.

    Parameters
    ----------
    type : type
        A float type.

    Returns
    -------
    scalar Tensor

    Examples
    --------
    >>> nx.constants.epsilon("f64").to_list()
    2.220446049250313e-16
    """
    return filled(float(_limits(type, "epsilon").eps), types.normalize(type), ())


def pi(type: Any = None) -> Scalar | float:
    """The ratio of a circle's circumference to its diameter.

    Parameters
    ----------
    type : type, optional
        A float or complex type; without it f32.

    Returns
    -------
    scalar Tensor, or a float while a definition is traced and no type is given

    Examples
    --------
    >>> nx.constants.pi("f64").to_list()
    3.141592653589793
    """
    return _plain("pi", math.pi, type)


def e(type: Any = None) -> Scalar | float:
    """The base of the natural logarithm.

    Parameters
    ----------
    type : type, optional
        A float or complex type; without it f32.

    Returns
    -------
    scalar Tensor, or a float while a definition is traced and no type is given

    Examples
    --------
    >>> nx.constants.e("f64").to_list()
    2.718281828459045
    """
    return _plain("e", math.e, type)


def euler_gamma(type: Any = None) -> Scalar | float:
    """Euler's constant, the limit of the harmonic series minus the logarithm.

    Parameters
    ----------
    type : type, optional
        A float or complex type; without it f32.

    Returns
    -------
    scalar Tensor, or a float while a definition is traced and no type is given

    Examples
    --------
    >>> nx.constants.euler_gamma("f64").to_list()
    0.5772156649015329
    """
    return _plain("euler_gamma", 0.5772156649015329, type)


def i(type: Any = None) -> Scalar | complex:
    """The imaginary unit.

    Parameters
    ----------
    type : type, optional
        A complex type; without it c64.

    Returns
    -------
    scalar Tensor, or a complex number while a definition is traced and no type is given

    Examples
    --------
    >>> nx.constants.i().to_list()
    1j
    """
    if type is not None and not types.normalize(type).is_complex:
        raise NxTypeError(f'i is complex, got the type {type}; write nx.constants.i("c64")')
    return _plain("i", 1j, type)


def _plain(name: str, value: Any, type: Any) -> Any:
    if type is not None:
        return _floating(name, value, type)
    if tracing.current() is not None:
        return value
    return filled(value, types.infer(value), ())


def __dir__() -> list[str]:
    return __all__
