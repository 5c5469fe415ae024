"""The source text of the functions whose lines made the nodes of a graph."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator

from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.observe.compilation_report import SourceView
from nxkernel.graph.expr import Graph
from nxkernel.graph.traverse import post_order

#: Longer functions are shown around the lines that made nodes.
_MOST = 400


def views(graph: Graph) -> tuple[SourceView, ...]:
    """The functions whose lines made these nodes, in the order of their first nodes.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    tuple of SourceView
        Without functions whose source is not available.
    """
    lines: dict[tuple[str, str], list[int]] = {}
    for node in _nodes(graph):
        if node.source:
            lines.setdefault((node.source.file, node.source.function), []).append(node.source.line)
    trees: dict[str, list[ast.AST]] = {}
    functions = []
    for (file, function), own in lines.items():
        text = linecache.getlines(file)
        if not text:
            continue
        if file not in trees:
            trees[file] = _functions("".join(text))
        first, last = _extent(trees[file], function, min(own), max(own))
        first, last = (min(own), max(own)) if last - first > _MOST else (first, last)
        shown = tuple(line.rstrip("\n") for line in text[first - 1 : last])
        functions.append(SourceView(function, source_locations.name_of(file), first, shown))
    # A function in another one whose text is shown anyway needs no second place.
    return tuple(one for one in functions if not any(other is not one and _within(one, other) for other in functions))


def _nodes(graph: Graph) -> Iterator:
    for node in post_order(graph.outputs):
        yield node
        for value in node.params.values():
            if isinstance(value, Graph):
                yield from _nodes(value)


def _within(one: SourceView, other: SourceView) -> bool:
    inside = other.first <= one.first and one.first + len(one.lines) <= other.first + len(other.lines)
    smaller = len(one.lines) < len(other.lines) or one.name > other.name
    return one.cell == other.cell and inside and smaller


def _functions(text: str) -> list[ast.AST]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def _extent(functions: list[ast.AST], name: str, low: int, high: int) -> tuple[int, int]:
    """The first and last line of the function around some lines, with decorators; else those lines."""
    around = []
    for node in functions:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        if getattr(node, "name", "<lambda>") == name and first <= low and high <= node.end_lineno:
            around.append((first, node.end_lineno))
    return min(around, key=lambda pair: pair[1] - pair[0], default=(low, high))
