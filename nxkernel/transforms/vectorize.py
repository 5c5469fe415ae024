"""Vectorization (vmap): a graph of one entry becomes a graph of all entries along a new axis.

Entries lie along one more axis, which is axis 0 of every value that has it (a *mapped* value); values that are the same
for every entry stay as they are. What a primitive does to many entries is said in
:mod:`nxkernel.ops.machinery.batching_rules`, how a graph is walked in :mod:`~nxkernel.transforms.vectorize_entries`,
and what becomes of loops and branches in :mod:`~nxkernel.transforms.vectorize_control`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, Graph
from nxkernel.transforms import vectorize_control
from nxkernel.transforms.vectorize_entries import EntryEvaluation, OriginTrace

__all__ = ["Vectorized", "vectorize"]


@dataclass(frozen=True)
class Vectorized:
    """A vectorized graph, and which of its outputs differ between entries.

    Parameters
    ----------
    graph : Graph
    mapped : list of bool
        Which outputs have the axis of entries.
    origin : dict
        For each node that was made, the node of the given graph (or of a part of it) that it is for.
    """

    graph: Graph
    mapped: list[bool]
    origin: dict[Expr, Expr]


def vectorize(graph: Graph, size: int, mapped: Sequence[bool], wanted: Sequence[bool] | None = None) -> Vectorized:
    """The graph that computes all entries at once.

    Parameters
    ----------
    graph : Graph
        Of one entry.
    size : int
        The number of entries.
    mapped : sequence of bool
        Which parameters have the axis of entries.
    wanted : sequence of bool, optional
        Which outputs must have it, even where they are the same for every entry. What is assigned into an argument
        that has it always does.

    Returns
    -------
    Vectorized

    Raises
    ------
    NxTypeError
        Where a Numba function of whole arrays takes a value of one entry, or all entries assign into one array.

    Examples
    --------
    >>> from nxkernel.graph.tracing import trace_body
    >>> from nxkernel.primitives import Spec
    >>> row = Spec(types.f32, (3,), (None,))
    >>> graph, _ = trace_body("f", lambda x, y: [nx.sum(x * y)], [("x", row), ("y", row)], list)
    >>> vectorize(graph, 2, [True, False]).graph
    #Nx.Tensor<
      f32[2]
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0                             f32[2][3]
      parameter b:1                             f32[3]
      c = broadcast b, shape=(2, 3), axes=[1]   f32[2][3]
      d = multiply a, c                         f32[2][3]
      e = sum d, axes=[1], keep_axes=False      f32[2]
    >
    """
    recorder = OriginTrace()
    flags = list(wanted) if wanted is not None else [False] * len(graph.outputs)
    for position, number in graph.updates:
        flags[number] |= mapped[position]
    with types.promotion("nx"), recorder:
        entries = EntryEvaluation(size, recorder, vectorize_control.RULES)
        parameters = entries.parameters(graph, mapped)
        values = entries.outputs(graph, parameters)
        values = [entries.over(value) if flag else value for value, flag in zip(values, flags, strict=True)]
    for position, number in graph.updates:
        if values[number].mapped and not mapped[position]:
            raise _one_array(graph.parameters[position].params["name"])
    nodes = [value.node for value in values]
    vectorized = Graph(graph.name, [value.node for value in parameters], nodes, graph.rebuild, graph.updates)
    return Vectorized(vectorized, [value.mapped for value in values], recorder.origin)


def _one_array(name: str) -> NxTypeError:
    return NxTypeError(
        message(
            f"every entry would assign something else into {name!r}, which is the same for all.",
            f"Pass an entry of {name!r} for each, or return a new array.",
        )
    )
