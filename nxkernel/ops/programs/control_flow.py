"""Structured control flow: loops and branches whose bodies are traced into graphs of their own, over flat values.

What people call, with containers and names, is in :mod:`nxkernel.definitions.tracing.syntax_runtime`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import python_numbers, tracing
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.tracing import BodyTrace, VectorizedValueError
from nxkernel.graph.traverse import post_order
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.primitives import Spec
from nxkernel.types import Type

#: Tensors, traced values and Python numbers; numbers are weak in types.
Leaves = Sequence[Any]


#: In a state: nothing yet. It starts as zeros of the type and shape that the first iteration gives.
UNKNOWN = object()
#: Makes an error: for which part of the state or of the results, and the two specs that disagree.
Disagreement = Callable[[int, Spec, Spec], Exception]


def run_while(
    initial: Leaves,
    condition: Callable[[list[Expr]], Any],
    body: Callable[[list[Expr]], Leaves],
    names: Sequence[str],
    disagreement: Disagreement | None = None,
) -> list[Any]:
    """Record a while loop.

    Parameters
    ----------
    initial : sequence of tensors, traced values and numbers
        The state before the loop. Python numbers take the type and the shape that the first iteration gives them. The
        functions get None for what is :data:`UNKNOWN`.
    condition : callable
        Of the state's nodes; gives a scalar.
    body : callable
        Of the state's nodes; gives the next state. What it writes to cells is state too. It may be called several
        times, until the types of numbers are found.
    names : sequence of str
        What each part of the state is called.
    disagreement : callable, optional
        Makes the error for a part whose type or shape changes.

    Returns
    -------
    list
        The state after the loop.

    Raises
    ------
    NxTypeError
        When a part of the state changes its type or shape, or the condition is no scalar.
    """
    refuse = disagreement or (lambda position, before, after: _changed(names[position], before, after))
    unknown = [value is UNKNOWN for value in initial]
    open_ = [value is UNKNOWN or is_number(value) or tracing.weak(value) for value in initial]
    weak = list(open_)
    initials = [_first(value, name) for value, name in zip(initial, names, strict=True)]
    doubted: set[int] = set()
    while True:
        body_trace = BodyTrace(is_turn=True)
        with body_trace:
            state = [
                None if value is None else _input(body_trace, name, value.spec, is_weak)
                for name, value, is_weak in zip(names, initials, weak, strict=True)
            ]
            body_trace.beginnings = {
                node: value for k, (node, value) in enumerate(zip(state, initials, strict=True)) if k not in doubted
            }
            outputs_after = [value if is_number(value) else operand(value) for value in body(state)]
            more = {
                k
                for k, (node, after) in enumerate(zip(state, outputs_after, strict=True))
                if node in body_trace.relied_on and after is not node and (is_number(after) or tracing.weak(after))
            }
            if more:
                # Where it began says nothing of what it is later.
                doubted |= more
                continue
            wanted = [
                None if before is None else _next_spec(before, node, after) if may_change else before.spec
                for before, node, after, may_change in zip(initials, state, outputs_after, open_, strict=True)
            ]
            weak = [
                was and (is_number(after) or tracing.weak(after))
                for was, after in zip(weak, outputs_after, strict=True)
            ]
            for k, (before, after) in enumerate(zip(initials, outputs_after, strict=True)):
                if before is not None and _becomes_count(before.spec, after):
                    is_unasked = _only_counted(k, *_asked(condition, names, initials, weak))
                    cells = [body_trace.node(body_trace.cells[cell]) for cell in body_trace.written]
                    if is_unasked and _only_counted(k, state, [*outputs_after, *cells]):
                        wanted[k] = before.spec._replace(type=after.type)
            settled = all(before is None or before.spec == spec for before, spec in zip(initials, wanted, strict=True))
            if settled:
                specs = [
                    _spec(after) if value is None else value.spec
                    for value, after in zip(initials, outputs_after, strict=True)
                ]
                after = [_as_before(k, value, specs[k], refuse) for k, value in enumerate(outputs_after)]
                outputs = [body_trace.node(value) for value in after]
                body_trace.inputs = [
                    _input(body_trace, name, spec, is_weak) if node is None else node
                    for node, name, spec, is_weak in zip(state, names, specs, weak, strict=True)
                ]
                break
        # A number is written anew: one that was rounded has lost digits.
        initials = [
            None if value is None else _as_wanted(number if is_number(number) else value, spec)
            for number, value, spec in zip(initial, initials, wanted, strict=True)
        ]
    initials = [
        filled(0, spec.type, spec.shape, spec.names) if value is None else value
        for value, spec in zip(initials, specs, strict=True)
    ]
    ask = BodyTrace()
    with ask:
        ask.inputs = [_input(ask, *each) for each in zip(names, specs, weak, strict=True)]
        state = [None if hidden else node for node, hidden in zip(ask.inputs, unknown, strict=True)]
        answer = ask.node(scalar(condition(state), "the condition of a loop"))
    if ask.written:
        raise NxTypeError("the condition of a loop assigns into an array: do that in the body of the loop")
    written = [cell for cell in body_trace.entered if cell in body_trace.written]
    first = [_without_vectors(value) for value in (*initials, *(tracing.current().read(cell) for cell in written))]
    parts = [
        _TracedPart(ask, [answer]),
        _TracedPart(body_trace, [*outputs, *(body_trace.node(body_trace.cells[cell]) for cell in written)]),
    ]
    (asked, traced_body), outside = _joined(parts, len(initials), written, ["condition", "body"])
    results = apply(p.while_, *first, *outside, condition=asked, body=traced_body, state=len(first)) if first else ()
    for cell, value in zip(written, results[len(initials) :], strict=True):
        tracing.current().write(cell, value)
    _weaken(results, weak)
    return list(results[: len(initials)])


def _first(value: Any, name: str) -> Operand | None:
    """A value of the state before the loop; None for what is unknown."""
    if value is UNKNOWN:
        return None
    return filled(value, python_numbers.infer(value), ()) if is_number(value) else operand(value, name)


def _as_wanted(value: Any, spec: Spec) -> Operand:
    """A number or operand with the type, shape and names that the state is to have."""
    if is_number(value):
        return filled(value, spec.type, spec.shape, spec.names)
    return spread(convert(value, spec.type), spec.shape, spec.names)


def _weaken(results: Sequence[Any], weak: Sequence[bool]) -> None:
    """Mark body results that stand for Python numbers as weak again."""
    trace = tracing.current()
    if trace is not None:
        pairs = zip(results, weak, strict=False)
        trace.weak.update([value for value, is_weak in pairs if is_weak and python_numbers.is_of_numbers(value.type)])


def choose(
    predicate: Any,
    then: Callable[[], Leaves],
    otherwise: Callable[[], Leaves],
    disagreement: Disagreement | None = None,
    pair: Callable[[Any, Any], tuple[Leaves, Leaves]] | None = None,
) -> list[Any]:
    """Record a branch (cond): the results of one of two functions, by a traced scalar.

    Parameters
    ----------
    predicate : scalar tensor
    then, otherwise : callable
        Give as many leaves each. Types are merged and shapes broadcast; numbers are weak in types. A number or object
        that both give stays what it is.
    disagreement : callable, optional
        Makes the error for results whose shapes do not fit.
    pair : callable, optional
        Makes the leaves of both sides out of what the two functions gave, when both have run.

    Returns
    -------
    list
    """
    refuse = disagreement or (lambda position, one, other: _disagree(f"result {position}", one, other))
    predicate = scalar(predicate, "the condition of a choice")
    traces, sides = (BodyTrace(side=True), BodyTrace(side=True)), []
    for trace, function in zip(traces, (then, otherwise), strict=True):
        with trace:
            sides.append(function())
    if pair is not None:
        sides = pair(*sides)
    # What one side made, the other one's trace does not know.
    sides = [
        [(value, type(value) is Expr and trace.stands_for_number(value)) for value in leaves]
        for trace, leaves in zip(traces, sides, strict=True)
    ]
    if len(sides[0]) != len(sides[1]):
        raise NxTypeError(f"the two sides of a choice give {len(sides[0])} and {len(sides[1])} values")
    kept: dict[int, Any] = {}
    for position, ((one, _), (other, _)) in enumerate(zip(*sides, strict=True)):
        if one is other or (is_number(one) and is_number(other) and _same_number(one, other)):
            kept[position] = one
    open_places = [position for position in range(len(sides[0])) if position not in kept]
    specs, weak = [], []
    for position in open_places:
        (one, weak_one), (other, weak_other) = sides[0][position], sides[1][position]
        specs.append(_common(position, one, other, weak_one, weak_other, refuse))
        weak.append(all(w or is_number(value) for value, w in (sides[0][position], sides[1][position])))
    written = list(dict.fromkeys(cell for trace in traces for cell in trace.entered if cell in trace.written))
    parts = []
    for trace, values in zip(traces, sides, strict=True):
        with trace:
            outputs = [
                trace.node(_fitted(values[position][0], spec))
                for position, spec in zip(open_places, specs, strict=True)
            ]
            outputs += [trace.node(trace.read(cell)) for cell in written]
        parts.append(_TracedPart(trace, outputs))
    graphs, outside = _joined(parts, 0, (), ["then", "otherwise"])
    results = apply(p.cond, predicate, *outside, then=graphs[0], otherwise=graphs[1]) if parts[0].outputs else ()
    trace = tracing.current()
    for cell, value in zip(written, results[len(specs) :], strict=True):
        trace.write(cell, value)
    _weaken(results, weak)
    chosen = dict(zip(open_places, results, strict=False))
    return [kept[position] if position in kept else chosen[position] for position in range(len(sides[0]))]


class _TracedPart:
    """A trace of a body, and the outputs of its graph."""

    def __init__(self, trace: BodyTrace, outputs: list[Expr]) -> None:
        self.trace, self.outputs = trace, outputs


def _joined(
    parts: Sequence[_TracedPart], count: int, written: Sequence[Any], names: Sequence[str]
) -> tuple[list[Graph], list[Any]]:
    """Graphs with the same parameters (inputs, mutable cells, captured values), and the captured values."""
    outside: dict[Any, Any] = {}
    tables = []
    for part in parts:
        trace = part.trace
        table: dict[Any, Expr] = dict(enumerate(trace.inputs))
        table |= dict(trace.entered)
        for cell in trace.entered:
            if cell not in written:
                outside.setdefault(cell, tracing.current().read(cell))
        for value, node in zip(trace.captured, trace.lifted, strict=True):
            key = ("value", id(value))
            table[key] = node
            outside.setdefault(key, value)
        tables.append(table)
    graphs = []
    for part, table, name in zip(parts, tables, names, strict=True):
        parameters = []
        for position, key in enumerate([*range(count), *written, *outside]):
            node = table.get(key)
            if node is None:
                like = next(other[key] for other in tables if key in other)
                node = parameter(position, like.params["name"], like.spec)
            node.params["index"] = position
            parameters.append(node)
        graphs.append(Graph(name, parameters, part.outputs, list))
    return graphs, [_without_vectors(operand(value)) for value in outside.values()]


def _without_vectors(value: Operand) -> Operand:
    if value.vectorized_axes:
        raise VectorizedValueError(value.spec)
    return value


def _input(trace: BodyTrace, name: str, spec: Spec, weak: bool) -> Expr:
    node = trace.parameter(name, spec)
    if weak:
        trace.weak.add(node)
    return node


def _spec(value: Any) -> Spec:
    return Spec(python_numbers.infer(value), (), ()) if is_number(value) else value.spec


_OF_NX = (
    "nx.any(t) asks for one that is true, nx.all(t) for all of them.",
    "nx.select(t, a, b) chooses for each element.",
)
_OF_NUMPY = (
    "np.any(x) asks for one that is true, np.all(x) for all of them.",
    "np.where(x, a, b) chooses for each element.",
)


def scalar(value: Any, what: str) -> Operand:
    """A predicate as a scalar boolean; nonzero numbers are true.

    Raises
    ------
    NxTypeError
        For a tensor with axes.
    """
    value = operand(value)
    if value.shape:
        raise NxTypeError(
            message(
                f"{what} is one number, got a tensor of type {value.spec}.",
                *(_OF_NUMPY if types.follows_numpy() else _OF_NX),
            )
        )
    if value.type is types.bool_:
        return value
    zero = filled(0, value.type, ())
    return apply(p.not_equal, value, zero)


def _next_spec(start: Operand, node: Expr, after: Any) -> Spec:
    """The type and shape of a state value that began as a Python number, after one more iteration."""
    before = start.spec
    if is_number(after):
        return Spec(types.merge(before.type, python_numbers.infer(after)), before.shape, before.names)
    type_ = before.type if before.type is after.type else _settled(before.type, after)
    narrower = types.follows_numpy() and type_ is not before.type and python_numbers.is_of_numbers(before.type)
    if narrower and not any(each is node for each in post_order([after])):
        # Without an iteration the number stays what it is; one that an iteration computes with must fit.
        type_ = held_beside(type_, start)
    return Spec(type_, before.shape, before.names) if before.shape else Spec(type_, after.shape, after.names)


def _becomes_count(before: Spec, after: Any) -> bool:
    """Whether a state value begins as a predicate, and an iteration gives its sum with something, by Nx's rules."""
    if types.follows_numpy() or is_number(after) or before.type is not types.bool_:
        return False
    return after.type is types.s64 and after.spec._replace(type=before.type) == before


def _asked(
    condition: Callable[[list[Expr]], Any], names: Sequence[str], initials: Leaves, weak: Sequence[bool]
) -> tuple[list[Any], list[Any]]:
    """A state as the condition of a loop sees it, and what that gives."""
    with BodyTrace() as trace:
        state = [
            None if value is None else _input(trace, name, value.spec, is_weak)
            for name, value, is_weak in zip(names, initials, weak, strict=True)
        ]
        return state, [condition(list(state))]


def _only_counted(position: int, state: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Whether outputs depend on a predicate by its conversions to numbers alone, so that 0 and 1 may stand for it."""
    predicate = state[position]
    for node in post_order([output for output in outputs if isinstance(output, Expr)]):
        places = [place for place, value in enumerate(node.operands) if value is predicate]
        if not places or node.primitive is p.as_type:
            continue
        if node.primitive is not p.cond or places[0] == 0:
            return False
        for side in (node.params["then"], node.params["otherwise"]):
            if not all(_only_counted(place - 1, side.parameters, side.outputs) for place in places):
                return False
    return all(output is not predicate for output in outputs)


def _settled(before: Type, after: Operand) -> Type:
    if tracing.weak(after) or not python_numbers.is_of_numbers(before):
        return types.merge(before, after.type)
    return types.merge_weak(after.type, before)


def _as_before(position: int, value: Any, spec: Spec, refuse: Disagreement) -> Operand:
    """A state value after an iteration, converted to the type and shape that it had before."""
    if is_number(value):
        type_ = types.merge_number(spec.type, value)
        if type_ is spec.type and not spec.shape:
            return filled(value, type_, ())
        raise refuse(position, spec, Spec(types.infer(value), (), ()))
    weak = value.type is not spec.type and tracing.weak(value)
    if weak and held_beside(spec.type, value) is spec.type:
        value = convert(value, spec.type)
    if value.type is not spec.type or value.shape != spec.shape:
        raise refuse(position, spec, value.spec)
    if value.names != spec.names:
        return apply(p.reshape, value, shape=spec.shape, names=spec.names)
    return value


def _common(position: int, one: Any, other: Any, weak_one: bool, weak_other: bool, refuse: Disagreement) -> Spec:
    """The results of both branches at one position, converted to a common type and shape."""
    specs = [_spec(v if is_number(v) else operand(v)) for v in (one, other)]
    weak = [is_number(one) or weak_one, is_number(other) or weak_other]
    if weak[0] is weak[1]:
        type_ = types.merge(specs[0].type, specs[1].type)
    else:
        type_ = held_beside(specs[weak[0]].type, one if weak[0] else other)
    try:
        shape = shapes.broadcast_shapes(specs[0].shape, specs[1].shape)
    except Exception:
        raise refuse(position, *specs) from None
    named = [spec for spec in specs if len(spec.shape) == len(shape)]
    names = named[0].names
    for spec in named[1:]:
        names = shapes.merge_names(names, spec.names)
    return Spec(type_, shape, names)


def held_beside(type_: Type, number: Any) -> Type:
    """The type of a value that is either of this type or a Python number.

    Parameters
    ----------
    type_ : type
    number : int, float, complex or traced value
        One that stands for a Python number.
    """
    result = types.merge_weak(type_, types.infer(number) if is_number(number) else number.type)
    if not types.follows_numpy() or not result.is_integer or result in (types.bool_, types.s64, types.u64):
        return result
    known, low_high = number if is_number(number) else _beginning(number), types.limits(result)
    return result if known is not None and low_high[0] <= known <= low_high[1] else types.s64


def _beginning(number: Operand) -> Any:
    """The value of a constant, or of a loop's number in its first iteration."""
    trace = tracing.current()
    while trace is not None:
        if isinstance(trace, BodyTrace) and number in trace.beginnings:
            trace.relied_on.add(number)
            number = trace.beginnings[number]
        trace = trace.previous
    is_constant = type(number) is Expr and number.primitive is p.constant
    return number.params["value"] if is_constant else None


def _fitted(value: Any, spec: Spec) -> Operand:
    if is_number(value):
        return filled(value, spec.type, spec.shape, spec.names)
    value = spread(convert(operand(value), spec.type), spec.shape, spec.names)
    if value.names != spec.names:
        return apply(p.reshape, value, shape=spec.shape, names=spec.names)
    return value


def _same_number(one: Any, other: Any) -> bool:
    return type(one) is type(other) and repr(one) == repr(other)


def _changed(name: str, before: Spec, after: Spec) -> Exception:
    return NxTypeError(
        message(
            f"a loop keeps the type and shape of {name!r}, which was {before} and is {after} after one turn.",
            f"Convert it before the loop or in it, such as nx.as_type({name}, {str(before.type)!r}).",
        )
    )


def _disagree(name: str, one: Spec, other: Spec) -> Exception:
    return NxTypeError(f"the two sides of a choice disagree about {name}: {one} and {other}")
