"""Traced values that are known: what is computed from numbers, and from arrays that are part of the program, alone.

Sizes are computed with arrays, as in ``np.zeros(np.array(x.shape) * 2)``, and have to be known.
"""

from __future__ import annotations

import math

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends.graph_evaluation import GraphWalk
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, Graph

#: Of arrays with more elements, or that more operations make, nobody makes a size.
_ELEMENTS, _NODES = 64, 100
_SIMPLE = frozenset({"leaf", "creation", "elementwise", "shape", "reduction", "indexing", "sorting", "contraction"})


def elements(node: Expr) -> np.ndarray | None:
    """The elements of a small array of whole numbers, or None where only the running program knows them.

    Parameters
    ----------
    node : traced value
    """
    if not node.type.is_integer or math.prod(node.shape) > _ELEMENTS:
        return None
    given: dict[Expr, np.ndarray] = {}
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        if one.primitive is p.parameter:
            array = tracing.fixed_array(one)
            if array is None:
                outside = tracing.outermost(one)
                array = elements(outside) if outside is not one else None
            if array is None:
                return None
            given[one] = array
        elif one.primitive.family not in _SIMPLE or len(seen) > _NODES or math.prod(one.shape) > _ELEMENTS:
            return None
        for part in one.operands:
            if part not in seen:
                seen.add(part)
                waiting.append(part)
    (found,) = GraphWalk(Graph("known", list(given), [node], tuple)).run(list(given.values()))
    return np.asarray(found)
