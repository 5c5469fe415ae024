"""The form of an object: what it is without the values of its parts, and what makes another one of other values.

Objects are made without their constructors, which may check or convert what a traced value cannot answer.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nxkernel.container_classes.declarations import HEAP_TYPE, WITH_ITEMS, declaration_of
from nxkernel.dict_metadata import Form, form_of, items_of
from nxkernel.errors import NxAttributeError, message
from nxkernel.messages.grammar import a


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
        class_, names = self.class_, self.names
        count = len(values) - len(names)
        if isinstance(self.items, Form):
            made = self.items.filled(values[:count])
        elif issubclass(class_, tuple):
            # The items of a named tuple are its first attributes.
            count = len(values) if self.items is None else count
            fields = len(getattr(class_, "_fields", ())) if self.items is None else 0
            made = tuple.__new__(class_, values[: fields or count])
            names, count = names[fields:], fields or count
        else:
            made = blank(class_)
            if self.items is not None:
                list.extend(made, values[:count])
        for name, value in zip(names, values[count:], strict=True):
            object.__setattr__(made, name, value)
        return made

    def write(self, original: Any, new: Any) -> None:
        """Give an object the parts of another one."""
        if isinstance(self.items, Form):
            original.clear()
            original.update(items_of(new))
        elif self.items is not None:
            original[:] = new
        for name in self.names:
            object.__setattr__(original, name, getattr(new, name))


def opened(value: Any) -> tuple[ObjectForm, list[Any]] | None:
    """The form of an object and the values of its parts; None for what is no object of a container class.

    Raises
    ------
    NxAttributeError
        For an object that lacks one of its fields.
    """
    kind = type(value)
    # While it is traced, an object may be of a class of ours, which stands for its own.
    cls = value.__class__ if hasattr(kind, "__nx_class__") else kind
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


def data_of(form: ObjectForm, parts: Sequence[Any]) -> list[Any]:
    """Those of an object's parts that are not static."""
    return [part for part, is_static in zip(parts, form.static_flags, strict=True) if not is_static]


def attributes(value: Any) -> tuple[str, ...]:
    """The names of an object's own attributes, without what it has computed of others and keeps."""
    found = dict.fromkeys(getattr(value, "__dict__", ()))
    found.update(dict.fromkeys([name for name in _slots(type(value)) if hasattr(value, name)]))
    return tuple(
        [
            name
            for name in found
            if not (name.startswith("__") and name.endswith("__"))
            and not isinstance(getattr(type(value), name, None), functools.cached_property)
        ]
    )


def _slots(cls: type) -> Iterator[str]:
    for each in reversed(cls.__mro__):
        names = vars(each).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__"):
                is_private = name.startswith("__") and not name.endswith("__")
                yield f"_{each.__name__.lstrip('_')}{name}" if is_private else name


def _lacking(cls: type, name: str) -> NxAttributeError:
    return NxAttributeError(
        message(
            f"{a(cls.__name__)} has no {name!r}, which is one of its fields.",
            "Set it before the object is passed, or declare the class with the fields that its objects have: "
            f"nx.container({cls.__name__}, fields=[…]).",
        )
    )


def blank(cls: type) -> Any:
    """A new object of a class, without a call of its constructor."""
    if hasattr(cls, "__nx_class__"):
        # The constructor is ours.
        return cls.__new__(cls)
    base = next(each for each in cls.__mro__ if not each.__flags__ & HEAP_TYPE)
    return base.__new__(cls)
