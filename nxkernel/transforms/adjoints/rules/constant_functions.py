"""Primitives with zero gradients, leaves of the graph, and functions whose authors know their derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.library_functions import ElementFunction, HostFunction
from nxkernel.transforms.adjoints.rule_table import CONSTANT, REFUSED, AdjointSite, Gain, refusal, rule

CONSTANT |= {p.parameter, p.constant, p.iota}

REFUSED |= {p.bitcast: "It takes the bits of a number for those of another one, which do not change by degrees."}

_NUMBA = "Nobody but its author knows the derivative of a function of Numba."


@rule(p.njit, p.njit_call)
def _of_its_author(at: AdjointSite) -> Sequence[Gain]:
    function = at.params["function"]
    if not isinstance(function, ElementFunction | HostFunction):
        raise refusal(at.node, _NUMBA)
    if function.adjoint is None:
        reason = function.underivable if isinstance(function, HostFunction) else HostFunction.underivable
        raise refusal(at.node, reason)
    return function.adjoint(at)
