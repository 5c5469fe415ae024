"""Samplers of bits, integers, and uniform, normal and Gumbel distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.comparison import select
from nxkernel.ops.arithmetic.elementary import log
from nxkernel.ops.machinery.dispatch import convert, filled, is_number, operand
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.random import bit_stream
from nxkernel.random.bit_stream import KeyWords, advance, pair_of
from nxkernel.random.sampler_options import (
    between,
    float_drawn,
    floats,
    named,
    normal_of,
    parameter,
    real_drawn,
    shape_drawn,
    type_drawn,
    uniforms,
    unsigned,
)
from nxkernel.shapes import Shape
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = [
    "bits", "bits_split", "gumbel", "gumbel_split", "normal", "normal_split", "randint", "randint_split", "uniform",
    "uniform_split",
]  # fmt: skip

Drawn = Tensor | Expr
Names = Sequence[str | None] | None


def bits(key: Any, *, shape: Any = (), type: Any = "u32", names: Names = None) -> tuple[Drawn, Drawn]:
    """Draw uniformly distributed integers over the whole range of a type.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    shape : tuple of int, optional
    type : type, optional
        An integer type.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The integers and a new key.

    Examples
    --------
    >>> x, key = nx.random.bits(nx.random.key(7), shape=(2,))
    >>> x.to_list()
    [2210907715, 337117171]
    """
    pair, following = advance(pair_of(key))
    return _bits(pair, shape, type, names), following


def bits_split(key: Any, *, shape: Any = (), type: Any = "u32", names: Names = None) -> Drawn:
    """As :func:`bits`, with a key that has been split already.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; do not use it again.
    shape : tuple of int, optional
    type : type, optional
        An integer type.
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.random.bits_split(nx.random.key(7), type="u8").to_list()
    139
    """
    return _bits(pair_of(key), shape, type, names)


def _bits(pair: KeyWords, shape: Any, type_: Any, names: Names) -> Drawn:
    type_, shape = _integer("bits", types.normalize(type_)), shape_of(shape)
    return named(convert(bit_stream.bits(pair, shape, unsigned(type_)), type_), names)


def _integer(sampler: str, type_: Type) -> Type:
    if type_.kind not in ("u", "s"):
        raise NxTypeError(
            message(
                f"{sampler} draws integers, got the type {type_}.",
                'Write type="s64", or draw floats with nx.random.uniform.',
            )
        )
    return type_


def randint(
    key: Any, min_val: Any, max_val: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Drawn, Drawn]:
    """Draw uniformly distributed integers in ``[min_val, max_val)``.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    min_val, max_val : int or tensor of integers
        Tensors give bounds to each element. Where `max_val` is not above `min_val`, the result is `min_val`.
    shape : tuple of int, optional
        Without it, the bounds give the shape.
    type : type, optional
        Without it, the bounds give the type: s64 for numbers.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The integers and a new key.

    Raises
    ------
    NxTypeError
        For a type, or bounds, that are no integers.
    NxValueError
        For numbers as bounds that enclose nothing, or that the type does not hold.

    Notes
    -----
    The remainder of twice as many bits as the type has makes every number nearly equally likely: none is off by
    more than the width of the range divided by 2 to the number of bits. The numbers are those of Nx, which draws both
    halves of the bits from one stream; ``jax.random.randint`` splits the key, and gives others.

    Examples
    --------
    >>> x, key = nx.random.randint(nx.random.key(1701), 1, 100, shape=(3, 2), type="u32")
    >>> x.to_list()
    [[9, 20], [19, 6], [71, 15]]
    """
    pair, following = advance(pair_of(key))
    return _randint(pair, min_val, max_val, shape, type, names), following


def randint_split(
    key: Any, min_val: Any, max_val: Any, *, shape: Any = None, type: Any = None, names: Names = None
) -> Drawn:
    """As :func:`randint`, with a key that has been split already.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; do not use it again.
    min_val, max_val : int or tensor of integers
    shape : tuple of int, optional
    type : type, optional
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.random.randint_split(nx.random.key(3), 0, 6, shape=(5,)).to_list()
    [3, 3, 3, 4, 0]
    """
    return _randint(pair_of(key), min_val, max_val, shape, type, names)


def _randint(pair: KeyWords, min_val: Any, max_val: Any, shape: Any, type_: Any, names: Names) -> Drawn:
    shape = shape_drawn("randint", shape, min_val=min_val, max_val=max_val)
    _check_bounds(min_val=min_val, max_val=max_val)
    type_ = _integer("randint", type_drawn(type_, min_val, max_val))
    whole = unsigned(type_)
    _check_range(type_, min_val, max_val)
    higher, lower = bit_stream.double_bits(pair, shape, whole)
    low = parameter(min_val, type_, shape)
    if is_number(min_val) and is_number(max_val):
        span = max_val - min_val
        if span == 2**whole.bits:
            return named(convert(lower, type_) + low, names)
        span = filled(span, whole, shape)
    else:
        high = parameter(max_val, type_, shape)
        span = select(low < high, convert(high - low, whole), filled(1, whole, shape))
    factor = filled(2 ** (whole.bits // 2), whole, shape).remainder(span)
    factor = (factor * factor).remainder(span)
    offset = (higher.remainder(span) * factor + lower.remainder(span)).remainder(span)
    return named(low + convert(offset, type_), names)


def _check_bounds(**bounds: Any) -> None:
    for name, bound in bounds.items():
        type_ = types.infer(bound) if is_number(bound) else operand(bound, name).type
        if not type_.is_integer:
            raise NxTypeError(
                message(
                    f"randint: {name} is an integer, got {bound!r}."
                    if is_number(bound)
                    else f"randint: {name} holds integers, got {operand(bound).spec}.",
                    "nx.random.uniform draws floats between two bounds.",
                )
            )


def _check_range(type_: Type, min_val: Any, max_val: Any) -> None:
    """Raise an error for bounds that are no valid range of the type."""
    least, greatest = types.limits(type_)
    both = is_number(min_val) and is_number(max_val)
    if both and min_val >= max_val:
        raise NxValueError(
            message(
                f"randint: there is no whole number from {min_val} to below {max_val}.",
                "max_val is not drawn itself: randint(key, 0, 1) gives zeros.",
            )
        )
    for name, bound, most in (("min_val", min_val, greatest), ("max_val", max_val, greatest + both)):
        if is_number(bound) and not least <= bound <= most:
            raise NxValueError(
                message(
                    f"randint: {name}={bound} is outside of {type_}, which goes from {least} to {greatest}.",
                    'Ask for a wider type, such as type="s64".',
                )
            )


def uniform(
    key: Any, min_val: Any = 0.0, max_val: Any = 1.0, *, shape: Any = None, type: Any = None, names: Names = None
) -> tuple[Drawn, Drawn]:
    """Draw uniformly distributed floats in ``[min_val, max_val)``.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    min_val, max_val : number or tensor, optional
        Tensors give bounds to each element.
    shape : tuple of int, optional
        Without it, the bounds give the shape.
    type : type, optional
        A float or complex type; without it, the bounds give the type: f32 for numbers. Complex numbers have two
        parts between the bounds.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The floats and a new key.

    Raises
    ------
    NxTypeError
        For a type without fractions.

    Notes
    -----
    The floats have equal distances: 2**-23 of the range in f32, 2**-52 in f64. From 0 to 1 these are also those of
    ``jax.random.uniform``; of f16 and bf16 they are those of Nx alone.

    Examples
    --------
    >>> x, key = nx.random.uniform(nx.random.key(1701), shape=(3,), type="f64")
    >>> x.to_list()
    [0.7114983205368659, 0.43100965884064046, 0.5485493424345516]
    """
    pair, following = advance(pair_of(key))
    return _uniform(pair, min_val, max_val, shape, type, names), following


def uniform_split(
    key: Any, min_val: Any = 0.0, max_val: Any = 1.0, *, shape: Any = None, type: Any = None, names: Names = None
) -> Drawn:
    """As :func:`uniform`, with a key that has been split already.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; do not use it again.
    min_val, max_val : number or tensor, optional
    shape : tuple of int, optional
    type : type, optional
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.random.uniform_split(nx.random.key(3), -1, 1, shape=(2,)).to_list()
    [-0.09359121322631836, 0.03268599510192871]
    """
    return _uniform(pair_of(key), min_val, max_val, shape, type, names)


def _uniform(pair: KeyWords, min_val: Any, max_val: Any, shape: Any, type_: Any, names: Names) -> Drawn:
    shape = shape_drawn("uniform", shape, min_val=min_val, max_val=max_val)
    type_ = float_drawn("uniform", type_, min_val, max_val)
    return named(floats(pair, shape, type_, lambda bits, real: between(bits, real, min_val, max_val)), names)


def normal(
    key: Any,
    mean: Any = 0.0,
    standard_deviation: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    names: Names = None,
) -> tuple[Drawn, Drawn]:
    """Draw from normal distributions.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    mean, standard_deviation : number or tensor, optional
        Tensors give every element a distribution of its own.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        A float or complex type; without it, the parameters give the type: f32 for numbers. Both parts of a complex
        number have the mean and the standard deviation.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type without fractions.

    Notes
    -----
    The quantile function, √2 erf⁻¹(u), of uniform floats u in (-1, 1).

    Examples
    --------
    >>> x, key = nx.random.normal(nx.random.key(42))
    >>> round(x.to_number(), 4)
    1.3695
    """
    pair, following = advance(pair_of(key))
    return _normal(pair, mean, standard_deviation, shape, type, names), following


def normal_split(
    key: Any,
    mean: Any = 0.0,
    standard_deviation: Any = 1.0,
    *,
    shape: Any = None,
    type: Any = None,
    names: Names = None,
) -> Drawn:
    """As :func:`normal`, with a key that has been split already.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; do not use it again.
    mean, standard_deviation : number or tensor, optional
    shape : tuple of int, optional
    type : type, optional
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> x = nx.random.normal_split(nx.random.key(0), 10, 2, shape=(1000,))
    >>> round(x.mean().to_number(), 2)
    9.99
    """
    return _normal(pair_of(key), mean, standard_deviation, shape, type, names)


def _normal(pair: KeyWords, mean: Any, deviation: Any, shape: Any, type_: Any, names: Names) -> Drawn:
    shape = shape_drawn("normal", shape, mean=mean, standard_deviation=deviation)
    type_ = float_drawn("normal", type_, mean, deviation)
    standard = is_number(mean) and is_number(deviation) and (mean, deviation) == (0, 1)

    def draw(bits: Operand, real: Type) -> Operand:
        result = normal_of(bits, real)
        return result if standard else result * parameter(deviation, real, shape) + parameter(mean, real, shape)

    return named(floats(pair, shape, type_, draw), names)


def gumbel(key: Any, *, shape: Any = (), type: Any = "f32", names: Names = None) -> tuple[Drawn, Drawn]:
    """Draw from the standard Gumbel distribution.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    shape : tuple of int, optional
    type : type, optional
        A float type.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no float.

    Notes
    -----
    -log(-log(u)) of uniform floats u in (0, 1).

    Examples
    --------
    >>> x, key = nx.random.gumbel(nx.random.key(1))
    >>> round(x.to_number(), 4)
    -0.7295
    """
    pair, following = advance(pair_of(key))
    return _gumbel(pair, shape, type, names), following


def gumbel_split(key: Any, *, shape: Any = (), type: Any = "f32", names: Names = None) -> Drawn:
    """As :func:`gumbel`, with a key that has been split already.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; do not use it again.
    shape : tuple of int, optional
    type : type, optional
        A float type.
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> x = nx.random.gumbel_split(nx.random.key(0), shape=(1000,))
    >>> round(x.mean().to_number(), 2)
    0.56
    """
    return _gumbel(pair_of(key), shape, type, names)


def _gumbel(pair: KeyWords, shape: Any, type_: Any, names: Names) -> Drawn:
    type_, _ = real_drawn("gumbel", type_)
    return named(gumbels(pair, shape_of(shape), type_), names)


def gumbels(pair: KeyWords, shape: Shape, type_: Type) -> Operand:
    """Numbers of the standard Gumbel distribution."""
    tiny = float(ml_dtypes.finfo(type_.dtype).smallest_normal)
    return -log(-log(uniforms(pair, shape, type_, tiny, 1.0)))
