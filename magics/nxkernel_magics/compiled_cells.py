"""``%%jit`` cells: the statements of the cell are compiled to one program, which runs in their place.

As for ``%%defn``, the first line becomes a statement before IPython parses the cell, so that the lines and the errors
of Python's parser are the cell's own; then what stands below it is left out of the tree that IPython runs.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import MagicArgumentParser

from nxkernel.definitions.calls.notebook_cell import CompiledCell
from nxkernel.definitions.keys import source_locations
from nxkernel_magics import first_line_rewriting
from nxkernel_magics.arguments import parse
from nxkernel_magics.call_parsing import ParsedCall, cell_line, witnessed
from nxkernel_magics.definition_lookup import compiled_cells


def parser() -> MagicArgumentParser:
    """The parser of the options of ``%%jit``."""
    return first_line_rewriting.parser("%jit", "Compile the cell as one program, and run it.")


def statement(line: str) -> str:
    """The Python statement that replaces the line ``%%jit …``."""
    return f"get_ipython().run_cell_magic('jit', {line!r}, '')"


#: Puts the statement in place of the first line.
rewrite_first_line = first_line_rewriting.rewriting("%%jit", statement)


class RunCompiled(ast.NodeVisitor):
    """AST transformer that replaces the statements of a ``%%jit`` cell by a call that compiles and runs them."""

    def visit(self, tree: ast.AST) -> ast.AST:
        """Replace in place when the tree is that of a ``%%jit`` cell with something in it.

        Parameters
        ----------
        tree : ast.AST
            A parsed cell.

        Returns
        -------
        ast.AST
            The same tree.
        """
        line = _line_of(tree)
        if line is None or len(tree.body) == 1:
            return tree
        text = f"__import__('nxkernel_magics.compiled_cells').compiled_cells.run(get_ipython(), {line!r})"
        call = ast.parse(text).body[0]
        for part in ast.walk(call):
            ast.copy_location(part, tree.body[0])
        tree.body = [call]
        return tree


def _line_of(tree: ast.AST) -> str | None:
    match tree:
        case ast.Module(
            body=[
                ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(attr="run_cell_magic"),
                        args=[ast.Constant(value="jit"), ast.Constant(value=str(line)), ast.Constant(value="")],
                    )
                ),
                *_,
            ]
        ):
            return line
    return None


def run(shell: InteractiveShell, line: str) -> Any:
    """Compile and run the current cell, and report in one line.

    Parameters
    ----------
    shell : InteractiveShell
        Whose variables the cell reads and assigns.
    line : str
        The options.

    Returns
    -------
    Any
        The value of the cell's last expression.
    """
    __tracebackhide__ = True
    options = parse(parser(), line)
    file, number = cell_line(shell)
    statements = ast.parse("".join(linecache.getlines(file)), file).body[1:]
    cell = CompiledCell(statements, file, shell.user_ns, compiler=options.compiler, promotion=options.promotion)
    with witnessed() as witness:
        result = ParsedCall(cell.definition, cell.args, cell.options, file, number).make()
    print(witness.line())
    compiled_cells(shell).remember(source_locations.name_of(file), cell.definition)
    return cell.finish(result)


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Register ``%%jit`` with a shell; returns a function that unregisters."""
    remove = first_line_rewriting.install(shell, rewrite_first_line, RunCompiled())

    def forget() -> None:
        remove()
        compiled_cells(shell).clear()

    return forget
