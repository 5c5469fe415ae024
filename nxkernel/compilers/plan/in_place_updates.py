"""Updates in place: which results take over the memory of what they are made from.

An update of a few elements (``put_slice``, ``put_strided``, ``scatter``), a loop that changes an array and a branch
between changes of one give a new value; where nothing reads the old one afterwards, it is written over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.graph.expr import Expr

#: For a loop or branch: which result could be in the memory of which operand.
Shares = Callable[[Expr], Mapping[int, int]]


def candidates(
    order: Sequence[Expr],
    outputs: Iterable[Expr],
    users: Mapping[Expr, list[Expr]],
    writable: set[Expr],
    shares: Shares,
) -> dict[Expr, Expr]:
    """Find the results that could be computed in place: for each, the value whose memory it would take over.

    Parameters
    ----------
    order : sequence of Expr
        The nodes, operands first.
    outputs : iterable of Expr
    users : mapping
        The readers of each node.
    writable : set of Expr
        The parameters whose memory may be written to.
    shares : callable
        What loops and branches could do.
    """
    kept = {below(output) for output in outputs}
    taken: set[Expr] = set()
    updated: dict[Expr, Expr] = {}
    for node in order:
        for result, old in _pairs(node, users, shares):
            base = below(old)
            if base.primitive is p.parameter:
                may = base in writable
            elif node.primitive.family == "control":
                may = base.primitive is not p.constant
            else:
                may = base.primitive in piecewise_buffers.PIECES or base.primitive.family in _OWN_MEMORY
            twice = sum(below(operand) is base for operand in node.operands) > 1
            if may and not twice and base not in kept and base not in taken:
                taken.add(base)
                updated[result] = base
    return updated


#: Families whose results have memory of their own in any case.
_OWN_MEMORY = frozenset(["tuple", "reduction", "contraction", "cumulative", "sorting", "library"])


def below(node: Expr) -> Expr:
    """The value that a chain of reshapes starts from."""
    while node.primitive is p.reshape:
        node = node.operands[0]
    return node


def _pairs(node: Expr, users: Mapping[Expr, list[Expr]], shares: Shares) -> list[tuple[Expr, Expr]]:
    old = piecewise_buffers.target(node)
    if old is not None:
        return [(node, old)]
    if node.primitive.family != "control":
        return []
    parts = {user.params["index"]: user for user in users[node]}
    return [(parts[result], node.operands[operand]) for result, operand in shares(node).items() if result in parts]


def computed_before(node: Expr, old: Expr, same: Callable[[Expr], Expr], inline: bool = False) -> list[Expr]:
    """The values that must be materialized before an in-place update, as they read what it overwrites.

    Parameters
    ----------
    node : Expr
        The update.
    old : Expr
        What it writes over.
    same : callable
        The value whose memory a value is in.
    inline : bool
        Whether the program computes single numbers by itself, and so before.
    """
    return [value for value in node.operands[1:] if _reads(value, node, same(old), same, inline)]


def _reads(value: Expr, node: Expr, memory: Expr, same: Callable[[Expr], Expr], inline: bool) -> bool:
    """Whether a value is computed from a buffer, other than element by element at the position being written.

    Those are `straight` below it: between the read and the update every element stays in its place.
    """
    seen: set[tuple[Expr, bool]] = set()
    todo = [(value, True)]
    while todo:
        one, straight = todo.pop()
        if (one, straight) in seen or (inline and scalars.inline([one])):
            continue
        seen.add((one, straight))
        if same(below(one)) is memory:
            return True
        if straight and _aligned(one, node, memory, same):
            todo += [(start, False) for start in one.operands[1:]]
        elif one.primitive.family == "elementwise" or one.primitive in _LOOKED_THROUGH:
            straight = straight and (one.primitive.family == "elementwise" or _keeps_places(one))
            todo += [(operand, straight) for operand in one.operands]
    return False


_LOOKED_THROUGH = frozenset([
    p.broadcast, p.reshape, p.transpose, p.slice_, p.windows, p.dynamic_slice, p.gather,
])  # fmt: skip


def _keeps_places(node: Expr) -> bool:
    """Whether a reshape only adds or drops axes of length 1."""
    return node.primitive is p.reshape and _long(node.shape) == _long(node.operands[0].shape)


def _long(shape: Sequence[int]) -> list[int]:
    return [length for length in shape if length != 1]


def _aligned(read: Expr, node: Expr, memory: Expr, same: Callable[[Expr], Expr]) -> bool:
    """Whether a value reads exactly the elements that an update writes, each at its own position, or only other rows.

    Along an axis of which one place is read and one is written, no element is written before it is read for another.
    """
    if node.primitive not in (p.put_slice, p.put_strided) or read.shape != node.operands[1].shape:
        return False
    if read.primitive not in (p.dynamic_slice, p.slice_) or same(below(read.operands[0])) is not memory:
        return False
    starts = read.operands[1:] if read.primitive is p.dynamic_slice else read.params["starts"]
    strides = node.params.get("strides", (1,) * len(read.shape))
    return all(
        length == 1 or (stride == step and _is_same(one, other))
        for one, other, length, stride, step in zip(
            starts, node.operands[2:], read.shape, read.params["strides"], strides, strict=True
        )
    )


def _is_same(start: Expr | int, other: Expr) -> bool:
    """Whether two slices begin at the same index of an axis."""
    if isinstance(start, Expr):
        return start is other
    return other.primitive is p.constant and other.params["value"] == start
