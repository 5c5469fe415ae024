"""Recording: while a trace is active in a thread, primitives become nodes instead of running."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from nxkernel.graph.expr import Expr, Graph, Source, VectorizedExpr, parameter
from nxkernel.operand import entry_spec
from nxkernel.primitives import Primitive, Spec, constant, elem
from nxkernel.primitives import parameter as parameter_

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

    def node(self, operand: Any) -> Expr:
        """The node that stands for an operand; tensors are captured."""
        return operand if type(operand) is Expr else self.capture(operand)

    def sees_vectors(self, operand: Any) -> bool:
        """Whether it goes over the vectorized axes of an operand; the body of a primitive sees one entry of them."""
        return True

    def record(self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Add a node; tensors among the operands are captured. Several results are a tuple of ``elem`` nodes."""
        nodes = tuple(map(self.node, operands))
        spec = primitive.rule(*[node.spec for node in nodes], **params)
        self.nodes += 1
        node = self._made(Expr(primitive, nodes, params, spec, user_line()))
        if type(spec) is not tuple:
            return node
        return tuple(
            self._made(Expr(elem, (node,), {"index": index}, part, node.source)) for index, part in enumerate(spec)
        )

    def _made(self, node: Expr) -> Expr:
        return node


class BodyTrace(Trace):
    """A run of a function that becomes part of a primitive: values from outside turn into parameters of its graph.

    Attributes
    ----------
    captured : list
        The tensors or nodes from outside that it uses, in the order of the parameters that stand for them.
    """

    __slots__ = ("_own", "_stand_ins", "captured")

    def __init__(self) -> None:
        super().__init__(self._lift)
        self.captured: list[Any] = []
        self._own: set[Expr] = set()
        self._stand_ins: dict[int, Expr] = {}

    def node(self, operand: Any) -> Expr:
        """As for any trace; nodes of other traces get parameters."""
        if type(operand) is Expr and (operand in self._own or operand.primitive is constant):
            return operand
        return self._lift(operand)

    def sees_vectors(self, operand: Any) -> bool:
        """Of its own values only."""
        return type(operand) is VectorizedExpr and operand.node in self._own

    def _lift(self, value: Any) -> Expr:
        found = self._stand_ins.get(id(value))
        if found is None:
            found = self._stand_ins[id(value)] = self.input("outside", entry_spec(value.spec))
            self.captured.append(value)
        return found

    def input(self, name: str, spec: Spec) -> Expr:
        """A new parameter, after those that there are."""
        place = sum(node.primitive is parameter_ for node in self._own)
        return self._made(parameter(place, name, spec))

    def _made(self, node: Expr) -> Expr:
        self._own.add(node)
        return node


def trace_body(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[tuple[str, Spec]],
    leaves: Callable[[Any], Sequence[Any]],
) -> tuple[Graph, list[Any]]:
    """Trace a function into a graph of its own, whatever trace is active outside.

    Parameters
    ----------
    name : str
        Of the graph.
    function : callable
        Called with one node for each input.
    inputs : sequence of (str, Spec)
    leaves : callable
        Gives the tensors or nodes in what the function returned; called while the trace is active.

    Returns
    -------
    Graph
        Its parameters are the inputs, then what it uses from outside.
    list
        The tensors or nodes from outside.
    """
    with BodyTrace() as trace:
        parameters = [trace.input(label, spec) for label, spec in inputs]
        outputs = [trace.node(leaf) for leaf in leaves(function(*parameters))]
    lifted = [trace._stand_ins[id(value)] for value in trace.captured]
    return Graph(name, [*parameters, *lifted], outputs, list), trace.captured


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
