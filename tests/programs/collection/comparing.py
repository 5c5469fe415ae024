"""A program under NumPy and under nxkernel: what both give, and how large the graph is."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import numpy as np

import nxkernel as nx
from collection.numpy_program import Program
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import constant


def compare(program: Program, size: int, compiler: str | None = None) -> nx.defn:
    """Run a program both ways on data of a size and compare results and changed arguments; gives the definition."""
    definition = nx.defn(program.function, compiler=compiler, promotion="numpy")
    theirs, ours = program.arguments(size), program.arguments(size)
    expected = program.function(*theirs)
    found = definition(*ours)
    same(found, expected, program.tolerance, "the result")
    for name, mine, wanted in zip(inspect.signature(program.function).parameters, ours, theirs, strict=False):
        if isinstance(wanted, np.ndarray):
            same(mine, wanted, program.tolerance if name in program.changes else 0.0, f"the argument {name!r}")
    return definition


def same(found: Any, expected: Any, tolerance: float, what: str) -> None:
    """Raise AssertionError where two results differ in structure, type, shape or value."""
    if expected is None or isinstance(expected, tuple | list | dict):
        assert type(found) is type(expected), f"{what} is a {type(found).__name__}, not a {type(expected).__name__}"
        parts = expected.items() if isinstance(expected, dict) else enumerate(expected or ())
        assert expected is None or len(found) == len(expected), f"{what} has {len(found)} parts"
        for key, part in parts:
            same(found[key], part, tolerance, f"{what}[{key!r}]")
        return
    ours, theirs = np.asarray(found), np.asarray(expected)
    assert ours.dtype == theirs.dtype, f"{what} is of type {ours.dtype}, not {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{what} has the shape {ours.shape}, not {theirs.shape}"
    if theirs.dtype.kind in "fc" and tolerance:
        finite = np.abs(theirs[np.isfinite(theirs)])
        scale = float(finite.max()) if finite.size else 0.0
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale, err_msg=what)
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=what)


def graph_size(definition: nx.defn) -> int:
    """How many operations the graph of a definition's newest program has, those of loop bodies and branches too."""
    program = max(definition._entry_group.programs(), key=lambda program: program.made)
    return _size(program.executable.graph.outputs)


def _size(outputs: Iterable[Expr]) -> int:
    nodes = post_order(outputs)
    inner = sum(_size(graph.outputs) for node in nodes for graph in _bodies(node.params.values()))
    # Sizes are constants, and equal constants are one node: two sizes may by chance have a number more in common.
    return inner + sum(node.primitive is not constant for node in nodes)


def _bodies(values: Iterable[Any]) -> Iterable[Graph]:
    for value in values:
        if isinstance(value, Graph):
            yield value
        elif isinstance(value, tuple | list):
            yield from _bodies(value)
