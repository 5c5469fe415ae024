"""The walk of vectorization: for each node its value for all entries, and whether it differs between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, Graph, SourceLocation, at_line, parameter
from nxkernel.graph.intervals import Interval
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.batching_rules import Batch, batched
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.primitives import Primitive, Spec
from nxkernel.transforms.recording_trace import Recorder


class MappedValue(NamedTuple):
    """What stands for a node of the given graph.

    Parameters
    ----------
    node : Expr
    mapped : bool
        Whether it has the axis of entries.
    """

    node: Expr
    mapped: bool


#: What stands for a node: a value, or one for each of its results.
Found = MappedValue | list[MappedValue]
#: Says what a node is for every entry, by what its operands are; None where it is as for any other node.
Rule = Callable[["Entries", Expr, list[MappedValue]], Found | None]


class Origins(Recorder):
    """The trace that new nodes are recorded in: each comes from a node of the given graph, and has its line.

    Attributes
    ----------
    at : Expr or None
        The node that is dealt with.
    origin : dict
        For each new node the one that it is for.
    """

    __slots__ = ("at", "origin")

    def __init__(self) -> None:
        super().__init__()
        self.at: Expr | None = None
        self.origin: dict[Expr, Expr] = {}

    @property
    def source(self) -> SourceLocation | None:
        """The line of the node that is dealt with."""
        return self.at.source if self.at is not None else None

    def record(self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Add a node; several results are a tuple of ``elem`` nodes."""
        return self.made(primitive, operands, params, primitive.rule(*[value.spec for value in operands], **params))

    def made(
        self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any], spec: Spec | tuple[Spec, ...]
    ) -> Any:
        """As :meth:`record`, with a spec that is known."""
        node = self._made(Expr(primitive, operands, params, spec, self.source))
        if type(spec) is not tuple:
            return node
        parts = enumerate(spec)
        return tuple([self._made(Expr(p.elem, (node,), {"index": k}, part, self.source)) for k, part in parts])

    def _made(self, node: Expr) -> Expr:
        if self.at is not None:
            self.origin[node] = self.at
        return node


class Entries:
    """Computes what graphs do for every entry, in the trace that is active.

    Parameters
    ----------
    size : int
        The number of entries.
    recorder : Origins
        The trace that is active.
    rules : mapping
        Of primitives, what to do instead of what :mod:`nxkernel.ops.machinery.batching_rules` says.
    active : Expr, optional
        For each entry whether what is computed is for it too; None where it is for all.
    known : mapping, optional
        Between which values parameters of the given graphs lie that are whole numbers.
    """

    def __init__(
        self,
        size: int,
        recorder: Origins,
        rules: Mapping[Primitive, Rule],
        active: Expr | None = None,
        known: Mapping[Expr, Interval] | None = None,
    ) -> None:
        self.size, self.recorder, self.rules, self.active, self.known = size, recorder, rules, active, known or {}

    def where(self, active: Expr | None) -> Entries:
        """The same for some of the entries."""
        return Entries(self.size, self.recorder, self.rules, active, self.known)

    def knowing(self, known: Mapping[Expr, Interval]) -> Entries:
        """The same inside of a loop or branch, of whose parameters more is known."""
        return Entries(self.size, self.recorder, self.rules, self.active, known)

    def parameters(self, graph: Graph, mapped: Sequence[bool]) -> list[MappedValue]:
        """New parameters for those of a graph."""
        pairs = zip(graph.parameters, mapped, strict=True)
        return [MappedValue(self._parameter(place, old, flag), flag) for place, (old, flag) in enumerate(pairs)]

    def _parameter(self, place: int, old: Expr, mapped: bool) -> Expr:
        spec = self.spec(old.spec) if mapped else old.spec
        return parameter(place, old.params["name"], spec, old.params["captured"])

    def spec(self, entry: Spec) -> Spec:
        """Of all entries together."""
        return Spec(entry.type, (self.size, *entry.shape), (None, *entry.names))

    def over(self, value: MappedValue) -> MappedValue:
        """A value with the axis of entries, repeated along it if need be."""
        return MappedValue(Batch((self.size,), [value.node], [value.mapped]).over(0), True)

    def brought(self, values: Sequence[MappedValue], flags: Sequence[bool]) -> list[Expr]:
        """The nodes of values, with the axis of entries where that is asked for."""
        return [self.over(value).node if flag else value.node for value, flag in zip(values, flags, strict=True)]

    def outputs(self, graph: Graph, given: Sequence[MappedValue]) -> list[MappedValue]:
        """What the outputs of a graph are for every entry, for a value of each parameter."""
        values: dict[Expr, Found] = dict(zip(graph.parameters, given, strict=True))
        before = self.recorder.at
        for node in post_order(graph.outputs):
            if node not in values:
                self.recorder.at = node
                values[node] = self._node(node, [values[operand] for operand in node.operands])
        self.recorder.at = before
        return [values[output] for output in graph.outputs]

    def _node(self, node: Expr, operands: list[Any]) -> Found:
        if node.primitive is p.elem:
            return operands[0][node.params["index"]]
        rule = self.rules.get(node.primitive)
        found = rule(self, node, operands) if rule is not None else None
        if found is not None:
            return found
        mapped = [operand.mapped for operand in operands]
        nodes = [operand.node for operand in operands]
        if not any(mapped):
            return self._same_for_all(node, nodes)
        if node.primitive is p.njit_call:
            raise _whole_arrays(node)
        if node.primitive is p.reduce and any(mapped[1:]):
            return MappedValue(self._by_turns(node, operands), True)
        # Predicates keep the type that they have in the graph.
        numpy = type(node.spec) is Spec and node.type is types.bool_
        with types.promotion("numpy" if numpy else "nx"):
            made = batched(node.primitive, (self.size,), nodes, mapped, node.params)
        return [MappedValue(part, True) for part in made] if type(made) is tuple else MappedValue(made, True)

    def _same_for_all(self, node: Expr, operands: list[Expr]) -> Found:
        if not operands:
            return MappedValue(node, False)
        made = self.recorder.made(node.primitive, tuple(operands), node.params, node.spec)
        return [MappedValue(part, False) for part in made] if type(made) is tuple else MappedValue(made, False)

    def _by_turns(self, node: Expr, operands: Sequence[MappedValue]) -> Expr:
        """Entry after entry, for a fold whose scalars differ from entry to entry."""
        whole, number = self.spec(node.spec), Spec(types.s64, (), ())
        one = filled(1, types.s64, ())
        inside = [parameter(0, "entry", number), parameter(1, "result", whole)]
        inside += [parameter(place, "outside", value.node.spec) for place, value in enumerate(operands, 2)]
        turn, result, *given = inside
        entries = [_entry(new, turn) if value.mapped else new for new, value in zip(given, operands, strict=True)]
        made = apply(p.reduce, *entries, **node.params)
        made = apply(p.reshape, made, shape=(1, *made.shape), names=(None, *made.names))
        after = [apply(p.add, turn, one), apply(p.put_slice, result, made, *_starts(turn, made))]
        condition = Graph("condition", inside, [apply(p.less, turn, filled(self.size, types.s64, ()))], list)
        body = Graph("body", inside, after, list)
        first = [filled(0, types.s64, ()), filled(0, whole.type, whole.shape, whole.names)]
        outside = [value.node for value in operands]
        return apply(p.while_, *first, *outside, condition=condition, body=body, state=2)[1]


def _starts(first: Expr, value: Expr) -> list[Expr]:
    return [first, *[filled(0, types.s64, ())] * (len(value.shape) - 1)]


def _entry(node: Expr, turn: Expr) -> Expr:
    lengths = (1, *node.shape[1:])
    one = apply(p.dynamic_slice, node, *_starts(turn, node), lengths=lengths, strides=(1,) * len(lengths))
    return apply(p.reshape, one, shape=node.shape[1:], names=node.names[1:])


def _whole_arrays(node: Expr) -> NxTypeError:
    where = at_line(node.source)
    return NxTypeError(
        message(
            f"{node.params['function']!r} is a Numba function of whole arrays, which cannot be given entries{where}.",
            "Write it for arrays with one more axis, or for single numbers as nx.njit_map takes it.",
        )
    )
