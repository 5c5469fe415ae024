"""The functions of Python's `math` for traced values: static arguments go to the real ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from nxkernel import primitives, types
from nxkernel.definitions.flow.control import attempts
from nxkernel.definitions.flow.operators.python_builtins import any_traced, as_number, in_dialect, like
from nxkernel.definitions.flow.values.variable_leaves import has_traced, has_values, known, plain
from nxkernel.errors import NxTypeError, message
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.arithmetic import comparison, elementary, elementwise
from nxkernel.ops.machinery.dispatch import apply, arithmetic, convert, filled, together
from nxkernel.ops.reductions import reduction
from nxkernel.ops.shapes.shaping import concatenate, stack


def _floored(function: Callable) -> Callable:
    def to_integer(x: Any) -> Any:
        number = plain(x)
        attempts.raise_of_integers(number)
        return as_number(convert(function(number), types.s64), number)

    return to_integer


def _refuse_complex(values: tuple[Any, ...]) -> None:
    for value in values:
        kind = getattr(value, "type", None)
        if isinstance(kind, types.Type) and kind.is_complex:
            raise NxTypeError(
                message(
                    f"the functions of math take real numbers, got {plain(value).spec}.",
                    f"Those of {in_dialect('nx', 'np')} take complex ones.",
                )
            )


def _float(x: Any) -> Any:
    """A number as a float: by NumPy's rules the Python float that `math` would compute with."""
    number = plain(x)
    if types.follows_numpy():
        return as_number(convert(number, types.f64), number)
    return as_number(convert(number, types.to_floating(number.type))) if number.type.is_integer else number


def _of_floats(function: Callable) -> Callable:
    """Make a function of floats that also takes integers."""
    return lambda *numbers, **options: function(*map(_float, numbers), **options)


def _trunc(x: Any) -> Any:
    number = plain(x)
    attempts.raise_of_integers(number)
    return as_number(convert(number, types.s64), number)


def _fact(function: Callable) -> Callable:
    """Make a predicate whose result is a bool."""
    return lambda *numbers, **options: as_number(function(*numbers, **options))


def _log(x: Any, base: Any = None) -> Any:
    if base is None:
        return elementary.log(x)
    # The logarithm of a number that is known stays one of Python's.
    below = elementary.log(base) if any_traced([base]) else math.log(known(base))
    return elementwise.divide(elementary.log(x), below)


def _hypot(*coordinates: Any) -> Any:
    large = functools.reduce(elementwise.max, [elementwise.abs(x) for x in coordinates])
    # Scaled, so that squares neither overflow nor vanish.
    plain_size = comparison.logical_or(comparison.equal(large, 0), comparison.is_infinity(large))
    scale = comparison.select(plain_size, 1, large)
    squares = [elementwise.pow(elementwise.divide(x, scale), 2) for x in coordinates]
    return elementwise.multiply(scale, elementary.sqrt(functools.reduce(elementwise.add, squares)))


def _copysign(x: Any, y: Any) -> Any:
    negative = comparison.logical_or(comparison.less(y, 0), comparison.less(elementwise.divide(1, y), 0))
    size = elementwise.abs(x)
    return comparison.select(negative, elementwise.negate(size), size)


def _isfinite(x: Any) -> Any:
    x = plain(x)
    return comparison.logical_not(comparison.logical_or(comparison.is_nan(x), comparison.is_infinity(x)))


def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    size = elementwise.max(elementwise.abs(a), elementwise.abs(b))
    distance = elementwise.abs(elementwise.subtract(a, b))
    near = comparison.less_equal(distance, elementwise.max(elementwise.multiply(size, rel_tol), abs_tol))
    return comparison.logical_or(comparison.equal(a, b), comparison.logical_and(near, _isfinite(distance)))


def _prod(iterable: Any, *, start: Any = 1) -> Any:
    if has_values(iterable) and not isinstance(iterable, list | tuple):
        row = plain(iterable)
        if not types.follows_numpy():
            return elementwise.multiply(reduction.product(row), start)
        if not row.shape[0]:
            return start
        row = convert(row, arithmetic(together(start, row)[2]))
        return elementwise.multiply(apply(primitives.product, row, axes=(0,), keep_axes=False), start)
    return functools.reduce(lambda a, b: a * b, iterable, start)


def _fsum(iterable: Any) -> Any:
    """``math.fsum``: a sum with its rounding errors added up beside it, so that it is rounded once."""
    row = plain(iterable) if not isinstance(iterable, list | tuple) else stack([plain(_float(x)) for x in iterable])
    row, lost = convert(row, types.f64 if types.follows_numpy() else types.to_floating(row.type)), []
    while row.shape[0] > 1:
        half = row.shape[0] // 2
        left, right, rest = row[:half], row[half : 2 * half], row[2 * half :]
        total = elementwise.add(left, right)
        back = elementwise.subtract(total, left)
        error = elementwise.add(
            elementwise.subtract(left, elementwise.subtract(total, back)), elementwise.subtract(right, back)
        )
        lost.append(reduction.sum(comparison.select(_isfinite(total), error, filled(0, error.type, ()))))
        row = concatenate([total, rest])
    if not row.shape[0]:
        return 0.0
    return as_number(functools.reduce(elementwise.add, lost, row[0]))


def _dist(p: Any, q: Any) -> Any:
    return _hypot(*[elementwise.subtract(_float(a), _float(b)) for a, b in zip(p, q, strict=True)])


def _ldexp(x: Any, i: Any) -> Any:
    return x * 2.0**i


def _degrees(x: Any) -> Any:
    return elementwise.multiply(x, 180 / math.pi)


def _radians(x: Any) -> Any:
    return elementwise.multiply(x, math.pi / 180)


def _exp2(x: Any) -> Any:
    return elementwise.pow(2.0, x)


_TRACED: dict[str, Callable[..., Any]] = {
    "acos": elementary.acos, "acosh": elementary.acosh, "asin": elementary.asin, "asinh": elementary.asinh,
    "atan": elementary.atan, "atan2": elementwise.atan2, "atanh": elementary.atanh, "cbrt": elementary.cbrt,
    "ceil": _floored(elementwise.ceil), "copysign": _of_floats(_copysign), "cos": elementary.cos,
    "cosh": elementary.cosh, "degrees": _degrees, "dist": _dist, "erf": elementary.erf, "erfc": elementary.erfc,
    "exp": elementary.exp, "exp2": _exp2, "expm1": elementary.expm1, "fabs": _of_floats(elementwise.abs),
    "floor": _floored(elementwise.floor), "fmod": _of_floats(elementwise.remainder), "fsum": _fsum, "hypot": _hypot,
    "isclose": _fact(_isclose), "isfinite": _fact(_isfinite), "isinf": _fact(comparison.is_infinity),
    "isnan": _fact(comparison.is_nan),
    "ldexp": _ldexp, "log": _log, "log10": elementary.log10, "log1p": elementary.log1p, "log2": elementary.log2,
    "pow": _of_floats(elementwise.pow), "prod": _prod, "radians": _radians, "sin": elementary.sin,
    "sinh": elementary.sinh, "sqrt": elementary.sqrt, "tan": elementary.tan, "tanh": elementary.tanh, "trunc": _trunc,
}  # fmt: skip


#: Functions whose arguments are not converted to floats: integers stay exact, and sequences are passed as they are.
_OF_ANY = frozenset(["ceil", "dist", "floor", "fsum", "prod", "trunc"])


def _twin(name: str, real: Callable) -> Callable:
    traced = _TRACED.get(name)

    @functools.wraps(real)
    def function(*args: Any, **options: Any) -> Any:
        if not any_traced(args) and not any(map(has_traced, args)):
            return real(*map(known, args), **options)
        if traced is None:
            raise NxTypeError(
                message(
                    f"math.{name} works on Python numbers, and has no counterpart for traced values.",
                    "Compute it before the definition is called, or write it with functions of "
                    f"{in_dialect('nx', 'np')}.",
                )
            )
        if name != "prod":
            _refuse_complex(args)
        proxy = next((value for value in args if isinstance(value, Proxy)), None)
        if types.follows_numpy() and name not in _OF_ANY:
            args = tuple(map(_float, args))
        attempts.refuse_unseen(ValueError, f"math.{name}() of traced values", "ask before, with `if`")
        result = traced(*args, **options)
        return like(proxy, result) if proxy is not None and isinstance(result, Operand) else result

    return function


#: The replacement of each function of `math` in definitions.
TWINS = {real: _twin(name, real) for name, real in vars(math).items() if callable(real) and not name.startswith("_")}
