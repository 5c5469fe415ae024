"""Graphs as text in the layout of ``Nx.Defn.Expr``: parameters first, then one line per node."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from nxkernel import primitives
from nxkernel.graph.expr import Expr, Graph, TracedValue, VectorizedExpr
from nxkernel.graph.traverse import post_order
from nxkernel.operand import VectorizedSpec, axes_text
from nxkernel.tensor.printing import number

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: The type column stands no further right than after so many characters; longer lines have their type at their end.
COLUMN = 88
#: What stands above inputs that are no parameters: those read at every call, and those that are always the same.
CAPTURED, BAKED = "Captured, read at every call:", "Made while it was traced, part of the program:"
#: The body of an operation stands in its line up to this length, below it beyond.
_BODY = 40


def print_graph(outputs: Sequence[TracedValue], parameters: Sequence[Expr] = (), note: str = "") -> str:
    """A graph as text.

    Parameters
    ----------
    outputs : list of Expr or VectorizedExpr
        What is computed.
    parameters : list of Expr, optional
        Inputs that are shown even if nothing reads them.
    note : str, optional
        A line above the parameters.

    Returns
    -------
    str
        The type of the result; the parameters; in a block of their own the captured arrays and tensors, which are
        implicit arguments; then each operation with its operands, its static parameters and its type, operands before
        users. Constants stand where they are used. A function that is part of an operation, such as that of a fold,
        stands below it unless it is short: ``{a, b -> d}`` says what it is given and gives.

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
    rows = [(_input(node, names), kind(node)) for node in inputs]
    for node in order:
        if node.primitive.family != "leaf":
            rows.append((_operation(node, names), kind(node)))
            rows += [(f"    {step}", type_) for step, type_ in body_steps(node)]
    rows += [(_operand(node, names), kind(node)) for node in outputs if node.primitive is primitives.constant]
    width = column(left for left, _ in rows)
    shown = [f"{left:{width}}   {right}".rstrip() for left, right in rows]
    lines = [*head, "", "Nx.Defn.Expr", *filter(None, [note]), *_in_blocks(shown, list(map(_block, inputs)))]
    if len(outputs) > 1:
        lines.append(f"({', '.join(_operand(node, names) for node in outputs)})")
    return "#Nx.Tensor<\n" + "\n".join(f"  {line}" for line in lines) + "\n>"


def _head(specs: Sequence[Any]) -> list[str]:
    """The lines with the output types; vectorized axes have a line of their own."""
    if len(specs) > 1:
        return [f"({', '.join(map(str, specs))})"]
    (spec,) = specs
    return [axes_text(spec.vectorized_axes), str(spec.entry)] if type(spec) is VectorizedSpec else [str(spec)]


def kind(node: Expr) -> str:
    """The type column of a node: its spec, or its number of results."""
    return f"tuple{len(node.spec)}" if type(node.spec) is tuple else str(node.spec)


def variable_names(order: Iterable[Expr]) -> dict[Expr, str]:
    """The printed name of each node: a, b, … z, ba, bb, …; constants have none.

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


def column(texts: Iterable[str]) -> int:
    """The width of a text column, without outliers, which reach into the next column."""
    return max((len(text) for text in texts if len(text) <= COLUMN), default=0)


def static_text(node: Expr) -> str:
    """The static parameters of a node, such as ``axes=[0], keep_axes=False``."""
    shown = {key: value for key, value in node.params.items() if key not in ("names", "spec", "rounded")}
    return ", ".join(f"{key}={_parameter(key, value)}" for key, value in shown.items())


def body_steps(node: Expr) -> list[tuple[str, str]]:
    """The operations in the bodies of a node, and their types; empty if its line shows them."""
    graphs = [(key, value) for key, value in node.params.items() if isinstance(value, Graph)]
    rows: list[tuple[str, str]] = []
    for key, graph in graphs:
        if len(_in_line(graph)) <= _BODY:
            continue
        margin = ""
        if len(graphs) > 1:
            rows.append((key, ""))
            margin = "  "
        order, names = _inside(graph)
        for step in order:
            rows.append((margin + _operation(step, names), kind(step)))
            rows += [(f"{margin}  {text}", type_) for text, type_ in body_steps(step)]
    return rows


def constant_text(node: Expr) -> str:
    """The number of a constant node."""
    return number(node.params["value"], node.type)


def _letters(position: int) -> str:
    text = ""
    while True:
        position, digit = divmod(position, 26)
        text = _LETTERS[digit] + text
        if not position:
            return text


def _input_order(node: Expr) -> tuple[bool, bool, int]:
    return bool(node.params.get("captured")), bool(node.params.get("baked")), node.params["index"]


def _block(node: Expr) -> str:
    """The heading for an input that is captured; parameters have none."""
    if not node.params.get("captured"):
        return ""
    return BAKED if node.params.get("baked") else CAPTURED


def _in_blocks(lines: list[str], blocks: list[str]) -> list[str]:
    """The lines of a graph, with captured inputs set apart under headings."""
    text, before = [], ""
    for line, block in itertools.zip_longest(lines, blocks, fillvalue=""):
        if block != before:
            text += ["", block] if block else [""]
        text.append(line)
        before = block
    return text


def _input(node: Expr, names: dict[Expr, str]) -> str:
    if node.params.get("captured"):
        return f"tensor {names[node]}: {node.params['name']}"
    return f"parameter {names[node]}:{node.params['index']}"


def _operation(node: Expr, names: dict[Expr, str]) -> str:
    parts = [*(_operand(operand, names) for operand in node.operands), static_text(node)]
    return f"{names[node]} = {node.primitive.name} {', '.join(filter(None, parts))}".rstrip()


def _operand(node: Expr, names: dict[Expr, str]) -> str:
    if node.primitive is primitives.constant:
        return constant_text(node)
    return names[node]


def _inside(graph: Graph) -> tuple[list[Expr], dict[Expr, str]]:
    """The operations of a body and their names, after its parameters."""
    order = post_order(graph.outputs)
    names = variable_names(dict.fromkeys([*graph.parameters, *order]))
    return [node for node in order if node.primitive.family != "leaf"], names


def _in_line(graph: Graph) -> str:
    order, names = _inside(graph)
    steps = [_operation(node, names) for node in order] or [_operand(node, names) for node in graph.outputs]
    return "{" + "; ".join(steps) + "}"


def _parameter(key: str, value: Any) -> str:
    """A static parameter as Python code: shapes as tuples, other sequences as lists, types as names."""
    if isinstance(value, Graph):
        text, (_, names) = _in_line(value), _inside(value)
        if len(text) <= _BODY:
            return text
        parameters, outputs = (
            ", ".join(_operand(node, names) for node in part) for part in (value.parameters, value.outputs)
        )
        return f"{{{parameters} -> {outputs}}}"
    if isinstance(value, tuple) and key != "shape":
        # How much is added at the ends of an axis is a tuple of its own, as people write it.
        return f"[{', '.join(repr(each) if key in _OF_ENDS else _parameter(key, each) for each in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


_OF_ENDS = ("config", "padding")
