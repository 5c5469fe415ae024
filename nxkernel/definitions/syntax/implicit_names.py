"""Preparing a function's syntax tree: ``super()`` and private names written out, annotations removed."""

from __future__ import annotations

import ast
import itertools

from nxkernel.definitions.syntax.names import at, nodes_of
from nxkernel.definitions.syntax.sources import Function, parameters


def prepare(tree: Function, class_name: str, has_super: bool) -> Function:
    """Write out implicit names, and remove annotations.

    Parameters
    ----------
    tree : ast.FunctionDef or ast.Lambda
        It is changed.
    class_name : str
        The class in whose body the function is defined, or empty.
    has_super : bool
        Whether ``super()`` without arguments works in it.
    """
    if class_name or has_super or any(map(_is_typed, nodes_of(tree))):
        return _Prepare(class_name.lstrip("_"), has_super).visit(tree)
    return tree


def _is_typed(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) or bool(getattr(node, "annotation", None) or getattr(node, "returns", None))


def class_of(qualified: str) -> str:
    """The class in whose body a function is defined, by its qualified name; empty if there is none.

    Examples
    --------
    >>> class_of("make.<locals>.Model.step"), class_of("Model.step.<locals>.inner"), class_of("make.<locals>.step")
    ('Model', 'Model', '')
    """
    parts = qualified.split(".")
    classes = [name for name, after in itertools.pairwise(parts) if "<locals>" not in (name, after)]
    return classes[-1] if classes else ""


class _Prepare(ast.NodeTransformer):
    def __init__(self, class_name: str, has_super: bool) -> None:
        self.class_name, self.has_super = class_name, has_super
        self.first: list[str] = []

    def private(self, name: str) -> str:
        """A name such as ``__rate`` as Python mangles it in a class."""
        if not self.class_name or not name.startswith("__") or name.endswith("__") or "." in name:
            return name
        return f"_{self.class_name}{name}"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self.first and node.decorator_list:
            # Left to its decorators, as are the names in it; those from outside are the same with any spelling.
            return node
        node.returns = None
        if self.first:
            node.name = self.private(node.name)
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit a node; inside a function, its first parameter is the second argument of ``super()``."""
        if isinstance(node, Function):
            names = parameters(node)
            self.first.append(names[0] if names else "")
            super().generic_visit(node)
            self.first.pop()
            return node
        return super().generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg, node.annotation = self.private(node.arg), None
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.private(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self.private(node.attr)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return at(ast.Pass(), node)
        return self.visit(at(ast.Assign([node.target], node.value), node))

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name is not None:
            node.name = self.private(node.name)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and not node.keywords
        self.generic_visit(node)
        if is_super and self.has_super and self.first[-1]:
            node.args = [at(ast.Name(name, ast.Load()), node) for name in ("__class__", self.first[-1])]
        return node
