"""A region of planes as loops over its columns: the graph of what one column does, and the loops around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers import columns_forms as forms_of
from nxkernel.compilers.columns_chains import Chain, chains, root
from nxkernel.compilers.columns_forms import Entry, Form, is_uniform, left, uniform
from nxkernel.compilers.columns_region import Region
from nxkernel.compilers.prepare import make
from nxkernel.compilers.scalars import is_single
from nxkernel.graph.expr import Expr, Graph, constant, parameter
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed

_COUNTER = Spec(types.s64, (), ())


@dataclass
class _Level:
    """What values are in one graph of the new ones.

    Parameters
    ----------
    indices : list of Expr
        Those of the column.
    rows : dict
        What a value is in one column.
    wholes : dict
        Arrays that have all columns.
    reads : dict
        What has been read of those in one column.
    moved : dict
        Where it is along an axis whose first column is not at 0.
    several : dict
        Loops and choices, and in which of the two tables each of their results belongs.
    """

    indices: list[Expr]
    rows: dict[Expr, Expr] = field(default_factory=dict)
    wholes: dict[Expr, Expr] = field(default_factory=dict)
    reads: dict[tuple[Expr, Form], Expr] = field(default_factory=dict)
    moved: dict[tuple[int, int], Expr] = field(default_factory=dict)
    several: dict[Expr, tuple[Expr, list[str]]] = field(default_factory=dict)


@dataclass
class _Result:
    """An array that the loops make.

    Parameters
    ----------
    value : Expr
        Which value of the region it is at the end.
    start : Expr
        What it is at first: a value from outside, or a constant.
    chain : Chain or None
        Its versions, where it is updated all along; otherwise its part of a column is put there at the end.
    """

    value: Expr
    start: Expr
    chain: Chain | None


class Columns:
    """Writes the loops of a region.

    Parameters
    ----------
    region : Region
    origin : dict
        Takes down for each new node the node of the graph that it came from.
    """

    def __init__(self, region: Region, origin: dict[Expr, Expr]) -> None:
        self.region, self.origin = region, origin
        self.whole: set[object] = set()
        self.results = self._results()
        self.seed = region.loops[0]

    def _results(self) -> list[_Result]:
        region, found = self.region, []
        known = chains(region)
        for value in region.results():
            chain = known.get(value)
            if chain is not None:
                self.whole |= chain.versions
                found.append(_Result(value, chain.root, chain))
                continue
            form = region.form(value)
            start = root(value, region.nodes)
            if start is None or forms_of.is_whole(form, value.shape, region.extents):
                if not forms_of.is_whole(form, value.shape, region.extents):
                    raise forms_of.RefusedError("a result has other columns besides")
                start = constant(0, value.type, value.shape, value.names)
            found.append(_Result(value, start, None))
        return found

    def build(self, outside: Callable[[Expr], Expr]) -> dict[Expr, Expr]:
        """The new nodes for the results of the region.

        Parameters
        ----------
        outside : callable
            The new node for a value from outside.
        """
        self.given = self.region.given()
        starts = [r.start if r.start.primitive is p.constant else outside(r.start) for r in self.results]
        made = self._loop(starts, [], [outside(value) for value in self.given])
        return {result.value: value for result, value in zip(self.results, made, strict=True)}

    # The loops around --------------------------------------------------------------------------------------------

    def _loop(self, arrays: Sequence[Expr], indices: Sequence[Expr], given: Sequence[Expr]) -> list[Expr]:
        """A loop along the next index of a column, or what is done in it; gives the arrays after it."""
        depth = len(indices)
        if depth == len(self.region.extents):
            return self._column(arrays, indices, given)
        seed, count = self.seed, 1 + len(arrays)
        operands = [constant(0, types.s64), *arrays, *indices, *given]
        names = ["index", *["array"] * len(arrays), *["index"] * depth, *["given"] * len(given)]
        asked, turned = _parameters(names, operands), _parameters(names, operands)
        most = constant(self.region.extents[depth], types.s64)
        question = self._new(seed, make(p.less, asked[0], most, source=seed.source))
        rest = turned[count:]
        after = self._loop(turned[1:count], [*rest[:depth], turned[0]], rest[depth:])
        counter = self._new(seed, make(p.add, turned[0], constant(1, types.s64), source=seed.source))
        loop = self._while(seed, operands, count, (asked, question), (turned, [counter, *after]))
        return [self._element(seed, loop, place) for place in range(1, count)]

    def _column(self, arrays: Sequence[Expr], indices: Sequence[Expr], given: Sequence[Expr]) -> list[Expr]:
        """All that is done in one column."""
        region, level = self.region, _Level(list(indices))
        for value, node in zip(self.given, given, strict=True):
            (level.rows if is_single(value) else level.wholes)[value] = node
        self._bases: dict[tuple[Expr, int], Expr] = {}
        for result, array in zip(self.results, arrays, strict=True):
            if result.chain is not None:
                self._bases[result.chain.first] = array
                if result.chain.read_alike:
                    level.wholes[result.start] = array
        self._nodes([node for node in region.order if node in region.nodes], level)
        after = []
        for result, array in zip(self.results, arrays, strict=True):
            value = result.value
            if result.chain is not None:
                after.append(level.wholes[value])
            else:
                form = region.form(value)
                starts = [self._index(level, entry, value) for entry in form]
                after.append(self._put(value, array, self._row(level, value, form), form, starts))
        return after

    def _while(
        self,
        node: Expr,
        operands: Sequence[Expr],
        count: int,
        asked: tuple[Sequence[Expr], Expr],
        turned: tuple[Sequence[Expr], Sequence[Expr]],
    ) -> Expr:
        """A loop, without what neither its condition nor its body needs."""
        used = set(post_order([asked[1], *turned[1]]))
        places = [k for k in range(len(operands)) if k < count or asked[0][k] in used or turned[0][k] in used]
        params = {
            "condition": _graph("condition", [asked[0][k] for k in places], [asked[1]]),
            "body": _graph("body", [turned[0][k] for k in places], turned[1]),
            "state": count,
        }
        kept = tuple(operands[k] for k in places)
        return self._new(node, Expr(p.while_, kept, params, tuple(o.spec for o in kept[:count]), node.source))

    def _new(self, node: Expr, made: Expr) -> Expr:
        self.origin.setdefault(made, self.origin.get(node, node))
        return made

    def _element(self, node: Expr, several: Expr, index: int) -> Expr:
        return self._new(node, make(p.elem, several, index=index, source=node.source))

    # Values --------------------------------------------------------------------------------------------------------

    def _index(self, level: _Level, entry: Entry, node: Expr) -> Expr:
        """Where a column is along an axis; 0 along others."""
        if entry is None:
            return constant(0, types.s64)
        index, first = level.indices[entry[0]], entry[1]
        if first == 0:
            return index
        if entry not in level.moved:
            moved = make(p.add, index, constant(first, types.s64), source=node.source)
            level.moved[entry] = self._new(node, moved)
        return level.moved[entry]

    def _row(self, level: _Level, node: Expr, form: Form) -> Expr:
        """What a value is in one column."""
        known = self.region.value(node)
        if known.primitive is p.constant:
            shape = left(form, node.shape)
            return known if shape == node.shape else constant(known.params["value"], node.type, shape)
        if node in level.rows:
            return level.rows[node]
        array = level.wholes[node]
        if is_uniform(form):
            return array
        if (node, form) not in level.reads:
            starts = [self._index(level, entry, node) for entry in form]
            lengths = [n if entry is None else 1 for entry, n in zip(form, node.shape, strict=True)]
            level.reads[node, form] = self._part(node, array, form, starts, lengths, (1,) * len(form))
        return level.reads[node, form]

    def _part(
        self,
        node: Expr,
        array: Expr,
        form: Form,
        starts: Sequence[Expr],
        lengths: Sequence[int],
        strides: Sequence[int],
    ) -> Expr:
        """A part of what a column has of an array."""
        read = make(p.dynamic_slice, array, *starts, lengths=tuple(lengths), strides=tuple(strides), source=node.source)
        return self._shaped(node, self._new(node, read), left(form, read.shape), left(form, read.names))

    def _shaped(self, node: Expr, value: Expr, shape: tuple, names: tuple) -> Expr:
        while value.primitive is p.reshape:
            value = value.operands[0]
        if (value.shape, value.names) == (shape, names):
            return value
        if value.primitive is p.constant:
            return constant(value.params["value"], value.type, shape, names)
        return self._new(node, make(p.reshape, value, shape=shape, names=names, source=node.source))

    def _put(self, node: Expr, array: Expr, row: Expr, form: Form, starts: Sequence[Expr]) -> Expr:
        """A whole array with a part of one column overwritten."""
        rest = iter(row.shape)
        shape = tuple(1 if entry is not None else next(rest) for entry in form)
        part = self._shaped(node, row, shape, array.names)
        return self._new(node, make(p.put_slice, array, part, *starts, source=node.source))

    # Nodes ---------------------------------------------------------------------------------------------------------

    def _nodes(self, nodes: Sequence[Expr], level: _Level) -> None:
        for node in nodes:
            if node.primitive in (p.parameter, p.constant):
                continue
            if node.primitive is p.while_:
                self._inner_loop(node, level)
            elif node.primitive is p.cond:
                self._choice(node, level)
            elif node.primitive is p.elem:
                made, tables = level.several[node.operands[0]]
                index = node.params["index"]
                getattr(level, tables[index])[node] = self._element(node, made, index)
            elif node.primitive is p.put_slice and node in self.whole:
                level.wholes[node] = self._updated(node, level)
            else:
                level.rows[node] = self._rewritten(node, level)

    def _updated(self, node: Expr, level: _Level) -> Expr:
        form = self.region.form(node)
        part_form = forms_of.of_operands(node, form, self.region.extents)[1]
        starts = [
            self._row(level, start, uniform(start)) if entry is None else self._index(level, entry, node)
            for entry, start in zip(form, node.operands[2:], strict=True)
        ]
        array, row = self._base(level, node, 0), self._row(level, node.operands[1], part_form)
        return self._put(node, array, row, form, starts)

    def _base(self, level: _Level, node: Expr, place: int) -> Expr:
        """The whole array that a node changes."""
        return self._bases[node, place] if (node, place) in self._bases else level.wholes[node.operands[place]]

    def _rewritten(self, node: Expr, level: _Level) -> Expr:
        form, extents = self.region.form(node), self.region.extents
        operands = node.operands
        needed = forms_of.of_operands(node, form, extents)
        if node.primitive in (p.slice_, p.dynamic_slice) and operands[0] in level.wholes and not is_uniform(form):
            return self._read(node, form, needed[0], level)
        if node.primitive is p.iota:
            return self._iota(node, form, level)
        rows = [self._row(level, operand, f) for operand, f in zip(operands, needed, strict=True)]
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
            params["axes"] = _places(needed[0], params["axes"])
        elif "axis" in params:
            (params["axis"],) = _places(needed[0], [params["axis"]])
        return self._new(node, Expr(node.primitive, tuple(rows), params, Spec(node.type, shape, names), node.source))

    def _read(self, node: Expr, form: Form, whole: Form, level: _Level) -> Expr:
        """A part of one column of an array that has all of them."""
        params = node.params
        if node.primitive is p.slice_:
            starts = [constant(start, types.s64) for start in params["starts"]]
        else:
            starts = [self._row(level, start, uniform(start)) for start in node.operands[1:]]
        starts = [
            start if entry is None else self._index(level, entry, node)
            for entry, start in zip(whole, starts, strict=True)
        ]
        lengths = [n if entry is None else 1 for entry, n in zip(whole, params["lengths"], strict=True)]
        return self._part(node, level.wholes[node.operands[0]], form, starts, lengths, params["strides"])

    def _iota(self, node: Expr, form: Form, level: _Level) -> Expr:
        axis, shape, names = node.params["axis"], left(form, node.shape), left(form, node.names)
        if form[axis] is None:
            (place,) = _places(form, [axis])
            made = make(p.iota, type=node.type, shape=shape, names=names, axis=place, source=node.source)
            return self._new(node, made)
        index = self._index(level, form[axis], node)
        if node.type is not types.s64:
            index = self._new(node, make(p.as_type, index, type=node.type, source=node.source))
        if not shape:
            return index
        return self._new(node, make(p.broadcast, index, shape=shape, axes=(), names=names, source=node.source))

    def _viewed(self, node: Expr, form: Form, needed: Form, row: Expr) -> Expr:
        shape, names = left(form, node.shape), left(form, node.names)
        if node.primitive is p.transpose:
            axes = _places(needed, [axis for axis in node.params["axes"] if needed[axis] is None])
            if axes == tuple(range(len(axes))):
                return row
            return self._new(node, make(p.transpose, row, axes=axes, source=node.source))
        if node.primitive is p.broadcast:
            # An axis of size 1 of the operand may be one of columns in the result.
            axes = [a for a, entry in zip(node.params["axes"], needed, strict=True) if entry is None]
            stay = [a for a in axes if form[a] is None]
            if len(stay) < len(axes):
                kept = tuple(n for n, a in zip(row.shape, axes, strict=True) if form[a] is None)
                row = self._shaped(node, row, kept, unnamed(kept))
            if row.shape != shape:
                axes = _places(form, stay)
                return self._new(node, make(p.broadcast, row, shape=shape, axes=axes, names=names, source=node.source))
        return self._shaped(node, row, shape, names)

    # Loops and choices inside ---------------------------------------------------------------------------------------

    def _inner_loop(self, node: Expr, level: _Level) -> None:
        count, body, condition = node.params["state"], node.params["body"], node.params["condition"]
        kept = [parameter in self.whole for parameter in body.parameters[:count]]
        forms = [None if whole else self.region.form(one) for one, whole in zip(body.parameters, kept, strict=False)]
        operands = [
            self._base(level, node, k) if form is None else self._row(level, node.operands[k], form)
            for k, form in enumerate(forms)
        ]
        tables = ["wholes" if whole else "rows" for whole in kept]
        places = list(range(count))
        self._hand(node.operands, range(count, len(node.operands)), level, operands, tables, places)
        names = [body.parameters[k].params["name"] for k in places] + ["index"] * len(level.indices)
        operands += level.indices
        new, levels = [], []
        for graph in (condition, body):
            parameters = _parameters(names, operands)
            new.append(parameters)
            levels.append(_inner(parameters, [graph.parameters[k] for k in places], tables))
            self._nodes(post_order(graph.outputs), levels[-1])
        (asked,) = condition.outputs
        question = self._row(levels[0], asked, uniform(asked))
        after = [
            levels[1].wholes[output] if form is None else self._row(levels[1], output, form)
            for output, form in zip(body.outputs, forms, strict=True)
        ]
        level.several[node] = self._while(node, operands, count, (new[0], question), (new[1], after)), tables

    def _choice(self, node: Expr, level: _Level) -> None:
        sides = [node.params["then"], node.params["otherwise"]]
        operands: list[Expr] = []
        tables: list[str] = []
        places: list[int] = []
        self._hand(node.operands, range(1, len(node.operands)), level, operands, tables, places)
        names = [sides[0].parameters[k - 1].params["name"] for k in places] + ["index"] * len(level.indices)
        operands += level.indices
        kinds = ["wholes" if (node, k) in self.whole else "rows" for k in range(len(node.spec))]
        new, results = [], []
        for side in sides:
            parameters = _parameters(names, operands)
            inner = _inner(parameters, [side.parameters[k - 1] for k in places], tables)
            self._nodes(post_order(side.outputs), inner)
            new.append(parameters)
            results.append(
                [
                    inner.wholes[output] if kind == "wholes" else self._row(inner, output, self.region.forms[node, k])
                    for k, (output, kind) in enumerate(zip(side.outputs, kinds, strict=True))
                ]
            )
        used = [set(post_order(outputs)) for outputs in results]
        kept = [k for k in range(len(operands)) if any(own[k] in read for own, read in zip(new, used, strict=True))]
        graphs = [
            _graph(name, [own[k] for k in kept], outputs)
            for name, own, outputs in zip(["then", "otherwise"], new, results, strict=True)
        ]
        predicate = self._row(level, node.operands[0], uniform(node.operands[0]))
        spec = tuple(output.spec for output in results[0])
        params = {"then": graphs[0], "otherwise": graphs[1]}
        made = Expr(p.cond, (predicate, *(operands[k] for k in kept)), params, spec, node.source)
        level.several[node] = self._new(node, made), kinds

    @staticmethod
    def _hand(
        given: Sequence[Expr], which: Sequence[int], level: _Level, operands: list, tables: list, places: list
    ) -> None:
        """What a loop or choice only reads; constants are known in it anyway."""
        for place in which:
            for table in ("rows", "wholes"):
                if given[place] in getattr(level, table):
                    operands.append(getattr(level, table)[given[place]])
                    tables.append(table)
                    places.append(place)


def _places(form: Form, axes: Sequence[int]) -> tuple[int, ...]:
    """Which axes of one column some axes are that are no columns."""
    return tuple(sum(entry is None for entry in form[:axis]) for axis in axes)


def _parameters(names: Sequence[str], like: Sequence[Expr]) -> list[Expr]:
    return [parameter(k, name, node.spec) for k, (name, node) in enumerate(zip(names, like, strict=True))]


def _graph(name: str, parameters: Sequence[Expr], outputs: Sequence[Expr]) -> Graph:
    for place, node in enumerate(parameters):
        node.params["index"] = place
    return Graph(name, list(parameters), list(outputs), list)


def _inner(parameters: Sequence[Expr], olds: Sequence[Expr], tables: Sequence[str]) -> _Level:
    """What is known in a part of a loop or choice: its parameters; the last ones are the indices."""
    level = _Level(list(parameters[len(olds) :]))
    for old, table, node in zip(olds, tables, parameters, strict=False):
        getattr(level, table)[old] = node
    return level
