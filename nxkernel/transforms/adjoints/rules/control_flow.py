"""Gradients of loops and branches: a loop runs backwards over the values that its iterations saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, Graph, at_line, parameter
from nxkernel.graph.intervals import turn_step
from nxkernel.graph.traverse import post_order, replayed
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints import trip_counts
from nxkernel.transforms.adjoints.backward_pass import pullback, reached
from nxkernel.transforms.adjoints.rule_table import AdjointSite, Gain, index, rule, tangent_spec, zeros
from nxkernel.transforms.recording_trace import Recorder


@rule(p.cond)
def _cond(at: AdjointSite) -> list[Gain]:
    predicate, *operands = at.node.operands
    wanted = [place for place, flag in enumerate(at.wanted[1:]) if flag]
    have = [place for place, cotangent in enumerate(at.cotangents) if cotangent is not None]
    graphs, known = [], trip_counts.chosen(at.node, at.known)
    for name in ("then", "otherwise"):
        side = at.params[name]
        with Recorder():
            given = [
                parameter(len(side.parameters) + k, "cotangent", at.cotangents[place].spec)
                for k, place in enumerate(have)
            ]
            outputs = [side.outputs[place] for place in have]
            inputs = [side.parameters[place] for place in wanted]
            gains, replacing = pullback(outputs, given, inputs, known=known)
            gains = replayed(gains, {}, replacing)
        graphs.append(Graph(name, [*side.parameters, *given], gains, list))
    more = [at.cotangents[place] for place in have]
    found = apply(p.cond, predicate, *operands, *more, then=graphs[0], otherwise=graphs[1])
    made: list[Gain] = [None] * len(at.node.operands)
    for place, gain in zip(wanted, found, strict=True):
        made[1 + place] = gain
    return made


@rule(p.while_)
def _while(at: AdjointSite) -> list[Gain]:
    return _Backwards(at).gains()


#: What costs more to compute again than to read, and how many times as many bytes may be kept for that.
_COSTLY = frozenset(["contraction", "library", "control", "sorting", "cumulative"])
_WORTH_KEEPING = 8


@dataclass
class _Turn:
    """The gradient of one iteration.

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


class _Backwards:
    def __init__(self, at: AdjointSite) -> None:
        self.at, self.node = at, at.node
        self.body, self.count = at.params["body"], at.params["state"]
        self.most = trip_counts.most(at.node, at.known)
        self.active = self._active()
        self.state = [place for place in self.active if place < self.count]
        self.outside = [place for place in self.active if place >= self.count]
        self.counters = {
            place: step
            for place in range(self.count)
            if (step := turn_step(self.body, place)) is not None and self.node.operands[place].type is types.s64
        }

    def _active(self) -> list[int]:
        """The operands through which the loss can change what the loop gives, from turn to turn."""
        found = {place for place, flag in enumerate(self.at.wanted) if flag}
        while True:
            through = reached(self.body.outputs, [self.body.parameters[place] for place in found])
            more = {place for place in range(self.count) if self.body.outputs[place] in through} - found
            if not more:
                return sorted(found)
            found |= more

    def gains(self) -> list[Gain]:
        """What the operands of the loop gain."""
        made: list[Gain] = [None] * len(self.node.operands)
        if self.most == 0:
            for place in self.state:
                made[place] = self.at.cotangents[place]
            return made
        turn = self._turn()
        kept, known = self._kept(turn)
        results = self._forward(turn, kept)
        turns = trip_counts.total(self.node, results, self.at.known)
        for place, gain in zip(self.active, self._back(turn, kept, known, results[self.count :], turns), strict=True):
            made[place] = gain if self.at.wanted[place] else None
        return made

    def _turn(self) -> _Turn:
        body = self.body
        with Recorder():
            specs = [tangent_spec(body.parameters[place].spec) for place in self.active]
            given = [parameter(0, "cotangent", spec) for spec in specs]
            cotangents, totals = given[: len(self.state)], given[len(self.state) :]
            outputs = [body.outputs[place] for place in self.state]
            inputs = [body.parameters[place] for place in self.active]
            known = trip_counts.inside(self.node, self.at.known)
            gains, replacing = pullback(outputs, cotangents, inputs, [*[None] * len(self.state), *totals], known)
            together = replayed([*gains, *body.outputs], {}, replacing)
            return _Turn(cotangents, totals, together[: len(gains)], together[len(gains) :])

    # What an iteration leaves behind
    # -----------------------------------------------------------------------------------

    def _kept(self, turn: _Turn) -> tuple[list[Expr], set[Expr]]:
        """The values of an iteration that going back needs and cannot make: those, or what makes them, whatever is
        less.
        """
        own = set(turn.cotangents) | set(turn.totals)
        behind = _dependent(turn.gains, own)
        known = {self.body.parameters[place] for place in range(len(self.node.operands)) if self._is_known(place)}
        moving = _dependent(turn.gains, {parameter_ for parameter_ in self.body.parameters if parameter_ not in known})
        border: dict[Expr, None] = {}
        for node in post_order(turn.gains):
            for operand in node.operands if node in behind else ():
                if operand not in behind and operand in moving:
                    border[operand] = None
        for gain in turn.gains:
            if gain not in behind and gain in moving:
                border[gain] = None
        first = [node for node in post_order(list(border)) if node.primitive is p.parameter and node in moving]
        # A loop or a branch has several results, which are kept one by one.
        whole = any(type(node.spec) is tuple for node in border)
        costly = any(node.primitive.family in _COSTLY and node in moving for node in post_order(list(border)))
        most = _bytes(first) * (_WORTH_KEEPING if costly else 1)
        return (first if whole or most <= _bytes(border) else list(border)), known

    def _is_known(self, place: int) -> bool:
        """Whether a parameter is the same in every iteration, or counts."""
        return place >= self.count or place in self.counters or self.body.outputs[place] is self.body.parameters[place]

    def _forward(self, turn: _Turn, kept: Sequence[Expr]) -> list[Expr]:
        """The results of the loop, and for each kept value those of all iterations."""
        node, count = self.node, self.count
        if not kept and (trip_counts.exactly(node, self.at.known) is not None or trip_counts.counter(node) is not None):
            return [self.at.part(place) for place in range(count)]
        if kept and self.most is None:
            raise _unbounded(node, kept)
        state, outside = list(node.operands[:count]), node.operands[count:]
        stacks = [filled(0, value.type, (self.most, *value.shape)) for value in kept]
        zero = index(0)
        with Recorder():
            graphs = []
            for graph in (self.at.params["condition"], self.body):
                new = [_twin(old) for old in graph.parameters]
                rooms = [parameter(0, "kept", stack.spec) for stack in stacks]
                number = parameter(0, "turn", Spec(types.s64, (), ()))
                given = dict(zip(graph.parameters, new, strict=True))
                inside = [*new[:count], *rooms, number, *new[count:]]
                if graph is self.body:
                    made = replayed([*turn.outputs, *kept], given)
                    values = made[count:]
                    outputs = [*made[:count], *(_put(r, v, number) for r, v in zip(rooms, values, strict=True))]
                    outputs.append(number + 1)
                else:
                    outputs = replayed(graph.outputs, given)
                graphs.append(_graph(graph.name, inside, outputs))
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
        self, turn: _Turn, kept: Sequence[Expr], known: set[Expr], stacks: Sequence[Expr], turns: Expr
    ) -> list[Expr]:
        node, at = self.node, self.at
        first = [at.cotangents[place] for place in self.state]
        first = [zeros(node.spec[k]) if g is None else g for k, g in zip(self.state, first, strict=True)]
        first += [zeros(node.operands[place].spec) for place in self.outside]
        stacks = list(stacks[: len(kept)])
        # What changes by the same in every iteration is computed from its start; the rest of what is known comes as it
        # is.
        outside = [*stacks, *node.operands]
        # The last iteration comes first. Where only the program knows which one it is, turns are counted up, so that
        # the loop has a bound which can be seen.
        number = Spec(types.s64, (), ())
        static = turns.primitive is p.constant
        if not static:
            outside.append(turns)
        with Recorder():
            counter = parameter(0, "turn", number)
            old = [parameter(0, "cotangent", value.spec) for value in first]
            given = [parameter(0, "outside", value.spec) for value in outside]
            rooms, operands = given[: len(stacks)], given[len(stacks) : len(stacks) + len(node.operands)]
            left = counter if static else given[-1] - 1 - counter
            values: dict[Expr, Expr] = {}
            for place, (before, now) in enumerate(zip(self.body.parameters, operands, strict=True)):
                if before in known:
                    step = self.counters.get(place, 0)
                    values[before] = now if not step else now + left * step
            values |= {value: _taken(room, value, left) for value, room in zip(kept, rooms, strict=True)}
            values |= dict(zip([*turn.cotangents, *turn.totals], old, strict=True))
            after = replayed(turn.gains, values)
            inside = [counter, *old, *given]
            body = _graph("body", inside, [counter - 1 if static else counter + 1, *after])
            asked = [_twin(one) for one in inside]
            condition = _graph("condition", asked, [self._goes_on(asked, static)])
        start = index(turns.params["value"] - 1) if static else index(0)
        results = apply(p.while_, start, *first, *outside, condition=condition, body=body, state=1 + len(first))
        return list(results[1:])

    def _goes_on(self, asked: Sequence[Expr], static: bool) -> Expr:
        if static:
            return apply(p.greater_equal, asked[0], index(0))
        going = apply(p.less, asked[0], asked[-1])
        if self.most is None:
            return going
        return apply(p.logical_and, apply(p.less, asked[0], index(self.most)), going)


def _twin(old: Expr) -> Expr:
    return parameter(0, old.params["name"], old.spec)


def _graph(name: str, parameters: Sequence[Expr], outputs: Sequence[Expr]) -> Graph:
    for place, node in enumerate(parameters):
        node.params["index"] = place
    return Graph(name, list(parameters), list(outputs), list)


def _put(room: Expr, value: Expr, turn: Expr) -> Expr:
    block = apply(p.reshape, value, shape=(1, *value.shape), names=unnamed((1, *value.shape)))
    return apply(p.put_slice, room, block, turn, *[index(0)] * len(value.shape))


def _taken(room: Expr, like: Expr, turn: Expr) -> Expr:
    lengths = (1, *like.shape)
    starts = [turn, *[index(0)] * len(like.shape)]
    block = apply(p.dynamic_slice, room, *starts, lengths=lengths, strides=(1,) * len(lengths))
    return apply(p.reshape, block, shape=like.shape, names=like.names)


def _dependent(outputs: Sequence[Expr], roots: set[Expr]) -> set[Expr]:
    """The nodes that depend on roots, and those."""
    found = set(roots)
    for node in post_order(outputs):
        if any(operand in found for operand in node.operands):
            found.add(node)
    return found


def _bytes(nodes: Iterable[Expr]) -> int:
    return sum(shapes.size(node.shape) * node.type.size for node in nodes)


def _unbounded(node: Expr, kept: Sequence[Expr]) -> NxTypeError:
    where = at_line(node.source)
    needed = ", ".join(str(value.spec) for value in list(kept)[:3])
    return NxTypeError(
        message(
            f"the gradient of a loop needs to know at most how many turns it has{where}: every turn leaves values of "
            f"it behind ({needed}).",
            "Bound it by a number that is static, such as `for i in range(1000)` with a `break`, or",
            "`while i < 1000 and …` with i counted up from a number; an option (after `*`) is static too.",
        )
    )
