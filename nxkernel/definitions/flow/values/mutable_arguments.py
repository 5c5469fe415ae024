"""Mutable arguments: NumPy arrays that a definition assigns into, whose final contents are extra outputs.

Values never change in such a definition, but for these: an argument is a plain traced value until something is assigned
into it. Then the function is traced again, with a :class:`MutableArgument` in the place of that argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.errors import NxTypeError, TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, TracedValue
from nxkernel.graph.tracing import Trace
from nxkernel.numpy.arrays.array import Array
from nxkernel.numpy.arrays.storage import Root
from nxkernel.operand import Operand, Proxy

#: Under which key a trace remembers its arguments that are plain traced values: the path of each, whether it is a NumPy
#: array, and whether nothing follows for tensors from what is assigned into it.
_PLAIN = "arguments"
#: Under which key, its captured arrays that nothing stands in for, and their names.
_KEPT = "captured arrays that nothing stands in for"
#: Under which key, that names of tensors are bound anew by all assignments.
_ONLY_ARRAYS = "only arrays are assigned into"
#: Under which key a trace remembers the values that branches and loops made of several.
_SEVERAL = "values that are one of several"


class AssignedError(BaseException):
    """Raised to trace again, when an argument that is a plain traced value is assigned into.

    Parameters
    ----------
    path : str
        Of the argument.
    whole : bool
        Whether it is ``x += v``, which binds the name of a tensor anew and changes an array.
    """

    def __init__(self, path: str, whole: bool) -> None:
        super().__init__(path)
        self.path, self.whole = path, whole


class MutableArgument(Proxy):
    """An argument that is assigned into, which is everywhere else the traced value that is in it now.

    Parameters
    ----------
    value : Expr
        What is in it first.
    name : str
    shared : bool
        Whether the caller sees what is in it at the end: whether it is an array and no tensor.
    """

    __slots__ = ("root",)
    steps = ()
    __array_priority__ = 2000
    __hash__ = object.__hash__

    def __init__(self, value: Expr, name: str, shared: bool) -> None:
        self.root = Root(value, name)
        self.root.cell.shared = shared

    def __nx_operand__(self) -> Operand:
        return self.root.read()

    def content(self) -> Operand:
        """The contents, even if they may be out of date."""
        return self.root.content()

    def __nx_like__(self, value: Operand) -> Operand:
        """Results computed from it are plain traced values."""
        return value

    def anew(self, value: Operand) -> MutableArgument:
        """What the variable is in an iteration of a loop that binds it to other values."""
        return MutableArgument(value, self.root.cell.name, shared=False)

    def write(self, value: Operand) -> None:
        """Put something else there."""
        self.root.write(value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.root.read(), name)


def _delegate(name: str) -> Callable[..., Any]:
    def method(self: MutableArgument, *args: Any, **options: Any) -> Any:
        args = tuple([value.__nx_operand__() if isinstance(value, MutableArgument) else value for value in args])
        return getattr(self.__nx_operand__(), name)(*args, **options)

    return method


#: What every object has, and traced values of their own.
_OF_EVERY_OBJECT = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__format__")


def _install() -> None:
    own = {*vars(MutableArgument), *vars(object), "__setitem__", "__getattr__"} - {*_OF_EVERY_OBJECT}
    for class_ in (Operand, TracedValue):
        for name, value in vars(class_).items():
            if name.startswith("__") and name.endswith("__") and callable(value) and name not in own:
                setattr(MutableArgument, name, _delegate(name))


_install()


def is_shared(value: Any) -> bool:
    """Whether something is a whole array of the caller's, which sees what is assigned into it."""
    return isinstance(value, MutableArgument | Array) and not value.steps and value.root.cell.shared


def follow_choice(sides: Sequence[Any], made: Any) -> None:
    """What is an array of the caller's on one side of a branch is treated as one after it."""
    if type(made) is Expr:
        plain = tracing.current().outermost.memory.get(_PLAIN, {})
        for path, is_array, _ in [plain[side] for side in sides if type(side) is Expr and side in plain]:
            if is_array:
                plain[made] = (path, True, True)


def own_copy(name: str) -> str:
    """What a person writes for an array of the definition's own in the place of the caller's."""
    return f"{name} = {name}.copy()" if types.follows_numpy() else f"{name} = {name} + 0"


def remember(run: Trace, node: Any, path: str, is_array: bool) -> None:
    """Remember a plain traced value as an argument."""
    run.memory.setdefault(_PLAIN, {})[node] = (path, is_array, False)


def bind_tensors_anew(run: Trace) -> None:
    """From now on ``t[k] = v`` binds the name of a tensor to a new one, as in a cell, whose names are variables."""
    run.memory[_ONLY_ARRAYS] = True


def keep(run: Trace, arrays: Sequence[tuple[str, Any]]) -> None:
    """Remember captured arrays that nothing stands in for, and their names."""
    run.memory[_KEPT] = arrays


def refuse_kept(value: np.ndarray) -> None:
    """Refuse to assign into what lies in a captured array that nothing stands in for: others would not see it.

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
    """Remember what a branch or a loop made of several values, of which only the running program knows which it is."""
    trace = tracing.current()
    if trace is not None:
        trace.outermost.memory.setdefault(_SEVERAL, set()).update(node for node in nodes if type(node) is Expr)


def refuse_several(one: Any, *beside: Any) -> None:
    """Refuse to tell whether a value is another one, or which object it is, where it is one of several.

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
    """What is an argument before a loop is one in its iterations."""
    if type(before) is Expr and type(node) is Expr:
        plain = tracing.current().outermost.memory.get(_PLAIN)
        if plain and before in plain:
            plain[node] = plain[before]


def assigned(value: Operand, whole: bool = False) -> None:
    """Note that something is assigned into a value.

    Parameters
    ----------
    value : tensor or traced value
    whole : bool, optional
        Whether it is ``x += v``, which binds the name of a tensor anew and changes an array.

    Raises
    ------
    AssignedError
        Where it is an argument.
    """
    trace = tracing.current()
    if trace is None or type(value) is not Expr:
        return
    memory = trace.outermost.memory
    path, is_array, only = memory.get(_PLAIN, {}).get(value, ("", False, False))
    whole = whole or only or memory.get(_ONLY_ARRAYS, False)
    if path and (is_array or not whole):
        raise AssignedError(path, whole)
