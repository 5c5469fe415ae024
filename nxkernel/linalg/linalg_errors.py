"""What NumPy raises of matrices for whose values there is no result: where a program has NaN, it tells when it has run.

In loops, and in functions that are traced on their own, nothing is told, and the results are NaN.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.graph import deferred_calls
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.ops.shapes import gathering
from nxkernel.scoped_settings import ScopedSetting, kept

#: Makes an exception without arguments; kept, and pickled, with the program.
Maker = Callable[[], Exception]

SINGULAR = functools.partial(np.linalg.LinAlgError, "Singular matrix")
NOT_DEFINITE = functools.partial(np.linalg.LinAlgError, "Matrix is not positive definite")
NO_SINGULAR_VALUES = functools.partial(np.linalg.LinAlgError, "SVD did not converge")
NO_EIGENVALUES = functools.partial(np.linalg.LinAlgError, "Eigenvalues did not converge")
NOT_FINITE = functools.partial(ValueError, "array must not contain infs or NaNs")


class _Scope(threading.local):
    #: Where conditions go instead of the program, with what makes the error of each.
    collected: list[tuple[Any, Maker]] | None = None


_scope = kept(_Scope())


def collecting(into: list[tuple[Any, Maker]]) -> ScopedSetting:
    """A context in which conditions of errors go to a list, with the errors: somebody else raises them."""
    return ScopedSetting(_scope, "collected", into)


def refuse_singular(result: Operand, *given: Operand) -> None:
    """Tell of a matrix that has no inverse; of numbers that are not finite, NumPy makes NaN.

    Parameters
    ----------
    result : operand
        The solutions, all NaN for such a matrix.
    given : operands
        The matrices, and the right sides.
    """

    def condition() -> Any:
        found = _any(_is_nan(_first(result, 2)))
        for value in given:
            found = apply(p.logical_and, found, apply(p.logical_not, _any(_is_not_finite(value))))
        return found

    _raise_if(result, condition, SINGULAR)


def refuse_indefinite(result: Operand, matrix: Operand) -> None:
    """Tell of a matrix that is not positive definite, whose Cholesky factor is all NaN."""

    def condition() -> Any:
        was_nan = _is_nan(_first(matrix, 2))
        return _any(apply(p.logical_and, _is_nan(_first(result, 2)), apply(p.logical_not, was_nan)))

    _raise_if(result, condition, NOT_DEFINITE)


def refuse_nan(values: Operand, matrix: Operand, make: Maker) -> None:
    """Tell of a matrix with NaN, for which an iteration finds no values."""
    _raise_if(values, lambda: apply(p.logical_and, _any(_is_nan(_first(values, 1))), _any(_is_nan(matrix))), make)


def refuse_not_finite(value: Operand) -> None:
    """Tell of numbers that are not finite, as SciPy does for ``check_finite``."""
    if value.type.is_float or value.type.is_complex:
        _raise_if(value, lambda: _any(_is_not_finite(value)), NOT_FINITE)


def _raise_if(of: Operand, condition: Callable[[], Any], make: Maker) -> None:
    if 0 in of.shape:
        return
    if _scope.collected is not None:
        _scope.collected.append((condition(), make))
    elif deferred_calls.are_checked():
        deferred_calls.raise_if(condition(), [], make)


def _first(matrices: Operand, axes: int) -> Operand:
    """The first element of each matrix, or of each row of numbers."""
    for _ in range(axes):
        matrices = gathering.take(matrices, 0, axis=-1)
    return operand(matrices)


def _parts(value: Operand) -> list[Any]:
    return [apply(p.real, value), apply(p.imag, value)] if value.type.is_complex else [value]


def _is_nan(value: Operand) -> Any:
    return functools.reduce(_or, [apply(p.is_nan, part) for part in _parts(value)])


def _is_not_finite(value: Operand) -> Any:
    return functools.reduce(_or, [_or(apply(p.is_nan, part), apply(p.is_infinity, part)) for part in _parts(value)])


def _or(one: Any, other: Any) -> Any:
    return apply(p.logical_or, one, other)


def _any(value: Any) -> Any:
    return apply(p.any_, value, axes=tuple(range(len(value.shape))), keep_axes=False) if value.shape else value
