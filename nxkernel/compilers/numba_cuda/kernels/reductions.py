"""Reductions in kernel source: the variables that a thread carries, and how the threads of a group join them.

Every order is fixed by the shape and the launch alone, so that the same bits come out each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import types
from nxkernel.compilers.numba_cuda.kernels.pass_writer import got, parts, put, shared_dtypes, variable
from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.element_types import ComplexText, Value
from nxkernel.compilers.numba_cuda.language.elementwise import LOGIC, converted, emit, truth
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.loop_nest import NestPass, Op, Reduce
from nxkernel.types import Type

#: A step of the exchange between the lanes of a warp hands over numbers of these types.
_EXCHANGED = {"bool": "s32", "u8": "s32", "s8": "s32", "u16": "s32", "s16": "s32", "u32": "s32", "u64": "s64"}


class TextAccumulator:
    """The variables of one reduction of a pass, and the statements that change them.

    Parameters
    ----------
    writer : SourceWriter
    nest_pass : NestPass
    reduce : Reduce
    slot : Type
        Of the slot that takes the result.
    suffix : str, optional
        What the names of its variables end in.
    """

    def __init__(self, writer: SourceWriter, nest_pass: NestPass, reduce: Reduce, slot: Type, suffix: str = "") -> None:
        self.w, self.nest_pass, self.reduce, self.slot_type = writer, nest_pass, reduce, slot
        self.is_argument = reduce.is_argument
        self.is_fold = reduce.is_fold
        self.type = types.bool_ if reduce.is_logic else reduce.type
        self.value = variable(f"r{reduce.slot}{suffix}", self.type)
        self.index = f"r{reduce.slot}{suffix}_at"
        #: The arrays of shared memory through which each of the variables goes.
        self.shared = parts(variable(f"shared_r{reduce.slot}", self.type))
        self.shared += [f"shared_r{reduce.slot}_at"] if self.is_argument else []

    @property
    def variables(self) -> list[tuple[str, Type]]:
        """The names of the variables, with their types."""
        held = [(name, types.to_real(self.type) if self.type.is_complex else self.type) for name in parts(self.value)]
        return [*held, (self.index, types.s64)] if self.is_argument else held

    def _set(self, value: Value) -> None:
        self.w.line(f"{', '.join(parts(self.value))} = {', '.join(parts(value))}")

    def start(self, first: Value | None = None) -> None:
        """Write the initial values; those of a fold are `first`."""
        if self.is_fold:
            self._set(converted(self.w, first, self.nest_pass.code[self.reduce.args[1]].type, self.type))
            return
        self._set(element_types.literal(self.reduce.identity, self.type))
        if self.is_argument:
            self.w.line(f"{self.index} = s64({self._far()})")

    def _far(self) -> int:
        """An index that loses every tie."""
        return -1 if self.reduce.takes_last else (1 << 63) - 1

    def step(self, values: Sequence[Value]) -> None:
        """Write how an element is joined; `values` are those of the pass's instructions."""
        code, fed = self.nest_pass.code, values[self.reduce.args[0]]
        if self.reduce.is_logic:
            fact = truth(fed, code[self.reduce.args[0]].type)
            self.w.line(f"{self.value} = {self.value} {LOGIC[self.reduce.join]} ({fact})")
            return
        if self.is_argument:
            self._better(str(fed), str(values[self.reduce.args[1]]))
            return
        self._set(fed if self.is_fold else self._joined(fed))

    def join(self, others: Sequence[str]) -> None:
        """Write how another thread's partial result is joined; `others` are its variables."""
        if self.is_argument:
            self._better(*others)
        elif self.reduce.is_logic:
            self.w.line(f"{self.value} = {self.value} {LOGIC[self.reduce.join]} {others[0]}")
        else:
            self._set(self._joined(ComplexText(*others) if self.type.is_complex else others[0]))

    def _joined(self, other: Value) -> Value:
        type_ = self.type
        own, leaf = self.value, Op("", type_)
        joined = emit(self.w, Op(self.reduce.join, type_, (0, 1)), [own, other], [leaf, leaf])
        if self.reduce.name != "product" or not type_.is_complex:
            return joined
        # The formula makes NaN of 1 times an infinity, and threads without elements hold 1.
        for one, kept in ((own, other), (other, own)):
            is_one = self.w.let(f"({one.re} == 1) & ({one.im} == 0)")
            pairs = zip(kept, joined, strict=True)
            joined = ComplexText(*(self.w.let(f"select({is_one}, {a}, {b})") for a, b in pairs))
        return joined

    def _better(self, value: str, index: str) -> None:
        """Write the choice of the better element: NaN is best; ties go to the first, or to the last if wanted.

        Elements come in any order: what is before the first whole vector is walked after the vectors.
        """
        own, at, type_ = str(self.value), self.index, self.type
        sign, last = self.reduce.sign, self.reduce.takes_last
        is_better = f"{value} {sign} {own}"
        same = f"{value} == {own}"
        if type_.is_float:
            is_better = f"({is_better}) | (({value} != {value}) & ({own} == {own}))"
            same = f"({same}) | (({value} != {value}) & ({own} != {own}))"
        taken = self.w.let(f"({is_better}) | (({same}) & ({index} {'>' if last else '<'} {at}))")
        self.w.line(f"{own} = select({taken}, {value}, {own})")
        self.w.line(f"{at} = select({taken}, s64({index}), {at})")

    def result(self, slot: Value, first: str) -> None:
        """Write the result to a slot's variables; `first` is the start of the reduced range."""
        if self.is_argument:
            # Where every element is the identity none was better than the beginning: the first one is it.
            index = self.w.let(f"select({self.index} == {self._far()}, s64({first}), {self.index})")
            self.w.line(f"{slot} = {element_types.register_type(self.slot_type)}({index})")
            return
        value = converted(self.w, self.value, self.type, self.slot_type)
        self.w.line(f"{', '.join(parts(slot))} = {', '.join(parts(value))}")


class GroupJoin:
    """Writes how threads of a group join partial results, through a warp's lanes or shared memory.

    Parameters
    ----------
    writer : SourceWriter
    max_threads : int
        Elements of each array in shared memory.
    """

    def __init__(self, writer: SourceWriter, max_threads: int) -> None:
        self.w, self.max_threads = writer, max_threads

    def arrays(self, accumulators: Sequence[TextAccumulator]) -> list[str]:
        """The statements that allocate the shared arrays of some reductions; they come first in a kernel."""
        return [
            f"{array} = cuda.shared.array({self.max_threads}, {shared_dtypes(type_)[0]})"
            for accumulator in accumulators
            for array, (_, type_) in zip(accumulator.shared, accumulator.variables, strict=True)
        ]

    def lanes(self, accumulators: Sequence[TextAccumulator], count: str) -> None:
        """Write the join of the first `count` lanes of a warp, each of which then has the result."""
        distance = self.w.name("distance")
        self.w.line(f"{distance} = 1")
        with self.w.block(f"while {distance} < {count}:"):
            for accumulator in accumulators:
                others = [self._from_lane(name, type_, distance) for name, type_ in accumulator.variables]
                accumulator.join(others)
            self.w.line(f"{distance} *= 2")

    def _from_lane(self, name: str, type_: Type, distance: str) -> str:
        kind = element_types.register_type(type_)
        carrier = _EXCHANGED.get(kind)
        carried = f"{carrier}({name})" if carrier else name
        other = self.w.let(f"cuda.shfl_xor_sync(0xFFFFFFFF, {carried}, {distance})")
        if not carrier:
            return other
        return self.w.let(f"truth({other})" if kind == "bool" else f"{kind}({other})")

    def put(self, accumulators: Sequence[TextAccumulator], index: str) -> None:
        """Write this thread's variables to an index of shared memory."""
        for accumulator in accumulators:
            for array, (name, type_) in zip(accumulator.shared, accumulator.variables, strict=True):
                put(self.w, [f"{array}[{index}]"], name, type_)

    def take(self, accumulators: Sequence[TextAccumulator], index: str, *, joining: bool) -> None:
        """Write a read from an index of shared memory, which replaces this thread's variables or joins them."""
        for accumulator in accumulators:
            held = zip(accumulator.shared, accumulator.variables, strict=True)
            others = [str(got(self.w, [f"{array}[{index}]"], type_)) for array, (_, type_) in held]
            if joining:
                accumulator.join(others)
            else:
                for (name, _), other in zip(accumulator.variables, others, strict=True):
                    self.w.line(f"{name} = {other}")

    def along_y(self, accumulators: Sequence[TextAccumulator]) -> None:
        """Write the join of the threads of a block that differ in y, each of which then has the result."""
        w = self.w
        self.put(accumulators, "cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x")
        w.line("cuda.syncthreads()")
        self.take(accumulators, "cuda.threadIdx.x", joining=False)
        w.line("other = 1")
        with w.block("while other < cuda.blockDim.y:"):
            self.take(accumulators, "other * cuda.blockDim.x + cuda.threadIdx.x", joining=True)
            w.line("other += 1")
        w.line("cuda.syncthreads()")
