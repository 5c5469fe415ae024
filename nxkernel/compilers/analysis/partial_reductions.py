"""Reductions over blocks of an axis: the first half of a large reduction that is cut in two."""

from __future__ import annotations

from nxkernel import shapes, types
from nxkernel.primitives import Primitive, Spec


def _partial_rule(
    operand: Spec, *, reduce: Primitive, axes: tuple[int, ...], block: int, blocks: int, tie: str, type: types.Type
) -> Spec:
    shape, _ = shapes.reduce(operand.shape, operand.names, axes, False)
    return Spec(type, (blocks, *shape), (None,) * (len(shape) + 1))


#: A reduction over blocks of the first of its axes, which are one more axis in front. Only compilers see it.
partial = Primitive("partial", "reduction", _partial_rule)
