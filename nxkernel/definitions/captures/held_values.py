"""Walking into what values hold: containers, objects of the user's classes, modules and classes."""

from __future__ import annotations

import collections
import enum
import functools
import threading
import types
from collections.abc import Callable, Mapping
from operator import getitem
from typing import Any

from nxkernel.definitions.captures import object_contents
from nxkernel.definitions.captures.name_lookup import (
    attribute,
    has_own_code,
    holds_same,
    is_of_slot,
    is_users,
    read_attribute,
    unwrapped,
)
from nxkernel.definitions.captures.placeholders import slots
from nxkernel.definitions.captures.reachable_names import OF_OBJECT
from nxkernel.definitions.captures.snapshot_parts import SnapshotParts
from nxkernel.definitions.keys.leaves import is_array
from nxkernel.definitions.keys.static_values import (
    CONTAINERS,
    SETS,
    ByIdentity,
    SameKeys,
    attributes_of,
    constant,
    describe,
    installed,
    keys_state,
    members_state,
)
from nxkernel.messages.grammar import a

#: Up to so many numbers and texts of a container are compared one by one.
_FEW = 4
_SPECIAL = frozenset({"__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__", "__package__",
                      "__path__", "__spec__"})  # fmt: skip
#: Where an abstract base class has the classes that it was told of, and remembers what passed for its instances.
_OF_ABSTRACT_CLASS = "_abc_impl"
#: On the path to what a class holds: placeholders cannot get there, as objects are not given another class.
NOBODY = type("Nobody", (), {})


class HeldWalk(SnapshotParts):
    """Walks into values that hold others; what these are is for :meth:`value` to find out."""

    def __init__(self) -> None:
        super().__init__()
        self._own_code: dict[type, bool] = {}

    def value(self, value: Any, name: str, read: Callable[[], Any] | None, via: str = "") -> None:
        """Add a value; `read` gets it again at a later call, `via` is the attribute name that leads to it."""
        raise NotImplementedError

    def _hold(self, held: object_contents.Held, name: str) -> None:
        self.equal += held.watched
        if held.drawn is not None:
            self._generator(*held.drawn, name)
        for suffix, inner, read in held.inside:
            self.value(inner, f"{name}{suffix}", read)

    def _container(self, value: Any, name: str) -> None:
        """A list, tuple, dict or set: its class, its size or keys, and its items."""
        kind = type(value)
        base = next(base for base in CONTAINERS if issubclass(kind, base))
        fixed = base is tuple
        self.compared[id(value)] = value
        if base in SETS:
            self._add((kind, members_state(base.__iter__(value))), name, describe(value))
            if base is set:
                self.equal.append((functools.partial(members_state, value), members_state(base.__iter__(value))))
            for member in base.__iter__(value):
                if constant(member) is None:
                    self.value(member, name, None)
            return
        # What a class makes of `[]` is for its own code to say.
        get = getitem if kind is base else base.__getitem__
        if base is dict:
            # The order of an OrderedDict is its own, and none that it has as a dict.
            live = (collections.OrderedDict if issubclass(kind, collections.OrderedDict) else dict).keys(value)
            keys = tuple(live)
            size = keys_state(keys)
            if all(type(key) is str for key in keys):
                self.equal.append((functools.partial(tuple, live), keys))
            else:
                self.equal.append((functools.partial(tuple, live), SameKeys(keys)))
                for key in keys:
                    if constant(key) is None:
                        self.value(key, name, None)
            if isinstance(value, collections.defaultdict):
                self.value(value.default_factory, f"{name}.default_factory", read_attribute(value, "default_factory"))
        else:
            keys = tuple(range(base.__len__(value)))
            size = len(keys), getattr(value, "maxlen", None)
            if not fixed:
                self.equal.append((functools.partial(base.__len__, value), len(keys)))
        items = [get(value, key) for key in keys]
        states = [None if is_array(item) else constant(item) for item in items]
        plain = [position for position, state in enumerate(states) if state is not None]
        for position in plain:
            self._add_identified(states[position], items[position])
        if plain and not fixed and len(plain) <= _FEW:
            self.same += [(functools.partial(get, value, keys[position]), items[position]) for position in plain]
        elif plain and not fixed:
            watched = [keys[position] for position in plain], [items[position] for position in plain]
            self.equal.append((functools.partial(holds_same, get, value, *watched), True))
        if len(plain) == len(items):
            self._add((kind, size, *states), name, describe(value))
            return
        self.states.append((kind, size))
        fields = getattr(kind, "_fields", None)
        for position, (key, item) in enumerate(zip(keys, items, strict=True)):
            label = f"{name}.{fields[position]}" if fields else f"{name}[{key!r}]"
            if states[position] is not None:
                self._add(states[position], label, describe(item))
            else:
                self.value(item, label, None if fixed else functools.partial(get, value, key))

    def _object(self, value: Any, name: str) -> None:
        """An object of a class of the user's: its attributes, the contents of its base in C, its class."""
        kind = type(value)
        self.value(kind, kind.__name__, functools.partial(type, value), OF_OBJECT)
        if issubclass(kind, enum.Enum):
            # People know it by its name, and not by what the class keeps in it.
            self._add(("object", value._name_), name, describe(value))
            self._hidden += 1
            self._attributes(value, name)
            self._hidden -= 1
            return
        self._add(("object",), name, describe(value))
        if issubclass(kind, CONTAINERS):
            self._container(value, name)
        else:
            held = object_contents.held(value)
            if held is None:
                self._note_incomparable(value, name, f"{a(kind.__name__)}, whose contents cannot be compared")
                return
            self.states.append(held.state)
            self._hold(held, name)
        self._attributes(value, name)

    def _attributes(self, value: Any, name: str) -> None:
        open_ = not self._has_own_code(type(value))
        for slot in slots(type(value)):
            self.value(
                attribute(value, slot),
                f"{name}.{slot}",
                functools.partial(attribute, value, slot),
                "" if open_ else slot,
            )
        attributes = attributes_of(value)
        if attributes is None or issubclass(type(value), threading.local):
            return
        keys = tuple(attributes)
        self.states.append(keys)
        self.equal.append((functools.partial(tuple, attributes), keys))
        outside, foreign = self._inside, not is_users(value)
        for key in keys:
            inner = f"{name} behind its decorator" if key == "__wrapped__" else f"{name}.{key}"
            read = functools.partial(getitem, attributes, key)
            if foreign and key.startswith("_") and outside is None:
                self._inside = (value, name)
            self.value(attributes[key], inner, read, "" if open_ else key)
            self._inside = outside

    def _has_own_code(self, kind: type) -> bool:
        if kind not in self._own_code:
            self._own_code[kind] = has_own_code(kind)
        return self._own_code[kind]

    def _module(self, value: types.ModuleType, name: str) -> None:
        """A module as a value: one of the user's counts with all of its names."""
        if installed(value):
            self._add(ByIdentity(value), name, describe(value))
            self._note_if_impure(value, name)
            return
        self._add(("module", value.__name__), name, describe(value))
        attributes = vars(value)
        keys = tuple([key for key in attributes if key not in _SPECIAL])
        self.states.append(keys)
        self.equal.append((functools.partial(tuple, attributes), tuple(attributes)))
        for key in keys:
            self.value(attributes[key], f"{name}.{key}", functools.partial(getitem, attributes, key))

    def _type(self, value: type, name: str) -> None:
        self._add(ByIdentity(value), name, describe(value))
        if installed(value):
            self._note_if_impure(value, name)
            return
        self.same.append((functools.partial(getattr, value, "__mro__"), value.__mro__))
        if not installed(type(value)):
            self.value(type(value), "", functools.partial(type, value))
        for parent in value.__mro__:
            if installed(parent):
                continue
            keys, open_ = tuple(vars(parent)), not self._has_own_code(parent)
            self.equal.append((functools.partial(tuple, vars(parent)), keys))
            methods = [key for key in keys if isinstance(unwrapped(vars(parent)[key]), types.FunctionType)]
            if methods:
                functions = [vars(parent)[key] for key in methods]
                self.equal.append((functools.partial(holds_same, getitem, vars(parent), methods, functions), True))
            for key in keys:
                inner = unwrapped(vars(parent)[key])
                if isinstance(inner, types.FunctionType):
                    self._around.append(NOBODY)
                    self.value(inner, f"{parent.__name__}.{key}", None)
                    self._around.pop()
                    self.reach.has_method(value, inner, "" if open_ else key)
                elif key == _OF_ABSTRACT_CLASS:
                    classes = object_contents.registered(parent)
                    self.states.append(classes)
                    self.equal.append((functools.partial(object_contents.registered, parent), classes))
                elif not key.startswith("__") and not is_of_slot(inner):
                    self._hidden += issubclass(value, enum.Enum)
                    is_itself = inner is vars(parent)[key]
                    read = functools.partial(getitem if is_itself else _inside, vars(parent), key)
                    self.value(inner, f"{parent.__name__}.{key}", read, "" if open_ else key)
                    self._hidden -= issubclass(value, enum.Enum)


def _inside(members: Mapping[str, Any], name: str) -> Any:
    """What is behind a property or a static method of a class."""
    return unwrapped(members[name])
