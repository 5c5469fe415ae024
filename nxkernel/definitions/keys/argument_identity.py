"""Argument identity: which arguments of a call are one object with another argument or a captured array.

Only functions whose code compares identities pay for that: for them, which arguments are one object is part of the key.
"""

from __future__ import annotations

import builtins
import copy
import enum
import operator
import pickle
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nxkernel.definitions.keys.bytecode_reads import Path
from nxkernel.definitions.keys.static_values import MISSING, attributes_of, constant
from nxkernel.graph.expr import SourceLocation
from nxkernel.graph.tracing import Trace
from nxkernel.numpy.arrays.storage import ArrayStorage

#: The functions that ask whether arrays share memory; and all whose results depend on identity, and their modules.
_OF_MEMORY = frozenset(map(id, (np.shares_memory, np.may_share_memory)))
_OF_IDENTITY = _OF_MEMORY.union(
    map(id, (id, operator.is_, operator.is_not, copy.deepcopy, pickle.dumps, operator, builtins))
)
#: Types whose equal values Python may or may not make one object, so that their identity means nothing.
WITHOUT_IDENTITY = (bool, int, type(None), type(Ellipsis), type(NotImplemented))


def compares_identity(value: Any) -> bool:
    """Whether a function or module can tell equal objects apart, as ``id``, ``is_`` and ``deepcopy`` do."""
    return id(value) in _OF_IDENTITY


def compares_memory(value: Any) -> bool:
    """Whether a function asks whether arrays share memory."""
    return id(value) in _OF_MEMORY


def has_identity(state: Any, value: Any) -> bool:
    """Whether a constant is compared by identity, so that two equal ones may be different objects."""
    return state is not None and type(value) not in WITHOUT_IDENTITY


def may_be_data(path: Path, value: Any) -> bool:
    """Whether an operand of ``is`` or ``id`` may be an argument: anything but functions in C, classes and the like.

    Parameters
    ----------
    path : Path
    value : Any
        The value of its first name, if known.
    """
    if value is MISSING and path.root == "global":
        value = getattr(builtins, path.names[0], MISSING)
    for name in path.names[1:]:
        if isinstance(value, types.ModuleType | type):
            value = getattr(value, name, MISSING)
        else:
            # A property has code of its own, which is not run to find this out.
            value = (attributes_of(value) or {}).get(name, MISSING)
    if value is MISSING:
        return True
    if type(value) is object or isinstance(value, type | types.ModuleType | types.BuiltinFunctionType | enum.Enum):
        return False
    return constant(value) is None or has_identity(constant(value), value)


#: The key of a trace's memory for the placeholders of captured arrays, by identity.
_CAPTURED = "placeholders of captured arrays"


def remember_captured(run: Trace, value: Any) -> None:
    """Remember the placeholder that a traced function sees for a captured array."""
    run.memory.setdefault(_CAPTURED, {})[id(value)] = value


def captured(run: Trace) -> Iterable[Any]:
    """The placeholders that a traced function has seen for captured arrays."""
    return run.memory.get(_CAPTURED, {}).values()


#: The key for arrays of which `grad`, `vmap` and the like passed a copy that the function assigned into.
_WRITTEN = "copies are assigned into"


def remember_written(run: Trace, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Remember arrays whose copies were assigned into: in Python, everybody who has that memory would see it.

    Parameters
    ----------
    pairs : iterable of (array, array)
        An array, and the copy of it that was assigned into.
    """
    roots = run.memory.setdefault(_WRITTEN, {})
    for value, copy_ in pairs:
        roots.setdefault(value.root, copy_.root.content().source)


def written(run: Trace) -> dict[ArrayStorage, SourceLocation | None]:
    """The storage of arrays whose copies were assigned into, each with the line that did it."""
    return run.memory.get(_WRITTEN, {})


class ObjectSource(NamedTuple):
    """Where an object of a call was met first.

    Parameters
    ----------
    kind : {"argument", "array", "object"}
        Among the leaves and containers of the arguments, the captured arrays, or the other objects of a snapshot.
    number : int
        Its position among them; leaves and containers count in the order in which they end.
    """

    kind: str
    number: int


class RepeatedArgument(NamedTuple):
    """Placeholder for an argument that is the same object as an earlier or captured one.

    Parameters
    ----------
    source : ObjectSource
        Where that object was met first.
    name : str
        The path of that object, for messages.
    """

    source: ObjectSource
    name: str


class IdentityTracker:
    """Finds arguments, or parts of them, that are the same object as an earlier or captured one.

    Parameters
    ----------
    arrays : sequence of (str, Spec, array)
        The captured arrays.
    objects : sequence of object
        The other captured values.
    """

    def __init__(self, arrays: Sequence[tuple[str, Any, Any]], objects: Sequence[Any]) -> None:
        self._by_identity: dict[int, RepeatedArgument] = {}
        for number, value in enumerate(objects):
            self._by_identity.setdefault(id(value), RepeatedArgument(ObjectSource("object", number), "a captured one"))
        for number, (name, _, value) in enumerate(arrays):
            self._by_identity[id(value)] = self._by_identity.get(id(value)) or RepeatedArgument(
                ObjectSource("array", number), name
            )
        self._count = 0
        #: Keeps the objects alive, so that no new one gets the identity of another.
        self._kept_alive: list[Any] = []

    def repeated(self, value: Any) -> RepeatedArgument | None:
        """The placeholder for an object that was met before; None for a new one."""
        return None if type(value) in WITHOUT_IDENTITY else self._by_identity.get(id(value))

    def add(self, value: Any, path: str) -> None:
        """Remember the next leaf or container of the arguments."""
        self._by_identity[id(value)] = RepeatedArgument(ObjectSource("argument", self._count), path)
        self._kept_alive.append(value)
        self._count += 1


class RebuiltArguments:
    """The traced leaves and containers of the arguments, so that a repeated argument becomes the same object again.

    Parameters
    ----------
    outside : callable
        Gives the placeholder of a captured array or object, by the kind and number of its source.
    """

    def __init__(self, outside: Callable[[str, int], Any]) -> None:
        self._outside = outside
        self._objects: list[Any] = []

    def repeated(self, argument: RepeatedArgument) -> Any:
        """The object that a placeholder means."""
        kind, number = argument.source
        return self._objects[number] if kind == "argument" else self._outside(kind, number)

    def add(self, value: Any) -> Any:
        """Remember the next leaf or container of the arguments, and return it."""
        self._objects.append(value)
        return value
