"""Gradients of products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.ops.dispatch import apply
from nxkernel.transforms.adjoints.table import Gain, Site, rule


@rule(p.dot)
def _dot(at: Site) -> list[Gain]:
    (left, right), (batch_left, batch_right) = at.params["contract"], at.params["batch"]
    x, y, count = at.x(0), at.x(1), len(batch_left)
    free_left = [a for a in range(len(x.shape)) if a not in left and a not in batch_left]
    free_right = [a for a in range(len(y.shape)) if a not in right and a not in batch_right]
    batch = tuple(range(count))
    mine = tuple(range(count, count + len(free_left)))
    its = tuple(range(count + len(free_left), count + len(free_left) + len(free_right)))
    gains: list[Gain] = [None, None]
    if at.wanted[0]:
        found = apply(p.dot, at.g, y, contract=(its, tuple(free_right)), batch=(batch, batch_right))
        # Now in order: batch, free axes of the left, what is left of the right: the contracted ones, ascending.
        contracted = [left[k] for k in _ascending(right)]
        gains[0] = _arranged(found, [*batch_left, *free_left, *contracted])
    if at.wanted[1]:
        found = apply(p.dot, at.g, x, contract=(mine, tuple(free_left)), batch=(batch, batch_left))
        contracted = [right[k] for k in _ascending(left)]
        gains[1] = _arranged(found, [*batch_right, *free_right, *contracted])
    return gains


def _ascending(axes: Sequence[int]) -> list[int]:
    return sorted(range(len(axes)), key=lambda k: axes[k])


def _arranged(node: Expr, axes: Sequence[int]) -> Expr:
    """With axis ``i`` moved to ``axes[i]``."""
    if list(axes) == sorted(axes):
        return node
    return apply(p.transpose, node, axes=tuple(axes.index(axis) for axis in range(len(axes))))
