"""erf, erfc and erf_inv.

The coefficients are minimax, made for this module by Remez' exchange algorithm (of quotients, linearized).
"""

from __future__ import annotations

import math

from nxkernel.compilers.numba_cpu.elementary.arithmetic import (
    Lanes,
    fast_two_sum,
    fma,
    polynomial,
    two_product,
    two_sum,
    where,
)
from nxkernel.compilers.numba_cpu.elementary.exponential import bounded, expm1_negative, reduce, scale
from nxkernel.compilers.numba_cpu.elementary.logarithm import log

#: log(erfc(x)) / x for 0 <= x < 6 (4 in float32), where the error of erf counts; the first is the sum of two numbers.
_LOG_ERFC = {
    "float": (
        -1.128379225730896,
        5.4111339409246284e-08,
        -0.6366193890571594,
        -0.10277783125638962,
        0.019153069704771042,
        0.00016038332250900567,
        -0.001667011878453195,
        0.0006328268791548908,
        -0.0001176381265395321,
        9.2558811957133e-06,
    ),
    "double": (
        -1.1283791670955126,
        -9.73749657086783e-18,
        -0.6366197723675836,
        -0.10277260330178865,
        0.01912844700506837,
        0.0002091946948642589,
        -0.0016962063858962013,
        0.000590125553603404,
        -2.587860664595356e-05,
        -6.449185504300178e-05,
        2.9724035394794556e-05,
        -3.407250088473953e-06,
        -2.835157654875223e-06,
        1.74156340272621e-06,
        -3.363766070631756e-07,
        -1.3717468802570916e-07,
        1.4175815997427795e-07,
        -6.573192005608581e-08,
        2.096213404460289e-08,
        -4.997570036776644e-09,
        9.081959415374928e-10,
        -1.2483698376157017e-10,
        1.2610567145533902e-11,
        -8.845257226692472e-13,
        3.8503847477963365e-14,
        -7.83389607459631e-16,
    ),
}
#: For K(t) = log(e^(x²) erfc(x) (1 + x) sqrt(π)) of t = 1 / (1 + x), numerator and denominator of (K - t) / t³;
#: for x >= 0.46.
_LOG_ERFCX = {
    "float": (
        (-0.2004186362028122, -0.189986914396286, -0.7220363616943359, -0.09735725820064545),
        (0.3004896640777588, 0.0070908525958657265, 1.3508434295654297, 0.1701854020357132, 1.0),
    ),
    "double": (
        (
            -0.0021244264798172437,
            -0.015039152726302334,
            -0.0791207022564536,
            -0.2795286109743944,
            -0.7226206604236298,
            -1.37266505445466,
            -1.7374919615445619,
            -1.2542879274301373,
            0.028009633820830684,
            -0.00212347178538051,
        ),
        (
            0.00318663972136427,
            0.01957125414409918,
            0.10367898593493337,
            0.3539957014301242,
            0.9325319634248024,
            1.897241932912877,
            2.8320274576204083,
            3.239010084205421,
            2.332850016273731,
            1.0,
        ),
    ),
}
#: log(sqrt(π)) as the sum of two numbers of the format.
_LOG_ROOT_PI = {"float": (0.5723649263381958, 1.6586504614224395e-08), "double": (0.5723649429247001, 5.132975581353913e-18)}
#: Numerator and denominator of (erf_inv(x) - x) / x for |x| <= 0.76, of 37/64 - x².
_CENTRAL = {
    "float": (
        (0.20993448793888092, -0.6432795524597168, -2.0087504386901855, -0.7097432017326355),
        (2.2448418140411377, 7.148861408233643, 5.861239910125732, 1.0),
    ),
    "double": (
        (
            2.2280303140373854,
            2.640620251359976,
            -38.39437443704266,
            -130.29846315233343,
            -159.44474527545017,
            -83.2798309391141,
            -16.69214214711486,
            -0.8425435337535306,
        ),
        (
            23.824459250197883,
            177.1099629341724,
            512.2272736566061,
            728.4743750552963,
            530.4912776593717,
            187.0421675360901,
            26.887504694507093,
            1.0,
        ),
    ),
}
#: Numerator and denominator of erf_inv(x) - s for x >= 0.76, of s = sqrt(-log(1 - x)).
_TAIL = {
    "float": (
        (-0.8769654035568237, -27.600929260253906, -28.734447479248047, -2.477980375289917, -0.004071677103638649),
        (33.48164367675781, 41.13383865356445, 66.50812530517578, 22.195175170898438, 1.0),
    ),
    "double": (
        (
            52.64740806335277,
            80296.5125582624,
            51654.56354995595,
            142594.52145552897,
            52055.98337956206,
            46065.48845983807,
            45123.32215351224,
            6678.1239212761075,
            146.28665822850746,
            -2.347901027768391,
            -0.004805132765378171,
        ),
        (
            -80967.4935465396,
            -119395.86403692004,
            -263242.18625257176,
            -212111.1321110071,
            -247346.6961275176,
            -97428.30376240595,
            -105140.92465165988,
            -39757.13873306739,
            -3535.42078851578,
            -38.02176057135272,
            1.0,
        ),
    ),
}


def erf(x: Lanes) -> Lanes:
    """The error function, ``1 - e^(x P(x))`` with P(x) = log(erfc(x)) / x, without cancellation."""
    first, correction, *others = _LOG_ERFC[x.element]
    size = abs(x).at_most(4.0 if x.element == "float" else 6.0)
    product, product_error = two_product(size, size.constant(first))
    others = fma(size, polynomial(size, others), correction)
    exponent = fma(size, others, product)
    return (-expm1_negative(exponent, product_error + fma(size, others, product - exponent))).copysign(x)


def erfc(x: Lanes) -> Lanes:
    """The complementary error function: ``1 - erf(x)`` below 0.47, and ``e^(-x² + K(t)) t / sqrt(π)`` above.

    ``t = 1 / (1 + x)``. Its rounding error, and those of 1 + x and x², go into the exponent.
    """
    size = x.at_most(10.2 if x.element == "float" else 27.4).at_least(0.25)
    below = size + 1.0
    t = 1.0 / below
    error = fma(-t, below, 1.0) - (size - (below - 1.0)) * t
    numerator, denominator = _LOG_ERFCX[x.element]
    high, low = _LOG_ROOT_PI[x.element]
    shape = fma(t * t * t, polynomial(t, numerator) / polynomial(t, denominator), t)
    shape, shape_error = two_sum(shape, shape.constant(-high))
    square, square_error = two_product(size, size)
    exponent, exponent_error = two_sum(shape, -square)
    correction = exponent_error + ((shape_error - low) + (error - square_error))
    stored, r, rest = reduce(bounded(exponent), correction)
    power, power_error = fast_two_sum(x.constant(1.0), r + rest)
    return where(x < 0.47, 1.0 - erf(x), scale(fma(power, t, power_error * t), stored))


def erf_inv(x: Lanes) -> Lanes:
    """The inverse of erf, in |x| <= 0.76 of x², and beyond of ``s = sqrt(-log(1 - |x|))``."""
    size = abs(x)
    square = -log(1.0 - size)
    s = square.intrinsic("sqrt")
    error = fma(-s, s, square) * (0.5 / s)
    central = size <= 0.76
    z = fma(-size, size, 37 / 64)
    (numerator, denominator), (far_numerator, far_denominator) = _CENTRAL[x.element], _TAIL[x.element]
    quotient = where(central, polynomial(z, numerator), polynomial(s, far_numerator)) / where(
        central, polynomial(z, denominator), polynomial(s, far_denominator)
    )
    result = where(central, fma(size, quotient, size), s + (quotient + error))
    return where(size == 1.0, math.inf, result).copysign(x)
