"""Simplification: constant folding, common subexpression elimination, and algebra that leaves results bit for bit.

Rules look at one node whose operands are simplified already. None of them changes what a program computes on finite
numbers, NaN or infinities; ``x * 0`` therefore stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.graph.expr import Expr, Graph, constant
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Primitive
from nxkernel.transforms import simplify_loop_state

Rule = Callable[[Expr], "Expr | None"]
_RULES: dict[Primitive, list[Rule]] = {}
#: What becomes of the results of loops and branches.
_CARRIED = {p.while_: simplify_loop_state.loop, p.cond: simplify_loop_state.branch}


def simplify(graph: Graph) -> Graph:
    """An equivalent graph with fewer nodes and the same parameters, used or not."""
    outputs = simplify_nodes(graph.outputs)
    return Graph(graph.name, graph.parameters, outputs, graph.rebuild, graph.updates)


def simplify_nodes(outputs: Sequence[Expr]) -> list[Expr]:
    """Equivalent nodes for `outputs`, with common subexpressions shared."""
    return Simplification().outputs(outputs)


class Simplification:
    """One run of simplification: it visits the bodies of loops and branches once and maps old nodes to new ones."""

    def __init__(self) -> None:
        self._graphs: dict[int, tuple[Graph, Graph]] = {}
        self._images: dict[int, tuple[Expr, Expr]] = {}

    def image(self, node: Expr) -> Expr:
        """The simplified form of a node of the given outputs or of a body; the node itself if it was not changed."""
        while id(node) in self._images:
            node = self._images[id(node)][1]
        return node

    def outputs(self, outputs: Sequence[Expr], replacements: Mapping[int, Expr] | None = None) -> list[Expr]:
        """The simplified outputs, with replacements given for some nodes by identity."""
        new: dict[int, Expr] = dict(replacements or {})
        seen: dict[Any, Any] = {}
        # The results of loops and branches: those that are asked for, and what they become.
        asked: dict[int, set[int]] = {}
        parts: dict[int, dict[int, Expr]] = {}
        order = post_order(outputs)
        for node in order:
            if node.primitive is p.elem:
                asked.setdefault(id(node.operands[0]), set()).add(node.params["index"])
        for node in order:
            if id(node) not in new:
                if node.primitive is p.elem and id(node.operands[0]) in parts:
                    new[id(node)] = parts[id(node.operands[0])][node.params["index"]]
                else:
                    simplified = self._simplified(node, [new[id(operand)] for operand in node.operands], seen, asked)
                    if type(simplified) is dict:
                        parts[id(node)] = simplified
                        sources = [part.operands[0] for part in simplified.values() if part.primitive is p.elem]
                        simplified = next((source for source in sources if source.source is node.source), node)
                    new[id(node)] = simplified
            if new[id(node)] is node:
                self._images.pop(id(node), None)
            else:
                self._images[id(node)] = node, new[id(node)]
        return [new[id(output)] for output in outputs]

    def _simplified(
        self, node: Expr, operands: list[Expr], seen: dict[Any, Any], asked: Mapping[int, set[int]]
    ) -> Expr | dict[int, Expr]:
        """The simplified form of a node, or of those results of a loop or branch that are used."""
        wanted = asked.get(id(node), set())
        if node.primitive not in p.WITH_DERIVATIVES and any(type(value) is Graph for value in node.params.values()):
            params = {key: self._graph(v) if type(v) is Graph else v for key, v in node.params.items()}
            node = Expr(node.primitive, tuple(operands), params, node.spec, node.source)
        elif any(a is not b for a, b in zip(operands, node.operands, strict=True)):
            node = Expr(node.primitive, tuple(operands), node.params, node.spec, node.source)
        key = _key(node)
        simplified = seen.get(key)
        if node.primitive in _CARRIED:
            if simplified is None or not wanted <= simplified.keys():
                simplified = seen[key] = _CARRIED[node.primitive](node, wanted, self.outputs)
        elif simplified is None:
            simplified = _rewrite(node)
            simplified = seen[key] = seen.setdefault(_key(simplified), simplified)
        return simplified

    def _graph(self, graph: Graph) -> Graph:
        """The simplified graph of a loop's or branch's body, with the same parameters."""
        if id(graph) not in self._graphs:
            simplified = Graph(graph.name, graph.parameters, self.outputs(graph.outputs), graph.rebuild, graph.updates)
            self._graphs[id(graph)], self._graphs[id(simplified)] = (graph, simplified), (simplified, simplified)
        return self._graphs[id(graph)][1]


def _key(node: Expr) -> Any:
    if node.primitive is p.parameter:
        return id(node)
    if node.primitive is p.constant:
        value = node.params["value"]
        # 0.0 and -0.0 are equal in Python, 1 and 1.0 and True too; NaN is not even equal to itself.
        return (p.constant, type(value), repr(value), node.spec)
    params = node.params
    if type(node.spec) is tuple:
        return (node.primitive, *map(id, node.operands), *params.values())
    return (node.primitive, *map(id, node.operands), *params.values(), node.spec.names if params else node.spec)


def _rewrite(node: Expr) -> Expr:
    rules = _RULES.get(node.primitive)
    if rules:
        for rule in rules:
            rewritten = rule(node)
            if rewritten is not None:
                if rewritten.spec != node.spec:
                    continue
                return rewritten
    folded = _fold(node)
    return node if folded is None else folded


def _rule(*where: Primitive) -> Callable[[Rule], Rule]:
    def add(rule: Rule) -> Rule:
        for primitive in where:
            _RULES.setdefault(primitive, []).append(rule)
        return rule

    return add


def _number(node: Expr) -> Any:
    """The number that a node has in every element, or None."""
    return node.params["value"] if node.primitive is p.constant else None


def _is(node: Expr, number: float) -> bool:
    """Whether a node is exactly this number in every element; negative zero differs from zero."""
    value = _number(node)
    return value is not None and value == number and not (value == 0 and math.copysign(1.0, _real(value)) < 0)


def _real(value: Any) -> float:
    return value.real if isinstance(value, complex) else float(value)


def _fold(node: Expr) -> Expr | None:
    """Fold an element-wise primitive of constants into a constant."""
    if node.primitive.family != "elementwise" or not node.operands or node.primitive is p.njit:
        # A function of the user's may raise an error, which belongs to a run.
        return None
    numbers = []
    for operand in node.operands:
        if operand.primitive is not p.constant:
            return None
        numbers.append(cast_number(operand.params["value"], operand.type))
    value = MEANING[node.primitive](node.spec._replace(shape=(), names=()), *numbers, **node.params)
    item = value.item() if value.dtype.kind in "biufc" else float(value)
    return constant(item, node.type, node.shape, node.names)


@_rule(p.add)
def _add_zero(node: Expr) -> Expr | None:
    left, right = node.operands
    # x + 0.0 turns -0.0 into 0.0, so for floats only the addition of -0.0 is nothing; integers have one zero.
    if node.type.is_integer:
        if _is(right, 0):
            return left
        if _is(left, 0):
            return right
        if right.primitive is p.multiply and _is(right.operands[1], -1):
            # Places in a loop that goes back, whose counter is counted from the end.
            return _subtracted(Expr(p.subtract, (left, right.operands[0]), {}, node.spec, node.source))
    return None


@_rule(p.subtract)
def _subtract_zero(node: Expr) -> Expr | None:
    return node.operands[0] if _is(node.operands[1], 0) else None


@_rule(p.subtract)
def _subtract_twice(node: Expr) -> Expr | None:
    rewritten = _subtracted(node) if node.type.is_integer else node
    return rewritten if rewritten is not node else None


def _subtracted(node: Expr) -> Expr:
    """``x - (x - y)`` simplified to ``y`` for integers, which wrap around."""
    left, right = node.operands
    return right.operands[1] if right.primitive is p.subtract and right.operands[0] is left else node


@_rule(p.multiply)
def _multiply_one(node: Expr) -> Expr | None:
    left, right = node.operands
    if node.type.is_complex:
        # The number's imaginary part takes part: inf times 1+0j is inf+nanj.
        return None
    if _is(right, 1):
        return left
    return right if _is(left, 1) else None


@_rule(p.divide)
def _divide(node: Expr) -> Expr | None:
    left, right = node.operands
    if _is(right, 1) and not node.type.is_complex:
        return left
    number = _number(right)
    if isinstance(number, float) and number != 0 and math.isfinite(number) and node.type in (types.f32, types.f64):
        mantissa, exponent = math.frexp(number)
        # Dividing by a power of two is exactly multiplying by its inverse.
        if abs(mantissa) == 0.5 and -100 < exponent < 100:
            return Expr(
                p.multiply,
                (left, constant(1.0 / number, node.type, node.shape, right.names)),
                {},
                node.spec,
                node.source,
            )
    return None


@_rule(p.power)
def _power(node: Expr) -> Expr | None:
    base, exponent = node.operands
    number = _number(exponent)
    if number is None:
        return None
    if number == 0:
        # Of every base, NaN and 0 among them.
        return constant(1, node.type, node.shape, node.names)
    if number == 1:
        return base
    if number == 2:
        return Expr(p.multiply, (base, base), node.params, node.spec, node.source)
    if number == 3 and node.type.is_integer:
        square = Expr(p.multiply, (base, base), {}, base.spec, node.source)
        return Expr(p.multiply, (square, base), {}, node.spec, node.source)
    # Not 0.5: pow(-inf, 0.5) is inf and pow(-0.0, 0.5) is 0.0, which sqrt does not give.
    return None


@_rule(p.negate)
def _negate_negate(node: Expr) -> Expr | None:
    inner = node.operands[0]
    return inner.operands[0] if inner.primitive is p.negate else None


@_rule(p.as_type)
def _same_type(node: Expr) -> Expr | None:
    operand = node.operands[0]
    return operand if operand.type is node.type else None


@_rule(p.select)
def _select_known(node: Expr) -> Expr | None:
    mask, then, otherwise = node.operands
    if then is otherwise:
        return then
    number = _number(mask)
    if number is None:
        return None
    return then if number else otherwise


@_rule(p.broadcast)
def _broadcast(node: Expr) -> Expr | None:
    operand = node.operands[0]
    if operand.primitive is p.constant:
        return constant(operand.params["value"], node.type, node.shape, node.names)
    if operand.shape == node.shape and node.params["axes"] == tuple(range(len(node.shape))):
        return operand
    if operand.primitive is p.broadcast:
        axes = tuple(node.params["axes"][a] for a in operand.params["axes"])
        inner = operand.operands[0]
        # An axis of size 1 that the inner broadcast made wider may be mapped straight to the outer axis.
        params = {"shape": node.shape, "axes": axes, "names": node.params["names"]}
        return Expr(p.broadcast, (inner,), params, node.spec, node.source)
    return None


@_rule(p.reshape)
def _reshape(node: Expr) -> Expr | None:
    operand = node.operands[0]
    if operand.primitive is p.constant:
        return constant(operand.params["value"], node.type, node.shape, node.names)
    if operand.primitive is p.reshape:
        operand = operand.operands[0]
        if operand.spec == node.spec:
            return operand
        return Expr(p.reshape, (operand,), node.params, node.spec, node.source)
    return operand if operand.spec == node.spec else None


@_rule(p.transpose)
def _transpose(node: Expr) -> Expr | None:
    operand, axes = node.operands[0], node.params["axes"]
    if operand.primitive is p.transpose:
        axes = tuple(operand.params["axes"][a] for a in axes)
        operand = operand.operands[0]
    if axes == tuple(range(len(axes))):
        return operand
    if operand is node.operands[0]:
        return None
    return Expr(p.transpose, (operand,), {"axes": axes}, node.spec, node.source)


@_rule(p.slice_)
def _slice(node: Expr) -> Expr | None:
    operand = node.operands[0]
    if operand.primitive is p.constant:
        return constant(operand.params["value"], node.type, node.shape, node.names)
    if operand.shape == node.shape and all(s == 1 for s in node.params["strides"]):
        return operand
    return None


@_rule(p.dynamic_slice)
def _fixed_slice(node: Expr) -> Expr | None:
    starts = [_number(start) for start in node.operands[1:]]
    if None in starts:
        return None
    params = {"starts": _inside(node.operands[0], starts, node.params["lengths"]), **node.params}
    return Expr(p.slice_, node.operands[:1], params, node.spec, node.source)


@_rule(p.put_slice)
def _put_back(node: Expr) -> Expr | None:
    target, part = node.operands[:2]
    taken = part.primitive in (p.slice_, p.dynamic_slice) and part.operands[0] is target
    return target if taken and _block(part) == _block(node) else None


def _block(node: Expr) -> Any:
    """The block that a node slices from its first operand or writes to it: starts, lengths, and steps other than 1."""
    if node.primitive is p.slice_:
        return node.params["starts"], node.params["lengths"], node.params["strides"]
    skip = 2 if node.primitive is p.put_slice else 1
    lengths = node.operands[1].shape if skip == 2 else node.params["lengths"]
    starts = node.operands[skip:]
    numbers = _inside(node.operands[0], [_number(start) or 0 for start in starts], lengths)
    values = tuple(
        id(start) if _number(start) is None else number for start, number in zip(starts, numbers, strict=True)
    )
    return values, lengths, node.params.get("strides", (1,) * len(lengths))


def _inside(array: Expr, starts: Sequence[int], lengths: Sequence[int]) -> tuple[int, ...]:
    """Start indices clamped so that a block of these lengths fits."""
    return tuple(
        min(max(start, 0), size - length) for start, size, length in zip(starts, array.shape, lengths, strict=True)
    )


@_rule(p.reduce_max, p.reduce_min, p.sum_, p.product, p.all_, p.any_)
def _reduce_nothing(node: Expr) -> Expr | None:
    operand = node.operands[0]
    if node.params["axes"] == () and operand.type is node.type and node.primitive not in (p.all_, p.any_):
        return operand
    return None


@_rule(p.stop_grad)
def _stop_grad(node: Expr) -> Expr | None:
    return node.operands[0]


@_rule(p.after)
def _after_nothing(node: Expr) -> Expr | None:
    operand, other = node.operands
    return operand if p.constant in (operand.primitive, other.primitive) else None


@_rule(p.elem)
def _with_own_gradient(node: Expr) -> Expr | None:
    # Gradients have been taken by now.
    whole = node.operands[0]
    return whole.operands[node.params["index"]] if whole.primitive in p.WITH_DERIVATIVES else None
