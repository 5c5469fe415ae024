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
    along,
    attribute,
    ends_at,
    from_class,
    has_own_code,
    in_class,
    is_of,
    is_of_slot,
    is_outside,
    is_settled,
    is_users,
    itself,
    of_class,
    of_its_class,
    read_attribute,
    read_name,
    still,
    unwrapped,
)
from nxkernel.definitions.captures.placeholders import slots
from nxkernel.definitions.captures.reachable_names import OF_OBJECT
from nxkernel.definitions.captures.snapshot_parts import Collected
from nxkernel.definitions.keys import argument_identity, bytecode_reads, callables, code_fingerprint, source_locations
from nxkernel.definitions.keys.leaves import is_array
from nxkernel.definitions.keys.static_values import (
    CONTAINERS,
    MISSING,
    OF_DEFINITIONS,
    SETS,
    Same,
    attributes_of,
    by_value,
    constant,
    definition_of,
    describe,
    installed,
    keys_of,
    members,
)
from nxkernel.messages.grammar import a

#: Up to how many numbers and texts of a container are compared one by one.
_FEW = 4
#: So many objects of installed packages are looked into; what holds more is read anew.
_MOST = 512
#: Python's own names, as they were at first.
_BUILTINS = dict(vars(builtins))
_SPECIAL = frozenset({"__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__", "__package__",
                      "__path__", "__spec__"})  # fmt: skip
_CACHED = type(functools.cache(len))
#: What gets at attributes by names that stand in no code.
_BY_NAME = (attrgetter, methodcaller)
#: What leads to the methods of a class, before it is known that somebody calls them; a class is out of a trace's reach.
_NOBODY = type("Nobody", (), {})
#: What nxkernel writes on functions that it makes of others, and leaves as it is.
_OF_TRANSFORMS = frozenset({"__wrapped__", "__nx_transform__"})
#: What is called like a function, and stands for something else.
_NO_FUNCTIONS = (np.ufunc, *weakref.ProxyTypes)


class SnapshotWalk(Collected):
    """Walks from values to all that they read and hold, and collects the snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self._room = _MOST
        self._read: set[tuple] = set()
        self._own_code: dict[type, bool] = {}

    # Values ----------------------------------------------------------------------------------------------------

    def value(self, value: Any, name: str, read: Callable[[], Any] | None, via: str = "") -> None:
        """Take a value in; `read` gives it at a later call, where it may be another one, `via` what code calls it."""
        if is_array(value):
            self._array(value, name, read or functools.partial(itself, value))
            return
        if read is not None:
            self._watch(read, value)
        state = constant(value)
        if state is not None:
            self._tell(state, value)
            self._add(state, name, describe(value))
            return
        self._ask(value)
        self.reach.lead(self._around, value, via)
        # In what is no stand-in arrays are others than elsewhere.
        led = self._is_replaceable(value) and self._is_led_to()
        if not self._met_before((id(value), led), value):
            self._within((value,), functools.partial(self._compound, value, name))

    def _ask(self, value: Any) -> None:
        """Note what tells values apart by more than what they are."""
        self.identifies = self.identifies or argument_identity.tells(value)
        self.compares_memory = self.compares_memory or argument_identity.tells_memory(value)

    def _compound(self, value: Any, name: str) -> None:
        kind = type(value)
        function = definition_of(value)
        if value is sys.modules:
            self._anew(value, name, "the modules of the process")
        elif kind is types.FunctionType:
            (self._installed_function if installed(value) else self._function)(value, name)
        elif function is not None:
            given = tuple([(hook, Same(each)) for hook, each in vars(value).get("hooks", {}).items()])
            rules = [vars(value).get(what) for what in ("face", "syntax", "static")]
            self.states.append(("definition", value.on_conflict, value.compiler, *rules, given))
            self.value(function, name, None)
            self._added(value, name)
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
            self._anew(value, name, "a function with a cache, whose entries cannot be compared")
        elif is_users(value):
            self._object(value, name)
        elif is_of(kind.__module__, "nxkernel"):
            self._add(by_value(value), name, describe(value))
        else:
            self._installed_object(value, name)

    def _added(self, value: Any, name: str) -> None:
        """What a person wrote on a definition, beside what nxkernel has there."""
        attributes = vars(value)
        self.equal.append((functools.partial(len, attributes), len(attributes)))
        for key in sorted(attributes.keys() - OF_DEFINITIONS):
            self.value(attributes[key], f"{name}.{key}", functools.partial(getitem, attributes, key), key)

    def _installed_function(self, value: types.FunctionType, name: str) -> None:
        """A function of an installed package: by identity, with what a decorator put into it."""
        self._add(Same(value), name, describe(value))
        if self._is_anew(value, name):
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
        """An object of a kind of Python's or of an installed package's, which is no container."""
        kind = type(value)
        self._room -= 1
        if kind in _BY_NAME or value is getattr:
            self.reach.runs(value, frozenset(), True)
        held = object_contents.held(value) if self._room > 0 else None
        if isinstance(value, types.BuiltinFunctionType) and self._is_anew(value, name):
            return
        if isinstance(value, np.ndarray):
            self.beside.append((name, value))
        if held is not None:
            self._add(held.state if type(held.state) is Same else (kind, held.state), name, describe(value))
            self._hold(held, name)
            if not object_contents.is_all_held(kind):
                self._attributes(value, name)
        elif callable(value) and kind not in _NO_FUNCTIONS and isinstance(getattr(value, "__name__", None), str):
            # A function in C.
            self._add(Same(value), name, describe(value))
            wrapped = getattr(value, "__wrapped__", None)
            if wrapped is not None:
                self.value(wrapped, name, None)
        else:
            self._anew(value, name, f"{a(kind.__name__)}, whose contents cannot be compared")

    def _hold(self, held: object_contents.Held, name: str) -> None:
        self.equal += held.watched
        for suffix, inner, read in held.inside:
            self.value(inner, f"{name}{suffix}", read)

    def _partial(self, value: functools.partial, name: str) -> None:
        """A function with arguments given, which go by the names of its parameters."""
        keys = tuple(value.keywords)
        self.states.append(("partial", len(value.args), keys))
        self.same += [(functools.partial(getattr, value, part), getattr(value, part)) for part in ("args", "keywords")]
        self.equal.append((functools.partial(tuple, value.keywords), keys))
        self.value(value.func, name, functools.partial(getattr, value, "func"))
        around = f"{name}." if name else ""
        for label, item in zip(callables.given(value), value.args, strict=True):
            self.value(item, around + label, None)
        for key in keys:
            self.value(value.keywords[key], around + key, functools.partial(getitem, value.keywords, key))
        self._attributes(value, name)

    def _container(self, value: Any, name: str) -> None:
        """A list, tuple, dict or set: its type, its size or keys, and what is in it."""
        kind = type(value)
        base = next(base for base in CONTAINERS if issubclass(kind, base))
        fixed = base is tuple
        self.whole[id(value)] = value
        if base in SETS:
            self._add((kind, members(base.__iter__(value))), name, describe(value))
            if base is set:
                self.equal.append((functools.partial(members, value), members(base.__iter__(value))))
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
            size = keys_of(keys)
            if all(type(key) is str for key in keys):
                self.equal.append((functools.partial(tuple, live), keys))
            else:
                self.equal.append((functools.partial(keys_of, live), size))
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
        plain = [place for place, state in enumerate(states) if state is not None]
        for place in plain:
            self._tell(states[place], items[place])
        if plain and not fixed and len(plain) <= _FEW:
            self.same += [(functools.partial(get, value, keys[place]), items[place]) for place in plain]
        elif plain and not fixed:
            watched = [keys[place] for place in plain], [items[place] for place in plain]
            self.equal.append((functools.partial(still, get, value, *watched), True))
        if len(plain) == len(items):
            self._add((kind, size, *states), name, describe(value))
            return
        self.states.append((kind, size))
        fields = getattr(kind, "_fields", None)
        for place, (key, item) in enumerate(zip(keys, items, strict=True)):
            label = f"{name}.{fields[place]}" if fields else f"{name}[{key!r}]"
            if states[place] is not None:
                self._add(states[place], label, describe(item))
            else:
                self.value(item, label, None if fixed else functools.partial(get, value, key))

    # Functions -------------------------------------------------------------------------------------------------

    def _function(
        self, function: types.FunctionType, name: str, subject: Any = MISSING, owner: str = "", of_class: bool = False
    ) -> None:
        code = function.__code__
        self._add(("function", code_fingerprint.of_code(code)), name, describe(function))
        if of_class:
            # What it finds by itself is no stand-in: NumPy may compute with an array what stays in the program.
            self._around.insert(-2, _NOBODY)
        # What nxkernel makes of a function is known by what it captures: its own modules do not change.
        is_ours = source_locations.is_own(code.co_filename)
        if name and not (is_ours and _has_nothing_beside(function)):
            self._around_function(function, name)
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
                self._path(path, functools.partial(itself, subject), subject, owner)

    def _around_function(self, function: types.FunctionType, name: str) -> None:
        """What a function is beside its code: its defaults and its attributes. A definition's own belong to calls."""
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
        """What an `import` in a function gives: a trace meets the module itself there, and no stand-in."""
        package = function.__globals__.get("__package__") or ""
        module = importlib.util.resolve_name(path.names[0], package)
        self._around.append(type)
        self._path(path, read_name(sys.modules, module), sys.modules)
        self._around.pop()

    def _path(self, path: bytecode_reads.Path, read: Callable[[], Any], space: Any, called: str = "") -> None:
        """What a dotted name leads to: its last value counts, or the last one before its attributes are no data.

        It begins with what is `called` so outside, such as a method's object.
        """
        led = self._is_led_to()
        value, name, place = read(), path.names[0], (id(space), path.names[0], led)
        if path.fills and issubclass(type(along(value, path.names[1:-1])), CONTAINERS):
            return
        if value is MISSING and path.root == "global" and hasattr(builtins, name):
            # A name of Python's own, until somebody defines it.
            self.same.append((read, MISSING))
            value, read = getattr(builtins, name), functools.partial(getitem, vars(builtins), name)
            if value is _BUILTINS.get(name):
                self._watch(read, value)
                self.states.append(("builtin", name))
                self._is_anew(value, name)
                return
        name = called or name
        before = len(self._around)
        outside = isinstance(value, types.ModuleType) and installed(value) and len(path.names) > 1
        if outside:
            self._add(Same(value), name, describe(value))
        for part in path.names[1:]:
            if ends_at(value, part):
                break
            method = from_class(value, part)
            inner = attribute(value, part) if method is None else method
            if inner is MISSING or (is_outside(inner) and not isinstance(value, types.ModuleType | type)):
                break
            self.reach.lead(self._around, value)
            if method is None and of_its_class(value, part):
                # Copies of the object have the same class, and find there what it finds.
                self._around.append(_NOBODY)
            self._around.append(value)
            if place not in self._read:
                self._read.add(place)
                self._kept.append(value)
                self._watch(read, value)
            name = f"{name}.{part}"
            if method is not None:
                self._watch_method(value, part)
                self._bound(method, name, value, name.rpartition(".")[0], True)
                del self._around[before:]
                return
            place = (id(value), part, self._is_led_to())
            read = read_attribute(value, part)
            value = inner
        if ("whole", place) not in self._read:
            self._read.add(("whole", place))
            if outside and is_settled(value):
                self._from_package(value, name, read)
            else:
                self.value(value, name, read)
        elif is_array(value):
            self._lead()
        else:
            self._wait_for(value)
        del self._around[before:]

    def _from_package(self, value: Any, name: str, read: Callable[[], Any]) -> None:
        """A number, function or class under a name of a package: it is another one if somebody changes that."""
        self._watch(read, value)
        self._tell(constant(value), value)
        self._ask(value)
        self.states.append(by_value(value))
        if callable(value):
            self._is_anew(value, name)

    def _watch_method(self, value: Any, name: str) -> None:
        """Notice another function under the name of a method: in the class, in another class, or in the object."""
        kind = type(value)
        self._add(Same(kind), kind.__name__, describe(kind))
        if isinstance(in_class(kind, name), types.FunctionType):
            self.methods.append((value, name, in_class(kind, name)))
            return
        self.equal.append((functools.partial(of_class, value, name), of_class(value, name)))
        attributes = attributes_of(value)
        if attributes is not None and not isinstance(in_class(kind, name), property):
            self.same.append((functools.partial(contains, attributes, name), False))

    def _method(self, method: types.MethodType, name: str) -> None:
        if isinstance(method.__func__, types.FunctionType):
            if in_class(type(method.__self__), "__call__") is method.__func__:
                # A definition of an object that is called calls what the class has by then.
                self.same.append((functools.partial(of_class, method.__self__, "__call__"), method.__func__))
            self._bound(method.__func__, name, method.__self__)
        else:
            self.value(method.__func__, name, None)
            self.value(method.__self__, f"{name}.__self__", None)

    def _bound(
        self, function: types.FunctionType, name: str, subject: Any, owner: str = "", of_class: bool = False
    ) -> None:
        """A function with its object; one that a class gives runs as it stands, and no copy of it."""
        self.reach.lead(self._around, function)
        self.reach.lead(self._around, subject)
        if self._met_before((id(function), id(subject), self._is_led_to()), function):
            return
        self._kept.append(subject)
        if installed(function):
            look = functools.partial(self._foreign, function, name, subject)
        else:
            look = functools.partial(self._function, function, name, subject, owner, of_class)
        self._within((function, subject), look)

    def _foreign(self, function: types.FunctionType, name: str, subject: Any) -> None:
        """A method of an installed package: its object counts."""
        self.value(subject, name, None)
        self._is_anew(function, name)

    # Objects ---------------------------------------------------------------------------------------------------

    def _object(self, value: Any, name: str) -> None:
        """An object of a class of the user's: its attributes, what a class in C holds of it, the code of its class."""
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
                self._anew(value, name, f"{a(kind.__name__)}, whose contents cannot be compared")
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
        """A module that is handed on: one of the user's with all of its names."""
        if installed(value):
            self._add(Same(value), name, describe(value))
            self._is_anew(value, name)
            return
        self._add(("module", value.__name__), name, describe(value))
        attributes = vars(value)
        keys = tuple([key for key in attributes if key not in _SPECIAL])
        self.states.append(keys)
        self.equal.append((functools.partial(tuple, attributes), tuple(attributes)))
        for key in keys:
            self.value(attributes[key], f"{name}.{key}", functools.partial(getitem, attributes, key))

    def _type(self, value: type, name: str) -> None:
        self._add(Same(value), name, describe(value))
        if installed(value):
            self._is_anew(value, name)
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
                found = [vars(parent)[key] for key in methods]
                self.equal.append((functools.partial(still, getitem, vars(parent), methods, found), True))
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
    """Whether a function of nxkernel's is its code and what it captures, and nothing else."""
    beside = function.__defaults__ or function.__kwdefaults__
    return not beside and function.__dict__.keys() <= _OF_TRANSFORMS
