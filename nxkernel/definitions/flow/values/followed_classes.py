"""Objects that a definition makes of the user's classes: constructors, operators and properties are rewritten, too."""

from __future__ import annotations

import abc
import contextlib
import functools
import inspect
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from nxkernel.container_classes import object_forms
from nxkernel.definitions.keys.static_values import installed, own_class
from nxkernel.scoped_settings import kept

#: Sets the class of an object past what its class says that it is.
_CLASS = object.__dict__["__class__"]
#: What Python calls for itself, or while nothing is traced.
_LEFT = frozenset(
    f"__{name}__"
    for name in (
        "init", "new", "del", "repr", "str", "hash", "init_subclass", "class_getitem", "set_name", "subclasshook",
        "getattribute", "getattr", "setattr", "delattr", "reduce", "reduce_ex", "getstate", "setstate", "copy",
        "deepcopy", "getnewargs", "sizeof", "dir", "annotate", "annotate_func",
    )
)  # fmt: skip

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _Following(threading.local):
    #: Of the innermost trace; None outside of any.
    objects: FollowedObjects | None = None


_following = kept(_Following())


class FollowedObjects:
    """The objects that one trace has made: each is of a subclass of its class, whose operators are rewritten.

    Parameters
    ----------
    rewritten : callable
        Gives what is called in place of a function.
    """

    def __init__(self, rewritten: Callable[[Any], Any]) -> None:
        self.rewritten = rewritten
        self._classes: dict[type, type] = {}
        self._objects: list[Any] = []

    def adopt(self, value: Any) -> Any:
        """Have an object that nobody else knows followed, if its class has operators or properties; returns it."""
        class_ = type(value)
        if class_ not in self._classes:
            self._classes[class_] = self._made(class_)
        if self._classes[class_] is not class_:
            _CLASS.__set__(value, self._classes[class_])
            self._objects.append(value)
        return value

    def release(self) -> None:
        """Give all objects their own classes again."""
        for value in self._objects:
            _CLASS.__set__(value, own_class(type(value)))

    def _made(self, class_: type) -> type:
        members = _members(class_) if _can_be_followed(class_) else {}
        if not members:
            return class_
        space: dict[str, Any] = {name: self._member(name, member) for name, member in members.items()}

        def new(cls: type, *_: Any, **__: Any) -> Any:
            value = object.__new__(cls)
            self._objects.append(value)
            return value

        space |= {
            "__slots__": (), "__module__": class_.__module__, "__qualname__": class_.__qualname__,
            "__doc__": class_.__doc__, "__nx_class__": class_, "__class__": property(lambda _: class_), "__new__": new,
        }  # fmt: skip
        # What a metaclass of the user's does with new classes is no business of this one.
        meta = type(class_)
        maker = abc.ABCMeta if issubclass(meta, abc.ABCMeta) else type
        return maker.__new__(meta, class_.__name__, (class_,), space)

    def _member(self, name: str, member: Any) -> Any:
        if isinstance(member, property):
            return property(*[each and self._called(each) for each in (member.fget, member.fset, member.fdel)])
        if isinstance(member, functools.cached_property):
            made = functools.cached_property(self._called(member.func))
            made.__set_name__(object, name)
            return made
        return self._called(member)

    def _called(self, function: types.FunctionType) -> Callable[..., Any]:
        """A function of a class that is rewritten when it is called."""

        @functools.wraps(function)
        def method(*args: Any, **options: Any) -> Any:
            __tracebackhide__ = True
            return self.rewritten(function)(*args, **options)

        return method


def _is_left(class_: type) -> bool:
    """Whether a class belongs to a library, and is none of NumPy's polynomials, which compute with arrays alone."""
    return installed(class_) and not class_.__module__.startswith("numpy.polynomial.")


def _can_be_followed(class_: type) -> bool:
    """Whether objects of a class may be of another one for a while."""
    return (
        (type(class_) in (type, abc.ABCMeta) or not installed(type(class_)))
        and type(class_).__call__ is type.__call__
        and class_.__new__ is object.__new__
        and not _is_left(class_)
        and not any("__init_subclass__" in vars(each) for each in class_.__mro__[:-1] if not installed(each))
    )


def _members(class_: type) -> dict[str, Any]:
    """The operators and properties that a class and its bases have from the user."""
    found: dict[str, Any] = {}
    for each in reversed(class_.__mro__[:-1]):
        for name, member in vars(each).items():
            found.pop(name, None)
            if not _is_left(each) and _is_followed(name, member):
                found[name] = member
    return found


def _is_followed(name: str, member: Any) -> bool:
    if isinstance(member, property):
        return isinstance(member.fget, types.FunctionType)
    if isinstance(member, functools.cached_property):
        return isinstance(member.func, types.FunctionType)
    is_special = name.startswith("__") and name.endswith("__") and name not in _LEFT
    return is_special and isinstance(member, types.FunctionType) and has_text(member)


def has_text(function: types.FunctionType) -> bool:
    """Whether a function can be rewritten: neither a generator, nor what a dataclass has from its decorator."""
    code = function.__code__
    return code.co_filename != "<string>" and not code.co_flags & _SUSPENDED


def rewritten(function: types.FunctionType) -> Callable[..., Any] | None:
    """What is called in place of a function of a class; None where nothing is traced that follows classes."""
    return None if _following.objects is None else _following.objects.rewritten(function)


@contextlib.contextmanager
def following(rewritten: Callable[[Any], Any]) -> Iterator[None]:
    """A context in which the objects that are constructed are followed.

    Parameters
    ----------
    rewritten : callable
        Gives what is called in place of a function.
    """
    before, mine = _following.objects, FollowedObjects(rewritten)
    _following.objects = mine
    then_before, object_forms.making.then = object_forms.making.then, mine.adopt
    try:
        yield
    finally:
        _following.objects, object_forms.making.then = before, then_before
        mine.release()


def constructed(class_: type, rewritten: Callable[[Any], Any]) -> Any:
    """What is called in place of a class: its ``__init__`` is rewritten; the class itself where that is not possible.

    Parameters
    ----------
    class_ : type
    rewritten : callable
        Gives what is called in place of a function.
    """
    initial = class_.__init__
    if (
        type(class_).__call__ is not type.__call__
        or not (isinstance(initial, types.FunctionType) or initial is object.__init__)
        or issubclass(class_, BaseException)
        or _is_left(class_)
    ):
        return class_

    def construct(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        if initial is object.__init__:
            value = class_(*args, **options)
            return _following.objects.adopt(value) if _following.objects is not None else value
        new = class_.__new__
        value = object.__new__(class_) if new is object.__new__ else rewritten(new)(class_, *args, **options)
        if isinstance(value, class_):
            if _following.objects is not None and type(value) is class_:
                _following.objects.adopt(value)
            (rewritten(initial) if has_text(initial) else initial)(value, *args, **options)
        return value

    return functools.wraps(class_, updated=())(construct)
