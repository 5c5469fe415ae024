"""NumPy's own functions where a function of a person's is expected, as in ``nx.jit(np.sum)``."""

from __future__ import annotations

import functools
import inspect
import types as python
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from nxkernel import numba_functions, types
from nxkernel.numpy import dispatch_table

_KINDS = inspect.Parameter
#: The classes of functions of NumPy's: those with a protocol, in Python, and in C.
_CLASSES = (type(np.sum), python.FunctionType, python.BuiltinFunctionType)


class _LeftOut:
    """The class of :data:`LEFT_OUT`."""

    def __repr__(self) -> str:
        return "None"


#: A default that stands for another one, which the function itself has: where a call leaves it out, nothing is passed.
LEFT_OUT = _LeftOut()


class Forwarded:
    """A function of NumPy's that can be traced: it passes on what a call gives, and leaves defaults to NumPy.

    Parameters
    ----------
    function : callable
        A function of NumPy's, a ufunc, or a method of a ufunc.

    Examples
    --------
    >>> inspect.signature(Forwarded(np.cumsum))
    <Signature (a, axis=None, dtype=None, out=None, **options)>
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        owner = getattr(function, "__self__", None)
        self.__name__ = function.__name__
        self.__qualname__ = f"{owner.__name__}.{function.__name__}" if isinstance(owner, np.ufunc) else self.__name__
        self.__module__ = getattr(function, "__module__", None) or "numpy"
        self.__doc__ = function.__doc__
        self.__signature__ = open_signature(_parameters(function))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the counterpart of this package by NumPy's rules, and else NumPy's function by its protocols."""
        function = dispatch_table.twin(self._function) if types.follows_numpy() else self._function
        return function(*args, **options)

    def __reduce__(self) -> tuple:
        return traceable, (self._function,)


class ForwardedToNumba:
    """A function that Numba compiled and that can be traced: a program has its text, its code, or a call of it.

    Parameters
    ----------
    function : numba.njit, numba.vectorize or numba.guvectorize function
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self.__name__ = self.__qualname__ = numba_functions.name_of(function)
        self.__module__ = getattr(function, "__module__", None) or "numba"
        self.__doc__ = function.__doc__
        self.__signature__ = numba_functions.signature(function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call what stands for the function while a program is traced, and else the function."""
        function = numba_functions.TRACED[0](self._function) if numba_functions.TRACED else self._function
        return function(*args, **options)

    def __reduce__(self) -> tuple:
        return traceable, (self._function,)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return [_KINDS("args", _KINDS.VAR_POSITIONAL)]


def open_signature(parameters: Iterable[inspect.Parameter]) -> inspect.Signature:
    """A signature without defaults, such as ``np._NoValue``, and with any further options.

    Only what a call gives is passed on: the counterpart may lack the rest.
    """
    kept = [one for one in parameters if one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD)]
    kept = [one if one.default is one.empty else one.replace(default=LEFT_OUT) for one in kept]
    return inspect.Signature([*kept, _KINDS("options", _KINDS.VAR_KEYWORD)])


def traceable(function: Any) -> Any:
    """A function of NumPy's as :class:`Forwarded`, and one that Numba compiled as :class:`ForwardedToNumba`, the same
    object each time; anything else as it is.

    Of a partial it is the function inside of it.

    Examples
    --------
    >>> traceable(np.add) is traceable(np.add), traceable(len) is len
    (True, True)
    """
    if isinstance(function, functools.partial):
        inner = traceable(function.func)
        return function if inner is function.func else functools.partial(inner, *function.args, **function.keywords)
    if numba_functions.is_compiled(function) or numba_functions.is_generalized(function):
        return _to_numba(function)
    return _forwarded(function) if is_numpys(function) else function


#: By function, as long as that is there.
_OF_NUMBA: weakref.WeakKeyDictionary[Any, ForwardedToNumba] = weakref.WeakKeyDictionary()


def _to_numba(function: Any) -> ForwardedToNumba:
    found = _OF_NUMBA.get(function)
    if found is None:
        found = _OF_NUMBA[function] = ForwardedToNumba(function)
    return found


@functools.cache
def _forwarded(function: Callable[..., Any]) -> Forwarded:
    return Forwarded(function)


def is_numpys(function: Any) -> bool:
    """Whether a value is a function of NumPy's, a ufunc, or a method of a ufunc such as ``np.add.reduce``."""
    if numba_functions.is_compiled(function):
        return False
    if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
        return True
    if isinstance(function, python.FunctionType):
        # A person's decorator around a function of NumPy's has the name of its module.
        module = function.__globals__.get("__name__", "")
    else:
        module = getattr(function, "__module__", None) or ""
    return isinstance(function, _CLASSES) and module.partition(".")[0] == "numpy"
