"""Gradients of reading and writing at indices."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.transforms.adjoints.rule_table import (
    AdjointSite,
    Gain,
    IndexedCotangent,
    bare,
    plain,
    rule,
    shaped,
    spread,
)


@rule(p.gather)
def _gather(at: AdjointSite) -> list[Gain]:
    _, *indices = at.node.operands
    return [IndexedCotangent(at.g, tuple(map(bare, indices)), at.params["axes"]), *[None] * len(indices)]


@rule(p.put_slice, p.put_strided)
def _put_slice(at: AdjointSite) -> list[Gain]:
    _, part, *starts = at.node.operands
    nothing = filled(0, at.g.type, part.shape)
    strides = at.params.get("strides", (1,) * len(part.shape))
    lengths = shapes.spans(part.shape, strides)
    mine = apply(p.dynamic_slice, at.g, *starts, lengths=lengths, strides=strides)
    return [apply(at.node.primitive, at.g, nothing, *starts, **at.params), mine, *[None] * len(starts)]


@rule(p.scatter)
def _scatter(at: AdjointSite) -> list[Gain]:
    _, updates, *indices = at.node.operands
    axes, indices = at.params["axes"], tuple(map(bare, indices))
    mine = _picked(at.g, indices, axes)
    if at.params["combine"] != "put":
        return [*_JOINED[at.params["combine"]](at, indices, axes, mine), *[None] * len(indices)]
    nothing = filled(0, at.g.type, updates.shape)
    target = apply(p.scatter, at.g, nothing, *indices, axes=axes, combine="put")
    if not indices or not indices[0].shape:
        return [target, mine, *[None] * len(indices)]
    # Of several updates of one place the last one stays: each leaves its number there, and looks whose is left.
    number = apply(p.iota, type=types.s64, shape=(shapes.size(indices[0].shape),), names=(None,), axis=0)
    number = shaped(number, indices[0].shape)
    shape = updates.shape
    number = spread(number, shape, range(len(number.shape)))
    board = filled(-1, types.s64, at.g.shape)
    left = apply(p.gather, apply(p.scatter, board, number, *indices, axes=axes, combine="put"), *indices, axes=axes)
    mine = mine * convert(apply(p.equal, left, number), mine.type)
    return [target, plain(mine), *[None] * len(indices)]


def _sums(at: AdjointSite, indices: tuple[Expr, ...], axes: tuple[int, ...], mine: Expr) -> list[Gain]:
    return [at.g, mine]


def _extremes(at: AdjointSite, indices: tuple[Expr, ...], axes: tuple[int, ...], mine: Expr) -> list[Gain]:
    # All that are the greatest of their place share in it, what was there before, too.
    g, y = at.g, at.y
    kept = convert(apply(p.equal, at.x(0), y), g.type)
    put = convert(apply(p.equal, at.x(1), _picked(y, indices, axes)), g.type)
    share = g / apply(p.scatter, kept, put, *indices, axes=axes, combine="add")
    return [kept * share, put * _picked(share, indices, axes)]


def _products(at: AdjointSite, indices: tuple[Expr, ...], axes: tuple[int, ...], mine: Expr) -> list[Gain]:
    # The product of all others of a place: where one of them is 0, or two, it is none or all of what is not.
    target, updates = at.x(0), at.x(1)
    nothing = [apply(p.equal, x, filled(0, x.type, x.shape)) for x in (target, updates)]
    zeros = [convert(mask, types.s64) for mask in nothing]
    wholes = [
        apply(p.select, mask, filled(1, x.type, x.shape), x) for mask, x in zip(nothing, (target, updates), strict=True)
    ]
    product = apply(p.scatter, *wholes, *indices, axes=axes, combine="multiply")
    count = apply(p.scatter, *zeros, *indices, axes=axes, combine="add")
    return [
        _without(at.g, wholes[0], zeros[0], product, count),
        _without(mine, wholes[1], zeros[1], *[_picked(value, indices, axes) for value in (product, count)]),
    ]


def _without(g: Expr, whole: Expr, zero: Expr, product: Expr, count: Expr) -> Expr:
    others = apply(p.select, apply(p.equal, count, zero), product / whole, filled(0, whole.type, whole.shape))
    return g * others


def _picked(value: Expr, indices: tuple[Expr, ...], axes: tuple[int, ...]) -> Expr:
    return apply(p.gather, value, *indices, axes=axes) if indices else value


_JOINED = {"add": _sums, "max": _extremes, "min": _extremes, "multiply": _products}
