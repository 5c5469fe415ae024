"""Output aliasing: results computed directly in the memory of an argument that is assigned into."""

from __future__ import annotations

from collections.abc import Mapping

from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.fusion import Fusion
from nxkernel.graph.expr import Expr


def is_free(parameter: Expr, shared: Mapping[Expr, Expr]) -> bool:
    """Whether no in-place update has taken over the memory of a parameter.

    Parameters
    ----------
    parameter : Expr
    shared : mapping
        For each update in place what it writes over.
    """
    return all(old is not parameter for old in shared.values())


def can_alias(fusion: Fusion, result: Expr, parameter: Expr) -> bool:
    """Whether a result can be written straight into the memory of a parameter.

    A nest must compute it, and read of the parameter nothing but the element that it is about to write.

    Parameters
    ----------
    fusion : Fusion
    result, parameter : Expr
    """
    kernel = fusion.group_of.get(result)
    alike = result.shape == parameter.shape and result.type is parameter.type
    if kernel is None or not alike or result.primitive.family == "reduction" or kernel.space != result.shape:
        return False
    here = fusion.start(result, kernel)
    for value in kernel.materialized:
        for node, map_ in fusion.reach(value, fusion.start(value, kernel), set()):
            if fusion.buffer_of(node) is parameter and (node.shape != result.shape or map_ != here):
                return False
    return True


def is_read_later(bound: BoundNest, result: Expr, parameter: Expr) -> bool:
    """Whether a nest reads a parameter in a pass after the one that writes a result over it.

    Parameters
    ----------
    bound : BoundNest
    result, parameter : Expr
    """
    owners = dict(zip(bound.nest.memory, (owner for owner, _ in bound.buffers), strict=True))
    written = False
    for nest_pass in bound.nest.passes:
        loaded = (owners.get(op.entry) for op in nest_pass.code if op.name in ("load", "gather"))
        if written and any(owner is parameter for owner in loaded):
            return True
        written |= any(owners[number] is result for number, _ in nest_pass.stores)
    return False
