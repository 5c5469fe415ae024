"""Changes of Python objects (lists, dicts, attributes) while a body is traced: detected and undone."""

from __future__ import annotations

import collections
import contextlib
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from nxkernel.definitions.captures import object_states
from nxkernel.definitions.captures.name_lookup import unwrapped
from nxkernel.definitions.captures.object_states import PLAIN, Kind
from nxkernel.definitions.flow.values.unassigned_variables import Unassigned
from nxkernel.definitions.keys import bytecode_reads
from nxkernel.definitions.keys.static_values import (
    MISSING,
    attributes_of,
    contents_of,
    definition_of,
    installed,
    own_class,
)
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import TracedValue
from nxkernel.operand import Operand, Proxy

#: How many objects are watched while a loop or branch is traced.
_MOST = 1_000_000
#: How deeply attributes and containers are searched for traced values.
_DEEPEST = 3
_SKIPPED = (Operand, Proxy, Unassigned)
_FUNCTIONS = types.FunctionType | types.MethodType
#: Methods of objects in C, bound to one.
_BOUND = types.BuiltinFunctionType | types.MethodWrapperType


class ObjectWatch:
    """The states of the mutable objects that functions reach, to detect and undo changes.

    Parameters
    ----------
    functions : iterable of callable
        Their closures, defaults and global names are watched.
    values : iterable of (str, object)
        Other values to watch, with their names.

    Raises
    ------
    NxTypeError
        If they reach more objects than can be watched.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]], values: Iterable[tuple[str, Any]] = ()) -> None:
        #: By identity: the name of an object, the object, and its states.
        self._states: dict[int, tuple[str, Any, list[tuple[Kind, Any]]]] = {}
        #: What was looked at, by identity; held, so that nothing else gets the identity of what nobody else holds.
        self._seen: dict[int, Any] = {}
        #: What is still to be looked at, with its name, and whether arrays count: those that a function has made do,
        #: and none of globals, which may be large.
        self._waiting: collections.deque[tuple[str, Any, bool]] = collections.deque()
        #: Modules, classes and functions, whose attributes are watched that some code names.
        self._owners: list[tuple[str, Any]] = []
        self._named: set[str] = set()
        #: Names and attributes that code which is reached counts up.
        self.counted: set[str] = set()
        self._waiting += [(name, value, True) for name, value in values]
        for function in functions:
            self._look_into_function(getattr(function, "__func__", function))
        while self._waiting:
            self._look_at(*self._waiting.popleft())
        names = sorted(self._named)
        for name, owner in self._owners:
            self._states[id(owner)] = name, owner, [object_states.stored_names(owner, names)]

    def reaches(self, value: Any) -> bool:
        """Whether an object was there when the watch began."""
        return id(value) in self._seen

    def changed(self) -> list[tuple[str, Any]]:
        """The objects that have changed, with their names."""
        return [(name, held) for name, held, _ in self.differences()]

    def differences(self) -> list[tuple[str, Any, list[tuple[Any, Any]]]]:
        """The objects that have changed: name, object, and the changed keys, each with its new value."""
        return [
            (name, held, [change for _, now, then in states for change in object_states.changes(now, then)])
            for name, held, states in self.changed_states()
        ]

    def changed_states(self) -> list[tuple[str, Any, list[tuple[Kind, Any, Any]]]]:
        """The objects that have changed: name, object, and for each kind of state what it is, and what it was."""
        found = []
        for name, held, states in self._states.values():
            read = [(kind, kind.read(held), then) for kind, then in states]
            if not all(object_states.same(now, then) for _, now, then in read):
                found.append((name, held, read))
        return found

    def undo(self) -> None:
        """Restore all objects that have changed; objects that cannot be restored, such as generators, stay so."""
        for _, held, states in self._states.values():
            with contextlib.suppress(Exception):
                # What does not let itself be put back, such as a file that was closed.
                object_states.put_back(held, states)

    def _look_at(self, name: str, value: Any, with_arrays: bool) -> None:
        if type(value) in PLAIN or isinstance(value, _SKIPPED) or id(value) in self._seen:
            return
        value = definition_of(value) or value
        if id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, _FUNCTIONS):
            if isinstance(value, types.MethodType):
                self._waiting += [(name, value.__self__, True), ("", value.__func__, True)]
            elif not installed(value):
                self._look_into_function(value)
        elif isinstance(value, _BOUND):
            self._waiting.append((name, value.__self__, with_arrays))
        elif isinstance(value, type):
            self._look_into_class(value)
        elif isinstance(value, types.ModuleType):
            if not installed(value):
                self._owners.append((name, value))
        elif with_arrays or not isinstance(value, np.ndarray):
            self._look_into_object(name, value, with_arrays)

    def _look_into_object(self, name: str, value: Any, with_arrays: bool) -> None:
        self._waiting.append(("", type(value), False))
        states = object_states.states_of(value)
        if states is None:
            return
        self._states[id(value)] = name, value, states
        if len(self._states) > _MOST:
            raise NxTypeError(
                message(
                    f"a definition reaches more than {_MOST:,} Python objects, of which each may change while it is "
                    "traced.",
                    "Keep numbers in arrays, and take what it does not need out of its reach.",
                )
            )
        self._waiting += [(name, member, with_arrays) for member in object_states.members(states)]

    def _look_into_function(self, value: Any) -> None:
        if not isinstance(value, types.FunctionType):
            return
        self._seen[id(value)] = value
        code = value.__code__
        reads = bytecode_reads.of_code(code)
        self._named |= reads.names
        self.counted |= reads.counted
        self._owners.append((value.__name__, value))
        for variable, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
            content = contents_of(cell)
            if content is not MISSING and not variable.startswith("__nx_"):
                self._waiting.append((variable, content, True))
        defaults = value.__defaults__ or ()
        placed = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        named = [*zip(placed, defaults, strict=False), *(value.__kwdefaults__ or {}).items()]
        self._waiting += [(variable, default, True) for variable, default in named]
        for path in reads.paths:
            if path.root == "global":
                self._follow(value.__globals__, path.names)
        # Those too of which only an attribute is counted up, which reads nothing that would count.
        space = value.__globals__
        self._waiting += [(each, space[each], False) for each in sorted(reads.names) if each in space]

    def _follow(self, space: dict[str, Any], names: tuple[str, ...]) -> None:
        """What a global name leads to; in the person's modules, what dotted ones lead to as well."""
        for name in names:
            value = space.get(name, MISSING)
            if value is MISSING:
                return
            self._waiting.append((name, value, False))
            if not isinstance(value, types.ModuleType) or installed(value):
                return
            space = vars(value)

    def _look_into_class(self, kind: type) -> None:
        """What the methods, properties and attributes of a class of the user's reach."""
        for parent in kind.__mro__:
            if installed(parent) or (parent is not kind and id(parent) in self._seen):
                continue
            self._seen[id(parent)] = parent
            self._owners.append((parent.__name__, parent))
            for name, member in list(vars(parent).items()):
                self._waiting.append((name, unwrapped(member), False))


def holds_traced(value: Any, depth: int = 0) -> bool:
    """Whether a value is traced, or a container or an object of the user's with traced values in it.

    Parameters
    ----------
    value : object
    depth : int, optional
        In how many others it lies; no more than a few are searched.
    """
    if isinstance(value, TracedValue | Proxy):
        return True
    if isinstance(value, dict):
        members = value.values()
    elif isinstance(value, list | tuple):
        members = value
    else:
        members = () if installed(own_class(type(value))) else (attributes_of(value) or {}).values()
    return depth <= _DEEPEST and any(holds_traced(member, depth + 1) for member in members)
