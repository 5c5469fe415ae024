"""Building a snapshot: walking from a function to all that it reads, and on through what these values hold."""

from __future__ import annotations

import builtins
import functools
import importlib.util
import sys
import types
import weakref
from collections.abc import Callable
from operator import attrgetter, contains, getitem, methodcaller
from typing import Any

import numpy as np

from nxkernel.definitions.captures import object_contents
from nxkernel.definitions.captures.held_values import NOBODY, HeldWalk
from nxkernel.definitions.captures.name_lookup import (
    attribute,
    class_attribute,
    follow,
    identity,
    in_class,
    is_class_attribute,
    is_fixed,
    is_installed_callable,
    is_of,
    is_users,
    read_attribute,
    read_name,
    stops_lookup,
    users_function,
)
from nxkernel.definitions.keys import argument_identity, bytecode_reads, callables, code_fingerprint, source_locations
from nxkernel.definitions.keys.leaves import is_array
from nxkernel.definitions.keys.static_values import (
    CONTAINERS,
    MISSING,
    OF_DEFINITIONS,
    ByIdentity,
    attributes_of,
    by_value,
    constant,
    contents_of,
    definition_of,
    describe,
    installed,
)
from nxkernel.messages.grammar import a

#: The most objects of installed packages that are walked; beyond, each call is traced anew.
_MOST = 512
#: The builtins, as they were at first.
_BUILTINS = dict(vars(builtins))
_CACHED = type(functools.cache(len))
#: Classes whose objects read attributes by names that are in no code.
_BY_NAME = (attrgetter, methodcaller)
#: Attributes of transformed functions that never change.
_OF_TRANSFORMS = frozenset({"__wrapped__", "__nx_transform__"})
#: Callables that are no functions.
_NO_FUNCTIONS = (np.ufunc, *weakref.ProxyTypes)


class SnapshotWalk(HeldWalk):
    """Walks from values to everything that they read and hold, and collects the snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self._room = _MOST
        self._read: set[tuple] = set()

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
            rules = [vars(value).get(what) for what in ("promotion", "syntax", "static")]
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
            self._cached(value, name)
        elif is_users(value):
            self._object(value, name)
        elif is_of(kind.__module__, "nxkernel"):
            self._add(by_value(value), name, describe(value))
        else:
            self._installed_object(value, name)

    def _cached(self, value: Any, name: str) -> None:
        """A function with a cache: what that holds counts, and the function behind it."""
        held = object_contents.cached(value)
        if held is None:
            self._note_incomparable(value, name, "a function with a cache of more entries than are compared")
            return
        self._add(ByIdentity(value), name, describe(value))
        self._hold(held, name)

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
                self.value(contents_of(cell), name, functools.partial(contents_of, cell))
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

    # Functions -------------------------------------------------------------------------------------------------

    def _function(
        self, function: types.FunctionType, name: str, subject: Any = MISSING, owner: str = "", of_class: bool = False
    ) -> None:
        code = function.__code__
        self._add(("function", code_fingerprint.of_code(code)), name, describe(function))
        if of_class:
            # It runs without placeholders: what NumPy computes with a captured array stays in the program.
            self._around.insert(-2, NOBODY)
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
            return contents_of(cells[path.names[0]]) if path.root == "free" else subject

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
                self._path(path, functools.partial(contents_of, cells[root]), cells[root], called)
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
        name = path.names[0]
        # Of a module without a package, an import relative to that fails where it runs.
        module = importlib.util.resolve_name(name, package) if package or not name.startswith(".") else name
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
                self._around.append(NOBODY)
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


def _has_nothing_beside(function: types.FunctionType) -> bool:
    """Whether a function of nxkernel's has no defaults or attributes that could change."""
    beside = function.__defaults__ or function.__kwdefaults__
    return not beside and function.__dict__.keys() <= _OF_TRANSFORMS
