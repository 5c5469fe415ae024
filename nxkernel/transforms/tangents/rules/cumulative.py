"""Tangents of cumulative products."""

from __future__ import annotations

import math

import ml_dtypes

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.transforms.recording_trace import RecordingTrace
from nxkernel.transforms.tangents.rule_table import TangentSite, rule
from nxkernel.transforms.tangents.transposition import transposed


@rule(p.cumulative_product)
def _product(at: TangentSite) -> Expr:
    """The product times the sum of relative changes; as the gradient does it where a factor is too small for that.

    The gradient goes over everything once for each doubling of the distance between two elements.
    """
    x, tangent, axes = at.x(0), at.some(0), tuple(range(len(at.node.shape)))
    size = apply(p.absolute, x)
    least = filled(math.sqrt(ml_dtypes.finfo(size.type.dtype).smallest_normal), size.type, size.shape)
    divisible = apply(p.greater, size, least)
    graphs = []
    for name in ("then", "otherwise"):
        with RecordingTrace():
            inside = [parameter(k, "factor", one.spec) for k, one in enumerate((x, at.y, divisible, tangent))]
            factor, product, mask, change = inside
            if name == "then":
                # Where both sides are computed, as for many entries, nothing may be infinite.
                safe = apply(p.select, mask, factor, filled(1, factor.type, factor.shape))
                found = product * apply(p.cumulative_sum, change / safe, **at.params)
            else:
                node = Expr(p.cumulative_product, (factor,), at.params, factor.spec, at.node.source)
                (found,) = transposed(TangentSite(node, [change], {}))
        graphs.append(Graph(name, inside, [found], list))
    everywhere = apply(p.all_, divisible, axes=axes, keep_axes=False)
    return apply(p.cond, everywhere, x, at.y, divisible, tangent, then=graphs[0], otherwise=graphs[1])[0]
