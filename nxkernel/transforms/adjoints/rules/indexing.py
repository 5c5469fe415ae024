"""Gradients of reading and writing at indices."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel import shapes, types
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
    mine = apply(p.gather, at.g, *indices, axes=axes) if indices else at.g
    if at.params["combine"] == "add":
        return [at.g, mine, *[None] * len(indices)]
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
