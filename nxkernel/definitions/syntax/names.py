"""Which names code reads and binds, as Python's scopes have it; and new names that clash with none."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nxkernel.definitions.syntax.sources import parameters

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.Lambda, ast.FunctionDef)
#: Most nodes are such, and nothing is in them.
_ATOMS = (ast.Name, ast.Constant)


class Fresh:
    """Makes names that a function does not use yet.

    Parameters
    ----------
    used : iterable of str
    """

    def __init__(self, used: Iterable[str]) -> None:
        self._used = set(used)
        #: All that it made.
        self.made: list[str] = []

    def __call__(self, stem: str) -> str:
        """A name such as ``then_1``."""
        number = 1
        while f"{stem}_{number}" in self._used:
            number += 1
        self.made.append(f"{stem}_{number}")
        self._used.add(self.made[-1])
        return self.made[-1]


def at(node: ast.AST, near: ast.AST) -> ast.AST:
    """A new node at the place of another one; quicker than Python's function for it."""
    node.lineno, node.col_offset = near.lineno, near.col_offset
    node.end_lineno, node.end_col_offset = near.end_lineno, near.end_col_offset
    return node


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree."""
    found = [tree]
    for node in found:
        if not isinstance(node, _ATOMS):
            found += children(node)
    return found


def mentioned(nodes: Iterable[ast.AST]) -> set[str]:
    """All names of variables among nodes."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(bound_by(node))
    return found


def bound_by(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def reads(node: ast.AST | list) -> set[str]:
    """The names that code reads, those of functions written in it included, unless they are its own.

    ``a += 1`` reads `a`, and ``a[k] = v`` does too.
    """
    found: set[str] = set()
    _read(node, found)
    return found


def _read(node: ast.AST | list, found: set[str]) -> None:
    if isinstance(node, list):
        for each in node:
            _read(each, found)
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            found.add(node.id)
    elif isinstance(node, _FUNCTIONS):
        for outside in _outside(node):
            _read(outside, found)
        found |= free(node)
    elif isinstance(node, _COMPREHENSIONS):
        first, *rest = node.generators
        _read(first.iter, found)
        inner: set[str] = set()
        for part in (first.target, *first.ifs, *rest, *_results(node)):
            _read(part, inner)
        found |= inner - {name for generator in node.generators for name in stored(generator.target)}
    else:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        for child in children(node):
            _read(child, found)


def _results(node: ast.AST) -> list[ast.AST]:
    return [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]


def _outside(node: ast.Lambda | ast.FunctionDef) -> list[ast.AST]:
    """The parts of a function definition that are evaluated where it stands: defaults, decorators, annotations."""
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
    """The variables of a function."""
    return set(parameters(function)) | set(stores(function.body))


def stores(nodes: list[ast.AST]) -> dict[str, None]:
    """The names that statements bind in the function that they are in, in order."""
    found: dict[str, None] = {}
    for node in nodes:
        found.update(_changes(node)[0])
    return found


def stored(target: ast.expr) -> list[str]:
    """The names that a target binds."""
    return list(stores([target]))


def updates(nodes: list[ast.AST]) -> dict[str, None]:
    """The names that ``a[k] = v`` gives a new value, in order, whether they are variables of the function or not."""
    found: dict[str, None] = {}
    for node in nodes:
        found.update(_changes(node)[1])
    return found


def changed(nodes: list[ast.AST]) -> set[str]:
    """The names that ``a[k] = v`` changes, and those that may show the same, as by ``b = a.T``."""
    found, same, bound = set(updates(nodes)), [], stores(nodes)
    for node in own(nodes):
        if isinstance(node, ast.Assign):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            same.append(names | (_begun_with(node.value) & bound.keys()))
        elif isinstance(node, ast.NamedExpr):
            same.append({node.target.id} | (_begun_with(node.value) & bound.keys()))
    while any(found & names and not found >= names for names in same):
        found.update(*[names for names in same if found & names])
    return found


def _begun_with(value: ast.expr) -> set[str]:
    """The name that an expression such as ``a.reshape(3, 1)[0].T`` begins with."""
    while isinstance(value, ast.Attribute | ast.Subscript | ast.Call):
        value = value.func if isinstance(value, ast.Call) else value.value
    if isinstance(value, ast.NamedExpr):
        return {value.target.id}
    return {value.id} if isinstance(value, ast.Name) else set()


def maybe_stores(node: ast.AST) -> dict[str, None]:
    """The names that ``:=`` binds in a node."""
    return _changes(node)[2]


def _changes(node: ast.AST) -> tuple[dict[str, None], dict[str, None], dict[str, None]]:
    """What a node binds, updates, and binds by ``:=``; it keeps that, as every block around it asks."""
    found = getattr(node, "changes", None)
    if found is None:
        found = ({}, {}, {})
        if isinstance(node, ast.If | ast.For | ast.While):
            for part in children(node):
                for mine, inner in zip(found, _changes(part), strict=True):
                    mine.update(inner)
        else:
            for each in own([node]):
                _change(each, *found)
        node.changes = found
    return found


def _change(node: ast.AST, bound: dict[str, None], updated: dict[str, None], maybe: dict[str, None]) -> None:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            bound[node.id] = None
    elif isinstance(node, ast.NamedExpr):
        maybe[node.target.id] = None
    elif isinstance(node, ast.FunctionDef):
        bound[node.name] = None
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
    found: list[ast.AST] = []
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _COMPREHENSIONS):
            for each in ast.walk(node):
                if isinstance(each, ast.NamedExpr):
                    found += [each, each.target]
            continue
        found.append(node)
        if isinstance(node, _FUNCTIONS):
            waiting += _outside(node)[::-1]
        elif not isinstance(node, _ATOMS):
            waiting += children(node)[::-1]
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes in a node, without the contexts of names and the signs of operators."""
    found: list[ast.AST] = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def functions_in(nodes: Iterable[ast.AST]) -> list[ast.Lambda | ast.FunctionDef]:
    """The outermost functions that are written in code, wherever they stand."""
    found: list[ast.Lambda | ast.FunctionDef] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, _FUNCTIONS):
            found.append(node)
            waiting += _outside(node)
        elif not isinstance(node, _ATOMS):
            waiting += children(node)
    return found
