"""erf, erfc and erf_inv.

The coefficients are minimax, made for this module by Remez' exchange algorithm (of quotients, linearized).
"""

from __future__ import annotations

import math

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import (
    Lanes,
    fast_two_sum,
    fma,
    polynomial,
    two_product,
    two_sum,
    where,
)
from nxkernel.compilers.numba_cpu.codegen.elementary.exponential import bounded, expm1_negative, reduce, scale
from nxkernel.compilers.numba_cpu.codegen.elementary.logarithm import log

__all__ = ["erf", "erf_inv", "erfc"]

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
_LOG_ROOT_PI = {
    "float": (0.5723649263381958, 1.6586504614224395e-08),
    "double": (0.5723649429247001, 5.132975581353913e-18),
}
#: Numerator and denominator of (erf_inv(x) - x) / x for |x| <= 0.845, of 23/32 - x².
_CENTRAL = {
    "float": (
        (0.24997080862522125, 0.3383616805076599, -2.034902811050415, -3.1914963722229004, -0.7450634837150574),
        (1.2873058319091797, 7.6261162757873535, 13.715954780578613, 7.937716007232666, 1.0),
    ),
    "double": (
        (
            0.9620897385745253,
            7.0851620066155645,
            10.000737685784934,
            -40.99805402233157,
            -151.3566415363606,
            -183.77796210037187,
            -93.62334321071799,
            -17.96872957719653,
            -0.8477722039024244,
        ),
        (
            4.954593609312387,
            59.13224696735709,
            280.73768271318875,
            677.908908710524,
            884.7964476082906,
            613.8566084487736,
            208.20018864056647,
            28.60177670190561,
            1.0,
        ),
    ),
}
#: Numerator and denominator of erf_inv(x) - s for x >= 0.845, of s = sqrt(-log(1 - x)).
_TAIL = {
    "float": (
        (-0.8769654035568237, -27.600929260253906, -28.734447479248047, -2.477980375289917, -0.004071677103638649),
        (33.48164367675781, 41.13383865356445, 66.50812530517578, 22.195175170898438, 1.0),
    ),
    "double": (
        (
            -2.1425070751350312,
            -3203.580909623024,
            -4869.948425671345,
            -7422.859724275865,
            -5397.37373305074,
            -1424.013515556254,
            -128.1146161554604,
            -2.874753638366561,
            -0.0028460025160153626,
        ),
        (
            3229.7173867231913,
            7586.993781423812,
            14629.002903205379,
            15886.602475081001,
            13613.019493227373,
            5764.523744203968,
            1023.9861693883345,
            65.06682416752167,
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
    """The inverse of erf, in |x| <= 0.845 of x², and beyond of ``s = sqrt(-log(1 - |x|))``."""
    size = abs(x)
    square = -log(1.0 - size)
    s = square.intrinsic("sqrt")
    error = fma(-s, s, square) * (0.5 / s)
    central = size <= 0.845
    z = fma(-size, size, 23 / 32)
    (numerator, denominator), (far_numerator, far_denominator) = _CENTRAL[x.element], _TAIL[x.element]
    quotient = where(central, polynomial(z, numerator), polynomial(s, far_numerator)) / where(
        central, polynomial(z, denominator), polynomial(s, far_denominator)
    )
    result = where(central, fma(size, quotient, size), s + (quotient + error))
    return where(size == 1.0, math.inf, result).copysign(x)
