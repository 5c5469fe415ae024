"""Gradients of loops and branches: a loop runs in reverse over values that its forward iterations saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, Graph, at_line, parameter
from nxkernel.graph.intervals import iteration_step
from nxkernel.graph.traverse import post_order, replayed
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints import trip_counts
from nxkernel.transforms.adjoints.backward_pass import pullback, reached
from nxkernel.transforms.adjoints.rule_table import AdjointSite, Gain, index, rule, tangent_spec, zeros
from nxkernel.transforms.recording_trace import RecordingTrace


@rule(p.cond)
def _cond(at: AdjointSite) -> list[Gain]:
    predicate, *operands = at.node.operands
    wanted = [position for position, flag in enumerate(at.wanted[1:]) if flag]
    have = [position for position, cotangent in enumerate(at.cotangents) if cotangent is not None]
    graphs, ranges = [], trip_counts.chosen(at.node, at.ranges)
    for name in ("then", "otherwise"):
        side = at.params[name]
        with RecordingTrace():
            cotangents = [
                parameter(len(side.parameters) + k, "cotangent", at.cotangents[position].spec)
                for k, position in enumerate(have)
            ]
            outputs = [side.outputs[position] for position in have]
            inputs = [side.parameters[position] for position in wanted]
            gains, replacing = pullback(outputs, cotangents, inputs, ranges=ranges)
            gains = replayed(gains, {}, replacing)
        graphs.append(Graph(name, [*side.parameters, *cotangents], gains, list))
    more = [at.cotangents[position] for position in have]
    results = apply(p.cond, predicate, *operands, *more, then=graphs[0], otherwise=graphs[1])
    gained: list[Gain] = [None] * len(at.node.operands)
    for position, gain in zip(wanted, results, strict=True):
        gained[1 + position] = gain
    return gained


@rule(p.while_)
def _while(at: AdjointSite) -> list[Gain]:
    return _ReverseLoop(at).gains()


#: What costs more to compute again than to read, and how many times as many bytes may be kept for that.
_COSTLY = frozenset(["contraction", "library", "control", "sorting", "cumulative"])
_WORTH_KEEPING = 8


@dataclass
class _Iteration:
    """The gradient of one iteration of a loop.

    Parameters
    ----------
    cotangents : list of Expr
        Parameters: what the active parts of the state have after the iteration.
    totals : list of Expr
        Parameters: what active values from outside have gained so far.
    gains : list of Expr
        What both are before the iteration.
    outputs : list of Expr
        What the turn itself gives, by loops that keep what the gains need.
    """

    cotangents: list[Expr]
    totals: list[Expr]
    gains: list[Expr]
    outputs: list[Expr]


class _ReverseLoop:
    def __init__(self, at: AdjointSite) -> None:
        self.at, self.node = at, at.node
        self.body, self.count = at.params["body"], at.params["state"]
        self.most = trip_counts.most(at.node, at.ranges)
        self.active = active_operands(at.node, at.wanted)
        self.state = [position for position in self.active if position < self.count]
        self.outside = [position for position in self.active if position >= self.count]
        self.counters = {
            position: step
            for position in range(self.count)
            if (step := iteration_step(self.body, position)) is not None
            and self.node.operands[position].type is types.s64
        }

    def gains(self) -> list[Gain]:
        """The cotangents of the loop's operands."""
        gains: list[Gain] = [None] * len(self.node.operands)
        if self.most == 0:
            for position in self.state:
                gains[position] = self.at.cotangents[position]
            return gains
        iteration = self._iteration()
        saved, recomputed = self._saved(iteration)
        results = self._forward(iteration, saved)
        trip_count = trip_counts.total(self.node, results, self.at.ranges)
        for position, gain in zip(
            self.active, self._back(iteration, saved, recomputed, results[self.count :], trip_count), strict=True
        ):
            gains[position] = gain if self.at.wanted[position] else None
        return gains

    def _iteration(self) -> _Iteration:
        body = self.body
        with RecordingTrace():
            specs = [tangent_spec(body.parameters[position].spec) for position in self.active]
            parameters = [parameter(0, "cotangent", spec) for spec in specs]
            cotangents, totals = parameters[: len(self.state)], parameters[len(self.state) :]
            outputs = [body.outputs[position] for position in self.state]
            inputs = [body.parameters[position] for position in self.active]
            ranges = trip_counts.inside(self.node, self.at.ranges)
            gains, replacing = pullback(outputs, cotangents, inputs, [*[None] * len(self.state), *totals], ranges)
            together = replayed([*gains, *body.outputs], {}, replacing)
            return _Iteration(cotangents, totals, together[: len(gains)], together[len(gains) :])

    # What an iteration leaves behind
    # -----------------------------------------------------------------------------------

    def _saved(self, iteration: _Iteration) -> tuple[list[Expr], set[Expr]]:
        """The values of an iteration that the reverse loop needs: themselves or what they are computed from, whichever
        is smaller.
        """
        own = set(iteration.cotangents) | set(iteration.totals)
        behind = _dependent(iteration.gains, own)
        recomputed = {
            self.body.parameters[position]
            for position in range(len(self.node.operands))
            if self._is_recomputed(position)
        }
        moving = _dependent(
            iteration.gains, {parameter_ for parameter_ in self.body.parameters if parameter_ not in recomputed}
        )
        border: dict[Expr, None] = {}
        for node in post_order(iteration.gains):
            for operand in node.operands if node in behind else ():
                if operand not in behind and operand in moving:
                    border[operand] = None
        for gain in iteration.gains:
            if gain not in behind and gain in moving:
                border[gain] = None
        first = [node for node in post_order(list(border)) if node.primitive is p.parameter and node in moving]
        # A loop or a branch has several results, which are kept one by one.
        has_tuple = any(type(node.spec) is tuple for node in border)
        costly = any(node.primitive.family in _COSTLY and node in moving for node in post_order(list(border)))
        most = _bytes(first) * (_WORTH_KEEPING if costly else 1)
        return (first if has_tuple or most <= _bytes(border) else list(border)), recomputed

    def _is_recomputed(self, position: int) -> bool:
        """Whether a body parameter is invariant or a counter, so that it need not be saved."""
        return (
            position >= self.count
            or position in self.counters
            or self.body.outputs[position] is self.body.parameters[position]
        )

    def _forward(self, iteration: _Iteration, saved: Sequence[Expr]) -> list[Expr]:
        """The results of the loop, and the saved values of all iterations stacked."""
        node, count = self.node, self.count
        if not saved and (
            trip_counts.exactly(node, self.at.ranges) is not None or trip_counts.counter(node) is not None
        ):
            return [self.at.part(position) for position in range(count)]
        if saved and self.most is None:
            raise _unbounded(node, saved)
        state, outside = list(node.operands[:count]), node.operands[count:]
        stacks = [filled(0, value.type, (self.most, *value.shape)) for value in saved]
        zero = index(0)
        with RecordingTrace():
            graphs = []
            for graph in (self.at.params["condition"], self.body):
                new = [twin(old) for old in graph.parameters]
                buffers = [parameter(0, "kept", stack.spec) for stack in stacks]
                number = parameter(0, "turn", Spec(types.s64, (), ()))
                arguments = dict(zip(graph.parameters, new, strict=True))
                inside = [*new[:count], *buffers, number, *new[count:]]
                if graph is self.body:
                    results_of_body = replayed([*iteration.outputs, *saved], arguments)
                    values = results_of_body[count:]
                    outputs = [
                        *results_of_body[:count],
                        *(_stored(r, v, number) for r, v in zip(buffers, values, strict=True)),
                    ]
                    outputs.append(number + 1)
                else:
                    outputs = replayed(graph.outputs, arguments)
                graphs.append(graph_of(graph.name, inside, outputs))
        results = apply(
            p.while_,
            *state,
            *stacks,
            zero,
            *outside,
            condition=graphs[0],
            body=graphs[1],
            state=count + len(stacks) + 1,
        )
        self.at.replace(results[:count])
        return list(results)

    # Going back ----------------------------------------------------------------------------------------------------

    def _back(
        self,
        iteration: _Iteration,
        saved: Sequence[Expr],
        recomputed: set[Expr],
        stacks: Sequence[Expr],
        trip_count: Expr,
    ) -> list[Expr]:
        node, at = self.node, self.at
        first = [at.cotangents[position] for position in self.state]
        first = [zeros(node.spec[k]) if g is None else g for k, g in zip(self.state, first, strict=True)]
        first += [zeros(node.operands[position].spec) for position in self.outside]
        stacks = list(stacks[: len(saved)])
        # What changes by the same in every iteration is computed from its start; the rest of what is known comes as it
        # is.
        outside = [*stacks, *node.operands]
        # The last iteration comes first. Where only the program knows which one it is, turns are counted up, so that
        # the loop has a bound which can be seen.
        number = Spec(types.s64, (), ())
        static = trip_count.primitive is p.constant
        if not static:
            outside.append(trip_count)
        with RecordingTrace():
            counter = parameter(0, "turn", number)
            old = [parameter(0, "cotangent", value.spec) for value in first]
            parameters = [parameter(0, "outside", value.spec) for value in outside]
            buffers, operands = parameters[: len(stacks)], parameters[len(stacks) : len(stacks) + len(node.operands)]
            left = counter if static else parameters[-1] - 1 - counter
            values: dict[Expr, Expr] = {}
            for position, (before, now) in enumerate(zip(self.body.parameters, operands, strict=True)):
                if before in recomputed:
                    step = self.counters.get(position, 0)
                    values[before] = now if not step else now + left * step
            values |= {value: _loaded(buffer, value, left) for value, buffer in zip(saved, buffers, strict=True)}
            values |= dict(zip([*iteration.cotangents, *iteration.totals], old, strict=True))
            after = replayed(iteration.gains, values)
            inside = [counter, *old, *parameters]
            body = graph_of("body", inside, [counter - 1 if static else counter + 1, *after])
            asked = [twin(one) for one in inside]
            condition = graph_of("condition", asked, [self._goes_on(asked, static)])
        start = index(trip_count.params["value"] - 1) if static else index(0)
        results = apply(p.while_, start, *first, *outside, condition=condition, body=body, state=1 + len(first))
        return list(results[1:])

    def _goes_on(self, asked: Sequence[Expr], static: bool) -> Expr:
        if static:
            return apply(p.greater_equal, asked[0], index(0))
        going = apply(p.less, asked[0], asked[-1])
        if self.most is None:
            return going
        return apply(p.logical_and, apply(p.less, asked[0], index(self.most)), going)


def active_operands(node: Expr, flags: Sequence[bool]) -> list[int]:
    """The operands of a loop that change over all iterations where those change that flags say."""
    body, count = node.params["body"], node.params["state"]
    active = {position for position, flag in enumerate(flags) if flag}
    while True:
        through = reached(body.outputs, [body.parameters[position] for position in active])
        more = {position for position in range(count) if body.outputs[position] in through} - active
        if not more:
            return sorted(active)
        active |= more


def twin(old: Expr) -> Expr:
    """A new parameter like an old one; :func:`graph_of` gives it its place."""
    return parameter(0, old.params["name"], old.spec)


def graph_of(name: str, parameters: Sequence[Expr], outputs: Sequence[Expr]) -> Graph:
    """A graph of parameters that are told their places."""
    for position, node in enumerate(parameters):
        node.params["index"] = position
    return Graph(name, list(parameters), list(outputs), list)


def _stored(buffer: Expr, value: Expr, iteration: Expr) -> Expr:
    block = apply(p.reshape, value, shape=(1, *value.shape), names=unnamed((1, *value.shape)))
    return apply(p.put_slice, buffer, block, iteration, *[index(0)] * len(value.shape))


def _loaded(buffer: Expr, like: Expr, iteration: Expr) -> Expr:
    lengths = (1, *like.shape)
    starts = [iteration, *[index(0)] * len(like.shape)]
    block = apply(p.dynamic_slice, buffer, *starts, lengths=lengths, strides=(1,) * len(lengths))
    return apply(p.reshape, block, shape=like.shape, names=like.names)


def _dependent(outputs: Sequence[Expr], roots: set[Expr]) -> set[Expr]:
    """The roots, and all nodes that depend on them."""
    dependent = set(roots)
    for node in post_order(outputs):
        if any(operand in dependent for operand in node.operands):
            dependent.add(node)
    return dependent


def _bytes(nodes: Iterable[Expr]) -> int:
    return sum(shapes.size(node.shape) * node.type.size for node in nodes)


def _unbounded(node: Expr, saved: Sequence[Expr]) -> NxTypeError:
    where = at_line(node.source)
    needed = ", ".join(str(value.spec) for value in list(saved)[:3])
    return NxTypeError(
        message(
            f"the gradient of a loop needs to know at most how many turns it has{where}: every turn leaves values of "
            f"it behind ({needed}).",
            "Bound it by a number that is static, such as `for i in range(1000)` with a `break`, or",
            "`while i < 1000 and …` with i counted up from a number; an option (after `*`) is static too.",
        )
    )
