"""The walk of vectorization: each node's value for all entries, and whether it differs between entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, Graph, SourceLocation, at_line, parameter
from nxkernel.graph.intervals import Interval
from nxkernel.graph.traverse import post_order
from nxkernel.library_functions import HostFunction
from nxkernel.ops.machinery.batching_rules import Batch, batched
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.primitives import Primitive, Spec
from nxkernel.transforms.recording_trace import RecordingTrace


class MappedValue(NamedTuple):
    """The value that replaces a node of the given graph.

    Parameters
    ----------
    node : Expr
    mapped : bool
        Whether it has the axis of entries.
    """

    node: Expr
    mapped: bool


#: What stands for a node: a value, or one for each of its results.
NodeValue = MappedValue | list[MappedValue]
#: Says what a node is for every entry, by what its operands are; None where it is as for any other node.
Rule = Callable[["EntryEvaluation", Expr, list[MappedValue]], NodeValue | None]


class OriginTrace(RecordingTrace):
    """A trace in which each new node gets the source line of the node of the given graph that it replaces.

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
        """The source line of the node that is being vectorized."""
        return self.at.source if self.at is not None else None

    def record(self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Add a node; several results are a tuple of ``elem`` nodes."""
        return self.record_as(
            primitive, operands, params, primitive.rule(*[value.spec for value in operands], **params)
        )

    def record_as(
        self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any], spec: Spec | tuple[Spec, ...]
    ) -> Any:
        """As :meth:`record`, with a given spec."""
        node = self._added(Expr(primitive, operands, params, spec, self.source))
        if type(spec) is not tuple:
            return node
        parts = enumerate(spec)
        return tuple([self._added(Expr(p.elem, (node,), {"index": k}, part, self.source)) for k, part in parts])

    def _added(self, node: Expr) -> Expr:
        if self.at is not None:
            self.origin[node] = self.at
        return node


class EntryEvaluation:
    """Evaluates graphs for all entries at once, in the active trace.

    Parameters
    ----------
    size : int
        The number of entries.
    recorder : OriginTrace
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
        recorder: OriginTrace,
        rules: Mapping[Primitive, Rule],
        active: Expr | None = None,
        ranges: Mapping[Expr, Interval] | None = None,
    ) -> None:
        self.size, self.recorder, self.rules, self.active, self.ranges = size, recorder, rules, active, ranges or {}

    def where(self, active: Expr | None) -> EntryEvaluation:
        """A copy that applies to active entries only."""
        return EntryEvaluation(self.size, self.recorder, self.rules, active, self.ranges)

    def with_ranges(self, ranges: Mapping[Expr, Interval]) -> EntryEvaluation:
        """A copy for the inside of a loop or branch, with known bounds of its parameters."""
        return EntryEvaluation(self.size, self.recorder, self.rules, self.active, ranges)

    def parameters(self, graph: Graph, mapped: Sequence[bool]) -> list[MappedValue]:
        """New parameters for a graph, with the axis of entries where they are mapped."""
        pairs = zip(graph.parameters, mapped, strict=True)
        return [MappedValue(self._parameter(position, old, flag), flag) for position, (old, flag) in enumerate(pairs)]

    def _parameter(self, position: int, old: Expr, mapped: bool) -> Expr:
        spec = self.spec(old.spec) if mapped else old.spec
        return parameter(position, old.params["name"], spec, old.params["captured"])

    def spec(self, entry: Spec) -> Spec:
        """The spec of all entries together, from that of one."""
        return Spec(entry.type, (self.size, *entry.shape), (None, *entry.names))

    def over(self, value: MappedValue) -> MappedValue:
        """A value with the axis of entries, broadcast along it if it has none."""
        return MappedValue(Batch((self.size,), [value.node], [value.mapped]).over(0), True)

    def brought(self, values: Sequence[MappedValue], flags: Sequence[bool]) -> list[Expr]:
        """The nodes of values, with the axis of entries where `flags` ask for it."""
        return [self.over(value).node if flag else value.node for value, flag in zip(values, flags, strict=True)]

    def outputs(self, graph: Graph, arguments: Sequence[MappedValue]) -> list[MappedValue]:
        """The outputs of a graph for all entries, given a value for each parameter."""
        values: dict[Expr, NodeValue] = dict(zip(graph.parameters, arguments, strict=True))
        before = self.recorder.at
        for node in post_order(graph.outputs):
            if node not in values:
                self.recorder.at = node
                values[node] = self._node(node, [values[operand] for operand in node.operands])
        self.recorder.at = before
        return [values[output] for output in graph.outputs]

    def _node(self, node: Expr, operands: list[Any]) -> NodeValue:
        if node.primitive is p.elem:
            return operands[0][node.params["index"]]
        rule = self.rules.get(node.primitive)
        result = rule(self, node, operands) if rule is not None else None
        if result is not None:
            return result
        mapped = [operand.mapped for operand in operands]
        nodes = [operand.node for operand in operands]
        if is_masked(node) and (self.active is not None or any(mapped)):
            return self._called_where_active(node, operands)
        if not any(mapped):
            return self._same_for_all(node, nodes)
        if node.primitive is p.njit_call:
            return self._called_on_entries(node, operands)
        if node.primitive is p.reduce and any(mapped[1:]):
            return MappedValue(self._by_iterations(node, operands), True)
        results = batched(node.primitive, (self.size,), nodes, mapped, node.params)
        return [MappedValue(part, True) for part in results] if type(results) is tuple else MappedValue(results, True)

    def _called_on_entries(self, node: Expr, operands: Sequence[MappedValue]) -> NodeValue:
        function = node.params["function"]
        if not isinstance(function, HostFunction):
            raise _whole_arrays(node)
        arguments = self.brought(operands, [True] * len(operands))
        results = apply(p.njit_call, *arguments, function=function.over_entries(self.size))
        return [MappedValue(part, True) for part in results] if type(results) is tuple else MappedValue(results, True)

    def _called_where_active(self, node: Expr, operands: Sequence[MappedValue]) -> NodeValue:
        mask, token, *values = operands
        if not self.size:
            return token
        if self.active is None and not any(value.mapped for value in (mask, *values)):
            # Entries that have been elsewhere before say the same thing here.
            last = apply(p.reduce_max, token.node, axes=(0,), keep_axes=False)
            return self._same_for_all(node, [mask.node, last, *[value.node for value in values]])
        speaks, *others = self.brought(operands, [True] * len(operands))
        if self.active is not None:
            speaks = apply(p.logical_and, self.active, speaks)
        function = node.params["function"].over_entries(self.size)
        result = apply(p.njit_call, speaks, *others, function=function)
        if any(operand.mapped for operand in operands):
            return MappedValue(result, True)
        # That it goes by the active entries is no reason for what follows to differ between them.
        return MappedValue(apply(p.reduce_max, result, axes=(0,), keep_axes=False), False)

    def _same_for_all(self, node: Expr, operands: list[Expr]) -> NodeValue:
        if not operands:
            return MappedValue(node, False)
        results = self.recorder.record_as(node.primitive, tuple(operands), node.params, node.spec)
        return [MappedValue(part, False) for part in results] if type(results) is tuple else MappedValue(results, False)

    def _by_iterations(self, node: Expr, operands: Sequence[MappedValue]) -> Expr:
        """A fold whose scalars differ between entries, computed entry by entry in a loop."""
        spec, number = self.spec(node.spec), Spec(types.s64, (), ())
        one = filled(1, types.s64, ())
        inside = [parameter(0, "entry", number), parameter(1, "result", spec)]
        inside += [parameter(position, "outside", value.node.spec) for position, value in enumerate(operands, 2)]
        iteration, result, *arguments = inside
        entries = [
            _entry(new, iteration) if value.mapped else new for new, value in zip(arguments, operands, strict=True)
        ]
        result_of_entry = apply(p.reduce, *entries, **node.params)
        result_of_entry = apply(
            p.reshape, result_of_entry, shape=(1, *result_of_entry.shape), names=(None, *result_of_entry.names)
        )
        after = [
            apply(p.add, iteration, one),
            apply(p.put_slice, result, result_of_entry, *_starts(iteration, result_of_entry)),
        ]
        condition = Graph("condition", inside, [apply(p.less, iteration, filled(self.size, types.s64, ()))], list)
        body = Graph("body", inside, after, list)
        first = [filled(0, types.s64, ()), filled(0, spec.type, spec.shape, spec.names)]
        outside = [value.node for value in operands]
        return apply(p.while_, *first, *outside, condition=condition, body=body, state=2)[1]


def is_masked(node: Expr) -> bool:
    """Whether a node is a call of a function in the interpreter that is told for which entries it is."""
    function = node.params["function"] if node.primitive is p.njit_call else None
    return isinstance(function, HostFunction) and function.masked


def _starts(first: Expr, value: Expr) -> list[Expr]:
    return [first, *[filled(0, types.s64, ())] * (len(value.shape) - 1)]


def _entry(node: Expr, iteration: Expr) -> Expr:
    lengths = (1, *node.shape[1:])
    one = apply(p.dynamic_slice, node, *_starts(iteration, node), lengths=lengths, strides=(1,) * len(lengths))
    return apply(p.reshape, one, shape=node.shape[1:], names=node.names[1:])


def _whole_arrays(node: Expr) -> NxTypeError:
    where = at_line(node.source)
    return NxTypeError(
        message(
            f"{node.params['function']!r} is a Numba function of whole arrays, which cannot be given entries{where}.",
            "Write it for arrays with one more axis, or for single numbers as nx.njit_map takes it.",
        )
    )
