"""Recording: while a trace is active in a thread, primitives become nodes instead of running."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from nxkernel.graph.expr import Expr, Source
from nxkernel.primitives import Primitive

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Trace:
    """One run of a function on parameters instead of tensors.

    Parameters
    ----------
    capture : callable
        Gives the node that stands for a tensor that the function uses without having been passed it.
    """

    __slots__ = ("capture", "nodes", "previous")

    def __init__(self, capture: Callable[[Any], Expr]) -> None:
        self.capture = capture
        self.nodes = 0
        self.previous: Trace | None = None

    def __enter__(self) -> Trace:
        self.previous, _state.trace = _state.trace, self
        return self

    def __exit__(self, *_: object) -> None:
        _state.trace = self.previous

    def record(self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]) -> Expr:
        """Add a node; tensors among the operands are captured."""
        nodes = tuple(operand if type(operand) is Expr else self.capture(operand) for operand in operands)
        spec = primitive.rule(*[node.spec for node in nodes], **params)
        self.nodes += 1
        return Expr(primitive, nodes, params, spec, user_line())


class _State(threading.local):
    trace: Trace | None = None


_state = _State()


def current() -> Trace | None:
    """The trace that is active in this thread."""
    return _state.trace


_inside: dict[str, bool] = {}


def user_line() -> Source | None:
    """The innermost line on the stack that is not nxkernel's own."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        own = _inside.get(name)
        if own is None:
            own = _inside[name] = name.startswith(_PACKAGE)
        if not own:
            return Source(name, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return None
