"""Rewriting the first line of cells such as ``%%defn`` to a statement, so that line numbers stay."""

from __future__ import annotations

import ast
from collections.abc import Callable

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import MagicArgumentParser

from nxkernel.definitions.tracing.dialects import DIALECTS

#: Gives the lines of a cell as IPython is to see them.
Rewrite = Callable[[list[str]], list[str]]


def parser(magic: str, description: str) -> MagicArgumentParser:
    """A parser of the options that all such cells have.

    Parameters
    ----------
    magic : str
        Such as ``"%defn"``.
    description : str
        What it does, in a sentence.

    Returns
    -------
    MagicArgumentParser
        To which others may be added.
    """
    options = MagicArgumentParser(prog=magic, description=description)
    options.add_argument("--compiler", metavar="NAME", help="what makes it run; the default option says else")
    options.add_argument("--promotion", choices=tuple(DIALECTS), help="whose rules of types hold; the code says else")
    return options


def rewriting(mark: str, statement: Callable[[str], str]) -> Rewrite:
    r"""An input transformer that replaces the first line of cells with this mark by a statement.

    Parameters
    ----------
    mark : str
        Such as ``"%%defn"``.
    statement : callable
        Gives the statement for the rest of the line.

    Returns
    -------
    callable
        Of the cell's lines with their ends, as IPython's input transformers take them; gives as many lines.

    Examples
    --------
    >>> rewriting("%%twice", lambda line: f"twice({line!r})")(["%%twice --fast\n", "x\n"])
    ["twice('--fast')\n", 'x\n']
    """

    def rewrite(lines: list[str]) -> list[str]:
        if not lines or lines[0].split(maxsplit=1)[:1] != [mark] or lines[0].rstrip().endswith("?"):
            return lines
        return [statement(lines[0].strip().removeprefix(mark).strip()) + "\n", *lines[1:]]

    # A terminal decides by the `%%` of the first line that a cell goes on until an empty line, so it must still see it.
    rewrite.has_side_effects = True
    return rewrite


def install(shell: InteractiveShell, rewrite: Rewrite, visitor: ast.NodeVisitor) -> Callable[[], None]:
    """Register the transformers with a shell; returns a function that unregisters.

    Parameters
    ----------
    shell : InteractiveShell
        The shell whose input is transformed.
    rewrite : callable
        Changes the first line.
    visitor : ast.NodeVisitor
        Changes the tree that IPython is about to run.

    Returns
    -------
    callable
    """
    shell.input_transformers_cleanup.append(rewrite)
    shell.ast_transformers.append(visitor)

    def remove() -> None:
        shell.input_transformers_cleanup.remove(rewrite)
        if visitor in shell.ast_transformers:
            shell.ast_transformers.remove(visitor)

    return remove
