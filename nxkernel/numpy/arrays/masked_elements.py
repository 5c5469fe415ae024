"""Elements selected by a mask, ``x[mask]``: their number is traced, so all elements are kept beside the mask.

As in NumPy they are a copy: what is read is :meth:`MaskedElements.copied`, all elements of that moment. Only an
assignment, ``x[mask] = ...``, goes by a :class:`MaskedElements` of the array itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import deferred_calls
from nxkernel.numpy.arrays import dynamic_slices
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, fitted, wrap
from nxkernel.numpy.arrays.compacted_elements import compacted
from nxkernel.numpy.arrays.dynamic_broadcasting import aligned, numbered
from nxkernel.numpy.arrays.dynamic_slices import number, sized
from nxkernel.numpy.arrays.subscripts import as_number
from nxkernel.numpy.arrays.views import reshaped
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.shapes import axes_of, text, unnamed
from nxkernel.types import Type, bool_, s64

Shape = tuple[int, ...]


class MaskedElements(ArrayValue):
    """The elements of an array that a mask selects.

    Parameters
    ----------
    base : Array
        All elements.
    mask : operand
        Which of them; its axes are those of the array from `axis` on.
    axis : int
    """

    __slots__ = ("axis", "base", "mask")

    def __init__(self, base: Array, mask: Operand, axis: int = 0) -> None:
        self.base, self.mask, self.axis = base, mask, axis

    @property
    def type(self) -> Type:
        """The type of the elements."""
        return self.base.type

    @property
    def count(self) -> Any:
        """The number of selected elements, a traced number."""
        whole = convert(self.mask, s64)
        return number(apply(p.sum_, whole, axes=tuple(range(len(whole.shape))), keep_axes=False))

    @property
    def shape(self) -> tuple[Any, ...]:
        """The size of each axis; that of the selected axis is traced."""
        rest = self.base.shape
        return (*rest[: self.axis], self.count, *rest[self.axis + len(self.mask.shape) :])

    def shows_same(self, other: Any) -> bool:
        """Whether another value is this very one."""
        return self is other

    @property
    def device(self) -> Any:
        """Where all elements are."""
        return self.base.device

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.base.ndim - len(self.mask.shape) + 1

    @property
    def size(self) -> Any:
        """The number of elements, a traced number."""
        count = self.count
        for size in (*self.shape[: self.axis], *self.shape[self.axis + 1 :]):
            count = count * size
        return count

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """The selected elements, compacted, with the axes in reverse order."""
        return self.compact().T

    @property
    def flat(self) -> Any:
        """The selected elements along one axis; parts of it are copies."""
        return FlatElements(self.base, self.mask, self.axis) if self.ndim == 1 else self.compact().reshape(-1)

    @property
    def real(self) -> MaskedElements:
        """The real parts."""
        return MaskedElements(self.base.real, self.mask, self.axis)

    @property
    def imag(self) -> MaskedElements:
        """The imaginary parts."""
        return MaskedElements(self.base.imag, self.mask, self.axis)

    @property
    def whole_mask(self) -> Operand:
        """The mask broadcast to the shape of the whole array."""
        ones = (1,) * self.axis
        after = self.base.ndim - self.axis - len(self.mask.shape)
        return spread(reshaped(self.mask, (*ones, *self.mask.shape, *(1,) * after)), self.base.shape)

    def __len__(self) -> int:
        self._refuse("len() as a number that is known now")

    def __nx_operand__(self) -> Operand:
        self._refuse("this use of it")

    def __nx_like__(self, value: Operand) -> ArrayValue:
        return wrap(value)

    def __getitem__(self, key: Any) -> Any:
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            return self
        if isinstance(key, MaskedElements) and key.type is bool_ and self._alike(key) and not self.axis:
            # It may pick elements of the rows that are there.
            picked = operand(key.base)
            rows = reshaped(self.mask, (*self.mask.shape, *(1,) * (len(picked.shape) - len(self.mask.shape))))
            return MaskedElements(self.base, apply(p.logical_and, spread(rows, picked.shape), picked)).copied()
        return self.compact()[key]

    def copied(self) -> MaskedElements:
        """The selection from a copy of the elements as they are now."""
        return MaskedElements(Array.of(operand(self.base)), self.mask, self.axis)

    def compact(self) -> Any:
        """The selected elements one after the other: a part of traced length."""
        return compacted(self.base, self.mask, self.axis)

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            self.assign(value)
        else:
            self.compact()[key] = value

    def _refuse(self, what: str) -> NoReturn:
        raise NxTypeError(
            message(
                f"what a mask picks of {self.type}{text(self.base.shape)} has a size that only the running program "
                f"knows: {what} is not possible.",
                "Reductions, element-wise functions, and x[mask] = ... take it.",
                "Masked, the shape stays: np.where(mask, x, 0).",
            )
        )

    def assign(self, value: Any) -> None:
        """Assign to the elements where the mask holds."""
        self.base.assign(operand(self._with(value)))

    def _with(self, value: Any) -> Array:
        whole = operand(self.base)
        if isinstance(value, MaskedElements) and self._alike(value):
            value = value.base
        elif not is_number(value):
            is_part = isinstance(value, MaskedElements | dynamic_slices.DynamicSlice)
            value = dynamic_slices.settled(value) if is_part else as_value(value)
            self._check_count(value)
            if not is_part and not isinstance(value, MaskedElements) and 0 in value.shape:
                # As many are picked, or it is an error: there is nothing to assign.
                return wrap(whole)
            value = self._in_place(value)
        new = fitted(value, whole.shape, whole.type)
        return wrap(apply(p.select, self.whole_mask, new, whole))

    def _check_count(self, value: ArrayValue) -> None:
        """Have the program tell of another number of values than the mask picks."""
        axis = self._axis_of(value)
        given = 1 if axis < 0 else value.shape[axis]
        if isinstance(given, int) and given == 1:
            return
        picked = as_number(operand(self.count))
        if isinstance(given, int):
            wrong = apply(p.not_equal, picked, as_number(given))
            deferred_calls.raise_if(wrong, [picked], functools.partial(_count_error, given=given))
        else:
            size = as_number(operand(given))
            wrong = apply(p.not_equal, picked, size)
            wrong = apply(p.logical_and, wrong, apply(p.not_equal, size, as_number(1)))
            deferred_calls.raise_if(wrong, [picked, size], _count_error)

    def _axis_of(self, value: ArrayValue) -> int:
        """The axis of a value that has its elements for those that are picked; negative if it has one for all."""
        return value.ndim - (self.base.ndim - self.axis - len(self.mask.shape)) - 1

    def _in_place(self, value: ArrayValue) -> ArrayValue:
        """Values for the selected elements, moved to where those are in the whole array."""
        before = self._axis_of(value)
        given = 1 if before < 0 else value.shape[before]
        is_known = isinstance(given, int)
        if before < 0 or (is_known and given == 1 and len(self.mask.shape) == 1):
            return value
        if is_known and given == 1:
            # One for all that is picked: each axis of the mask has it.
            return value[(*(slice(None),) * before, 0, *(None,) * len(self.mask.shape))]
        if is_known and given > shapes.size(self.mask.shape):
            raise NxValueError(
                message(
                    f"x[mask] = v got {given} values, and a mask of shape {text(self.mask.shape)} picks at "
                    f"most {shapes.size(self.mask.shape)}.",
                    "v has one value for each element that the mask picks, or one for all.",
                )
            )
        if before or self.axis:
            self._refuse("assigning an array of this shape")
        flat = convert(reshaped(self.mask, (shapes.size(self.mask.shape),)), s64)
        order = apply(p.cumulative_sum, flat, axis=0, reverse=False)
        order = apply(p.subtract, order, filled(1, s64, order.shape))
        order = apply(p.maximum, order, filled(0, s64, order.shape))
        moved = operand(numbered(value, 0, order))
        moved = spread(moved, (*moved.shape[:1], *self.base.shape[len(self.mask.shape) :]))
        return wrap(reshaped(moved, self.base.shape))

    def by_element(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """An element-wise function of this and other values, if it is computed in a loop over elements; else None."""
        return None

    def _goes_with(self, value: ArrayValue) -> bool:
        """Whether a value can be broadcast to the whole array: it has one element for each, or one for all selected."""
        if isinstance(value, MaskedElements):
            return self._alike(value)
        after = self.base.ndim - self.axis - len(self.mask.shape)
        if isinstance(value, dynamic_slices.DynamicSlice) or value.ndim > self.ndim:
            return False
        return value.ndim <= after or value.shape[-after - 1] == 1

    def _alike(self, other: MaskedElements) -> bool:
        """Whether the other value is selected by the same mask."""
        return (
            self.mask.shape == other.mask.shape
            and self.axis == other.axis
            and integer_bounds.same(self.mask, other.mask)
        )

    def _check(self, other: MaskedElements) -> None:
        if not self._alike(other):
            raise NxTypeError(
                message(
                    "what two masks pick goes together only where they are the same mask.",
                    "Keep the mask in a variable and use it for both.",
                    "Masked, the shape stays: np.where(mask, x, 0).",
                )
            )


class FlatElements(MaskedElements):
    """The result of ``a[mask].flat``: what is picked of it is a copy, and assigning to it writes to the elements."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        result = super().__getitem__(key)
        return result.copy() if isinstance(result, Array | MaskedElements | dynamic_slices.DynamicSlice) else result


def _count_error(picked: int, given: int) -> NxValueError:
    return NxValueError(
        message(
            f"x[mask] = v got {given} values, and the mask picks {picked}.",
            "v has one value for each element that the mask picks, or one for all.",
        )
    )


def elementwise(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Apply an element-wise function to values selected by one mask and numbers; all elements are computed."""
    values = [value if is_number(value) else as_value(value) for value in inputs]
    first = next(value for value in values if isinstance(value, MaskedElements))
    result = first.by_element(function, values)
    if result is not None:
        return result
    if not all(is_number(value) or first._goes_with(value) for value in values):
        return dynamic_slices.elementwise(function, list(map(dynamic_slices.compact_part, values)))
    whole = []
    for value in values:
        if isinstance(value, MaskedElements):
            first._check(value)
            whole.append(value.base)
        elif is_number(value) or value.ndim == 0:
            whole.append(value)
        else:
            whole.append(first._in_place(value))
    result = function(*whole)
    if isinstance(result, tuple):
        return tuple([MaskedElements(value, first.mask, first.axis) for value in result])
    return MaskedElements(result, first.mask, first.axis)


def reduced(function: Callable[..., Operand], value: MaskedElements, axis: int | None, keep_axes: bool) -> ArrayValue:
    """Reduce selected elements, over all axes or the axis that the mask covers."""
    picked = range(value.axis, value.axis + len(value.mask.shape))
    if keep_axes or isinstance(axis, tuple) or (axis is not None and axis % value.ndim != value.axis):
        return dynamic_slices.reduced(function, value.compact(), axes_of(axis, value.ndim), keep_axes)
    axes = tuple(range(value.base.ndim)) if axis is None else tuple(picked)
    return wrap(function(operand(value.base), axes, False, value.whole_mask))


def lifted(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Apply an element-wise function to any values: arrays, scalars, parts of traced length, masked elements."""
    if any(isinstance(value, MaskedElements) for value in inputs):
        return elementwise(function, inputs)
    if dynamic_slices.any_part(inputs):
        return dynamic_slices.elementwise(function, inputs)
    return function(*inputs)


def masked(part: dynamic_slices.DynamicSlice, mask: Any) -> MaskedElements:
    """The elements that a mask, itself perhaps of traced length, selects from a part.

    Parameters
    ----------
    part : dynamic_slices.DynamicSlice
    mask : ArrayValue
        Of type bool.
    """
    mask = dynamic_slices.compact_part(mask)
    rank = mask.ndim
    if any(part.stretches[rank:]):
        part._refuse("a mask of other axes than that of traced length")
    own = part.stretches[:rank]
    shape = part.base.shape[:rank]
    targets = [stretch and (stretch, size) for stretch, size in zip(own, shape, strict=True)]
    here = operand(aligned(mask, targets))
    return MaskedElements(part.base, apply(p.logical_and, here, dynamic_slices.mask(own, shape)), 0)


def whole_mask(mask: dynamic_slices.DynamicSlice, shape: Shape) -> Array:
    """A mask of traced length padded to the whole array whose leading axes it covers, if NumPy accepts it as its mask.

    Parameters
    ----------
    mask : dynamic_slices.DynamicSlice
    shape : tuple of int
        Of the first axes of the array.
    """
    mask = dynamic_slices.settled(mask)
    held = apply(p.logical_and, operand(mask.base), dynamic_slices.mask(mask.stretches, mask.base.shape))
    result = Array.of(held)[tuple([slice(0, size) for size in shape])]
    if result.shape != shape:
        wide = Array.of(filled(False, bool_, shape))
        wide[tuple([slice(0, size) for size in result.shape])] = result
        return wide
    return result


def places(mask: Any) -> tuple[Any, ...]:
    """The indices of nonzero elements, one array for each axis, as :func:`numpy.nonzero` gives them."""
    mask = dynamic_slices.compact_part(as_value(mask))
    if mask.type is not bool_:
        mask = mask != 0
    if isinstance(mask, dynamic_slices.DynamicSlice):
        shape, stretches = mask.base.shape, mask.stretches
        held = apply(p.logical_and, operand(mask.base), dynamic_slices.mask(stretches, shape))
        offsets = [stretch.offset if stretch else 0 for stretch in stretches]
    else:
        held, shape = operand(mask), mask.shape
        offsets = [0] * len(shape)
        if 0 in shape:
            return tuple([Array.of(filled(0, s64, (0,))) for _ in shape])
    indices = []
    for axis, offset in enumerate(offsets):
        numbers = apply(p.iota, type=s64, shape=shape, names=unnamed(shape), axis=axis)
        if not isinstance(offset, int) or offset:
            numbers = apply(p.subtract, numbers, spread(as_number(offset), shape))
        indices.append(sized(compacted(wrap(numbers), held, 0)))
    return tuple(indices)


def _refusing(name: str) -> property:
    """A property that arrays have and parts refuse, since it depends on the traced size."""

    def refuse(self: Any) -> NoReturn:
        self._refuse("this use of it")

    refuse.__doc__ = f"Refused: ``{name}`` of arrays whose sizes are known."
    return property(refuse)


for _class in (dynamic_slices.DynamicSlice, MaskedElements):
    for _name in (
        "contiguous",
        "diagonal_of",
        "flat",
        "root",
        "spread_to",
        "steps",
        "through",
        "transposed",
        "with_shape",
    ):
        if not hasattr(_class, _name):
            setattr(_class, _name, _refusing(_name))
