"""Gradients of reductions."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.transforms.adjoints.rule_table import CONSTANT, AdjointSite, Gain, rule, shaped, spread

CONSTANT |= {p.all_, p.any_}


def _back(at: AdjointSite, value: Expr) -> Expr:
    """A reduced value broadcast back to the shape before the reduction."""
    shape, axes = at.node.operands[0].shape, at.params["axes"]
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    return spread(shaped(value, tuple(shape[axis] for axis in kept)), shape, kept)


@rule(p.sum_)
def _sum(at: AdjointSite) -> list[Gain]:
    return [_back(at, at.g)]


@rule(p.reduce_max, p.reduce_min)
def _extreme(at: AdjointSite) -> list[Gain]:
    # All elements that are the greatest share in it.
    x = at.x(0)
    mine = convert(apply(p.equal, x, _back(at, at.y)), x.type)
    count = apply(p.sum_, mine, axes=at.params["axes"], keep_axes=False)
    share = at.g if not at.params["keep_axes"] else shaped(at.g, count.shape)
    return [mine * _back(at, share / count)]


@rule(p.product)
def _product(at: AdjointSite) -> list[Gain]:
    # The product of all the others, from both sides, so that zeros are no trouble.
    x, axes = at.x(0), at.params["axes"]
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    order = (*kept, *axes)
    rows = apply(p.transpose, x, axes=order)
    shape = rows.shape
    rows = shaped(rows, (*shape[: len(kept)], shapes.size(shape[len(kept) :])))
    others = _others(rows, False) * _others(rows, True)
    others = apply(p.transpose, shaped(others, shape), axes=tuple(order.index(axis) for axis in range(len(order))))
    return [_back(at, at.g) * others]


def _others(rows: Expr, reverse: bool) -> Expr:
    """For each element the product of those before it along the last axis, or after it with `reverse`."""
    last = len(rows.shape) - 1
    along = apply(p.cumulative_product, rows, axis=last, reverse=reverse)
    config = [(0, 0, 0)] * last + [(-1, 1, 0) if reverse else (1, -1, 0)]
    return apply(p.pad, along, filled(1, rows.type, ()), config=tuple(config))
