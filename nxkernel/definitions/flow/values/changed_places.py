"""Attributes and items of Python objects that a branch or loop changes: they are variables of it, as names are."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nxkernel.definitions.captures import object_states
from nxkernel.definitions.captures.object_states import Kind
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.definitions.keys.static_values import own_class
from nxkernel.scoped_settings import ScopedSetting, kept

#: What the program shares with all others: its names are not variables of one run.
_SHARED = types.ModuleType | type | types.FunctionType


class _Scope(threading.local):
    #: Whether an object was there before the trace; what a call changes of it is not up to the program.
    is_outside: Callable[[Any], bool] = staticmethod(lambda _: False)


_scope = kept(_Scope())


def outside(is_outside: Callable[[Any], bool]) -> ScopedSetting:
    """A context in which parts of some objects are no variables of a branch or loop.

    Parameters
    ----------
    is_outside : callable
        Whether an object is one of those.
    """
    return ScopedSetting(_scope, "is_outside", is_outside)


def is_outside(value: Any) -> bool:
    """Whether an object was there before the trace."""
    return _scope.is_outside(value)


class Place(NamedTuple):
    """An attribute of an object, or an item of a list or dict.

    Parameters
    ----------
    name : str
        As a person would write it, for messages.
    owner : object
    kind : Kind
        How the state that it is a part of is read and written.
    key : object
        Where it is in that state.
    """

    name: str
    owner: Any
    kind: Kind
    key: Any

    def read(self) -> Any:
        """What is there now; for an attribute that the object does not have yet, that of its class."""
        state = self.kind.read(self.owner)
        if isinstance(state, dict) and self.key not in state:
            return getattr(own_class(type(self.owner)), self.key)
        return state[self.key]

    def write(self, value: Any) -> None:
        """Put something else there."""
        state = self.kind.read(self.owner)
        if isinstance(state, list) or self.key not in state or state[self.key] is not value:
            state[self.key] = value
            self.kind.write(self.owner, state)

    def is_at(self, other: Place) -> bool:
        """Whether two are one."""
        return self.owner is other.owner and self.kind is other.kind and self.key == other.key


def changed_places(watch: ObjectWatch) -> tuple[list[Place], list[tuple[str, Any, bool]]]:
    """What has changed since a watch began.

    Returns
    -------
    list of Place
        The parts that are other ones.
    list of (str, object, bool)
        The names of objects that have more or fewer parts, are no objects with parts, or were there before the
        trace, and the objects; and whether they have more attributes than before, and nothing else.
    """
    places: list[Place] = []
    others: list[tuple[str, Any, bool]] = []
    for name, owner, states in watch.changed_states():
        for kind, now, then in states:
            is_shared = isinstance(owner, _SHARED) or _scope.is_outside(owner)
            keys = None if is_shared else _keys(owner, now, then)
            if keys is None:
                others.append((name, owner, not is_shared and _is_object_with_more(owner, now, then)))
                break
            is_item = isinstance(owner, list | dict)
            places += [
                Place(f"{name}[{key!r}]" if is_item else f"{name}.{object_states.name_of(key)}", owner, kind, key)
                for key in keys
                if _is_other(key, now, then)
            ]
    return places, others


def _is_other(key: Any, now: Any, then: Any) -> bool:
    return now[key] is not then[key] if isinstance(then, list) or key in then else True


def _keys(owner: Any, now: Any, then: Any) -> Sequence[Any] | None:
    """The keys that two states have in common; None unless these are all of both, but for what a class has for all."""
    if type(now) is type(then) is list and len(now) == len(then):
        return range(len(now))
    if type(now) is not dict or type(then) is not dict:
        return None
    if list(now) == list(then) or (
        _is_object_with_more(owner, now, then)
        and all(_is_plain(getattr(own_class(type(owner)), key, then)) for key in now if key not in then)
    ):
        return list(now)
    return None


def _is_object_with_more(owner: Any, now: Any, then: Any) -> bool:
    """Whether an object has all of its attributes in the same order, and more."""
    is_object = not isinstance(owner, list | dict) and isinstance(now, dict) and isinstance(then, dict)
    return is_object and list(then) == [key for key in now if key in then] and all(isinstance(key, str) for key in now)


def _is_plain(value: Any) -> bool:
    """Whether a value of a class is that of its objects, until they have one of their own."""
    return isinstance(value, int | float | complex | str | np.ndarray | np.generic)


def unknown(places: Sequence[Place], known: Sequence[Place]) -> list[Place]:
    """The places that are not among others."""
    return [place for place in places if not any(place.is_at(each) for each in known)]
