"""Which names code reads and binds, as Python's scopes have it; and new names that clash with none."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nxkernel.definitions.syntax.sources import parameters

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.Lambda, ast.FunctionDef)
#: The most frequent nodes, which have no children.
_ATOMS = (ast.Name, ast.Constant)


class Fresh:
    """Makes new names that a function does not use.

    Parameters
    ----------
    used : iterable of str
    """

    def __init__(self, used: Iterable[str]) -> None:
        self._used = set(used)
        #: The names that were made.
        self.made: list[str] = []

    def __call__(self, stem: str) -> str:
        """A new name such as ``then_1``."""
        number = 1
        while f"{stem}_{number}" in self._used:
            number += 1
        self.made.append(f"{stem}_{number}")
        self._used.add(self.made[-1])
        return self.made[-1]


def at(node: ast.AST, near: ast.AST) -> ast.AST:
    """Copy the location of another node to a new node, and return it."""
    node.lineno, node.col_offset = near.lineno, near.col_offset
    node.end_lineno, node.end_col_offset = near.end_lineno, near.end_col_offset
    return node


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree."""
    nodes = [tree]
    for node in nodes:
        if not isinstance(node, _ATOMS):
            nodes += children(node)
    return nodes


def mentioned(nodes: Iterable[ast.AST]) -> set[str]:
    """All variable names in these nodes."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef) or (isinstance(node, ast.ExceptHandler) and node.name is not None):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(bound_by(node))
        elif isinstance(node, ast.pattern):
            names.update(bound_by_pattern(node))
    return names


def bound_by(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def bound_by_pattern(pattern: ast.pattern) -> list[str]:
    """The names that a pattern of ``case`` binds, each once."""
    found: dict[str, None] = {}
    for node in ast.walk(pattern):
        name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
        if name is not None:
            found[name] = None
    return list(found)


def reads(node: ast.AST | list) -> set[str]:
    """The names that code reads, including what inner functions read from outside.

    ``a += 1`` reads `a`, and ``a[k] = v`` does too.
    """
    names: set[str] = set()
    _read(node, names)
    return names


def _read(node: ast.AST | list, names: set[str]) -> None:
    if isinstance(node, list):
        for each in node:
            _read(each, names)
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            names.add(node.id)
    elif isinstance(node, _FUNCTIONS):
        for outside in _outside(node):
            _read(outside, names)
        names |= free(node)
    elif isinstance(node, _COMPREHENSIONS):
        first, *rest = node.generators
        _read(first.iter, names)
        inner: set[str] = set()
        for part in (first.target, *first.ifs, *rest, *_results(node)):
            _read(part, inner)
        names |= inner - {name for generator in node.generators for name in stored(generator.target)}
    else:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        for child in children(node):
            _read(child, names)


def _results(node: ast.AST) -> list[ast.AST]:
    return [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]


def _outside(node: ast.Lambda | ast.FunctionDef) -> list[ast.AST]:
    """The parts of a function definition that are evaluated outside of it: defaults and decorators."""
    return [
        *node.args.defaults,
        *(default for default in node.args.kw_defaults if default is not None),
        *getattr(node, "decorator_list", ()),
    ]


def free(function: ast.Lambda | ast.FunctionDef) -> set[str]:
    """The names that a function reads and does not bind."""
    if isinstance(function, ast.Lambda):
        return reads(function.body) - set(parameters(function)) - set(stores([function.body]))
    return reads(function.body) - locals_of(function)


def locals_of(function: ast.FunctionDef) -> set[str]:
    """The local variables of a function."""
    return set(parameters(function)) | set(stores(function.body))


def stores(nodes: list[ast.AST]) -> dict[str, None]:
    """The names that statements bind in their own scope, in order."""
    names: dict[str, None] = {}
    for node in nodes:
        names.update(_changes(node)[0])
    return names


def stored(target: ast.expr) -> list[str]:
    """The names that an assignment target binds."""
    return list(stores([target]))


def updates(nodes: list[ast.AST]) -> dict[str, None]:
    """The names that ``a[k] = v`` rebinds, in order, local or not."""
    names: dict[str, None] = {}
    for node in nodes:
        names.update(_changes(node)[1])
    return names


def changed(nodes: list[ast.AST]) -> set[str]:
    """The names that ``a[k] = v`` changes, and those that may be views of them, as by ``b = a.T``."""
    affected, same, bound = set(updates(nodes)), [], stores(nodes)
    for node in own(nodes):
        if isinstance(node, ast.Assign):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            same.append(names | (_root_name(node.value) & bound.keys()))
        elif isinstance(node, ast.NamedExpr):
            same.append({node.target.id} | (_root_name(node.value) & bound.keys()))
    while any(affected & names and not affected >= names for names in same):
        affected.update(*[names for names in same if affected & names])
    return affected


def _root_name(value: ast.expr) -> set[str]:
    """The variable at the beginning of an expression such as ``a.reshape(3, 1)[0].T``."""
    while isinstance(value, ast.Attribute | ast.Subscript | ast.Call):
        value = value.func if isinstance(value, ast.Call) else value.value
    if isinstance(value, ast.NamedExpr):
        return {value.target.id}
    return {value.id} if isinstance(value, ast.Name) else set()


def maybe_stores(node: ast.AST) -> dict[str, None]:
    """The names that ``:=`` binds in a node."""
    return _changes(node)[2]


def _changes(node: ast.AST) -> tuple[dict[str, None], dict[str, None], dict[str, None]]:
    """The names that a node binds, updates, and binds by ``:=``; cached on the node."""
    changes = getattr(node, "changes", None)
    if changes is None:
        changes = ({}, {}, {})
        if isinstance(node, ast.If | ast.For | ast.While):
            for part in children(node):
                for mine, inner in zip(changes, _changes(part), strict=True):
                    mine.update(inner)
        else:
            for each in own([node]):
                _change(each, *changes)
        node.changes = changes
    return changes


def _change(node: ast.AST, bound: dict[str, None], updated: dict[str, None], maybe: dict[str, None]) -> None:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            bound[node.id] = None
    elif isinstance(node, ast.NamedExpr):
        maybe[node.target.id] = None
    elif isinstance(node, ast.FunctionDef) or (isinstance(node, ast.ExceptHandler) and node.name is not None):
        bound[node.name] = None
    elif isinstance(node, ast.match_case):
        bound.update(dict.fromkeys(bound_by_pattern(node.pattern)))
    elif isinstance(node, ast.Import | ast.ImportFrom):
        bound.update((bound_by(alias), None) for alias in node.names)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        base = node.value
        while isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name):
            updated[base.id] = None


def own(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """The nodes that are evaluated in the same scope, in order; of comprehensions, only what ``:=`` binds."""
    result: list[ast.AST] = []
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _COMPREHENSIONS):
            for each in ast.walk(node):
                if isinstance(each, ast.NamedExpr):
                    result += [each, each.target]
            continue
        result.append(node)
        if isinstance(node, _FUNCTIONS):
            waiting += _outside(node)[::-1]
        elif not isinstance(node, _ATOMS):
            waiting += children(node)[::-1]
    return result


def children(node: ast.AST) -> list[ast.AST]:
    """The child nodes of a node, without contexts and operator signs."""
    result: list[ast.AST] = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            result += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:
            result.append(value)
    return result


def functions_in(nodes: Iterable[ast.AST]) -> list[ast.Lambda | ast.FunctionDef]:
    """The outermost functions that are defined inside these nodes."""
    functions: list[ast.Lambda | ast.FunctionDef] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            functions.append(node)
            waiting += _outside(node)
        elif not isinstance(node, _ATOMS):
            waiting += children(node)
    return functions
