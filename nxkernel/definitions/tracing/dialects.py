"""The two dialects of a definition: Nx's, with immutable values, and NumPy's, with arrays that are assigned into.

Whose rules hold is seen from the code of the definition: one that names NumPy and nothing of nxkernel is a NumPy
program. One that names neither is one where NumPy is at hand and nxkernel is not, or where it assigns into arrays.
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
    """How a function sees its arguments and captured arrays while it is traced: as traced values.

    Parameters
    ----------
    run : Trace
        The trace that is active.
    """

    name = NX

    def __init__(self, run: Trace) -> None:
        self.run = run
        #: Place, value before and handle of each argument that is assigned into.
        self._given: list[tuple[int, Expr, MutableArgument | Array]] = []

    def rules(self) -> AbstractContextManager[None]:
        """The rules of types that hold meanwhile."""
        return types.promotion(self.name)

    def argument(self, place: int, leaf: Leaf, node: Any) -> Any:
        """What the function gets for a leaf of its arguments."""
        if type(node) is not Expr:
            return node
        if leaf.assigned:
            made = MutableArgument(node, leaf.path, leaf.array)
            self._given.append((place, made.root.read(), made))
            return made
        mutable_arguments.remember(self.run, node, leaf.path, leaf.array)
        return node

    def captured(self, name: str, node: Any) -> Any:
        """What the function finds under the name of an array from outside."""
        return node

    def changes(self) -> list[tuple[int, Expr]]:
        """The arguments that it assigned into, and what is in them at the end."""
        found = [(place, before, made.root.content()) for place, before, made in self._given]
        return [(place, after) for place, before, after in found if after is not before]

    def copied(self) -> tuple[tuple[int, SourceLocation | None], ...]:
        """The arguments whose copies a function of functions assigned into, and where."""
        found = argument_identity.written(self.run)
        return tuple([(place, found[made.root]) for place, _, made in self._given if made.root in found])

    def reshaped(self) -> frozenset[int]:
        """The arguments of which it matters that their elements lie in order.

        By that something was a view of them or a copy, and it or they were changed later, or it was another value.
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
        return frozenset(place for place, _, made in self._given if made.root in roots)


def _matters(seen: Sequence[tuple[Any, int]]) -> bool:
    """Whether something was assigned since an order was asked for, or the answer was another value."""
    return not seen or any(root.writes > before for root, before in seen)


class NumpyDialect(Dialect):
    """Arguments and captured arrays as NumPy's arrays and scalars."""

    name = NUMPY

    def __init__(self, run: Trace) -> None:
        super().__init__(run)
        self._captured: dict[int, tuple[str, Expr, Array]] = {}

    def argument(self, place: int, leaf: Leaf, node: Any) -> Any:
        """An array, or a scalar for a number and what has no axes; Python numbers stay weak."""
        if leaf.number:
            self.run.weak.add(node)
        if not node.shape and not leaf.array:
            return Scalar(node)
        made = Array.of(node, leaf.path)
        made.root.cell.shared = True
        self._given.append((place, made.root.read(), made))
        return made

    def captured(self, name: str, node: Any) -> Any:
        """An array, the same each time."""
        if not node.shape:
            return Scalar(node)
        whole = id(node.node if type(node) is VectorizedExpr else node)
        if whole not in self._captured:
            made = Array.of(node, name)
            self._captured[whole] = (name, made.root.read(), made)
        return self._captured[whole][2]

    def changes(self) -> list[tuple[int, Expr]]:
        """The arguments that it assigned into, and what is in them at the end.

        Raises
        ------
        NxTypeError
            When it assigned into an array from outside.
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
    """Whether an argument of a NumPy program is a fixed value: no number, array or container of such."""
    if isinstance(value, CONTAINERS) or containers.is_leaf(value) or isinstance(value, TracedValue):
        return False
    return value is not containers.LEFT_OUT


def inside(face: str, function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """A call of a definition while another one is traced: values change their face on the way in and out."""
    around = NUMPY if types.follows_numpy() else NX
    if face == around:
        return function(*args, **options)
    enter, leave = (_as_array, _as_traced) if face == NUMPY else (_as_traced, _as_array)
    entered: dict[int, Any] = {}

    def once(value: Any) -> Any:
        # One array in two places is one for the function, too.
        return entered[id(value)] if id(value) in entered else entered.setdefault(id(value), enter(value))

    with types.promotion(face):
        result = function(*[_each(once, value) for value in args], **options)
    return _each(leave, result)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """A container with other leaves; what is no container of tensors stays."""
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
    """The face of a function, by the names in its code and in the plain functions that it calls."""
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
    """Whether the text of a function names neither of the two libraries."""
    function = getattr(function, "__func__", function)
    return isinstance(function, python.FunctionType) and not _named(function)


def _assigns(code: python.CodeType) -> bool:
    """Whether code assigns into a part of something, or changes one of its arguments in place."""
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
    """Which of the two libraries the code of a function names, and that of the plain functions that it calls."""
    return _named(function)


def _named(function: python.FunctionType) -> set[str]:
    """Which of the two libraries code names."""
    found: set[str] = set()
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
                found.add(library)
            elif isinstance(value, python.FunctionType) and id(value) not in seen and not installed(value):
                seen.add(id(value))
                waiting.append(value)
            elif definition_of(value) is not None:
                found.add(value.face if value.face == NUMPY else NX)
    return found


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
