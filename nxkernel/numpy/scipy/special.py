"""``scipy.special`` on traced arrays: functions that are no ufuncs, and all ufuncs by their names.

``nxkernel.numpy.special`` is this module, where SciPy's own functions look for what a library of arrays has of them.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.numpy.arrays.array import ArrayValue, as_value
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import joining, reductions, shaping
from nxkernel.numpy.functions.selection import where
from nxkernel.numpy.scipy import special_ufuncs

__all__ = ["comb", "factorial", "log_softmax", "logsumexp", "multigammaln", "polygamma", "softmax", "zeta"]


def __getattr__(name: str) -> Any:
    theirs = vars(sys.modules.get("scipy.special._ufuncs", special_ufuncs)).get(name)
    if isinstance(theirs, np.ufunc) and not name.startswith("__"):
        return special_ufuncs.of(theirs)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _floating(a: Any) -> ArrayValue:
    value = as_value(a)
    return value.astype(types.to_floating(value.type).dtype) if value.type.is_integer else value


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> ArrayValue | tuple[ArrayValue, ArrayValue]:
    """The logarithm of a sum of exponentials, as :func:`scipy.special.logsumexp`."""
    value = _floating(a)
    if value.type.is_complex:
        return _logsumexp_of_complex(value, axis, b, keepdims, return_sign)
    weights = None if b is None else _floating(b)
    if weights is not None:
        value, weights = joining.broadcast_arrays(value, weights)
        # What has no weight adds nothing, be it infinite.
        value = where(e.equal(weights, 0), -math.inf, value)
    top = reductions.max(value, axis=axis, keepdims=True)
    # An infinite greatest element is what it is; the others are shifted by it.
    shift = where(e.isfinite(top), top, 0)
    first = e.logical_and(e.equal(value, top), e.isfinite(top))
    shares = where(first, 0, e.exp(e.subtract(value, shift)))
    counts = first.astype(value.dtype)
    if weights is not None:
        shares, counts = e.multiply(weights, shares), e.multiply(weights, counts)
    # The greatest elements are apart from the sum, which would take the digits of the others.
    count = reductions.sum(counts, axis=axis, keepdims=True)
    rest = reductions.sum(shares, axis=axis, keepdims=True)
    whole = e.add(count, rest)
    sign = e.sign(whole)
    known = e.greater(count, 0)
    near = e.greater(whole, e.multiply(0.5, count))
    split = e.logical_and(known, near)
    precise = e.add(e.log1p(where(split, e.divide(rest, where(known, count, 1)), 0)), e.log(where(known, count, 1)))
    size = e.absolute(whole) if return_sign else whole
    result = e.add(where(split, precise, e.log(where(split, 1, size))), shift)
    if not keepdims:
        result, sign = _squeezed(result, axis), _squeezed(sign, axis)
    return (result, sign) if return_sign else result


def _logsumexp_of_complex(value: ArrayValue, axis: Any, b: Any, keepdims: bool, return_sign: bool) -> Any:
    shift = reductions.max(value.real, axis=axis, keepdims=True)
    shift = where(e.isfinite(shift), shift, 0)
    shares = e.exp(e.subtract(value, shift))
    whole = reductions.sum(shares if b is None else e.multiply(b, shares), axis=axis, keepdims=True)
    sizes = e.absolute(whole)
    result = e.add(e.log(sizes) if return_sign else e.log(whole), shift)
    sign = e.divide(whole, where(e.equal(sizes, 0), 1, sizes))
    if not keepdims:
        result, sign = _squeezed(result, axis), _squeezed(sign, axis)
    return (result, sign) if return_sign else result


def _squeezed(value: ArrayValue, axis: Any) -> ArrayValue:
    result = shaping.squeeze(value, axis)
    return result if result.ndim else result[()]


def softmax(x: Any, axis: Any = None) -> ArrayValue:
    """Exponentials divided by their sum, as :func:`scipy.special.softmax`."""
    value = _floating(x)
    shifted = e.exp(e.subtract(value, reductions.max(value, axis=axis, keepdims=True)))
    return e.divide(shifted, reductions.sum(shifted, axis=axis, keepdims=True))


def log_softmax(x: Any, axis: Any = None) -> ArrayValue:
    """The logarithm of :func:`softmax`, as :func:`scipy.special.log_softmax`."""
    value = _floating(x)
    top = reductions.max(value, axis=axis, keepdims=True)
    shifted = e.subtract(value, where(e.isfinite(top), top, 0))
    return e.subtract(shifted, e.log(reductions.sum(e.exp(shifted), axis=axis, keepdims=True)))


def zeta(x: Any, q: Any = None, out: Any = None) -> ArrayValue:
    """The zeta function of Riemann, or that of Hurwitz, as :func:`scipy.special.zeta`."""
    ufuncs = sys.modules["scipy.special._ufuncs"]
    if q is None:
        return special_ufuncs.of(ufuncs._riemann_zeta)(x, out=out)
    return special_ufuncs.of(ufuncs._zeta)(x, q, out=out)


def polygamma(n: Any, x: Any) -> ArrayValue:
    """Derivatives of the digamma function, as :func:`scipy.special.polygamma`."""
    psi, gamma = (special_ufuncs.of(getattr(sys.modules["scipy.special._ufuncs"], name)) for name in ("psi", "gamma"))
    if isinstance(n, int):
        order = float(n)
        return psi(x) if n == 0 else e.multiply((-1.0) ** (n + 1) * math.gamma(order + 1.0), zeta(order + 1.0, x))
    order = _floating(n)
    lowest = e.equal(order, 0)
    order = where(lowest, 1.0, order)
    higher = e.multiply(e.multiply(e.power(-1.0, e.add(order, 1.0)), gamma(e.add(order, 1.0))), zeta(order + 1.0, x))
    return where(lowest, psi(x), higher)


def multigammaln(a: Any, d: int) -> ArrayValue:
    """The logarithm of the multivariate gamma function, as :func:`scipy.special.multigammaln`, without its check."""
    if d != int(d) or d < 1:
        raise NxValueError(f"multigammaln: d is a positive whole number, got {d!r}")
    gammaln = special_ufuncs.of(sys.modules["scipy.special._ufuncs"].gammaln)
    total = sum((gammaln(e.subtract(a, j / 2)) for j in range(1, int(d))), gammaln(a))
    return e.add(total, d * (d - 1) / 4 * math.log(math.pi))


def _in_floats(name: str, exact: bool) -> None:
    if exact:
        raise NxTypeError(
            message(
                f"{name}(exact=True) has whole numbers of any size, which arrays of a program have not.",
                f"{name}(..., exact=False) is of floats; of known numbers, call it before the definition.",
            )
        )


def factorial(n: Any, exact: bool = False, extend: str = "zero") -> ArrayValue:
    """The factorial of each element, as :func:`scipy.special.factorial`."""
    _in_floats("factorial", exact)
    if extend != "zero":
        raise NxValueError(f'factorial: extend is "zero" in a program, got {extend!r}')
    value = _floating(n)
    gamma = special_ufuncs.of(sys.modules["scipy.special._ufuncs"].gamma)
    return where(e.less(value, 0), 0.0, gamma(e.add(where(e.less(value, 0), 0.0, value), 1.0))).astype(value.dtype)


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> ArrayValue:  # noqa: N803 - SciPy's name
    """The number of choices of `k` things out of `N`, as :func:`scipy.special.comb`."""
    _in_floats("comb", exact)
    if repetition:
        return comb(e.subtract(e.add(N, k), 1), k)
    binom = special_ufuncs.of(sys.modules["scipy.special._ufuncs"].binom)
    possible = e.logical_and(e.logical_and(e.less_equal(k, N), e.greater_equal(N, 0)), e.greater_equal(k, 0))
    return where(possible, binom(N, k), 0.0)
