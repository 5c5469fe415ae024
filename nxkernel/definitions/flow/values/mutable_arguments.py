"""Mutable arguments: NumPy arrays that a definition assigns into, whose final contents are extra outputs.

In Nx's dialect all other values are immutable. An argument is traced as an immutable value, too, until something is
assigned into it; then the function is traced again, with a :class:`MutableArgument` in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.definitions.flow.retracing import AssignedError
from nxkernel.errors import NxTypeError, TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, TracedValue
from nxkernel.graph.tracing import Trace
from nxkernel.numpy.arrays.array import Array
from nxkernel.numpy.arrays.storage import ArrayStorage
from nxkernel.operand import Operand, Proxy

#: Keys of a trace's memory. Its arguments that are immutable traced values: by node, the path, whether it is a NumPy
#: array, and whether only assignments into arrays count.
_PLAIN = "arguments"
#: Its captured arrays that have no placeholder, and their names.
_KEPT = "captured arrays without placeholders"
#: Whether ``t[k] = v`` rebinds the name of a tensor.
_ONLY_ARRAYS = "only arrays are assigned into"
#: The results of branches and loops that are one of several values.
_SEVERAL = "values that are one of several"


class MutableArgument(Proxy):
    """A traced argument that is assigned into; read, it is the traced value that it holds at that point.

    Parameters
    ----------
    value : Expr
        Its initial contents.
    name : str
    shared : bool
        Whether the caller sees its final contents: whether it is an array and no tensor.
    """

    __slots__ = ("root",)
    steps = ()
    __array_priority__ = 2000
    __hash__ = object.__hash__

    def __init__(self, value: Expr, name: str, shared: bool) -> None:
        self.root = ArrayStorage(value, name)
        self.root.cell.shared = shared

    def __nx_operand__(self) -> Operand:
        return self.root.read()

    def content(self) -> Operand:
        """The contents, without refreshing stale aliases."""
        return self.root.content()

    def __nx_like__(self, value: Operand) -> Operand:
        """Results that are computed from it are plain traced values."""
        return value

    def anew(self, value: Operand) -> MutableArgument:
        """The variable's value in a loop iteration: the same kind of argument with other contents."""
        return MutableArgument(value, self.root.cell.name, shared=False)

    def write(self, value: Operand) -> None:
        """Replace the contents."""
        self.root.write(value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.root.read(), name)


def _delegate(name: str) -> Callable[..., Any]:
    def method(self: MutableArgument, *args: Any, **options: Any) -> Any:
        args = tuple([value.__nx_operand__() if isinstance(value, MutableArgument) else value for value in args])
        return getattr(self.__nx_operand__(), name)(*args, **options)

    return method


#: Methods that every object has, and that traced values define anew.
_OF_EVERY_OBJECT = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__format__")


def _install() -> None:
    own = {*vars(MutableArgument), *vars(object), "__setitem__", "__getattr__"} - {*_OF_EVERY_OBJECT}
    for class_ in (Operand, TracedValue):
        for name, value in vars(class_).items():
            if name.startswith("__") and name.endswith("__") and callable(value) and name not in own:
                setattr(MutableArgument, name, _delegate(name))


_install()


def is_shared(value: Any) -> bool:
    """Whether a value is an array argument (not a part of one), in which the caller sees what is assigned."""
    return isinstance(value, MutableArgument | Array) and not value.steps and value.root.cell.shared


def follow_branch(sides: Sequence[Any], result: Any) -> None:
    """If one side of a branch is an argument of the caller's, treat the branch's result as one, too."""
    if type(result) is Expr:
        plain = tracing.current().outermost.memory.get(_PLAIN, {})
        for path, is_array, _ in [plain[side] for side in sides if type(side) is Expr and side in plain]:
            if is_array:
                plain[result] = (path, True, True)


def own_copy(name: str) -> str:
    """The statement that makes a copy of an array, for messages."""
    return f"{name} = {name}.copy()" if types.follows_numpy() else f"{name} = {name} + 0"


def remember(run: Trace, node: Any, path: str, is_array: bool) -> None:
    """Record that a traced value is an argument, which must not be assigned into unnoticed."""
    run.memory.setdefault(_PLAIN, {})[node] = (path, is_array, False)


def bind_tensors_anew(run: Trace) -> None:
    """From now on ``t[k] = v`` rebinds the tensor's name, as in a cell, where names are variables."""
    run.memory[_ONLY_ARRAYS] = True


def keep(run: Trace, arrays: Sequence[tuple[str, Any]]) -> None:
    """Record the captured arrays that have no placeholders, with their names."""
    run.memory[_KEPT] = arrays


def refuse_kept(value: np.ndarray) -> None:
    """Refuse to assign into a captured array that has no placeholder: nobody else would see it.

    Raises
    ------
    NxTypeError
    """
    for name, array in tracing.current().outermost.memory.get(_KEPT, ()):
        if isinstance(array, np.ndarray) and np.may_share_memory(array, value):
            raise NxTypeError(
                message(
                    f"{name}, an array that a class has or that a method reads, is assigned into: it would stay as it "
                    "is.",
                    "Make it an attribute of the object or an argument, or assign into a copy: x = x.copy().",
                )
            )


def make_of_several(nodes: Iterable[Any]) -> None:
    """Record traced values of which only the running program knows which of several values they are."""
    trace = tracing.current()
    if trace is not None:
        trace.outermost.memory.setdefault(_SEVERAL, set()).update(node for node in nodes if type(node) is Expr)


def refuse_several(one: Any, *beside: Any) -> None:
    """Refuse to compare identities of a value that is one of several.

    Raises
    ------
    TracedValueError
    """
    trace = tracing.current()
    several = trace.outermost.memory.get(_SEVERAL, ()) if trace is not None else ()
    if any(type(value) is Expr and value in several for value in (one, *beside)):
        raise TracedValueError(
            message(
                "which of several values this is, is asked: a choice or a loop made it, and only the running program "
                "knows.",
                "Keep a number beside it that says which one it is, and ask for that.",
            )
        )


def follow(before: Any, node: Any) -> None:
    """If a variable is an argument before a loop, treat it as one in the iterations."""
    if type(before) is Expr and type(node) is Expr:
        plain = tracing.current().outermost.memory.get(_PLAIN)
        if plain and before in plain:
            plain[node] = plain[before]


def assigned(value: Operand, augmented: bool = False) -> None:
    """Note an assignment into a value; if that is an argument, the function has to be traced again.

    Parameters
    ----------
    value : tensor or traced value
    augmented : bool, optional
        Whether it is ``x += v``, which changes an array, but only rebinds the name of a tensor.

    Raises
    ------
    AssignedError
        If the value is an argument.
    """
    trace = tracing.current()
    if trace is None or type(value) is not Expr:
        return
    memory = trace.outermost.memory
    path, is_array, only = memory.get(_PLAIN, {}).get(value, ("", False, False))
    augmented = augmented or only or memory.get(_ONLY_ARRAYS, False)
    if path and (is_array or not augmented):
        raise AssignedError(path, augmented)
