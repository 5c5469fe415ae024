"""``%%defn`` cells: each top-level ``def`` and ``f = lambda`` becomes a definition; the rest runs as usual.

A cell magic would run its body apart from IPython's own machinery, with other line numbers, other tracebacks and an
error of its own for a missing bracket. So the first line is rewritten into one statement before IPython parses the
cell, and the functions are decorated in the tree that IPython is about to run.
"""

from __future__ import annotations

import ast
import sys
from argparse import Namespace
from collections.abc import Callable

from IPython.core.error import InputRejected, UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import MagicArgumentParser

from nxkernel_magics import first_line_rewriting
from nxkernel_magics.arguments import parse

#: A function under one of these is already what the person wants it to be.
_ALREADY = frozenset({"defn", "deftransform"})


def parser() -> MagicArgumentParser:
    """The parser of the options of ``%%defn``."""
    options = first_line_rewriting.parser("%defn", "Make each def of the cell a numerical definition.")
    options.add_argument(
        "--show",
        choices=("graph", "kernels", "none"),
        default="none",
        help="what to display when a definition has been compiled for the first time",
    )
    options.add_argument("--quiet", action="store_true", help="no message about repeated compilation")
    return options


def statement(line: str) -> str:
    """The Python statement that replaces the line ``%%defn …``."""
    return f"get_ipython().run_line_magic('defn', {line!r})"


#: Puts the statement in place of the first line.
rewrite_first_line = first_line_rewriting.rewriting("%%defn", statement)


class DecorateDefinitions(ast.NodeVisitor):
    """AST transformer that decorates the top-level functions of a ``%%defn`` cell, outside of their own decorators."""

    def visit(self, tree: ast.AST) -> ast.AST:
        """Decorate in place when the tree is that of a ``%%defn`` cell.

        Parameters
        ----------
        tree : ast.AST
            A parsed cell.

        Returns
        -------
        ast.AST
            The same tree.
        """
        line = _options_of(tree)
        if line is None:
            return tree
        try:
            options = parse(parser(), line)
        except UsageError:
            return tree  # the statement of the first line raises it, where IPython shows it as it does for any magic
        for node in tree.body:
            _check(node)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                decorator = ast.parse(_decorator(options), mode="eval").body
                call = ast.Call(func=decorator, args=[node.value], keywords=[])
                for part in (call, *ast.walk(decorator)):
                    ast.copy_location(part, node.value)
                node.value = call
            if isinstance(node, ast.FunctionDef) and not any(_name(mark) in _ALREADY for mark in node.decorator_list):
                first = node.decorator_list[0] if node.decorator_list else node
                decorator = ast.parse(_decorator(options), mode="eval").body
                for part in ast.walk(decorator):
                    ast.copy_location(part, first)
                node.decorator_list.insert(0, decorator)
        return tree


def _check(node: ast.stmt) -> None:
    """Raise an error for an async function, and print a note for a class: neither becomes a definition."""
    if isinstance(node, ast.AsyncFunctionDef):
        raise InputRejected(
            f"%%defn, line {node.lineno}: async def {node.name} runs beside other code and cannot be a definition. "
            f"Write def {node.name}, and call it in async functions of other cells."
        )
    if isinstance(node, ast.ClassDef):
        print(
            f"%%defn, line {node.lineno}: class {node.name} is no function and stays plain Python. Write @nx.defn "
            "above each method that is to be a definition.",
            file=sys.stderr,
        )


def _options_of(tree: ast.AST) -> str | None:
    match tree:
        case ast.Module(
            body=[
                ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(attr="run_line_magic"),
                        args=[ast.Constant(value="defn"), ast.Constant(value=str(line))],
                    )
                ),
                *_,
            ]
        ):
            return line
    return None


def _name(decorator: ast.expr) -> str:
    match decorator:
        case ast.Call(func=called):
            return _name(called)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _decorator(options: Namespace) -> str:
    arguments = (options.compiler, options.show, options.quiet, options.promotion)
    return f"__import__('nxkernel_magics.cell_options').cell_options.define{arguments!r}"


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Register ``%%defn`` with a shell; returns a function that unregisters."""
    return first_line_rewriting.install(shell, rewrite_first_line, DecorateDefinitions())
