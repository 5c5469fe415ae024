"""The declarations of container classes: which of an object's attributes are its parts, and which of them are static.

Dataclasses and named tuples are containers by themselves, and so are subclasses of lists, tuples and dicts without
attributes; other classes are declared by :func:`container`.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import operator
import types
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, overload

from nxkernel.errors import NxTypeError, message
from nxkernel.messages.grammar import a

_Class = TypeVar("_Class", bound=type)
#: The bit of ``__flags__`` of classes that are made while a program runs, as by a class statement.
HEAP_TYPE = 1 << 9
#: The classes in C whose objects keep everything in items and attributes.
_BASES = (object, list, tuple, dict, OrderedDict, defaultdict, types.SimpleNamespace)
WITH_ITEMS = (list, tuple, dict)


class Declaration:
    """How the objects of a class are taken apart.

    Parameters
    ----------
    fields : tuple of str, optional
        The attributes that are parts, static ones among them; None for all that an object has.
    static : frozenset of str
        Those whose values are static.
    items : type, optional
        ``list``, ``tuple`` or ``dict`` where an object's items are parts, too.
    by_name : bool
        Whether somebody has said so by :func:`container`.
    is_open : bool
        Whether its objects have their attributes in a dict, and no list of fields says which.

    Attributes
    ----------
    data : callable, optional
        Gives the values of the fields that are not static, of an object whose class has a list of them and no items.
    """

    __slots__ = ("_layouts", "by_name", "data", "fields", "items", "static")

    def __init__(
        self,
        fields: tuple[str, ...] | None,
        static: frozenset[str] = frozenset(),
        items: type | None = None,
        by_name: bool = False,
        is_open: bool = False,
    ) -> None:
        self.fields, self.static, self.items, self.by_name = fields, static, items, by_name
        self.data: Callable[[Any], tuple[Any, ...]] | None = None
        if fields is not None and items is None:
            self.data = _reader([name for name in fields if name not in static])
        #: By the names of an object's attributes, what a class would declare that always has these.
        self._layouts: dict[tuple[str, ...], Declaration] | None = {} if is_open else None

    def of(self, value: Any) -> Declaration | None:
        """A declaration with a list of fields that one object has; None where that has to be found out each time."""
        if self._layouts is None:
            return self if self.data is not None else None
        names = tuple(value.__dict__)
        found = self._layouts.get(names)
        if found is None:
            if len(self._layouts) >= _MOST:
                self._layouts.clear()
            fields = attributes(value)
            found = self._layouts[names] = Declaration(fields, self.static & {*fields}, None, True)
        return found


def _reader(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that reads attributes, in C where there are several."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


#: The classes that were declared, and by their modules and names the last ones.
_declared: weakref.WeakKeyDictionary[type, Declaration] = weakref.WeakKeyDictionary()
#: What is known of classes that were asked for, of so many at most; read by those that have no time for a call.
known: dict[type, Declaration | None] = {}
_MOST = 1024
_by_name: weakref.WeakValueDictionary[tuple[str, str], type] = weakref.WeakValueDictionary()


@overload
def container(cls: _Class, /, *, fields: Iterable[str] | None = None, static: Iterable[str] = ()) -> _Class: ...
@overload
def container(
    cls: None = None, /, *, fields: Iterable[str] | None = None, static: Iterable[str] = ()
) -> Callable[[_Class], _Class]: ...
def container(cls: Any = None, /, *, fields: Iterable[str] | None = None, static: Iterable[str] = ()) -> Any:
    """Declare a class a container: its objects hold tensors, as a dict does, and go wherever containers go.

    They are arguments, results, the state of loops, what :func:`nxkernel.grad` differentiates by and
    :func:`nxkernel.vmap` maps over, parameters of optimizers, and parts of files. Objects are made of new values
    without ``__init__``; what is not declared is lost on the way.

    Dataclasses, named tuples, and subclasses of ``list``, ``tuple`` and ``dict`` without attributes are containers by
    themselves. A dataclass says by ``field(metadata={"static": True})`` which of its fields are static.

    Parameters
    ----------
    cls : class
        Also one of somebody else's, such as ``types.SimpleNamespace``. Its subclasses are declared one by one.
    fields : iterable of str, optional
        The attributes that hold tensors, numbers, None, texts and containers of them. By default the fields of a
        dataclass, a named tuple or a class of attrs, otherwise every attribute that an object has. The items of a list,
        tuple or dict are always parts.
    static : iterable of str, optional
        The attributes that are no data: options, sizes, names, functions. They come back as they were. Each new value
        is a new program, as with options; lists, dicts and arrays count by their contents, functions by their code and
        what they read, other objects by their attributes.

    Returns
    -------
    class
        The same one; without `cls` a decorator.

    Raises
    ------
    NxTypeError
        For what is no class, for leaves such as ``float``, for classes in C that keep what they hold elsewhere, and for
        fields that do not fit the class.

    Notes
    -----
    Where NumPy's rules hold, objects of classes that nobody declared are arguments, too. They count as captured
    objects do: arrays in them are read anew at each call, numbers are part of the program, and assignments into their
    arrays are refused. A declared class is data by all rules: its numbers are inputs, and its arrays may be assigned
    into.

    Examples
    --------
    >>> @nx.container(static=["activation"])
    ... class Layer:
    ...     def __init__(self, kernel, bias, activation):
    ...         self.kernel, self.bias, self.activation = kernel, bias, activation
    ...     def __call__(self, x):
    ...         return self.activation(nx.dot(x, self.kernel) + self.bias)
    >>> layer = Layer(nx.eye(2), nx.tensor([0.0, 1.0]), nx.tanh)
    >>> @nx.defn
    ... def loss(layer, x):
    ...     return nx.sum(layer(x) ** 2)
    >>> slope = nx.grad(loss)(layer, nx.tensor([0.0, 0.0]))
    >>> type(slope).__name__, slope.bias.shape, slope.activation is nx.tanh
    ('Layer', (2,), True)

    A class that is there already:

    >>> import types
    >>> class Point(types.SimpleNamespace):
    ...     pass
    >>> nx.container(Point).__name__
    'Point'
    >>> nx.map_leaves(lambda leaf: leaf * 2, Point(x=1.0, unit="m"))
    Point(x=2.0, unit='m')
    """
    if cls is None:
        return functools.partial(container, fields=fields, static=static)
    _check(cls)
    names, fixed = _names(cls, "fields", fields), frozenset(_names(cls, "static", static) or ())
    listed = _known_fields(cls)
    if listed is not None:
        names, fixed = _of_known(cls, names, fixed, listed)
    elif names is not None:
        twice = next((name for name in names if name in fixed), None)
        if twice is not None:
            raise NxTypeError(
                message(
                    f"nx.container({cls.__name__}): {twice!r} is in fields and in static.",
                    "fields are for tensors; what is static is for options, sizes and functions.",
                )
            )
        names = (*names, *sorted(fixed))
    items = next((base for base in WITH_ITEMS if issubclass(cls, base) and not hasattr(cls, "_fields")), None)
    is_open = names is None and items is None and bool(cls.__dictoffset__) and not any(_slots(cls))
    known[cls] = _declared[cls] = Declaration(names, fixed, items, True, is_open)
    _by_name[cls.__module__, cls.__qualname__] = cls
    return cls


def forget(cls: type) -> None:
    """Forget that a class was declared."""
    _declared.pop(cls, None)
    _by_name.pop((cls.__module__, cls.__qualname__), None)
    known.pop(cls, None)


def _check(cls: Any) -> None:
    """Refuse what cannot be declared."""
    if not isinstance(cls, type):
        raise NxTypeError(
            message(
                f"nx.container takes a class, got {a(type(cls).__name__)}.",
                'Write @nx.container above the class, or nx.container(Class, static=["name"]).',
            )
        )
    refused = _refused(cls)
    if refused:
        raise NxTypeError(message(f"nx.container({cls.__name__}): {a(cls.__name__)} {refused[0]}.", *refused[1:]))


def _refused(cls: type) -> tuple[str, ...]:
    """Why a class cannot be declared, and what to do; empty for one that can."""
    base = next(each for each in cls.__mro__ if not each.__flags__ & HEAP_TYPE)
    if cls in WITH_ITEMS:
        return ("is a container by itself",)
    if cls is object or hasattr(cls, "__array__") or issubclass(cls, enum.Enum):
        return ("is a value, and holds no others",)
    if base not in _BASES:
        if base is cls:
            return ("is a value, and holds no others",)
        return (
            f"holds what {a(base.__name__)} keeps in C",
            "Declare a class of your own that has it as an attribute.",
        )
    return ()


def hint(value: Any) -> tuple[str, ...]:
    """What to say of a value that is no container: how to declare its class; nothing where that cannot be."""
    cls = type(value)
    if _refused(cls) or cls.__module__.partition(".")[0] == "nxkernel":
        return ()
    return (f"nx.container({cls.__name__}) declares that its objects are containers of their attributes.",)


def _names(cls: type, what: str, names: Any) -> tuple[str, ...] | None:
    """Names of attributes, checked; None where nobody gave any."""
    if names is None:
        return None
    listed = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str | bytes) else (None,)
    if not all(isinstance(each, str) and each.isidentifier() for each in listed):
        raise NxTypeError(
            message(
                f"nx.container({cls.__name__}): {what} takes names of attributes, got {names!r}.",
                f'Write {what}=["name"].',
            )
        )
    for each in listed:
        member = getattr(cls, each, None)
        if isinstance(member, property | functools.cached_property) and getattr(member, "fset", None) is None:
            raise NxTypeError(
                message(
                    f"nx.container({cls.__name__}): {each!r} is a property, which cannot be set.",
                    "Name the attributes that it is computed from.",
                )
            )
    return tuple(dict.fromkeys(listed))


def _known_fields(cls: Any) -> dict[str, bool] | None:
    """The fields of a dataclass, a named tuple or a class of attrs, and whether each says that it is static."""
    if dataclasses.is_dataclass(cls):
        return {each.name: bool(each.metadata.get("static")) for each in dataclasses.fields(cls)}
    if hasattr(cls, "__attrs_attrs__"):
        return {each.name: bool(each.metadata.get("static")) for each in cls.__attrs_attrs__}
    return dict.fromkeys(cls._fields, False) if issubclass(cls, tuple) and hasattr(cls, "_fields") else None


def _of_known(
    cls: type, names: tuple[str, ...] | None, fixed: frozenset[str], known: dict[str, bool]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """The fields and static fields of a class that has a list of its fields."""
    if names is not None:
        left = [name for name in known if name not in names and name not in fixed]
        if left:
            raise NxTypeError(
                message(
                    f"nx.container({cls.__name__}): its field {left[0]!r} is neither in fields nor in static, and "
                    "would be lost.",
                    "Without fields= all of them are.",
                )
            )
    static = fixed | {name for name, says_static in known.items() if says_static and name not in (names or ())}
    more = [name for name in (*(names or ()), *sorted(fixed)) if name not in known]
    return (*known, *dict.fromkeys(more)), static


def declaration_of(cls: type) -> Declaration | None:
    """How the objects of a class are taken apart; None for tuples, lists and dicts, and for what is no container."""
    try:
        return known[cls]
    except KeyError:
        if len(known) >= _MOST:
            known.clear()
        return known.setdefault(cls, _declared.get(cls) or _by_itself(cls))


def _by_itself(cls: type) -> Declaration | None:
    """What is a container though nobody has declared it."""
    if issubclass(cls, dict) or cls in WITH_ITEMS:
        return None
    listed = _known_fields(cls) if dataclasses.is_dataclass(cls) or issubclass(cls, tuple) else None
    if listed is not None:
        found = Declaration(tuple(listed), frozenset([name for name, says_static in listed.items() if says_static]))
        if issubclass(cls, tuple) and cls.__dictoffset__:
            # Objects with attributes beside the fields are none.
            found.data = None
        return found
    items = next((base for base in (list, tuple) if issubclass(cls, base)), None)
    return None if items is None else Declaration((), items=items)


def class_of(value: Any) -> type:
    """The class of an object; while it is traced it may be of one of ours, which stands for its own."""
    kind = type(value)
    return value.__class__ if hasattr(kind, "__nx_class__") else kind


def is_declared(value: Any) -> bool:
    """Whether somebody has said which attributes of an object are data, and which are static."""
    declaration = declaration_of(class_of(value))
    return declaration is not None and (declaration.by_name or bool(declaration.static))


def declared_class(module: str, name: str) -> type | None:
    """The class of this module and qualified name that was declared last."""
    return _by_name.get((module, name))


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
