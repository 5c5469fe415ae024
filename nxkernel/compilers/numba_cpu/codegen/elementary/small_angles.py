"""Sines and tangents of small angles, by polynomials."""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import Lanes, fast_two_sum, fma, polynomial

#: (sin(r) - r) / r³, of r²: minimax on |r| <= π/2, made for this module by Remez' exchange algorithm. For float the
#: second one is lowered by a unit, and the last ones are fitted to that, by which no result is greater than 1.
_SINE = {
    "float": (-0.16666659712791443, 0.008333065547049046, -0.00019809440709650517, 2.6051477561850334e-06),
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
#: The square of an angle of double beyond which a sine may be rounded beyond 1; that of others lacks 6e-14 of it.
#: Coefficients that take no result beyond 1 take that of π/2, which is the cosine of 0, below 1, or are less exact.
PEAK = 2.4674


def sine(r: Lanes) -> Lanes:
    """The sine for ``|r| <= π/2`` and a little beyond; f64 results are clamped where r² exceeds `PEAK`."""
    z = r * r
    return fma(z * r, polynomial(z, _SINE[r.element]), r)


def tangents(r: Lanes, error: Lanes) -> tuple[Lanes, Lanes]:
    """The tangent of ``r + error`` for ``|r| <= π/4``, and minus its reciprocal."""
    z = r * r
    high, low = fast_two_sum(r, fma(z * r, polynomial(z, _TANGENT[r.element]), fma(error, z, error)))
    inverse = -1.0 / high
    # One step of Newton's iteration makes up for what `low` adds to the denominator.
    return high, fma(inverse, fma(inverse, low, fma(inverse, high, 1.0)), inverse)
