"""Samplers of distributions with parameters that are made of one or two uniform or normal numbers."""

from __future__ import annotations

import math
from typing import Any

from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.casting import bitcast
from nxkernel.ops.arithmetic.comparison import equal, greater, less, less_equal, select
from nxkernel.ops.arithmetic.elementary import erf, erf_inv, exp, sqrt
from nxkernel.ops.arithmetic.elementwise import max, min, pow
from nxkernel.ops.machinery.dispatch import convert, filled
from nxkernel.random.bit_stream import advance, pair_of, subkeys
from nxkernel.random.discrete import signs
from nxkernel.random.distributions import Names
from nxkernel.random.sampler_options import (
    named,
    normals,
    parameter,
    real_drawn,
    shape_drawn,
    uniforms,
    unsigned,
)
from nxkernel.random.standard_distributions import exponentials, maxwells
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = [
    "double_sided_maxwell", "lognormal", "pareto", "rayleigh", "triangular", "truncated_normal", "wald", "weibull_min",
]  # fmt: skip


def pareto(
    key: Any, b: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Pareto distribution, of density b / x**(b + 1) for x of at least 1.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    b : number or tensor
        The exponent, positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    exp(e / b) of exponential numbers e, as ``jax.random.pareto``.

    Examples
    --------
    >>> x, key = nx.random.pareto(nx.random.key(7), 3.0, shape=(1000,))
    >>> round(nx.median(x).to_number(), 2)
    1.25
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("pareto", shape, b=b)
    type_, inner = real_drawn("pareto", type, b)
    return named(convert(exp(exponentials(pair, shape, inner) / parameter(b, inner, shape)), type_), names), following


def rayleigh(
    key: Any, scale: Any = 1.0, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Rayleigh distribution: lengths of vectors of two normal numbers.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    scale : number or tensor, optional
        The standard deviation of the normal numbers.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    scale √(-2 log(1 - u)) of uniform floats u in [0, 1). ``jax.random.rayleigh`` takes log(u), which is infinite
    where u is 0: these are other numbers of the same distribution.

    Examples
    --------
    >>> x, key = nx.random.rayleigh(nx.random.key(7), 2.0, shape=(1000,))
    >>> round(nx.mean(x * x).to_number(), 1)
    7.6
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("rayleigh", shape, scale=scale)
    type_, inner = real_drawn("rayleigh", type, scale)
    drawn = parameter(scale, inner, shape) * sqrt(2 * exponentials(pair, shape, inner))
    return named(convert(drawn, type_), names), following


def weibull_min(
    key: Any, scale: Any, concentration: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Weibull distribution, whose distribution function is 1 - exp(-(x / scale)**concentration).

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    scale, concentration : number or tensor
        Positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    The quantile function of uniform floats, as ``jax.random.weibull_min``.

    Examples
    --------
    >>> x, key = nx.random.weibull_min(nx.random.key(7), 2.0, 3.0, shape=(1000,))
    >>> round(nx.mean((x / 2) ** 3).to_number(), 2)
    0.94
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("weibull_min", shape, scale=scale, concentration=concentration)
    type_, inner = real_drawn("weibull_min", type, scale, concentration)
    power = 1 / parameter(concentration, inner, shape)
    drawn = pow(exponentials(pair, shape, inner), power) * parameter(scale, inner, shape)
    return named(convert(drawn, type_), names), following


def lognormal(
    key: Any, sigma: Any = 1.0, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw numbers whose logarithms are normal, of mean 0.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    sigma : number or tensor, optional
        The standard deviation of the logarithms.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    As ``jax.random.lognormal``. Times exp(m) the mean of the logarithms is m.

    Examples
    --------
    >>> x, key = nx.random.lognormal(nx.random.key(7), 0.5, shape=(1000,))
    >>> round(nx.median(x).to_number(), 2)
    0.98
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("lognormal", shape, sigma=sigma)
    type_, inner = real_drawn("lognormal", type, sigma)
    return named(convert(exp(normals(pair, shape, inner) * parameter(sigma, inner, shape)), type_), names), following


def triangular(
    key: Any, left: Any, mode: Any, right: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the triangular distribution, whose density rises from `left` to `mode` and falls to `right`.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    left, mode, right : number or tensor
        In ascending order, `left` less than `right`.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    The quantile function of uniform floats, as ``jax.random.triangular``.

    Examples
    --------
    >>> x, key = nx.random.triangular(nx.random.key(7), 0.0, 1.0, 5.0, shape=(1000,))
    >>> round(nx.mean(x).to_number(), 1)
    2.0
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("triangular", shape, left=left, mode=mode, right=right)
    type_, inner = real_drawn("triangular", type, left, mode, right)
    left, mode, right = (parameter(value, inner, shape) for value in (left, mode, right))
    width, drawn = right - left, uniforms(pair, shape, inner)
    rising = left + sqrt(drawn * width * (mode - left))
    falling = right - sqrt((1 - drawn) * width * (right - mode))
    return named(convert(select(less(drawn, (mode - left) / width), rising, falling), type_), names), following


def truncated_normal(
    key: Any, lower: Any, upper: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the standard normal distribution between two bounds.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    lower, upper : number or tensor
        The bounds, which are not drawn themselves; either may be infinite.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    √2 erf⁻¹(u) of uniform floats u between the values of the error function at the bounds, as
    ``jax.random.truncated_normal``. Bounds beyond 5 in f32 or 8 in f64, both of one sign, leave it no numbers to choose
    from.

    Examples
    --------
    >>> x, key = nx.random.truncated_normal(nx.random.key(7), -2.0, 2.0, shape=(1000,))
    >>> bool(nx.reduce_min(x) > -2), bool(nx.reduce_max(x) < 2)
    (True, True)
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("truncated_normal", shape, lower=lower, upper=upper)
    type_, inner = real_drawn("truncated_normal", type, lower, upper)
    lower, upper = (parameter(bound, inner, shape) for bound in (lower, upper))
    root = math.sqrt(2)
    drawn = root * erf_inv(uniforms(pair, shape, inner, erf(lower / root), erf(upper / root)))
    # Rounding could take a number to a bound, or beyond it.
    drawn = min(max(drawn, _above(lower, inner)), -_above(-upper, inner))
    return named(convert(drawn, type_), names), following


def _above(value: Operand, type_: Type) -> Operand:
    """The next greater float."""
    whole = unsigned(type_)
    as_bits = bitcast(value, whole)
    one = filled(1, whole, value.shape)
    further = select(greater(value, 0), as_bits + one, as_bits - one)
    return bitcast(select(equal(value, 0), one, further), type_)


def double_sided_maxwell(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Maxwell distribution with either sign, scaled and shifted.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    loc, scale : number or tensor, optional
        What is added, and what the numbers are multiplied by before.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    As ``jax.random.double_sided_maxwell`` for parameters that are numbers. With `shape` and parameters of a shape,
    JAX's has the axes of both.

    Examples
    --------
    >>> x, key = nx.random.double_sided_maxwell(nx.random.key(7), 10.0, 2.0, shape=(1000,))
    >>> round(nx.mean(x).to_number(), 0)
    10.0
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("double_sided_maxwell", shape, loc=loc, scale=scale)
    type_, inner = real_drawn("double_sided_maxwell", type, loc, scale)
    sizes, sides = subkeys(pair, 2)
    drawn = signs(sides, shape, inner) * maxwells(sizes, shape, inner)
    drawn = drawn * parameter(scale, inner, shape) + parameter(loc, inner, shape)
    return named(convert(drawn, type_), names), following


def wald(
    key: Any, mean: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Wald (inverse Gaussian) distribution of a mean and the scale 1.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    mean : number or tensor
        Positive.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float type; without it, the parameters give the type: f32 for numbers and integers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    As ``jax.random.wald``. A scale is λ times a sample of the mean m / λ.

    References
    ----------
    J. R. Michael, W. R. Schucany and R. W. Haas, "Generating random variates using transformations with multiple
    roots", The American Statistician 30, 1976.

    Examples
    --------
    >>> x, key = nx.random.wald(nx.random.key(7), 2.0, shape=(10_000,))
    >>> round(nx.mean(x).to_number(), 1)
    2.0
    """
    pair, following = advance(pair_of(key))
    shape = shape_drawn("wald", shape, mean=mean)
    type_, inner = real_drawn("wald", type, mean)
    first, second = subkeys(pair, 2)
    mean, drawn = parameter(mean, inner, shape), normals(first, shape, inner)
    squared = drawn * drawn
    root = sqrt(4 * mean * squared + mean * mean * squared * squared)
    lesser = mean + mean * mean * squared / 2 - mean / 2 * root
    is_lesser = less_equal(uniforms(second, shape, inner), mean / (mean + lesser))
    return named(convert(select(is_lesser, lesser, mean * mean / lesser), type_), names), following
