"""What a test of one primitive needs: operands, parameters, and how far two results may be apart."""

import dataclasses
import math
from typing import Any

import ml_dtypes
import numpy as np

from nxkernel import types
from nxkernel.primitives import Primitive

#: Relative distance from one to the next number, by type.
EPSILON = {types.bf16: 2.0**-7, types.f16: 2.0**-10, types.f32: 2.0**-23, types.f64: 2.0**-52}


@dataclasses.dataclass(frozen=True)
class Case:
    """A primitive with operands.

    Parameters
    ----------
    primitive : Primitive
    arrays : tuple of ndarray
    params : dict
    ulps : int
        Units in the last place that two results may be apart; with 0 even zeros have equal signs.
    error : float
        How far they may be apart apart from that; then zeros have no sign.
    """

    primitive: Primitive
    arrays: tuple
    params: dict = dataclasses.field(default_factory=dict)
    ulps: int = 0
    error: float | None = None

    @property
    def exact(self) -> bool:
        """Whether every bit counts."""
        return self.ulps == 0 and self.error is None


#: For each primitive the function of choices that gives a case of it.
CASES: dict[Primitive, Any] = {}


def case_of(*primitives):
    """Register a function of choices and of a primitive."""

    def register(function):
        for primitive in primitives:
            CASES[primitive] = lambda choose, primitive=primitive: function(choose, primitive)
        return function

    return register


def epsilon(type_):
    """That of the type of each part, in which narrow floats are computed."""
    return EPSILON[types.compute_type(types.to_real(type_))]


def compare(found, expected, case):
    """Assert that two arrays are as near as a case asks for."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if found.dtype.kind == "c":
        # An error is one of a whole number: its parts may be off by it each.
        compare(found.real, expected.real, case)
        compare(found.imag, expected.imag, case)
        return
    if found.dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
        return
    if case.error is None:
        far = distance(found, expected)
        assert far.max(initial=0) <= case.ulps, f"{far.max()} units apart"
        return
    if case.error == 0:
        np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))
        return
    # Both sides are rounded to the type at last.
    rtol = 2 * EPSILON[types.normalize(found.dtype)]
    if case.error > float(ml_dtypes.finfo(found.dtype).max) / 100:
        # What overflows on the way depends on the order.
        numbers = ~(np.isinf(found) | np.isinf(expected))
        found, expected = found[numbers], expected[numbers]
    np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=case.error)


def distance(left, right):
    """Units in the last place between floats of one type; NaN equals NaN, zeros of two signs are one apart."""
    kind = f"i{left.dtype.itemsize}"
    low = int(np.iinfo(kind).min)

    def order(x):
        bits = np.ascontiguousarray(x).view(kind).astype(np.int64)
        return np.where(bits < 0, low - bits - 1, bits)

    with np.errstate(invalid="ignore"):  # NumPy warns of NaNs that signal.
        nan = np.isnan(left.astype(np.float64)), np.isnan(right.astype(np.float64))
    a, b = order(left), order(right)
    # The difference of two numbers of 64 bits may need 65.
    apart = np.abs(a.astype(np.float64) - b.astype(np.float64))
    apart = np.where(apart < 2.0**50, np.abs(a - b), apart)
    return np.where(nan[0] & nan[1], 0, np.where(nan[0] != nan[1], math.inf, apart))
