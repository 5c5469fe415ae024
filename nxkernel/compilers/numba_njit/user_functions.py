"""The user's functions of single numbers in a program's source: their own text, below ``numba.njit``."""

from __future__ import annotations

import ast
import inspect
import textwrap
from types import FunctionType

from nxkernel import numba_functions
from nxkernel.compilers.numba_njit.source_writer import SourceWriter
from nxkernel.errors import CompilationError, message
from nxkernel.graph.expr import Expr, at_line
from nxkernel.numba_functions import ScalarFunction

#: What a module for Numba imports, by name.
MODULES = {"math": "math", "np": "numpy", "numpy": "numpy", "numba": "numba"}


def add(writer: SourceWriter, function: ScalarFunction, node: Expr | None = None) -> None:
    """Put a function that a node calls into the source; see :func:`add_python`."""
    add_python(writer, function.name, numba_functions.python_function(function.call), node)


def add_python(writer: SourceWriter, name: str, python: FunctionType, node: Expr | None = None) -> None:
    """Put a function into the source, and those that it calls.

    Parameters
    ----------
    writer : SourceWriter
    name : str
        By which the program calls it.
    python : function
        As the user wrote it.
    node : Expr, optional
        Where it is called, for the error.

    Raises
    ------
    CompilationError
        Where the text is not known, or names something that a module by itself does not have.
    """
    if name in writer.functions:
        return
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(python))).body[0]
    except (OSError, TypeError, SyntaxError):
        tree = None
    if not isinstance(tree, ast.FunctionDef):
        raise _error(name, "its text is not known", node)
    tree.decorator_list = []
    for free in (*python.__code__.co_names, *python.__code__.co_freevars):
        value = _looked_up(python, free)
        if value is _MISSING or free in MODULES:
            continue
        inner = getattr(value, "py_func", None)
        if inner is None:
            raise _error(name, f"it reads {free}, which a module by itself does not have", node)
        add_python(writer, free, inner, node)
    writer.functions[name] = f'@numba.njit(error_model="numpy")\n{ast.unparse(tree)}\n'


_MISSING = object()


def _looked_up(python: FunctionType, name: str) -> object:
    """What a name of a function stands for outside of it; attributes of modules and built-in names are nothing."""
    cells = dict(zip(python.__code__.co_freevars, python.__closure__ or (), strict=True))
    if name in cells:
        return cells[name].cell_contents
    if name in python.__globals__:
        return python.__globals__[name]
    return _MISSING


def _error(name: str, reason: str, node: Expr | None) -> CompilationError:
    where = at_line(node.source) if node is not None else ""
    what = f"{name}, which Numba compiled, cannot be part of a source by itself: {reason}{where}."
    return CompilationError(message(what, 'The compiler "numba_cpu" runs it.'))
