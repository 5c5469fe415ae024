"""NumPy's functions of signals and samples: convolution, interpolation, polynomials, window functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.numpy.arrays.array import Scalar, as_value, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import products
from nxkernel.numpy.functions.creation import arange, ones, zeros
from nxkernel.numpy.functions.joining import concatenate, pad
from nxkernel.numpy.functions.reductions import sum
from nxkernel.numpy.functions.selection import where
from nxkernel.numpy.functions.shaping import as_array, flip, in_one_axis
from nxkernel.numpy.functions.sorting import searchsorted
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import filled
from nxkernel.ops.programs.control_flow import run_while
from nxkernel.shapes import text
from nxkernel.types import s64

__all__ = [
    "bartlett", "blackman", "convolve", "correlate", "hamming", "hanning", "interp", "kaiser", "poly", "polyadd",
    "polyder", "polyint", "polymul", "polysub", "polyval",
]  # fmt: skip

#: How many coefficients of a polynomial are written out at most, and how many a turn takes where there are more.
_WRITTEN_OUT, _TOGETHER = 32, 16


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """The convolution of two vectors, as :func:`numpy.convolve`."""
    left, right = in_one_axis(as_value(a)), in_one_axis(as_value(v))
    if right.size > left.size:
        left, right = right, left
    return _slid(left, flip(right), mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """The cross-correlation of two vectors, as :func:`numpy.correlate`."""
    left, right = in_one_axis(as_value(a)), in_one_axis(as_value(v))
    conjugate = e.conjugate(right) if right.type.is_complex else right
    if right.size > left.size:
        return flip(_slid(conjugate, left, mode))
    return _slid(left, conjugate, mode)


def _slid(line: Any, window: Any, mode: str) -> Any:
    """The dot products of a window with each position of a line (cross-correlation)."""
    size = window.size
    borders = {"full": (size - 1, size - 1), "valid": (0, 0), "same": (size - 1 - (size - 1) // 2, (size - 1) // 2)}
    if mode not in borders:
        raise NxValueError(f'mode is "full", "same" or "valid", got {mode!r}')
    if mode == "same":
        borders["same"] = (size // 2, size - 1 - size // 2)
    before, after = borders[mode]
    padded = pad(line, (before, after))
    count = padded.shape[0] - size + 1

    def parts(first: Any, last: Any) -> tuple[Any, Any]:
        indices = e.add(arange(first, last)[:, None], arange(size)[None, :])
        return indices, padded[indices]

    def beyond(first: Any, last: Any) -> Any:
        # What a window has beyond the line is left out, since it may be infinite.
        indices, result = parts(first, last)
        inside = e.logical_and(e.greater_equal(indices, before), e.less(indices, before + line.shape[0]))
        return sum(where(inside, e.multiply(result, window), 0), axis=1)

    if mode == "valid" or (line.type.is_integer and window.type.is_integer):
        return products.dot(parts(0, count)[1], window)
    inner = products.dot(parts(before, count - after)[1], window)
    return concatenate([beyond(0, before), inner, beyond(count - after, count)])


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Piecewise linear interpolation between given points, as :func:`numpy.interp`."""
    if period is not None:
        raise NxValueError("interp takes no period: take x % period, and points around the ends, before")
    value, points = (as_value(side).astype("float64") for side in (x, xp))
    values = as_value(fp)
    values = values.astype("complex128" if values.type.is_complex else "float64")
    count = points.shape[0]
    if values.shape != points.shape:
        raise NxValueError("fp and xp are not of the same length.")
    index = e.maximum(e.minimum(e.subtract(searchsorted(points, value, "right"), 1), count - 2), 0)
    low, high = points[index], points[e.minimum(e.add(index, 1), count - 1)]
    below, above = values[index], values[e.minimum(e.add(index, 1), count - 1)]
    if values.type.is_complex:
        real, imaginary = (
            _between(value, low, high, *ends) for ends in ((below.real, above.real), (below.imag, above.imag))
        )
        result = e.add(real, e.multiply(imaginary, 1j))
    else:
        result = _between(value, low, high, below, above)
    result = where(e.less(value, points[0]), values[0] if left is None else left, result)
    result = where(e.equal(value, points[count - 1]), values[count - 1], result)
    result = where(e.greater(value, points[count - 1]), values[count - 1] if right is None else right, result)
    return where(e.isnan(value), value, result)[()]


def _between(value: Any, low: Any, high: Any, below: Any, above: Any) -> Any:
    """Linear interpolation between two points, also for infinite slopes and huge values."""
    slope = e.divide(e.subtract(above, below), e.subtract(high, low))
    result = e.add(e.multiply(slope, e.subtract(value, low)), below)
    other = where(e.equal(value, low), below, e.add(e.multiply(slope, e.subtract(value, high)), above))
    result = where(e.isnan(result), other, result)
    return where(e.logical_and(e.isnan(result), e.equal(below, above)), below, result)


def polyval(p: Any, x: Any) -> Any:
    """The value of a polynomial with coefficients from the highest power down, as :func:`numpy.polyval`."""
    coefficients, value = as_value(p), as_value(x)
    # Where there are many it is a loop of the program; each turn takes several, which one pass over the values does.
    many = tracing.current() is not None and coefficients.shape[0] > _WRITTEN_OUT
    iterations = coefficients.shape[0] // _TOGETHER if many else 0
    result = e.multiply(value, False)
    begin = coefficients.shape[0] - iterations * _TOGETHER
    for coefficient in coefficients[:begin]:
        result = e.add(e.multiply(result, value), coefficient)
    if not iterations:
        return result
    result = e.add(result, e.multiply(coefficients[0], 0))

    def step(state: list[Any]) -> list[Any]:
        index, now = Scalar(state[0]), wrap(state[1])
        for number in range(_TOGETHER):
            now = e.add(e.multiply(now, value), coefficients[e.add(index, begin + number)])
        return [e.add(index, _TOGETHER).node, now]

    def unfinished(state: list[Any]) -> Any:
        return comparison.less(state[0], iterations * _TOGETHER)

    return wrap(run_while([filled(0, s64, ()), result], unfinished, step, ["place", "value"])[1])


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials, as :func:`numpy.polyadd`."""
    return e.add(*_of_one_length(a1, a2))


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials, as :func:`numpy.polysub`."""
    return e.subtract(*_of_one_length(a1, a2))


def _of_one_length(a1: Any, a2: Any) -> tuple[Any, Any]:
    values = [as_array(each) for each in (a1, a2)]
    values = [value if value.ndim else value.reshape(1) for value in values]
    size = max(value.shape[0] for value in values)
    one, other = [pad(value, (size - value.shape[0], 0)) if value.shape[0] < size else value for value in values]
    return one, other


def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials, as :func:`numpy.polymul`."""
    return convolve(a1, a2)


def polyder(p: Any, m: int = 1) -> Any:
    """The derivative of a polynomial, as :func:`numpy.polyder`."""
    value = as_value(p)
    for _ in range(m):
        value = e.multiply(value[:-1], arange(value.shape[0] - 1, 0, -1))
    return value


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The integral of a polynomial, as :func:`numpy.polyint`."""
    value = as_value(p)
    for _ in range(m):
        whole = e.divide(value, arange(value.shape[0], 0, -1))
        value = concatenate(
            [whole, zeros(1, whole.dtype) if k is None else in_one_axis(as_value(k)).astype(whole.dtype)]
        )
    return value


def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with the given roots, as :func:`numpy.poly`."""
    zeros_ = as_array(seq_of_zeros)
    if zeros_.ndim > 1:
        raise NxTypeError(
            message(
                f"poly() takes places along one axis here, got {text(zeros_.shape)}.",
                "For a symmetric matrix, np.poly(np.linalg.eigvalsh(a)) is its characteristic polynomial.",
            )
        )
    dtype = np.dtype(np.mintypecode(zeros_.dtype.char))
    result = ones(1, dtype)
    for zero in zeros_ if zeros_.ndim else [zeros_]:
        result = convolve(result, as_value([1.0, e.negative(zero.astype(dtype))]).astype(dtype))
    return result


def _window(name: str, *shares: float) -> Any:
    import math

    def function(M: int) -> Any:  # noqa: N803 - NumPy's name
        if M <= 1:
            return zeros(max(M, 0)) + 1.0
        angle = e.multiply(arange(1 - M, M, 2), math.pi / (M - 1))
        result = shares[0]
        for k, share in enumerate(shares[1:], start=1):
            result = e.add(result, e.multiply(share, e.cos(e.multiply(angle, k))))
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A window, as :func:`numpy.{name}`."
    return function


hanning, hamming = _window("hanning", 0.5, 0.5), _window("hamming", 0.54, 0.46)
blackman = _window("blackman", 0.42, 0.5, 0.08)


def bartlett(M: int) -> Any:  # noqa: N803 - NumPy's name
    """The Bartlett (triangular) window, as :func:`numpy.bartlett`."""
    if M <= 1:
        return zeros(max(M, 0)) + 1.0
    return e.subtract(1.0, e.divide(e.absolute(arange(1 - M, M, 2)), M - 1))


def kaiser(M: int, beta: float) -> Any:  # noqa: N803 - NumPy's name
    """The Kaiser window, as :func:`numpy.kaiser`; its parameters must be known while tracing."""
    import numpy as np

    return as_value(np.kaiser(M, beta))
