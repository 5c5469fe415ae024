"""The form of an object: what it is without the values of its parts, and what makes another one of other values.

Objects are made without their constructors, which may check or convert what a traced value cannot answer.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nxkernel.container_classes.declarations import HEAP_TYPE, WITH_ITEMS, attributes, class_of, declaration_of
from nxkernel.container_classes.declarations import known as known_classes
from nxkernel.dict_metadata import Form, form_of, items_of
from nxkernel.errors import NxAttributeError, message
from nxkernel.messages.grammar import a
from nxkernel.scoped_settings import kept

_set = object.__setattr__


class _Making(threading.local):
    #: What is done to each object that is made; None outside of traces.
    then: Callable[[Any], Any] | None = None


making = kept(_Making())


class ObjectForm(NamedTuple):
    """How an object is built, without the values of its parts.

    Parameters
    ----------
    class_ : type
    items : Form, int or None
        Of a dict its form, of a list or tuple its length; None where the items are no parts.
    names : tuple of str
        The attributes that are parts, behind the items.
    static : frozenset of str
        Those whose values are static.
    """

    class_: type
    items: Form | int | None
    names: tuple[str, ...]
    static: frozenset[str]

    @property
    def suffixes(self) -> list[str]:
        """What a person writes behind the object for each part: ``['w']``, ``[0]``, ``.w``."""
        keys = () if self.items is None else range(self.items) if isinstance(self.items, int) else self.items.keys
        return [*[f"[{key!r}]" for key in keys], *[f".{name}" for name in self.names]]

    @property
    def static_flags(self) -> list[bool]:
        """For each part whether its value is static."""
        count = 0 if self.items is None else self.items if isinstance(self.items, int) else len(self.items.keys)
        return [*[False] * count, *[name in self.static for name in self.names]]

    def filled(self, values: Sequence[Any]) -> Any:
        """An object of this form with the given values of its parts."""
        class_, items, names, _ = self
        if items is None and not issubclass(class_, tuple):
            made = _new_of(class_)(class_)
            for name, value in zip(names, values, strict=True):
                _set(made, name, value)
            return made if making.then is None else making.then(made)
        count = len(values) - len(names)
        if isinstance(items, Form):
            made = items.filled(values[:count])
        elif issubclass(class_, tuple):
            # The items of a named tuple are its first attributes.
            fields = len(class_._fields) if items is None else 0
            count += fields
            made = tuple.__new__(class_, values[:count])
            names = names[fields:]
        else:
            made = _new_of(class_)(class_)
            list.extend(made, values[:count])
        for name, value in zip(names, values[count:], strict=True):
            _set(made, name, value)
        return made

    def write(self, original: Any, new: Any) -> None:
        """Give an object the parts of another one."""
        if isinstance(self.items, Form):
            original.clear()
            original.update(items_of(new))
        elif self.items is not None:
            original[:] = new
        for name in self.names:
            _set(original, name, getattr(new, name))


def opened(value: Any) -> tuple[ObjectForm, list[Any]] | None:
    """The form of an object and the values of its parts; None for what is no object of a container class.

    Raises
    ------
    NxAttributeError
        For an object that lacks one of its fields.
    """
    cls = class_of(value)
    declaration = declaration_of(cls)
    if declaration is None:
        return None
    items: Form | int | None = None
    parts: list[Any] = []
    if declaration.items is dict:
        items = form_of(value, attributes=True)
        parts = [item for _, item in items_of(value)]
    elif declaration.items is not None:
        parts = list(declaration.items.__iter__(value))
        items = len(parts)
    names = declaration.fields
    if names is None:
        names = () if isinstance(items, Form) and items.open else attributes(value)
    elif not declaration.by_name and issubclass(cls, WITH_ITEMS) and attributes(value):
        # It would lose them.
        return None
    for name in names:
        try:
            parts.append(getattr(value, name))
        except AttributeError:
            raise _lacking(cls, name) from None
    return ObjectForm(cls, items, names, declaration.static), parts


def members(value: Any) -> Sequence[Any] | None:
    """The parts of an object that are not static, in order; None for what is no object of a container class."""
    declaration = known_classes.get(type(value))
    if declaration is not None:
        of_value = declaration if declaration.data is not None else declaration.of(value)
        if of_value is not None:
            try:
                return of_value.data(value)  # pyright: ignore[reportOptionalCall]
            except AttributeError:
                pass
    found = opened(value)
    return None if found is None else data_of(*found)


def data_of(form: ObjectForm, parts: Sequence[Any]) -> list[Any]:
    """Those of an object's parts that are not static."""
    return [part for part, is_static in zip(parts, form.static_flags, strict=True) if not is_static]


def _lacking(cls: type, name: str) -> NxAttributeError:
    return NxAttributeError(
        message(
            f"{a(cls.__name__)} has no {name!r}, which is one of its fields.",
            "Set it before the object is passed, or declare the class with the fields that its objects have: "
            f"nx.container({cls.__name__}, fields=[…]).",
        )
    )


@functools.lru_cache(maxsize=1024)
def _new_of(cls: type) -> Callable[[type], Any]:
    """What makes a new object of a class without a call of its constructor."""
    return next(each for each in cls.__mro__ if not each.__flags__ & HEAP_TYPE).__new__
