"""Paths of a graph that gradients cannot flow through, since they pass through integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nxkernel import primitives as p
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, Graph, at_line, parameter
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms.adjoints.rule_table import CONSTANT, tangent_spec, zeros
from nxkernel.transforms.recording_trace import RecordingTrace

#: Primitives that give whole numbers of anything.
WHOLE = {
    p.argmax, p.argmin, p.argsort, p.quotient, p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.bitwise_not, p.left_shift,
    p.right_shift, p.population_count, p.count_leading_zeros, p.threefry2x32,
}  # fmt: skip
CONSTANT |= WHOLE


def check(outputs: Sequence[Expr], inputs: Sequence[Expr]) -> None:
    """Refuse a loss that depends on its variables only through integers.

    Parameters
    ----------
    outputs, inputs : sequence of Expr

    Raises
    ------
    NxTypeError
        Naming the first operation on the way that gives whole numbers, and its line.
    """
    cut: dict[Expr, None] = {}
    if any(_dependent_outputs(outputs, dict.fromkeys(inputs, True), cut)):
        return
    if cut and any(_dependent_outputs(outputs, dict.fromkeys(inputs, True), None)):
        raise _refused(next(iter(cut)))


def jumping(outputs: Sequence[Expr], inputs: Sequence[Expr]) -> list[bool]:
    """The outputs that depend on the inputs only through integers, so that they are piecewise constant."""
    cut: dict[Expr, None] = {}
    smooth = _dependent_outputs(outputs, dict.fromkeys(inputs, True), cut)
    if not cut:
        return [False] * len(smooth)
    pairs = zip(smooth, _dependent_outputs(outputs, dict.fromkeys(inputs, True), None), strict=True)
    return [other and not one for one, other in pairs]


def flattened(slopes: Sequence[Expr], inputs: Sequence[Expr]) -> list[Expr]:
    """Derivatives, of which those that are piecewise constant in the inputs have zero derivatives themselves.

    The derivative of sorting is such a one.
    """
    pairs = zip(slopes, jumping(slopes, inputs), strict=True)
    return [_flat(slope, inputs) if jumps else slope for slope, jumps in pairs]


def _flat(slope: Expr, inputs: Sequence[Expr]) -> Expr:
    ways = [node for node in inputs if _is_smooth(node)]
    if not ways:
        return slope
    with RecordingTrace():
        cotangent = parameter(0, "g", tangent_spec(slope.spec))
        backward = Graph("gradient", [cotangent], [cotangent, *(zeros(node.spec) for node in ways)], list)
    params = {"results": 1, "inputs": 1 + len(ways), "backward": backward, "declared": True}
    return apply(p.custom_grad, slope, slope, *ways, **params)[0]


def _is_integer(node: Expr) -> bool:
    if node.primitive in WHOLE:
        return True
    rounding = node.primitive in (p.as_type, p.bitcast)
    return rounding and not _is_smooth(node) and (node.primitive is p.bitcast or _is_smooth(node.operands[0]))


def _is_smooth(node: Expr) -> bool:
    return node.type.is_float or node.type.is_complex


def _dependent_outputs(outputs: Iterable[Expr], start: dict[Expr, bool], cut: dict[Expr, None] | None) -> list[bool]:
    """The outputs that depend on marked nodes; with `cut`, only by paths without integers, whose operations it gets.

    What is asked of a branch or loop does not count.
    """
    depends: dict[Expr, bool | list[bool]] = dict(start)
    outputs = list(outputs)
    for node in post_order(outputs, start):
        if node in depends:
            continue
        operands = [depends[operand] for operand in node.operands]
        if node.primitive is p.elem:
            depends[node] = operands[0][node.params["index"]]
        elif node.primitive is p.while_:
            depends[node] = _after_iterations(node, operands, cut)
        elif node.primitive is p.cond:
            sides = [_inside(node.params[side], operands[1:], cut) for side in ("then", "otherwise")]
            depends[node] = [any(pair) for pair in zip(*sides, strict=True)]
        elif node.primitive is p.select:
            depends[node] = any(operands[1:])
        elif cut is not None and any(operands) and type(node.spec) is not tuple and _is_integer(node):
            cut[node] = None
            depends[node] = False
        else:
            depends[node] = [any(operands)] * len(node.spec) if type(node.spec) is tuple else any(operands)
    return [depends[output] for output in outputs]


def _inside(graph: Graph, flags: Sequence[bool], cut: dict[Expr, None] | None) -> list[bool]:
    return _dependent_outputs(graph.outputs, dict(zip(graph.parameters, flags, strict=True)), cut)


def _after_iterations(node: Expr, operands: Sequence[bool], cut: dict[Expr, None] | None) -> list[bool]:
    body, count, flags = node.params["body"], node.params["state"], list(operands)
    while True:
        after = _inside(body, flags, cut)
        more = [position for position in range(count) if after[position] and not flags[position]]
        if not more:
            return flags[:count]
        for position in more:
            flags[position] = True


def _refused(node: Expr) -> NxTypeError:
    where = at_line(node.source)
    operands = ", ".join(str(operand.spec) for operand in node.operands)
    what = "as_type to " + str(node.type) if node.primitive is p.as_type else node.primitive.name
    return NxTypeError(
        message(
            f"the loss depends on its variables through whole numbers only, which have no gradient: {what} of "
            f"{operands}{where}.",
            "nx.stop_grad(t) says that nothing is to flow through it, nx.custom_grad gives a gradient of your own.",
        )
    )
