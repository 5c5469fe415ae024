"""Shared by samplers: their options, and floats from random bits."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.casting import bitcast
from nxkernel.ops.arithmetic.elementary import erf_inv
from nxkernel.ops.arithmetic.elementwise import complex, max
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.random.bit_stream import KeyWords, bits, bits_at, places
from nxkernel.shapes import Shape, normalize_names
from nxkernel.types import Type

_UNSIGNED = {8: types.u8, 16: types.u16, 32: types.u32, 64: types.u64}


def unsigned(type_: Type) -> Type:
    """The unsigned integer type of the same width."""
    return _UNSIGNED[type_.bits]


def shape_drawn(sampler: str, shape: Any, **parameters: Any) -> Shape:
    """The shape of a sample: as asked for, else that of the distribution's parameters."""
    for name, value in parameters.items():
        if isinstance(value, tuple) and all(type(n) is int for n in value):
            # The second argument is the shape in JAX and NumPy's older interface: nothing would tell the mistake.
            raise NxTypeError(
                message(
                    f"{sampler}: {name} is the tuple {value!r}.",
                    f"A shape goes by name: nx.random.{sampler}(key, shape={value!r}). "
                    f"Numbers are given as a list or a tensor: {name}={list(value)!r}.",
                )
            )
    shapes_of = {name: () if is_number(value) else operand(value, name).shape for name, value in parameters.items()}
    if shape is None:
        return functools.reduce(shapes.broadcast_shapes, shapes_of.values(), ())
    shape = shape_of(shape)
    for name, own in shapes_of.items():
        padded = (1,) * (len(shape) - len(own)) + own
        if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(padded, shape, strict=True)):
            raise NxValueError(
                message(
                    f"{sampler}: {name} has the shape {shapes.text(own)}, which does not spread over the shape "
                    f"{shapes.text(shape)} to draw.",
                    "Without shape=, the parameters give the shape.",
                )
            )
    return shape


def type_drawn(type_: Any, *parameters: Any) -> Type:
    """The type of a sample: as asked for, else that of the distribution's parameters, promoted."""
    if type_ is not None or not parameters:
        return types.normalize(type_)
    own = [types.infer(value) if is_number(value) else operand(value).type for value in parameters]
    return functools.reduce(types.merge, own)


def float_drawn(sampler: str, type_: Any, *parameters: Any) -> Type:
    """As :func:`type_drawn`, but integers become f32 unless asked for.

    Raises
    ------
    NxTypeError
        For integers that were asked for.
    """
    if type_ is None and parameters:
        return types.to_floating(type_drawn(None, *parameters))
    type_ = types.normalize(type_)
    if type_.is_integer:
        raise NxTypeError(
            message(
                f"{sampler} draws floats, got type={str(type_)!r}.",
                f"nx.random.randint draws integers; nx.as_type(x, {str(type_)!r}) cuts fractions off.",
            )
        )
    return type_


def real_drawn(sampler: str, type_: Any, *parameters: Any) -> tuple[Type, Type]:
    """As :func:`float_drawn`, and the type to compute in; complex numbers are refused."""
    type_ = float_drawn(sampler, type_, *parameters)
    if type_.is_complex:
        raise NxTypeError(f'{sampler} draws real numbers, got the type {type_}; write type="f32"')
    return type_, types.compute_type(type_)


def count_drawn(sampler: str, type_: Any, *, signed: bool = False) -> Type:
    """The type of a sample of counts: integers, or floats that hold them; `signed` where some are negative."""
    type_ = types.normalize(type_)
    if type_.is_complex or type_ is types.bool_ or (signed and type_.kind == "u"):
        what = "1 and -1" if signed else "whole numbers"
        raise NxTypeError(f'{sampler} draws {what}, got the type {type_}; write type="s64"')
    return type_


def parameter(value: Any, type_: Type, shape: Shape) -> Operand:
    """A parameter of a distribution, in the type and shape of the sample."""
    return filled(value, type_, shape) if is_number(value) else spread(convert(operand(value), type_), shape)


def named(result: Operand, names: Any) -> Operand:
    """A result with axis names."""
    if names is None:
        return result
    names = normalize_names(names, result.shape)
    return apply(primitives.reshape, result, shape=result.shape, names=names)


def floats(pair: KeyWords, shape: Shape, type_: Type, draw: Callable[[Operand, Type], Operand]) -> Operand:
    """Floats drawn by a function of random bits and a float type; complex numbers draw two parts."""
    if not type_.is_complex:
        return draw(bits(pair, shape, unsigned(type_)), type_)
    part, index, count = types.to_real(type_), places(shape), 2 * shapes.size(shape)
    parts = [bits_at(pair, index * 2 + odd, count, unsigned(part)) for odd in (0, 1)]
    return complex(*[draw(part_bits, part) for part_bits in parts])


def unit(random: Operand, type_: Type) -> Operand:
    """Evenly spaced floats in [0, 1) from random bits of their width."""
    digits = ml_dtypes.finfo(type_.dtype).nmant
    one = int(np.array(1, type_.dtype).view(random.type.dtype))
    return bitcast(random >> (type_.bits - digits) | one, type_) - 1.0


def uniforms(pair: KeyWords, shape: Shape, type_: Type, low: Any = 0.0, high: Any = 1.0) -> Operand:
    """Floats in [low, high) of a shape."""
    return between(bits(pair, shape, unsigned(type_)), type_, low, high)


def uniform_of_each(keys: KeyWords, type_: Type) -> Operand:
    """A float in [0, 1) for each of an array of keys."""
    return unit(_bits_of_each(keys, type_), type_)


def normals(pair: KeyWords, shape: Shape, type_: Type) -> Operand:
    """Standard normal floats of a shape."""
    return normal_of(bits(pair, shape, unsigned(type_)), type_)


def normal_of_each(keys: KeyWords, type_: Type) -> Operand:
    """A standard normal float for each of an array of keys."""
    return normal_of(_bits_of_each(keys, type_), type_)


def _bits_of_each(keys: KeyWords, type_: Type) -> Operand:
    return bits_at(keys, filled(0, types.u32, keys.first.shape), 1, unsigned(type_))


def normal_of(random: Operand, type_: Type) -> Operand:
    """Standard normal floats from random bits: the quantile function of uniform ones."""
    # The inverse error function is finite above -1.
    above = float(np.nextafter(np.array(-1, type_.dtype), np.array(0, type_.dtype)))
    return erf_inv(between(random, type_, above, 1.0)) * math.sqrt(2)


def between(random: Operand, type_: Type, low: Any, high: Any) -> Operand:
    """Floats in [low, high) from random bits."""
    floats = unit(random, type_)
    if is_number(low) and is_number(high) and (low, high) == (0, 1):
        return floats
    low, high = (parameter(bound, type_, random.shape) for bound in (low, high))
    # Rounding could take the product and sum below the lower bound.
    return max(floats * (high - low) + low, low)
