"""Unsupported syntax: an error for each construct, with its location and what to write instead."""

from __future__ import annotations

import ast
import linecache
import sys
from typing import NamedTuple

from nxkernel.definitions.keys import source_locations
from nxkernel.errors import CompilationError, message


class RefusedSyntaxError(CompilationError):
    """A construct that a definition cannot have, or source text that cannot be found."""

    #: The text names the line already.
    pointed_out = True


class SyntaxSite(NamedTuple):
    """The location of a construct; columns count bytes, as in Python's syntax trees.

    Rewritten code holds sites as plain tuples: ``Site(*found)`` makes one of them again.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str


def site(file: str, function: str, node: ast.AST) -> SyntaxSite:
    """The location of a node."""
    return SyntaxSite(file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, function)


def pointer(location: SyntaxSite | tuple) -> list[str]:
    """The lines of a message that show a location: file or cell and line, the code, and carets under it.

    Parameters
    ----------
    location : SyntaxSite or tuple

    Returns
    -------
    list of str
        One line when the source is not at hand.
    """
    location = SyntaxSite(*location)
    line = f"{source_locations.name_of(location.file)}, line {location.line}, in {location.function}:"
    text = linecache.getline(location.file, location.line).rstrip()
    if not text:
        return [line[:-1] + "."]
    begin = len(text.encode()[: location.column].decode(errors="replace"))
    end = len(text)
    if location.end_line == location.line:
        end = len(text.encode()[: location.end_column].decode(errors="replace"))
    indent = len(text) - len(text.lstrip())
    return [line, f"  {text.lstrip()}", f"  {' ' * (begin - indent)}{'^' * max(end - begin, 1)}"]


def refusal(what: str, location: SyntaxSite | tuple, *instead: str) -> RefusedSyntaxError:
    """The error for an unsupported construct.

    Parameters
    ----------
    what : str
        What is wrong.
    location : SyntaxSite or tuple
    *instead : str
        What to write instead.
    """
    return RefusedSyntaxError(message(what, *pointer(location), *instead))


def lost(name: str, location: tuple) -> None:
    """Refuse an assignment to a part of an immutable value if no variable here can take the result."""
    raise refusal(
        f"the assignment into `{name}` would be lost: a traced value does not change, and {name} is no variable of "
        f"{SyntaxSite(*location).function}.",
        location,
        f"Pass {name} as an argument, assign into that, and return it: `{name} = f({name})`.",
    )


#: The first word of a construct, what is wrong with it, and what to write instead.
_CONSTRUCTS: dict[type[ast.AST], tuple[str, str, tuple[str, ...]]] = {
    ast.TryStar: (
        "try",
        "a definition has no `except*`",
        ("Write `except`.",),
    ),
    ast.ClassDef: (
        "class",
        "a definition has no `class`",
        ("Write the class outside of the definition.",),
    ),
    ast.AsyncFunctionDef: (
        "async def",
        "a definition has no `async`: its compiled program runs from beginning to end",
        ("Write `def`, and await around the call of the definition.",),
    ),
    ast.Await: (
        "await",
        "a definition has no `await`: its compiled program runs from beginning to end",
        ("Await before the call of the definition, and pass it what came.",),
    ),
    ast.Yield: (
        "yield",
        "a definition has no `yield`: its compiled program runs from beginning to end",
        ("Return all values: as a tuple, as a list, or assigned into an array, `out[i] = value`.",),
    ),
    ast.Global: (
        "global",
        "a definition has no `global`: it changes nothing outside of itself",
        (
            "To read a global name needs no declaration.",
            "To change one, return the new value and assign it where the definition is called.",
        ),
    ),
    ast.Nonlocal: (
        "nonlocal",
        "a definition has no `nonlocal`: a function in it changes nothing outside of itself",
        ("Return the new value, and assign it where the function is called.",),
    ),
}
_CONSTRUCTS[ast.YieldFrom] = _CONSTRUCTS[ast.Yield]
_CONSTRUCTS[ast.AsyncWith] = _CONSTRUCTS[ast.AsyncFor] = _CONSTRUCTS[ast.AsyncFunctionDef]

#: Where none of these is, there is nothing to refuse.
_SUSPECT = (*_CONSTRUCTS, ast.NamedExpr, ast.comprehension)

#: Functions that look at the variables of the function that calls them, which is another one after rewriting.
_FRAMES = frozenset({"locals", "eval", "exec"})


def refuse(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, nodes: list[ast.AST], file: str, name: str
) -> None:
    """Raise an error for the first unsupported construct of a function.

    Decorated inner functions are not checked.

    Parameters
    ----------
    function : ast.FunctionDef or ast.Lambda
    nodes : list of ast.AST
        All nodes in it.
    file : str
    name : str
        Of the function, for the message.

    Raises
    ------
    RefusedSyntaxError
    """
    if not any(isinstance(node, _SUSPECT) or getattr(node, "id", "") in _FRAMES for node in nodes):
        return
    body = [function]
    if not isinstance(function, ast.AsyncFunctionDef):
        body = function.body if isinstance(function.body, list) else [function.body]
    _Refusing(file, name).all(body)


class _Refusing(ast.NodeVisitor):
    def __init__(self, file: str, name: str) -> None:
        self.file, self.name = file, name

    def all(self, nodes: list[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit(self, node: ast.AST) -> None:
        known = _CONSTRUCTS.get(type(node))
        if known is not None:
            word, what, instead = known
            location = site(self.file, self.name, node)
            if isinstance(node, ast.stmt):
                location = location._replace(end_line=node.lineno, end_column=node.col_offset + len(word))
            raise refusal(what, location, *instead)
        if isinstance(node, ast.FunctionDef):
            if not node.decorator_list:
                _Refusing(self.file, node.name).all([node.args, *node.body])
            return
        if isinstance(node, ast.comprehension) and node.is_async:
            raise refusal(_CONSTRUCTS[ast.Await][1], site(self.file, self.name, node.iter), *_CONSTRUCTS[ast.Await][2])
        if isinstance(node, ast.While) and node.orelse:
            for each in ast.walk(node.test):
                if isinstance(each, ast.NamedExpr):
                    raise walrus(self.file, self.name, each)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FRAMES:
            raise refusal(
                f"a definition has no `{node.func.id}`: its variables live in functions that are made of its blocks",
                site(self.file, self.name, node),
                "Name the variables, as in {'a': a, 'b': b}."
                if node.func.id == "locals"
                else "Write the code itself in place of its text.",
            )
        self.generic_visit(node)


def walrus(file: str, name: str, node: ast.NamedExpr) -> RefusedSyntaxError:
    """The error for ``:=`` inside an expression that may not be evaluated."""
    return refusal(
        "`:=` cannot stand where it may not be evaluated: after `and` or `or`, in `x if c else y`, or in the test of a "
        "loop with an `else`",
        site(file, name, node),
        f"Assign before: `{ast.unparse(node.target)} = {ast.unparse(node.value)}`.",
    )


_WRITE_IT = "Write it in a cell or a file; functions made by exec() or in a bare interpreter have no source."


def no_source(name: str, file: str, line: int) -> RefusedSyntaxError:
    """The error for a function that has to be rewritten and has no source."""
    return RefusedSyntaxError(
        message(
            f"the source of {name} cannot be found ({source_locations.name_of(file)}, line {line}): its control flow "
            "and assignments are compiled from source.",
            _WRITE_IT,
            "nx.jit(function) traces a function as it stands, without source.",
        )
    )


def too_deep(name: str, file: str, line: int) -> RefusedSyntaxError:
    """The error for a function whose source is nested too deeply to be rewritten."""
    limit = sys.getrecursionlimit()
    return RefusedSyntaxError(
        message(
            f"{name} ({source_locations.name_of(file)}, line {line}) has an expression or a chain of `elif`s of "
            f"hundreds of parts, which are one inside of the other: Python's limit of {limit} calls is too low for "
            "it to be rewritten.",
            f"Split it over several lines or functions, or make room by sys.setrecursionlimit({8 * limit}) before.",
            "nx.jit(function) traces a function as it stands.",
        )
    )


def unseen(name: str, file: str, line: int, error: Exception) -> RefusedSyntaxError:
    """The error for a function without source that gave traced values to NumPy."""
    text = str(error).partition("(#Nx")[0].split("\n")[0]
    return RefusedSyntaxError(
        message(
            f"the source of {name} cannot be found ({source_locations.name_of(file)}, line {line}), so it calls NumPy "
            "itself, which has no traced values.",
            f"NumPy says {type(error).__name__}: {text}",
            _WRITE_IT,
        )
    )


def recursion(file: str, name: str, node: ast.Call) -> RefusedSyntaxError:
    """The error for a function that calls itself without a known end."""
    return refusal(
        f"{name} calls itself, and nothing that is known when it is traced ends that",
        site(file, name, node),
        "Write a loop: `while` or `for`, with what changes from call to call as variables.",
        "Recursion is for what is known then: an option that counts down, `def f(x, *, n)`, or the shape of an "
        "argument.",
    )
