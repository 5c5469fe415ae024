"""Parsing and running the call on the line of a magic, and reporting what happened.

IPython leaves frames with a local ``__tracebackhide__`` out of tracebacks: a person sees their cell and their function.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from nxkernel.definitions.observe.events import Event, stream
from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import duration

#: How wide lines of advice are.
WIDTH = 88


@dataclass(frozen=True)
class ParsedCall:
    """A call that has been parsed but not made.

    Parameters
    ----------
    function : callable
        What the expression's outermost call calls.
    args, kwargs : tuple, dict
        Its evaluated arguments.
    file, line : str, int
        Where the cell's line stands, so that it is what called in tracebacks and events.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    file: str
    line: int

    def make(self, function: Callable[..., Any] | None = None) -> Any:
        """Call `function`, by default the one that was written, in a frame attributed to the cell."""
        __tracebackhide__ = True
        # The line of the cell is in the traceback already, as that of the command.
        scope = {"args": self.args, "kwargs": self.kwargs, "__tracebackhide__": True}
        scope["function"] = self.function if function is None else function
        code = _expression(ast.parse("function(*args, **kwargs)", mode="eval").body, self.file, self.line)
        return eval(code, scope)


def read_call(shell: InteractiveShell, magic: str, text: str) -> ParsedCall:
    """Evaluate the function and the arguments of the outermost call of an expression.

    Parameters
    ----------
    shell : InteractiveShell
        Whose variables the expression may use.
    magic : str
        The command, for errors: ``"%jit"``.
    text : str
        The expression, such as ``smooth(grid, steps=200)``.

    Returns
    -------
    ParsedCall

    Raises
    ------
    UsageError
        Where the text is not an expression, or not a call.
    """
    __tracebackhide__ = True
    text = text.strip().rstrip(";").rstrip()
    file, line = cell_line(shell)
    try:
        expression = ast.parse(text, file, mode="eval").body
    except SyntaxError as error:
        caret = " " * ((error.offset or 1) - 1)
        hint = _assigned(magic, text)
        raise UsageError(f"{magic}: {error.msg}\n  {text}\n  {caret}^{hint}") from None
    if not isinstance(expression, ast.Call):
        within = _call_within(expression)
        hint = f"\n  Give the call alone: `{magic} {ast.unparse(within)}`." if within is not None else ""
        raise UsageError(f"{magic} takes a call, such as `{magic} f(x, axis=0)`, got `{text}`.{hint}")
    taken = ast.Call(ast.Name("taken", ast.Load()), expression.args, expression.keywords)
    scope = {"taken": lambda *args, **kwargs: (args, kwargs), "__tracebackhide__": True}
    function = eval(_expression(expression.func, file, line), shell.user_global_ns, scope)
    args, kwargs = eval(_expression(taken, file, line), shell.user_global_ns, scope)
    return ParsedCall(function, args, kwargs, file, line)


def _assigned(magic: str, text: str) -> str:
    """The hint for a line that assigns the result of a call."""
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return ""
    if not isinstance(statement, ast.Assign):
        return ""
    names = text.partition("=")[0].strip()
    return f"\n  Assign the whole line: `{names} = {magic} {ast.unparse(statement.value)}`."


def _call_within(expression: ast.expr) -> ast.Call | None:
    """The call of whose result an expression takes an element or attribute."""
    while isinstance(expression, ast.Subscript | ast.Attribute):
        expression = expression.value
    return expression if isinstance(expression, ast.Call) else None


def cell_line(shell: InteractiveShell) -> tuple[str, int]:
    """File name and line number of the running cell.

    Parameters
    ----------
    shell : InteractiveShell

    Returns
    -------
    str
    int
    """
    frame = sys._getframe(1)
    while frame is not None and not shell.compile.format_code_name(frame.f_code.co_filename):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("<magic>", 1)


def _expression(expression: ast.expr, file: str, line: int) -> CodeType:
    for node in ast.walk(expression):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
    return compile(ast.Expression(expression), file, "eval")


@dataclass
class CallReport:
    """The events and the time of a call.

    Parameters
    ----------
    events : list of Event
        The records, in order.
    seconds : float
        How long it took in all.
    """

    events: list[Event] = field(default_factory=list)
    seconds: float = 0.0

    def line(self) -> str:
        """The report in one line, and more lines for advice and for surprises in the trace."""
        misses = [event for event in self.events if event.kind == "miss"]
        parts: list[str] = []
        for event in misses:
            parts.append(f"traced {duration(event.trace_ms)}")
            if event.compiled:
                took = duration(event.lower_ms + event.native_ms)
                parts.append(f"compiled {counted(event.compiled, 'kernel')} {took}")
            words = ((event.reused - event.disk, "from memory"), (event.disk, "from disk"))
            parts += [f"{counted(number, 'kernel')} {where}" for number, where in words if number]
            parts.extend(event.reason)
        if not misses and any(event.kind == "hit" for event in self.events):
            parts.append("answered from the cache")
        spent = sum(event.total_ms for event in misses)
        parts.append(f"ran {duration(max(0.0, 1e3 * self.seconds - spent))}")
        more = [text for event in misses for text in (event.advice, *event.notes) if text]
        # A notebook breaks a line that is too wide for it in the middle of a word.
        broken = [line for text in dict.fromkeys(more) for line in textwrap.wrap(text, WIDTH)]
        return "\n  ".join([" · ".join(parts), *broken])


@contextmanager
def witnessed():
    """Context manager: record the events and the time of calls."""
    witness = CallReport()
    stop = stream.subscribe(witness.events.append)
    start = time.perf_counter()
    try:
        yield witness
    finally:
        witness.seconds = time.perf_counter() - start
        stop()
