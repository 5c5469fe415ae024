"""Static values: as part of a cache key, as text, and whether their code is the user's or a package's."""

from __future__ import annotations

import collections
import enum
import functools
import operator
import os
import random
import re
import reprlib
import site
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from nxkernel import errors
from nxkernel.container_classes.declarations import HEAP_TYPE
from nxkernel.definitions.keys.fast_keys import is_lasting
from nxkernel.definitions.keys.leaves import is_array, spec_of
from nxkernel.messages.grammar import a
from nxkernel.operand import Operand
from nxkernel.tensor.tensor import StoredTensor
from nxkernel.types import Type

#: The value of a name that is not defined.
MISSING = object()
SETS = (set, frozenset)
CONTAINERS = (list, tuple, dict, collections.deque, *SETS)
_CONSTANTS = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
#: Modules of Python whose hashable objects are compared by value.
_VALUES = frozenset({"builtins", "datetime", "decimal", "fractions", "pathlib", "re", "uuid"})


class ByIdentity:
    """A part of a key that is equal only to the same object, which it keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return f"ByIdentity({self.value!r})"


def constant(value: Any) -> tuple | None:
    """The part of a key for a number, text and the like, by value; None for anything else.

    Examples
    --------
    >>> constant(1) == constant(1.0), constant(0.0) == constant(-0.0), constant(float("nan")) == constant(float("nan"))
    (False, False, True)
    """
    kind = type(value)
    if kind in _CONSTANTS:
        return (kind, value)
    if kind is float:
        return (kind, value.hex())
    if kind is complex:
        return (kind, value.real.hex(), value.imag.hex())
    if issubclass(kind, np.generic) and kind.__module__ == "numpy" and kind is not np.void:
        # Records are views, whose elements may change.
        return (value.dtype, value.tobytes())
    return ("missing",) if value is MISSING else None


def by_value(value: Any) -> Any:
    """The part of a key for any value: by value where Python compares it so, else by identity."""
    state = constant(value)
    if state is not None:
        return state
    if isinstance(value, tuple) and type(value) is tuple:
        return (tuple, *map(by_value, value))
    if type(value).__hash__ in (None, object.__hash__):
        return ByIdentity(value)
    if type(value).__module__ not in _VALUES and not isinstance(value, np.dtype):
        return ByIdentity(value)
    return (type(value), value)


class Static:
    """A value in a container that is no data: a text, an option, a function. It stays what it is.

    Two are equal where their values are, by :func:`by_contents`.

    Parameters
    ----------
    value : Any
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Static and (other.value is self.value or self._state == other._state)

    def __hash__(self) -> int:
        return hash(self._state)

    def __repr__(self) -> str:
        return f"Static({self.value!r})"

    @property
    def _state(self) -> Any:
        state = by_contents(self.value)
        return state if state is not None else _by_its_class(self.value)

    @property
    def is_fixed(self) -> bool:
        """Whether nobody can change the value, and its state says all of it."""
        value = self.value
        if type(value) is tuple:
            return all(Static(each).is_fixed for each in value)
        return constant(value) is not None or isinstance(value, Type | np.dtype) or is_lasting(value)


def by_contents(value: Any) -> Any:
    """The part of a key for numbers, texts, arrays, and tuples, lists, dicts and sets of them; None for anything else.

    Examples
    --------
    >>> by_contents([1, {"a": 2.0}]) == by_contents([1, {"a": 2.0}]), by_contents([1]) == by_contents([1.0])
    (True, False)
    >>> by_contents([lambda: 1]) is None
    True
    """
    state = constant(value)
    kind = type(value)
    if state is not None:
        return state
    if kind is Type or isinstance(value, np.dtype) or is_lasting(value):
        return (kind, value)
    if is_array(value) and not isinstance(value, Operand):
        return (kind, value.dtype, value.shape, value.tobytes())
    if isinstance(value, StoredTensor):
        return (kind, value.spec, value.data.tobytes())
    if kind is dict:
        inner = [by_contents(each) for each in value.values()]
        return None if None in inner else (kind, keys_state(value), *inner)
    if kind in (list, tuple):
        inner = [by_contents(each) for each in value]
        return None if None in inner else (kind, *inner)
    if kind in SETS:
        inner = [by_contents(each) for each in value]
        return None if None in inner else (kind, frozenset(inner))
    return None


def _by_its_class(value: Any) -> Any:
    """The part of a key for an object: by value where its class says when two are equal, else by identity."""
    kind = type(value)
    if kind is types.FunctionType:
        # One that is made anew by the same code, as in a constructor, and holds the same.
        held = [contents_of(cell) for cell in value.__closure__ or ()]
        held += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        states = [by_contents(each) or ByIdentity(each) for each in held]
        return (kind, value.__code__, ByIdentity(value.__globals__), *states)
    try:
        hash(value)
    except TypeError:
        return ByIdentity(value)
    return ByIdentity(value) if kind.__eq__ is object.__eq__ else (kind, value)


def is_code(state: Any) -> bool:
    """Whether a part of a key stands for a function, class or module, and not for data.

    Examples
    --------
    >>> is_code(by_value(np)), is_code(by_value(np.sin)), is_code(by_value(0.5))
    (True, True, False)
    """
    if isinstance(state, ByIdentity):
        return callable(state.value) or isinstance(state.value, types.ModuleType)
    return isinstance(state, tuple) and state[:1] == ("function",)


def keys_state(mapping: Iterable[Any]) -> tuple:
    """The keys of a mapping, in their order, as a part of a key.

    Examples
    --------
    >>> keys_state({"a": 1}), keys_state({1: 1}) == keys_state({1.0: 1})
    (('a',), False)
    """
    keys = tuple(mapping)
    return keys if all(type(key) is str for key in keys) else tuple(map(by_value, keys))


class SameKeys:
    """Equal to the keys of a mapping as long as these are the same ones in the same order.

    Objects are compared first, which takes a hundredth of the time that their values take.
    """

    __slots__ = ("_keys", "_state")

    def __init__(self, keys: tuple) -> None:
        self._keys, self._state = keys, keys_state(keys)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple):
            return NotImplemented
        if len(other) == len(self._keys) and all(map(operator.is_, other, self._keys)):
            return True
        return keys_state(other) == self._state

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The ``__dict__`` of an object, without running code of its class; None where there is none."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return attributes if isinstance(attributes, dict) else None


#: The attributes that nxkernel gives definitions, network modules and transformations; all others are the user's.
OF_DEFINITIONS = frozenset({
    "__annotations__", "__doc__", "__module__", "__name__", "__nx_function__", "__nx_pickled__", "__nx_transform__",
    "__qualname__", "__signature__", "__type_params__", "__wrapped__", "_beside_numbers", "_defaults", "_definition",
    "_entry_group", "_full", "_inputs", "_made", "_made_of", "_open", "_positional", "_root", "_signature", "_snapshot",
    "_static_by", "compiler", "dialect", "donated", "fingerprint", "hooks", "on_conflict", "promotion", "ruled_by",
    "static", "syntax",
})  # fmt: skip


def contents_of(cell: types.CellType) -> Any:
    """What a closure variable is bound to; MISSING where it has no value."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def definition_of(value: Any) -> Any:
    """The function behind a definition or another function of nxkernel's; None for anything else."""
    return None if isinstance(value, types.FunctionType) else (attributes_of(value) or {}).get("__nx_function__")


def own_class(class_: type) -> type:
    """The user's class that a class stands for while something is traced; any other class is its own."""
    return getattr(class_, "__nx_class__", class_)


def members_state(values: Iterable[Any]) -> frozenset:
    """The members of a set as a part of a key."""
    return frozenset(map(by_value, values))


def numpys_generators() -> tuple[type, ...]:
    """NumPy's classes of random generators; none where no program has imported them yet, which takes a while."""
    return (np.random.Generator, np.random.RandomState) if "numpy.random" in sys.modules else ()


def generator_state(generator: Any) -> Any:
    """The state of a random generator, as something that can be compared."""
    if isinstance(generator, random.SystemRandom):
        # The system's own randomness has none.
        return ()
    if isinstance(generator, random.Random):
        return generator.getstate()
    return _comparable(
        generator.get_state(legacy=False) if hasattr(generator, "get_state") else generator.bit_generator.state
    )


def _comparable(state: Any) -> Any:
    """A dict of numbers and arrays, as tuples and bytes."""
    if isinstance(state, dict):
        return tuple([(name, _comparable(value)) for name, value in state.items()])
    return state.tobytes() if isinstance(state, np.ndarray) else state


class Described(str):
    """A container as text, with a copy of its contents at that time.

    Attributes
    ----------
    inside : list, tuple, dict or set
        A copy of the container.
    shortened : bool
        Whether the text leaves items out.
    """

    inside: Any
    shortened: bool


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class _Short(reprlib.Repr):
    """Shortens texts without running the user's code, which might count, draw random numbers or be slow."""

    def repr_instance(self, x: Any, level: int) -> str:
        """The text of an object; one with a ``__repr__`` of the user's is described by its class."""
        own = next((vars(parent)["__repr__"] for parent in type(x).__mro__ if "__repr__" in vars(parent)), None)
        if isinstance(own, types.FunctionType) and not installed(own):
            return a(type(x).__name__)
        return super().repr_instance(x, level)


_SHORT = _Short()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = _SHORT.maxdeque = 8
_SHORT.maxstring = _SHORT.maxother = 60


def describe(value: Any) -> str:
    """A value as one line of text of moderate length.

    Examples
    --------
    >>> describe(0.5), describe(np.zeros((2, 3))), describe(list(range(20))), describe(int)
    ('0.5', 'f64[2][3]', '[0, 1, 2, 3, 4, 5, 6, 7, ...]', 'class int')
    """
    if value is MISSING:
        return "not defined"
    if is_array(value):
        return str(spec_of(value))
    kind = type(value)
    if issubclass(kind, type):
        return f"class {value.__name__}"
    if issubclass(kind, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, enum.Enum):
        return f"{kind.__name__}.{value.name}"
    if constant(value) is not None:
        return _SHORT.repr(value)
    if issubclass(kind, CONTAINERS):
        return _described(value)
    name = getattr(value, "__name__", None) if callable(value) else None
    if isinstance(name, str):
        return name
    if type(value).__repr__ is object.__repr__:
        return a(type(value).__name__)
    text = _ADDRESS.sub("", _SHORT.repr(value))
    # A table or a model that draws itself over many lines is known by what it is.
    return a(type(value).__name__) if "\n" in text else text


def _described(value: Any) -> Described:
    text = Described(_SHORT.repr(value))
    kind = dict if isinstance(value, dict) else frozenset if isinstance(value, SETS) else tuple
    text.inside, text.shortened = kind(value), len(value) > _SHORT.maxlist
    return text


def _library_folders() -> tuple[str, ...]:
    """Folders of Python's own modules, of packages, and of this one, which may be a clone."""
    packages = [path for path in (*site.getsitepackages(), site.getusersitepackages()) if path.endswith("-packages")]
    modules = [os.path.dirname(os.path.abspath(file)) for file in (os.__file__, errors.__file__)]
    return tuple(os.path.join(folder, "") for folder in dict.fromkeys(modules + packages))


_LIBRARIES = _library_folders()
_PACKAGES = frozenset({"builtins", "nxkernel", "numpy", "scipy"})


def installed(value: Any) -> bool:
    """Whether something belongs to Python or an installed package, and not to the user.

    Examples
    --------
    >>> installed(np.sin), installed(nx.sum), installed(os.path)
    (True, True, True)
    """
    if isinstance(value, types.MethodType | staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, types.FunctionType):
        if hasattr(value, "__nx_transform__"):
            # Made of a function of the user's, which it captures.
            return False
        # Its code tells, not its `__module__`, which decorators such as `functools.wraps` take from another function.
        return installed_file(value.__code__.co_filename)
    if not isinstance(value, types.ModuleType | type):
        value = type(value)
    if isinstance(value, type) and not value.__flags__ & HEAP_TYPE:
        # Of a module in C, such as that of the functions of `scipy.fft`, which may be under another name.
        return True
    module = value if isinstance(value, types.ModuleType) else sys.modules.get(value.__module__)
    # A module may have a `__getattr__` of the user's.
    names = attributes_of(module) or {}
    name, file = names.get("__name__"), names.get("__file__")
    of_module = _package(name) in _PACKAGES or name in sys.builtin_module_names
    of_module = of_module or (isinstance(file, str) and installed_file(file))
    return of_module and not (isinstance(value, type) and _only_says_so(value, names))


def _only_says_so(kind: type, names: dict[str, Any]) -> bool:
    """Whether a class is a person's, in spite of the name of its module: it is not there, and its code is elsewhere.

    Code that runs without a name of its own, such as that of :func:`exec`, makes classes of ``builtins``.
    """
    if names.get(kind.__name__) is kind:
        return False
    functions = [each for each in vars(kind).values() if isinstance(each, types.FunctionType)]
    return any(not installed_file(each.__code__.co_filename) for each in functions)


def _package(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""


@functools.lru_cache(maxsize=4096)
def installed_file(file: str) -> bool:
    """Whether a source file belongs to Python or an installed package."""
    if "site-packages" in file or "dist-packages" in file or file.startswith("<frozen"):
        return True
    # Cython names the files of a library's modules as it was built from, such as "numpy/random/_pcg64.pyx".
    return file.startswith(_LIBRARIES) or (file.endswith((".pyx", ".pxd", ".pxi")) and not os.path.isabs(file))
