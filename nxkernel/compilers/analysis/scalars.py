"""Values of one element, which a program with loops computes by instructions of its own instead of kernels.

Elements of arrays are read and written at offsets made of numbers that are known when the program is written and of
clamped indices that are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.analysis import index_maps
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec


@dataclass(frozen=True)
class Term:
    """A summand of an offset: an index, clamped to the range 0 to `most`, times a stride in elements.

    ``axis`` says of which axis of the buffer the stride is, where it is just that.
    """

    index: Expr
    most: int
    stride: int
    axis: int | None = None


@dataclass
class Offset:
    """The offset of an element from the start of its buffer, in elements: a constant and terms."""

    fixed: int = 0
    terms: list[Term] = field(default_factory=list)

    def times(self, factor: int) -> Offset:
        """The offset multiplied by a number."""
        return Offset(self.fixed * factor, [Term(t.index, t.most, t.stride * factor) for t in self.terms])

    def plus(self, other: Offset) -> Offset:
        """The sum of two."""
        return Offset(self.fixed + other.fixed, [*self.terms, *other.terms])


@dataclass(frozen=True)
class Element:
    """One element of a value in memory.

    Parameters
    ----------
    base : Expr
        The value that must be in memory.
    offset : Offset
    """

    base: Expr
    offset: Offset


def is_single(node: Expr | Spec) -> bool:
    """Whether a value, or the value that a spec describes, has exactly one element."""
    spec = node.spec if isinstance(node, Expr) else node
    return type(spec) is not tuple and shapes.size(spec.shape) == 1


def inline(order: Iterable[Expr], outputs: Iterable[Expr] = ()) -> set[Expr]:
    """The nodes that the program computes by itself: arithmetic on single elements, and reads of single elements.

    Numbers are among them where they are outputs.
    """
    nodes = {output for output in outputs if output.primitive is p.constant and is_single(output)}
    for node in order:
        # A reshape is its operand under another name.
        if is_single(node) and (node.primitive.family == "elementwise" or node.primitive in _READS - {p.reshape}):
            nodes.add(node)
    return nodes


def reads_of(node: Expr) -> list[Expr]:
    """The operands that a scalar node reads."""
    if node.primitive.family == "elementwise":
        return [operand for operand in node.operands if operand.primitive is not p.constant]
    if node.primitive in (p.iota, p.constant):
        return []
    element = element_of(node)
    wanted = [element.base, *(term.index for term in element.offset.terms)]
    return [value for value in wanted if value.primitive is not p.constant]


_READS = frozenset([p.reshape, p.broadcast, p.transpose, p.slice_, p.dynamic_slice, p.gather, p.iota])


def element_of(node: Expr) -> Element:
    """The buffer and the offset of the one element that a node reads."""
    at = [Offset() for _ in node.shape]
    current = node
    while current is node or current.primitive in _READS:
        if current is not node and (is_single(current) or current.primitive is p.iota or _picks_many(current)):
            break
        if current.primitive is p.reshape and not index_maps.keeps_axes(current):
            base = current.operands[0]
            return Element(base, _linear(at, current.shape))
        if current.primitive is p.dynamic_slice:
            at = _sliced(current, at)
        elif current.primitive is p.gather:
            at = _gathered(current, at)
        else:
            at = _viewed(current, at)
        current = current.operands[0]
    return Element(current, _linear(at, current.shape))


def _picks_many(node: Expr) -> bool:
    """Whether a node gathers by an array of indices, each of whose elements selects another element."""
    return node.primitive is p.gather and not all(map(is_single, node.operands[1:]))


def _linear(at: Sequence[Offset], shape: Sequence[int]) -> Offset:
    total = Offset()
    for axis, (entry, stride) in enumerate(zip(at, index_maps.row_strides(shape), strict=True)):
        terms = [Term(t.index, t.most, t.stride * stride, axis if t.stride == 1 else None) for t in entry.terms]
        total = total.plus(Offset(entry.fixed * stride, terms))
    return total


def _sliced(node: Expr, at: Sequence[Offset]) -> list[Offset]:
    operand, *starts = node.operands
    offsets = []
    for entry, start, size, length, stride in zip(
        at, starts, operand.shape, node.params["lengths"], node.params["strides"], strict=True
    ):
        offsets.append(entry.times(stride).plus(_at(start, size - length)))
    return offsets


def _at(index: Expr, most: int) -> Offset:
    if index.primitive is p.constant:
        return Offset(min(max(int(index.params["value"]), 0), most))
    return Offset(0, [Term(index, most, 1)])


def _gathered(node: Expr, at: Sequence[Offset]) -> list[Offset]:
    operand, *indices = node.operands
    axes = node.params["axes"]
    rest = iter(at[len(indices[0].shape) :])
    index_of = dict(zip(axes, indices, strict=True))
    return [
        _at(index_of[axis], size - 1) if axis in index_of else next(rest) for axis, size in enumerate(operand.shape)
    ]


def _viewed(node: Expr, at: Sequence[Offset]) -> list[Offset]:
    operand, primitive = node.operands[0], node.primitive
    if primitive is p.broadcast:
        return [Offset() if n == 1 else at[axis] for n, axis in zip(operand.shape, node.params["axes"], strict=True)]
    if primitive is p.transpose:
        offsets = [Offset()] * len(at)
        for entry, axis in zip(at, node.params["axes"], strict=True):
            offsets[axis] = entry
        return offsets
    if primitive is p.slice_:
        starts, strides = node.params["starts"], node.params["strides"]
        return [Offset(start).plus(entry.times(step)) for entry, start, step in zip(at, starts, strides, strict=True)]
    kept = iter([entry for entry, n in zip(at, node.shape, strict=True) if n != 1])
    return [Offset() if n == 1 else next(kept) for n in operand.shape]
