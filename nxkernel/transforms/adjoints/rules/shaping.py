"""Gradients of shape operations: each element's cotangent returns to where the element came from."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.transforms.adjoints.rule_table import AdjointSite, BlockCotangent, Gain, index, rule, shaped, total

#: Up to so many elements the parts of an array are added in one pass over all of it, instead of each where it belongs.
SMALL = 1 << 12


@rule(p.reshape)
def _reshape(at: AdjointSite) -> list[Gain]:
    return [shaped(at.g, at.node.operands[0].shape)]


@rule(p.broadcast)
def _broadcast(at: AdjointSite) -> list[Gain]:
    before, axes = at.node.operands[0].shape, at.params["axes"]
    shape = at.node.shape
    repeated = [
        axis for axis in range(len(shape)) if axis not in axes or (before[axes.index(axis)] == 1 and shape[axis] != 1)
    ]
    gain = total(at.g, repeated)
    kept = [axis for axis in range(len(shape)) if axis not in repeated]
    order = [axis for axis in axes if axis in kept]
    if order != sorted(order):
        gain = apply(p.transpose, gain, axes=tuple(kept.index(axis) for axis in order))
    return [shaped(gain, before)]


@rule(p.transpose)
def _transpose(at: AdjointSite) -> list[Gain]:
    axes = at.params["axes"]
    return [apply(p.transpose, at.g, axes=tuple(axes.index(axis) for axis in range(len(axes))))]


@rule(p.reverse)
def _reverse(at: AdjointSite) -> list[Gain]:
    return [apply(p.reverse, at.g, axes=at.params["axes"])]


@rule(p.slice_)
def _slice(at: AdjointSite) -> list[Gain]:
    shape, g = at.node.operands[0].shape, at.g
    starts, strides = at.params["starts"], at.params["strides"]
    backwards = tuple(axis for axis, stride in enumerate(strides) if stride < 0)
    if backwards:
        g = apply(p.reverse, g, axes=backwards)
    firsts = [
        start + (n - 1) * stride if stride < 0 else start
        for start, stride, n in zip(starts, strides, g.shape, strict=True)
    ]
    large = shapes.size(shape) > max(SMALL, 2 * shapes.size(g.shape))
    if large and set(map(abs, strides)) <= {1}:
        return [BlockCotangent(g, tuple(map(index, firsts)))]
    config = []
    for first, stride, n, size in zip(firsts, strides, g.shape, shape, strict=True):
        covered = (n - 1) * abs(stride) + 1 if n else 0
        config.append((first, size - first - covered, abs(stride) - 1))
    return [apply(p.pad, g, filled(0, g.type, ()), config=tuple(config))]


@rule(p.dynamic_slice)
def _dynamic_slice(at: AdjointSite) -> list[Gain]:
    operand, *starts = at.node.operands
    strides, g = at.params["strides"], at.g
    if set(strides) <= {1}:
        return [BlockCotangent(g, tuple(starts)), *[None] * len(starts)]
    # Elements between those that were taken gain nothing; the part is as long as what the starts were clamped for.
    config = []
    for n, stride, length in zip(g.shape, strides, at.params["lengths"], strict=True):
        covered = (n - 1) * stride + 1 if n else 0
        config.append((0, length - covered, stride - 1))
    block = apply(p.pad, g, filled(0, g.type, ()), config=tuple(config))
    del operand
    return [BlockCotangent(block, tuple(starts)), *[None] * len(starts)]


@rule(p.concatenate)
def _concatenate(at: AdjointSite) -> list[Gain]:
    axis, offset, gains = at.params["axis"], 0, []
    for operand in at.node.operands:
        n = operand.shape[axis]
        starts = tuple(offset if a == axis else 0 for a in range(len(at.g.shape)))
        strides = (1,) * len(starts)
        gains.append(apply(p.slice_, at.g, starts=starts, lengths=operand.shape, strides=strides))
        offset += n
    return gains


@rule(p.pad)
def _pad(at: AdjointSite) -> list[Gain]:
    operand, config = at.node.operands[0], at.params["config"]
    inner = at.g
    # What was cropped gains nothing, what is left lies between low and high, every (gap + 1)-th element.
    grown = tuple((max(-low, 0), max(-high, 0), 0) for low, high, _ in config)
    if any(low or high for low, high, _ in grown):
        inner = apply(p.pad, inner, filled(0, inner.type, ()), config=grown)
    starts = tuple(max(low, 0) for low, _, _ in config)
    strides = tuple(gap + 1 for _, _, gap in config)
    lengths = tuple((n - 1) * stride + 1 if n else 0 for n, stride in zip(operand.shape, strides, strict=True))
    inner = apply(p.slice_, inner, starts=starts, lengths=lengths, strides=strides)
    everything = tuple(range(len(operand.shape)))
    padding = total(at.g, everything) - total(inner, everything) if at.wanted[1] else None
    return [inner, padding]
