"""Dispatch of calls in definitions: to traced versions of builtins, or to the user's functions rewritten."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nxkernel import compile_thread, numba_functions
from nxkernel import types as rules
from nxkernel.definitions import syntax
from nxkernel.definitions.captures import name_lookup
from nxkernel.definitions.captures.impure_functions import is_logger
from nxkernel.definitions.flow.control import attempts
from nxkernel.definitions.flow.control.loop_iterables import product
from nxkernel.definitions.flow.operators import (
    membership,
    numba_calls,
    numpys_sources,
    object_identity,
    output_calls,
    python_builtins,
    python_math,
    random_draws,
    trace_time_calls,
)
from nxkernel.definitions.flow.source_sites import is_raised
from nxkernel.definitions.flow.values import followed_classes, variable_leaves
from nxkernel.definitions.keys import callables
from nxkernel.definitions.keys.static_values import attributes_of, installed, installed_file
from nxkernel.definitions.syntax import runtime_text, unsupported_syntax
from nxkernel.errors import NxError, NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.library_functions import LIBRARIES
from nxkernel.numpy import dispatch_table
from nxkernel.scoped_settings import ScopedSetting, kept

_PACKAGE = os.path.join(os.path.dirname(rules.__file__), "")
_CACHED = type(functools.cache(len))
_TWINS: dict[Any, Callable[..., Any]] = {
    **python_builtins.TWINS,
    **object_identity.TWINS,
    **python_math.TWINS,
    itertools.product: product,
}


def _twin_of_map(function: Callable[..., Any], *iterables: Any) -> Any:
    """``map`` with its function dispatched."""
    return map(fn(function), *iterables)


def _twin_of_filter(function: Any, iterable: Any) -> Any:
    """``filter`` with its function dispatched."""
    return filter(None if function is None else fn(function), iterable)


_TWINS |= {map: _twin_of_map, filter: _twin_of_filter}


def fn(function: Any) -> Any:
    """The function to call in place of another one while tracing.

    Builtins and the functions of `math` have replacements that take traced values. Functions that Numba compiled are
    traced from their text, or applied element by element. The user's plain functions are rewritten, so that their `if`,
    `while` and assignments become part of the program, and so are the methods of their classes; functions of installed
    packages, and those marked with :func:`nxkernel.deftransform`, stay as they are, and so do all where nothing is
    traced: the running program has called something back.
    """
    if tracing.current() is None:
        return function
    try:
        twin = _TWINS.get(function)
    except TypeError:
        twin = None
    if twin is None and rules.follows_numpy():
        twin = random_draws.twin(function)
    twin = twin or output_calls.twin(function) or trace_time_calls.refused(function) or membership.twin(function)
    if twin is not None:
        return twin
    if isinstance(function, np.vectorize):
        return functools.partial(_of_entries, function)
    if rules.follows_numpy():
        twin = dispatch_table.twin(function)
        if twin is not function:
            if hasattr(twin, "__nx_text__"):
                return _twin_of_text(twin)
            if dispatch_table.refuses(twin):
                return numpys_sources.traced(function, twin, _twin_of_text)
            return attempts.guarded(function, twin)
    if isinstance(function, types.FunctionType):
        return _rewritten(function)
    of_numba = numba_calls.replacement(function, _rewritten)
    if of_numba is not None:
        return of_numba
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        rewritten = _rewritten(function.__func__)
        return function if rewritten is function.__func__ else types.MethodType(rewritten, function.__self__)
    if isinstance(function, functools.partial):
        inner = fn(function.func)
        return function if inner is function.func else functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, _CACHED):
        return functools.partial(_remembered, function)
    if isinstance(function, type):
        return followed_classes.constructed(function, fn)
    call = type(function).__call__ if callable(function) else None
    if isinstance(call, types.FunctionType) and is_users(call):
        return types.MethodType(_rewritten(call), function)
    return function


numba_functions.TRACED.append(fn)


class _Scope(threading.local):
    #: Whether functions that are traced as they are have their calls dispatched all the same.
    everywhere = False


_scope = kept(_Scope())


def everywhere(holds: bool) -> ScopedSetting:
    """A context in which :func:`seen` rewrites functions that are traced as they are, by ``nx.jit`` or ``nx.grad``."""
    return ScopedSetting(_scope, "everywhere", holds or _scope.everywhere)


def seen(function: Any) -> Any:
    """A function that is to be traced as it is, rewritten where its calls have to be dispatched."""
    return fn(function) if _scope.everywhere else function


#: What asks for classes in a way that traced values see nothing of.
_OF_CLASSES = frozenset({"isinstance", "issubclass", "type", "isscalar"})


def has_to_be_dispatched(function: Any, tells: bool = False) -> bool:
    """Whether the text of a function, or of one of the user's that it reaches, needs its calls dispatched.

    It has exceptions or makes text; it asks for the class of a value, and a traced value answers for the one that it
    stands for only where calls are dispatched; or it names a function of NumPy's that is traced in NumPy's own text, or
    one that draws random numbers.

    Parameters
    ----------
    function : callable
    tells : bool, optional
        Whether that counts alone which as it is would be traced wrong: such a text would handle what nxkernel refuses,
        print traced values, or make a generator of random numbers once for all calls.
    """
    for one in _reached(function):
        if is_logger(one) or (not tells and (numpys_sources.is_traceable(one) or numba_functions.is_generalized(one))):
            return True
        if random_draws.makes(one) or not (tells or random_draws.draw_by(one) is None):
            return True
        if not isinstance(one, types.FunctionType) or not is_users(one):
            continue
        if runtime_text.is_in(one.__code__):
            return True
        if not tells and any(not _OF_CLASSES.isdisjoint(code.co_names) for code in _codes(one.__code__)):
            return True
    return False


def _reached(function: Any) -> Iterator[Any]:
    """A function, what its text names, and so on for functions, classes and objects of the user's among that."""
    waiting: list[Any] = [function, callables.plain(function)]
    met: set[Any] = set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, type) and one not in met and not installed(one):
            met.add(one)
            for parent in one.__mro__:
                if not installed(parent):
                    waiting += map(name_lookup.unwrapped, vars(parent).values())
        if not isinstance(one, type | types.FunctionType) and name_lookup.is_users(one) and id(one) not in met:
            met.add(id(one))
            waiting += [type(one), *(attributes_of(one) or {}).values()]
        if isinstance(one, types.MethodType):
            waiting += [one.__func__, one.__self__]
        is_new = isinstance(one, types.FunctionType) and one.__code__ not in met
        if is_new or not isinstance(one, types.FunctionType):
            yield one
        if not is_new or not is_users(one):
            continue
        for code in _codes(one.__code__):
            met.add(code)
            waiting += _named(one.__globals__, code.co_names)
        for cell in one.__closure__ or ():
            with contextlib.suppress(ValueError):
                waiting.append(cell.cell_contents)


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """A code object and those of the functions in it."""
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return [code, *itertools.chain.from_iterable(map(_codes, inner))]


def _named(namespace: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    """What a namespace and the modules in it have under names."""
    found, modules, seen = [], [namespace], {id(namespace)}
    while modules:
        inside = modules.pop()
        for value in [inside[name] for name in names if name in inside]:
            if not isinstance(value, types.ModuleType):
                found.append(value)
            elif id(vars(value)) not in seen:
                seen.add(id(vars(value)))
                modules.append(vars(value))
    return found


def is_stopped_by_scipy(error: BaseException) -> bool:
    """Whether an error comes of a call of SciPy's on traced values, which a dispatched call may do without."""
    if _scope.everywhere or "scipy" not in sys.modules:
        return False
    outside = _outside(error)
    if not outside or _root(outside[-1].f_globals.get("__name__")) in (*LIBRARIES, "numpy"):
        return is_below_scipy(error)
    # What is compiled has no frame of its own: below that of its caller is what refused its question.
    *_, (last, _) = traceback.walk_tb(error.__traceback__)
    return last is not outside[-1] and any(
        _root(_module(outside[-1].f_globals.get(name))) in LIBRARIES for name in outside[-1].f_code.co_names
    )


def is_below_scipy(error: BaseException) -> bool:
    """Whether an error was raised in a function of SciPy's or of a library upon it, or in one that this called."""
    return any(_root(frame.f_globals.get("__name__")) in LIBRARIES for frame in _outside(error))


def _outside(error: BaseException) -> list[types.FrameType]:
    """The frames of an error that are not nxkernel's, the innermost last."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [frame for frame in frames if not frame.f_code.co_filename.startswith(_PACKAGE)]


def _module(value: Any) -> str:
    return value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""


def _root(module: Any) -> str:
    return str(module or "").partition(".")[0]


def _of_entries(function: np.vectorize, *args: Any, **options: Any) -> Any:
    """Call a function by ``np.vectorize``: on traced values its Python function is mapped over all entries at once."""
    values = [*args, *options.values()]
    if not variable_leaves.has_traced(values):
        return function(*args, **options)
    if function.signature is not None or function.excluded or function.pyfunc is None:
        raise NxTypeError(
            message(
                f"np.vectorize of {callables.name(function.pyfunc)} has a signature or arguments that are excluded.",
                "Write nx.vmap(function, in_axes=...), whose function takes arrays.",
            )
        )
    compile_thread.load("nxkernel.definitions.autodiff.vmap")
    from nxkernel.definitions.autodiff.vmap import vmap

    nnp = dispatch_table.namespace()
    arrays = nnp.broadcast_arrays(*map(nnp.asarray, values))

    def entry(*parts: Any) -> Any:
        return fn(function.pyfunc)(*parts[: len(args)], **dict(zip(options, parts[len(args) :], strict=True)))

    results = vmap(entry, promotion="numpy")(*[array.reshape(-1) for array in arrays])
    several = isinstance(results, tuple)
    types_ = function.otypes or [None] * (len(results) if several else 1)
    shaped = [
        nnp.asarray(result, dtype=type_).reshape(arrays[0].shape)
        for result, type_ in zip(results if several else [results], types_, strict=True)
    ]
    return tuple(shaped) if several else shaped[0]


def _remembered(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function with a cache: through the cache unless an argument is traced."""
    of_known = not variable_leaves.has_traced([*args, *options.values()])
    return (function if of_known else fn(function.__wrapped__))(*args, **options)


def is_users(function: types.FunctionType) -> bool:
    """Whether a function is in a file of the user's, neither nxkernel's own nor an installed package's."""
    file = function.__code__.co_filename
    return not file.startswith(_PACKAGE) and not installed_file(file)


def _twin_of_text(function: types.FunctionType) -> types.FunctionType:
    compile_thread.load("nxkernel.definitions.tracing.syntax_runtime")
    from nxkernel.definitions.tracing import syntax_runtime

    return syntax.rewritten(function, syntax_runtime)


def _rewritten(function: types.FunctionType) -> Callable[..., Any]:
    if getattr(function, "__nx_transform__", False) or not is_users(function):
        return function
    twin = _twin_of_text(function)
    if twin is function and rules.follows_numpy() and syntax.lacks_source(function):
        return functools.wraps(function)(functools.partial(_as_it_stands, function))
    return twin


def _as_it_stands(function: types.FunctionType, *args: Any, **options: Any) -> Any:
    """Call a function without source unrewritten: it may pass traced values to NumPy, which refuses some."""
    if any(map(random_draws.makes, _named(function.__globals__, function.__code__.co_names))):
        raise NxTypeError(
            message(
                f"{function.__name__}, whose source cannot be found, would make a generator of random numbers once, "
                "when it is traced.",
                "Make it outside and pass it as an argument: def f(x, rng).",
            )
        )
    try:
        return function(*args, **options)
    except NxError:
        raise
    except Exception as error:
        if is_raised(error):
            raise
        code = function.__code__
        raise unsupported_syntax.unseen(function.__name__, code.co_filename, code.co_firstlineno, error) from error
