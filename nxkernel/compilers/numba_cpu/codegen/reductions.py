"""Reductions as LLVM IR: carried values, how an element joins them, how lanes are combined at the end.

The order of every reassociation is fixed by the shape alone: results are the same bits on any number of threads.
"""

from __future__ import annotations

from nxkernel.compilers.analysis.reduction_table import ARGUMENTS, LOGIC, REDUCTIONS
from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import Register, elements, from_parts, parts
from nxkernel.compilers.numba_cpu.codegen.elementwise import Emitter, lowered
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import WIDTH, IRValue
from nxkernel.compilers.numba_cpu.target.element_types import REGISTER
from nxkernel.compilers.schedule.loop_nest import Reduce


def reductions(complex: bool = False) -> frozenset[str]:
    """The names of the reductions that have a lowering, for real or complex numbers."""
    joined = [name for name, row in REDUCTIONS.items() if row.join in lowered(complex) and not row.sign]
    return frozenset(["reduce", *joined, *LOGIC, *(() if complex else ARGUMENTS)])


class RegisterAccumulator:
    """The carried values of one reduction of a pass.

    Attributes
    ----------
    width : int
        How many values it carries.
    elements : list of str
        Their element types.
    """

    def __init__(self, emitter: Emitter, reduce: Reduce, lanes: int, index: str = "") -> None:
        self.e, self.reduce, self.lanes = emitter, reduce, lanes
        register = REGISTER[reduce.type]
        self.arg = reduce.is_argument
        self.logic = reduce.is_logic
        # A row on the stack cannot hold single bits, so truth is carried as bytes.
        self.elements = [register, index] if self.arg else ["i8"] if self.logic else elements(reduce.type)
        self.width = len(self.elements)

    def start(self, lanes: int | None = None) -> list[IRValue]:
        """The initial carried values."""
        lanes = self.lanes if lanes is None else lanes
        first = self.e.b.constant(self.elements[0], self.reduce.identity, lanes)
        if not self.arg:
            # A complex identity is real.
            return [first, *(self.e.b.constant(element, 0, lanes) for element in self.elements[1:])]
        # An index beyond every real one loses each tie, unless the highest is wanted.
        far = -1 if self.reduce.takes_last else (1 << (WIDTH[self.elements[1]] - 1)) - 1
        return [first, self.e.b.constant(self.elements[1], far, lanes)]

    def step(self, held: list[IRValue], fed: list[Register], mask: IRValue | None) -> list[IRValue]:
        """The carried values after one more vector; lanes outside the mask are unchanged."""
        if self.logic:
            fed = [self.e.b.convert("zext", self.e.truth(fed[0]), "i8")]
        else:
            fed = [*parts(self.e.number(fed[0], self.reduce.type)), *fed[1:]]
        if self.reduce.is_fold:
            # What is fed is the result of the fold's body, which has seen what is held.
            new = fed[: self.width]
        else:
            new = self._later(held, fed) if self.arg else self.join(held, fed)
        if mask is None:
            return new
        return [self.e.b.select(mask, value, old) for value, old in zip(new, held, strict=True)]

    def join(self, left: list[IRValue], right: list[IRValue]) -> list[IRValue]:
        """Two partial results joined; `left` comes first in order."""
        e, name, type_ = self.e, self.reduce.name, self.reduce.type
        if self.arg:
            return self._better(left, right)
        if self.logic:
            return [e.b.integer(self.reduce.join.removeprefix("logical_"), left[0], right[0])]
        joined = parts(e.apply(self.reduce.join, type_, [from_parts(left), from_parts(right)], None))
        if name == "product" and type_.is_complex:
            # The formula makes NaN of 1 times an infinity, and lanes without elements hold 1.
            for one, other in ((left, right), (right, left)):
                joined = self._unless_one(one, other, joined)
        return joined

    def _unless_one(self, value: list[IRValue], other: list[IRValue], product: list[IRValue]) -> list[IRValue]:
        b = self.e.b
        tests = [
            b.fcmp("oeq", part, b.constant(part.element, number, part.lanes))
            for part, number in zip(value, (1, 0), strict=True)
        ]
        one = b.integer("and", *tests)
        return [b.select(one, kept, multiplied) for kept, multiplied in zip(other, product, strict=True)]

    def _later(self, held: list[IRValue], fed: list[IRValue]) -> list[IRValue]:
        """As `_better`, for elements that come after those held in every lane, so that ties are decided."""
        b, type_ = self.e.b, self.reduce.type
        (a, i), (c, j) = held, fed
        greater, last = self.reduce.sign == ">", self.reduce.takes_last
        if not type_.is_float:
            predicate = ("s" if type_.kind == "s" else "u") + ("g" if greater else "l") + ("e" if last else "t")
            take = b.icmp(predicate, c, a)
        else:
            take = b.fcmp(("ug" if greater else "ul") + ("e" if last else "t"), c, a)
            settled = b.fcmp("uno", a, a)
            if last:
                settled = b.integer("and", settled, b.fcmp("ord", c, c))
            take = b.integer("and", take, b.integer("xor", settled, b.constant("i1", 1, a.lanes)))
        return [b.select(take, c, a), b.select(take, j, i)]

    def _better(self, left: list[IRValue], right: list[IRValue]) -> list[IRValue]:
        """The better of two (value, index) pairs, lane by lane: NaN is best; ties go to the lower index, or the higher
        if wanted.
        """
        b, type_ = self.e.b, self.reduce.type
        (a, i), (c, j) = left, right
        greater = self.reduce.sign == ">"
        earlier = b.icmp("sgt" if self.reduce.takes_last else "slt", j, i)
        if not type_.is_float:
            sign = "s" if type_.kind == "s" else "u"
            wins = b.icmp(sign + ("gt" if greater else "lt"), c, a)
            ties = b.integer("and", b.icmp("eq", c, a), earlier)
        else:
            # True when c is the better number or either is NaN; the second condition drops those where a is NaN.
            wins = b.integer("and", b.fcmp("ugt" if greater else "ult", c, a), b.fcmp("ord", a, a))
            equal = b.fcmp("oeq", c, a)
            both = b.fcmp("uno", c, c)
            both = b.integer("and", both, b.fcmp("uno", a, a))
            ties = b.integer("and", b.integer("or", equal, both), earlier)
        take = b.integer("or", wins, ties)
        return [b.select(take, c, a), b.select(take, j, i)]

    def narrowed(self, held: list[IRValue], to: int) -> list[IRValue]:
        """The carried lanes combined into fewer ones, by halving in a fixed order."""
        b, lanes = self.e.b, held[0].lanes
        while lanes > to:
            lanes //= 2
            low = [b.shuffle(value, list(range(lanes))) for value in held]
            high = [b.shuffle(value, list(range(lanes, 2 * lanes))) for value in held]
            held = self.join(low, high)
        return held

    def finish(self, held: list[IRValue], first: IRValue) -> Register:
        """The result of all lanes as one scalar; `first` is the first index of the range."""
        return self.lanewise(self.narrowed(held, 1), first)

    def lanewise(self, held: list[IRValue], first: IRValue) -> Register:
        """The result of each lane, where lanes are separate reductions."""
        if not self.arg:
            return from_parts(held)
        b, index = self.e.b, held[1]
        # Where every element is the identity none was better than the beginning: the first one is it.
        none = b.icmp("eq", index, self.start(index.lanes)[1])
        return b.select(none, b.splat(first, index.lanes), b.convert("sext", index, "i64"))
