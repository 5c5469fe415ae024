"""Gradients of `reduce` and `window_reduce` with a user's function, computed through an equivalent loop."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.traverse import post_order, replayed
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints.backward_pass import pullback
from nxkernel.transforms.adjoints.rule_table import AdjointSite, Gain, index, rule, shaped, spread, total
from nxkernel.transforms.recording_trace import RecordingTrace


@rule(p.reduce)
def _fold(at: AdjointSite) -> list[Gain]:
    if not shapes.size(at.node.operands[0].shape):
        everything = total(at.g, range(len(at.g.shape)))
        return [at.zeros(0), everything, *[at.zeros(2 + position) for position in range(len(at.node.operands) - 2)]]
    # The loop has operands of its own, so that one which is taken twice gains in both places.
    own = [apply(p.reshape, one, shape=one.shape, names=unnamed(one.shape)) for one in at.node.operands]
    result = loop(own[0], own[1], own[2:], at.params["axes"], at.params["body"])
    wanted = [position for position, flag in enumerate(at.wanted) if flag]
    gains, replacing = pullback(
        [result], [shaped(at.g, result.shape)], [own[position] for position in wanted], ranges=at.ranges
    )
    gained: list[Gain] = [None] * len(own)
    for position, gain in zip(wanted, replayed(gains, replacing), strict=True):
        gained[position] = gain
    return gained


def loop(x: Expr, start: Expr, captured: Sequence[Expr], axes: tuple[int, ...], body: Graph) -> Expr:
    """The fold as a loop over the elements of each result."""
    rest = [axis for axis in range(len(x.shape)) if axis not in axes]
    shape = tuple(x.shape[axis] for axis in rest)
    count = shapes.size([x.shape[axis] for axis in axes])
    rows = shaped(apply(p.transpose, x, axes=(*axes, *rest)), (count, *shape))
    held = spread(start, shape, ())
    state = [index(0), held, rows, *captured]
    graphs = []
    for name in ("condition", "body"):
        with RecordingTrace():
            iteration, before, all_rows, *others = parameters = [
                parameter(position, f"{name} {position}", value.spec) for position, value in enumerate(state)
            ]
            if name == "condition":
                outputs = [apply(p.less, iteration, index(count))]
            else:
                starts = [iteration, *[index(0)] * len(shape)]
                strides = (1,) * len(starts)
                row = apply(p.dynamic_slice, all_rows, *starts, lengths=(1, *shape), strides=strides)
                others = [spread(one, shape, ()) for one in others]
                outputs = [iteration + 1, _for_all(body, [shaped(row, shape), before, *others], shape)]
        graphs.append(Graph(name, parameters, outputs, list))
    return apply(p.while_, *state, condition=graphs[0], body=graphs[1], state=2)[1]


def _for_all(body: Graph, arguments: Sequence[Expr], shape: tuple[int, ...]) -> Expr:
    """A function of scalars applied to all elements of arrays at once."""
    (output,) = body.outputs
    values = dict(zip(body.parameters, arguments, strict=True))
    for node in post_order([output]):
        if node in values:
            continue
        if node.primitive is p.constant:
            values[node] = filled(node.params["value"], node.type, shape)
        else:
            values[node] = apply(node.primitive, *[values[one] for one in node.operands], **node.params)
    return values[output]
