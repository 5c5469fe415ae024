"""Primitives with zero gradients, leaves of the graph, and functions whose authors know their derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.errors import NxError
from nxkernel.library_functions import ElementFunction, HostFunction
from nxkernel.numba_functions import DERIVATIVES, ScalarFunction
from nxkernel.ops.machinery.dispatch import convert
from nxkernel.transforms.adjoints.rule_table import CONSTANT, REFUSED, AdjointSite, Gain, refusal, rule

CONSTANT |= {p.parameter, p.constant, p.iota}

REFUSED |= {p.bitcast: "It takes the bits of a number for those of another one, which do not change by degrees."}

_NUMBA = "Nobody but its author knows the derivative of a function of Numba that is called as it is."


@rule(p.njit, p.njit_call)
def _of_its_author(at: AdjointSite) -> Sequence[Gain]:
    function = at.params["function"]
    if isinstance(function, ScalarFunction):
        return _of_its_text(at, function)
    if not isinstance(function, ElementFunction | HostFunction):
        raise refusal(at.node, _NUMBA)
    if function.adjoint is None:
        reason = function.underivable if isinstance(function, HostFunction) else HostFunction.underivable
        raise refusal(at.node, reason)
    return function.adjoint(at)


def _of_its_text(at: AdjointSite, function: ScalarFunction) -> Sequence[Gain]:
    """The gains of a function of single numbers, whose derivatives are those of its text."""
    places = [place for place, operand in enumerate(at.node.operands) if at.wanted[place] and operand.type.is_float]
    if not (DERIVATIVES and at.node.type.is_float):
        raise at.refusal(_NUMBA)
    try:
        slopes = DERIVATIVES[0](function, [at.bare(place) for place in range(len(at.node.operands))], places)
    except NxError as error:
        raise at.refusal(f"Its text has no derivative here: {str(error).splitlines()[0]}") from error
    gains: list[Gain] = [None] * len(at.node.operands)
    for place, slope in zip(places, slopes, strict=True):
        gains[place] = at.g * convert(slope, at.g.type)
    return gains
