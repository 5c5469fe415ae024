"""``x[k]``, ``x[k] = v``, ``x[k] += v`` and ``x += v`` in definitions."""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from nxkernel import types
from nxkernel.definitions.flow.control import attempts
from nxkernel.definitions.flow.control.loop_iterables import Counted
from nxkernel.definitions.flow.operators.membership import hashed
from nxkernel.definitions.flow.operators.python_builtins import as_number
from nxkernel.definitions.flow.values import functional_updates, negative_indices
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument, assigned, refuse_kept
from nxkernel.definitions.flow.values.unassigned_variables import is_unassigned
from nxkernel.definitions.flow.values.variable_leaves import is_traced, is_value
from nxkernel.errors import NxError, NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.numpy.arrays.array import Array, Scalar, not_own, of_numpy
from nxkernel.numpy.dispatch_table import twin
from nxkernel.numpy.functions.joining import join_new
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import is_number, operand
from nxkernel.ops.shapes import gathering, indexing, shaping
from nxkernel.ops.shapes.shaping import stack
from nxkernel.ops.tensors.creation import tensor as new_tensor

_OPERATORS: dict[str, tuple[Callable, Callable]] = {
    "+": (operator.add, operator.iadd),
    "-": (operator.sub, operator.isub),
    "*": (operator.mul, operator.imul),
    "/": (operator.truediv, operator.itruediv),
    "//": (operator.floordiv, operator.ifloordiv),
    "%": (operator.mod, operator.imod),
    "**": (operator.pow, operator.ipow),
    "@": (operator.matmul, operator.imatmul),
    "&": (operator.and_, operator.iand),
    "|": (operator.or_, operator.ior),
    "^": (operator.xor, operator.ixor),
    "<<": (operator.lshift, operator.ilshift),
    ">>": (operator.rshift, operator.irshift),
}


class Picked:
    """``x[mask]``: its size is unknown, so it allows arithmetic with numbers and the same mask, and assignment only.

    Parameters
    ----------
    array : tensor
        The array that the mask picks from, with the arithmetic applied to all its elements.
    mask : tensor
    """

    __slots__ = ("array", "mask")

    def __init__(self, array: Operand, mask: Operand) -> None:
        self.array, self.mask = array, mask

    def combined(self, function: Callable[[Any, Any], Any], other: Any, swapped: bool = False) -> Picked:
        """Apply an operator to this and a number, or the elements of the same mask."""
        if isinstance(other, Picked):
            if not same_mask(self.mask, other.mask):
                raise self.error()
            other = other.array
        elif not is_number(other) and operand(other).shape:
            raise self.error()
        return Picked(function(other, self.array) if swapped else function(self.array, other), self.mask)

    def error(self) -> NxError:
        """The error for using ``x[mask]`` where its size is needed."""
        return NxTypeError(
            message(
                f"x[mask] has a size that only the values of the mask tell: x is {self.array.spec}, the mask "
                f"{self.mask.spec}.",
                "nx.select(mask, x, 0) keeps the shape, and nx.sum(nx.select(mask, x, 0)) sums what the mask picks;",
                "x[mask] = v and x[mask] *= v change what it picks.",
            )
        )

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise self.error()

    def __getattr__(self, name: str) -> NoReturn:
        raise self.error()


def _install() -> None:
    for plain, _ in _OPERATORS.values():
        name = plain.__name__.strip("_")

        def method(self: Picked, other: Any, plain: Callable = plain) -> Picked:
            return self.combined(plain, other)

        def swapped(self: Picked, other: Any, plain: Callable = plain) -> Picked:
            return self.combined(plain, other, swapped=True)

        setattr(Picked, f"__{name}__", method)
        setattr(Picked, f"__r{name}__", swapped)
    Picked.__neg__ = lambda self: Picked(-self.array, self.mask)
    Picked.__abs__ = lambda self: Picked(abs(self.array), self.mask)
    for name in ("array", "bool", "call", "float", "getitem", "int", "iter", "len", "index", "eq", "lt", "gt", "repr"):
        setattr(Picked, f"__{name}__", Picked._refuse)


_install()


def same_mask(one: Operand, other: Operand) -> bool:
    """Whether two masks are the same node, or were computed in the same way."""
    if one is other:
        return True
    alike = getattr(one, "primitive", None) is not None and one.primitive is getattr(other, "primitive", None)
    return (
        alike
        and one.params == other.params
        and len(one.operands) == len(other.operands)
        and bool(one.operands)
        and all(_same_node(a, b) for a, b in zip(one.operands, other.operands, strict=True))
    )


def _same_node(one: Any, other: Any) -> bool:
    return (
        one is other
        or (one.spec == other.spec and not one.operands and one.params == other.params)
        or (bool(one.operands) and same_mask(one, other))
    )


def get_item(value: Any, key: Any) -> Any:
    """``value[key]``."""
    if attempts.are_active() and _has_traced(key):
        attempts.refuse_unseen(IndexError, "an index that only the running program knows", "compare it with the size")
    if type(value) is MutableArgument:
        value = value.__nx_operand__()
    if isinstance(value, Operand):
        return _taken(value, key)
    if isinstance(value, np.ndarray) and (tracing.current() is not None and _has_traced(key)):
        return _taken(operand(value), key)
    if isinstance(value, list | tuple | range) and is_traced(key):
        return _from_sequence(value, key)
    if isinstance(value, Counted) and is_value(key):
        return value.item(key)
    if isinstance(value, dict):
        return value[hashed(key)]
    if types.follows_numpy() and type(value).__module__.startswith("numpy."):
        # Such as np.mgrid and np.r_, which make arrays of what stands between the brackets.
        return twin(value)[key]
    return value[key]


def _taken(value: Operand, key: Any) -> Any:
    key = negative_indices.counted(value, key)
    if functional_updates.is_mask(key):
        mask = operand(key)
        if mask.shape == value.shape[: mask.rank]:
            return Picked(value, functional_updates.spread_mask(mask, value))
    if not isinstance(key, tuple | slice):
        return indexing.index(value, operand(key) if isinstance(key, Proxy) else key)
    value, entries = _windowed(value, functional_updates.expanded(value, key))
    arrays = [entry for entry in entries if functional_updates.is_array(entry)]
    if len(arrays) < 2:
        return indexing.index(value, tuple(entries))
    return _gathered(value, entries)


def _windowed(value: Operand, entries: list[Any]) -> tuple[Operand, list[Any]]:
    """Take the slices with traced bounds first; returns the rest of the key."""
    axis, left = 0, []
    for entry in entries:
        if isinstance(entry, slice) and functional_updates.is_window(entry):
            start, length = functional_updates.window(entry, value.shape[axis])
            value = indexing.slice_along_axis(value, start, length, axis=axis)
            entry = slice(None)
        left.append(entry)
        axis += entry is not None
    return value, left


def _gathered(value: Operand, entries: list[Any]) -> Operand:
    """Index by several arrays together, after the slices beside them."""
    slices = tuple([entry if isinstance(entry, slice) else slice(None) for entry in entries if entry is not None])
    value = indexing.index(value, slices)
    entries = [slice(None) if isinstance(entry, slice) else entry for entry in entries if entry is not None]
    axes = [axis for axis, entry in enumerate(entries) if not isinstance(entry, slice)]
    indices, shape = functional_updates.coordinates(value, entries, axes)
    gathered = gathering.gather(value, stack(indices, axis=len(shape)), axes=axes)
    if axes != list(range(axes[0], axes[-1] + 1)) or not axes[0] or not shape:
        return gathered
    count, front = len(shape), axes[0]
    order = [*range(count, count + front), *range(count), *range(count + front, gathered.rank)]
    return shaping.transpose(gathered, axes=order)


def _has_traced(key: Any) -> bool:
    if isinstance(key, tuple):
        return any(map(_has_traced, key))
    if isinstance(key, slice):
        return any(is_traced(bound) for bound in (key.start, key.stop, key.step))
    return is_traced(key)


def _from_sequence(values: Any, key: Any) -> Any:
    """A member of a Python sequence at a traced index.

    Members are numbers, tensors of one shape, or sequences of one length of these, which are indexed item by item.
    """
    if isinstance(values, range):
        return values.start + values.step * key
    if values and all(isinstance(value, tuple | list) for value in values) and len({len(v) for v in values}) == 1:
        items = [_from_sequence(members, key) for members in zip(*values, strict=True)]
        return tuple(items) if all(isinstance(value, tuple) for value in values) else _Members(items, key)
    alike = values and all(is_number(value) or is_value(value) for value in values)
    if not alike or len({operand(value).shape for value in values}) > 1:
        return values[key.__index__() if isinstance(key, Operand) else key]
    if types.follows_numpy():
        return _from_arrays(values, key)
    table = new_tensor(list(values)) if all(map(is_number, values)) else stack(list(values))
    return indexing.index(table, operand(key))


class _Members(list):
    """The items of one of several lists, at a traced index: they can be read, and not assigned."""

    def __init__(self, members: Iterable[Any], key: Any) -> None:
        super().__init__(members)
        self._key = key

    def _needed(self, *_: Any) -> NoReturn:
        # This raises, as which list it is must be known: a loop of a known length is unrolled then.
        operator.index(self._key)

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = _needed
    remove = reverse = sort = _needed

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return copy.deepcopy(list(self), memo)


def _from_arrays(values: Any, key: Any) -> Any:
    """A member of a sequence at a traced index, by NumPy's rules: a Python number, or a read-only array."""
    if all(map(is_number, values)):
        member = Array.of(operand(np.array(values)))[key]
        return Scalar(as_number(operand(member)))
    member = Array.of(join_new(list(values), 0))[key]
    if all(is_number(value) or tracing.weak(operand(value)) for value in values):
        return Scalar(as_number(operand(member)))
    if isinstance(member, Array):
        member.root.doubt = _whose
    return member


def _whose() -> NxError:
    return NxTypeError(
        message(
            "an array that a list gave is assigned into, and which of the arrays in the list that is only the running "
            "program knows.",
            "Keep them in one array, x = np.stack(arrays), and assign into x[k].",
            "To change a copy alone, begin with it: x = arrays[k].copy().",
        )
    )


def set_item(value: Any, key: Any, new: Any) -> Any:
    """``value[key] = new``; returns what the variable is bound to afterwards.

    For tensors and traced values, which are immutable, that is a new value; all else is changed in place.
    """
    if is_unassigned(value):
        return value[key]
    if type(value) is MutableArgument:
        value.write(_put(value.__nx_operand__(), key, new))
        return value
    if isinstance(value, np.ndarray | np.flatiter) and tracing.current() is not None:
        refuse_kept(value.base if isinstance(value, np.flatiter) else value)
        if types.follows_numpy() or isinstance(value, np.flatiter):
            raise not_own()
        value = operand(value)
    if not isinstance(value, Operand):
        value[hashed(key, "a dict is given a key") if isinstance(value, dict) else key] = new
        return value
    assigned(value)
    return _put(value, key, new)


def _put(value: Operand, key: Any, new: Any) -> Operand:
    """A copy of a value with a part overwritten."""
    key = negative_indices.counted(value, key)
    if isinstance(new, Picked):
        return _put_picked(value, key, new)
    return functional_updates.updated(value, key, new)


def _put_picked(value: Operand, key: Any, new: Picked) -> Operand:
    """``x[mask] = y[mask]``, where both masks are the same."""
    if not functional_updates.is_mask(key) or new.array.shape != value.shape:
        raise new.error()
    mask = functional_updates.spread_mask(operand(key), value)
    if not same_mask(mask, new.mask):
        raise new.error()
    return comparison.select(mask, functional_updates.cast_to_target(new.array, value), value)


def in_place(symbol: str, value: Any, other: Any) -> Any:
    """``value op= other``; returns what the variable is bound to afterwards."""
    plain, changing = _OPERATORS[symbol.removesuffix("=")]
    if type(value) is MutableArgument:
        value.write(functional_updates.updated(value.__nx_operand__(), ..., plain(value.__nx_operand__(), other)))
        return value
    if isinstance(value, Operand):
        assigned(value, augmented=True)
        return plain(value, other)
    if isinstance(value, np.ndarray) and tracing.current() is not None:
        refuse_kept(value)
        if types.follows_numpy() and is_traced(other):
            raise not_own()
    return changing(value, other)


def own(value: Any) -> Any:
    """Turn a NumPy array that was computed while tracing into an array of the program, so that it can be assigned into.

    Only if the array owns its memory and nothing else refers to it: other references would stay NumPy arrays.
    """
    if type(value) is not np.ndarray or tracing.current() is None or not types.follows_numpy():
        return value
    if value.base is not None or sys.getrefcount(value) > _NEW or not value.flags.writeable:
        return value
    if value.dtype.kind not in "biufc":
        return value
    return of_numpy(value)


def _count(value: Any) -> int:
    return sys.getrefcount(value)


#: The reference count of an object that only the argument of a call refers to.
_NEW = _count(object())
