"""The table of how each primitive is lowered: loop nest, routine, library call or host call."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.compilers.analysis import index_maps
from nxkernel.compilers.numba_cpu.codegen.elementwise import lowered
from nxkernel.compilers.numba_cpu.codegen.reductions import reductions
from nxkernel.compilers.numba_cpu.routines import cumulative_plan, lapack_plan, sort_plan  # noqa: F401 - register
from nxkernel.compilers.numba_cpu.routines.routine_table import ROUTINES
from nxkernel.compilers.rewrite import loop_nest_rewrites
from nxkernel.compilers.schedule import dynamic_indices, piecewise_buffers
from nxkernel.primitives import Primitive

#: Families whose code depends on whether numbers are complex, and is known where nests are lowered.
ARITHMETIC = frozenset(["elementwise", "reduction"])


def lowering_of(primitive: Primitive, complex: bool = False) -> str | None:
    """How a primitive is lowered (nest, routine, library or host call); None if it is not supported.

    Parameters
    ----------
    primitive : Primitive
    complex : bool
        Whether an operand or the result is complex; only element-wise primitives and reductions tell the difference.

    Returns
    -------
    str or None
        ``instructions``, ``reduction``, ``index``, ``view`` or ``computed read`` in a loop nest; ``pieces`` that nests
        write into one buffer; ``rewritten`` to other primitives before; ``product`` of matrices; ``kernels`` of its
        own; calls of a ``library``; ``control`` of the program; ``part`` of a tuple;
        ``leaf``.

    Examples
    --------
    >>> from nxkernel import primitives as p
    >>> lowering_of(p.exp), lowering_of(p.transpose), lowering_of(p.svd), lowering_of(p.floor, complex=True)
    ('instructions', 'view', 'library', None)
    """
    if primitive.family == "elementwise":
        return "instructions" if primitive.name in lowered(complex) else None
    if primitive.family == "reduction":
        return "reduction" if primitive.name in reductions(complex) else None
    if primitive in ROUTINES:
        return "library" if primitive.family == "library" else "kernels"
    if primitive in _SINGLE:
        return _SINGLE[primitive]
    for name, members in (
        ("view", index_maps.VIEWS),
        ("computed read", dynamic_indices.READS),
        ("pieces", piecewise_buffers.PIECES),
        ("rewritten", loop_nest_rewrites.REWRITES),
    ):
        if primitive in members:
            return name
    return None


_SINGLE = {
    p.iota: "index",
    p.dot: "product",
    p.elem: "part",
    p.while_: "control",
    p.cond: "control",
    p.parameter: "leaf",
    p.constant: "leaf",
}
