"""Gradients of cumulative sums, products and extremes, and of sorting along an axis."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints.rule_table import AdjointSite, Gain, IndexedCotangent, rule


@rule(p.cumulative_sum)
def _sum(at: AdjointSite) -> list[Gain]:
    axis, reverse = at.params["axis"], at.params["reverse"]
    return [apply(p.cumulative_sum, at.g, axis=axis, reverse=not reverse)]


@rule(p.cumulative_product)
def _product(at: AdjointSite) -> list[Gain]:
    # Each element is worth the product of those before it, times what it goes into: the cotangent there, and what the
    # next one is worth in the same way, times the next one. Nothing is divided, so that zeros are no trouble.
    x, axis, reverse = at.x(0), at.params["axis"], at.params["reverse"]
    before = _moved(at.y, axis, 1 if not reverse else -1, 1)
    way = -1 if not reverse else 1
    worth, factor = at.g, _moved(x, axis, way, 0)
    step = 1
    while step < x.shape[axis]:
        # Twice as far: what the elements up to `step` away contribute has been added, and `factor` is their product.
        worth = worth + factor * _moved(worth, axis, way * step, 0)
        factor = factor * _moved(factor, axis, way * step, 0)
        step *= 2
    return [before * worth]


def _moved(value: Expr, axis: int, by: int, fill: int) -> Expr:
    """A value shifted along an axis and filled with a number."""
    by = max(-value.shape[axis], min(by, value.shape[axis]))
    config = tuple((by, -by, 0) if a == axis else (0, 0, 0) for a in range(len(value.shape)))
    return apply(p.pad, value, filled(fill, value.type, ()), config=config)


@rule(p.cumulative_max, p.cumulative_min)
def _extreme(at: AdjointSite) -> list[Gain]:
    # Of equal elements the first one on the way has it.
    x, axis, reverse = at.x(0), at.params["axis"], at.params["reverse"]
    if not x.shape[axis]:
        return [at.zeros(0)]
    number = _numbers(x.shape, axis)
    ahead = -1 if reverse else 1
    better = apply(p.greater if at.node.primitive is p.cumulative_max else p.less, x, _moved(at.y, axis, ahead, 0))
    first = apply(p.equal, number, filled(x.shape[axis] - 1 if reverse else 0, number.type, number.shape))
    nowhere = filled(x.shape[axis] if reverse else -1, number.type, number.shape)
    winners = apply(p.select, apply(p.logical_or, better, first), number, nowhere)
    held = apply(p.cumulative_min if reverse else p.cumulative_max, winners, axis=axis, reverse=reverse)
    return [_elements(at.g, held, axis)]


@rule(p.sort)
def _sort(at: AdjointSite) -> list[Gain]:
    axis = at.params["axis"]
    x = at.node.operands[0]
    bare = apply(p.reshape, x, shape=x.shape, names=unnamed(x.shape))
    order = apply(p.argsort, bare, axis=axis, direction=at.params["direction"], type=types.s64)
    return [_elements(at.g, order, axis)]


def _numbers(shape: tuple[int, ...], axis: int) -> Expr:
    """The index of each element along an axis."""
    return apply(p.iota, type=types.s64, shape=shape, names=unnamed(shape), axis=axis)


def _elements(gain: Expr, order: Expr, axis: int) -> IndexedCotangent:
    """A cotangent whose elements are permuted along an axis."""
    everywhere = range(len(order.shape))
    indices = [order if a == axis else _numbers(order.shape, a) for a in everywhere]
    return IndexedCotangent(gain, tuple(indices), tuple(everywhere))
