"""Building a snapshot: walking from a function to all that it reads, and to what those objects hold."""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import importlib.util
import sys
import threading
import types
import weakref
from collections.abc import Callable
from operator import attrgetter, contains, getitem, methodcaller
from typing import Any

import numpy as np

from nxkernel.definitions.captures import object_contents
from nxkernel.definitions.captures.name_lookup import (
    attribute,
    class_attribute,
    follow,
    has_own_code,
    holds_same,
    identity,
    in_class,
    is_class_attribute,
    is_fixed,
    is_installed_callable,
    is_of,
    is_of_slot,
    is_users,
    read_attribute,
    read_name,
    stops_lookup,
    unwrapped,
    users_function,
)
from nxkernel.definitions.captures.placeholders import slots
from nxkernel.definitions.captures.reachable_names import OF_OBJECT
from nxkernel.definitions.captures.snapshot_parts import SnapshotParts
from nxkernel.definitions.keys import argument_identity, bytecode_reads, callables, code_fingerprint, source_locations
from nxkernel.definitions.keys.leaves import is_array
from nxkernel.definitions.keys.static_values import (
    CONTAINERS,
    MISSING,
    OF_DEFINITIONS,
    SETS,
    ByIdentity,
    attributes_of,
    by_value,
    constant,
    definition_of,
    describe,
    installed,
    keys_state,
    members_state,
)
from nxkernel.messages.grammar import a

#: Up to so many numbers and texts of a container are compared one by one.
_FEW = 4
#: The most objects of installed packages that are walked; beyond, each call is traced anew.
_MOST = 512
#: The builtins, as they were at first.
_BUILTINS = dict(vars(builtins))
_SPECIAL = frozenset({"__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__", "__package__",
                      "__path__", "__spec__"})  # fmt: skip
_CACHED = type(functools.cache(len))
#: Classes whose objects read attributes by names that are in no code.
_BY_NAME = (attrgetter, methodcaller)
#: On the path to what a class holds: placeholders cannot get there, as objects are not given another class.
_NOBODY = type("Nobody", (), {})
#: Attributes of transformed functions that never change.
_OF_TRANSFORMS = frozenset({"__wrapped__", "__nx_transform__"})
#: Callables that are no functions.
_NO_FUNCTIONS = (np.ufunc, *weakref.ProxyTypes)


class SnapshotWalk(SnapshotParts):
    """Walks from values to everything that they read and hold, and collects the snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self._room = _MOST
        self._read: set[tuple] = set()
        self._own_code: dict[type, bool] = {}

    # Values ----------------------------------------------------------------------------------------------------

    def value(self, value: Any, name: str, read: Callable[[], Any] | None, via: str = "") -> None:
        """Add a value; `read` gets it again at a later call, `via` is the attribute name that leads to it."""
        if is_array(value):
            self._array(value, name, read or functools.partial(identity, value))
            return
        if read is not None:
            self._watch(read, value)
        state = constant(value)
        if state is not None:
            self._add_identified(state, value)
            self._add(state, name, describe(value))
            return
        self._note_comparisons(value)
        self.reach.lead(self._around, value, via)
        # Arrays that placeholders cannot replace are compared differently.
        led = self._is_replaceable(value) and self._is_path_replaceable()
        if not self._was_met((id(value), led), value):
            self._within((value,), functools.partial(self._compound, value, name))

    def _note_comparisons(self, value: Any) -> None:
        """Record whether a function compares identities or memory."""
        self.identifies = self.identifies or argument_identity.compares_identity(value)
        self.compares_memory = self.compares_memory or argument_identity.compares_memory(value)

    def _compound(self, value: Any, name: str) -> None:
        kind = type(value)
        function = definition_of(value)
        if value is sys.modules:
            self._note_incomparable(value, name, "the modules of the process")
        elif kind is types.FunctionType:
            (self._installed_function if installed(value) else self._function)(value, name)
        elif function is not None:
            hooks = tuple([(hook, ByIdentity(each)) for hook, each in vars(value).get("hooks", {}).items()])
            rules = [vars(value).get(what) for what in ("dialect", "syntax", "static")]
            self.states.append(("definition", value.on_conflict, value.compiler, *rules, hooks))
            self.value(function, name, None)
            self._user_attributes(value, name)
        elif kind is types.MethodType:
            self._method(value, name)
        elif issubclass(kind, functools.partial):
            self._partial(value, name)
        elif issubclass(kind, type):
            self._type(value, name)
        elif issubclass(kind, types.ModuleType):
            self._module(value, name)
        elif issubclass(kind, CONTAINERS) and not is_users(value):
            self._container(value, name)
            self._attributes(value, name)
        elif kind is _CACHED:
            self._note_incomparable(value, name, "a function with a cache, whose entries cannot be compared")
        elif is_users(value):
            self._object(value, name)
        elif is_of(kind.__module__, "nxkernel"):
            self._add(by_value(value), name, describe(value))
        else:
            self._installed_object(value, name)

    def _user_attributes(self, value: Any, name: str) -> None:
        """The attributes that the user has put on a definition."""
        attributes = vars(value)
        self.equal.append((functools.partial(len, attributes), len(attributes)))
        for key in sorted(attributes.keys() - OF_DEFINITIONS):
            self.value(attributes[key], f"{name}.{key}", functools.partial(getitem, attributes, key), key)

    def _installed_function(self, value: types.FunctionType, name: str) -> None:
        """A function of an installed package: its identity, and what a decorator put into it."""
        self._add(ByIdentity(value), name, describe(value))
        if self._note_if_impure(value, name):
            return
        if value.__globals__.get("__name__") == "functools" and hasattr(value, "registry"):
            self.value(value.registry, name, None)
        elif not is_of(value.__globals__.get("__name__"), "nxkernel", "numpy", "scipy"):
            for cell in value.__closure__ or ():
                self.value(
                    object_contents.contents_of(cell), name, functools.partial(object_contents.contents_of, cell)
                )
            if "__wrapped__" in value.__dict__:
                self.value(value.__wrapped__, name, None)

    def _installed_object(self, value: Any, name: str) -> None:
        """An object, no container, whose class belongs to Python or an installed package."""
        kind = type(value)
        self._room -= 1
        if kind in _BY_NAME or value is getattr:
            self.reach.runs(value, frozenset(), True)
        held = object_contents.held(value) if self._room > 0 else None
        if isinstance(value, types.BuiltinFunctionType) and self._note_if_impure(value, name):
            return
        if isinstance(value, np.ndarray):
            self.beside.append((name, value))
        if held is not None:
            self._add(held.state if type(held.state) is ByIdentity else (kind, held.state), name, describe(value))
            self._hold(held, name)
            if not object_contents.is_all_held(kind):
                self._attributes(value, name)
        elif callable(value) and kind not in _NO_FUNCTIONS and isinstance(getattr(value, "__name__", None), str):
            # A function in C.
            self._add(ByIdentity(value), name, describe(value))
            wrapped = getattr(value, "__wrapped__", None)
            if wrapped is not None:
                self.value(wrapped, name, None)
        else:
            self._note_incomparable(value, name, f"{a(kind.__name__)}, whose contents cannot be compared")

    def _hold(self, held: object_contents.Held, name: str) -> None:
        self.equal += held.watched
        for suffix, inner, read in held.inside:
            self.value(inner, f"{name}{suffix}", read)

    def _partial(self, value: functools.partial, name: str) -> None:
        """A ``functools.partial``; its arguments are named after the function's parameters."""
        keys = tuple(value.keywords)
        self.states.append(("partial", len(value.args), keys))
        self.same += [(functools.partial(getattr, value, part), getattr(value, part)) for part in ("args", "keywords")]
        self.equal.append((functools.partial(tuple, value.keywords), keys))
        self.value(value.func, name, functools.partial(getattr, value, "func"))
        around = f"{name}." if name else ""
        for label, item in zip(callables.bound_names(value), value.args, strict=True):
            self.value(item, around + label, None)
        for key in keys:
            self.value(value.keywords[key], around + key, functools.partial(getitem, value.keywords, key))
        self._attributes(value, name)

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
                self.equal.append((functools.partial(keys_state, live), size))
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

    # Functions -------------------------------------------------------------------------------------------------

    def _function(
        self, function: types.FunctionType, name: str, subject: Any = MISSING, owner: str = "", of_class: bool = False
    ) -> None:
        code = function.__code__
        self._add(("function", code_fingerprint.of_code(code)), name, describe(function))
        if of_class:
            # It runs without placeholders: what NumPy computes with a captured array stays in the program.
            self._around.insert(-2, _NOBODY)
        # What nxkernel makes of a function is known by what it captures: its own modules do not change.
        is_ours = source_locations.is_own(code.co_filename)
        if name and not (is_ours and _has_nothing_beside(function)):
            self._defaults_and_attributes(function, name)
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        read = bytecode_reads.of_code(code)
        self.misses = self.misses or read.introspects or read.catches
        self.identifies = self.identifies or read.identifies
        self.compares_memory = self.compares_memory or read.compares_memory
        self.reach.runs(function, read.names, read.introspects)

        def first(path: bytecode_reads.Path) -> Any:
            if path.root == "global":
                return function.__globals__.get(path.names[0], MISSING)
            return object_contents.contents_of(cells[path.names[0]]) if path.root == "free" else subject

        self.identifies = self.identifies or any(
            argument_identity.may_be_data(path, first(path)) for path in read.compared
        )
        for path in read.paths:
            root = path.names[0]
            if path.root == "global" and is_ours:
                continue
            if path.root == "global":
                self._path(path, read_name(function.__globals__, root), function.__globals__)
            elif path.root == "free":
                # Two functions that one function made have closures of the same names.
                called = f"{root} of {name.removeprefix('option ')}" if name and subject is MISSING else ""
                self._path(path, functools.partial(object_contents.contents_of, cells[root]), cells[root], called)
            elif path.root == "import":
                self._imported(path, function)
        if of_class:
            del self._around[-3]
        for path in read.paths if subject is not MISSING else ():
            if path.root == "self":
                self._path(path, functools.partial(identity, subject), subject, owner)

    def _defaults_and_attributes(self, function: types.FunctionType, name: str) -> None:
        """The defaults and attributes of a function; those of a definition are part of calls."""
        code, attributes = function.__code__, function.__dict__
        defaults, keywords = function.__defaults__ or (), function.__kwdefaults__ or {}
        self.functions.append((function, code, function.__defaults__, function.__kwdefaults__, attributes or {}))
        names = code.co_varnames[: code.co_argcount]
        for argument, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            self.value(default, f"{argument} of {function.__name__}", None)
        if keywords:
            self.equal.append((functools.partial(tuple, keywords), tuple(keywords)))
        for argument in sorted(keywords):
            read = functools.partial(getitem, keywords, argument)
            self.value(keywords[argument], f"{argument} of {function.__name__}", read)
        if attributes:
            self._attributes(function, name)

    def _imported(self, path: bytecode_reads.Path, function: types.FunctionType) -> None:
        """A module that a function imports: a trace meets the module itself, and no placeholder of it."""
        package = function.__globals__.get("__package__") or ""
        module = importlib.util.resolve_name(path.names[0], package)
        self._around.append(type)
        self._path(path, read_name(sys.modules, module), sys.modules)
        self._around.pop()

    def _path(self, path: bytecode_reads.Path, read: Callable[[], Any], space: Any, called: str = "") -> None:
        """A dotted name: its last value counts, or the last one whose attributes cannot be followed.

        `called` is the name for messages of what the path begins with, if that is another one.
        """
        led = self._is_path_replaceable()
        value, name, position = read(), path.names[0], (id(space), path.names[0], led)
        if path.fills and issubclass(type(follow(value, path.names[1:-1])), CONTAINERS):
            return
        if value is MISSING and path.root == "global" and hasattr(builtins, name):
            # A name of Python's own, until somebody defines it.
            self.same.append((read, MISSING))
            value, read = getattr(builtins, name), functools.partial(getitem, vars(builtins), name)
            if value is _BUILTINS.get(name):
                self._watch(read, value)
                self.states.append(("builtin", name))
                self._note_if_impure(value, name)
                return
        name = called or name
        before = len(self._around)
        outside = isinstance(value, types.ModuleType) and installed(value) and len(path.names) > 1
        if outside:
            self._add(ByIdentity(value), name, describe(value))
        for part in path.names[1:]:
            if stops_lookup(value, part):
                break
            method = users_function(value, part)
            inner = attribute(value, part) if method is None else method
            if inner is MISSING or (is_installed_callable(inner) and not isinstance(value, types.ModuleType | type)):
                break
            self.reach.lead(self._around, value)
            if method is None and is_class_attribute(value, part):
                # Copies of the object have the same class, and find there what it finds.
                self._around.append(_NOBODY)
            self._around.append(value)
            if position not in self._read:
                self._read.add(position)
                self._kept_alive.append(value)
                self._watch(read, value)
            name = f"{name}.{part}"
            if method is not None:
                self._watch_method(value, part)
                self._bound(method, name, value, name.rpartition(".")[0], True)
                del self._around[before:]
                return
            position = (id(value), part, self._is_path_replaceable())
            read = read_attribute(value, part)
            value = inner
        if ("contents", position) not in self._read:
            self._read.add(("contents", position))
            if outside and is_fixed(value):
                self._from_package(value, name, read)
            else:
                self.value(value, name, read)
        elif is_array(value):
            self._lead()
        else:
            self._lead_if_it_leads(value)
        del self._around[before:]

    def _from_package(self, value: Any, name: str, read: Callable[[], Any]) -> None:
        """A number, function or class of a package: watched, in case somebody assigns another one."""
        self._watch(read, value)
        self._add_identified(constant(value), value)
        self._note_comparisons(value)
        self.states.append(by_value(value))
        if callable(value):
            self._note_if_impure(value, name)

    def _watch_method(self, value: Any, name: str) -> None:
        """Watch a method name for another function: in the class, a new class, or the object."""
        kind = type(value)
        self._add(ByIdentity(kind), kind.__name__, describe(kind))
        if isinstance(in_class(kind, name), types.FunctionType):
            self.methods.append((value, name, in_class(kind, name)))
            return
        self.equal.append((functools.partial(class_attribute, value, name), class_attribute(value, name)))
        attributes = attributes_of(value)
        if attributes is not None and not isinstance(in_class(kind, name), property):
            self.same.append((functools.partial(contains, attributes, name), False))

    def _method(self, method: types.MethodType, name: str) -> None:
        if isinstance(method.__func__, types.FunctionType):
            if in_class(type(method.__self__), "__call__") is method.__func__:
                # A definition of an object that is called calls what the class has by then.
                self.same.append((functools.partial(class_attribute, method.__self__, "__call__"), method.__func__))
            self._bound(method.__func__, name, method.__self__)
        else:
            self.value(method.__func__, name, None)
            self.value(method.__self__, f"{name}.__self__", None)

    def _bound(
        self, function: types.FunctionType, name: str, subject: Any, owner: str = "", of_class: bool = False
    ) -> None:
        """A method with its object; one that was found by its class runs uncopied."""
        self.reach.lead(self._around, function)
        self.reach.lead(self._around, subject)
        if self._was_met((id(function), id(subject), self._is_path_replaceable()), function):
            return
        self._kept_alive.append(subject)
        if installed(function):
            look = functools.partial(self._installed_method, function, name, subject)
        else:
            look = functools.partial(self._function, function, name, subject, owner, of_class)
        self._within((function, subject), look)

    def _installed_method(self, function: types.FunctionType, name: str, subject: Any) -> None:
        """A method of an installed package: its object counts."""
        self.value(subject, name, None)
        self._note_if_impure(function, name)

    # Objects ---------------------------------------------------------------------------------------------------

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
                    self._around.append(_NOBODY)
                    self.value(inner, f"{parent.__name__}.{key}", None)
                    self._around.pop()
                    self.reach.has_method(value, inner, "" if open_ else key)
                elif not key.startswith("__") and not is_of_slot(inner):
                    self._hidden += issubclass(value, enum.Enum)
                    read = functools.partial(getitem, vars(parent), key)
                    self.value(inner, f"{parent.__name__}.{key}", read, "" if open_ else key)
                    self._hidden -= issubclass(value, enum.Enum)


def _has_nothing_beside(function: types.FunctionType) -> bool:
    """Whether a function of nxkernel's has no defaults or attributes that could change."""
    beside = function.__defaults__ or function.__kwdefaults__
    return not beside and function.__dict__.keys() <= _OF_TRANSFORMS
