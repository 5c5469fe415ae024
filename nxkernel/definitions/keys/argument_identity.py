"""Argument identity: which arguments of a call are one object with another argument or a captured array.

A call of a function that cannot tell pays nothing for that. Where one can, what is one object is part of the key.
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
from nxkernel.numpy.arrays.storage import Root

#: What asks for memory, and what tells by identity, with the modules that it is in, whatever name code has for it.
_OF_MEMORY = frozenset(map(id, (np.shares_memory, np.may_share_memory)))
_TELLING = _OF_MEMORY.union(
    map(id, (id, operator.is_, operator.is_not, copy.deepcopy, pickle.dumps, operator, builtins))
)
#: Numbers and truth values of which Python itself makes one object of equal ones, or not, as it likes.
UNTOLD = (bool, int, type(None), type(Ellipsis), type(NotImplemented))


def tells(value: Any) -> bool:
    """Whether a function, or one of a module, tells objects apart by their identity."""
    return id(value) in _TELLING


def tells_memory(value: Any) -> bool:
    """Whether a function tells arrays apart by their memory."""
    return id(value) in _OF_MEMORY


def is_told(state: Any, value: Any) -> bool:
    """Whether it matters which object a constant is."""
    return state is not None and type(value) not in UNTOLD


def may_be_data(path: Path, value: Any) -> bool:
    """Whether what code compares by identity may be an argument: anything but functions in C, classes and the like.

    Parameters
    ----------
    path : Path
    value : Any
        What its first name stands for, where that is known.
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
    return constant(value) is None or is_told(constant(value), value)


#: Under which key a trace remembers what stands for captured arrays, by its identity.
_CAPTURED = "what stands for captured arrays"


def remember_captured(run: Trace, value: Any) -> None:
    """Remember what a function under trace finds in the place of a captured array."""
    run.memory.setdefault(_CAPTURED, {})[id(value)] = value


def captured(run: Trace) -> Iterable[Any]:
    """What a function under trace finds in the places of captured arrays."""
    return run.memory.get(_CAPTURED, {}).values()


#: Under which key, places in memory of which copies are assigned into, as a function of functions gives them.
_WRITTEN = "copies are assigned into"


def remember_written(run: Trace, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Remember arrays whose copies are assigned into: of who else has their memory Python would say that he sees it."""
    found = run.memory.setdefault(_WRITTEN, {})
    for value, copy_ in pairs:
        found.setdefault(value.root, copy_.root.content().source)


def written(run: Trace) -> dict[Root, SourceLocation | None]:
    """The places in memory whose copies are assigned into, and where."""
    return run.memory.get(_WRITTEN, {})


class Again(NamedTuple):
    """Stands in the structure of arguments for an object that is there already.

    Parameters
    ----------
    place : tuple of (str, int)
        Which one: of the ``"argument"`` leaves and containers, by the order in which they end, of the captured
        ``"array"``s or of the other ``"object"``s that a snapshot met.
    name : str
        How a person would write that.
    """

    place: tuple[str, int]
    name: str


class Once:
    """Finds the objects among arguments that were there before.

    Parameters
    ----------
    arrays : sequence of (str, Spec, array)
        The captured ones.
    objects : sequence of object
        Those that a snapshot met.
    """

    def __init__(self, arrays: Sequence[tuple[str, Any, Any]], objects: Sequence[Any]) -> None:
        self._known: dict[int, Again] = {}
        for number, value in enumerate(objects):
            self._known.setdefault(id(value), Again(("object", number), "a captured one"))
        for number, (name, _, value) in enumerate(arrays):
            self._known[id(value)] = self._known.get(id(value)) or Again(("array", number), name)
        self._count = 0
        #: What has no other owner may be made anew at its place in memory.
        self._kept: list[Any] = []

    def again(self, value: Any) -> Again | None:
        """What stands for an object that is there already."""
        return None if type(value) in UNTOLD else self._known.get(id(value))

    def met(self, value: Any, path: str) -> None:
        """Take in another one."""
        self._known[id(value)] = Again(("argument", self._count), path)
        self._kept.append(value)
        self._count += 1


class Rebuilt:
    """The objects that arguments are rebuilt of, in which those that are there already are the same objects.

    Parameters
    ----------
    outside : callable
        Gives what stands for a captured array or object, by its place.
    """

    def __init__(self, outside: Callable[[str, int], Any]) -> None:
        self._outside = outside
        self._made: list[Any] = []

    def again(self, found: Again) -> Any:
        """The object that is there already."""
        kind, number = found.place
        return self._made[number] if kind == "argument" else self._outside(kind, number)

    def met(self, value: Any) -> Any:
        """Take in another one."""
        self._made.append(value)
        return value
