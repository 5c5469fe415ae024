"""Updates in place: which results take over the memory of what they are made from.

An update of a few elements (``put_slice``, ``scatter``), a loop that changes an array and a choice between changes of
one give a new value; where nothing reads the old one afterwards, it is written over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nxkernel import primitives as p
from nxkernel.compilers import pieces
from nxkernel.graph.expr import Expr

#: For a loop or choice: which result could be in the memory of which operand.
Shares = Callable[[Expr], Mapping[int, int]]


def candidates(
    order: Sequence[Expr],
    outputs: Iterable[Expr],
    users: Mapping[Expr, list[Expr]],
    writable: set[Expr],
    shares: Shares,
) -> dict[Expr, Expr]:
    """For each result that could be in the memory of another value that value.

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
        What loops and choices could do.
    """
    kept = {below(output) for output in outputs}
    taken: set[Expr] = set()
    found: dict[Expr, Expr] = {}
    for node in order:
        for result, old in _pairs(node, users, shares):
            base = below(old)
            if base.primitive is p.parameter:
                may = base in writable
            elif node.primitive.family == "control":
                may = base.primitive is not p.constant
            else:
                may = base.primitive in pieces.PIECES or base.primitive.family in _OWN_MEMORY
            twice = sum(below(operand) is base for operand in node.operands) > 1
            if may and not twice and base not in kept and base not in taken:
                taken.add(base)
                found[result] = base
    return found


#: Families whose results have memory of their own in any case.
_OWN_MEMORY = frozenset(["tuple", "reduction", "contraction", "cumulative", "sorting", "library"])


def below(node: Expr) -> Expr:
    """What a value is a reshape of."""
    while node.primitive is p.reshape:
        node = node.operands[0]
    return node


def _pairs(node: Expr, users: Mapping[Expr, list[Expr]], shares: Shares) -> list[tuple[Expr, Expr]]:
    old = pieces.target(node)
    if old is not None:
        return [(node, old)]
    if node.primitive.family != "control":
        return []
    parts = {user.params["index"]: user for user in users[node]}
    return [(parts[result], node.operands[place]) for result, place in shares(node).items() if result in parts]


def apart(node: Expr, old: Expr, same: Callable[[Expr], Expr]) -> list[Expr]:
    """What must be computed before an update in place, since computing it reads what the update writes over.

    Parameters
    ----------
    node : Expr
        The update.
    old : Expr
        What it writes over.
    same : callable
        The value whose memory a value is in.
    """
    return [value for value in node.operands[1:] if _reads(value, node, same(old), same)]


def _reads(value: Expr, node: Expr, memory: Expr, same: Callable[[Expr], Expr]) -> bool:
    """Whether a value is computed from some memory, apart from reads of just what an update writes."""
    seen: set[Expr] = set()
    todo = [value]
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        if same(below(one)) is memory:
            return True
        if _aligned(one, node, memory, same):
            todo += one.operands[1:]
        elif one.primitive.family == "elementwise" or one.primitive in _LOOKED_THROUGH:
            todo += one.operands
    return False


_LOOKED_THROUGH = frozenset([
    p.broadcast, p.reshape, p.transpose, p.slice_, p.windows, p.dynamic_slice, p.gather,
])  # fmt: skip


def _aligned(read: Expr, node: Expr, memory: Expr, same: Callable[[Expr], Expr]) -> bool:
    """Whether a value reads just the elements that an update writes, each where it is written."""
    if node.primitive is not p.put_slice or read.shape != node.operands[1].shape:
        return False
    starts = node.operands[2:]
    if read.primitive is p.dynamic_slice and same(below(read.operands[0])) is memory:
        return set(read.params["strides"]) <= {1} and all(
            a is b for a, b in zip(read.operands[1:], starts, strict=True)
        )
    if read.primitive is p.slice_ and same(below(read.operands[0])) is memory:
        fixed = [start.params["value"] if start.primitive is p.constant else None for start in starts]
        return set(read.params["strides"]) <= {1} and list(read.params["starts"]) == fixed
    return False
