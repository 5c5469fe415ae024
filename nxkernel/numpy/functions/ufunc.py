"""NumPy's ufuncs as objects: calls with ``where=`` and ``out=``, ``reduce``, ``accumulate``, ``outer``, ``at``."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays import casting, memory_order, ufunc_at, ufunc_segments
from nxkernel.numpy.arrays.array import Array, ArrayValue, Scalar, as_value, fitted, has_mask, wrap
from nxkernel.numpy.arrays.casting import cast, is_same_kind, type_of
from nxkernel.numpy.arrays.masked_elements import lifted
from nxkernel.numpy.base import integer_bounds
from nxkernel.numpy.base.eager_rules import by_numpys_rules
from nxkernel.numpy.functions import integer_powers
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread, together
from nxkernel.shapes import axes_of, broadcast_shapes
from nxkernel.types import Type

TypeRule = Callable[[Type], Type]
#: By name of a function: what combines all elements along an axis, and what gives all steps of that. The modules of
#: reductions and of running sums put theirs here.
REDUCE: dict[str, Callable[..., Any]] = {}
ACCUMULATE: dict[str, Callable[..., Any]] = {}


class Ufunc:
    """A function that works element by element, with the interface of :class:`numpy.ufunc`.

    Parameters
    ----------
    name : str
        NumPy's name.
    inputs : int
        How many arrays it takes.
    compute : callable
        Of as many operands of one type and shape; gives an operand, or a tuple of them.
    rule : callable
        The type that the operands are converted to, from the type that NumPy merges them to.
    identity : number, optional
        What a reduction of nothing gives.
    """

    def __init__(
        self, name: str, inputs: int, compute: Callable[..., Any], rule: TypeRule, identity: Any = None
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.nin, self.identity = inputs, identity
        self._compute, self._rule = compute, rule

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    @by_numpys_rules
    def __call__(
        self, *inputs: Any, out: Any = None, where: Any = True, dtype: Any = None, casting: Any = None, **options: Any
    ) -> Any:
        """Apply the function to arrays or numbers, which broadcast together."""
        if len(inputs) > self.nin and out is None:
            inputs, out = inputs[: self.nin], inputs[self.nin :]
        if len(inputs) != self.nin:
            raise NxTypeError(f"{self.__name__}() takes {self.nin} arrays, got {len(inputs)}")
        _check_options(self.__name__, options)
        masked = _masked(inputs)
        if masked is not None and out is None and where is True and dtype is None:
            return masked.by_ufunc(self, inputs, False)
        arguments = [value if is_number(value) else as_value(value) for value in inputs]
        order = options.get("order", "K")
        result = lifted(lambda *values: self._on_values(values, dtype, order), arguments)
        result = tuple(map(strong, result)) if isinstance(result, tuple) else strong(result)
        if out is not None and casting != "unsafe":
            _check_kinds(self.__name__, result, out)
        return finished(result, out, where, self.__name__)

    @by_numpys_rules
    def as_operator(self, *inputs: Any) -> Any:
        """Apply the function as an operator does: of Python numbers it gives a weak number, not a NumPy scalar."""
        masked = _masked(inputs)
        if masked is not None:
            return masked.by_ufunc(self, inputs, True)
        arguments = [value if is_number(value) else as_value(value) for value in inputs]
        return lifted(lambda *values: self._on_values(values, None), arguments)

    def _on_values(self, values: Any, dtype: Any, order: str = "K") -> Any:
        arguments = [value if is_number(value) else operand(value) for value in values]
        result = known_result(lambda *known: self.on_operands(*known, dtype=dtype), arguments)
        if result is None:
            result = self.on_operands(*arguments, dtype=dtype)
        results = [_wrapped(one, values, order) for one in (result if isinstance(result, tuple) else (result,))]
        return tuple(results) if isinstance(result, tuple) else results[0]

    def on_operands(self, *values: Any, dtype: Any = None) -> Any:
        """Apply the function to operands or numbers; the result is an operand."""
        if self.nin == 1:
            value = operand(values[0])
            if value.type.is_complex and self.__name__ == "absolute" and dtype is not None:
                # Its ``dtype=`` is that of the sizes.
                found = self._compute(value)
                return cast(found, type_of(dtype, found.type))
            return self._compute(cast(value, self._type(value.type, dtype)))
        left, right, type_ = together(*values)
        type_ = self._type(type_, dtype)
        strong = not any(is_number(value) or tracing.weak(value) for value in values)
        if strong and type_.is_float and left.type.is_integer and right.type.is_integer and dtype is None:
            # NumPy takes the narrowest floats that hold both: those of u16 and s8 are f32.
            type_ = types.merge(self._rule(left.type), self._rule(right.type))
        return self._compute(cast(left, type_), cast(right, type_))

    def _type(self, type_: Type, dtype: Any) -> Type:
        return self._rule(type_) if dtype is None else type_of(dtype, type_)

    @by_numpys_rules
    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """Reduce along an axis, or along several if the function is associative."""
        function = REDUCE.get(self.__name__)
        if function is not None:
            return self._reduced_by(function, array, axis, dtype, out, keepdims, initial, where)
        if self.nin != 2 or where is not True:
            raise NxValueError(f"{self.__name__}.reduce takes functions of two arrays, and no where=")
        value = as_value(array)
        axes = axes_of(axis, value.ndim)
        if self.__name__ not in _ASSOCIATIVE:
            long = math.prod([value.shape[position] for position in axes]) > _WRITTEN_OUT
            if self.__name__ not in _FROM_THE_LEFT or (long and self.__name__ == "divide"):
                raise NxTypeError(
                    message(f"{self.__name__}.reduce is not available.", "Write the loop: for k in range(1, len(x)).")
                )
            if len(axes) != 1:
                raise NxValueError(f"{self.__name__}.reduce takes one axis: the order of its elements matters")
        kind = types.bool_ if self.__name__ == "logical_xor" else self._type(value.type, dtype)
        value = _axes_first(cast(operand(value), kind), axes)
        if initial is not None:
            first = casting.filled_as(initial, value.type, ()) if is_number(initial) else operand(as_value(initial))
            first = spread(cast(first, value.type), (1, *value.shape[1:]))
            value = apply(p.concatenate, first, value, axis=0)
        result = self._folded(wrap(value))
        if keepdims:
            sizes = [1 if position in axes else size for position, size in enumerate(as_value(array).shape)]
            result = result.reshape(tuple(sizes)) if sizes else result
        return finished(result, out, True, self.__name__)

    def _reduced_by(
        self, function: Callable[..., Any], array: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any,
        where: Any,
    ) -> Any:  # fmt: skip
        """What a reduction of its own name gives, which takes less options."""
        options = {"axis": axis, "keepdims": keepdims, "where": where}
        if self.__name__ in ("logical_and", "logical_or"):
            if dtype is not None and type_of(dtype, types.bool_) is not types.bool_:
                raise NxTypeError(f"{self.__name__}.reduce gives truth values; convert them: .astype(dtype)")
            result = function(array, **options)
            return finished(result if initial is None else self(initial, result), out, True, self.__name__)
        if initial is not None:
            options["initial"] = initial
        if self.__name__ in ("add", "multiply"):
            options["dtype"] = dtype
        elif dtype is not None:
            array = as_value(array).astype(dtype)
        return function(array, out=out, **options)

    def _folded(self, value: ArrayValue) -> Any:
        """All elements along the first axis combined, in the type that the function computes in."""
        size = value.shape[0]
        if not size:
            if self.identity is None:
                raise NxValueError(f"{self.__name__}.reduce of no elements has no result; give initial=")
            return wrap(casting.filled_as(self.identity, value.type, value.shape[1:]))
        if self.__name__ in _FROM_THE_LEFT and size <= _WRITTEN_OUT:
            return functools.reduce(self, [value[index] for index in range(size)])
        if self.__name__ == "subtract":
            return self(value[0], REDUCE["add"](value[1:], axis=0, dtype=value.dtype))
        while size > 1:
            half = size // 2
            paired = self(value[:half], value[half : 2 * half])
            if size % 2:
                last = operand(value[2 * half :])
                paired = wrap(apply(p.concatenate, cast(operand(paired), last.type), last, axis=0))
            value, size = paired, half + size % 2
        return value[0]

    @by_numpys_rules
    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """All intermediate results of the reduction along an axis."""
        function = ACCUMULATE.get(self.__name__)
        if function is None:
            raise NxTypeError(
                message(
                    f"{self.__name__}.accumulate is not available: {', '.join(sorted(ACCUMULATE))} are.",
                    "Write the loop: for k in range(1, len(x)): x[k] = ...",
                )
            )
        if not as_value(array).shape:
            raise NxTypeError(
                message(f"{self.__name__}.accumulate of a number, which has no axes.", "Give np.atleast_1d(x).")
            )
        return function(array, axis=axis, dtype=dtype, out=out)

    @by_numpys_rules
    def outer(self, a: Any, b: Any, **options: Any) -> Any:
        """Apply the function to all pairs of an element of `a` and one of `b`."""
        a, b = as_value(a), as_value(b)
        return self(a[(..., *[None] * b.ndim)] if b.ndim and a.ndim else a, b, **options)

    @by_numpys_rules
    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Apply the function in place at indices, repeatedly for repeated indices."""
        if not isinstance(a, Array):
            raise NxTypeError(f"{self.__name__}.at changes an array in place")
        ufunc_at.at(self, self.__name__, a, indices, () if self.nin == 1 else (b,))

    @by_numpys_rules
    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Reduce between places along an axis, which are known while tracing."""
        return finished(ufunc_segments.reduced(self, array, indices, axis, dtype), out, True, self.__name__)


def _check_kinds(name: str, results: Any, outs: Any) -> None:
    """Refuse to write results into arrays that do not take their kind of numbers, such as floats into integers."""
    pairs = zip(*(each if isinstance(each, tuple) else (each,) for each in (results, outs)), strict=False)
    for result, into in pairs:
        if isinstance(into, ArrayValue) and not is_same_kind(result.type, into.type):
            raise NxTypeError(
                message(
                    f"{name}(out=...) of an array {into.type} does not take the result, which is {result.type}.",
                    f"Write x = np.{name}(...) for a new array, or convert the array first.",
                )
            )


def _masked(inputs: Sequence[Any]) -> Any:
    """The first masked array among some values, which knows what becomes of masks; None where there is none."""
    values = [as_value(value) if has_mask(value) else value for value in inputs]
    return next((value for value in values if hasattr(type(value), "by_ufunc")), None)


class Power(Ufunc):
    """``power``: negative powers of integers are refused, as in NumPy."""

    def on_operands(self, *values: Any, dtype: Any = None) -> Any:
        """Apply the function to operands or numbers; the result is an operand."""
        integer_powers.check(*values)
        return super().on_operands(*values, dtype=dtype)


class Comparison(Ufunc):
    """A comparison: integer arrays also compare with Python ints out of range of their type."""

    def on_operands(self, *values: Any, dtype: Any = None) -> Any:
        """Apply the function to operands or numbers; the result is an operand."""
        beyond = _beyond(values)
        if beyond is None:
            position = _maybe_beyond(values)
            if position is not None:
                return self._with_number(values[1 - position], values[position], position)
            for position, value in enumerate(values):
                if _is_signed_beside_unsigned(value, values[1 - position]):
                    return self._with_number(values[1 - position], value, position)
            return super().on_operands(*values, dtype=dtype)
        # Every element is on the same side of the number.
        least = types.limits(values[1 - beyond].type)[0]
        sides = (values[0], least) if beyond == 0 else (least, values[1])
        return filled(bool(getattr(np, self.__name__)(*sides)), types.bool_, values[1 - beyond].shape)

    def _with_number(self, value: Operand, number: Operand, position: int) -> Operand:
        """The comparison with a Python int that may be out of range: by the nearest int in range, and where that
        differs.
        """
        shape = common_shape(wrap(value), wrap(number))
        value, number = spread(value, shape), spread(number, shape if number.shape else ())
        least, most = [filled(limit, number.type, number.shape) for limit in _limits_in(value.type, number.type)]
        near = apply(p.minimum, apply(p.maximum, number, least), most)
        sides = [convert(near, value.type), value]
        result = super().on_operands(*(sides if position == 0 else sides[::-1]))
        name = self.__name__ if position == 1 else _TURNED.get(self.__name__, self.__name__)
        if name == "equal":
            join, more = p.logical_and, apply(p.equal, near, number)
        elif name == "not_equal":
            join, more = p.logical_or, apply(p.not_equal, near, number)
        elif name in ("less", "greater"):
            join = p.logical_or
            more = apply(p.greater, number, most) if name == "less" else apply(p.less, number, least)
        else:
            join = p.logical_and
            more = apply(p.greater_equal, number, least) if name == "less_equal" else apply(p.less_equal, number, most)
        return apply(join, result, spread(more, result.shape))


#: What a comparison is when its sides change places.
_TURNED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}


class Division(Ufunc):
    """``divide``: Python ints out of range of the other side's type are converted to floats."""

    def on_operands(self, *values: Any, dtype: Any = None) -> Any:
        """Apply the function to operands or numbers; the result is an operand."""
        beyond = _beyond(values)
        sides = [float(value) if position == beyond else value for position, value in enumerate(values)]
        return super().on_operands(*sides, dtype=dtype)


def _beyond(values: Sequence[Any]) -> int | None:
    """Which of two values is an integer out of range of the other's integer type."""
    for position, value in enumerate(values):
        other = values[1 - position]
        if is_number(value) and isinstance(value, int) and not is_number(other) and other.type.is_integer:
            low, high = types.limits(other.type)
            if not low <= value <= high and other.type is not types.bool_ and not tracing.weak(other):
                return position
    return None


def _maybe_beyond(values: Sequence[Any]) -> int | None:
    """Which of two values is a Python int, known or traced, that may be out of range of the other's integer type."""
    for position, value in enumerate(values):
        other = values[1 - position]
        if is_number(value) or is_number(other) or not tracing.weak(value) or tracing.weak(other):
            continue
        if not (value.type.is_integer and other.type.is_integer) or types.bool_ in (value.type, other.type):
            continue
        (least, most), (low, high) = _limits_in(other.type, value.type), integer_bounds.interval(value)
        if (low is None or low < least or high is None or high > most) and other.type is not value.type:
            return position
    return None


def _is_signed_beside_unsigned(one: Any, other: Any) -> bool:
    """Whether no integer type holds the values of both."""
    if is_number(one) or is_number(other) or other.type is not types.u64:
        return False
    return one.type.kind == "s" and not tracing.weak(one) and not tracing.weak(other)


def _limits_in(type_: Type, wide: Type) -> tuple[int, int]:
    """The limits of an integer type, clamped to those of another."""
    (least, most), (low, high) = types.limits(type_), types.limits(wide)
    return max(least, low), min(most, high)


def _axes_first(value: Operand, axes: tuple[int, ...]) -> Operand:
    """A value whose first axis goes over all elements along some of its axes."""
    rest = [axis for axis in range(len(value.shape)) if axis not in axes]
    moved = apply(p.transpose, value, axes=(*axes, *rest))
    shape = (math.prod([value.shape[axis] for axis in axes]), *[value.shape[axis] for axis in rest])
    return apply(p.reshape, moved, shape=shape, names=(None,) * len(shape))


def _wrapped(value: Operand, inputs: Sequence[Any], order: str) -> ArrayValue:
    """A result as NumPy gives it, with its elements in the order that ``order=`` and those of the inputs say."""
    array = wrap(value, *inputs)
    if order == "K" or not isinstance(array, Array):
        return array
    arrays = [one for one in inputs if isinstance(one, Array) and one.ndim > 1]
    if order == "A":
        of_fortran = [memory_order.is_fortran(one.shape, "A", one.strides_in_memory) for one in arrays]
        strides = memory_order.of_order(array.shape, "F" if of_fortran and all(of_fortran) else "C", None)
        return array.laid_out_as(arrays, strides)
    return Array.of(value, strides=memory_order.of_order(array.shape, order, None))


def strong(value: Any) -> Any:
    """A weak number as a NumPy scalar of fixed type, as NumPy's functions return it."""
    if isinstance(value, Scalar) and tracing.weak(value.node):
        return Scalar(apply(p.reshape, value.node, shape=(), names=()))
    return value


def known_result(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The constant result of a function of known numbers; None if any argument is traced."""
    known = [value if is_number(value) else constant_of(value) for value in arguments]
    if tracing.current() is None or any(value is None for value in known):
        return None
    with tracing.suspended():
        result = function(*known)
    if isinstance(result, tuple):
        return tuple([tracing.strengthen(filled(one.to_number(), one.type, ())) for one in result])
    return tracing.strengthen(filled(result.to_number(), result.type, ()))


def constant_of(value: Operand) -> Operand | None:
    """A constant without axes as a tensor; None for anything else."""
    if type(value) is not Expr or value.primitive is not p.constant or value.shape or tracing.weak(value):
        return None
    with tracing.suspended():
        return filled(value.params["value"], value.type, ())


def _check_options(name: str, options: dict[str, Any]) -> None:
    for option, value in options.items():
        if option not in ("order", "subok", "signature", "extobj") or (option == "signature" and value is not None):
            raise NxTypeError(f"{name}() got an unexpected keyword argument {option!r}")


def finished(result: Any, out: Any, where: Any, name: str) -> Any:
    """A result written into ``out=``, and only where ``where=`` holds."""
    if out is None and where is True:
        return result
    results = result if isinstance(result, tuple) else (result,)
    if out is not None and not isinstance(out, tuple) and isinstance(result, tuple):
        raise NxTypeError(
            message(f"{name} has {len(results)} results: out= is a tuple of arrays.", "None in it makes a new array.")
        )
    outs = out if isinstance(out, tuple) else (out,)
    if len(outs) > len(results):
        raise NxTypeError(f"{name} has {len(results)} results, got {len(outs)} arrays for them")
    outs += (None,) * (len(results) - len(outs))
    ended = [_put_out(one, into, where, name) for one, into in zip(results, outs, strict=True)]
    return tuple(ended) if isinstance(result, tuple) else ended[0]


def _put_out(result: Any, out: Any, where: Any, name: str) -> Any:
    if out is not None and not (isinstance(out, ArrayValue) and not isinstance(out, Scalar)):
        raise NxTypeError(
            message(
                f"{name}(out=...) takes an array that is assigned into.", "Arguments of a definition are such arrays."
            )
        )
    if where is not True:
        mask, value = as_value(where), as_value(result)
        before = 0 if out is None else out
        shape = common_shape(mask, value) if out is None else out.shape
        type_ = value.type
        sides = [fitted(side, shape, type_) for side in (value, before)]
        result = wrap(apply(p.select, spread(operand(mask), shape), *sides))
    if out is None:
        return result
    out[...] = result
    return out


def common_shape(*values: ArrayValue) -> tuple[int, ...]:
    """The shape that values broadcast to."""
    shape: tuple[int, ...] = ()
    for value in values:
        shape = broadcast_shapes(shape, value.shape)
    return shape


def zero_like(value: Operand) -> Operand:
    """Zeros of the type and shape of an operand."""
    return filled(0, value.type, value.shape)


#: Functions whose reduction goes from the first element to the last; up to so many steps are written out.
_FROM_THE_LEFT = ("subtract", "divide")
_WRITTEN_OUT = 64
_ASSOCIATIVE = frozenset(
    ["bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor", "logaddexp", "logaddexp2", "hypot", "fmax", "fmin"]
)
