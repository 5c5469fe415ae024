"""Masked arrays: elements beside a mask, which tells of those that do not count, as :class:`numpy.ma.MaskedArray`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import values_of_call
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, has_mask, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.selection import where
from nxkernel.numpy.functions.shaping import as_array, broadcast_to
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import filled, is_number
from nxkernel.types import Type, bool_

#: What takes the place of masked elements where nothing else is said, by the kind of their type.
_FILL = {"f": 1e20, "c": 1e20 + 0j, "s": 999999, "u": 999999}
#: Where functions of one array have no result, and what stands there.
_DOMAINS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "sqrt": (lambda x: e.less(x, 0.0), 0.0),
    **dict.fromkeys(("log", "log2", "log10"), (lambda x: e.less_equal(x, 0.0), 1.0)),
    **dict.fromkeys(("arcsin", "arccos"), (lambda x: e.greater(e.absolute(x), 1.0), 0.0)),
    "arccosh": (lambda x: e.less(x, 1.0), 1.0),
    "arctanh": (lambda x: e.greater(e.absolute(x), 1.0 - 1e-15), 0.0),
    "tan": (lambda x: e.less(e.absolute(e.cos(x)), 1e-35), 0.0),
}
_DIVISIONS = frozenset({"divide", "true_divide", "floor_divide", "remainder", "fmod"})
_COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
#: Operators after which masked elements are those of the left side.
_KEEPING = frozenset({"add", "subtract", "multiply"})


class MaskedArray(ArrayValue):
    """An array with a mask.

    Parameters
    ----------
    base : Array
        All elements.
    held : Array or None
        Of the same shape, true where an element does not count; None where all do.
    """

    __slots__ = ("base", "held")

    def __init__(self, base: Array, held: Array | None = None) -> None:
        self.base, self.held = base, held

    def __nx_operand__(self) -> NoReturn:
        raise NxTypeError(
            message(
                "a masked array does not go here, where its mask would be lost.",
                "x.filled(0) puts zeros where it is masked, x.data has all elements, and x.mask the mask.",
            )
        )

    def __nx_like__(self, value: Operand) -> ArrayValue:
        return wrap(value)

    def __nx_parts__(self) -> tuple[Any, list[tuple[str, Any]]]:
        """What makes NumPy's masked array of the parts of a result, and these."""
        parts = [(".data", self.base)]
        return _as_numpys, parts if self.held is None else [*parts, (".mask", self.held)]

    #: The class that it stands for.
    @property
    def __nx_class__(self) -> type:
        return np.ma.MaskedArray

    @property
    def type(self) -> Type:
        """The type of the elements."""
        return self.base.type

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self.base.shape

    @property
    def data(self) -> Array:
        """All elements."""
        return self.base

    @property
    def mask(self) -> Any:
        """The mask; NumPy's ``nomask`` where there is none."""
        return np.ma.nomask if self.held is None else self.held

    @mask.setter
    def mask(self, value: Any) -> None:
        held = self.whole_mask.copy()
        held[...] = value
        self.held = held

    @property
    def fill_value(self) -> Any:
        """What takes the place of masked elements where nothing else is said."""
        return True if self.type is bool_ else _FILL[self.type.kind]

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        raise NxTypeError(
            message("a masked array of a program takes no fill_value.", "Give it where it counts: x.filled(value).")
        )

    @property
    def whole_mask(self) -> Array:
        """The mask, with an element for each."""
        return Array.of(filled(False, bool_, self.shape)) if self.held is None else self.held

    @property
    def T(self) -> MaskedArray:  # noqa: N802 - NumPy's name
        """The array with its axes in reverse order."""
        return self._each(lambda part: part.T)

    def _each(self, function: Callable[[Array], Any]) -> MaskedArray:
        return MaskedArray(function(self.base), None if self.held is None else function(self.held))

    def filled(self, fill_value: Any = None) -> Any:
        """All elements as an array, with another value where they are masked."""
        if self.held is None:
            return self.base
        value = self.fill_value if fill_value is None else fill_value
        return where(self.held, as_value(value).astype(self.dtype), self.base)

    def compressed(self) -> Any:
        """The elements that are not masked, along one axis."""
        return self.base.ravel() if self.held is None else self.base[e.logical_not(self.held)]

    def copy(self, order: str = "C") -> MaskedArray:
        """A copy, with a mask of its own."""
        return self._each(lambda part: part.copy())

    def astype(self, dtype: Any, *args: Any, **options: Any) -> MaskedArray:
        """The elements in another type."""
        return MaskedArray(self.base.astype(dtype, *args, **options), self.held)

    def reshape(self, *shape: Any, **options: Any) -> MaskedArray:
        """The elements in another shape."""
        return self._each(lambda part: part.reshape(*shape, **options))

    def with_shape(self, shape: tuple[int, ...]) -> MaskedArray:
        """The elements in another shape, as functions of NumPy's arrange them."""
        return self._each(lambda part: part.with_shape(shape))

    def spread_to(self, shape: tuple[int, ...]) -> MaskedArray:
        """The elements broadcast to a shape."""
        return self._each(lambda part: part.spread_to(shape))

    def contiguous(self, order: str = "C") -> MaskedArray:
        """The elements in an order."""
        return self._each(lambda part: part.contiguous(order))

    def ravel(self, *args: Any) -> MaskedArray:
        """The elements along one axis."""
        return self._each(lambda part: part.ravel(*args))

    def flatten(self, *args: Any) -> MaskedArray:
        """A copy of the elements along one axis."""
        return self._each(lambda part: part.flatten(*args))

    def squeeze(self, axis: Any = None) -> MaskedArray:
        """The elements without axes of size 1."""
        return self._each(lambda part: part.squeeze(axis))

    def transpose(self, *axes: Any) -> MaskedArray:
        """The elements with axes in another order."""
        return self._each(lambda part: part.transpose(*axes))

    # Elements ------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        key = _plain_key(key)
        found = self.base[key]
        if self.held is None:
            return found if found.is_scalar else MaskedArray(as_array(found))
        mask = self.held[key]
        if not found.is_scalar:
            return MaskedArray(as_array(found), as_array(mask))
        return _unless(mask, found)

    def __setitem__(self, key: Any, value: Any) -> None:
        keeps_mask, key = isinstance(key, MaskedArray) and not isinstance(value, MaskedArray), _plain_key(key)
        hides = value is np.ma.masked
        mask = value.held if isinstance(value, MaskedArray) else None
        if self.held is None and (hides or mask is not None):
            self.held = self.whole_mask
        if not hides:
            self.base[key] = value.base if isinstance(value, MaskedArray) else value
        if self.held is not None and (hides or not keeps_mask):
            self.held[key] = hides if mask is None else mask

    # Reductions ----------------------------------------------------------------------------------------------------

    def count(self, axis: Any = None, keepdims: bool = False) -> Any:
        """How many elements are not masked."""
        return reductions.sum(e.logical_not(self.whole_mask), axis, keepdims=keepdims)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The sum of the elements that are not masked."""
        return self._reduced(reductions.sum(self.filled(0), axis, dtype, out, keepdims=keepdims), axis, keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The product of the elements that are not masked."""
        return self._reduced(reductions.prod(self.filled(1), axis, dtype, out, keepdims=keepdims), axis, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The mean of the elements that are not masked."""
        if self.held is None:
            return self._reduced(reductions.mean(self.base, axis, dtype, out, keepdims=keepdims), axis, keepdims)
        total = reductions.sum(self.filled(0), axis, dtype, keepdims=keepdims)
        return self._reduced(e.divide(total, self.count(axis, keepdims)), axis, keepdims)

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """The variance of the elements that are not masked."""
        total = reductions.sum(self.filled(0), axis, keepdims=True)
        middle = e.divide(total, self.count(axis, True))
        apart = e.square(e.absolute(e.subtract(self.base, middle)))
        apart = where(self.whole_mask, 0.0, apart)
        count = e.subtract(self.count(axis, keepdims), ddof)
        found = e.divide(reductions.sum(apart, axis, keepdims=keepdims), count)
        if self.held is None or found.ndim:
            return self._reduced(found, axis, keepdims)
        return _unless(e.logical_not(e.isfinite(found)), found)

    def std(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """The standard deviation of the elements that are not masked."""
        found = self.var(axis, dtype, out, ddof, keepdims)
        if found is np.ma.masked:
            return found
        return MaskedArray(e.sqrt(found.base), found.held) if isinstance(found, MaskedArray) else e.sqrt(found)

    def min(self, axis: Any = None, out: Any = None, fill_value: Any = None, keepdims: bool = False) -> Any:
        """The least element that is not masked."""
        greatest = types.limits(self.type)[1] if self.type.is_integer else np.inf
        return self._reduced(reductions.min(self.filled(greatest), axis, keepdims=keepdims), axis, keepdims)

    def max(self, axis: Any = None, out: Any = None, fill_value: Any = None, keepdims: bool = False) -> Any:
        """The greatest element that is not masked."""
        least = types.limits(self.type)[0] if self.type.is_integer else -np.inf
        return self._reduced(reductions.max(self.filled(least), axis, keepdims=keepdims), axis, keepdims)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether an element that is not masked is true."""
        return self._reduced(reductions.any(self.filled(False), axis, keepdims=keepdims), axis, keepdims)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether all elements that are not masked are true."""
        return self._reduced(reductions.all(self.filled(True), axis, keepdims=keepdims), axis, keepdims)

    def _reduced(self, found: Any, axis: Any, keepdims: bool) -> Any:
        """A result along some axes, masked where all elements were; of all elements it is a number."""
        if not found.ndim:
            return found if self.held is None else _unless(reductions.all(self.held), found)
        held = None if self.held is None else as_array(reductions.all(self.held, axis, keepdims=keepdims))
        return MaskedArray(as_array(found), held)

    # Element by element ----------------------------------------------------------------------------------------------

    def by_ufunc(self, ufunc: Any, inputs: Sequence[Any], is_operator: bool) -> Any:
        """A ufunc of this and other values: masked where one of them is, or where it has no result."""
        inputs = [as_masked(value) if has_mask(value) else value for value in inputs]
        values = [value.base if isinstance(value, MaskedArray) else value for value in inputs]
        masks = [value.held for value in inputs if isinstance(value, MaskedArray) and value.held is not None]
        name = ufunc.__name__
        found = as_array(ufunc.as_operator(*values) if is_operator else ufunc(*values))
        mask = _union(masks)
        if mask is not None:
            mask = broadcast_to(mask, found.shape)
        if is_operator and name == "power":
            return self._power(found, values[0], mask)
        if name in _DIVISIONS:
            # NumPy's masked arrays have no `%` of their own, and take that of arrays.
            return self._divided(found, values, mask, None if is_operator and name != "remainder" else 1.0)
        if name in _DOMAINS and not is_operator:
            outside, instead = _DOMAINS[name]
            hidden = outside(values[0]) if mask is None else e.logical_or(outside(values[0]), mask)
            return MaskedArray(as_array(where(hidden, np.asarray(instead, found.dtype), found)), as_array(hidden))
        if mask is not None and is_operator and name in _KEEPING:
            found = as_array(where(mask, _typed(values[0], found), found))
        if mask is not None and is_operator and name in ("equal", "not_equal"):
            found = as_array(where(mask, ufunc(*[_mask_of(value) for value in inputs]), found))
        return MaskedArray(found, None if mask is None else as_array(mask).copy())

    def _power(self, found: Array, left: Any, mask: Any) -> MaskedArray:
        if mask is not None:
            found = as_array(where(mask, _typed(left, found), found))
        if not found.type.is_float:
            return MaskedArray(found, mask)
        invalid = e.logical_not(e.isfinite(found))
        held = invalid if mask is None else e.logical_or(mask, invalid)
        return MaskedArray(as_array(where(invalid, np.asarray(_FILL["f"], found.dtype), found)), as_array(held))

    def _divided(self, found: Array, values: Sequence[Any], mask: Any, instead: float | None) -> MaskedArray:
        left, right = (as_value(value).astype("float64") for value in values)
        small = e.multiply(e.absolute(left), np.finfo(float).tiny)
        invalid = e.greater_equal(small, e.absolute(right))
        if instead is None and found.type.is_float:
            invalid = e.logical_or(invalid, e.logical_not(e.isfinite(found)))
        hidden = broadcast_to(invalid if mask is None else e.logical_or(invalid, mask), found.shape)
        if instead is None:
            data = where(hidden, _typed(values[0], found), found)
        else:
            data = where(invalid, np.asarray(instead, found.dtype), found)
        return MaskedArray(as_array(data), as_array(hidden).copy())


def _unless(hidden: Any, found: Any) -> Any:
    """A number, or NumPy's masked one."""
    known = values_of_call.number(hidden)
    if known is None:
        raise NxTypeError(
            message(
                "whether a number is masked only the running program knows: NumPy gives np.ma.masked then.",
                "x.filled(0)[k] has a number there, x.data[k] the element itself, and x.mask[k] tells.",
            )
        )
    return np.ma.masked if known else found


def _union(masks: Sequence[Any]) -> Any:
    return functools.reduce(e.logical_or, masks) if masks else None


def _typed(value: Any, like: Array) -> Any:
    return as_value(value).astype(like.dtype)


def _mask_of(value: Any) -> Any:
    return value.whole_mask if isinstance(value, MaskedArray) else np.False_


def _plain_key(key: Any) -> Any:
    """A key with the elements of masked arrays in place of these, as NumPy takes it."""
    if isinstance(key, tuple):
        return tuple(map(_plain_key, key))
    return key.base if isinstance(key, MaskedArray) else key


def _as_numpys(data: Any, mask: Any = False) -> Any:
    """NumPy's masked array of what a program has computed."""
    return np.ma.MaskedArray(np.asarray(data), np.asarray(mask))


def as_masked(value: Any) -> MaskedArray:
    """A value as a masked array; what has no mask gets none."""
    if isinstance(value, MaskedArray):
        return value
    if has_mask(value):
        held = None if value.mask is np.ma.nomask else as_array(np.asarray(value.mask))
        return MaskedArray(as_array(np.asarray(value.data)), held)
    return MaskedArray(as_array(value if is_number(value) or isinstance(value, ArrayValue) else as_value(value)))


def elements(value: Any) -> Any:
    """The elements of a masked array; anything else as an array."""
    return value.base if isinstance(value, MaskedArray) else as_value(value)
