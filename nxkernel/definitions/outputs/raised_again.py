"""Errors of an earlier time, raised with the lines of code in their traceback that raised them then."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, NamedTuple, NoReturn

from nxkernel.definitions.keys import source_locations
from nxkernel.errors import NxError
from nxkernel.graph.expr import SourceLocation


class Line(NamedTuple):
    """A place in code, as tracebacks show it."""

    file: str
    function: str
    line: int
    end_line: int
    column: int
    end_column: int

    @classmethod
    def of(cls, code: CodeType, last: int) -> Line:
        """The place of an instruction, by its index."""
        line, end_line, column, end_column = list(code.co_positions())[last // 2]
        line = line or code.co_firstlineno
        return cls(code.co_filename, code.co_qualname, line, end_line or line, column or 0, end_column or 0)

    @classmethod
    def whole(cls, source: SourceLocation) -> Line:
        """All of a line, of whose parts nothing is known."""
        text = linecache.getline(source.file, source.line).rstrip()
        start = len(text) - len(text.lstrip())
        return cls(source.file, source.function, source.line, source.line, start, len(text.encode()))


@dataclass(frozen=True)
class LocatedErrors:
    """Calls a function; an error that it raises tells a line of the user's.

    One of nxkernel's tells it in its text, another one in its traceback, unless a line of the user's is there.

    Parameters
    ----------
    function : callable
        What is called when a program has run.
    lines : tuple of str
        The line as texts tell it.
    place : Line
    """

    function: Callable[[tuple], None]
    lines: tuple[str, ...]
    place: Line

    #: Whether the caller's arrays are to be as they were where this is called.
    raises = True

    @property
    def has_flag(self) -> bool:
        """Whether the first value tells if there is anything to be done."""
        return getattr(self.function, "has_flag", False)

    def __call__(self, values: tuple) -> None:
        """Call the function with the values of the program."""
        try:
            self.function(values)
        except NxError as error:
            what, *hints = str(error).split("\n")
            error.args = ("\n".join([what, *(f"  {line}" for line in self.lines), *hints]),)
            raise
        except Exception as error:
            if source_locations.users_traceback(error.__traceback__) is not None:
                raise
            raised_at(error.with_traceback(None), [self.place])


def located(function: Callable[[Any], None], source: SourceLocation | None) -> Callable[[Any], None]:
    """What is called after a run; if it raises errors, they tell the line that asked for it."""
    if source is None or not getattr(function, "raises", False):
        return function
    return LocatedErrors(function, tuple(source_locations.line_of(source)), Line.whole(source))


def raised_at(error: BaseException, trail: Sequence[Line]) -> NoReturn:
    """Raise an error whose traceback ends with these lines, the outermost first.

    Python makes tracebacks of the frames that an error goes through: each line gets a frame of code that says it is
    from there.

    Examples
    --------
    >>> import traceback
    >>> try:
    ...     raised_at(ValueError("negative"), [Line("a.py", "f", 7, 7, 4, 9), Line("a.py", "g", 3, 3, 0, 5)])
    ... except ValueError as error:
    ...     [(step.name, step.lineno) for step in traceback.extract_tb(error.__traceback__)[-2:]]
    [('f', 7), ('g', 3)]
    """
    go_on = None
    for line in reversed(trail):
        go_on = functools.partial(exec, _code(line, go_on is None), {"error": error, "go_on": go_on})
    if go_on is not None:
        go_on()
    raise error


def _code(line: Line, is_last: bool) -> CodeType:
    name = ast.Name("error" if is_last else "go_on", ast.Load())
    statement: Any = ast.Raise(name, None) if is_last else ast.Expr(ast.Call(name, [], []))
    for node in ast.walk(statement):
        if "lineno" in node._attributes:
            node.lineno, node.end_lineno = line.line, line.end_line
            node.col_offset, node.end_col_offset = line.column, line.end_column
    nothing = ast.arguments([], [], None, [], [], None, [])
    around = ast.FunctionDef("raises", nothing, [statement], [], None)
    around.lineno, around.end_lineno = _first_line(line), line.end_line
    around.col_offset = around.end_col_offset = 0
    module = compile(ast.Module([around], []), line.file, "exec", dont_inherit=True)
    code = next(each for each in module.co_consts if isinstance(each, CodeType))
    return code.replace(co_name=line.function.rpartition(".")[2], co_qualname=line.function)


def _first_line(line: Line) -> int:
    """Where the function of a line begins, from which IPython shows lines of a kernel's cells."""
    if line.function == "<module>":
        return 1
    try:
        tree = ast.parse("".join(linecache.getlines(line.file)))
    except SyntaxError:
        return line.line
    around = [
        min([node.lineno, *(each.lineno for each in node.decorator_list)])
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name == line.function.rpartition(".")[2]
        and node.lineno <= line.line <= (node.end_lineno or node.lineno)
    ]
    return max(around, default=line.line)
