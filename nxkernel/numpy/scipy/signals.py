"""Functions of ``scipy.signal`` on traced arrays: convolution, linear filters, trends."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.library_functions import HostFunction
from nxkernel.numpy.arrays.array import ArrayValue, as_value, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.joining import pad, stack
from nxkernel.numpy.functions.products import matmul
from nxkernel.numpy.functions.shaping import flip, moveaxis, reshape
from nxkernel.ops.machinery.dispatch import apply, convert, filled, operand
from nxkernel.ops.reductions.convolution import conv
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed

__all__ = [
    "choose_conv_method", "convolve", "convolve2d", "correlate", "correlate2d", "detrend", "fftconvolve", "lfilter",
    "oaconvolve", "sosfilt",
]  # fmt: skip

_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> ArrayValue:
    """The convolution of two arrays over all axes, as :func:`scipy.signal.convolve`, without a Fourier transform."""
    return _convolved(as_value(in1), as_value(in2), mode, "convolve")


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> ArrayValue:
    """As :func:`convolve`."""
    one, other = as_value(in1), as_value(in2)
    if axes is not None and sorted(axis % one.ndim for axis in np.atleast_1d(axes)) != list(range(one.ndim)):
        raise NxTypeError(message("fftconvolve goes over all axes here.", "Loop over the others, or use nx.vmap."))
    return _convolved(_floats(one), _floats(other), mode, "fftconvolve")


oaconvolve = fftconvolve


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> ArrayValue:
    """The cross-correlation of two arrays, as :func:`scipy.signal.correlate`."""
    one, other = as_value(in1), as_value(in2)
    if mode == "valid" and any(size < least for size, least in zip(one.shape, other.shape, strict=True)):
        return _turned(_convolved(other, _turned(one), mode, "correlate"))
    return _convolved(one, _turned(other), mode, "correlate")


def _turned(value: ArrayValue) -> ArrayValue:
    return flip(e.conjugate(value) if value.type.is_complex else value)


def choose_conv_method(in1: Any, in2: Any, mode: str = "full", measure: bool = False) -> Any:
    """How :func:`scipy.signal.convolve` would compute, by shapes and types: whole numbers are convolved directly."""
    values = [as_value(one) for one in (in1, in2)]
    if any(value.type.is_integer for value in values):
        return "direct"
    theirs = sys.modules["scipy.signal"].choose_conv_method
    return theirs(*[np.ones(value.shape, value.dtype) for value in values], mode, measure)


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> ArrayValue:
    """The convolution of two matrices, as :func:`scipy.signal.convolve2d`."""
    one, other = as_value(in1), as_value(in2)
    if boundary == "fill" and isinstance(fillvalue, int | float) and fillvalue == 0:
        return _convolved(one, other, mode, "convolve2d")
    if boundary not in _BOUNDARIES:
        raise NxValueError(f'boundary is "fill", "wrap" or "symm", got {boundary!r}')
    options = {"constant_values": fillvalue} if boundary == "fill" else {}
    if mode == "valid":
        return _convolved(one, other, mode, "convolve2d")
    padded = pad(one, [(size - 1, size - 1) for size in other.shape], mode=_BOUNDARIES[boundary], **options)
    full = _convolved(padded, other, "valid", "convolve2d")
    return full if mode == "full" else _centered(full, one.shape)


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> ArrayValue:
    """The cross-correlation of two matrices, as :func:`scipy.signal.correlate2d`."""
    value, other = as_value(in1), as_value(in2)
    turned = _turned(other)
    if mode == "same" and any(size % 2 == 0 for size in other.shape):
        full = convolve2d(value, turned, "full", boundary, fillvalue)
        starts = [size // 2 for size in other.shape]
        return full[tuple(slice(start, start + size) for start, size in zip(starts, value.shape, strict=True))]
    return convolve2d(value, turned, mode, boundary, fillvalue)


def _floats(value: ArrayValue) -> ArrayValue:
    return value.astype(types.to_floating(value.type).dtype)


def _centered(full: ArrayValue, shape: Sequence[int]) -> ArrayValue:
    starts = [(size - wanted) // 2 for size, wanted in zip(full.shape, shape, strict=True)]
    return full[tuple(slice(start, start + size) for start, size in zip(starts, shape, strict=True))]


def _convolved(one: ArrayValue, other: ArrayValue, mode: str, name: str) -> ArrayValue:
    if one.ndim != other.ndim:
        raise NxValueError(f"{name} takes arrays of as many axes, got {one.ndim} and {other.ndim}")
    if mode not in ("full", "same", "valid"):
        raise NxValueError(f'mode is "full", "same" or "valid", got {mode!r}')
    if not one.ndim:
        return e.multiply(one, other)
    type_ = types.merge(one.type, other.type)
    if type_.is_integer:
        return _of_integers(one, other, mode, type_)
    shape = one.shape
    if mode == "valid" and all(size <= least for size, least in zip(one.shape, other.shape, strict=True)):
        one, other = other, one
    padding = "valid" if mode == "valid" else [(size - 1, size - 1) for size in other.shape]
    kernel = flip(other)
    values = [
        convert(apply(p.reshape, operand(value), shape=(1, 1, *value.shape), names=(None,) * (value.ndim + 2)), type_)
        for value in (one, kernel)
    ]
    # The primitive is of three axes at least, of which one is space.
    found = operand(conv(*values, padding=padding))
    full = wrap(apply(p.reshape, found, shape=found.shape[2:], names=unnamed(found.shape[2:])))
    return _centered(full, shape) if mode == "same" else full


def _of_integers(one: ArrayValue, other: ArrayValue, mode: str, type_: Any) -> ArrayValue:
    """Sums of products of whole numbers, one for each element of the smaller array."""
    if mode == "valid" and all(size <= least for size, least in zip(one.shape, other.shape, strict=True)):
        one, other = other, one
    shape = [size + more - 1 for size, more in zip(one.shape, other.shape, strict=True)]
    total = None
    for index in np.ndindex(*other.shape):
        around = [(before, size - here - before) for before, size, here in zip(index, shape, one.shape, strict=True)]
        part = e.multiply(pad(one.astype(type_.dtype), around), other[index])
        total = part if total is None else e.add(total, part)
    if mode == "full":
        return total
    if mode == "same":
        return _centered(total, one.shape)
    return _centered(total, [size - more + 1 for size, more in zip(one.shape, other.shape, strict=True)])


def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False
) -> ArrayValue:  # fmt: skip
    """An array without its mean, or without the lines that fit it best, as :func:`scipy.signal.detrend`."""
    value = _floats(as_value(data))
    if type in ("constant", "c"):
        return e.subtract(value, reductions.mean(value, axis=axis, keepdims=True))
    if type not in ("linear", "l"):
        raise NxValueError(f'type is "linear" or "constant", got {type!r}')
    value = moveaxis(value, axis, -1)
    size = value.shape[-1]
    cuts = np.unique(np.concatenate([[0], np.atleast_1d(bp), [size]])).astype(int)
    if cuts[-1] > size:
        raise NxValueError(f"detrend: a break is at most at {size}, the number of elements, got {cuts[-1]}")
    lines = np.zeros((size, size))
    for first, last in itertools.pairwise(cuts):
        basis, _ = np.linalg.qr(np.stack([np.ones(last - first), np.arange(last - first)], axis=1))
        lines[first:last, first:last] = basis @ basis.T
    return moveaxis(e.subtract(value, matmul(value, lines.astype(value.dtype))), -1, axis)


# Linear filters --------------------------------------------------------------------------------------------------


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A digital filter along an axis, as :func:`scipy.signal.lfilter`."""
    values = [_floats(as_value(one)) for one in (b, a, x)] + ([] if zi is None else [_floats(as_value(zi))])
    type_ = values[0].type
    for value in values[1:]:
        type_ = types.merge(type_, value.type)
    numerator, denominator, *signals = [value.astype(type_.dtype) for value in values]
    signals = [moveaxis(value, axis, -1) for value in signals]
    nodes = [operand(value) for value in (reshape(numerator, -1), reshape(denominator, -1), *signals)]
    if zi is None:
        return moveaxis(wrap(_filtered(*nodes)), -1, axis)
    result, last = apply(p.njit_call, *nodes, function=_filter(nodes[2:]))
    return moveaxis(wrap(result), -1, axis), moveaxis(wrap(last), -1, axis)


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A digital filter in sections of the second order, as :func:`scipy.signal.sosfilt`."""
    sections, value, ends = as_value(sos), as_value(x), []
    for index in range(sections.shape[0]):
        start = None if zi is None else as_value(zi)[index]
        value = lfilter(sections[index, :3], sections[index, 3:], value, axis, start)
        if zi is not None:
            value, end = value
            ends.append(end)
    if zi is None:
        return value
    return value, stack(ends)


def _filter(signals: Sequence[Any]) -> HostFunction:
    def run(b: Any, a: Any, *given: Any) -> list[Any]:
        result = sys.modules["scipy.signal"].lfilter(b, a, given[0], -1, *given[1:])
        return list(result) if len(given) > 1 else [result]

    outputs = tuple([Spec(one.type, one.shape, unnamed(one.shape)) for one in signals])
    single = len(signals) == 1
    adjoint = _lfilter_adjoint if single else None
    return HostFunction("scipy.signal.lfilter", ("lfilter",), run, outputs, single, adjoint)


def _filtered(b: Any, a: Any, x: Any) -> Any:
    return apply(p.njit_call, b, a, x, function=_filter([x]))


def _lfilter_adjoint(at: Any) -> list[Any]:
    """What the coefficients and the signal gain: the recursion is solved backward in time."""
    b, a, x = at.x(0), at.x(1), at.x(2)
    backward = (len(x.shape) - 1,)
    one = filled(1, a.type, (1,))
    share = apply(p.reverse, _filtered(one, a, apply(p.reverse, at.g, axes=backward)), axes=backward)
    gain = apply(p.reverse, _filtered(b, one, apply(p.reverse, share, axes=backward)), axes=backward)
    return [
        _correlated(share, x, b.shape[0], 1) if at.wanted[0] else None,
        _correlated(share, at.y, a.shape[0], -1) if at.wanted[1] else None,
        gain if at.wanted[2] else None,
    ]


def _correlated(share: Any, signal: Any, count: int, sign: int) -> Any:
    """For each lag the sum of products of one signal with another one that is late by so many steps."""
    one, other = wrap(share), wrap(signal)
    size = one.shape[-1]
    sums = [
        reductions.sum(e.multiply(one[..., lag:], other[..., : max(size - lag, 0)])) for lag in range(count)
    ]  # fmt: skip
    return operand(e.multiply(as_value(sums), sign))
