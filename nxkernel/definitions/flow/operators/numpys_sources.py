"""Functions of NumPy's without a counterpart that are written in Python: they are traced in NumPy's own text."""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel.definitions.flow.values import variable_leaves
from nxkernel.definitions.keys.static_values import own_class
from nxkernel.definitions.syntax.unsupported_syntax import RefusedSyntaxError
from nxkernel.errors import NxTypeError, TracedValueError
from nxkernel.numpy import dispatch_table

#: Modules whose functions compute with arrays, do nothing else, and give results of types that no value decides.
_OF_ARRAYS = frozenset(
    [
        *[f"numpy.lib._{name}_impl" for name in (
            "function_base", "twodim_base", "shape_base", "index_tricks", "polynomial", "histograms", "nanfunctions",
            "ufunclike",
        )],
        *[f"numpy.polynomial.{name}" for name in (
            "polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre", "polyutils", "_polybase",
        )],
        "numpy.linalg._linalg",
        "numpy._core.numeric",
    ]
)  # fmt: skip


def _implementation(function: Any) -> types.FunctionType | None:
    """The Python function of NumPy's that a function calls, if it computes with arrays."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    # Of other objects nothing is asked, since they may answer with code of their own.
    is_numpys = str(type(function).__module__).partition(".")[0] == "numpy"
    inner = getattr(function, "__wrapped__", None) if is_numpys else function
    if not isinstance(inner, types.FunctionType) or inner.__globals__.get("__name__") not in _OF_ARRAYS:
        return None
    return inner


def is_traceable(function: Any) -> bool:
    """Whether a function of NumPy's has no counterpart, and is traced in its own text.

    Parameters
    ----------
    function : object
        Anything at all.
    """
    return _implementation(function) is not None and dispatch_table.refuses(dispatch_table.twin(function))


_POLYNOMIALS, _POWERS = np.polynomial._polybase.ABCPolyBase, np.polynomial.Polynomial


def _converted(polynomial: Any) -> Any:
    """A polynomial of the variable itself, with as many coefficients; NumPy's text drops one at the end that is 0."""
    nnp = dispatch_table.namespace()
    (low, high), (first, last) = polynomial.domain, polynomial.window
    offset, scale = (high * first - low * last) / (high - low), (last - first) / (high - low)
    coefficients = nnp.asarray(polynomial.coef)
    found = nnp.zeros_like(coefficients)
    for place in range(coefficients.shape[0] - 1, -1, -1):
        moved = nnp.concatenate([nnp.zeros(1, found.dtype), found[:-1]])
        alone = nnp.concatenate([coefficients[place : place + 1], nnp.zeros_like(found[1:])])
        found = alone + found * offset + moved * scale
    made = copy.copy(polynomial)
    made.coef, made.domain, made.window = found, _POWERS.domain, _POWERS.window
    return made


def _has_traced(value: Any) -> bool:
    """Whether a value, or a polynomial's coefficients, are traced."""
    if isinstance(value, _POLYNOMIALS):
        return any(map(variable_leaves.has_traced, vars(value).values()))
    return variable_leaves.has_traced(value)


def traced(function: Any, refusing: Callable[..., Any], rewritten: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that takes traced values, where its own text can be traced.

    Parameters
    ----------
    function : callable
        Without a counterpart.
    refusing : callable
        What refuses in its place.
    rewritten : callable
        Rewrites a function.
    """
    inner = _implementation(function)
    if inner is None:
        return refusing

    owner = (function.__self__,) if isinstance(function, types.MethodType) else ()

    @functools.wraps(function)
    def of_its_text(*args: Any, **options: Any) -> Any:
        if not any(map(_has_traced, [*owner, *args, *options.values()])):
            return function(*args, **options)
        try:
            if inner is _POLYNOMIALS.convert and not args and not options and own_class(type(*owner)) is _POWERS:
                return _converted(*owner)
            return rewritten(inner)(*owner, *args, **options)
        except TracedValueError:
            raise
        except (RefusedSyntaxError, NxTypeError) as error:
            cause = error
        try:
            return refusing(*args, **options)
        except NxTypeError as error:
            raise error from cause

    return of_its_text
