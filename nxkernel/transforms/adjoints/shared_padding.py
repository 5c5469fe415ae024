"""Sums of shifted copies of one array: padded once, with each copy a view of the padded array.

Neighbours that a stencil reads give such sums. A padded array is memory of its own, a view of one is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms.adjoints.rule_table import BlockCotangent, Gain, index, is_number


def merged(gains: Sequence[Gain]) -> list[Gain]:
    """The contributions to one cotangent, with padded copies of one array at different offsets as views of a common
    pad.
    """
    pads_of: dict[Expr, list[Expr]] = {}
    for gain in gains:
        if isinstance(gain, Expr) and _is_plain(gain):
            pads_of.setdefault(gain.operands[0], []).append(gain)
    views: dict[Expr, Expr] = {}
    for inner, pads in pads_of.items():
        if len(pads) > 1:
            views |= _views(inner, pads)
    return [views.get(gain, gain) if isinstance(gain, Expr) else gain for gain in gains]


def plus(total: Expr, gain: Expr) -> Expr:
    """The sum of two contributions; of a padded one only the block changes, in place if possible."""
    if not _is_plain(gain):
        return total + gain
    starts = tuple(index(low) for low, _, _ in gain.params["config"])
    return BlockCotangent(gain.operands[0], starts).onto(total, False)


def _is_plain(gain: Expr) -> bool:
    """Whether a contribution is an array padded with zeros."""
    if gain.primitive is not p.pad:
        return False
    return is_number(gain.operands[1], 0) and all(
        low >= 0 and high >= 0 and gap == 0 for low, high, gap in gain.params["config"]
    )


def _views(inner: Expr, pads: Sequence[Expr]) -> dict[Expr, Expr]:
    configs = [pad.params["config"] for pad in pads]
    margins = [
        (max(low for low, _, _ in axis), max(high for _, high, _ in axis)) for axis in zip(*configs, strict=True)
    ]
    padded = apply(p.pad, inner, pads[0].operands[1], config=tuple((low, high, 0) for low, high in margins))
    strides = (1,) * len(margins)
    views = {}
    for pad, config in zip(pads, configs, strict=True):
        starts = tuple(most - low for (most, _), (low, _, _) in zip(margins, config, strict=True))
        views[pad] = apply(p.slice_, padded, starts=starts, lengths=pad.shape, strides=strides)
    return views
