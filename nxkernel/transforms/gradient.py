"""Reverse-mode gradients: from the graph of a loss to the graph of its gradients.

What each primitive contributes is said in :mod:`nxkernel.transforms.adjoints`; how a graph is gone through backwards in
:mod:`~nxkernel.transforms.adjoints.backward_pass`.
"""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr
from nxkernel.graph.traverse import replayed
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms import adjoints  # noqa: F401 - the rules
from nxkernel.transforms.adjoints import integer_paths
from nxkernel.transforms.adjoints.backward_pass import pullback

__all__ = ["gradients"]


def gradients(
    outputs: Sequence[Expr], cotangents: Sequence[Expr | None], inputs: Sequence[Expr], more: Sequence[Expr] = ()
) -> tuple[list[Expr], list[Expr]]:
    """The gradients of outputs with respect to inputs, recorded in the active trace.

    Parameters
    ----------
    outputs : sequence of Expr
        Of the trace that is active.
    cotangents : sequence of (Expr or None)
        What a unit of each element of an output is worth; None for nothing.
    inputs : sequence of Expr
        Nodes that outputs are computed from.
    more : sequence of Expr
        Values that are to be given too, such as the outputs.

    Returns
    -------
    list of Expr
        One for each input, with its shape and names; for whole numbers f32, and f64 by NumPy's rules.
    list of Expr
        `more`, computed together with the gradients: loops that keep something for them run once.

    Raises
    ------
    NxTypeError
        Where something between has no gradient, or everything is whole numbers, with the primitive and its line.
    """
    integer_paths.check(outputs, inputs)
    with types.deriving(), types.promotion("nx"):
        gains, replacing = pullback(outputs, cotangents, inputs)
        named = [
            gain if node.names == gain.names else apply(p.reshape, gain, shape=node.shape, names=node.names)
            for gain, node in zip(gains, inputs, strict=True)
        ]
        # What lies before the inputs is none of this; a loop that takes gradients would go through all its iterations
        # again.
        together = replayed([*named, *more], {node: node for node in inputs}, replacing)
        return integer_paths.flattened(together[: len(named)], inputs), together[len(named) :]
