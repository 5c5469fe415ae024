"""Graphs as text: parameters first, then one line a node, in the layout of ``Nx.Defn.Expr``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nxkernel import primitives
from nxkernel.graph.expr import Expr, Graph, TracedValue, VectorizedExpr
from nxkernel.graph.traverse import post_order
from nxkernel.operand import VectorizedSpec, axes_text
from nxkernel.tensor.printing import number

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def print_graph(outputs: Sequence[TracedValue], parameters: Sequence[Expr] = ()) -> str:
    """A graph as text.

    Parameters
    ----------
    outputs : list of Expr or VectorizedExpr
        What is computed.
    parameters : list of Expr, optional
        Inputs that are shown even if nothing reads them.

    Returns
    -------
    str
        The type of the result; the parameters; the captured tensors; then each operation with its operands, its
        static parameters and its type, operands before users. Constants stand where they are used.

    Examples
    --------
    >>> from nxkernel import types
    >>> from nxkernel.graph.expr import parameter
    >>> from nxkernel.graph.tracing import Trace
    >>> from nxkernel.primitives import Spec
    >>> x = parameter(0, "x", Spec(types.f32, (2, 3), (None, None)))
    >>> with Trace(capture=None):
    ...     y = nx.sum(nx.tanh(x) * 2, axes=[1])
    >>> print(print_graph([y]))  # doctest: +NORMALIZE_WHITESPACE
    #Nx.Tensor<
      f32[2]
    <BLANKLINE>
      Nx.Defn.Expr
      parameter a:0                            f32[2][3]
      b = tanh a                               f32[2][3]
      c = multiply b, 2.0                      f32[2][3]
      d = sum c, axes=[1], keep_axes=False     f32[2]
    >
    """
    head = _head([output.spec for output in outputs])
    outputs = [output.node if type(output) is VectorizedExpr else output for output in outputs]
    order = post_order([*outputs, *parameters])
    names = variable_names(order)
    inputs = sorted((node for node in order if node.primitive is primitives.parameter), key=_input_order)
    rows = [(_input(node, names), node) for node in inputs]
    rows += [(_operation(node, names), node) for node in order if node.primitive.family != "leaf"]
    rows += [(_operand(node, names), node) for node in outputs if node.primitive is primitives.constant]
    width = max((len(left) for left, _ in rows), default=0) + 3
    lines = [*head, "", "Nx.Defn.Expr", *(f"{left:{width}}{kind(node)}" for left, node in rows)]
    if len(outputs) > 1:
        lines.append(f"({', '.join(_operand(node, names) for node in outputs)})")
    return "#Nx.Tensor<\n" + "\n".join(f"  {line}" for line in lines) + "\n>"


def _head(specs: Sequence[Any]) -> list[str]:
    """The lines that say what a graph gives; vectorized axes have one of their own, as in a tensor."""
    if len(specs) > 1:
        return [f"({', '.join(map(str, specs))})"]
    (spec,) = specs
    return [axes_text(spec.vectorized_axes), str(spec.entry)] if type(spec) is VectorizedSpec else [str(spec)]


def kind(node: Expr) -> str:
    """The type column of a node: its spec, or how many results it has."""
    return f"tuple{len(node.spec)}" if type(node.spec) is tuple else str(node.spec)


def variable_names(order: Iterable[Expr]) -> dict[Expr, str]:
    """The name under which each node is printed: a, b, … z, ba, bb, … in order; constants have none.

    Parameters
    ----------
    order : iterable of Expr
        As :func:`~nxkernel.graph.post_order` gives them.

    Returns
    -------
    dict
    """
    names: dict[Expr, str] = {}
    for node in order:
        if node.primitive is not primitives.constant:
            names[node] = _letters(len(names))
    return names


def _letters(place: int) -> str:
    text = ""
    while True:
        place, digit = divmod(place, 26)
        text = _LETTERS[digit] + text
        if not place:
            return text


def _input_order(node: Expr) -> tuple[bool, int]:
    return bool(node.params.get("captured")), node.params["index"]


def _input(node: Expr, names: dict[Expr, str]) -> str:
    if node.params.get("captured"):
        return f"tensor {names[node]}: {node.params['name']}"
    return f"parameter {names[node]}:{node.params['index']}"


def _operation(node: Expr, names: dict[Expr, str]) -> str:
    parts = [_operand(operand, names) for operand in node.operands]
    parts += [f"{key}={_parameter(key, value)}" for key, value in node.params.items() if key != "names"]
    return f"{names[node]} = {node.primitive.name} {', '.join(parts)}".rstrip()


def _operand(node: Expr, names: dict[Expr, str]) -> str:
    if node.primitive is primitives.constant:
        return number(node.params["value"], node.type)
    return names[node]


def _parameter(key: str, value: Any) -> str:
    """A static parameter as a person would write it: shapes as tuples, other sequences as lists, types as names."""
    if isinstance(value, Graph):
        (output,), order = value.outputs, post_order(value.outputs)
        inner = variable_names(dict.fromkeys([*value.parameters, *order]))
        steps = [_operation(node, inner) for node in order if node.primitive.family != "leaf"]
        return "{" + "; ".join(steps or [_operand(output, inner)]) + "}"
    if isinstance(value, tuple) and key != "shape":
        return f"[{', '.join(_parameter(key, item) if not _is_entry(item) else repr(item) for item in value)}]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _is_entry(value: Any) -> bool:
    """Whether a tuple is one entry of a list, such as the (low, high, interior) of a padding."""
    return isinstance(value, tuple) and len(value) == 3 and all(isinstance(item, int) for item in value)
