"""The loops of a nest in a program: with its arrays, sizes and constants."""

from __future__ import annotations

from collections.abc import Callable

from nxkernel import shapes, types
from nxkernel.compilers.display import operation_text
from nxkernel.compilers.display.nest_source import NestText
from nxkernel.compilers.numba_njit import source_writer, user_functions
from nxkernel.compilers.numba_njit.array_indices import IndexTerm, flat_index, indices
from nxkernel.compilers.numba_njit.source_writer import SourceWriter, Variable
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import LaneAxis, NestConstant, Reduce, ScalarKind, Stride
from nxkernel.graph.expr import Expr

#: Simple instructions from which the threads of Numba share a loop: they begin and end together, which takes some 10
#: microseconds, and much longer where other processes want the processors.
WORTH_SHARING = 2_000_000
#: Columns that are gone over at a time, at most, so that what is kept of them stays in a cache; and by a thread, at
#: least.
COLUMNS, FEW_COLUMNS = 512, 32
#: What indices are called, as far as no variable has the name.
_LETTERS = "ijklmnpqruvwabcdefghost"


class BoundNestText(NestText):
    """Writes the loops of a nest into a program.

    Parameters
    ----------
    writer : SourceWriter
    bound : BoundNest
    variable : callable
        The variable that holds a value.
    shared : bool
        Whether the threads may share a loop.
    """

    def __init__(
        self, writer: SourceWriter, bound: BoundNest, variable: Callable[[Expr], Variable], shared: bool
    ) -> None:
        super().__init__(bound.nest)
        self.writer, self.bound = writer, bound
        nest = bound.nest
        named = zip(nest.scalars(), bound.scalars, strict=True)
        self.scalars = dict(named)
        self.sizes = [self._scalar(ScalarKind.SIZE, 0, axis) for axis in range(nest.outer + nest.inner)]
        self.variables = {
            number: variable(owner) for number, (owner, _) in zip(nest.memory, bound.buffers, strict=True)
        }
        self.offsets = {
            number: offset // nest.buffers[number].type.size
            for number, (_, offset) in zip(nest.memory, bound.buffers, strict=True)
        }
        self.letters = [letter for letter in _LETTERS if not writer.is_name(letter)]
        self.by_columns = nest.lanes is not LaneAxis.INNER and nest.inner > 0 and self.sizes[nest.outer - 1] > 1
        self.shared = shared and bound.count * bound.work >= WORTH_SHARING
        self.flat: dict[str, str] = {}

    def _scalar(self, kind: ScalarKind, number: int = 0, axis: int = 0) -> int:
        value = self.scalars[kind, number, axis]
        assert isinstance(value, int)
        return value

    def line(self, text: str) -> None:
        """Write a line at the present depth."""
        self.writer.line(text)

    def indent(self, levels: int) -> None:
        """Go deeper, or back by a negative number of levels."""
        self.writer.depth += levels

    def name(self, meaning: str) -> str:
        """A name that no other value has."""
        return self.writer.name(meaning)

    def reduced(self, reduce: Reduce, value: str) -> str:
        """The statement by which a reduction takes in a value: sums and products of floats in any order."""
        function = {"add": "plus", "multiply": "times"}.get(reduce.join)
        if function is None or self.by_columns or not reduce.type.is_float or reduce.is_logic:
            return super().reduced(reduce, value)
        name = self.slot(reduce.slot)
        return f"{name} = {function}({name}, {value})"

    def size(self, axis: int) -> str:
        """The size of an axis."""
        return str(self.sizes[axis])

    def blocks(self) -> tuple[str, str, str]:
        """The length of a block of the axis that is cut, their number, and how far apart their results are."""
        block, blocks, step = (self._scalar(kind) for kind in (ScalarKind.BLOCK, ScalarKind.BLOCKS, ScalarKind.STEP))
        return str(block), str(blocks), str(step)

    def constant(self, number: int, type_: types.Type) -> str:
        """A constant of the nest."""
        value = self.scalars[ScalarKind.CONSTANT, number, 0]
        assert isinstance(value, NestConstant)
        if type_.is_complex:
            imag = self.scalars[ScalarKind.CONSTANT, number, 1]
            assert isinstance(imag, NestConstant)
            return operation_text.literal(complex(value.value.real, imag.value.real), type_)
        return operation_text.literal(value.value, type_)

    def axis_name(self, axis: int) -> str:
        """The name of the index along an axis."""
        return self.letters[axis] if self.sizes[axis] != 1 or self._has_limits(axis) else "0"

    def _has_limits(self, axis: int) -> bool:
        return bool(self.nest.limits) and axis == self.nest.outer + self.nest.inner - 1

    def parallel_axis(self) -> int:
        """The axis whose loop is shared among threads, -1 for the blocks of a reduction; -2 for none."""
        axis = super().parallel_axis() if self.shared else -2
        if axis == 0:
            last = self.nest.outer or self.nest.inner
            axis = next((each for each in range(last) if self.sizes[each] > 1), -2)
            if self.by_columns and axis == last - 1 and not any(each.reduces for each in self.nest.passes):
                # What reduces nothing may as well be shared by rows.
                axis = last
        self.writer.is_parallel |= axis != -2
        return axis

    def loop(self, axis: int, span: str, parallel: bool) -> int:
        """Begin the loop over an axis, unless that has one element; how many levels deeper that is."""
        return 0 if self.axis_name(axis) == "0" and span == "1" else super().loop(axis, span, parallel)

    def begin_columns(self, parallel: bool) -> int:
        """Begin what goes over some columns at a time; how many levels deeper that is."""
        count = self.sizes[self.nest.outer - 1]
        self.span, self.place = str(count), self.axis_name(self.nest.outer - 1)
        width = min(COLUMNS, max(FEW_COLUMNS, shapes.ceil_div(count, 8))) if parallel else COLUMNS
        self.width = str(min(width, count))
        if count <= width:
            return 0
        block, first = self.name("part"), self.name("first")
        self.line(f"for {block} in {'numba.prange' if parallel else 'range'}({shapes.ceil_div(count, width)}):")
        self.indent(1)
        self.line(f"{first} = {block} * {width}")
        self.span, self.place = f"{first}, min({first} + {width}, {count})", f"{self.place} - {first}"
        return 1

    def columns(self) -> tuple[str, str]:
        """The span of the columns that are gone over at a time, and the index among them."""
        return self.span, self.place

    def column_count(self) -> str:
        """How many columns are gone over at a time, at most."""
        return self.width

    def running_index(self, number: int) -> str:
        """The value of a running index."""
        text = flat_index(self._scalar(ScalarKind.START, number), self._terms(number))
        return text if text.isdigit() else f"np.int64({text})"

    def element(self, buffer: int, *further: str) -> str:
        """The element of a buffer at the present indices, so many elements further."""
        variable, fixed, terms = self.variables[buffer], self.offsets[buffer], self._terms(buffer)
        at = None if further else indices(variable.shape, fixed, terms)
        if at is None and not variable.is_number and len(variable.shape) != 1:
            variable = self._flat(variable)
        return source_writer.element(variable, at, lambda: flat_index(fixed, terms, further))

    def _terms(self, buffer: int) -> list[IndexTerm]:
        terms = []
        access = self.nest.buffers[buffer]
        for axis, stride in enumerate(access.strides):
            if stride is Stride.MERGED:
                step = self.sizes[axis + 1]
            elif stride is Stride.DYNAMIC:
                step = self._scalar(ScalarKind.STRIDE, self.nest.mover(buffer), axis)
            else:
                step = stride.elements
            if step:
                terms.append(IndexTerm(self.axis_name(axis), self.sizes[axis] - 1, step))
        return terms

    def _flat(self, variable: Variable) -> Variable:
        """An array as one axis, by a name of its own."""
        name = self.flat.get(variable.name)
        if name is None:
            name = self.flat[variable.name] = self.writer.name(f"flat_{variable.name}")
            self.before.append(f"{name} = {variable.name}.reshape(-1)")
        return Variable(name, variable.type, (variable.size,))

    def write(self) -> None:
        """Write all loops, and before them the arrays that are seen as one axis."""
        for op in self.nest.ops():
            if op.name == "njit":
                user_functions.add(self.writer, op.attribute)
        begin = len(self.writer.lines)
        self.before: list[str] = []
        super().write()
        indent = "    " * self.writer.depth
        self.writer.lines[begin:begin] = [indent + line for line in self.before]
