"""What each elementary function has to give, and where it is tested: a row a function, for all tests of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import scipy.special

from nxkernel import primitives as p


@dataclass(frozen=True)
class Reference:
    """A function that is known.

    Parameters
    ----------
    numpy : callable
        Of an array of float64.
    precise : callable
        Of a number of mpmath; complex ones, too, where the primitive takes them.
    start : float
        Derivatives are compared with differences between here and one more.
    intervals : tuple of (float, float)
        Where it varies, besides the neighbourhoods of 0 and 1.
    ulps : tuple of int
        How many units in the last place results may be off: those of a processor from NumPy's or SciPy's, those of a
        GPU's kernels from the same, and those of random numbers from what is precise.
    """

    numpy: Callable[[Any], Any]
    precise: Callable[[Any], Any]
    start: float
    intervals: tuple[tuple[float, float], ...] = ((0, 10),)
    ulps: tuple[int, int, int] = (3, 4, 8)


def _sigmoid(x):
    return np.where(x < 0, np.exp(-np.abs(x)), 1.0) / (1 + np.exp(-np.abs(x)))


def _cbrt(x):
    real = isinstance(x, mpmath.mpf)
    return -mpmath.cbrt(-x) if real and x < 0 else mpmath.cbrt(x)


def _erfc(x):
    # Of numbers beyond, mpmath cannot even tell that it is 0.
    return mpmath.erfc(x) if x < 10**4 else mpmath.mpf(0)


_ANGLES = ((-4, 4), (-1000, 1000), (-1e5, 1e5))
_HYPERBOLIC = ((-2, 2), (-90, 90), (-711, 711))
REFERENCES = {
    "exp": Reference(np.exp, mpmath.exp, -0.5, ((-105, 90), (-746, 710))),
    "expm1": Reference(np.expm1, mpmath.expm1, -0.5, ((-2, 2), (-40, 89), (-40, 710))),
    "log": Reference(np.log, mpmath.log, 0.5),
    "log1p": Reference(np.log1p, mpmath.log1p, -0.5),
    "log2": Reference(np.log2, lambda x: mpmath.log(x, 2), 0.5),
    "log10": Reference(np.log10, mpmath.log10, 0.5),
    "sigmoid": Reference(
        _sigmoid, lambda x: 1 / (1 + mpmath.exp(-x)), -0.5, ((-20, 20), (-105, 90), (-746, 710)), (4, 4, 8)
    ),
    "sin": Reference(np.sin, mpmath.sin, -0.5, _ANGLES),
    "cos": Reference(np.cos, mpmath.cos, -0.5, _ANGLES),
    "tan": Reference(np.tan, mpmath.tan, -0.5, _ANGLES),
    "asin": Reference(np.arcsin, mpmath.asin, -0.4, ((-1, 1),)),
    "acos": Reference(np.arccos, mpmath.acos, -0.4, ((-1, 1),)),
    "atan": Reference(np.arctan, mpmath.atan, -0.5, ((-3, 3), (0.4, 0.5))),
    "sinh": Reference(np.sinh, mpmath.sinh, -0.5, _HYPERBOLIC),
    "cosh": Reference(np.cosh, mpmath.cosh, -0.5, _HYPERBOLIC),
    "tanh": Reference(np.tanh, mpmath.tanh, -0.5, ((-1, 1), (-20, 20))),
    "asinh": Reference(np.arcsinh, mpmath.asinh, -0.5),
    "acosh": Reference(np.arccosh, mpmath.acosh, 1.5, ((1, 1.01), (1, 10))),
    "atanh": Reference(np.arctanh, mpmath.atanh, -0.4, ((-1, 1), (-0.2, 0.2))),
    "sqrt": Reference(np.sqrt, mpmath.sqrt, 0.5, ulps=(0, 0, 0)),
    "rsqrt": Reference(lambda x: 1 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x), 0.5),
    "cbrt": Reference(np.cbrt, _cbrt, 0.5),
    "erf": Reference(scipy.special.erf, mpmath.erf, -0.5, ((-1, 1), (-6, 6)), (4, 4, 8)),
    "erfc": Reference(scipy.special.erfc, _erfc, -0.5, ((0, 2), (-6, 10.1), (0, 27.3)), (6, 6, 16)),
    "erf_inv": Reference(
        lambda x: np.copysign(scipy.special.erfinv(x), x),
        mpmath.erfinv,
        -0.4,
        ((-1, 1), (0.8, 0.9), (0.99, 1)),
        (8, 4, 16),
    ),
}
#: The same by primitive.
BY_PRIMITIVE = {p.TABLE[name]: reference for name, reference in REFERENCES.items()}
OF_COMPLEX = [name for name, function in p.ELEMENTARY.items() if function.complex]
OF_REAL = [name for name in p.ELEMENTARY if name not in OF_COMPLEX]
