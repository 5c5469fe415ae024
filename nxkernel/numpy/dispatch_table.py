"""The table from NumPy's own functions to those of this package, and the dispatch of NumPy's protocols by it."""

from __future__ import annotations

import functools
import inspect
import sys
import types as types_
from typing import Any

import numpy as np

from nxkernel import compile_thread, numba_functions, ops, types
from nxkernel.errors import NxTypeError, TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.library_functions import LIBRARIES
from nxkernel.numpy import constants, refused_random
from nxkernel.numpy.arrays.array import as_value, holds_traced, wrap
from nxkernel.numpy.base import eager_rules, refused_writing
from nxkernel.numpy.functions import index_tricks
from nxkernel.numpy.functions.ufunc import strong
from nxkernel.numpy.standard import data_types, sets
from nxkernel.operand import Proxy
from nxkernel.ops import tensor_methods
from nxkernel.ops.programs.numba_functions import njit_map


def namespace() -> Any:
    """The package with NumPy's functions under NumPy's names."""
    import nxkernel.numpy

    return nxkernel.numpy


@functools.cache
def _table() -> dict[Any, Any]:
    ours = namespace()
    table: dict[Any, Any] = {}
    namespaces = [(np, ours), (np.fft, ours.fft), (np.linalg, ours.linalg)]
    for theirs, mine in namespaces:
        for name in mine.__all__:
            counterpart = getattr(theirs, name, None)
            if callable(counterpart) and name not in constants.__all__:
                table.setdefault(counterpart, getattr(mine, name))
    table |= {
        np.finfo: data_types.finfo_of_numpy, np.ndarray: index_tricks.ndarray, np.nditer: index_tricks.nditer,
        np.mgrid: ours.mgrid, np.ogrid: ours.ogrid, np.r_: ours.r_, np.c_: ours.c_,
        np.lib.stride_tricks.sliding_window_view: ours.sliding_window_view,
        np.lib.stride_tricks.as_strided: ours.as_strided,
        np.polynomial.polyutils.trimseq: _untrimmed,
    }  # fmt: skip
    for cls, name in constants.SCALARS.items():
        table[cls] = _conversion(name)
    return table


@functools.cache
def _of_random() -> dict[Any, Any]:
    """The functions of ``numpy.random``, which most programs never import, and what refuses them."""
    functions = {name: getattr(np.random, name) for name in dir(np.random) if not name.startswith("_")}
    return {
        function: refused_random.refused(name)
        for name, function in functions.items()
        if callable(function) and not isinstance(function, type)
    }


def _untrimmed(seq: Any) -> Any:
    """The coefficients of a polynomial, with zeros at their end where only the running program knows these."""
    return seq if holds_traced(seq) else np.polynomial.polyutils.trimseq(seq)


def _conversion(name: str) -> Any:
    def convert(value: Any = 0, /) -> Any:
        return np.dtype(name).type(value) if not holds_traced(value) else strong(as_value(value).astype(name))

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"A value as {name}."
    return convert


def twin(function: Any) -> Any:
    """The function of this package that replaces a NumPy function while a definition is traced.

    Parameters
    ----------
    function : callable
        One of NumPy's functions or types, a ufunc, or a method of a ufunc such as ``np.add.reduce``.

    Returns
    -------
    callable
        The function of this package, or `function` itself where it works on traced values as it is. For a function
        of NumPy's that has no twin, one that refuses.

    Examples
    --------
    >>> import nxkernel.numpy as nnp
    >>> twin(np.zeros) is nnp.zeros, twin(np.linalg.norm) is nnp.linalg.norm, twin(len) is len
    (True, True, True)
    """
    try:
        counterpart = _table().get(function)
    except TypeError:
        return function
    if counterpart is None and "numpy.random" in sys.modules:
        counterpart = _of_random().get(function)
    if counterpart is None and "numpy.ma" in sys.modules:
        compile_thread.load("nxkernel.numpy.masked.functions")
        from nxkernel.numpy.masked import functions as masked_functions

        counterpart = masked_functions.table().get(function)
    if counterpart is None and "scipy" in sys.modules and not _is_of_others(function):
        compile_thread.load("nxkernel.numpy.scipy.counterparts")
        from nxkernel.numpy.scipy import counterparts

        counterpart = counterparts.counterpart(function)
    if counterpart is not None:
        return counterpart
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return getattr(twin(owner), function.__name__, None) or _refusing(function)
    if "numpy.random" in sys.modules and isinstance(owner, np.random.Generator):
        return refused_random.refused(function.__name__)
    if isinstance(function, np.ufunc) or (_is_numpys(function) and not isinstance(function, type)):
        return _refusing(function)
    return function


def _is_of_others(function: Any) -> bool:
    """Whether a function or class in Python is of none of the libraries whose counterparts take time to load."""
    in_python = isinstance(function, types_.FunctionType | types_.MethodType | type)
    return in_python and str(getattr(function, "__module__", "")).partition(".")[0] not in LIBRARIES


def _is_numpys(function: Any) -> bool:
    if inspect.isfunction(function):
        # A person's decorator around a function of NumPy's has the name of its module.
        return function.__globals__.get("__name__", "").partition(".")[0] == "numpy"
    module = getattr(function, "__module__", None) or ""
    return (
        callable(function)
        and module.split(".")[0] == "numpy"
        and getattr(function, "__name__", "") not in constants.__all__
    )


def _refusing(function: Any) -> Any:
    """A NumPy function without a counterpart, wrapped to refuse traced values."""

    @functools.wraps(function)
    def wrapped(*args: Any, **options: Any) -> Any:
        if not any(map(holds_traced, (*args, *options.values()))):
            return function(*args, **options)
        name = getattr(function, "__name__", str(function))
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            name = f"{function.__self__.__name__}.{name}"
        # Element-wise functions of others are of NumPy's class, and do not tell where they are from.
        foreign = isinstance(function, np.ufunc) and getattr(np, name, None) is not function
        raise NxTypeError(
            message(
                f"{name if foreign else f'np.{name}'}() has no counterpart for values that are traced.",
                "Call it before the definition and pass what it gives, or write it with other functions.",
            )
        )

    return wrapped


#: The code of what calls a function of NumPy's for the user, as it stands in the user's text.
CALLS_FOR_USERS = _refusing(len).__code__


def refuses(twin: Any) -> bool:
    """Whether what :func:`twin` gives refuses traced values."""
    return getattr(twin, "__code__", None) is CALLS_FOR_USERS


def run_ufunc(ufunc: Any, method: str, inputs: tuple, options: dict[str, Any]) -> Any:
    """Carry out what NumPy's ``__array_ufunc__`` asks for."""
    if numba_functions.is_compiled(ufunc):
        return _of_numba(ufunc, method, inputs, options)
    out = options.pop("out", None)
    if out is not None:
        if any(isinstance(one, np.ndarray) for one in out):
            raise TracedValueError(
                message(
                    f"np.{ufunc.__name__} would write traced values into an array of NumPy's.",
                    "Arrays that are assigned into are made in the definition, or are its arguments.",
                )
            )
        options["out"] = out[0] if len(out) == 1 else out
    function = twin(ufunc)
    return (function if method == "__call__" else getattr(function, method))(*inputs, **options)


def dispatched(function: Any, method: str, inputs: tuple, options: dict[str, Any]) -> Any:
    """A NumPy function applied to tensors and traced values, by the promotion rules in force.

    Outside of NumPy's rules the results are tensors and traced values again, not arrays that are assigned into, and
    element-wise functions are those of nxkernel.

    Parameters
    ----------
    function : callable
        A function or ufunc of NumPy's.
    method : str
        What of a ufunc is called, such as ``"__call__"``; empty for other functions.
    inputs, options : tuple and dict
        What it is called with.
    """
    if numba_functions.is_compiled(function):
        return _of_numba(function, method, inputs, options)
    if types.follows_numpy():
        return run_ufunc(function, method, inputs, options) if method else twin(function)(*inputs, **options)
    own = _own_functions().get(function) if method == "__call__" and not options else None
    if own is not None:
        return own(*inputs)
    with eager_rules.kept():
        return _plain(run_ufunc(function, method, inputs, options) if method else twin(function)(*inputs, **options))


def _of_numba(function: Any, method: str, inputs: tuple, options: dict[str, Any]) -> Any:
    """A ``numba.vectorize`` function applied to each element."""
    if method != "__call__" or options:
        name = numba_functions.name_of(function)
        raise NxTypeError(
            message(
                f"{name}.{method} has no counterpart for values that are traced."
                if method != "__call__"
                else f"{name}() takes no {', '.join(options)} for values that are traced.",
                f"Element by element it is called as {name}(t).",
            )
        )
    result = njit_map(function, *inputs)
    return wrap(result) if types.follows_numpy() else result


@functools.cache
def _own_functions() -> dict[Any, Any]:
    """The table from NumPy's ufuncs to nxkernel's functions, which support axis names and vectorized axes."""
    table = {np.floor_divide: tensor_methods.floor_divide, np.remainder: tensor_methods.floor_remainder}
    table |= {np.matmul: tensor_methods.matrix_multiply, np.positive: lambda tensor: tensor}
    for name in _SAME_NAMES:
        table[getattr(np, name)] = getattr(ops, name)
    for theirs, ours in _OTHER_NAMES.items():
        table[getattr(np, theirs)] = getattr(ops, ours)
    return table


_SAME_NAMES = [
    "add", "subtract", "multiply", "divide", "equal", "not_equal", "greater", "less", "greater_equal", "less_equal",
    "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor",
    "left_shift", "right_shift", "exp", "expm1", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt",
    "cbrt", "sign", "floor", "ceil", "conjugate",
]  # fmt: skip
_OTHER_NAMES = {
    "power": "pow", "maximum": "max", "minimum": "min", "arctan2": "atan2", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "negative": "negate",
    "absolute": "abs", "invert": "bitwise_not", "isnan": "is_nan", "isinf": "is_infinity", "log": "log",
}  # fmt: skip


#: What NumPy answers with one truth value, which belongs into an `if`.
_TRUTHS = (np.allclose, np.array_equal, np.array_equiv)


def on_arrays(function: Any, inputs: tuple, options: dict[str, Any]) -> Any:
    """A NumPy function applied to arrays; where nothing is traced, what it has no counterpart for runs in NumPy."""
    ours = twin(function)
    if tracing.current() is not None:
        return ours(*inputs, **options)
    try:
        return ours(*inputs, **options)
    except NxTypeError:
        try:
            return function(*_of_numpy(inputs), **{name: _of_numpy(value) for name, value in options.items()})
        except Exception:
            pass
        raise


def _of_numpy(value: Any) -> Any:
    """A value with NumPy's arrays in the place of arrays, also in tuples and lists."""
    if isinstance(value, Proxy):
        return np.asarray(value)
    return type(value)(map(_of_numpy, value)) if type(value) in (tuple, list) else value


#: What gives as many elements as the values say, which NumPy finds where they are known.
_SIZED_BY_VALUES = frozenset(getattr(np, name) for name in sets.__all__)


def on_tensors(function: Any, method: str, inputs: tuple, options: dict[str, Any], arrays: Any) -> Any:
    """As :func:`dispatched`, for tensors, whose elements are known; functions without a counterpart run in NumPy.

    Parameters
    ----------
    arrays : callable
        Gives containers with arrays in the place of tensors.
    """
    refused_writing.check(function, method, inputs, options)
    traced = tracing.current() is not None or any(map(_holds_proxies, (*inputs, *options.values())))
    try:
        # NumPy writes where that is its own array.
        writes = function in refused_writing.WRITERS and inputs and isinstance(inputs[0], np.ndarray)
        if traced or (_runs_here(function) and options.get("out") is None and not writes):
            result = dispatched(function, method, inputs, dict(options))
            return bool(result) if not traced and function in _TRUTHS else result
    except NxTypeError:
        if traced:
            raise
    run = getattr(function, method) if method and method != "__call__" else function
    return run(*arrays(inputs), **{name: arrays(value) for name, value in options.items()})


def _runs_here(function: Any) -> bool:
    return function in _table() and function not in _SIZED_BY_VALUES


def _holds_proxies(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_holds_proxies, value))
    return isinstance(value, Proxy)


def _plain(value: Any) -> Any:
    if isinstance(value, Proxy):
        return value.__nx_operand__()
    if isinstance(value, tuple | list):
        plain = [_plain(part) for part in value]
        return type(value)(*plain) if hasattr(value, "_fields") else type(value)(plain)
    return value
