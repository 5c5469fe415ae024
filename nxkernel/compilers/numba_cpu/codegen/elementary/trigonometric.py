"""sin, cos and tan.

``x = n π + r`` with ``|r| <= π/2``, in three fused steps (Cody and Waite 1980): each takes a number away whose
product with n, of which no bit is rounded, cancels the leading bits. Then sin x is ± a polynomial of r. Arguments
so great that n is no exact integer are taken a lane at a time: those of float64 by our own reduction, as the C
library's is off by up to 14 units at the worst of them.
"""

from __future__ import annotations

import math
from functools import partial

from nxkernel.compilers.numba_cpu.codegen.elementary import great_angles
from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import (
    Lanes,
    by_lane,
    fma,
    rarely,
    two_product,
    two_sum,
    where,
)
from nxkernel.compilers.numba_cpu.codegen.elementary.small_angles import PEAK, sine, tangents

__all__ = ["cos", "sin", "tan"]

#: π/2 as the sum of three numbers of the format.
HALF_PI = {
    "float": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    "double": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
#: Likewise, each part rounded toward zero, so that what they leave of -0.0 is -0.0.
_PARTS = {
    "float": (1.570796251296997, 7.549789415861596e-08, 5.390302953474238e-15),
    "double": (1.5707963267948966, 6.123233995736765e-17, 1.082856673921914e-32),
}
#: Beyond, angles are taken one at a time.
_GREAT = {"float": 2.0**17, "double": 2.0**45}


def _great(name: str, otherwise: Lanes, x: Lanes, great: Lanes) -> Lanes:
    """`otherwise`, replaced by the function `name` of x in the lanes of large angles."""
    function = partial(great_angles.define, name=name) if x.element == "double" else f"{name}f"
    return by_lane(function, great, otherwise, x)


def _is_great(x: Lanes) -> Lanes:
    """Whether an angle is so large that its number of quarter turns is not exact in this type."""
    return abs(x) > _GREAT[x.element]


def _cut(name: str, result: Lanes, x: Lanes, r: Lanes) -> Lanes:
    """The final sine or cosine: clamped to 1, and computed by the slow path for large angles."""
    great = _is_great(x)
    if x.element == "float":
        return _great(name, result, x, great)
    return rarely(great | (r * r > PEAK), result, lambda: _great(name, result.at_most(1.0).at_least(-1.0), x, great))


def sin(x: Lanes) -> Lanes:
    """The sine."""
    form = x.format
    shifted = fma(x, 1 / math.pi, form.shifter)
    n = shifted - form.shifter
    r = x
    for part in _PARTS[x.element]:
        r = fma(n, -2.0 * part, r)
    sign = (r.bits() ^ (shifted.bits() << (form.width - 1))).floats()
    return _cut("sin", sine(r).copysign(sign), x, r)


def cos(x: Lanes) -> Lanes:
    """The cosine: ``x = (2n + 1) π/2 + r``, and cos x = ∓ sin r."""
    form = x.format
    # The last bit of the sum is 1 where n is even.
    shifter = form.shifter + 1
    shifted = fma(x, 1 / math.pi, -0.5) + shifter
    n = shifted - shifter
    odd = fma(n, 2.0, 1.0)
    r = x
    for part in HALF_PI[x.element]:
        r = fma(odd, -part, r)
    result = (sine(r).bits() ^ (shifted.bits() << (form.width - 1))).floats()
    return _cut("cos", result, x, r)


def tan(x: Lanes) -> Lanes:
    """The tangent: ``x = n π/2 + r`` with ``|r| <= π/4``, and tan x = tan r, or -1 / tan r where n is odd."""
    form = x.format
    shifted = fma(x, 2 / math.pi, form.shifter)
    n = shifted - form.shifter
    first, second, third = HALF_PI[x.element]
    exact = fma(n, -first, x)
    step, step_error = two_product(n, second)
    r, r_error = two_sum(exact, -step)
    r_error = fma(n, -third, r_error - step_error)
    tangent, cotangent = tangents(r, r_error)
    result = where((shifted.bits() & 1) == 0, tangent, cotangent)
    return _great("tan", where(x == 0.0, x, result), x, _is_great(x))
