"""The two dialects of a definition: Nx's, with immutable values, and NumPy's, with arrays that are assigned into.

The dialect is inferred from the definition's code: one that names NumPy and not nxkernel has NumPy's. One that names
neither has NumPy's if its module imports NumPy and not nxkernel, or if it imports both and the code assigns into
arrays.
"""

from __future__ import annotations

import contextlib
import dis
import types as python
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from nxkernel import numpy as nnp
from nxkernel import types
from nxkernel.definitions.flow.values import mutable_arguments
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument
from nxkernel.definitions.keys import argument_identity, bytecode_reads, callables, containers, source_locations
from nxkernel.definitions.keys.leaves import Leaf
from nxkernel.definitions.keys.static_values import CONTAINERS, definition_of, installed
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, SourceLocation, TracedValue, VectorizedExpr
from nxkernel.graph.tracing import Trace
from nxkernel.numpy.arrays.array import BY_LAYOUT, UNORDERED, Array, ArrayValue, Scalar
from nxkernel.ops.machinery import dispatch
from nxkernel.tensor.tensor import Tensor

NX, NUMPY = "nx", "numpy"


class Dialect:
    """How a function sees its arguments and captured arrays while it is traced: Nx's dialect, as traced values.

    Parameters
    ----------
    run : Trace
        The trace that is active.
    """

    name = NX

    def __init__(self, run: Trace) -> None:
        self.run = run
        #: Position, value before, and the mutable argument, for each one that may be assigned into.
        self._mutable: list[tuple[int, Expr, MutableArgument | Array]] = []

    def rules(self) -> AbstractContextManager[None]:
        """A context in which the type promotion rules of the dialect hold."""
        return types.promotion(self.name)

    def argument(self, position: int, leaf: Leaf, node: Any) -> Any:
        """The value that the function gets for one leaf of its arguments."""
        if type(node) is not Expr:
            return node
        if leaf.assigned:
            argument = MutableArgument(node, leaf.path, leaf.array)
            self._mutable.append((position, argument.root.read(), argument))
            return argument
        mutable_arguments.remember(self.run, node, leaf.path, leaf.array)
        return node

    def captured(self, name: str, node: Any) -> Any:
        """What the function sees for a captured array."""
        return node

    def changes(self) -> list[tuple[int, Expr]]:
        """The arguments that were assigned into, and their final contents."""
        arguments = [(position, before, argument.root.content()) for position, before, argument in self._mutable]
        return [(position, after) for position, before, after in arguments if after is not before]

    def copied(self) -> tuple[tuple[int, SourceLocation | None], ...]:
        """The arguments of which a copy was assigned into by `grad`, `vmap` and the like, and where."""
        lines = argument_identity.written(self.run)
        return tuple(
            [(position, lines[argument.root]) for position, _, argument in self._mutable if argument.root in lines]
        )

    def reshaped(self) -> frozenset[int]:
        """The arguments whose elements must be in C order for the program to be right.

        Whether a result such as that of ``reshape`` was a view or a copy depended on it, and later assignments, or the
        value itself, made a difference.
        """
        roots = set()
        for sources, seen in self.run.memory.get(BY_LAYOUT, ()):
            if _matters(seen):
                roots.update(sources)
        for what, seen in self.run.memory.get(UNORDERED, ()):
            if _matters(seen):
                raise NxTypeError(
                    message(
                        f"{what} is seen in another shape, and it or that is assigned into: whether that is a view or "
                        "a copy depends on the order of its elements, and only the running program knows which array "
                        "it is.",
                        "Begin with a copy of it, np.ascontiguousarray(x), or let all that it may be have one order.",
                    )
                )
        return frozenset(position for position, _, argument in self._mutable if argument.root in roots)


def _matters(seen: Sequence[tuple[Any, int]]) -> bool:
    """Whether something was assigned after a memory order was asked for, or the answer was a copy."""
    return not seen or any(root.writes > before for root, before in seen)


class NumpyDialect(Dialect):
    """Arguments and captured arrays as NumPy's arrays and scalars."""

    name = NUMPY

    def __init__(self, run: Trace) -> None:
        super().__init__(run)
        self._captured: dict[int, tuple[str, Expr, Array]] = {}

    def argument(self, position: int, leaf: Leaf, node: Any) -> Any:
        """An array, or a scalar for a number or a value without axes; Python numbers stay weakly typed."""
        if leaf.number:
            self.run.weak.add(node)
        if not node.shape and not leaf.array:
            return Scalar(node)
        array = Array.of(node, leaf.path)
        array.root.cell.shared = True
        self._mutable.append((position, array.root.read(), array))
        return array

    def captured(self, name: str, node: Any) -> Any:
        """An array, the same object each time."""
        if not node.shape:
            return Scalar(node)
        key = id(node.node if type(node) is VectorizedExpr else node)
        if key not in self._captured:
            array = Array.of(node, name)
            self._captured[key] = (name, array.root.read(), array)
        return self._captured[key][2]

    def changes(self) -> list[tuple[int, Expr]]:
        """The arguments that were assigned into, and their final contents.

        Raises
        ------
        NxTypeError
            When a captured array was assigned into.
        """
        for name, before, array in self._captured.values():
            if array.root.read() is not before:
                raise NxTypeError(
                    message(
                        f"{name} is an array from outside of the definition, and it is assigned into.",
                        *source_locations.line_of(array.root.read().source),
                        "Pass it as an argument: arrays that are arguments are changed as NumPy would.",
                    )
                )
        return super().changes()


DIALECTS: dict[str, type[Dialect]] = {NX: Dialect, NUMPY: NumpyDialect}


def is_static(value: Any) -> bool:
    """Whether a value is a static argument in a NumPy program: no number, array or container of them."""
    if isinstance(value, CONTAINERS) or containers.is_leaf(value) or isinstance(value, TracedValue):
        return False
    return value is not containers.LEFT_OUT


def inside(dialect: str, function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Call a definition while another one is traced: values are converted to its dialect, and the result back."""
    around = NUMPY if types.follows_numpy() else NX
    if dialect == around:
        return function(*args, **options)
    enter, leave = (_as_array, _as_traced) if dialect == NUMPY else (_as_traced, _as_array)
    entered: dict[int, Any] = {}

    def once(value: Any) -> Any:
        # One array in two places is one for the function, too.
        return entered[id(value)] if id(value) in entered else entered.setdefault(id(value), enter(value))

    with types.promotion(dialect):
        result = function(*[_each(once, value) for value in args], **options)
    return _each(leave, result)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to the leaves of a container; a value that is no container of tensors is returned as it is."""
    leaves: list[tuple[str, Any]] = []
    try:
        structure = containers.flatten(value, "", leaves, lambda path, part: _NotTensorsError())
    except _NotTensorsError:
        return value
    return containers.rebuild(structure, iter([change(leaf) for _, leaf in leaves]))


class _NotTensorsError(Exception):
    pass


def _as_array(value: Any) -> Any:
    if isinstance(value, ArrayValue) or dispatch.is_number(value):
        return value
    return nnp.wrap(dispatch.operand(value))


def _as_traced(value: Any) -> Any:
    return value.__nx_operand__() if isinstance(value, ArrayValue) else value


def of(function: Any) -> str:
    """The dialect of a function, by the names in its code and in the plain functions that it calls."""
    function = getattr(function, "__func__", function)
    if not isinstance(function, python.FunctionType):
        return NX
    named = _named(function)
    if NX in named:
        return NX
    if NUMPY in named:
        return NUMPY
    # A copy: other threads may define names.
    at_hand = [value for value in list(function.__globals__.values()) if isinstance(value, python.ModuleType)]
    if not any(module is np for module in at_hand):
        return NX
    alone = not any(module.__name__.partition(".")[0] == "nxkernel" for module in at_hand)
    return NUMPY if alone or _assigns(function.__code__) else NX


def is_silent(function: Any) -> bool:
    """Whether a function's code names neither NumPy nor nxkernel, so that the dialect is a guess."""
    function = getattr(function, "__func__", function)
    return isinstance(function, python.FunctionType) and not _named(function)


def _assigns(code: python.CodeType) -> bool:
    """Whether code assigns into a part of something, or changes a parameter in place."""
    before = None
    for step in dis.get_instructions(code):
        if step.opname in ("STORE_SUBSCR", "STORE_SLICE"):
            return True
        in_place = before is not None and before.opname == "BINARY_OP" and before.argrepr.endswith("=")
        if in_place and step.opname == "STORE_FAST" and step.argval in code.co_varnames[: code.co_argcount]:
            return True
        before = step
    return any(_assigns(inner) for inner in code.co_consts if isinstance(inner, python.CodeType))


def named_by(function: python.FunctionType) -> set[str]:
    """Which of the two libraries a function, and the plain functions that it calls, name."""
    return _named(function)


def _named(function: python.FunctionType) -> set[str]:
    """Which of the two libraries a function, and the plain functions that it calls, name."""
    libraries: set[str] = set()
    waiting, seen = [function], {id(function)}
    while waiting:
        function = waiting.pop()
        code = function.__code__
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        for path in bytecode_reads.of_code(code).paths:
            name = path.names[0]
            value = function.__globals__.get(name)
            if path.root != "global":
                with contextlib.suppress(KeyError, ValueError):
                    value = cells[name].cell_contents
            library = _library(value)
            if library:
                libraries.add(library)
            elif isinstance(value, python.FunctionType) and id(value) not in seen and not installed(value):
                seen.add(id(value))
                waiting.append(value)
            elif definition_of(value) is not None:
                libraries.add(value.dialect if value.dialect == NUMPY else NX)
    return libraries


def _library(value: Any) -> str:
    if isinstance(value, python.ModuleType):
        module = value.__name__
    elif isinstance(value, np.ufunc):
        module = "numpy"
    elif callable(value) and not isinstance(value, Tensor | np.ndarray):
        module = callables.module_of(value)
    else:
        return ""
    root = module.partition(".")[0]
    if definition_of(value) is not None:
        return ""
    return {"numpy": NUMPY, "scipy": NUMPY, "nxkernel": NX}.get(root, "")
