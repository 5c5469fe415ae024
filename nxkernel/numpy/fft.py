"""``numpy.fft``: NumPy's Fourier transforms on traced arrays."""

from __future__ import annotations

import math
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxValueError
from nxkernel.numpy.arrays import subscripts
from nxkernel.numpy.arrays.array import ArrayValue, as_value, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions.creation import array
from nxkernel.numpy.functions.joining import concatenate, pad, roll
from nxkernel.numpy.functions.shaping import element_slice
from nxkernel.numpy.functions.ufunc import finished
from nxkernel.ops.machinery.dispatch import apply, convert, operand
from nxkernel.shapes import normalize_axis

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def resized(value: ArrayValue, axis: int, length: int | None) -> ArrayValue:
    """An array cut, or padded with zeros, to a length along an axis."""
    size = value.shape[axis]
    length = None if length is None else subscripts.static(length)
    if length is None or length == size:
        return value
    if length < size:
        return wrap(element_slice(operand(value), axis, 0, length))
    return pad(value, [(0, length - size if k == axis else 0) for k in range(value.ndim)])


def _transform(a: Any, lengths: Any, axes: Any, inverse: bool, norm: str | None) -> ArrayValue:
    value = as_value(a)
    if axes is None:
        axes = range(value.ndim) if lengths is None else range(value.ndim - len(lengths), value.ndim)
    positions = [normalize_axis(axis, value.shape) for axis in axes]
    if not positions:
        return value
    lengths = [None] * len(positions) if lengths is None else lengths
    for position, length in zip(positions, lengths, strict=True):
        value = resized(value, position, length)
    data = convert(operand(value), types.to_complex(value.type))
    result = wrap(apply(p.fft, data, axes=tuple(positions), inverse=inverse), value)
    count = math.prod(value.shape[position] for position in positions)
    if norm not in (None, "backward", "ortho", "forward"):
        raise NxValueError(f'norm is "backward", "ortho" or "forward", got {norm!r}')
    if norm in (None, "backward"):
        return result
    factor = math.sqrt(count) if norm == "ortho" else count
    return e.multiply(result, factor) if inverse else e.divide(result, factor)


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The Fourier transform along an axis, as :func:`numpy.fft.fft`."""
    return finished(_transform(a, [n], [axis], False, norm), out, True, "fft")


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The inverse transform along an axis, as :func:`numpy.fft.ifft`."""
    return finished(_transform(a, [n], [axis], True, norm), out, True, "ifft")


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The Fourier transform along several axes, as :func:`numpy.fft.fftn`."""
    return finished(_transform(a, s, axes, False, norm), out, True, "fftn")


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The inverse transform along several axes, as :func:`numpy.fft.ifftn`."""
    return finished(_transform(a, s, axes, True, norm), out, True, "ifftn")


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ArrayValue:
    """The Fourier transform along two axes, as :func:`numpy.fft.fft2`."""
    return fftn(a, s, axes, norm, out)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ArrayValue:
    """The inverse transform along two axes, as :func:`numpy.fft.ifft2`."""
    return ifftn(a, s, axes, norm, out)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The Fourier transform of real input, its non-redundant half, as :func:`numpy.fft.rfft`."""
    result = _transform(a, [n], [axis], False, norm)
    position = normalize_axis(axis, result.shape)
    half = wrap(element_slice(operand(result), position, 0, result.shape[position] // 2 + 1))
    return finished(half, out, True, "rfft")


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The inverse of :func:`rfft`, as :func:`numpy.fft.irfft`."""
    value = as_value(a)
    position = normalize_axis(axis, value.shape)
    length = 2 * (value.shape[position] - 1) if n is None else n
    return finished(
        _transform(_mirrored(value, position, length), None, [position], True, norm).real, out, True, "irfft"
    )


def _mirrored(value: ArrayValue, axis: int, length: int) -> ArrayValue:
    """The whole transform from its non-redundant half: the rest are the conjugates in reverse order."""
    value = resized(value, axis, length // 2 + 1)
    before = (slice(None),) * axis
    # Real numbers have a transform whose first element, and middle one of an even number, are real.
    ends = value[(*before, slice(0, 1))].real.astype(types.to_complex(value.type))
    count = (length - 1) // 2
    inner = value[(*before, slice(1, 1 + count))]
    pieces = [ends, inner]
    if length % 2 == 0:
        middle = value[(*before, slice(length // 2, length // 2 + 1))]
        pieces.append(middle.real.astype(ends.dtype))
    back = e.conjugate(inner)[(*before, slice(None, None, -1))]
    return concatenate([*pieces, back], axis=axis)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ArrayValue:
    """As :func:`rfft` along the last axis and :func:`fft` along others, as :func:`numpy.fft.rfftn`."""
    value = as_value(a)
    axes = list(range(value.ndim) if axes is None else axes)
    lengths = [None] * len(axes) if s is None else list(s)
    result = rfft(value, lengths[-1], axes[-1], norm)
    return finished(
        _transform(result, lengths[:-1], axes[:-1], False, norm) if len(axes) > 1 else result, out, True, ""
    )


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The inverse of :func:`rfftn`, as :func:`numpy.fft.irfftn`."""
    value = as_value(a)
    axes = list(range(value.ndim) if axes is None else axes)
    lengths = [None] * len(axes) if s is None else list(s)
    if len(axes) > 1:
        value = _transform(value, lengths[:-1], axes[:-1], True, norm)
    return irfft(value, lengths[-1], axes[-1], norm, out)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ArrayValue:
    """As :func:`rfftn` along two axes."""
    return rfftn(a, s, axes, norm, out)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ArrayValue:
    """As :func:`irfftn` along two axes."""
    return irfftn(a, s, axes, norm, out)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The Fourier transform of a signal with Hermitian symmetry, as :func:`numpy.fft.hfft`."""
    value = as_value(a)
    length = 2 * (value.shape[axis] - 1) if n is None else n
    other = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
    return irfft(e.conjugate(value), length, axis, other, out)


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ArrayValue:
    """The inverse of :func:`hfft`, as :func:`numpy.fft.ihfft`."""
    other = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
    return finished(e.conjugate(rfft(a, n, axis, other)), out, True, "ihfft")


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> ArrayValue:
    """The frequencies of a transform, as :func:`numpy.fft.fftfreq`, in a type of floats."""
    import numpy as np

    return _frequencies(np.fft.fftfreq, n, d, dtype)


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> ArrayValue:
    """The frequencies of the transform of real input, as :func:`numpy.fft.rfftfreq`, in a type of floats."""
    import numpy as np

    return _frequencies(np.fft.rfftfreq, n, d, dtype)


def _frequencies(function: Any, n: int, d: Any, dtype: Any) -> ArrayValue:
    result = _known(function(n, d)) if isinstance(d, float) else e.multiply(array(function(n)), e.divide(1.0, d))
    return result if dtype is None else result.astype(dtype)


def _known(values: Any) -> ArrayValue:
    return array(values)


def fftshift(x: Any, axes: Any = None) -> ArrayValue:
    """The frequency 0 moved to the middle, as :func:`numpy.fft.fftshift`."""
    value = as_value(x)
    positions = range(value.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    return roll(value, [value.shape[axis] // 2 for axis in positions], tuple(positions))


def ifftshift(x: Any, axes: Any = None) -> ArrayValue:
    """The inverse of :func:`fftshift`, as :func:`numpy.fft.ifftshift`."""
    value = as_value(x)
    positions = range(value.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    return roll(value, [-(value.shape[axis] // 2) for axis in positions], tuple(positions))
