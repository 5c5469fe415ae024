"""A call as it is written on the line of a magic: what is called, with what, and what came of it."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from nxkernel.defn.events import Event, stream
from nxkernel_lab.wording import count, duration


@dataclass(frozen=True)
class Call:
    """A call that has been read but not made.

    Parameters
    ----------
    function : callable
        What the expression's outermost call calls.
    args, kwargs : tuple, dict
        Its evaluated arguments.
    file : str
        The name under which IPython shows the line in tracebacks.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    file: str

    def make(self, function: Callable[..., Any] | None = None) -> Any:
        """Call `function`, by default the one that was written, from a frame that belongs to the cell."""
        scope = {"function": self.function if function is None else function, "args": self.args, "kwargs": self.kwargs}
        return eval(compile("function(*args, **kwargs)", self.file, "eval"), scope)


def read_call(shell: InteractiveShell, magic: str, text: str) -> Call:
    """Evaluate the function and the arguments of an expression's outermost call.

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
    Call

    Raises
    ------
    UsageError
        Where the text is not an expression, or not a call.
    """
    text = text.strip().rstrip(";").rstrip()
    file = shell.compile.cache(text, shell.execution_count)
    try:
        expression = ast.parse(text, file, mode="eval").body
    except SyntaxError as error:
        caret = " " * ((error.offset or 1) - 1)
        raise UsageError(f"{magic}: {error.msg}\n  {text}\n  {caret}^") from None
    if not isinstance(expression, ast.Call):
        raise UsageError(f"{magic} takes a call, such as `{magic} f(x, axis=0)`, got `{text}`.")
    function = _evaluate(shell, expression.func, file)
    taken = ast.Call(ast.Name("taken", ast.Load()), expression.args, expression.keywords)
    args, kwargs = _evaluate(shell, ast.copy_location(taken, expression), file)
    return Call(function, args, kwargs, file)


def _evaluate(shell: InteractiveShell, expression: ast.expr, file: str) -> Any:
    code = compile(ast.fix_missing_locations(ast.Expression(expression)), file, "eval")
    return eval(code, shell.user_global_ns, {"taken": lambda *args, **kwargs: (args, kwargs)})


@dataclass
class Witness:
    """What happened during a call.

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
        """One line for a person, and a second with advice where there is some."""
        misses = [event for event in self.events if event.kind == "miss"]
        parts: list[str] = []
        for event in misses:
            parts.append(f"traced {duration(event.trace_ms)}")
            if event.compiled:
                parts.append(f"compiled {count(event.compiled, 'kernel')} {duration(event.lower_ms + event.native_ms)}")
            if event.reused:
                parts.append(f"{count(event.reused, 'kernel')} reused")
            parts.extend(event.reason)
        if not misses and any(event.kind == "hit" for event in self.events):
            parts.append("answered from the cache")
        spent = sum(event.total_ms for event in misses)
        parts.append(f"ran {duration(max(0.0, 1e3 * self.seconds - spent))}")
        return "\n  ".join([" · ".join(parts), *dict.fromkeys(event.advice for event in misses if event.advice)])


@contextmanager
def witnessed():
    """Record the events and the time of the calls made under ``with``."""
    witness = Witness()
    stop = stream.subscribe(witness.events.append)
    start = time.perf_counter()
    try:
        yield witness
    finally:
        witness.seconds = time.perf_counter() - start
        stop()
