"""Fast keys: a flat tuple of the types, shapes and static values of a call, made without looking into anything.

Calls with equal fast keys have equal cache keys (`CallArguments.ident`), as long as nothing else has changed; the other
way round they need not. Keys are prefix codes: each part begins with something that tells how many follow.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from nxkernel.container_classes.declarations import Declaration, declaration_of
from nxkernel.container_classes.declarations import known as known_classes
from nxkernel.container_classes.object_forms import data_of, opened
from nxkernel.dict_metadata import form_of, items_of
from nxkernel.numpy.forwarding import LEFT_OUT
from nxkernel.tensor.device import DeviceTensor
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

_array = np.array
_F32, _S64, _U8 = np.dtype("f4"), np.dtype("i8"), np.dtype("u1")
_OPTIONS, _STATIC, _SCALAR, _DEVICE = object(), object(), object(), object()
_PLAIN = frozenset({bool, int, str, type(None), type(LEFT_OUT)})
#: What is no data.
_NO_DATA = frozenset({str, type(None), type(LEFT_OUT)})
_NUMBERS = frozenset({int, float, complex, bool})
_LASTING = _NUMBERS | _PLAIN
#: The classes of types and functions, and the modules of those that stay what they are.
_LIBRARY = frozenset(
    {
        type,
        types.FunctionType,
        types.BuiltinFunctionType,
        np.ufunc,
        type(np.mean),
        Type,
        *map(type, map(np.dtype, "?bBhHiIlLefdFD")),
    }
)
#: The classes of functions in Python.
_CALLED = frozenset({types.FunctionType, types.MethodType})
#: The classes of what counts by its value, by position, too.
_STATIC_KINDS = _LIBRARY | _NO_DATA | _CALLED
_MODULES = frozenset({"numpy", "builtins", "math"})
_ARRAYS = frozenset({np.ndarray, Tensor, DeviceTensor, str, type(None)})
#: What counts of an argument: what it is; besides, the values of its numbers; its value alone.
_DATA, _BOTH, _VALUE = range(3)


def _adder(
    real: np.dtype, truth: np.dtype, largest: float, truths_count: bool = False
) -> Callable[[Any, list[Any], list[np.ndarray]], bool]:
    """Make the function that appends an argument to a key, for the given types of Python numbers."""

    def add(value: Any, key: list[Any], arrays: list[np.ndarray]) -> bool:
        kind = type(value)
        # Arrays and tensors that are arguments come here only in containers.
        if kind is float:
            if not -largest <= value <= largest and value - value == 0:
                return False  # NumPy warns of what overflows to infinity; the long way knows.
            key.append(kind)
            arrays.append(_array(value, real))
        elif kind is int:
            key.append(kind)
            try:
                arrays.append(_array(value, _S64))
            except OverflowError:
                return False
        elif kind is np.ndarray:
            key += (value.dtype, value.shape)
            arrays.append(value)
        elif kind is Tensor:
            key.append(value.spec)
            arrays.append(value.data)
        elif kind is bool:
            key += (kind, value) if truths_count else (kind,)
            arrays.append(_array(value, truth))
        elif kind is tuple or kind is list:
            key += (kind, len(value))
            return add_all(value, key, arrays)
        elif kind is dict:
            names = tuple(value)
            if not _is_text(names):
                return False
            key += (kind, names)
            return add_all(value.values(), key, arrays)
        elif (declaration := known_classes.get(kind)) is not None:
            return add_object(value, declaration, key, arrays)
        elif kind in _STATIC_KINDS:
            return _add_value(value, kind, key)
        elif issubclass(kind, dict) and (form := form_of(value)) is not None:
            key += (kind, form)
            return add_all([part for _, part in items_of(value)], key, arrays)
        elif kind is DeviceTensor:
            key += (_DEVICE, value.spec)
            arrays.append(value.array)
        elif issubclass(kind, np.number | np.bool):
            key += (_SCALAR, value.dtype)
            arrays.append(_array(value))
        else:
            declaration = declaration_of(kind)
            return declaration is not None and add_object(value, declaration, key, arrays)
        return True

    def add_object(value: Any, declaration: Declaration, key: list[Any], arrays: list[np.ndarray]) -> bool:
        try:
            of_value = declaration.of(value)
            if of_value is not None:
                # Each class has a declaration of its own.
                key.append(of_value)
                for name in of_value.static:
                    part = getattr(value, name)
                    if type(part) in _PLAIN:
                        key += (_STATIC, type(part), part)
                    elif not add_static(part, key):
                        return False
                return add_all(of_value.data(value), key, arrays)  # pyright: ignore[reportOptionalCall]
            found = opened(value)
        except AttributeError:
            return False  # a field that nobody has set
        if found is None:
            return False
        form, parts = found
        key.append(form)
        static = [part for part, is_static in zip(parts, form.static_flags, strict=True) if is_static]
        return all(add_static(part, key) for part in static) and add_all(data_of(form, parts), key, arrays)

    def add_all(values: Iterable[Any], key: list[Any], arrays: list[np.ndarray]) -> bool:
        try:
            for value in values:
                if not add(value, key, arrays):
                    return False
        except RecursionError:
            return False
        return True

    return add


#: Append what an argument is to a key, and its leaves to arrays; False when it takes the long way. Text, None and
#: functions are no data, and count by their values. The second one follows NumPy's rules: there a truth does so, too.
add = _adder(_F32, _U8, float(np.finfo(_F32).max))
_add_weak = _adder(np.dtype("f8"), np.dtype("?"), float("inf"), truths_count=True)


def add_of_numpy(value: Any, key: list[Any], arrays: list[np.ndarray]) -> bool:
    """Append an argument by NumPy's rules to a key."""
    if type(value) is float:
        # As below; most arguments that are no arrays are such.
        key.append(float)
        arrays.append(_array(value))
        return True
    return _add_weak(value, key, arrays)


def _add_value(value: Any, kind: type, key: list[Any]) -> bool:
    """Append an argument that is no data to a key; False where its identity does not say what it is."""
    if kind in _NO_DATA:
        return add_static(value, key)
    # What a person's function reads is compared in each call.
    if kind not in _CALLED and not is_lasting(value):
        return False
    key += (_STATIC, kind, value)
    return True


def keeps_alive(key: tuple) -> bool:
    """Whether a key has functions that may hold arrays of their own, so that only a few of such are kept.

    Examples
    --------
    >>> def made(x):
    ...     return lambda: x
    >>> keeps_alive((types.FunctionType, made(np.zeros(1000)))), keeps_alive((types.FunctionType, made))
    (True, False)
    """
    return any(
        type(part) is types.MethodType
        or (type(part) is types.FunctionType and part.__closure__ is not None and "<locals>" in part.__qualname__)
        for part in key
    )


def is_lasting(value: Any) -> bool:
    """Whether a value is a type, dtype or function of NumPy's, Python's or nxkernel's own, which nobody changes.

    Examples
    --------
    >>> is_lasting(np.mean), is_lasting(np.float32), is_lasting(np.sin), is_lasting(nx.tanh)
    (True, True, True, True)
    >>> is_lasting([].append), is_lasting(lambda x: x), is_lasting(2)
    (False, False, False)
    """
    if type(value) not in _LIBRARY:
        return False
    if isinstance(value, types.BuiltinFunctionType) and not isinstance(value.__self__, types.ModuleType):
        return False
    if isinstance(value, np.ufunc):
        # Others may be of a person's function.
        return getattr(np, value.__name__, None) is value
    if isinstance(value, types.FunctionType):
        # A person's decorator around a function of NumPy's has the name of its module.
        module = value.__globals__.get("__name__")
        if str(module).startswith("nxkernel."):
            return getattr(sys.modules.get(value.__module__), value.__name__, None) is value
    else:
        module = getattr(value, "__module__", None)
    return isinstance(value, np.dtype | Type) or str(module).partition(".")[0] in _MODULES


def add_numbers(value: Any, key: list[Any]) -> bool:
    """Append the values of all Python numbers that an argument is or has; False if there may be more of them."""
    kind = type(value)
    if kind in _NUMBERS:
        return add_static(value, key)
    if kind is tuple or kind is list:
        return all(add_numbers(part, key) for part in value)
    if issubclass(kind, dict):
        return all(add_numbers(part, key) for _, part in items_of(value))
    found = opened(value)
    if found is not None:
        return all(add_numbers(part, key) for part in data_of(*found))
    return kind in _ARRAYS or issubclass(kind, np.generic)


def add_static(value: Any, key: list[Any]) -> bool:
    """Append a static value to a key; False if it needs the slow path."""
    kind = type(value)
    if kind is float:
        # Zeros of both signs are equal, and NaN is not itself.
        key += (_STATIC, kind, value if value and value == value else value.hex())
    elif kind in _PLAIN or is_lasting(value):
        key += (_STATIC, kind, value)
    elif kind is tuple:
        key += (_STATIC, kind, len(value))
        return all(add_static(part, key) for part in value)
    else:
        return False
    return True


@functools.lru_cache(maxsize=1024)
def _is_text(names: tuple) -> bool:
    """Whether all keys of a dict are text: 1, 1.0 and True would be one."""
    return all(type(name) is str for name in names)


def add_options(options: dict[str, Any], key: list[Any]) -> bool:
    """Append options to a key; False if one of them needs the slow path."""
    key.append(_OPTIONS)
    for name, value in options.items():
        kind = type(value)
        if kind in _PLAIN or kind is Type:
            key += (name, kind, value)
        elif kind is float:
            key += (name, kind, value.hex())
        elif kind in _CALLED:
            # What it reads is compared in each call.
            key += (name, kind, value)
        elif kind is tuple or kind is list:
            for item in value:
                if type(item) not in _PLAIN:
                    return False
            key += (name, kind, repr(value))
        else:
            return False
    return True


class CallForm:
    """What the keys of calls with so many arguments by position and these names have in common, made once.

    Where all arguments are data by position, ``Definition.__call__`` does the same in place: as a function it would
    cost a call of three numbers 60 of its 1,650 nanoseconds. A test holds both together.

    Parameters
    ----------
    count : int
        How many arguments are given by position.
    following : sequence of (str, value)
        The arguments after them, in the order of the function, each with its default.
    named : sequence of str
        The names of the call, in its order.
    parameters : sequence of inspect.Parameter
        Those that can be given by position.
    static : frozenset of str
        The names of arguments that are static.
    fixed : collection of str
        The paths of numbers whose values are in the program.
    of_numpy : bool
        Whether the definition follows NumPy's rules.
    """

    __slots__ = ("_add", "_defaults", "_following", "_further", "_inserted", "_uses", "fixed", "is_short")

    def __init__(
        self,
        count: int,
        following: Sequence[tuple[str, Any]],
        named: Sequence[str],
        parameters: Sequence[inspect.Parameter],
        static: frozenset[str],
        fixed: Collection[str],
        of_numpy: bool,
    ) -> None:
        self._add = add_of_numpy if of_numpy else add
        self.fixed, self._following = fixed, following
        roots = {root_of(path) for path in fixed}

        def use(name: str) -> int:
            return _VALUE if name in static else _BOTH if name in roots else _DATA

        known = [one.name for one in parameters]
        #: Those behind all parameters have paths that begin with the name of ``*args``.
        more = _DATA if roots.issubset(known) else _BOTH
        self._uses = (*map(use, known[:count]), *[more] * (count - len(known)))
        #: Arguments that are looked at in each call, with what precedes them of other ones: parts of the key, arrays.
        #: Those without a name are defaults that may have changed.
        self._inserted: list[tuple[str, Any, int, tuple, tuple]] = []
        #: Whether a call of this form has a key at all.
        self.is_short = True
        key: list[Any] = []
        arrays: list[np.ndarray] = []
        for name, default in following:
            if name in named or not _is_immutable(default):
                self._inserted.append((name if name in named else "", default, use(name), tuple(key), tuple(arrays)))
                key, arrays = [], []
            elif not self._add_one(default, use(name), key, arrays):
                self.is_short = False
        self._defaults = tuple(key), tuple(arrays)
        taken = {name for name, _ in following}
        self._further = tuple([name for name in named if name not in taken])

    def encode(self, args: tuple, options: dict[str, Any], key: list[Any], arrays: list[Any]) -> bool:
        """Append the key of a call, and the arrays of its arguments; False where the call takes the long way."""
        if not self.is_short:
            return False
        for value, use in zip(args, self._uses, strict=True):
            if use is _DATA and type(value) is np.ndarray:
                key += (value.dtype, value.shape)
                arrays.append(value)
            elif not self._add_one(value, use, key, arrays):
                return False
        for name, default, use, more, further in self._inserted:
            key += more
            arrays += further
            if not self._add_one(options[name] if name else default, use, key, arrays):
                return False
        more, further = self._defaults
        key += more
        arrays += further
        return not self._further or add_options({name: options[name] for name in self._further}, key)

    def _add_one(self, value: Any, use: int, key: list[Any], arrays: list[Any]) -> bool:
        if use is _VALUE:
            return add_static(value, key)
        kind = type(value)
        if kind is float and use is _BOTH and self._add is add_of_numpy:
            # As below, in place.
            key += (kind, _STATIC, kind, value if value and value == value else value.hex())
            arrays.append(_array(value))
            return True
        if not self._add(value, key, arrays):
            return False
        return use is _DATA or add_numbers(value, key)

    def placed(self, args: tuple, options: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The same call with its arguments by position, the defaults among them."""
        found = args + tuple([options.get(name, default) for name, default in self._following])
        return found, {name: options[name] for name in self._further}


def root_of(path: str) -> str:
    """The name that a path begins with: ``params`` of ``params['w'].x``.

    Examples
    --------
    >>> root_of("params['w'].x")
    'params'
    """
    return re.split(r"[.[]", path, maxsplit=1)[0]


def _is_immutable(value: Any) -> bool:
    """Whether a default stays what it is."""
    if type(value) in _LIBRARY:
        return is_lasting(value)
    return (
        type(value) in _LASTING
        or isinstance(value, np.generic)
        or (type(value) is tuple and all(map(_is_immutable, value)))
    )
