"""A loop nest displayed as Numba source: the kernel as somebody would write it by hand.

It is for reading, and it runs. Arrays are flat, and sizes, strides and constants are arguments, as they are in the
kernel; vectors, tiles and masks, what becomes of NaN and of zero divisors, and roundings to half width, are left out.
"""

from __future__ import annotations

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

#: What a store at a computed offset does to the element that is there.
_SIGNS = {StoreMode.PUT: "=", StoreMode.ADD: "+=", StoreMode.MULTIPLY: "*="}
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
    return operation_text.with_definitions(_Renderer(nest).run())


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


def _row_dtype(type_: types.Type) -> str:
    """The NumPy type of a scratch row on the stack; half-width floats are held as f32."""
    return f"np.{types.compute_type(type_).dtype.name}"


def _goes_back(nest: Nest, buffer: int) -> bool:
    """Whether a nest reads the same elements of a buffer more than once, apart from computed indices."""
    return Stride.NONE in nest.buffers[buffer].strides


class _Renderer:
    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.lines: list[str] = []
        self.depth = 1
        self.temporaries = 0
        self.carried: list[int] = []
        self.in_order = any(
            _goes_back(nest, scatter.buffer) for nest_pass in nest.passes for scatter in nest_pass.scatters
        )

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def run(self) -> str:
        nest = self.nest
        arrays, scalars = names(nest)
        types_ = ", ".join(f"{_buffer(number)}: {nest.buffers[number].type}" for number in nest.memory)
        notes = [f"    # {types_}; {self._vectors()}" if nest.outer + nest.inner else f"    # {types_}"]
        if self.in_order:
            notes.append("    # several elements may go to one place: the steps follow one another")
        head = [
            "@numba.njit(parallel=True)",
            f"def {nest.kind}({', '.join([*arrays, *scalars])}):",
            *notes,
        ]
        for axis in range(nest.outer):
            self._loop(f"i{axis}", f"n{axis}", axis == 0)
        if nest.split >= 0:
            self._loop("block_number", "blocks", not nest.outer)
        for row in range(len(nest.scratches)):
            self.line(f"row{row} = np.empty(n{nest.outer + nest.inner - 1}, {_row_dtype(nest.scratches[row])})")
        for nest_pass in nest.passes:
            if nest_pass.level is PassLevel.ROW:
                self._pass(nest_pass)
            else:
                self._full(nest_pass)
        return "\n".join([*head, *self.lines, ""])

    def _loop(self, name: str, span: str, parallel: bool) -> None:
        self.line(f"for {name} in {'numba.prange' if parallel and not self.in_order else 'range'}({span}):")
        self.depth += 1

    def _vectors(self) -> str:
        """A comment that says along which axis vectors run."""
        along = f"along {self._axis_name(self._lane_axis())}"
        if not self.nest.tile:
            return f"vectors run {along}"
        rows, vectors, lanes = self.nest.tile
        kept = f"{vectors} vector{'s' if vectors > 1 else ''} of {lanes} {along}"
        if rows == 1:
            return f"{kept} stay{'' if vectors > 1 else 's'} in registers"
        return f"a tile of {rows} rows along {self._axis_name(self.nest.outer - 2)} x {kept} stays in registers"

    def _axis_name(self, axis: int) -> str:
        return f"i{axis}" if axis < self.nest.outer else f"j{axis}"

    def _lane_axis(self) -> int:
        return self.nest.outer - 1 if self.nest.lanes is not LaneAxis.INNER else self.nest.outer + self.nest.inner - 1

    def _full(self, nest_pass: NestPass) -> None:
        nest, before = self.nest, self.depth
        first = "block_number * block" if nest.split >= 0 else "0"
        self.carried = [reduce.slot for reduce in nest_pass.reduces]
        for reduce in nest_pass.reduces:
            start = self._start(reduce, nest_pass)
            if reduce.is_argument:
                self.line(f"s{reduce.slot}_best, s{reduce.slot} = {start}, {first}")
            else:
                self.line(f"s{reduce.slot} = {start}")
        for axis in range(nest.outer, nest.outer + nest.inner):
            stop = f"n{axis}"
            span = stop
            if nest.split == axis - nest.outer:
                span = f"block_number * block, min({stop}, (block_number + 1) * block)"
            elif nest.limits and axis == nest.outer + nest.inner - 1:
                low, high = nest.limits
                span = f"{'0' if low < 0 else f'max(s{low}, 0)'}, min(s{high}, {stop})"
            self._loop(f"j{axis}", span, axis == 0 and not nest_pass.reduces)
        self._pass(nest_pass)
        self.depth = before

    def _start(self, reduce: Reduce, nest_pass: NestPass) -> str:
        if reduce.is_fold:
            return self._op(nest_pass.code[reduce.args[1]], (), ())
        return str(bool(reduce.identity)) if reduce.is_logic else operation_text.number(reduce.identity)

    def _pass(self, nest_pass: NestPass) -> None:
        uses, split = [0] * len(nest_pass.code), self.nest.split >= 0
        fed = [n for reduce in nest_pass.reduces for n in (reduce.args if reduce.is_argument else reduce.args[:1])]
        written = [n for pairs in (nest_pass.stores, nest_pass.keeps, nest_pass.scratches) for _, n in pairs]
        scattered = [n for scatter in nest_pass.scatters for n in (scatter.value, scatter.offset)]
        inside = [n for op in nest_pass.code for n in op.args]
        for used in inside + fed + written + scattered:
            uses[used] += 1
        limit = dict.fromkeys(range(len(nest_pass.code)), _STATEMENT) | dict.fromkeys(inside, _INLINE)
        texts: list[str] = []
        for number, op in enumerate(nest_pass.code):
            text = self._op(op, nest_pass.code, texts)
            plain = not uses[number] or text.isidentifier()
            if not plain and (uses[number] > 1 or len(text) > limit[number]):
                name = f"t{self.temporaries}"
                self.temporaries += 1
                self.line(f"{name} = {text}")
                text = name
            texts.append(text)
        for row, number in nest_pass.scratches:
            self.line(f"row{row}[j{self._lane_axis()}] = {texts[number]}")
        for buffer, number in nest_pass.stores:
            index = self._index(
                buffer, *(["block_number * step"] if nest_pass.level is PassLevel.ROW and split else [])
            )
            self.line(f"{_buffer(buffer)}[{index}] = {texts[number]}")
        for scatter in nest_pass.scatters:
            place = f"{_buffer(scatter.buffer)}[{self._index(scatter.buffer, texts[scatter.offset])}]"
            if scatter.mode in (StoreMode.MAX, StoreMode.MIN):
                self.line(f"{place} = {scatter.mode.value}({place}, {texts[scatter.value]})")
            else:
                self.line(f"{place} {_SIGNS[scatter.mode]} {texts[scatter.value]}")
        for slot, number in nest_pass.keeps:
            self.line(f"s{slot} = {texts[number]}")
        for reduce in nest_pass.reduces:
            self._update(reduce, nest_pass, texts)

    def _update(self, reduce: Reduce, nest_pass: NestPass, texts: list[str]) -> None:
        name, value = f"s{reduce.slot}", texts[reduce.args[0]]
        if reduce.is_fold:
            self.line(f"{name} = {value}")
            return
        if not reduce.is_argument:
            if reduce.is_logic:
                value = operation_text.grouped(operation_text.truth(value, nest_pass.code[reduce.args[0]]))
            self.line(operation_text.update(reduce.join, name, value))
            return
        sign = reduce.sign + ("=" if reduce.takes_last else "")
        self.line(f"if not ({value} {_opposite(sign)} {name}_best):")
        self.depth += 1
        self.line(f"{name}_best, {name} = {value}, {texts[reduce.args[1]]}")
        self.depth -= 1

    def _index(self, buffer: int, *further: str) -> str:
        parts = []
        access = self.nest.buffers[buffer]
        if access.role is BufferRole.INDEX:
            parts.append(f"{_buffer(buffer)}_start")
        for axis, stride in enumerate(access.strides):
            if stride is Stride.MERGED:
                parts.append(f"{self._axis_name(axis)} * n{axis + 1}")
            elif stride is Stride.UNIT:
                parts.append(self._axis_name(axis))
            elif stride is Stride.DOUBLE:
                parts.append(f"2 * {self._axis_name(axis)}")
            elif stride is Stride.REVERSED:
                parts.append(f"-{self._axis_name(axis)}")
            elif stride is Stride.DYNAMIC:
                parts.append(f"{self._axis_name(axis)} * {_buffer(self.nest.mover(buffer))}_{axis}")
        return " + ".join([*parts, *map(operation_text.term, further)]) or "0"

    def _op(self, op: Op, code: Sequence[Op], texts: Sequence[str]) -> str:
        arguments = [texts[number] for number in op.args]
        leaf: dict[str, Callable[[], str]] = {
            "const": lambda: f"complex(c{op.entry}_real, c{op.entry}_imag)" if op.type.is_complex else f"c{op.entry}",
            "slot": lambda: f"s{op.entry}",
            "carry": lambda: f"s{self.carried[op.entry]}",
            "scratch": lambda: f"row{op.entry}[j{self._lane_axis()}]",
            "index": lambda: self._index(op.entry),
            "gather": lambda: f"{_buffer(op.entry)}[{self._index(op.entry, *arguments)}]",
            "load": lambda: f"{_buffer(op.entry)}[{self._index(op.entry, *arguments)}]",
        }
        if op.name in leaf:
            return leaf[op.name]()
        return operation_text.phrase(op, arguments, [code[number] for number in op.args])


def _opposite(sign: str) -> str:
    return {">": "<=", "<": ">=", ">=": "<", "<=": ">"}[sign]
