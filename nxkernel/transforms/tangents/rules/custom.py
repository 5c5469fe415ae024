"""Tangents of what people gave derivatives of their own, and of `checkpoint`."""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.errors import NxTypeError
from nxkernel.graph.expr import Expr
from nxkernel.graph.traverse import replayed
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms.tangents.forward_pass import pushforward
from nxkernel.transforms.tangents.rule_table import TangentSite, rule
from nxkernel.transforms.tangents.transposition import transposed


@rule(p.custom_grad)
def _custom_grad(at: TangentSite) -> Sequence[Expr | None]:
    """Of a gradient that is the results' own, their tangents: nothing is computed again."""
    if not at.params["declared"]:
        return at.tangents[: at.params["results"]]
    try:
        return transposed(at)
    except NxTypeError as error:
        what = str(error).partition("\n")[0]
        raise at.adjoint((), (), {}).refusal(
            f"Forward mode takes the gradient that custom_grad gives for a linear function, and transposes it: {what}",
            "nx.custom_jvp says how the value changes, which serves both directions.",
        ) from error


@rule(p.custom_jvp)
def _custom_jvp(at: TangentSite) -> Sequence[Expr | None]:
    results, inputs, forward = at.params["results"], at.params["inputs"], at.params["forward"]
    tangents = [at.some(position) for position in range(results, results + inputs)]
    known = [*tangents, *at.parts, *at.node.operands[results:]]
    return replayed(forward.outputs, dict(zip(forward.parameters, known, strict=True)))


@rule(p.linear_solve)
def _linear_solve(at: TangentSite) -> Sequence[Expr | None]:
    count, matvec, solve = (at.params[name] for name in ("results", "matvec", "solve"))
    outside = at.node.operands[2 * count :]
    right = [at.some(position) for position in range(count, 2 * count)]
    changing = {
        parameter: tangent
        for parameter, tangent in zip(matvec.parameters[count:], at.tangents[2 * count :], strict=True)
        if tangent is not None
    }
    if changing:
        values = dict(zip(matvec.parameters, [*at.parts, *outside], strict=True))
        changes, _, _ = pushforward(matvec.outputs, changing, values, at.ranges)
        right = [one if change is None else one - change for one, change in zip(right, changes, strict=True)]
    solved = replayed(solve.outputs, dict(zip(solve.parameters, [*right, *outside], strict=True)))
    return apply(p.linear_solve, *solved, *right, *outside, **at.params)
