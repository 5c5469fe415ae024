"""Running a function once on parameters instead of tensors: the result is a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.defn import containers
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.tracing import Trace
from nxkernel.ops import dispatch
from nxkernel.primitives import Spec
from nxkernel.tensor.tensor import Tensor


@dataclass
class Traced:
    """What one trace found.

    Parameters
    ----------
    graph : Graph
        Parameters in the order: arguments, captured arrays, fixed arrays.
    structure : Any
        Of the function's result.
    captured : tuple of int
        Which of the known arrays were used.
    fixed : tuple of numpy.ndarray
        Arrays that were met and are none of the known ones.
    prints : tuple of str
        Labels of the outputs, the last ones, that are to be printed.
    """

    graph: Graph
    structure: Any
    captured: tuple[int, ...]
    fixed: tuple[np.ndarray, ...]
    prints: tuple[str, ...]


@dataclass
class _Capturing:
    """Gives each array that the function meets a parameter of its own."""

    first: int
    known: dict[int, tuple[int, str]]
    nodes: dict[int, Expr] = field(default_factory=dict)
    arrays: dict[int, Any] = field(default_factory=dict)
    used: dict[int, int] = field(default_factory=dict)

    def __call__(self, value: Any) -> Expr:
        node = self.nodes.get(id(value))
        if node is None:
            place = self.first + len(self.nodes)
            if id(value) in self.known:
                number, name = self.known[id(value)]
                self.used[place] = number
            else:
                name = "tensor"
            node = self.nodes[id(value)] = parameter(place, name, spec_of(value), captured=True)
            self.arrays[place] = value
        return node


#: What print_value asks for during a trace: (label, node), by the trace.
_prints: dict[int, list[tuple[str, Expr]]] = {}


def spec_of(value: Any) -> Spec:
    """Type, shape and names of an array, tensor or number."""
    spec = getattr(value, "spec", None)
    if spec is not None:
        return spec
    if isinstance(value, np.ndarray | np.generic):
        return Spec(types.normalize(value.dtype), value.shape, (None,) * value.ndim)
    if dispatch.is_number(value):
        return Spec(types.infer(value), (), ())
    array = np.asarray(value)
    return Spec(types.normalize(array.dtype), array.shape, (None,) * array.ndim)


def trace(
    name: str,
    function: Callable[..., Any],
    structures: Sequence[Any],
    leaves: Sequence[tuple[str, Spec]],
    options: dict[str, Any],
    known: dict[int, tuple[int, str]],
) -> Traced:
    """Trace a function.

    Parameters
    ----------
    name : str
    function : callable
    structures : sequence
        Of each positional argument.
    leaves : sequence of (str, Spec)
        The arguments' leaves: how a person would write each, and what it is.
    options : dict
        Passed as they are.
    known : dict
        The arrays that the function captures by name: identity to (number, name).
    """
    parameters = [parameter(place, path, spec) for place, (path, spec) in enumerate(leaves)]
    supply = iter(parameters)
    arguments = [containers.rebuild(structure, supply) for structure in structures]
    capturing = _Capturing(len(parameters), known)
    run = Trace(capturing)
    with run:
        prints = _prints[id(run)] = []
        try:
            result = function(*arguments, **options)
            found: list[tuple[str, Any]] = []
            structure = containers.flatten(result, "the result", found, containers.no_tensor(name))
            outputs = [_as_node(value, capturing) for _, value in found]
        finally:
            del _prints[id(run)]
    fixed = [place for place in capturing.arrays if place not in capturing.used]
    order = [*capturing.used, *fixed]
    moved = {place: len(parameters) + index for index, place in enumerate(order)}
    extra = sorted(capturing.nodes.values(), key=lambda node: moved[node.params["index"]])
    for node in extra:
        node.params["index"] = moved[node.params["index"]]
    graph = Graph(
        name,
        [*parameters, *extra],
        [*outputs, *(node for _, node in prints)],
        lambda values: containers.rebuild(structure, iter(values)),
    )
    arrays = tuple(_array(capturing.arrays[place]) for place in fixed)
    return Traced(graph, structure, tuple(capturing.used.values()), arrays, tuple(label for label, _ in prints))


def _array(value: Any) -> np.ndarray:
    return value.data if isinstance(value, Tensor) else np.ascontiguousarray(value)


def _as_node(value: Any, capturing: _Capturing) -> Expr:
    if type(value) is Expr:
        return value
    if isinstance(value, Tensor | np.ndarray):
        return capturing(value)
    value = dispatch.operand(value)
    return value if type(value) is Expr else capturing(value)


def ask_to_print(label: str, node: Expr, run: Trace) -> None:
    """Have a value printed after each run of the program that is being traced."""
    _prints[id(run)].append((label, node))
