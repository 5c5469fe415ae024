"""Groups of values that fusion puts into one kernel: what each computes, over which axes, and its dependencies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from nxkernel.compilers.analysis.partial_reductions import partial
from nxkernel.compilers.schedule.piecewise_buffers import Store
from nxkernel.graph.expr import Expr


@dataclass(eq=False)
class KernelGroup:
    """The values that one kernel will compute, and the space of its nest.

    Parameters
    ----------
    space : tuple of int
        The full space that it runs over.
    reduce : tuple of int or None
        The axes of that space that its reductions remove; None while it has none.
    block : tuple or None
        ``(axis, size, count)`` when its reductions run in blocks of one axis.
    materialized : list of Expr
        What it computes, operands first.
    needs : set of KernelGroup
        Those that must have run before.
    reads : set of Expr
        The values, as long as half of its space or longer, whose memory it goes over.
    number : int
        Its place among all of a program.
    """

    space: tuple[int, ...]
    reduce: tuple[int, ...] | None = None
    block: tuple[int, int, int] | None = None
    materialized: list[Expr] = field(default_factory=list)
    needs: set[KernelGroup] = field(default_factory=set)
    stores: list[Store] = field(default_factory=list)
    reads: set[Expr] = field(default_factory=set)
    number: int = 0
    #: The numbers of all that it waits for, directly or not, as bits: asked for each pair that might become one.
    _before: int = 0
    _after: list[KernelGroup] = field(default_factory=list)

    @property
    def outer(self) -> tuple[int, ...]:
        """The axes of the space that are not reduced."""
        return tuple(a for a in range(len(self.space)) if a not in (self.reduce or ()))

    def wait_for(self, others: Iterable[KernelGroup]) -> None:
        """Record that other groups must run before this one, and before all that wait for it."""
        more = 0
        for other in others:
            if other not in self.needs:
                self.needs.add(other)
                other._after.append(self)
                more |= other._before | 1 << other.number
        todo = [self]
        while todo:
            kernel = todo.pop()
            if more & ~kernel._before:
                kernel._before |= more
                todo += kernel._after

    def is_awaited_by(self, others: Iterable[KernelGroup]) -> bool:
        """Whether any of the groups is this one or waits for it, directly or not."""
        return any(other is self or other._before >> self.number & 1 for other in others)


def space_of(value: Expr) -> tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, int, int] | None]:
    """The iteration space of a materialized value, its reduced axes or None, and its blocks or None."""
    if value.primitive.family != "reduction":
        return value.shape, None, None
    operand, params = value.operands[0], value.params
    if value.primitive is partial:
        axis = params["axes"][0]
        return operand.shape, tuple(sorted(params["axes"])), (axis, params["block"], params["blocks"])
    axes = params["axes"] if "axes" in params else (params["axis"],)
    return operand.shape, tuple(sorted(axes)), None
