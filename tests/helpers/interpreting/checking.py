"""What a plan's steps leave in memory, beside what the graph's nodes mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.compilers.analysis.partial_reductions import partial
from nxkernel.compilers.plan.program_plan import Step
from nxkernel.graph.expr import Expr, at_line

if TYPE_CHECKING:
    from .plans import Scope


class MeaningError(AssertionError):
    """A step leaves in memory something else than what its node means."""


class Checked:
    """Checks the values that the steps of one run of a plan write.

    Each is computed by NumPy, from the values that the steps before left, through the nodes that no step writes.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope, self.known = scope, {}
        for node in scope.plan.place:
            if node.primitive is p.parameter:
                self.known[node] = scope.array(node)
        # Pieces of a value are written by several steps.
        self._last = {node: step for step in scope.plan.steps for node in step.writes}

    def after(self, step: Step) -> None:
        """Check what a step has written, where no later step writes more of it."""
        for node in step.writes:
            if node is getattr(step.work, "scratch", None) or self._last[node] is not step:
                continue
            found, expected = self.scope.array(node), self._meaning(node)
            if expected is not None and not _close(found, expected, node.type):
                raise MeaningError(
                    f"{node.primitive.name}{at_line(node.source)} of type {node.spec} is in memory\n{found}\nand means"
                    f"\n{expected}"
                )
            self.known[node] = found

    def _meaning(self, root: Expr) -> np.ndarray | None:
        """What a node means, from what is known; None where that is not known either."""
        todo, known = [root], self.known
        while todo:
            node = todo[-1]
            if node in known:
                todo.pop()
                continue
            missing = [operand for operand in node.operands if operand not in known]
            if missing:
                todo += missing
                continue
            if any(known[operand] is None for operand in node.operands) or node.primitive is partial:
                known[node] = None
            elif node.primitive is p.constant:
                known[node] = np.broadcast_to(cast_number(node.params["value"], node.type), node.shape)
            else:
                operands = [known[operand] for operand in node.operands]
                known[node] = MEANING[node.primitive](node.spec, *operands, **node.params)
            todo.pop()
        return known[root]


#: How far apart floats may be, beside the greatest of them: sums have another order.
_APART = {"f16": 2e-2, "bf16": 1e-1, "f32": 1e-4, "c64": 1e-4, "f64": 1e-9, "c128": 1e-9}


def _close(found: np.ndarray, expected: np.ndarray, type_: types.Type) -> bool:
    expected = np.asarray(expected).reshape(found.shape)
    if not (type_.is_float or type_.is_complex):
        return np.array_equal(found, expected)
    if type_.is_float and type_ is not types.f64:
        found, expected = found.astype(np.float64), expected.astype(np.float64)
    apart = _APART[str(type_)]
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(finite.max()) if finite.size else 0.0
    with np.errstate(all="ignore"):
        return bool(np.allclose(found, expected, rtol=apart, atol=apart * scale, equal_nan=True))
