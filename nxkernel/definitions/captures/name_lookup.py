"""Resolving names and attributes as Python does: which function, descriptor or object answers for each."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from operator import getitem
from typing import Any

from nxkernel.definitions.captures import object_contents
from nxkernel.definitions.captures.impure_functions import looks_around
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
    """Whether a module, by its name, belongs to one of some packages."""
    return isinstance(module, str) and module.partition(".")[0] in packages


def unwrapped(value: Any) -> Any:
    """The function behind a property, method or definition in a class."""
    for kind, part in _WRAPPERS:
        if isinstance(value, kind):
            value = getattr(value, part)
    return definition_of(value) or value


def is_of_slot(value: Any) -> bool:
    """Whether something in a class only says where objects have an attribute."""
    return installed(type(value)) and inspect.isdatadescriptor(value)


def in_class(kind: type, name: str) -> Any:
    """Look up a name in a class and its bases."""
    for parent in kind.__mro__:
        if name in vars(parent):
            return vars(parent)[name]
    return MISSING


def of_class(value: Any, name: str) -> Any:
    """An attribute of the class that an object has now."""
    return getattr(type(value), name)


def of_its_class(value: Any, name: str) -> bool:
    """Whether it is an object's class that has what an attribute is."""
    if isinstance(value, type | types.ModuleType) or not is_users(value) or name in (attributes_of(value) or ()):
        return False
    found = in_class(type(value), name)
    return found is not MISSING and not isinstance(found, types.MemberDescriptorType)


def from_class(value: Any, name: str) -> types.FunctionType | None:
    """The function of the user's that answers for an attribute; None where the attribute is data."""
    if isinstance(value, type | types.ModuleType) or not is_users(value):
        return None
    raw = in_class(type(value), name)
    found = unwrapped(raw)
    if not isinstance(found, types.FunctionType):
        return None
    return found if isinstance(raw, property) or name not in (attributes_of(value) or ()) else None


def is_users(value: Any) -> bool:
    """Whether a class of the user's says what an object does."""
    return isinstance(value, types.SimpleNamespace) or not installed(type(value))


def ends_at(value: Any, name: str) -> bool:
    """Whether an attribute is for the value itself to answer, so that all of it counts."""
    if value is MISSING or is_array(value) or constant(value) is not None:
        return True
    kind = type(value)
    if issubclass(kind, types.ModuleType):
        return False
    if issubclass(kind, type):
        return installed(value) and not looks_around(getattr(value, name, None))
    if is_users(value) or definition_of(value) is not None:
        return has_own_lookup(kind)
    return issubclass(kind, CONTAINERS) or name not in (attributes_of(value) or ())


def is_outside(value: Any) -> bool:
    """Whether an attribute is a function or class of an installed package: its owner counts instead."""
    return callable(value) and installed(value) and definition_of(value) is None


def is_settled(value: Any) -> bool:
    """Whether a number, function or class of an installed package is what it is, and holds nothing that may change."""
    if constant(value) is not None:
        return True
    if not is_outside(definition_of(value) or value):
        return False
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        return False
    return is_of(type(value).__module__, "nxkernel") or object_contents.origin(type(value)) is not object


def has_own_code(kind: type) -> bool:
    """Whether nothing but code of the user's has to do with the attributes of a class's objects."""
    return not any(installed(parent) for parent in kind.__mro__[:-1])


def along(value: Any, names: tuple[str, ...]) -> Any:
    """An attribute of an attribute."""
    for name in names:
        value = attribute(value, name)
    return value


def attribute(value: Any, name: str) -> Any:
    """An attribute; MISSING where there is none, or code of the user's would have to run to give it."""
    if runs_code(value, name):
        return MISSING
    try:
        return getattr(value, name, MISSING)
    except Exception:
        # A class in C may raise whatever it likes: so it will when that is traced.
        return MISSING


def runs_code(value: Any, name: str) -> bool:
    """Whether code of the user's gives an attribute, other than a method or property of that name.

    It may count, draw or look at a clock, which it is to do in traces and calls alone.
    """
    kind = type(value)
    if isinstance(value, types.ModuleType):
        return name not in vars(value) and "__getattr__" in vars(value) and not installed(value)
    if has_own_lookup(kind):
        return True
    raw = in_class(kind, name)
    if isinstance(value, type):
        if raw is not MISSING and not installed(kind) and _gives(raw):
            return True
        raw = in_class(value, name)
    elif name in (attributes_of(value) or ()) and not inspect.isdatadescriptor(raw):
        return False
    if raw is MISSING:
        return _is_own(in_class(kind, "__getattr__"))
    return _gives(raw)


def has_own_lookup(kind: type) -> bool:
    """Whether code of the user's answers for all attributes of a class's objects."""
    return _is_own(in_class(kind, "__getattribute__"))


def _gives(raw: Any) -> bool:
    """Whether what a class has under a name makes something else of it by code of the user's."""
    return isinstance(raw, property) or _is_own(in_class(type(raw), "__get__"))


def _is_own(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and not installed(function)


def itself(value: Any) -> Any:
    """The identity function."""
    return value


def still(get: Callable[[Any, Any], Any], owner: Any, keys: list[Any], items: list[Any]) -> bool:
    """Whether a container has the same objects under some of its keys."""
    for place, key in enumerate(keys):  # noqa: SIM110 - at each call; a generator would cost as much again
        if get(owner, key) is not items[place]:
            return False
    return True
