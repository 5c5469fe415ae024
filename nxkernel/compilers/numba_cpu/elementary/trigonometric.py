"""sin, cos and tan.

``x = n π + r`` with ``|r| <= π/2``, in three fused steps (Cody and Waite 1980): each takes a number away whose
product with n, of which no bit is rounded, cancels the leading bits. Then sin x is ± a polynomial of r. Arguments
so great that n is no exact integer go to the C library, a lane at a time.
"""

from __future__ import annotations

import math

from nxkernel.compilers.numba_cpu.elementary.arithmetic import (
    Lanes,
    by_lane,
    fast_two_sum,
    fma,
    polynomial,
    two_product,
    two_sum,
    where,
)

#: (sin(r) - r) / r³, of r²: minimax on |r| <= π/2, made for this module by Remez' exchange algorithm.
_SINE = {
    "float": (-0.16666659712791443, 0.00833306647837162, -0.00019809439254458994, 2.6051334316434804e-06),
    "double": (
        -0.16666666666666666,
        0.008333333333333207,
        -0.00019841269841212406,
        2.7557319211543673e-06,
        -2.505210690096153e-08,
        1.605894077970262e-10,
        -7.643012461814398e-13,
        2.7213363072364294e-15,
    ),
}
#: (tan(r) - r) / r³, of r², likewise on |r| <= π/4.
_TANGENT = {
    "float": (
        0.33333152532577515,
        0.1333892047405243,
        0.053400762379169464,
        0.02446901425719261,
        0.0030557874124497175,
        0.009424269199371338,
    ),
    "double": (
        0.3333333333333338,
        0.1333333333332533,
        0.05396825397291278,
        0.02186948839898806,
        0.00886323792844293,
        0.003592100812042149,
        0.0014560464853782282,
        0.000588853542305915,
        0.0002438319795130413,
        8.319549502044765e-05,
        6.825326982393948e-05,
        -2.7497561411541057e-05,
        5.0720291561754214e-05,
        -2.559110062460352e-05,
        1.0159099435271656e-05,
    ),
}
#: π/2 as the sum of three numbers of the format.
HALF_PI = {
    "float": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    "double": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
#: Beyond, the C library computes.
_GREAT = {"float": 2.0**17, "double": 2.0**45}


def _sine(r: Lanes) -> Lanes:
    """The sine for |r| <= π/2."""
    z = r * r
    return fma(z * r, polynomial(z, _SINE[r.element]), r)


def sin(x: Lanes) -> Lanes:
    """The sine."""
    form = x.format
    shifted = fma(x, 1 / math.pi, form.shifter)
    n = shifted - form.shifter
    r = x
    for part in HALF_PI[x.element]:
        r = fma(n, -2.0 * part, r)
    result = (_sine(r).bits() ^ (shifted.bits() << (form.width - 1))).floats()
    return by_lane("sin", abs(x) > _GREAT[x.element], where(x == 0.0, x, result), x)


def cos(x: Lanes) -> Lanes:
    """The cosine: ``x = (2n + 1) π/2 + r``, and cos x = ∓ sin r."""
    form = x.format
    shifted = fma(x, 1 / math.pi, -0.5) + form.shifter
    n = shifted - form.shifter
    odd = fma(n, 2.0, 1.0)
    r = x
    for part in HALF_PI[x.element]:
        r = fma(odd, -part, r)
    result = (_sine(r).bits() ^ (~shifted.bits() << (form.width - 1))).floats()
    return by_lane("cos", abs(x) > _GREAT[x.element], result, x)


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
    z = r * r
    high, low = fast_two_sum(r, fma(z * r, polynomial(z, _TANGENT[x.element]), fma(r_error, z, r_error)))
    inverse = -1.0 / high
    # One step of Newton's iteration makes up for what `low` adds to the denominator.
    cotangent = fma(inverse, fma(inverse, low, fma(inverse, high, 1.0)), inverse)
    result = where((shifted.bits() & 1) == 0, high, cotangent)
    return by_lane("tan", abs(x) > _GREAT[x.element], where(x == 0.0, x, result), x)
