"""Graph verifier: types and shapes by the primitives' rules, legal parameters, matching bodies.

What a pass breaks is found behind that pass, and not as a wrong number, or a crash, at the end of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.errors import NxError, VerificationError
from nxkernel.graph.expr import Expr, Graph, at_line
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Primitive, Spec

#: What is checked, what was expected, and what is there.
Problem = tuple[str, str, str]
#: Gives the problems of one node.
Check = Callable[[Expr], Iterator[Problem]]

#: Element-wise primitives whose operands may differ in type.
_MIXED = frozenset([p.select, p.njit, p.after, p.logical_and, p.logical_or, p.logical_xor])
#: Parameters by position and not by name; the rules of leaves and of bodies say nothing of operands.
_BODIES = {p.while_: ("condition", "body"), p.cond: ("then", "otherwise")}


def verify(graph: Graph, after: str, without: Collection[str] = ()) -> None:
    """Raise an error for a malformed graph, including the bodies of its loops and branches.

    Parameters
    ----------
    graph : Graph
    after : str
        The pass that made it, which the error names.
    without : collection of str, optional
        Names of the primitives that must not be in it any more.

    Raises
    ------
    VerificationError
        At the first thing that is wrong; it says where, what was expected, and what is there.
    """
    for subject, expected, actual in problems(graph, without):
        raise VerificationError(after, subject, expected, actual)


def verify_outputs(outputs: Sequence[Expr], after: str, without: Collection[str] = ()) -> None:
    """As :func:`verify`, for the nodes that outputs depend on; parameters are not checked.

    What is in bodies of loops and branches may still have primitives that are gone elsewhere: they are rewritten later.
    """
    for subject, expected, actual in _nodes(outputs, None, without, ()):
        raise VerificationError(after, subject, expected, actual)


def problems(graph: Graph, without: Collection[str] = ()) -> Iterator[Problem]:
    """What is wrong with a graph: triples of subject, expected and actual."""
    for index, node in enumerate(graph.parameters):
        if node.primitive is not p.parameter:
            yield f"parameter {index} of {graph.name}", "a parameter", named(node)
        elif node.params["index"] != index:
            yield f"parameter {index} of {graph.name}", f"index {index}", f"index {node.params['index']}"
    yield from _nodes(graph.outputs, graph.parameters, without, without)
    for index, output in graph.updates:
        if not (0 <= index < len(graph.parameters) and 0 <= output < len(graph.outputs)):
            counts = f"{len(graph.parameters)} parameters and {len(graph.outputs)} outputs"
            yield f"the updates of {graph.name}", f"places among {counts}", f"({index}, {output})"
            continue
        parameter_spec, output_spec = graph.parameters[index].spec, graph.outputs[output].spec
        if output_spec[:2] != parameter_spec[:2]:
            yield (
                f"output {output} of {graph.name}, which is put into parameter {index}",
                f"{parameter_spec}",
                f"{output_spec}",
            )


def named(node: Expr) -> str:
    """A node as errors show it: primitive, operand types and shapes, user line."""
    if node.primitive is p.parameter:
        return f"parameter {node.params['index']} ({node.params['name']}) {_spec_text(node.spec)}"
    operands = " and ".join(_spec_text(operand.spec) for operand in node.operands)
    return f"{node.primitive.name}{f' of {operands}' if operands else ''}{at_line(node.source)}"


def _spec_text(spec: Any) -> str:
    if isinstance(spec, Spec):
        return str(spec) if len(spec.names) == len(spec.shape) else f"{spec.type}{list(spec.shape)}"
    return f"({', '.join(map(_spec_text, spec))})" if isinstance(spec, tuple) else repr(spec)


def _nodes(
    outputs: Sequence[Expr], parameters: Sequence[Expr] | None, without: Collection[str], inside: Collection[str]
) -> Iterator[Problem]:
    order = post_order(outputs)
    order_of = {id(node): number for number, node in enumerate(order)}
    mine = None if parameters is None else {id(node) for node in parameters}
    for number, node in enumerate(order):
        if node.primitive.name in without:
            yield named(node), f"no {node.primitive.name} any more", "one"
        for operand in node.operands:
            if order_of[id(operand)] >= number:
                yield named(node), "operands that come before it", "that it is computed from itself"
                return
        if node.primitive is p.parameter and mine is not None and id(node) not in mine:
            yield named(node), "one of the graph's parameters", "a parameter of another graph"
        yield from _node(node)
        for name in _BODIES.get(node.primitive, ()):
            yield from problems(node.params[name], inside)
    for order_of, output in enumerate(outputs):
        if not isinstance(output.spec, Spec):
            yield f"output {order_of}, {named(output)}", "one value", f"{len(output.spec)} values"


def _node(node: Expr) -> Iterator[Problem]:
    primitive = node.primitive
    checked = list(_CHECKS[primitive](node)) if primitive in _CHECKS else []
    if primitive.family == "elementwise":
        checked += _elementwise(node)
    elif primitive.family == "reduction":
        checked += _reduction(node)
    yield from checked
    # The rule may rely on what the checks ask for.
    if not checked and not any(isinstance(operand.spec, tuple) and None in operand.spec for operand in node.operands):
        yield from _by_rule(node)


def _by_rule(node: Expr) -> Iterator[Problem]:
    """Check that a node's type and shape follow from its primitive's rule."""
    try:
        spec = node.primitive.rule(*[operand.spec for operand in node.operands], **node.params)
    except (NxError, TypeError, KeyError, IndexError, ValueError) as error:
        what = str(error).partition("\n")[0]
        yield named(node), "operands and parameters that its rule takes", f"{type(error).__name__}: {what}"
        return
    if not _alike(spec, node.spec):
        yield named(node), f"{_spec_text(spec)} by its rule", _spec_text(node.spec)


def _alike(one: Any, other: Any) -> bool:
    """Whether two specs, or tuples of them, have equal types and shapes and one name per axis."""
    if isinstance(one, Spec) != isinstance(other, Spec):
        return False
    if not isinstance(one, Spec):
        return len(one) == len(other) and all(map(_alike, one, other))
    return one.type is other.type and one.shape == other.shape and len(other.names) == len(other.shape)


# What rules take for granted -------------------------------------------------------------------------------------


def _elementwise(node: Expr) -> Iterator[Problem]:
    values = node.operands[:1] if node.primitive is p.after else node.operands
    for operand in values:
        if operand.shape != node.shape:
            yield named(node), f"operands of shape {shapes.text(node.shape)}", shapes.text(operand.shape)
            return
    if node.primitive not in _MIXED and len({operand.type for operand in values}) > 1:
        yield named(node), "operands of one type", " and ".join(operand.type for operand in values)


def _reduction(node: Expr) -> Iterator[Problem]:
    rank = len(node.operands[0].shape)
    axes = node.params["axes"] if "axes" in node.params else (node.params["axis"],)
    if len(set(axes)) != len(axes) or not all(0 <= axis < rank for axis in axes):
        yield named(node), f"different axes below {rank}", f"axes {list(axes)}"


def _parameter(node: Expr) -> Iterator[Problem]:
    if node.params["spec"][:2] != node.spec[:2]:
        yield named(node), _spec_text(node.params["spec"]), _spec_text(node.spec)


def _constant(node: Expr) -> Iterator[Problem]:
    value = node.params["value"]
    if not isinstance(value, bool | int | float | complex):
        yield named(node), "a Python number", f"{type(value).__name__} {value!r}"
    yield from _parameter(node)


def _iota(node: Expr) -> Iterator[Problem]:
    axis = node.params["axis"]
    if axis is not None and not 0 <= axis < len(node.shape):
        yield named(node), f"an axis below {len(node.shape)}", f"axis {axis}"


def _select(node: Expr) -> Iterator[Problem]:
    _, then, otherwise = node.operands
    if then.type is not otherwise.type:
        yield named(node), "values of one type", f"{then.type} and {otherwise.type}"


def _reshape(node: Expr) -> Iterator[Problem]:
    (operand,) = node.operands
    if shapes.size(operand.shape) != shapes.size(node.shape):
        yield named(node), f"{shapes.size(operand.shape)} elements", f"{shapes.size(node.shape)} elements"


def _broadcast(node: Expr) -> Iterator[Problem]:
    axes, rank = node.params["axes"], len(node.params["shape"])
    count = len(node.operands[0].shape)
    if not len(axes) == len(set(axes)) == count or not all(0 <= axis < rank for axis in axes):
        yield named(node), f"{count} different axes below {rank}", f"axes {list(axes)}"


def _transpose(node: Expr) -> Iterator[Problem]:
    axes = node.params["axes"]
    if sorted(axes) != list(range(len(node.operands[0].shape))):
        yield named(node), "each axis once", f"axes {list(axes)}"


def _slice(node: Expr) -> Iterator[Problem]:
    params, operand = node.params, node.operands[0]
    for axis, (size, start, length, stride) in enumerate(
        zip(operand.shape, params["starts"], params["lengths"], params["strides"], strict=True)
    ):
        count = shapes.ceil_div(length, abs(stride))
        last = start + (count - 1) * stride
        if count and not (0 <= start < size and 0 <= last < size):
            yield named(node), f"elements of axis {axis}, of size {size}", f"those from {start} to {last}"


def _starts(first: int) -> Check:
    """A check that scalar integers follow the first operands, one for each axis."""

    def check(node: Expr) -> Iterator[Problem]:
        starts, rank = node.operands[first:], len(node.operands[0].shape)
        if len(starts) != rank:
            yield named(node), f"{rank} starts", f"{len(starts)}"
        for start in starts:
            if start.shape != () or not start.type.is_integer:
                yield named(node), "starts that are single whole numbers", _spec_text(start.spec)
        if first == 2:
            target, part = node.operands[:2]
            if part.type is not target.type or len(part.shape) != rank:
                yield named(node), f"a part of type {target.type} and rank {rank}", _spec_text(part.spec)

    return check


def _concatenate(node: Expr) -> Iterator[Problem]:
    axis, first = node.params["axis"], node.operands[0]
    for other in node.operands[1:]:
        same = [n for a, n in enumerate(first.shape) if a != axis] == [
            n for a, n in enumerate(other.shape) if a != axis
        ]
        if not same or other.type is not first.type or len(other.shape) != len(first.shape):
            yield named(node), f"{_spec_text(first.spec)} but for axis {axis}", _spec_text(other.spec)


def _pad(node: Expr) -> Iterator[Problem]:
    operand, value = node.operands
    if value.shape != () or value.type is not operand.type:
        yield named(node), f"a single number of type {operand.type} beside it", _spec_text(value.spec)


def _contraction(node: Expr) -> Iterator[Problem]:
    left, right = node.operands
    if left.type is not right.type:
        yield named(node), "operands of one type", f"{left.type} and {right.type}"


def _indices(first: int) -> Check:
    """A check that index operands of one shape follow the first operands, one for each indexed axis."""

    def check(node: Expr) -> Iterator[Problem]:
        indices, axes, rank = node.operands[first:], node.params["axes"], len(node.operands[0].shape)
        if len(set(axes)) != len(axes) or not all(0 <= axis < rank for axis in axes):
            yield named(node), f"different axes below {rank}", f"axes {list(axes)}"
        if len(indices) != len(axes):
            yield named(node), f"{len(axes)} operands of indices", f"{len(indices)}"
        for index in indices:
            if index.shape != indices[0].shape or not index.type.is_integer:
                yield named(node), f"whole numbers of shape {shapes.text(indices[0].shape)}", _spec_text(index.spec)
        if first == 2 and node.operands[1].type is not node.type:
            yield named(node), f"updates of type {node.type}", str(node.operands[1].type)

    return check


def _elem(node: Expr) -> Iterator[Problem]:
    spec, index = node.operands[0].spec, node.params["index"]
    if isinstance(spec, Spec):
        yield named(node), "an operand that has several results", _spec_text(spec)
    elif not 0 <= index < len(spec):
        yield named(node), f"a result below {len(spec)}", f"result {index}"


def _can_be(parameter: Any, spec: Any) -> bool:
    """Whether a parameter accepts a value."""
    return parameter[:2] == spec[:2]


def _body(node: Expr, name: str, operands: Sequence[Expr]) -> Iterator[Problem]:
    """Check a body's parameters against the operands."""
    body = node.params[name]
    if len(body.parameters) != len(operands):
        yield f"the {name} of {named(node)}", f"{len(operands)} parameters", f"{len(body.parameters)}"
        return
    for index, (parameter, operand) in enumerate(zip(body.parameters, operands, strict=True)):
        if not _can_be(parameter.spec, operand.spec):
            where = f"parameter {index} of the {name} of {named(node)}"
            yield where, _spec_text(operand.spec), _spec_text(parameter.spec)


def _results(node: Expr, name: str, wanted: Sequence[Spec]) -> Iterator[Problem]:
    """Check a body's results."""
    outputs = node.params[name].outputs
    if len(outputs) != len(wanted):
        yield f"the {name} of {named(node)}", f"{len(wanted)} outputs", f"{len(outputs)}"
        return
    for index, (output, spec) in enumerate(zip(outputs, wanted, strict=True)):
        if output.spec[:2] != spec[:2]:
            yield f"output {index} of the {name} of {named(node)}", _spec_text(spec), _spec_text(output.spec)


def _while(node: Expr) -> Iterator[Problem]:
    state = node.params["state"]
    if not 0 <= state <= len(node.operands):
        yield named(node), f"a state of at most {len(node.operands)} parts", f"{state}"
        return
    yield from _body(node, "condition", node.operands)
    yield from _body(node, "body", node.operands)
    yield from _results(node, "body", [operand.spec for operand in node.operands[:state]])
    yield from _single(node, "condition", node.params["condition"].outputs)


def _cond(node: Expr) -> Iterator[Problem]:
    yield from _single(node, "predicate", node.operands[:1])
    for name in ("then", "otherwise"):
        yield from _body(node, name, node.operands[1:])
    yield from _results(node, "otherwise", [output.spec for output in node.params["then"].outputs])


def _single(node: Expr, name: str, values: Sequence[Expr]) -> Iterator[Problem]:
    if len(values) != 1 or shapes.size(values[0].shape) != 1:
        specs = " and ".join(_spec_text(value.spec) for value in values) or "nothing"
        yield f"the {name} of {named(node)}", "a single number", specs


_CHECKS: Mapping[Primitive, Check] = {
    p.parameter: _parameter, p.constant: _constant, p.iota: _iota, p.select: _select, p.reshape: _reshape,
    p.broadcast: _broadcast, p.transpose: _transpose, p.slice_: _slice, p.dynamic_slice: _starts(1),
    p.concatenate: _concatenate, p.pad: _pad, p.dot: _contraction, p.conv: _contraction, p.gather: _indices(1),
    p.scatter: _indices(2), p.put_slice: _starts(2), p.put_strided: _starts(2), p.elem: _elem, p.while_: _while,
    p.cond: _cond,
}  # fmt: skip
