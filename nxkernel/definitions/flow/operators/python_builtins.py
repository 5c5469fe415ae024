"""Python's builtins for traced values: static arguments go to the real ones."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from nxkernel import primitives, types
from nxkernel.definitions.flow.control import attempts
from nxkernel.definitions.flow.control.comprehensions import SHORT, GeneratedItems
from nxkernel.definitions.flow.control.logic import and_, not_, or_
from nxkernel.definitions.flow.control.loop_iterables import Counted, enumerated, range_, rows, zipped
from nxkernel.definitions.flow.operators import builtins_of_parts, rounding
from nxkernel.definitions.flow.values import ordered_by_keys
from nxkernel.definitions.flow.values.sorted_lists import Listed
from nxkernel.definitions.flow.values.variable_leaves import is_traced, known, plain
from nxkernel.definitions.keys.static_values import own_class
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import python_numbers, tracing
from nxkernel.graph.expr import Expr, TracedValue
from nxkernel.numpy.arrays.array import ArrayValue, Scalar, stacked, wrap
from nxkernel.operand import Proxy
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery.dispatch import apply, arithmetic, convert, filled, is_number, operand, together
from nxkernel.ops.programs.control_flow import held_beside
from nxkernel.ops.reductions import reduction
from nxkernel.ops.shapes import shaping, sorting
from nxkernel.ops.shapes.shaping import stack

#: How many elements of an array a key is computed for, one after the other.
_MOST_KEYS = 64


def as_number(value: Any, of: Any = None) -> Any:
    """Mark a traced scalar as standing for a Python number; a new node if the result is the argument itself."""
    trace = tracing.current()
    if trace is not None and type(value) is Expr and python_numbers.is_of_numbers(value.type):
        if value is of and not tracing.weak(value):
            value = apply(primitives.reshape, value, shape=value.shape, names=value.names)
        trace.weak.add(value)
    return value


def like(value: Any, result: Any) -> Any:
    """A result in the dialect of its argument: under NumPy's rules an array, or a scalar where it has no axes."""
    if isinstance(value, ArrayValue) and not result.shape:
        return wrap(result)
    return value.__nx_like__(result) if isinstance(value, Proxy) else result


def in_dialect_of_rules(number: Any) -> Any:
    """A traced number, wrapped as a NumPy scalar where NumPy's rules hold."""
    return wrap(number) if types.follows_numpy() and isinstance(number, Expr) else number


def any_traced(values: Iterable[Any]) -> builtins.bool:
    """Whether any of these values is traced."""
    return builtins.any(is_traced(value) for value in values)


def _is_array(value: Any) -> builtins.bool:
    return isinstance(value, TracedValue | Proxy) and builtins.bool(operand(value).shape)


def in_dialect(of_nx: str, of_numpy: str) -> str:
    """Choose the text for the dialect that holds."""
    return of_numpy if types.follows_numpy() else of_nx


def _row(value: Any, name: str) -> Any:
    """A traced array of one axis, whose elements a builtin iterates over."""
    row = plain(value)
    if row.rank != 1:
        raise NxTypeError(
            message(
                f"{name}() goes over the rows of {in_dialect('a tensor', 'an array')} {row.spec}, which are no "
                "numbers.",
                in_dialect(f"nx.{_REDUCTIONS.get(name, name)}(t)", f"np.{name.removesuffix('ed')}(x)")
                + " takes all elements.",
            )
        )
    return row


_REDUCTIONS = {"min": "reduce_min", "max": "reduce_max", "sorted": "sort"}


def min(*args: Any, **options: Any) -> Any:
    """``min``."""
    return _extreme("min", builtins.min, elementwise.min, reduction.reduce_min, comparison.less, args, options)


def max(*args: Any, **options: Any) -> Any:
    """``max``."""
    return _extreme("max", builtins.max, elementwise.max, reduction.reduce_max, comparison.greater, args, options)


def _extreme(
    name: str, real: Callable, two: Callable, all_: Callable, beats: Callable, args: tuple, options: dict[str, Any]
) -> Any:
    if "key" in options and len(args) == 1 and _is_array(args[0]):
        args = (_for_keys(args[0], name),)
    if len(args) == 1 and builtins_of_parts.is_part(args[0]) and args[0].ndim == 1:
        _refuse_options(name, options)
        return builtins_of_parts.extreme(args[0], greatest=beats is comparison.greater)
    if len(args) == 1 and _is_array(args[0]):
        _refuse_options(name, options)
        return like(args[0], _of_all(_row(args[0], name), all_, beats))

    def better(one: Any, other: Any) -> Any:
        if not any_traced([one, other]):
            return real(one, other)
        return like(one if isinstance(one, Proxy) else other, _of_two(one, other, two, beats))

    if len(args) == 1 and not options and _is_counted(args[0]):
        return args[0].reduce_from_first(better, f"{name}()")
    values = list(args)
    if len(args) == 1 and not is_traced(args[0]):
        values = list(args[0])
        # An iterator gives its values once.
        args = (values,)
    key = options.pop("key", None)
    keys = values if key is None else [key(value) for value in values]
    if not any_traced(keys):
        each = iter(keys)
        return real(*args, **options) if key is None else real(values, key=lambda _: next(each), **options)
    if key is not None:
        return ordered_by_keys.extreme(name, values, keys, beats, as_number)
    _refuse_options(name, options)
    return functools.reduce(better, values)


def _of_two(one: Any, other: Any, two: Callable, beats: Callable) -> Any:
    """``min`` or ``max`` of two numbers as Python computes it: the first unless the second is strictly more extreme."""
    one, other = _side_by_side(one, other), _side_by_side(other, one)
    first, second, type_ = together(one, other)
    if type_.is_integer and type_ is not types.bool_:
        return two(one, other)
    sides = convert(first, type_), convert(second, type_)
    best = comparison.select(beats(sides[1], sides[0]), sides[1], sides[0])
    weak = builtins.all(is_number(value) or tracing.weak(operand(value)) for value in (one, other))
    return as_number(best) if weak else best


def _side_by_side(value: Any, number: Any) -> Any:
    """An integer in a type that also holds the Python number beside it, which may be the result instead."""
    if not types.follows_numpy() or is_number(value) or tracing.weak(operand(value)):
        return value
    integer, is_weak = operand(value), is_number(number) or tracing.weak(operand(number))
    type_ = held_beside(integer.type, number if is_number(number) else operand(number)) if is_weak else integer.type
    return convert(integer, type_) if integer.type.is_integer and type_ is types.s64 else value


def _of_all(row: Any, all_: Callable, beats: Callable) -> Any:
    """``min`` or ``max`` of a row as Python computes it: NaN counts only as the first element."""
    if row.type is types.bool_ and row.size:
        return (reduction.any if beats is comparison.greater else reduction.all)(row)
    if not row.type.is_float or not row.size:
        return all_(row)
    least = -math.inf if beats is comparison.greater else math.inf
    counted_ = all_(comparison.select(comparison.is_nan(row), filled(least, row.type, ()), row))
    return comparison.select(comparison.is_nan(row[0]), row[0], counted_)


def _for_keys(array: Any, name: str) -> list[Any]:
    """The elements or rows of an array, of which each has a key."""
    if array.shape[0] > _MOST_KEYS:
        raise NxTypeError(
            message(
                f"{name}() with a key takes {_MOST_KEYS} elements of an array at most, got {array.shape[0]}: the text "
                "of the key would be written out for each.",
                in_dialect("nx.take(t, nx.argsort(keys))", "x[np.argsort(keys)]") + " puts in the order of keys.",
            )
        )
    return list(array)


def _refuse_options(name: str, options: dict[str, Any]) -> None:
    if options:
        option = next(iter(options))
        raise NxTypeError(
            message(
                f"{name}() of traced values takes no {option!r}.",
                in_dialect(
                    "nx.argmin and nx.argmax find places; nx.sort and nx.argsort put in order.",
                    "np.argmin and np.argmax find places; np.sort and np.argsort put in order.",
                ),
            )
        )


def sum(iterable: Any, /, start: Any = 0) -> Any:
    """``sum``."""
    if builtins_of_parts.is_part(iterable):
        return builtins_of_parts.sum(iterable, start)
    if _is_array(iterable):
        return _total(iterable, start)
    if _is_generated(iterable):
        return iterable.reduce(operator.add, start, "sum()")
    if isinstance(iterable, list) and builtins.len(iterable) > SHORT and _are_alike(iterable):
        return _total(stacked(iterable), start)
    return builtins.sum(iterable, start)


def _are_alike(values: list[Any]) -> builtins.bool:
    """Whether these are traced scalars of NumPy's of one type, as a loop gathers them."""
    if not builtins.all(isinstance(value, Scalar) for value in values):
        return False
    return builtins.len({operand(value).type for value in values}) == 1


def _total(iterable: Any, start: Any) -> Any:
    """The sum of an array's rows and the start value, which takes part in type promotion under NumPy's rules."""
    rows = plain(iterable)
    nothing = not isinstance(start, TracedValue | Proxy) and is_number(start) and start == 0
    if not types.follows_numpy():
        total = like(iterable, reduction.sum(rows, axes=[0]))
        return total if nothing else total + start
    if not rows.shape[0]:
        return start
    type_ = arithmetic(together(start, rows)[2])
    total = like(iterable, apply(primitives.sum_, convert(rows, type_), axes=(0,), keep_axes=False))
    return total if nothing else total + start


def any(iterable: Any, /) -> Any:
    """``any``."""
    if _is_array(iterable):
        return like(iterable, as_number(reduction.any(_row(iterable, "any"))))
    if _is_generated(iterable):
        return iterable.meet(True, "any()")
    result: Any = False
    for value in iterable:
        if not is_traced(value):
            if known(value):
                return True
        else:
            result = or_(lambda result=result: result, lambda value=value: _truth(value))
    return result


def all(iterable: Any, /) -> Any:
    """``all``."""
    if _is_array(iterable):
        return like(iterable, as_number(reduction.all(_row(iterable, "all"))))
    if _is_generated(iterable):
        return not_(iterable.meet(False, "all()"))
    result: Any = True
    for value in iterable:
        if not is_traced(value):
            if not known(value):
                return False
        else:
            result = and_(lambda result=result: result, lambda value=value: _truth(value))
    return result


def _truth(value: Any) -> Any:
    return comparison.not_equal(plain(value), 0)


def round(number: Any, ndigits: Any = None) -> Any:
    """``round``: halves go to the even neighbour."""
    if not is_traced(number):
        return builtins.round(known(number), ndigits)
    number_ = plain(number)
    if ndigits is None:
        attempts.raise_of_integers(number_)
        return like(number, as_number(convert(rounding.to_even(number_), types.s64), number_))
    if number_.type.is_integer and ndigits >= 0:
        return number
    return like(number, rounding.to_digits(number_, ndigits))


def len(value: Any, /) -> Any:
    """``len``."""
    if isinstance(value, Counted):
        return value.length
    # The length of a part may be traced, which Python's own does not take.
    return value.shape[0] if isinstance(value, Proxy) and value.shape else builtins.len(value)


def divmod(left: Any, right: Any, /) -> tuple[Any, Any]:
    """``divmod``."""
    return (left // right, left % right) if any_traced([left, right]) else builtins.divmod(left, right)


def pow(base: Any, exp: Any, mod: Any = None) -> Any:
    """``pow``."""
    if mod is None:
        return base**exp
    if any_traced([base, exp, mod]):
        raise NxTypeError(
            message("pow() of traced values takes no modulus.", "Multiply in a loop, and take % m after each product.")
        )
    return builtins.pow(base, exp, mod)


def int(value: Any = 0, /, *base: Any, **options: Any) -> Any:
    """``int``: fractions are cut off."""
    if not is_traced(value):
        return builtins.int(known(value), *base, **options)
    number_ = _number(value, "int")
    attempts.raise_of_integers(number_)
    return in_dialect_of_rules(as_number(convert(number_, types.infer(0)), number_))


def float(value: Any = 0.0, /) -> Any:
    """``float``; by the rules of Nx an f64 stays one."""
    if not is_traced(value):
        return builtins.float(known(value))
    number_ = _number(value, "float")
    if number_.type is types.f64 and not types.follows_numpy():
        return number_
    return in_dialect_of_rules(as_number(convert(number_, types.infer(0.0)), number_))


def complex(real: Any = 0, imag: Any = 0) -> Any:
    """``complex``."""
    if not any_traced([real, imag]):
        return builtins.complex(known(real), known(imag))
    if not types.follows_numpy():
        if is_traced(imag) or imag != 0:
            return elementwise.complex(real, imag)
        number_ = plain(real)
        return as_number(convert(number_, types.to_complex(number_.type)))
    parts = [plain(part) for part in (real, imag)]
    if parts[0].type.is_complex or parts[1].type.is_complex:
        result = elementwise.add(convert(parts[0], types.c128), elementwise.multiply(convert(parts[1], types.c128), 1j))
    else:
        result = elementwise.complex(*[convert(part, types.f64) for part in parts])
    return in_dialect_of_rules(as_number(result, parts[0]))


def bool(value: Any = False, /) -> Any:
    """``bool``."""
    if not is_traced(value):
        return builtins.bool(known(value))
    number_ = _number(value, "bool")
    return in_dialect_of_rules(as_number(comparison.not_equal(number_, 0)))


def _number(value: Any, name: str) -> Any:
    number = plain(value)
    if number.size != 1:
        raise NxTypeError(
            message(
                f"{name}() takes one number, got {number.spec}.",
                in_dialect("nx.as_type(t, type) converts all elements.", "x.astype(type) converts all elements."),
            )
        )
    if number.type.is_complex and name in ("int", "float"):
        first = in_dialect("nx.real(t)", "x.real")
        raise NxTypeError(message(f"{name}() takes no complex number, got {number.spec}.", f"Take {first} first."))
    return shaping.reshape(number, ()) if number.shape else number


def sorted(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    """``sorted``."""
    if key is not None or not _is_array(iterable):
        values = _for_keys(iterable, "sorted") if _is_array(iterable) else list_(iterable)
        keys = values if key is None else [key(value) for value in values]
        if not any_traced(keys):
            places = builtins.sorted(range(builtins.len(values)), key=keys.__getitem__, reverse=reverse)
            return [values[place] for place in places]
        if key is not None:
            return ordered_by_keys.in_order("sorted", values, keys, reverse, as_number)
        row = stack([plain(value) if not is_number(value) else operand(value) for value in values])
    else:
        values, row = None, _row(iterable, "sorted")
    ordered = sorting.sort(row, direction="desc" if reverse else "asc")
    if values is None:
        return Listed.of(ordered) if isinstance(iterable, ArrayValue) else like(iterable, ordered)
    return [ordered[position] for position in range(builtins.len(values))]


def _is_generated(iterable: Any) -> builtins.bool:
    """Whether this is a generator expression over many rows or numbers, of which no item was taken."""
    return isinstance(iterable, GeneratedItems) and iterable.are_untouched()


def _is_counted(iterable: Any) -> builtins.bool:
    """Whether it is also known how many items it has."""
    return _is_generated(iterable) and iterable.are_counted()


def list_(*iterable: Any) -> list[Any]:
    """``list``."""
    return iterable[0].list() if iterable and _is_counted(iterable[0]) else list(*iterable)


def tuple_(*iterable: Any) -> tuple[Any, ...]:
    """``tuple``."""
    return tuple(list_(*iterable)) if iterable and _is_counted(iterable[0]) else tuple(*iterable)


def reversed(sequence: Any, /) -> Any:
    """``reversed``."""
    if isinstance(sequence, ArrayValue):
        # Its rows show it.
        return reversed(rows(sequence))
    if isinstance(sequence, Counted):
        return Counted(sequence.length, lambda position: sequence.item(sequence.length - 1 - position))
    if _is_array(sequence):
        return like(sequence, shaping.reverse(plain(sequence), axes=[0]))
    if isinstance(sequence, builtins.range):
        # Still a range, so that a loop over it stays one.
        return sequence[::-1]
    return builtins.reversed(sequence)


def class_of(value: Any) -> type:
    """The class that a traced value would have if NumPy ran the program."""
    if not types.follows_numpy() or not isinstance(value, TracedValue | Proxy):
        return own_class(builtins.type(value))
    if isinstance(value, Proxy) and not isinstance(value, Scalar):
        return getattr(value, "__nx_class__", np.ndarray)
    node = operand(value)
    if node.shape:
        return np.ndarray
    if not tracing.weak(node):
        return node.type.dtype.type
    kind = node.type
    return builtins.bool if kind is types.bool_ else _CLASSES[kind.kind]


_CLASSES = {"s": builtins.int, "f": builtins.float, "c": builtins.complex}


def is_instance(value: Any, classes: Any, /) -> builtins.bool:
    """``isinstance``; traced values answer for the class that they stand for."""
    is_scalar = types.follows_numpy() and isinstance(value, Scalar)
    # Its class has methods of arrays, such as `__iter__`.
    if not is_scalar and builtins.isinstance(value, classes):
        return True
    # What says by itself which objects are its instances is no class.
    return isinstance(value, TracedValue | Proxy) and builtins.issubclass(class_of(value), classes)


def type_(value: Any, /, *rest: Any, **options: Any) -> Any:
    """``type``; traced values give the class that they stand for."""
    return builtins.type(value, *rest, **options) if rest or options else class_of(value)


def has_attribute(value: Any, name: str, /) -> builtins.bool:
    """``hasattr``; traced values answer for the class that they stand for."""
    class_ = class_of(value)
    return builtins.hasattr(value if class_ is own_class(builtins.type(value)) else class_, name)


#: The replacement of each builtin in definitions.
TWINS: dict[Any, Callable[..., Any]] = {
    builtins.min: min,
    builtins.max: max,
    builtins.sum: sum,
    builtins.any: any,
    builtins.all: all,
    builtins.round: round,
    builtins.len: len,
    builtins.list: list_,
    builtins.tuple: tuple_,
    builtins.range: range_,
    builtins.enumerate: enumerated,
    builtins.zip: zipped,
    builtins.divmod: divmod,
    builtins.pow: pow,
    builtins.int: int,
    builtins.float: float,
    builtins.complex: complex,
    builtins.bool: bool,
    builtins.sorted: sorted,
    builtins.reversed: reversed,
    builtins.isinstance: is_instance,
    builtins.type: type_,
    builtins.hasattr: has_attribute,
}
