"""Primitives with zero gradients, and leaves of the graph."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.transforms.adjoints.rule_table import CONSTANT, REFUSED

CONSTANT |= {p.parameter, p.constant, p.iota}

_NUMBA = "Nobody but its author knows the derivative of a function of Numba."
REFUSED |= {
    p.njit: _NUMBA,
    p.njit_call: _NUMBA,
    p.bitcast: "It takes the bits of a number for those of another one, which do not change by degrees.",
}
