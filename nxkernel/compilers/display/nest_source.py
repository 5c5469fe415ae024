"""Loop nests as Numba source: kernels as somebody would write them by hand.

Of a kernel by itself arrays are flat, and sizes, strides and constants are arguments; in a program's source they are
those of the program (:mod:`nxkernel.compilers.numba_njit`). Vectors, tiles and masks are left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from nxkernel import types
from nxkernel.compilers.display import operation_text
from nxkernel.compilers.schedule.loop_nest import (
    BufferRole,
    LaneAxis,
    Nest,
    NestPass,
    Op,
    PassLevel,
    Reduce,
    ScalarKind,
    StoreMode,
    Stride,
)

#: Expressions up to this length stay inside the one that uses them.
_INLINE = 44
#: As much may stand in a statement that stores it.
_STATEMENT = 88


def render(nest: Nest) -> str:
    """A nest as the source of an equivalent Numba function, for people.

    Parameters
    ----------
    nest : Nest

    Returns
    -------
    str
        Imports, small functions that it calls, and a function decorated with ``numba.njit``.
    """
    return operation_text.with_definitions(_Kernel(nest).run())


def names(nest: Nest) -> tuple[list[str], list[str]]:
    """The names of the function's arguments: arrays, and the scalar parameters of the nest, in their order."""
    arrays = [_buffer(number) for number in nest.memory]
    scalars = []
    for kind, number, axis in nest.scalars():
        scalars.append(
            {
                ScalarKind.SIZE: f"n{axis}",
                ScalarKind.TILES: "tiles",
                ScalarKind.BLOCK: "block",
                ScalarKind.BLOCKS: "blocks",
                ScalarKind.STEP: "step",
                ScalarKind.START: f"{_buffer(number)}_start",
                ScalarKind.STRIDE: f"{_buffer(number)}_{axis}",
                ScalarKind.CONSTANT: f"c{number}",
            }[kind]
            + _part_name(nest, kind, number, axis)
        )
    return arrays, scalars


def _part_name(nest: Nest, kind: ScalarKind, number: int, part: int) -> str:
    """The suffix of the name of a complex constant's real or imaginary part."""
    if kind is not ScalarKind.CONSTANT or not nest.constants[number].is_complex:
        return ""
    return ("_real", "_imag")[part]


def _buffer(number: int) -> str:
    return "abdefgh"[number] if number < 7 else f"a{number}"


def _goes_back(nest: Nest, buffer: int) -> bool:
    """Whether a nest reads the same elements of a buffer more than once, apart from computed indices."""
    return Stride.NONE in nest.buffers[buffer].strides


class NestText(ABC):
    """Writes the loops of a nest; what arrays and sizes are called is for subclasses to say.

    Parameters
    ----------
    nest : Nest
    """

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.carried: list[int] = []
        self.slots: dict[int, str] = {}
        #: Whether the last outer axis is gone over inside of the inner ones, as it is that of columns in memory.
        self.by_columns = False
        self.in_order = any(
            _goes_back(nest, scatter.buffer) for nest_pass in nest.passes for scatter in nest_pass.scatters
        )

    # What subclasses say -----------------------------------------------------------------------------------------

    @abstractmethod
    def line(self, text: str) -> None:
        """Write a line at the present depth."""

    @abstractmethod
    def indent(self, levels: int) -> None:
        """Go deeper, or back by a negative number of levels."""

    @abstractmethod
    def name(self, meaning: str) -> str:
        """A name that no other value has."""

    def slot_name(self, slot: int, meaning: str) -> str:
        """The name of the variable of a slot."""
        return self.name(meaning)

    def reduced(self, reduce: Reduce, value: str) -> str:
        """The statement by which a reduction takes in a value."""
        type_ = types.bool_ if reduce.is_logic else reduce.type
        return operation_text.update(reduce.join, self.slot(reduce.slot), value, type_)

    @abstractmethod
    def size(self, axis: int) -> str:
        """The size of an axis."""

    @abstractmethod
    def blocks(self) -> tuple[str, str, str]:
        """The length of a block of the axis that is cut, their number, and how far apart their results are."""

    @abstractmethod
    def constant(self, number: int, type_: types.Type) -> str:
        """A constant of the nest."""

    @abstractmethod
    def running_index(self, number: int) -> str:
        """The value of a running index."""

    @abstractmethod
    def element(self, buffer: int, *further: str) -> str:
        """The element of a buffer at the present indices, so many elements further."""

    def loop(self, axis: int, span: str, parallel: bool) -> int:
        """Begin the loop over an axis; how many levels deeper that is."""
        self.line(f"for {self.axis_name(axis)} in {'numba.prange' if parallel else 'range'}({span}):")
        self.indent(1)
        return 1

    def axis_name(self, axis: int) -> str:
        """The name of the index along an axis."""
        return f"i{axis}" if axis < self.nest.outer else f"j{axis}"

    def parallel_axis(self) -> int:
        """The axis whose loop is shared among threads, -1 for the blocks of a reduction; -2 for none."""
        nest = self.nest
        if self.in_order:
            return -2
        if nest.outer:
            return 0
        if nest.split >= 0:
            return -1
        return 0 if not any(nest_pass.reduces for nest_pass in nest.passes) else -2

    # Writing -----------------------------------------------------------------------------------------------------

    def write(self) -> None:
        """Write all loops."""
        nest, shared, depth = self.nest, self.parallel_axis(), 0
        for axis in range(nest.outer - self.by_columns):
            depth += self.loop(axis, self.size(axis), axis == shared)
        if nest.split >= 0:
            self.block_number = self.name("block_number")
            self.line(f"for {self.block_number} in {'numba.prange' if shared == -1 else 'range'}({self.blocks()[1]}):")
            self.indent(1)
            depth += 1
        if self.by_columns:
            depth += self.begin_columns(shared == nest.outer - 1)
        self.rows = [self.name("row") for _ in nest.scratches]
        for name, type_ in zip(self.rows, nest.scratches, strict=True):
            self.line(
                f"{name} = np.empty({self.size(nest.outer + nest.inner - 1)}, {operation_text.array_dtype(type_)})"
            )
        for nest_pass in nest.passes:
            if nest_pass.level is PassLevel.ROW:
                self._row(nest_pass)
            else:
                self._full(nest_pass, shared)
        self.indent(-depth)

    def begin_columns(self, parallel: bool) -> int:
        """Begin what goes over some columns at a time; how many levels deeper that is."""
        return 0

    def columns(self) -> tuple[str, str]:
        """The span of the columns that are gone over at a time, and the index among them."""
        axis = self.nest.outer - 1
        return self.size(axis), self.axis_name(axis)

    def slot(self, number: int) -> str:
        """The variable of a slot, or the element that it has for a column."""
        name = self.slots[number]
        return f"{name}[{self.columns()[1]}]" if self.by_columns else name

    def _row(self, nest_pass: NestPass) -> None:
        """Write a pass that runs once for each outer index."""
        if not self.by_columns:
            self._pass(nest_pass)
            return
        for slot, _ in nest_pass.keeps:
            self._allocate(slot, "s")
        depth = self.loop(self.nest.outer - 1, self.columns()[0], False)
        self._pass(nest_pass)
        self.indent(-depth)

    def _allocate(self, slot: int, meaning: str, suffix: str = "", type_: types.Type | None = None) -> None:
        """Allocate what a slot has for each column."""
        if not suffix:
            self.slots[slot] = self.slot_name(slot, meaning)
        held = operation_text.array_dtype(type_ or self.nest.slots[slot])
        self.line(f"{self.slots[slot]}{suffix} = np.empty({self.column_count()}, {held})")

    def column_count(self) -> str:
        """How many columns are gone over at a time, at most."""
        return self.columns()[0]

    def lane_axis(self) -> int:
        """The axis along which vectors run."""
        return self.nest.outer - 1 if self.nest.lanes is not LaneAxis.INNER else self.nest.outer + self.nest.inner - 1

    def _full(self, nest_pass: NestPass, shared: int) -> None:
        nest, depth = self.nest, 0
        block = self.blocks()[0] if nest.split >= 0 else ""
        first = f"{self.block_number} * {block}" if nest.split >= 0 else "0"
        self.carried = [reduce.slot for reduce in nest_pass.reduces]
        self._begin(nest_pass, first)
        for axis in range(nest.outer, nest.outer + nest.inner):
            stop = span = self.size(axis)
            if nest.split == axis - nest.outer:
                span = f"{first}, min({stop}, ({self.block_number} + 1) * {block})"
            elif nest.limits and axis == nest.outer + nest.inner - 1:
                low, high = nest.limits
                span = f"{'0' if low < 0 else f'max({self.slot(low)}, 0)'}, min({self.slot(high)}, {stop})"
            depth += self.loop(axis, span, axis == shared)
        if self.by_columns:
            depth += self.loop(nest.outer - 1, self.columns()[0], False)
        self._pass(nest_pass)
        self.indent(-depth)

    def _begin(self, nest_pass: NestPass, first: str) -> None:
        """Write what reductions have before the first element."""
        for reduce in nest_pass.reduces:
            meaning = _MEANINGS.get(reduce.name, "so_far")
            if self.by_columns:
                self._allocate(reduce.slot, meaning)
                if reduce.is_argument:
                    self._allocate(reduce.slot, meaning, "_best", reduce.type)
            else:
                self.slots[reduce.slot] = self.slot_name(reduce.slot, meaning)
        if not nest_pass.reduces:
            return
        depth = self.loop(self.nest.outer - 1, self.columns()[0], False) if self.by_columns else 0
        for reduce in nest_pass.reduces:
            start, own = self._start(reduce, nest_pass), self.nest.slots[reduce.slot]
            if reduce.is_argument:
                self.line(f"{self._best(reduce.slot)}, {self.slot(reduce.slot)} = {start}, {self._typed(first, own)}")
            else:
                self.line(f"{self.slot(reduce.slot)} = {start}")
        self.indent(-depth)

    def _best(self, slot: int) -> str:
        """The variable of the element whose index a slot has."""
        name = f"{self.slots[slot]}_best"
        return f"{name}[{self.columns()[1]}]" if self.by_columns else name

    def _typed(self, text: str, type_: types.Type) -> str:
        return text if type_ is types.s64 else f"{operation_text.dtype(type_)}({text})"

    def _start(self, reduce: Reduce, nest_pass: NestPass) -> str:
        if reduce.is_fold:
            return self._op(nest_pass.code[reduce.args[1]], (), ())
        type_ = types.bool_ if reduce.is_logic else reduce.type
        return operation_text.literal(reduce.identity, type_)

    def _pass(self, nest_pass: NestPass) -> None:
        uses, split = [0] * len(nest_pass.code), self.nest.split >= 0
        fed = [n for reduce in nest_pass.reduces for n in (reduce.args if reduce.is_argument else reduce.args[:1])]
        written = [n for pairs in (nest_pass.stores, nest_pass.keeps, nest_pass.scratches) for _, n in pairs]
        scattered = [n for scatter in nest_pass.scatters for n in (scatter.value, scatter.offset)]
        inside = [n for op in nest_pass.code for n in op.args]
        for used in inside + fed + written + scattered:
            uses[used] += 1
        limit = dict.fromkeys(range(len(nest_pass.code)), _STATEMENT) | dict.fromkeys(inside, _INLINE)
        # What is read is read before anything is written.
        statements = len(written) + len(nest_pass.scatters) + len(nest_pass.reduces)
        early = statements > 1 and bool(nest_pass.stores or nest_pass.scatters)
        texts: list[str] = []
        for number, op in enumerate(nest_pass.code):
            text = self._op(op, nest_pass.code, texts)
            plain = not uses[number] or text.isidentifier() or op.name in ("const", "index")
            is_read = early and op.name in ("load", "gather")
            if not plain and (is_read or uses[number] > 1 or len(text) > limit[number]):
                name = self.name("t")
                self.line(f"{name} = {text}")
                text = name
            texts.append(text)
        for row, number in nest_pass.scratches:
            self.line(f"{self.rows[row]}[{self.axis_name(self.lane_axis())}] = {texts[number]}")
        for buffer, number in nest_pass.stores:
            further = (
                [f"{self.block_number} * {self.blocks()[2]}"] if nest_pass.level is PassLevel.ROW and split else []
            )
            self.line(f"{self.element(buffer, *further)} = {texts[number]}")
        for scatter in nest_pass.scatters:
            place = self.element(scatter.buffer, texts[scatter.offset])
            if scatter.mode is StoreMode.PUT:
                self.line(f"{place} = {texts[scatter.value]}")
            else:
                type_ = self.nest.buffers[scatter.buffer].type
                self.line(operation_text.update(scatter.mode.value, place, texts[scatter.value], type_))
        for slot, number in nest_pass.keeps:
            if not self.by_columns:
                self.slots[slot] = self.slot_name(slot, "s")
            self.line(f"{self.slot(slot)} = {texts[number]}")
        for reduce in nest_pass.reduces:
            self._update(reduce, nest_pass, texts)

    def _update(self, reduce: Reduce, nest_pass: NestPass, texts: list[str]) -> None:
        name, value, best = self.slot(reduce.slot), texts[reduce.args[0]], self._best(reduce.slot)
        if reduce.is_fold:
            self.line(f"{name} = {value}")
            return
        if not reduce.is_argument:
            if reduce.is_logic:
                value = operation_text.grouped(operation_text.truth(value, nest_pass.code[reduce.args[0]]))
            self.line(self.reduced(reduce, value))
            return
        sign = reduce.sign + ("=" if reduce.takes_last else "")
        # NaN is the best of all, and of several the first or last one as of others.
        worse = f"{value} {_opposite(sign)} {best}"
        if reduce.type.is_float:
            known = f"{best} != {best}"
            worse = f"{worse} or {known}" if not reduce.takes_last else f"{worse} or ({known} and {value} == {value})"
        self.line(f"if not ({worse}):")
        self.indent(1)
        self.line(f"{best}, {name} = {value}, {texts[reduce.args[1]]}")
        self.indent(-1)

    def _op(self, op: Op, code: Sequence[Op], texts: Sequence[str]) -> str:
        arguments = [texts[number] for number in op.args]
        leaf: dict[str, Callable[[], str]] = {
            "const": lambda: self.constant(op.entry, op.type),
            "slot": lambda: self.slot(op.entry),
            "carry": lambda: self.slot(self.carried[op.entry]),
            "scratch": lambda: f"{self.rows[op.entry]}[{self.axis_name(self.lane_axis())}]",
            "index": lambda: self._typed(self.running_index(op.entry), op.type),
            "gather": lambda: self.element(op.entry, *arguments),
            "load": lambda: self.element(op.entry, *arguments),
        }
        if op.name in leaf:
            return leaf[op.name]()
        if op.type is types.s64 and op.name in _FOLDED and all(text.isdigit() for text in arguments):
            return str(_FOLDED[op.name](*map(int, arguments)))
        if op.type is types.s64 and op.name == "add" and "0" in arguments:
            return arguments[arguments[0] == "0"]
        return operation_text.phrase(op, arguments, [code[number] for number in op.args])


class _Kernel(NestText):
    """A kernel by itself: a function of flat arrays and of the scalar parameters of the nest."""

    def __init__(self, nest: Nest) -> None:
        super().__init__(nest)
        self.lines: list[str] = []
        self.depth = 1
        self.numbers: dict[str, int] = {}

    def line(self, text: str) -> None:
        """Write a line at the present depth."""
        self.lines.append("    " * self.depth + text)

    def indent(self, levels: int) -> None:
        """Go deeper, or back by a negative number of levels."""
        self.depth += levels

    def name(self, meaning: str) -> str:
        """A name that no other value has."""
        number = self.numbers[meaning] = self.numbers.get(meaning, -1) + 1
        return f"{meaning}{number}" if len(meaning) == 1 or number or meaning == "row" else meaning

    def slot_name(self, slot: int, meaning: str) -> str:
        """The name of the variable of a slot: its number."""
        return f"s{slot}"

    def size(self, axis: int) -> str:
        """The size of an axis."""
        return f"n{axis}"

    def blocks(self) -> tuple[str, str, str]:
        """The length of a block of the axis that is cut, their number, and how far apart their results are."""
        return "block", "blocks", "step"

    def constant(self, number: int, type_: types.Type) -> str:
        """A constant of the nest."""
        return f"complex(c{number}_real, c{number}_imag)" if type_.is_complex else f"c{number}"

    def running_index(self, number: int) -> str:
        """The value of a running index."""
        return self._index(number)

    def element(self, buffer: int, *further: str) -> str:
        """The element of a buffer at the present indices, so many elements further."""
        return f"{_buffer(buffer)}[{self._index(buffer, *further)}]"

    def run(self) -> str:
        """The function."""
        nest = self.nest
        arrays, scalars = names(nest)
        types_ = ", ".join(f"{_buffer(number)}: {nest.buffers[number].type}" for number in nest.memory)
        notes = [f"    # {types_}; {self._vectors()}" if nest.outer + nest.inner else f"    # {types_}"]
        if self.in_order:
            notes.append("    # several elements may go to one place: the steps follow one another")
        head = [
            '@numba.njit(parallel=True, error_model="numpy")',
            f"def {nest.kind}({', '.join([*arrays, *scalars])}):",
            *notes,
        ]
        self.write()
        return "\n".join([*head, *self.lines, ""])

    def _vectors(self) -> str:
        """A comment that says along which axis vectors run."""
        along = f"along {self.axis_name(self.lane_axis())}"
        if not self.nest.tile:
            return f"vectors run {along}"
        rows, vectors, lanes = self.nest.tile
        kept = f"{vectors} vector{'s' if vectors > 1 else ''} of {lanes} {along}"
        if rows == 1:
            return f"{kept} stay{'' if vectors > 1 else 's'} in registers"
        return f"a tile of {rows} rows along {self.axis_name(self.nest.outer - 2)} x {kept} stays in registers"

    def _index(self, buffer: int, *further: str) -> str:
        parts = []
        access = self.nest.buffers[buffer]
        if access.role is BufferRole.INDEX:
            parts.append(f"{_buffer(buffer)}_start")
        for axis, stride in enumerate(access.strides):
            if stride is Stride.MERGED:
                parts.append(f"{self.axis_name(axis)} * n{axis + 1}")
            elif stride is Stride.UNIT:
                parts.append(self.axis_name(axis))
            elif stride is Stride.DOUBLE:
                parts.append(f"2 * {self.axis_name(axis)}")
            elif stride is Stride.REVERSED:
                parts.append(f"-{self.axis_name(axis)}")
            elif stride is Stride.DYNAMIC:
                parts.append(f"{self.axis_name(axis)} * {_buffer(self.nest.mover(buffer))}_{axis}")
        return " + ".join([*parts, *map(operation_text.term, further)]) or "0"


#: Arithmetic with indices that is done when a source is written.
_FOLDED: dict[str, Callable[..., int]] = {"add": int.__add__, "multiply": int.__mul__, "max": max, "min": min}
#: What the results of reductions are called.
_MEANINGS = {
    "sum": "total", "product": "product", "reduce_max": "largest", "reduce_min": "smallest", "all": "every",
    "any": "some", "argmax": "place", "argmin": "place",
}  # fmt: skip


def _opposite(sign: str) -> str:
    return {">": "<=", "<": ">=", ">=": "<", "<=": ">"}[sign]
