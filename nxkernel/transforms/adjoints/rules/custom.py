"""Gradients of `stop_grad`, `custom_grad` and `checkpoint`."""

from __future__ import annotations

from nxkernel import primitives as p
from nxkernel.graph.traverse import replayed
from nxkernel.ops.machinery.dispatch import filled
from nxkernel.transforms.adjoints.rule_table import CONSTANT, AdjointSite, Gain, rule, tangent_type

CONSTANT |= {p.stop_grad}


@rule(p.after)
def _after(at: AdjointSite) -> list[Gain]:
    return [at.g, None]


@rule(p.custom_grad)
def _custom_grad(at: AdjointSite) -> list[Gain]:
    results, inputs, backward = at.params["results"], at.params["inputs"], at.params["backward"]
    outside = at.node.operands[results + inputs :]
    cotangents = [
        filled(0, tangent_type(spec.type), spec.shape) if g is None else g
        for g, spec in zip(at.cotangents, at.node.spec, strict=True)
    ]
    gains = replayed(backward.outputs, dict(zip(backward.parameters, [*cotangents, *outside], strict=True)))
    return [*[None] * results, *gains, *[None] * len(outside)]
