"""The passes of a nest as kernel source: loads, operations and stores for one or several lanes at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nxkernel import types
from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import KernelArguments, total
from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.element_types import ComplexText, Value
from nxkernel.compilers.numba_cuda.language.elementwise import emit
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.loop_nest import NestPass, Op, ScalarKind, Scatter, StoreMode
from nxkernel.types import Type

#: What each axis' index is called, of a lane.
Lane = Mapping[int, str]


def variable(name: str, type_: Type) -> Value:
    """The variable name for a value; a pair of names if complex."""
    return ComplexText(f"{name}_re", f"{name}_im") if type_.is_complex else name


def parts(value: Value) -> list[str]:
    """The texts of a value's parts: one, or two if complex."""
    return list(value) if isinstance(value, ComplexText) else [value]


class PassWriter:
    """Writes the instructions of passes as kernel source.

    Parameters
    ----------
    arguments : KernelArguments
    writer : SourceWriter

    Attributes
    ----------
    carried : callable
        The value that the reduction of a number has so far.
    rows : dict of int to list of (str, str)
        Of each scratch row the arrays, with where this group's part of it begins.
    number : str
        That of the row at hand among all, where lanes have none of the outer axes' indices.
    suffix : str
        What the names of slots end in.
    pointers : dict of int to str
        Of buffers that are read from another pointer than their own what it is called: it has their start in it.
    tiles : dict of int to Value
        Of each buffer that a tile in shared memory has, the element at hand.
    """

    #: Whether lanes may be vectors of elements, without an index of their own along each axis.
    vectors = True

    def __init__(self, arguments: KernelArguments, writer: SourceWriter) -> None:
        self.arguments, self.nest, self.w = arguments, arguments.nest, writer
        self.rows: dict[int, list[tuple[str, str]]] = {}
        self.number = self.suffix = ""
        self.pointers: dict[int, str] = {}
        self.carried: Callable[[int], Value] = lambda number: ""
        self.tiles: dict[int, Value] = {}
        self._located: frozenset[int] = frozenset()
        self._bases: dict[int, str] = {}

    # Places ----------------------------------------------------------------------------------------------------

    def locate(self, indices: Lane) -> None:
        """Write the offsets of buffers at the indices of some axes; lanes then add only those of the other axes."""
        located = self._located | set(indices)
        bases: dict[int, str] = {}
        names: dict[str, str] = {}
        for number in self.arguments.buffers:
            terms = self.arguments.terms(number, indices)
            if number not in self._bases and not terms:
                continue
            first = self._bases.get(number)
            text = total([first, *terms])
            if text not in names:
                names[text] = text if text == first else self.w.let(text, "at")
            bases[number] = names[text]
        self._located, self._bases = frozenset(located), bases

    @property
    def located(self) -> tuple[frozenset[int], dict[int, str]]:
        """The axes and offsets from :meth:`locate`; assign a saved pair to restore them."""
        return self._located, self._bases

    @located.setter
    def located(self, saved: tuple[frozenset[int], dict[int, str]]) -> None:
        self._located, self._bases = saved

    def place(self, number: int, lane: Lane, further: str | None = None) -> str:
        """The text of a buffer's offset, or of a running index, at a lane."""
        moved = {axis: index for axis, index in lane.items() if axis not in self._located}
        terms = self.arguments.terms(number, moved)
        start = None if number in self.pointers else self.arguments.start(number)
        return total([start, self._bases.get(number), *terms, further])

    # Instructions ----------------------------------------------------------------------------------------------

    def slot(self, number: int) -> Value:
        """The variable name of a slot."""
        return variable(f"s{number}{self.suffix}", self.nest.slots[number])

    def values(
        self, nest_pass: NestPass, lanes: Sequence[Lane], vector: frozenset[int] = frozenset()
    ) -> list[list[Value]]:
        """Write the instructions of a pass; for each lane the values of all instructions.

        Parameters
        ----------
        nest_pass : NestPass
        lanes : sequence of Lane
        vector : frozenset of int, optional
            The buffers that all lanes load at once, as they follow each other in memory and are aligned.
        """
        by_lane: list[list[Value]] = [[] for _ in lanes]
        for op in nest_pass.code:
            if op.name in ("load", "gather"):
                values = self._loaded(op, by_lane, lanes, vector)
            elif len(lanes) > 1 and op.name in _COMMON:
                values = [self._leaf(op, lanes[0])] * len(lanes)
            else:
                values = [
                    self.instruction(op, nest_pass.code, mine, lane) for lane, mine in zip(lanes, by_lane, strict=True)
                ]
            for mine, value in zip(by_lane, values, strict=True):
                mine.append(value)
        return by_lane

    def one(self, nest_pass: NestPass, number: int, lane: Lane) -> Value:
        """Write one instruction of a pass, with those it depends on; its value."""
        return self.values(NestPass(nest_pass.level, tuple(needed(nest_pass.code, number))), [lane])[0][-1]

    def instruction(self, op: Op, code: Sequence[Op], values: Sequence[Value], lane: Lane) -> Value:
        """Write one instruction at a lane, given the values of the earlier ones; its value."""
        if op.name in ("load", "gather"):
            return self._loaded(op, [values], [lane], frozenset())[0]
        if op.name in _LEAVES:
            return self._leaf(op, lane)
        return emit(self.w, op, [values[number] for number in op.args], [code[number] for number in op.args])

    def _leaf(self, op: Op, lane: Lane) -> Value:
        if op.name == "const":
            return element_types.constant(self._constant_names(op.entry), op.type)
        if op.name == "slot":
            return self.slot(op.entry)
        if op.name == "carry":
            return self.carried(op.entry)
        if op.name == "scratch":
            return got(self.w, self._row_places(op.entry, lane), op.type)
        return self.w.let(f"{element_types.register_type(op.type)}({self.place(op.entry, lane)})")

    def _constant_names(self, number: int) -> list[str]:
        """The names of the scalar parameters that hold a constant: one, or two if it is complex."""
        scalars = self.arguments.scalars
        wanted = (ScalarKind.CONSTANT, number)
        return [name for (kind, which, _), name in scalars.items() if (kind, which) == wanted]

    def _row_places(self, row: int, lane: Lane) -> list[str]:
        """The texts of a scratch row's element at a lane: one an array.

        Every fourth element follows the one before it, so that the threads of a warp, which have vectors of four, are
        at elements that follow each other.
        """
        index = lane[self.nest.outer + self.nest.inner - 1]
        return [f"{array}[{at} + ({index} & 3) * pitch + ({index} >> 2)]" for array, at in self.rows[row]]

    def order(self, lane: Lane) -> str:
        """The text of a lane's linear index in the order of the nest."""
        text = self.number
        for axis in sorted(lane):
            text = f"({text}) * {self.arguments.size(axis)} + {lane[axis]}" if text else lane[axis]
        return text or "0"

    # Memory ----------------------------------------------------------------------------------------------------

    def _loaded(
        self, op: Op, by_lane: Sequence[Sequence[Value]], lanes: Sequence[Lane], vector: frozenset[int]
    ) -> list[Value]:
        number = op.entry
        name = self.pointers.get(number, self.arguments.buffers[number])
        if number in self.tiles:
            return [self.tiles[number]]
        if number in vector and not op.args:
            return self.w.load_vector(name, self.place(number, lanes[0]), op.type, len(lanes))
        further = [str(mine[op.args[0]]) if op.args else None for mine in by_lane]
        places = [self.place(number, lane, far) for lane, far in zip(lanes, further, strict=True)]
        known: dict[str, Value] = {}
        for offset in places:
            if offset not in known:
                known[offset] = self.w.load(name, offset, op.type)
        return [known[offset] for offset in places]

    def store(
        self,
        nest_pass: NestPass,
        values: Sequence[Sequence[Value]],
        lanes: Sequence[Lane],
        vector: frozenset[int] = frozenset(),
        further: str | None = None,
    ) -> None:
        """Write the stores and scatters of a pass."""
        for number, source in nest_pass.stores:
            name, type_ = self.arguments.buffers[number], self.nest.buffers[number].type
            stored = [mine[source] for mine in values]
            if number in vector:
                self.w.store_vector(name, self.place(number, lanes[0]), stored, type_)
                continue
            for lane, value in zip(lanes, stored, strict=True):
                self.w.store(name, self.place(number, lane, further), value, type_)
        for scatter in nest_pass.scatters:
            for lane, mine in zip(lanes, values, strict=True):
                offset = self.place(scatter.buffer, lane, str(mine[scatter.offset]))
                self.scatter(scatter, lane, offset, mine[scatter.value])

    def scatter(self, scatter: Scatter, lane: Lane, offset: str, value: Value) -> None:
        """Write a value to a computed offset."""
        name, type_ = self.arguments.buffers[scatter.buffer], self.nest.buffers[scatter.buffer].type
        if scatter.mode is StoreMode.PUT:
            self.w.store(name, offset, value, type_)
        else:
            self.w.extend(element_types.atomically(scatter.mode.value, name, offset, value, type_))

    def keep_rows(self, nest_pass: NestPass, values: Sequence[Sequence[Value]], lanes: Sequence[Lane]) -> None:
        """Write values to the scratch rows that later passes read."""
        for row, number in nest_pass.scratches:
            for lane, mine in zip(lanes, values, strict=True):
                put(self.w, self._row_places(row, lane), mine[number], self.nest.scratches[row])

    def keep(self, nest_pass: NestPass, values: Sequence[Value]) -> None:
        """Write values to the slots that later passes read."""
        for slot, number in nest_pass.keeps:
            for name, part in zip(parts(self.slot(slot)), parts(values[number]), strict=True):
                self.w.line(f"{name} = {part}")


def shared_dtypes(type_: Type) -> list[str]:
    """The NumPy types of the shared arrays that hold values of a type: one, or two if complex."""
    name = element_types.numpy_type(element_types.register_type(type_)).name if type_ is not types.bool_ else "uint8"
    return [f"np.{name}"] * (2 if type_.is_complex else 1)


def needed(code: Sequence[Op], number: int) -> list[Op]:
    """An instruction and those it depends on, renumbered; it is the last one."""
    wanted = {number}
    for position in range(number, -1, -1):
        if position in wanted:
            wanted.update(code[position].args)
    moved = {old: new for new, old in enumerate(sorted(wanted))}
    return [code[old]._replace(args=tuple(moved[arg] for arg in code[old].args)) for old in moved]


def put(writer: SourceWriter, elements: Sequence[str], value: Value, type_: Type) -> None:
    """Write a value to elements of shared arrays."""
    for element, part in zip(elements, parts(value), strict=True):
        writer.line(f"{element} = {f'u8({part})' if type_ is types.bool_ else part}")


def got(writer: SourceWriter, elements: Sequence[str], type_: Type) -> Value:
    """Write a read of a value from elements of shared arrays; the value."""
    read = [writer.let(element) for element in elements]
    if type_.is_complex:
        return ComplexText(*read)
    return writer.let(f"truth({read[0]})") if type_ is types.bool_ else read[0]


_LEAVES = frozenset(["const", "slot", "carry", "scratch", "index"])
#: Of those what is the same in every lane.
_COMMON = frozenset(["const", "slot"])
