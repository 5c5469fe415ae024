"""Forward-mode derivatives: from the graph of a value to the graph of its change along a direction.

What each primitive does to tangents is said in :mod:`nxkernel.transforms.tangents`, how a graph is gone through in
:mod:`~nxkernel.transforms.tangents.forward_pass`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import replayed
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms import tangents as _rules  # noqa: F401 - the rules
from nxkernel.transforms.adjoints import integer_paths
from nxkernel.transforms.adjoints.rule_table import zeros
from nxkernel.transforms.tangents.forward_pass import pushforward

__all__ = ["pushed", "tangents"]


def tangents(
    outputs: Sequence[Expr], inputs: Sequence[Expr], directions: Sequence[Expr], more: Sequence[Expr] = ()
) -> tuple[list[Expr], list[Expr]]:
    """The changes of outputs as inputs change along directions, recorded in the active trace.

    Parameters
    ----------
    outputs : sequence of Expr
        Of the trace that is active.
    inputs : sequence of Expr
        Nodes that outputs are computed from.
    directions : sequence of Expr
        How each input changes: of its shape, without names, in the type of its gradients.
    more : sequence of Expr
        Values that are to be given too, such as the outputs.

    Returns
    -------
    list of Expr
        One for each output, with its shape and names; for whole numbers f32, and f64 by NumPy's rules.
    list of Expr
        `more`, computed together with the tangents: loops run once.

    Raises
    ------
    NxTypeError
        Where something between has no gradient, or everything is whole numbers, with the primitive and its line.
    """
    integer_paths.check(outputs, inputs)
    with types.deriving(), types.promotion("nx"):
        found, _, replaced = pushforward(outputs, dict(zip(inputs, directions, strict=True)))
        changes = [zeros(node.spec) if one is None else one for one, node in zip(found, outputs, strict=True)]
        named = [
            one if one.names == node.names else apply(p.reshape, one, shape=node.shape, names=node.names)
            for one, node in zip(changes, outputs, strict=True)
        ]
        return integer_paths.flattened(named, inputs), replayed(more, replaced)


def pushed(graph: Graph, values: Sequence[Expr], directions: Mapping[int, Expr]) -> list[Expr]:
    """The changes of a graph's outputs, recorded in the active trace.

    Parameters
    ----------
    graph : Graph
    values : sequence of Expr
        Of its parameters.
    directions : mapping
        By position of those parameters that change, along what.

    Returns
    -------
    list of Expr
        One for each output, without names.
    """
    with types.deriving(), types.promotion("nx"):
        changing = {graph.parameters[position]: direction for position, direction in directions.items()}
        found, _, _ = pushforward(graph.outputs, changing, dict(zip(graph.parameters, values, strict=True)))
        return [zeros(node.spec) if one is None else one for one, node in zip(found, graph.outputs, strict=True)]
