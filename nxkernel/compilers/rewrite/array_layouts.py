"""Array layouts: arrays that loops index along their last axis are stored with that axis first while the loops run.

``a[:, j]`` goes through memory with a stride; where a loop reads and writes nothing of an array but such parts, and
each of them many times, the array is transposed before the loop, so that every part is consecutive, and back behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.analysis import integer_ranges
from nxkernel.compilers.analysis.integer_ranges import Interval
from nxkernel.compilers.rewrite.loop_nest_rewrites import make
from nxkernel.graph.expr import Expr, Graph, constant, parameter
from nxkernel.graph.intervals import iteration_step
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Spec

#: How often an element is touched at least, for each time that it is copied, so that turning pays.
OFTEN = 4
#: Iterations assumed for a loop whose number of iterations is unknown.
SOME = 16


def transposed(graph: Graph) -> tuple[Graph, dict[Expr, Expr]]:
    """The graph with loop arrays transposed where that pays, and for each new node the old node it came from."""
    if not any(node.primitive.family == "control" for node in post_order(graph.outputs)):
        return graph, {}
    writer = _LayoutRewriter()
    outputs = writer.outputs(graph.outputs, {}, {})
    return Graph(graph.name, graph.parameters, outputs, graph.rebuild, graph.updates), writer.origin


# Which arrays --------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class LoopArrayVersions:
    """All versions of one array that a loop carries, including those in loops and branches inside it.

    Attributes
    ----------
    touched : int
        About how many elements are read and written in parts that would be consecutive.
    can_transpose : bool
        Whether nothing is done with it but reading and writing parts at one index along the last axis.
    """

    touched: int = 0
    can_transpose: bool = True
    parent: LoopArrayVersions | None = field(default=None, repr=False)

    def root(self) -> LoopArrayVersions:
        """The group that these versions have been merged into."""
        versions = self
        while versions.parent is not None:
            versions = versions.parent
        return versions


class LoopArrayCollector:
    """Groups the values of a loop by the array that they are versions of."""

    def __init__(self) -> None:
        self._versions_of: dict[Expr, LoopArrayVersions] = {}

    def of(self, node: Expr) -> LoopArrayVersions:
        """The group of versions that a value belongs to."""
        return self._versions_of.setdefault(node, LoopArrayVersions()).root()

    def _same(self, *nodes: Expr) -> None:
        first = self.of(nodes[0])
        for node in nodes[1:]:
            other = self.of(node)
            if other is not first:
                other.parent = first
                first.touched += other.touched
                first.can_transpose &= other.can_transpose

    def chosen(self, node: Expr, ranges: Mapping[Expr, Interval], already: Set[Expr]) -> set[Expr]:
        """All values that are versions of those arrays of a loop that are worth transposing."""
        self.loop(node, ranges, 1)
        costs: dict[LoopArrayVersions, int] = {}
        parameters, count = node.params["body"].parameters, node.params["state"]
        for position, (operand, inner) in enumerate(zip(node.operands, parameters, strict=True)):
            copies = (operand.primitive is not p.constant) + (position < count)
            versions = self.of(inner)
            versions.can_transpose &= inner not in already and len(inner.shape) > 1 and inner.shape[-1] > 1
            costs[versions] = costs.get(versions, 0) + copies * shapes.size(inner.shape)
        wanted = {
            versions
            for versions, cost in costs.items()
            if versions.can_transpose and versions.touched >= OFTEN * max(cost, 1)
        }
        return {node for node, versions in self._versions_of.items() if versions.root() in wanted}

    def loop(self, node: Expr, ranges: Mapping[Expr, Interval], iterations: int) -> None:
        """Count the accesses in the parts of a loop, each weighted by the number of iterations."""
        condition, body, count = node.params["condition"], node.params["body"], node.params["state"]
        inner_ranges = integer_ranges.of_parts(node, ranges)
        iterations *= _estimated_iterations(condition, body, inner_ranges[1])
        for position, (asked, begun) in enumerate(zip(condition.parameters, body.parameters, strict=True)):
            self._same(asked, begun, *([body.outputs[position]] if position < count else []))
        self._graph(condition, inner_ranges[0], iterations)
        self._graph(body, inner_ranges[1], iterations)

    def _graph(self, graph: Graph, ranges: Mapping[Expr, Interval], iterations: int) -> None:
        order = post_order(graph.outputs)
        intervals = integer_ranges.intervals(order, ranges)
        for node in order:
            if node.primitive is p.while_:
                self.loop(node, intervals, iterations)
                self._enter(node.operands, node.params["body"].parameters)
            elif node.primitive is p.cond:
                sides = [node.params["then"], node.params["otherwise"]]
                for side, inside in zip(sides, integer_ranges.of_parts(node, intervals), strict=True):
                    self._graph(side, inside, iterations)
                    self._enter(node.operands[1:], side.parameters)
                for pair in zip(*([*side.parameters, *side.outputs] for side in sides), strict=True):
                    self._same(*pair)
            elif node.primitive is p.elem and node.operands[0].primitive.family == "control":
                control = node.operands[0]
                part = control.params["body" if control.primitive is p.while_ else "then"]
                self._same(node, part.outputs[node.params["index"]])
            else:
                self._use(node, iterations)
        for node in {*graph.outputs}:
            if not self._consists_of_parts(node):
                self.of(node).can_transpose = False

    def _enter(self, operands: Sequence[Expr], parameters: Sequence[Expr]) -> None:
        for operand, inner in zip(operands, parameters, strict=True):
            if operand.primitive is p.constant:
                continue
            self._same(operand, inner)
            if not self._consists_of_parts(operand):
                self.of(operand).can_transpose = False

    @staticmethod
    def _consists_of_parts(node: Expr) -> bool:
        of_control = node.primitive is p.elem and node.operands[0].primitive.family == "control"
        return of_control or node.primitive in (p.parameter, p.put_slice)

    def _use(self, node: Expr, iterations: int) -> None:
        rest = node.operands
        if node.primitive in _PARTS:
            array, *rest = node.operands
            lengths = _PARTS[node.primitive](node)
            if array.primitive is p.constant:
                array = node
            elif node.primitive is p.put_slice:
                self._same(array, node)
            versions = self.of(array)
            if len(lengths) < 2 or lengths[-1] != 1:
                versions.can_transpose = False
            elif lengths[-2] > 1:
                versions.touched += iterations * shapes.size(lengths)
        for operand in rest:
            self.of(operand).can_transpose = False


def _estimated_iterations(condition: Graph, body: Graph, ranges: Mapping[Expr, Interval]) -> int:
    """An estimate of a loop's number of iterations."""
    asked = {node.params["index"] for node in post_order(condition.outputs) if node.primitive is p.parameter}
    counts = []
    for position in asked:
        by = iteration_step(body, position) if position < len(body.outputs) else None
        inside = ranges.get(body.parameters[position])
        if by and inside is not None:
            counts.append((inside[1] - inside[0]) // abs(by) + 1)
    return min(counts, default=SOME)


def _read(node: Expr) -> Sequence[int]:
    return node.shape


def _put(node: Expr) -> Sequence[int]:
    return node.operands[1].shape


#: Primitives that read or write a part of their first operand, and the shape of the part.
_PARTS = {p.slice_: _read, p.dynamic_slice: _read, p.put_slice: _put}


# The same with arrays transposed -------------------------------------------------------------------------------------


def _first(entries: Sequence) -> tuple:
    """A tuple with its last entry moved to the front."""
    return (*entries[-1:], *entries[:-1])


def _turned_spec(spec: Spec) -> Spec:
    return Spec(spec.type, _first(spec.shape), _first(spec.names))


class _LayoutRewriter:
    """Rewrites graphs so that the chosen arrays are stored transposed.

    Attributes
    ----------
    turned : set of Expr
        The nodes of given graphs whose array is transposed.
    origin : dict
        For each new node the one that it is for.
    """

    def __init__(self) -> None:
        self.transposed: set[Expr] = set()
        self.origin: dict[Expr, Expr] = {}

    def outputs(self, outputs: Sequence[Expr], inputs: Mapping[Expr, Expr], ranges: Mapping[Expr, Interval]) -> list:
        """The rewritten outputs of a graph, given replacements for some parameters."""
        order = post_order(outputs)
        intervals = integer_ranges.intervals(order, ranges)
        new: dict[Expr, Expr] = dict(inputs)
        for node in order:
            if node in new:
                continue
            operands = [new[operand] for operand in node.operands]
            if node.primitive is p.while_:
                new[node] = self._loop(node, operands, intervals)
            elif node.primitive is p.cond:
                new[node] = self._branch(node, operands, intervals)
            elif node.primitive is p.elem and node.operands[0].primitive.family == "control":
                new[node] = self._result(node, operands[0])
            elif node.primitive is p.put_slice and node in self.transposed:
                array, part, *starts = operands
                part = self._shaped(node, part, _first(part.shape), _first(part.names))
                new[node] = self._derived(node, p.put_slice, self._transposed(node, array), part, *_first(starts))
            elif node.primitive in _PARTS and node.operands[0] in self.transposed:
                array, *starts = operands
                params = {key: _first(entries) for key, entries in node.params.items()}
                part = self._derived(node, node.primitive, array, *_first(starts), **params)
                new[node] = self._shaped(node, part, node.shape, node.names)
            else:
                new[node] = self._with_operands(node, operands, node.params)
        return [new[output] for output in outputs]

    def _loop(self, node: Expr, operands: Sequence[Expr], ranges: Mapping[Expr, Interval]) -> Expr:
        self.transposed |= LoopArrayCollector().chosen(node, ranges, self.transposed)
        inside = integer_ranges.of_parts(node, ranges)
        condition, body = (
            self._part(node.params[name], each) for name, each in zip(("condition", "body"), inside, strict=True)
        )
        pairs = zip(node.operands, operands, node.params["body"].parameters, strict=True)
        arguments = [self._transposed(node, new, old) if inner in self.transposed else new for old, new, inner in pairs]
        return self._with_operands(node, arguments, {**node.params, "condition": condition, "body": body})

    def _branch(self, node: Expr, operands: Sequence[Expr], ranges: Mapping[Expr, Interval]) -> Expr:
        inside = integer_ranges.of_parts(node, ranges)
        then, otherwise = (
            self._part(node.params[name], each) for name, each in zip(("then", "otherwise"), inside, strict=True)
        )
        pairs = zip(node.operands[1:], operands[1:], node.params["then"].parameters, strict=True)
        arguments = [self._transposed(node, new, old) if inner in self.transposed else new for old, new, inner in pairs]
        return self._with_operands(node, [operands[0], *arguments], {"then": then, "otherwise": otherwise})

    def _part(self, graph: Graph, ranges: Mapping[Expr, Interval]) -> Graph:
        inputs = {
            node: parameter(node.params["index"], node.params["name"], _turned_spec(node.spec))
            for node in graph.parameters
            if node in self.transposed
        }
        outputs = self.outputs(graph.outputs, inputs, ranges)
        if not inputs and all(new is old for new, old in zip(outputs, graph.outputs, strict=True)):
            return graph
        return Graph(graph.name, [inputs.get(node, node) for node in graph.parameters], outputs, list)

    def _result(self, node: Expr, control: Expr) -> Expr:
        """A result of a loop or branch; transposed back if only the loop's inside stores it transposed."""
        old = node.operands[0]
        if control is old:
            return node
        result = self._derived(node, p.elem, control, **node.params)
        inside = old.params["body" if old.primitive is p.while_ else "then"].outputs[node.params["index"]]
        if inside not in self.transposed or node in self.transposed:
            return result
        return self._derived(node, p.transpose, result, axes=(*range(1, len(result.shape)), 0))

    def _transposed(self, at: Expr, new: Expr, old: Expr | None = None) -> Expr:
        """The transposed form of an array, computed if it does not exist yet."""
        if new.primitive is p.constant:
            spec = _turned_spec(new.spec)
            return constant(new.params["value"], spec.type, spec.shape, spec.names)
        if old is None or old in self.transposed:
            return new
        return self._derived(at, p.transpose, new, axes=_first(range(len(new.shape))))

    def _shaped(self, at: Expr, node: Expr, shape: tuple[int, ...], names: p.Names) -> Expr:
        return self._derived(at, p.reshape, node, shape=shape, names=names)

    def _with_operands(self, node: Expr, operands: Sequence[Expr], params: Mapping[str, object]) -> Expr:
        """The node with other operands; the same node if they are unchanged."""
        pairs = [*zip(operands, node.operands, strict=True), *((params[key], old) for key, old in node.params.items())]
        if all(new is old for new, old in pairs):
            return node
        if node.primitive.family == "control":
            return self._derived(node, node.primitive, *operands, **params)
        new_node = Expr(node.primitive, tuple(operands), params, node.spec, node.source)
        self.origin[new_node] = node
        return new_node

    def _derived(self, at: Expr, primitive: p.Primitive, *operands: Expr, **params: object) -> Expr:
        node = make(primitive, *operands, source=at.source, **params)
        self.origin[node] = at
        return node
