"""The body of an interchanged loop: the region's nodes for one column, or for a vector of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.rewrite.columns import column_axes as forms_of
from nxkernel.compilers.rewrite.columns.column_axes import Entry, Form, is_uniform, left, uniform
from nxkernel.compilers.rewrite.columns.column_regions import Region
from nxkernel.compilers.rewrite.loop_nest_rewrites import make
from nxkernel.graph.expr import Expr, Graph, constant, parameter
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed


@dataclass
class Level:
    """The new values of old nodes, in one of the new graphs.

    Parameters
    ----------
    indices : list of list of Expr
        Along each axis those of the columns that are worked on side by side.
    lane : int
        Which of these columns it is about.
    rows : dict
        What a value is in each of them.
    full_arrays : dict
        Arrays that have all columns.
    reads : dict
        What has been read of those in one column.
    moved : dict
        Where a column is along an axis whose first column is not at 0.
    several : dict
        Loops and branches, and where their results are.
    """

    indices: list[list[Expr]]
    lane: int = 0
    rows: dict[Expr, list[Expr]] = field(default_factory=dict)
    full_arrays: dict[Expr, Expr] = field(default_factory=dict)
    reads: dict[tuple[Expr, Form, int], Expr] = field(default_factory=dict)
    moved: dict[tuple[int, int, int], Expr] = field(default_factory=dict)
    several: dict[Expr, tuple[Expr, list[Slot]]] = field(default_factory=dict)

    @property
    def lanes(self) -> range:
        """The positions of the columns that are computed side by side."""
        return range(len(self.indices[-1]))

    def set(self, node: Expr, values: Sequence[Expr], slot: Slot) -> None:
        """Record the new values of a node that is an operand or result of a loop or branch."""
        if slot.is_full_array:
            (self.full_arrays[node],) = values
        else:
            self.rows[node] = list(values) * (len(self.lanes) // len(values))


@dataclass(frozen=True)
class Slot:
    """The position of a value among the operands or results of a loop or branch.

    Parameters
    ----------
    position : int
        Which of the old ones it was.
    is_full_array : bool
        Whether it is an array with all columns.
    count : int
        How many it is now: one, or one for each column.
    """

    position: int
    is_full_array: bool
    count: int


class Body:
    """Writes the nodes that compute one column, or several side by side.

    Parameters
    ----------
    region : Region
    origin : dict
        Takes down for each new node the node of the graph that it came from.

    Attributes
    ----------
    full_arrays : set
        The values that stay arrays with all columns.
    bases : dict
        Where such an array begins in the region: what an operand of a node is.
    """

    def __init__(self, region: Region, origin: dict[Expr, Expr]) -> None:
        self.region, self.origin = region, origin
        self.full_arrays: set[object] = set()
        self.bases: dict[tuple[Expr, int], Expr] = {}

    def loop(
        self,
        node: Expr,
        operands: Sequence[Expr],
        count: int,
        asked: tuple[Sequence[Expr], Expr],
        turned: tuple[Sequence[Expr], Sequence[Expr]],
    ) -> Expr:
        """A new loop, without the operands that neither its condition nor its body uses."""
        used = set(post_order([asked[1], *turned[1]]))
        positions = [k for k in range(len(operands)) if k < count or asked[0][k] in used or turned[0][k] in used]
        params = {
            "condition": graph_of("condition", [asked[0][k] for k in positions], [asked[1]]),
            "body": graph_of("body", [turned[0][k] for k in positions], turned[1]),
            "state": count,
        }
        kept = tuple(operands[k] for k in positions)
        return self.new(node, Expr(p.while_, kept, params, tuple(o.spec for o in kept[:count]), node.source))

    def new(self, node: Expr, new_node: Expr) -> Expr:
        """Record which old node a new node comes from; the new node."""
        self.origin.setdefault(new_node, self.origin.get(node, node))
        return new_node

    def element(self, node: Expr, several: Expr, index: int) -> Expr:
        """One result of a node that has several."""
        return self.new(node, make(p.elem, several, index=index, source=node.source))

    # Values --------------------------------------------------------------------------------------------------------

    def index(self, level: Level, entry: Entry, node: Expr) -> Expr:
        """The position of a column along an axis; 0 along axes without columns."""
        if entry is None:
            return constant(0, types.s64)
        index, first = level.indices[entry[0]][level.lane], entry[1]
        if first == 0:
            return index
        key = (*entry, level.lane if entry[0] == len(level.indices) - 1 else 0)
        if key not in level.moved:
            moved = make(p.add, index, constant(first, types.s64), source=node.source)
            level.moved[key] = self.new(node, moved)
        return level.moved[key]

    def row(self, level: Level, node: Expr, form: Form) -> Expr:
        """The part of a value that belongs to one column."""
        value = self.region.value(node)
        if value.primitive is p.constant:
            shape = left(form, node.shape)
            return value if shape == node.shape else constant(value.params["value"], node.type, shape)
        if node in level.rows:
            return level.rows[node][level.lane]
        array = level.full_arrays[node]
        if is_uniform(form):
            return array
        key = (node, form, level.lane)
        if key not in level.reads:
            starts = [self.index(level, entry, node) for entry in form]
            lengths = [n if entry is None else 1 for entry, n in zip(form, node.shape, strict=True)]
            level.reads[key] = self._part(node, array, form, starts, lengths, (1,) * len(form))
        return level.reads[key]

    def _part(
        self,
        node: Expr,
        array: Expr,
        form: Form,
        starts: Sequence[Expr],
        lengths: Sequence[int],
        strides: Sequence[int],
    ) -> Expr:
        """A slice of one column of an array, given starts, lengths and strides along the column's own axes."""
        read = make(p.dynamic_slice, array, *starts, lengths=tuple(lengths), strides=tuple(strides), source=node.source)
        return self._shaped(node, self.new(node, read), left(form, read.shape), left(form, read.names))

    def _shaped(self, node: Expr, value: Expr, shape: tuple, names: tuple) -> Expr:
        while value.primitive is p.reshape:
            value = value.operands[0]
        if (value.shape, value.names) == (shape, names):
            return value
        if value.primitive is p.constant:
            return constant(value.params["value"], value.type, shape, names)
        return self.new(node, make(p.reshape, value, shape=shape, names=names, source=node.source))

    def put(self, node: Expr, array: Expr, row: Expr, form: Form, starts: Sequence[Expr]) -> Expr:
        """An array with all columns in which a slice of one column is overwritten."""
        rest = iter(row.shape)
        shape = tuple(1 if entry is not None else next(rest) for entry in form)
        part = self._shaped(node, row, shape, array.names)
        return self.new(node, make(p.put_slice, array, part, *starts, source=node.source))

    # Nodes ---------------------------------------------------------------------------------------------------------

    def nodes(self, nodes: Sequence[Expr], level: Level) -> None:
        """Write new nodes for old ones, operands first."""
        for node in nodes:
            if node.primitive in (p.parameter, p.constant):
                continue
            if node.primitive is p.while_:
                self._inner_loop(node, level)
            elif node.primitive is p.cond:
                self._branch(node, level)
            elif node.primitive is p.elem:
                results, slots = level.several[node.operands[0]]
                slot = slots[node.params["index"]]
                first = sum(before.count for before in slots[: slot.position])
                parts = [self.element(node, results, first + k) for k in range(slot.count)]
                level.set(node, parts, slot)
            elif node.primitive is p.put_slice and node in self.full_arrays:
                level.full_arrays[node] = self._updated(node, level)
            else:
                lanes = [0] if is_uniform(self.region.form(node)) else level.lanes
                results = []
                for lane in lanes:
                    level.lane = lane
                    results.append(self._rewritten(node, level))
                level.set(node, results, Slot(0, False, len(results)))

    def _updated(self, node: Expr, level: Level) -> Expr:
        form, array = self.region.form(node), self._base(level, node, 0)
        part_form = forms_of.of_operands(node, form, self.region.extents)[1]
        for lane in level.lanes:
            level.lane = lane
            starts = [
                self.row(level, start, uniform(start)) if entry is None else self.index(level, entry, node)
                for entry, start in zip(form, node.operands[2:], strict=True)
            ]
            array = self.put(node, array, self.row(level, node.operands[1], part_form), form, starts)
        return array

    def _base(self, level: Level, node: Expr, position: int) -> Expr:
        """The array with all columns that a node updates."""
        return (
            self.bases[node, position] if (node, position) in self.bases else level.full_arrays[node.operands[position]]
        )

    def _rewritten(self, node: Expr, level: Level) -> Expr:
        form, extents = self.region.form(node), self.region.extents
        operands = node.operands
        needed = forms_of.of_operands(node, form, extents)
        if node.primitive in (p.slice_, p.dynamic_slice) and operands[0] in level.full_arrays and not is_uniform(form):
            return self._read(node, form, needed[0], level)
        if node.primitive is p.iota:
            return self._iota(node, form, level)
        rows = [self.row(level, operand, f) for operand, f in zip(operands, needed, strict=True)]
        shape, names = left(form, node.shape), left(form, node.names)
        if node.primitive in (p.reshape, p.transpose, p.broadcast):
            return self._viewed(node, form, needed[0], rows[0])
        params = dict(node.params)
        for name in ("starts", "lengths", "strides", "config"):
            if name in params:
                params[name] = left(form, params[name])
        if node.primitive in (p.dynamic_slice, p.put_slice):
            first = 1 if node.primitive is p.dynamic_slice else 2
            rows = [*rows[:first], *left(form, rows[first:])]
        elif "axes" in params:
            params["axes"] = _column_axes(needed[0], params["axes"])
        elif "axis" in params:
            (params["axis"],) = _column_axes(needed[0], [params["axis"]])
        return self.new(node, Expr(node.primitive, tuple(rows), params, Spec(node.type, shape, names), node.source))

    def _read(self, node: Expr, form: Form, array_form: Form, level: Level) -> Expr:
        """A slice of one column, read from an array with all columns."""
        params = node.params
        if node.primitive is p.slice_:
            starts = [constant(start, types.s64) for start in params["starts"]]
        else:
            starts = [self.row(level, start, uniform(start)) for start in node.operands[1:]]
        starts = [
            start if entry is None else self.index(level, entry, node)
            for entry, start in zip(array_form, starts, strict=True)
        ]
        lengths = [n if entry is None else 1 for entry, n in zip(array_form, params["lengths"], strict=True)]
        return self._part(node, level.full_arrays[node.operands[0]], form, starts, lengths, params["strides"])

    def _iota(self, node: Expr, form: Form, level: Level) -> Expr:
        axis, shape, names = node.params["axis"], left(form, node.shape), left(form, node.names)
        if form[axis] is None:
            (column_axis,) = _column_axes(form, [axis])
            iota = make(p.iota, type=node.type, shape=shape, names=names, axis=column_axis, source=node.source)
            return self.new(node, iota)
        index = self.index(level, form[axis], node)
        if node.type is not types.s64:
            index = self.new(node, make(p.as_type, index, type=node.type, source=node.source))
        if not shape:
            return index
        return self.new(node, make(p.broadcast, index, shape=shape, axes=(), names=names, source=node.source))

    def _viewed(self, node: Expr, form: Form, needed: Form, row: Expr) -> Expr:
        shape, names = left(form, node.shape), left(form, node.names)
        if node.primitive is p.transpose:
            axes = _column_axes(needed, [axis for axis in node.params["axes"] if needed[axis] is None])
            if axes == tuple(range(len(axes))):
                return row
            return self.new(node, make(p.transpose, row, axes=axes, source=node.source))
        if node.primitive is p.broadcast:
            # An axis of size 1 of the operand may be one of columns in the result.
            axes = [a for a, entry in zip(node.params["axes"], needed, strict=True) if entry is None]
            stay = [a for a in axes if form[a] is None]
            if len(stay) < len(axes):
                kept = tuple(n for n, a in zip(row.shape, axes, strict=True) if form[a] is None)
                row = self._shaped(node, row, kept, unnamed(kept))
            if row.shape != shape:
                axes = _column_axes(form, stay)
                return self.new(node, make(p.broadcast, row, shape=shape, axes=axes, names=names, source=node.source))
        return self._shaped(node, row, shape, names)

    # Loops and branches inside ---------------------------------------------------------------------------------------

    def _inner_loop(self, node: Expr, level: Level) -> None:
        count, body, condition = node.params["state"], node.params["body"], node.params["condition"]
        forms = [
            None if parameter in self.full_arrays else self.region.form(parameter)
            for parameter in body.parameters[:count]
        ]
        slots = [self._slot(k, form, level) for k, form in enumerate(forms)]
        operands = []
        for slot, form in zip(slots, forms, strict=True):
            if form is None:
                operands.append(self._base(level, node, slot.position))
            else:
                operands += self._rows(level, node.operands[slot.position], form, slot)
        state = len(operands)
        slots += self._captured(node, count, level, operands)
        new, levels = [], []
        for graph in (condition, body):
            parameters, inner = self._inner(graph.parameters, slots, operands, level)
            self.nodes(post_order(graph.outputs), inner)
            new.append(parameters)
            levels.append(inner)
        question = self.row(levels[0], condition.outputs[0], uniform(condition.outputs[0]))
        after = self._outputs(levels[1], body.outputs, slots[:count], forms)
        operands += _flat(level.indices)
        loop = self.loop(node, operands, state, (new[0], question), (new[1], after))
        level.several[node] = loop, slots[:count]

    def _branch(self, node: Expr, level: Level) -> None:
        sides = [node.params["then"], node.params["otherwise"]]
        operands: list[Expr] = []
        slots = self._captured(node, 1, level, operands)
        forms = [
            None if (node, k) in self.full_arrays else self.region.result_form(node, k) for k in range(len(node.spec))
        ]
        after = [self._slot(k, form, level) for k, form in enumerate(forms)]
        new, results = [], []
        for side in sides:
            parameters, inner = self._inner([None, *side.parameters], slots, operands, level)
            self.nodes(post_order(side.outputs), inner)
            new.append(parameters)
            results.append(self._outputs(inner, side.outputs, after, forms))
        operands += _flat(level.indices)
        used = [set(post_order(outputs)) for outputs in results]
        kept = [k for k in range(len(operands)) if any(own[k] in read for own, read in zip(new, used, strict=True))]
        params = {
            name: graph_of(name, [own[k] for k in kept], outputs)
            for name, own, outputs in zip(("then", "otherwise"), new, results, strict=True)
        }
        predicate = self.row(level, node.operands[0], uniform(node.operands[0]))
        spec = tuple(output.spec for output in results[0])
        branch = Expr(p.cond, (predicate, *(operands[k] for k in kept)), params, spec, node.source)
        level.several[node] = self.new(node, branch), after

    @staticmethod
    def _slot(position: int, form: Form | None, level: Level) -> Slot:
        return Slot(position, form is None, 1 if form is None or is_uniform(form) else len(level.lanes))

    def _rows(self, level: Level, node: Expr, form: Form, slot: Slot) -> list[Expr]:
        rows = []
        for lane in range(slot.count):
            level.lane = lane
            rows.append(self.row(level, node, form))
        return rows

    def _outputs(
        self, level: Level, outputs: Sequence[Expr], slots: Sequence[Slot], forms: Sequence[Form | None]
    ) -> list[Expr]:
        """The new outputs of a body of a loop or branch."""
        results = []
        for output, slot, form in zip(outputs, slots, forms, strict=True):
            results += [level.full_arrays[output]] if form is None else self._rows(level, output, form, slot)
        return results

    @staticmethod
    def _captured(node: Expr, first: int, level: Level, operands: list[Expr]) -> list[Slot]:
        """Append the values that a loop or branch only reads to its operands; constants need none."""
        slots = []
        for position in range(first, len(node.operands)):
            operand = node.operands[position]
            if operand in level.rows:
                values = list(dict.fromkeys(level.rows[operand]))
                values = values if len(values) == 1 else level.rows[operand]
            elif operand in level.full_arrays:
                values = [level.full_arrays[operand]]
            else:
                continue
            slots.append(Slot(position, operand in level.full_arrays, len(values)))
            operands += values
        return slots

    @staticmethod
    def _inner(
        olds: Sequence[Expr | None], slots: Sequence[Slot], operands: Sequence[Expr], level: Level
    ) -> tuple[list[Expr], Level]:
        """The new parameters of a body, the last of which are the column's indices, and the level that maps old values
        to them.
        """
        names = [olds[slot.position].params["name"] for slot in slots for _ in range(slot.count)]
        indices = _flat(level.indices)
        parameters = parameters_like([*names, *["index"] * len(indices)], [*operands, *indices])
        rest = iter(parameters[len(names) :])
        count = len(level.lanes)
        around = [[next(rest)] * count for _ in level.indices[:-1]]
        inner = Level([*around, list(rest)])
        first = 0
        for slot in slots:
            inner.set(olds[slot.position], parameters[first : first + slot.count], slot)
            first += slot.count
        return parameters, inner


def _flat(indices: list[list[Expr]]) -> list[Expr]:
    """The indices to pass into a loop or branch: those of outer loops once, the last one for each column."""
    return [*(index[0] for index in indices[:-1]), *indices[-1]]


def _column_axes(form: Form, axes: Sequence[int]) -> tuple[int, ...]:
    """The positions, among the axes of one column, of axes that are no column axes."""
    return tuple(sum(entry is None for entry in form[:axis]) for axis in axes)


def parameters_like(names: Sequence[str], like: Sequence[Expr]) -> list[Expr]:
    """Parameters with the given names and the specs of the given values."""
    return [parameter(k, name, node.spec) for k, (name, node) in enumerate(zip(names, like, strict=True))]


def graph_of(name: str, parameters: Sequence[Expr], outputs: Sequence[Expr]) -> Graph:
    """A graph for a body of a loop or branch, its parameters numbered in order."""
    for index, node in enumerate(parameters):
        node.params["index"] = index
    return Graph(name, list(parameters), list(outputs), list)
