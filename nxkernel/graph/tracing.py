"""Tracing: while a trace is active in a thread, primitives are recorded as nodes instead of executed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, Graph, SourceLocation, VectorizedExpr, node_with, parameter
from nxkernel.graph.python_numbers import is_of_numbers
from nxkernel.operand import entry_spec
from nxkernel.primitives import PRODUCTS, Primitive, Spec, constant, elem
from nxkernel.primitives import parameter as parameter_
from nxkernel.scoped_settings import ScopedSetting, kept, settled
from nxkernel.tensor.tensor import StoredTensor, Tensor
from nxkernel.types import follows_numpy

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: The most operations of one trace: compiling twice as many takes minutes.
MOST = 100_000
#: A function that is traced as it is, and has more, is asked for loops: writing them out is what takes so many.
LONG = 500


class LongTraceError(BaseException):
    """A trace has become long that might be short if its loops were loops of the program.

    It is no Exception, so that no `except` of the function keeps it.
    """


class MutableCell:
    """A mutable reference whose value changes while a function is traced, such as the storage of an array.

    Parameters
    ----------
    name : str
        For messages.

    Attributes
    ----------
    shared : bool
        Whether the caller sees what is in it at the end.
    """

    __slots__ = ("name", "shared")

    def __init__(self, name: str = "") -> None:
        self.name, self.shared = name, False


class VectorizedValueError(NxTypeError):
    """A value with vectorized axes is part of a loop or branch, where entries might take different paths."""

    def __init__(self, spec: Any) -> None:
        super().__init__(
            message(
                f"a value with vectorized axes cannot be part of a loop or a choice of the program: {spec}.",
                "nx.devectorize(t) makes them plain axes; nx.select(condition, a, b) works for each entry.",
            )
        )


class Trace:
    """One run of a function on placeholders instead of tensors.

    Parameters
    ----------
    capture : callable
        Gives the node that stands for a tensor that the function uses without having been passed it.

    Attributes
    ----------
    cells : dict
        What is in each cell now.
    weak : set
        Nodes that stand for Python numbers: like those, they take the type of what they are combined with.
    memory : dict
        What those who trace want to remember from one body to the next, in the outermost trace.
    """

    __slots__ = ("capture", "cells", "memory", "nodes", "previous", "weak")

    #: Whether it is of a side of a branch.
    side = False

    def __init__(self, capture: Callable[[Any], Expr]) -> None:
        self.capture = capture
        self.nodes = 0
        self.previous: Trace | None = None
        self.cells: dict[MutableCell, Expr | VectorizedExpr] = {}
        self.weak: set[Expr] = set()
        self.memory: dict[Any, Any] = {}

    def __enter__(self) -> Trace:
        self.previous, _state.trace = _state.trace, self
        return self

    def __exit__(self, *_: object) -> None:
        _state.trace = self.previous

    @property
    def outermost(self) -> Trace:
        """The outermost trace that this one is nested in, or itself."""
        trace = self
        while trace.previous is not None:
            trace = trace.previous
        return trace

    @property
    def runs_once(self) -> bool:
        """Whether what is traced runs at most once in the program: only branches, and no loop's body, enclose it."""
        trace = self
        while trace.previous is not None:
            if not trace.side:
                return False
            trace = trace.previous
        return True

    def stands_for_number(self, value: Any) -> bool:
        """Whether a value, made in this trace or outside, stands for a Python number (is weakly typed)."""
        trace: Trace | None = self
        while trace is not None:
            if value in trace.weak:
                return True
            trace = trace.previous
        return False

    def node(self, operand: Any) -> Expr:
        """The node of an operand; tensors become captured inputs."""
        return operand if type(operand) is Expr else self.capture(operand)

    def seen(self, operand: Any) -> Any:
        """An operand as this trace handles it: with its vectorized axes, or as a plain node."""
        if type(operand) is VectorizedExpr:
            return operand
        node = self.node(operand)
        return node_with(node, operand.spec) if isinstance(operand, StoredTensor) else node

    def read(self, cell: MutableCell) -> Expr | VectorizedExpr:
        """The value of a cell."""
        return self.cells[cell]

    def write(self, cell: MutableCell, value: Expr | VectorizedExpr) -> None:
        """Set the value of a cell, of the same type and shape."""
        self.cells[cell] = value

    def knows(self, cell: MutableCell) -> bool:
        """Whether a cell was created in this trace."""
        return cell in self.cells

    def sees_vectors(self, operand: Any) -> bool:
        """Whether this trace handles the vectorized axes of an operand; the body of a primitive sees one entry."""
        return True

    def record(self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Add a node; tensors among the operands are captured. A multi-result primitive gives a tuple of ``elem``
        nodes.
        """
        nodes = tuple(map(self.node, operands))
        spec = primitive.rule(*[node.spec for node in nodes], **params)
        if _state.watch is not None:
            _state.watch(self, primitive, nodes, params)
        self.nodes += 1
        if self.nodes > LONG and _state.is_tentative:
            raise LongTraceError
        if self.nodes > MOST:
            raise _too_many()
        if primitive in PRODUCTS and follows_numpy() and (spec.type.is_float or spec.type.is_complex):
            params = {"rounded": True}
        node = self._added(Expr(primitive, nodes, params, spec, _state.source or user_line()))
        if self.weak and primitive.family == "elementwise":
            self._weaken(node)
        if type(spec) is not tuple:
            return node
        return tuple([self.result(node, index) for index in range(len(spec))])

    def result(self, node: Expr, index: int) -> Expr:
        """One result of a multi-result node."""
        return self._added(Expr(elem, (node,), {"index": index}, node.spec[index], node.source))

    def _added(self, node: Expr) -> Expr:
        return node

    def _weaken(self, node: Expr) -> None:
        """Mark a node computed from weak numbers only as weak."""
        strong = self.outermost.memory.get(_STRONG, ())
        arguments = [operand for operand in node.operands if operand in strong or not _is_of_constants(operand)]
        weak = [operand in self.weak for operand in arguments]
        if weak and all(weak) and is_of_numbers(node.spec.type):
            self.weak.add(node)


#: Under which key a trace remembers constants that are NumPy's numbers, which stand for none of Python's.
_STRONG = "constants of NumPy's"


#: Under which key a trace remembers the arrays that it holds itself, by their parameters.
_FIXED = "arrays that are part of the program"


def remember_fixed(node: Expr, array: Any) -> None:
    """Remember the elements of an array that is part of the program, such as one that NumPy made during the trace."""
    current().outermost.memory.setdefault(_FIXED, {})[node] = array


def fixed_array(node: Expr) -> Any:
    """The elements of an array that is part of the program; None for other nodes."""
    trace = current()
    return None if trace is None else trace.outermost.memory.get(_FIXED, {}).get(node)


def strengthen(value: Any) -> Any:
    """Mark a value computed from constants only as not weak, as ``np.sqrt(2.0)`` gives it, and return it.

    A constant that nobody remembers counts neither as a number of Python's nor as one of NumPy's.
    """
    trace = current()
    if trace is not None and type(value) is Expr and not value.spec.shape and _is_of_constants(value):
        trace.outermost.memory.setdefault(_STRONG, set()).add(value)
    return value


def _too_many() -> NxTypeError:
    """The error for a trace so large that it would take minutes to compile."""
    if follows_numpy():
        hint = "A loop over an array, or over range(n), is one of the program, as long as it keeps numbers in arrays."
    else:
        hint = "A loop over a tensor, or over range(n), is one of the program."
    return NxTypeError(
        message(
            f"this program has more than {MOST:,} operations: what goes over lists, and comprehensions, are written "
            "out turn by turn.",
            hint,
        )
    )


def _is_of_constants(node: Expr, depth: int = 4) -> bool:
    """Whether a node is computed from constants only."""
    if node.primitive is constant:
        return True
    alike = node.primitive.family == "elementwise" and node.operands and depth
    return bool(alike) and all(_is_of_constants(operand, depth - 1) for operand in node.operands)


class BodyTrace(Trace):
    """The trace of a loop's or branch's body: values from outside become parameters of its graph.

    Attributes
    ----------
    inputs : list of Expr
        The parameters that it was given.
    captured : list
        The tensors or nodes from outside that it uses, in the order of the parameters that stand for them.
    entered : dict
        For each cell from outside that it uses, the parameter for what was in it.
    written : set
        The cells from outside that it wrote to.
    side : bool
        Whether it is a side of a branch: it runs once, or not at all, each time that what is around it does.
    beginnings : dict
        For inputs of an iteration of a loop, what they are in the first one.
    relied_on : set
        Those of which that decided about a type.
    is_turn : bool
        Whether it is of the body of a loop.
    is_closed : bool
        Whether what it writes to cells from outside is handed on to nobody.
    """

    __slots__ = (
        "_own", "_placeholders", "beginnings", "captured", "entered", "inputs", "is_closed", "is_turn", "relied_on",
        "side", "written",
    )  # fmt: skip

    def __init__(self, side: bool = False, is_turn: bool = False) -> None:
        super().__init__(self._lift)
        self.side, self.is_turn = side, is_turn
        self.is_closed = False
        self.inputs: list[Expr] = []
        self.captured: list[Any] = []
        self.entered: dict[MutableCell, Expr] = {}
        self.written: set[MutableCell] = set()
        self.beginnings: dict[Expr, Any] = {}
        self.relied_on: set[Expr] = set()
        self._own: set[Expr] = set()
        self._placeholders: dict[int, Expr] = {}

    @property
    def lifted(self) -> list[Expr]:
        """The parameters that stand for captured values."""
        return [self._placeholders[id(value)] for value in self.captured]

    def read(self, cell: MutableCell) -> Expr | VectorizedExpr:
        """The value of a cell; a value from outside is a parameter."""
        if cell not in self.cells:
            spec = entry_spec(self.previous.read(cell).spec)
            self.cells[cell] = self.entered[cell] = self.parameter(cell.name or "outside", spec)
        return self.cells[cell]

    def write(self, cell: MutableCell, value: Expr | VectorizedExpr) -> None:
        """Set the value of a cell."""
        if cell not in self.cells and self.previous.knows(cell):
            self.read(cell)
        if cell in self.entered:
            self.written.add(cell)
        self.cells[cell] = value

    def knows(self, cell: MutableCell) -> bool:
        """Whether a cell was created in this trace or an enclosing one."""
        return super().knows(cell) or self.previous.knows(cell)

    def node(self, operand: Any) -> Expr:
        """As :meth:`Trace.node`; nodes of other traces become parameters for one entry of their vectorized axes.

        Raises
        ------
        VectorizedValueError
            For a value of its own that has vectorized axes.
        """
        if type(operand) is Expr and (operand in self._own or operand.primitive is constant):
            return operand
        if self.sees_vectors(operand):
            raise VectorizedValueError(operand.spec)
        return self._lift(operand)

    def seen(self, operand: Any) -> Any:
        """As :meth:`Trace.seen`; of vectorized axes handled outside, one entry."""
        return operand if self.sees_vectors(operand) else self.node(operand)

    def sees_vectors(self, operand: Any) -> bool:
        """Whether an operand is of this trace."""
        return type(operand) is VectorizedExpr and operand.node in self._own

    def _lift(self, value: Any) -> Expr:
        if isinstance(value, np.ndarray):
            value = Tensor.from_numpy(value) if self.previous is None else self.previous.capture(value)
        placeholder = self._placeholders.get(id(value))
        if placeholder is None:
            placeholder = self._placeholders[id(value)] = self.parameter("outside", entry_spec(value.spec))
            self.captured.append(value)
            if type(value) is Expr and self.previous is not None and self.previous.stands_for_number(value):
                self.weak.add(placeholder)
        return placeholder

    def input(self, name: str, spec: Spec) -> Expr:
        """An explicit parameter of the body; these come before all others."""
        self.inputs.append(self.parameter(name, spec))
        return self.inputs[-1]

    def parameter(self, name: str, spec: Spec) -> Expr:
        """A parameter whose argument the caller provides."""
        index = sum(node.primitive is parameter_ for node in self._own)
        return self._added(parameter(index, name, spec))

    def _added(self, node: Expr) -> Expr:
        self._own.add(node)
        return node


@settled
def trace_body(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[tuple[str, Spec]],
    leaves: Callable[[Any], Sequence[Any]],
) -> tuple[Graph, list[Any]]:
    """Trace a function into a graph of its own, independent of the active trace.

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
        trace.is_closed = True
        parameters = [trace.input(label, spec) for label, spec in inputs]
        outputs = [trace.node(leaf) for leaf in leaves(function(*parameters))]
    return Graph(name, [*parameters, *trace.lifted], outputs, list), trace.captured


#: Called with the trace, the primitive, its operands and its parameters.
Watch = Callable[[Trace, Primitive, tuple[Expr, ...], dict[str, Any]], None]


class _ThreadState(threading.local):
    trace: Trace | None = None
    source: SourceLocation | None = None
    module: str = ""
    is_tentative: bool = False
    watch: Watch | None = None


_state = kept(_ThreadState())


def current() -> Trace | None:
    """The active trace of this thread, or None."""
    return _state.trace


def weak(value: Any) -> bool:
    """Whether a traced value stands for a Python number."""
    trace = _state.trace if type(value) is Expr else None
    while trace is not None:
        if trace.weak and value in trace.weak:
            return True
        trace = trace.previous
    return False


def outermost(node: Expr) -> Expr:
    """The node outside of all loop and branch bodies that a body's parameter stands for."""
    trace = current()
    while node.primitive is parameter_ and isinstance(trace, BodyTrace):
        for value, placeholder in zip(trace.captured, trace.lifted, strict=True):
            if placeholder is node and type(value) is Expr:
                node = value
                break
        trace = trace.previous
    return node


def suspended() -> AbstractContextManager[None]:
    """Context manager: execute primitives at once, whatever trace is active."""
    return ScopedSetting(_state, "trace", None)


def recording_in(trace: Trace) -> AbstractContextManager[None]:
    """Context manager: record into a trace that encloses the active one, what comes before that there."""
    return ScopedSetting(_state, "trace", trace)


def watching(watch: Watch | None) -> AbstractContextManager[None]:
    """Context manager: a function is called for each operation before it is recorded; None for none."""
    return ScopedSetting(_state, "watch", watch)


def is_on_behalf() -> bool:
    """Whether new nodes are attributed to a given line: those of gradients, and such as are recorded again."""
    return _state.source is not None


def tentative(holds: bool) -> AbstractContextManager[None]:
    """Context manager: a trace that grows long is given up, with a :class:`LongTraceError`."""
    return ScopedSetting(_state, "is_tentative", holds)


def on_behalf(source: SourceLocation | None) -> AbstractContextManager[None]:
    """Context manager: attribute new nodes to a given user line."""
    return ScopedSetting(_state, "source", source)


def for_gradients() -> AbstractContextManager[None]:
    """Context manager: mark new nodes as made by gradients."""
    source = _state.source or user_line()
    return on_behalf(source and source._replace(gradient=True))


def of_module(path: str) -> AbstractContextManager[None]:
    """Context manager: attribute new nodes to a module of a network."""
    return ScopedSetting(_state, "module", path)


#: Files of nxkernel's own that were met; notebooks have a file for each cell that ever ran.
_own: set[str] = set()


def user_line() -> SourceLocation | None:
    """The innermost stack frame outside of nxkernel, as a source location."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name not in _own:
            if not name.startswith(_PACKAGE):
                return SourceLocation(name, frame.f_lineno, frame.f_code.co_name, _state.module)
            _own.add(name)
        frame = frame.f_back
    return None
