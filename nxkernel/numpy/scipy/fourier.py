"""``scipy.fft`` on traced arrays: Fourier transforms are NumPy's, cosine and sine transforms are made of them.

References
----------
J. Makhoul, "A fast cosine transform in one and two dimensions", IEEE Transactions on Acoustics, Speech, and Signal
Processing 28, 1980.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.numpy import fft as numpys
from nxkernel.numpy.arrays.array import ArrayValue, as_value
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions.creation import array, zeros
from nxkernel.numpy.functions.joining import concatenate, pad, stack
from nxkernel.numpy.functions.products import matmul
from nxkernel.numpy.functions.shaping import flip, moveaxis, reshape

_LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_PLANES = ("fft2", "ifft2", "rfft2", "irfft2")
_SPACES = ("fftn", "ifftn", "rfftn", "irfftn")
_SHIFTS = ("fftshift", "ifftshift")
_REAL = ("dct", "idct", "dst", "idst")
__all__ = [
    *_LINES, *_PLANES, *_SPACES, *_SHIFTS, *_REAL, *(f"{name}n" for name in _REAL), "hfft2", "hfftn", "ihfft2",
    "ihfftn",
]  # fmt: skip

#: The scale of the inverse, for that of a transform.
_INVERSE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _along_a_line(name: str) -> Callable[..., ArrayValue]:
    theirs = getattr(numpys, name)

    def transform(
        x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
        plan: Any = None,
    ) -> ArrayValue:  # fmt: skip
        return theirs(x, n, axis, norm)

    return transform


def _over_axes(name: str, default: Any) -> Callable[..., ArrayValue]:
    theirs = getattr(numpys, name)

    def transform(
        x: Any, s: Any = None, axes: Any = default, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
        plan: Any = None,
    ) -> ArrayValue:  # fmt: skip
        return theirs(x, s, axes, norm)

    return transform


def hfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None,
) -> ArrayValue:  # fmt: skip
    """The transform of what is Hermitian, which is real, as :func:`scipy.fft.hfftn`."""
    return numpys.irfftn(e.conjugate(x), s, axes, _INVERSE[norm])


def ihfftn(
    x: Any, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None, *,
    plan: Any = None,
) -> ArrayValue:  # fmt: skip
    """The inverse of :func:`hfftn`, as :func:`scipy.fft.ihfftn`."""
    return e.conjugate(numpys.rfftn(x, s, axes, _INVERSE[norm]))


def hfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, *others: Any, **more: Any) -> ArrayValue:
    """As :func:`hfftn`, over two axes."""
    return hfftn(x, s, axes, norm, *others, **more)


def ihfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, *others: Any, **more: Any) -> ArrayValue:
    """As :func:`ihfftn`, over two axes."""
    return ihfftn(x, s, axes, norm, *others, **more)


# Cosines and sines -----------------------------------------------------------------------------------------------


def _cosines(value: ArrayValue) -> ArrayValue:
    """The cosine transform of type 2 along the last axis, without a scale."""
    size = value.shape[-1]
    mixed = concatenate([value[..., ::2], value[..., 1::2][..., ::-1]], axis=-1)
    turned = e.multiply(numpys.fft(mixed), _turns(-1, size, value))
    return e.multiply(turned.real, 2)


def _of_cosines(value: ArrayValue) -> ArrayValue:
    """The cosine transform of type 3 along the last axis, without a scale."""
    size = value.shape[-1]
    last = concatenate([zeros((*value.shape[:-1], 1), value.dtype), value[..., :0:-1]], axis=-1)
    mixed = e.multiply(e.add(value, e.multiply(last, array(-1j, _complex(value)))), _turns(1, size, value))
    known = e.multiply(numpys.ifft(mixed).real, size)
    half = (size + 1) // 2
    front, back = known[..., :half], known[..., half:][..., ::-1]
    if size % 2:
        back = pad(back, [(0, 0)] * (value.ndim - 1) + [(0, 1)])
    return reshape(stack([front, back], axis=-1), (*value.shape[:-1], 2 * half))[..., :size]


def _complex(value: ArrayValue) -> np.dtype:
    return types.to_complex(value.type).dtype


def _turns(sign: int, size: int, value: ArrayValue) -> Any:
    return np.exp(sign * 1j * math.pi * np.arange(size) / (2 * size)).astype(_complex(value))


def _signs(size: int, value: ArrayValue) -> Any:
    return np.where(np.arange(size) % 2, -1, 1).astype(value.dtype)


def _real_transform(
    name: str, value: ArrayValue, type: int, norm: Any, orthogonalize: bool | None
) -> ArrayValue:  # fmt: skip
    """A cosine or sine transform along the last axis."""
    size = value.shape[-1]
    if norm not in _INVERSE:
        raise NxValueError(f'norm is "backward", "ortho" or "forward", got {norm!r}')
    if type not in (2, 3):
        theirs = getattr(sys.modules["scipy.fft"], name)
        given = {} if orthogonalize is None else {"orthogonalize": orthogonalize}
        matrix = theirs(np.eye(size), type=type, axis=0, norm=norm, **given)
        return matmul(value, matrix.T.astype(value.dtype))
    if name.startswith("i"):
        name, type, norm = name[1:], 5 - type, _INVERSE[norm]
    sines = name == "dst"
    # Of the one coefficient that is alone in its size.
    place = size - 1 if sines else 0
    straight = orthogonalize if orthogonalize is not None else norm == "ortho"
    weights = np.ones(size)
    weights[place] = math.sqrt(0.5) if type == 2 else math.sqrt(2)
    weights = weights.astype(value.dtype) if straight else None
    if type == 2:
        result = _cosines(e.multiply(value, _signs(size, value)) if sines else value)
        result = flip(result, -1) if sines else result
        result = result if weights is None else e.multiply(result, weights)
    else:
        value = value if weights is None else e.multiply(value, weights)
        result = _of_cosines(flip(value, -1) if sines else value)
        result = e.multiply(result, _signs(size, value)) if sines else result
    scale = {None: 1, "backward": 1, "ortho": math.sqrt(2 * size), "forward": 2 * size}[norm]
    return result if scale == 1 else e.divide(result, scale)


def _real_line(name: str) -> Callable[..., ArrayValue]:
    def transform(
        x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: Any = False,
        workers: Any = None, orthogonalize: bool | None = None,
    ) -> ArrayValue:  # fmt: skip
        value = moveaxis(_real_floats(name, x), axis, -1)
        value = value if n is None else numpys.resized(value, value.ndim - 1, n)
        return moveaxis(_real_transform(name, value, type, norm, orthogonalize), -1, axis)

    return transform


def _real_space(name: str) -> Callable[..., ArrayValue]:
    def transform(
        x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
        workers: Any = None, *, orthogonalize: bool | None = None,
    ) -> ArrayValue:  # fmt: skip
        value = _real_floats(name, x)
        if axes is None:
            axes = range(value.ndim) if s is None else range(value.ndim - len(s), value.ndim)
        axes = [axes] if isinstance(axes, int) else list(axes)
        sizes = [None] * len(axes) if s is None else [s] if isinstance(s, int) else s
        for axis, size in zip(axes, sizes, strict=True):
            value = globals()[name](value, type, size, axis, norm, orthogonalize=orthogonalize)
        return value

    return transform


def _real_floats(name: str, x: Any) -> ArrayValue:
    value = as_value(x)
    if value.type.is_complex:
        raise NxTypeError(message(f"{name} takes real numbers, got {value.type}.", "Transform x.real and x.imag."))
    return value.astype(types.merge(types.to_floating(value.type), types.f32).dtype)


def _named(function: Callable[..., ArrayValue], name: str) -> Callable[..., ArrayValue]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As :func:`scipy.fft.{name}`."
    return function


globals().update({name: _named(_along_a_line(name), name) for name in _LINES})
globals().update({name: _named(_over_axes(name, (-2, -1)), name) for name in _PLANES})
globals().update({name: _named(_over_axes(name, None), name) for name in _SPACES})
globals().update({name: getattr(numpys, name) for name in _SHIFTS})
globals().update({name: _named(_real_line(name), name) for name in _REAL})
globals().update({f"{name}n": _named(_real_space(name), f"{name}n") for name in _REAL})
