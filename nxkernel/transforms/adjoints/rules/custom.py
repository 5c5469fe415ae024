"""Gradients of `stop_grad`, `checkpoint`, and of what people gave derivatives of their own."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.traverse import replayed
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.transforms.adjoints.backward_pass import pullback
from nxkernel.transforms.adjoints.rule_table import CONSTANT, AdjointSite, Gain, rule, tangent_spec, tangent_type
from nxkernel.transforms.recording_trace import RecordingTrace

CONSTANT |= {p.stop_grad}


@rule(p.after)
def _after(at: AdjointSite) -> list[Gain]:
    return [at.g, None]


def _cotangents(at: AdjointSite) -> list[Expr]:
    return [
        filled(0, tangent_type(spec.type), spec.shape) if g is None else g
        for g, spec in zip(at.cotangents, at.node.spec, strict=True)
    ]


@rule(p.custom_grad)
def _custom_grad(at: AdjointSite) -> list[Gain]:
    results, inputs, backward = at.params["results"], at.params["inputs"], at.params["backward"]
    outside = at.node.operands[results + inputs :]
    gains = replayed(backward.outputs, dict(zip(backward.parameters, [*_cotangents(at), *outside], strict=True)))
    return [*[None] * results, *gains, *[None] * len(outside)]


@rule(p.custom_jvp)
def _custom_jvp(at: AdjointSite) -> list[Gain]:
    # The tangents are linear in those of the inputs: their gradients by these, whatever they are, go the other way.
    results, inputs, forward = at.params["results"], at.params["inputs"], at.params["forward"]
    operands = at.node.operands[results:]
    with RecordingTrace():
        units = forward.parameters[:inputs]
        cotangents = [parameter(0, "cotangent", one.spec) for one in _cotangents(at)]
        gains, replacing = pullback(forward.outputs, cotangents, units, ranges=at.ranges)
        gains = replayed(gains, {}, replacing)
    known = [*_cotangents(at), *[at.part(number) for number in range(results)], *operands]
    nowhere = {unit: filled(0, unit.type, unit.shape) for unit in units}
    values = dict(zip([*cotangents, *forward.parameters[inputs:]], known, strict=True))
    return [*[None] * results, *replayed(gains, nowhere | values), *[None] * (len(operands) - inputs)]


@rule(p.linear_solve)
def _linear_solve(at: AdjointSite) -> list[Gain]:
    count, matvec, transpose = (at.params[name] for name in ("results", "matvec", "transpose_solve"))
    if transpose is None:
        raise at.refusal(
            "Going back, the transposed equations are solved: nx.custom_linear_solve(…, transpose_solve=…) says how,",
            "or symmetric=True, where they are the same ones.",
        )
    outside, cotangents = at.node.operands[2 * count :], _cotangents(at)
    solved = replayed(transpose.outputs, dict(zip(transpose.parameters, [*cotangents, *outside], strict=True)))
    params = at.params | {
        "matvec": _transposed(matvec, count), "solve": transpose, "transpose_solve": at.params["solve"]
    }  # fmt: skip
    gains = list(apply(p.linear_solve, *solved, *cotangents, *outside, **params))
    results = [at.part(number) for number in range(count)]
    # As the matrix changes, so does what it gives of the solution.
    wanted = [position for position, flag in enumerate(at.wanted[2 * count :]) if flag]
    more: list[Gain] = [None] * len(outside)
    if wanted:
        own = [apply(p.reshape, one, shape=one.shape, names=one.names) for one in outside]
        given = replayed(matvec.outputs, dict(zip(matvec.parameters, [*results, *own], strict=True)))
        found, replacing = pullback(given, [-gain for gain in gains], [own[k] for k in wanted], ranges=at.ranges)
        for position, gain in zip(wanted, replayed(found, {}, replacing), strict=True):
            more[position] = gain
    return [*[None] * count, *gains, *more]


def _transposed(matvec: Graph, count: int) -> Graph:
    """The graph of the transposed linear function."""
    vectors, outside = matvec.parameters[:count], matvec.parameters[count:]
    with RecordingTrace():
        new = [parameter(k, "vector", tangent_spec(output.spec)) for k, output in enumerate(matvec.outputs)]
        gains, replacing = pullback(matvec.outputs, new, vectors)
        nowhere = {vector: filled(0, vector.type, vector.shape) for vector in vectors}
        gains = replayed(gains, nowhere, replacing)
    return Graph("vecmat", [*new, *outside], gains, list)
