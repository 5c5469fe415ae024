"""Gradients of matrix products and tensor contractions."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms.adjoints.rule_table import AdjointSite, Gain, rule

#: A side of a product: a value, its axes that are contracted, and those of the batch.
Side = tuple[Expr, tuple[int, ...], tuple[int, ...]]


@rule(p.dot)
def _dot(at: AdjointSite) -> list[Gain]:
    (left, right), (batch_left, batch_right) = at.params["contract"], at.params["batch"]
    x, y, count = at.x(0), at.x(1), len(batch_left)
    free_left = [a for a in range(len(x.shape)) if a not in left and a not in batch_left]
    free_right = [a for a in range(len(y.shape)) if a not in right and a not in batch_right]
    batch = tuple(range(count))
    mine = tuple(range(count, count + len(free_left)))
    its = tuple(range(count + len(free_left), count + len(free_left) + len(free_right)))
    gains: list[Gain] = [None, None]
    if at.wanted[0]:
        # Behind the batch: the free axes of the left, then its contracted ones as those of the right ascend, or before.
        contracted = [left[k] for k in _ascending(right)]
        gains[0] = _product(
            (at.g, its, batch), (y, tuple(free_right), batch_right), list(batch_left), free_left, contracted
        )
    if at.wanted[1]:
        contracted = [right[k] for k in _ascending(left)]
        gains[1] = _product(
            (at.g, mine, batch), (x, tuple(free_left), batch_left), list(batch_right), free_right, contracted
        )
    return gains


def _product(gain: Side, other: Side, batch: list[int], free: list[int], contracted: list[int]) -> Expr:
    """The product of a cotangent with the other operand, with the axes in the operand's order.

    In which order the two are multiplied decides how the result lies in memory: that of the operand, where one does it.
    """
    order = [*batch, *free, *contracted]
    if order != sorted(order):
        order_ = [*batch, *contracted, *free]
        if order_ == sorted(order_):
            gain, other, order = other, gain, order_
    product = apply(p.dot, gain[0], other[0], contract=(gain[1], other[1]), batch=(gain[2], other[2]))
    return _arranged(product, order)


def _ascending(axes: Sequence[int]) -> list[int]:
    return sorted(range(len(axes)), key=lambda k: axes[k])


def _arranged(node: Expr, axes: Sequence[int]) -> Expr:
    """A value transposed: its axis ``i`` becomes axis ``axes[i]``."""
    if list(axes) == sorted(axes):
        return node
    return apply(p.transpose, node, axes=tuple(axes.index(axis) for axis in range(len(axes))))
