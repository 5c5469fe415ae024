"""Resolving names and attributes as Python does: which function, descriptor or object answers for each."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import sys
import types
from collections.abc import Callable
from operator import getitem
from typing import Any

from nxkernel.definitions.captures import object_contents
from nxkernel.definitions.captures.impure_functions import is_impure
from nxkernel.definitions.keys.leaves import is_array
from nxkernel.definitions.keys.static_values import (
    CONTAINERS,
    MISSING,
    attributes_of,
    constant,
    definition_of,
    installed,
)


def read_name(space: dict[str, Any], name: str) -> Callable[[], Any]:
    """Make a function that reads a global name; it gives MISSING where the name is not defined."""
    return functools.partial(getitem, space, name) if name in space else functools.partial(space.get, name, MISSING)


def read_attribute(value: Any, name: str) -> Callable[[], Any]:
    """Make a function that reads an attribute; of a module by its namespace, which is faster."""
    if isinstance(value, types.ModuleType) and name in vars(value):
        return functools.partial(getitem, vars(value), name)
    return functools.partial(getattr, value, name, MISSING)


_WRAPPERS = (
    (property, "fget"),
    (functools.cached_property, "func"),
    (staticmethod, "__func__"),
    (classmethod, "__func__"),
)


def is_of(module: Any, *packages: str) -> bool:
    """Whether a module, by its name, belongs to one of these packages."""
    return isinstance(module, str) and module.partition(".")[0] in packages


def unwrapped(value: Any) -> Any:
    """The function behind a property, method or definition in a class."""
    for kind, part in _WRAPPERS:
        if isinstance(value, kind):
            value = getattr(value, part)
    return definition_of(value) or value


def is_of_slot(value: Any) -> bool:
    """Whether a class attribute is the descriptor of a slot, and no value of its own."""
    return installed(type(value)) and inspect.isdatadescriptor(value)


def in_class(kind: type, name: str) -> Any:
    """Look up a name in a class and its bases."""
    for parent in kind.__mro__:
        if name in vars(parent):
            return vars(parent)[name]
    return MISSING


def class_attribute(value: Any, name: str) -> Any:
    """Read an attribute of an object's class."""
    return getattr(type(value), name)


def is_class_attribute(value: Any, name: str) -> bool:
    """Whether an attribute of an object is found in its class, and not in the object."""
    if isinstance(value, type | types.ModuleType) or not is_users(value) or name in (attributes_of(value) or ()):
        return False
    definition = in_class(type(value), name)
    return definition is not MISSING and not isinstance(definition, types.MemberDescriptorType)


def users_function(value: Any, name: str) -> types.FunctionType | None:
    """The user's function that computes an attribute or is the method; None where the attribute is data."""
    if isinstance(value, type | types.ModuleType) or not is_users(value):
        return None
    raw = in_class(type(value), name)
    function = unwrapped(raw)
    if not isinstance(function, types.FunctionType):
        return None
    return function if isinstance(raw, property) or name not in (attributes_of(value) or ()) else None


def is_users(value: Any) -> bool:
    """Whether an object's class is the user's, so that its attributes can be followed one by one."""
    if isinstance(value, types.SimpleNamespace):
        return True
    return not installed(type(value)) and not _is_cythons(value)


def _is_cythons(value: Any) -> bool:
    """Whether it is a function that Cython compiled for an installed package: their class has a module of its own."""
    module = sys.modules.get(value.__module__) if type(value).__module__.startswith("_cython_") else None
    return module is not None and installed(module)


def stops_lookup(value: Any, name: str) -> bool:
    """Whether attribute lookup stops here, so that the whole value counts."""
    if value is MISSING or is_array(value) or constant(value) is not None:
        return True
    kind = type(value)
    if issubclass(kind, types.ModuleType):
        return False
    if issubclass(kind, type):
        return installed(value) and not is_impure(getattr(value, name, None))
    if is_users(value) or definition_of(value) is not None:
        return has_own_lookup(kind)
    return issubclass(kind, CONTAINERS) or name not in (attributes_of(value) or ())


def is_installed_callable(value: Any) -> bool:
    """Whether an attribute is a function or class of an installed package, so that its owner counts instead."""
    return callable(value) and installed(value) and definition_of(value) is None


def is_fixed(value: Any) -> bool:
    """Whether a number, function or class of an installed package holds nothing that may change."""
    if constant(value) is not None:
        return True
    if not is_installed_callable(definition_of(value) or value):
        return False
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        return False
    return is_of(type(value).__module__, "nxkernel") or object_contents.origin(type(value)) is not object


def has_own_code(kind: type) -> bool:
    """Whether all base classes are the user's, so that no installed code reads the attributes."""
    return not any(installed(parent) for parent in kind.__mro__[:-1])


def follow(value: Any, names: tuple[str, ...]) -> Any:
    """Follow a chain of attributes."""
    for name in names:
        value = attribute(value, name)
    return value


def attribute(value: Any, name: str) -> Any:
    """An attribute; MISSING where there is none, or where reading it would run the user's code."""
    if runs_code(value, name):
        return MISSING
    try:
        return getattr(value, name, MISSING)
    except Exception:
        # A class in C may raise whatever it likes: so it will when that is traced.
        return MISSING


def runs_code(value: Any, name: str) -> bool:
    """Whether reading an attribute runs the user's code: a property, a descriptor or ``__getattr__``.

    Such code may count, draw random numbers or read a clock, so it must run in traces and calls only.
    """
    kind = type(value)
    if isinstance(value, types.ModuleType):
        return name not in vars(value) and "__getattr__" in vars(value) and not installed(value)
    if has_own_lookup(kind):
        return True
    raw = in_class(kind, name)
    if isinstance(value, type):
        if raw is not MISSING and not installed(kind) and _is_users_descriptor(raw):
            return True
        raw = in_class(value, name)
    elif name in (attributes_of(value) or ()) and not inspect.isdatadescriptor(raw):
        return False
    if raw is MISSING:
        return _is_own(in_class(kind, "__getattr__"))
    return _is_users_descriptor(raw)


def has_own_lookup(kind: type) -> bool:
    """Whether the user's class has a ``__getattribute__``, which runs for every attribute."""
    return _is_own(in_class(kind, "__getattribute__"))


def _is_users_descriptor(raw: Any) -> bool:
    """Whether a class attribute is a property or another descriptor of the user's."""
    return isinstance(raw, property) or _is_own(in_class(type(raw), "__get__"))


def _is_own(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and not installed(function)


def identity(value: Any) -> Any:
    """The identity function."""
    return value


def holds_same(get: Callable[[Any, Any], Any], owner: Any, keys: list[Any], items: list[Any]) -> bool:
    """Whether a container has the same objects as before at some keys."""
    return all(map(operator.is_, map(get, itertools.repeat(owner), keys), items))
