"""Tangents of linear primitives: they do to a tangent what they do to a value."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints.rule_table import shaped
from nxkernel.transforms.tangents.rule_table import TangentSite, rule
from nxkernel.transforms.tangents.transposition import transposed


@rule(
    p.transpose, p.reverse, p.slice_, p.dynamic_slice, p.windows, p.sum_, p.cumulative_sum, p.fft, p.gather, p.after
)  # fmt: skip
def _of_first(at: TangentSite) -> Expr | None:
    """Linear in the first operand; the others are places, or no part of the value."""
    tangent = at.tangents[0]
    if tangent is None:
        return None
    others = [at.bare(position) for position in range(1, len(at.tangents))]
    return apply(at.node.primitive, tangent, *others, **at.params)


@rule(p.put_slice, p.put_strided, p.pad)
def _of_first_two(at: TangentSite) -> Expr | None:
    """Linear in an array and in what is put into it, at places."""
    if at.tangents[0] is None and at.tangents[1] is None:
        return None
    others = [at.bare(position) for position in range(2, len(at.tangents))]
    return apply(at.node.primitive, at.some(0), at.some(1), *others, **at.params)


@rule(p.scatter)
def _scatter(at: TangentSite) -> Expr | None:
    return _of_first_two(at) if at.params["combine"] in ("put", "add") else transposed(at)[0]


@rule(p.concatenate)
def _concatenate(at: TangentSite) -> Expr:
    return apply(p.concatenate, *[at.some(position) for position in range(len(at.tangents))], **at.params)


@rule(p.reshape)
def _reshape(at: TangentSite) -> Expr:
    return shaped(at.some(0), at.node.shape)


@rule(p.broadcast)
def _broadcast(at: TangentSite) -> Expr:
    shape = at.node.shape
    return apply(p.broadcast, at.some(0), shape=shape, axes=at.params["axes"], names=unnamed(shape))


@rule(p.dot, p.conv)
def _product(at: TangentSite) -> Expr:
    """Linear in each of both operands."""
    left, right = at.tangents
    if left is None:
        return apply(at.node.primitive, at.x(0), at.some(1), **at.params)
    of_left = apply(at.node.primitive, left, at.x(1), **at.params)
    return of_left if right is None else of_left + apply(at.node.primitive, at.x(0), right, **at.params)
