"""The two dialects of a definition: Nx's, with immutable values, and NumPy's, with arrays that are assigned into."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from nxkernel import numpy as nnp
from nxkernel import types
from nxkernel.container_classes.declarations import is_declared
from nxkernel.definitions.flow.values import mutable_arguments
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument
from nxkernel.definitions.keys import argument_identity, containers, source_locations
from nxkernel.definitions.keys.leaves import Leaf
from nxkernel.definitions.keys.static_values import CONTAINERS
from nxkernel.definitions.tracing.whose_rules import NUMPY, NX, are_numbers
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, SourceLocation, TracedValue, VectorizedExpr
from nxkernel.graph.tracing import Trace
from nxkernel.numpy.arrays.array import BY_LAYOUT, UNORDERED, Array, ArrayValue, Scalar
from nxkernel.ops.machinery import dispatch


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
        if leaf.number and (node.type.is_float or node.type.is_complex):
            self.run.weak.add(node)
        mutable_arguments.remember(self.run, node, leaf.path, leaf.array)
        return node

    def captured(self, name: str, node: Any) -> Any:
        """What the function sees for a captured array."""
        return node

    def changes(self) -> list[tuple[int, Expr]]:
        """The arguments that were assigned into, and their final contents."""
        arguments = [(position, before, argument.root.content()) for position, before, argument in self._mutable]
        return [(position, after) for position, before, after in arguments if after is not before]

    def given_shapes(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The arguments that were given another shape, and which."""
        return ()

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
            When a captured array was assigned into, or given another shape.
        """
        for name, before, array in self._captured.values():
            if array.shape != array.root.shape:
                raise NxTypeError(
                    message(
                        f"{name} is an array from outside of the definition, and it is given the shape {array.shape}.",
                        f"{name}.reshape{array.shape} gives another array, and leaves this one as it is.",
                    )
                )
            if array.root.read() is not before:
                raise NxTypeError(
                    message(
                        f"{name} is an array from outside of the definition, and it is assigned into.",
                        *source_locations.line_of(array.root.read().source),
                        "Pass it as an argument: arrays that are arguments are changed as NumPy would.",
                        *([_OF_AN_OBJECT] if "." in name else []),
                    )
                )
        return super().changes()

    def given_shapes(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The arguments that were given another shape, as by ``x.shape = 3, 2``, and which."""
        return tuple(
            [(position, array.shape) for position, _, array in self._mutable if array.shape != array.root.shape]
        )


_OF_AN_OBJECT = "Those of an object are arguments where its class is declared: nx.container(Class), or @nx.container."
DIALECTS: dict[str, type[Dialect]] = {NX: Dialect, NUMPY: NumpyDialect}


def is_static(value: Any, dialect: str) -> bool:
    """Whether an argument by position is a static value, without being declared as one.

    By NumPy's rules all are but numbers, arrays and containers of them: a list, tuple or dict with text or objects in
    it is one, and a dataclass is a container where it holds arrays and nothing else than data, or where it says which
    of its fields are. By Nx's rules it is what says how to compute: text, None, functions, types, slices and members
    of enumerations, and tuples, lists and dicts of these alone.
    """
    return _is_no_data(value) if dialect == NUMPY else _says_how(value)


#: What says how to compute, besides functions.
_SAYING = (str, type(None), enum.Enum, slice, type(Ellipsis), types.Type, np.dtype)


def _says_how(value: Any) -> bool:
    """Whether a value says how to compute, and holds nothing that is computed with."""
    if isinstance(value, tuple | list | dict):
        try:
            parts = value.values() if isinstance(value, dict) else value
            return bool(value) and all(map(_says_how, parts))
        except RecursionError:
            return False
    return containers.is_opaque(value) and (isinstance(value, _SAYING) or callable(value))


def _is_no_data(value: Any) -> bool:
    if containers.is_leaf(value) or isinstance(value, TracedValue):
        return False
    if is_declared(value):
        return False
    if not isinstance(value, CONTAINERS) and (containers.inside(value) is None or are_numbers([value])):
        return True
    try:
        return not _holds_data_alone(value)
    except RecursionError:
        return not isinstance(value, CONTAINERS)


def _holds_data_alone(value: Any) -> bool:
    """Whether a value is a leaf, or a container of nothing else; declared classes say themselves what is data."""
    if containers.is_leaf(value) or is_declared(value):
        return True
    opened = containers.inside(value)
    return opened is not None and all(_holds_data_alone(part) for _, part in opened[2])


def current() -> str:
    """The dialect of the function that is being traced."""
    return NUMPY if types.follows_numpy() else NX


def inside(dialect: str, function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Call a definition while another one is traced: values are converted to its dialect, and the result back."""
    around = current()
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
    parts = _taken_apart(value)
    if parts is None:
        return value
    structure, leaves = parts
    return containers.rebuild(structure, iter([change(leaf) for leaf in leaves]))


class _NotTensorsError(Exception):
    pass


def _taken_apart(value: Any) -> tuple[containers.Structure, list[Any]] | None:
    """The structure and the leaves of a container of tensors, arrays and numbers; None for anything else."""
    leaves: list[tuple[str, Any]] = []
    try:
        structure = containers.flatten(value, "", leaves, lambda path, part: _NotTensorsError())
    except _NotTensorsError:
        return None
    return structure, [leaf for _, leaf in leaves]


def _as_array(value: Any) -> Any:
    if isinstance(value, ArrayValue) or dispatch.is_number(value):
        return value
    return nnp.wrap(dispatch.operand(value))


def _as_traced(value: Any) -> Any:
    return value.__nx_operand__() if isinstance(value, ArrayValue) else value
