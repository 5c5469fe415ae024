"""NumPy's shape functions: they return views wherever NumPy does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing, values_of_call
from nxkernel.numpy.arrays import compacted_elements, memory_order, subscripts
from nxkernel.numpy.arrays.array import Array, ArrayValue, Scalar, as_value, of_numpy, wrap
from nxkernel.numpy.arrays.casting import cast, type_of
from nxkernel.numpy.arrays.dynamic_broadcasting import is_one, is_several
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice, flipped, sized
from nxkernel.numpy.arrays.masked_elements import MaskedElements, lifted
from nxkernel.numpy.arrays.strided_slices import StridedElements
from nxkernel.numpy.arrays.views import AxisSlice, Index, reshaped
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.shapes import broadcast_shapes as shapes_together
from nxkernel.shapes import normalize_axis, spreads, text, unnamed
from nxkernel.types import s64

__all__ = [
    "astype", "broadcast_shapes", "broadcast_to", "copy", "expand_dims", "flip", "fliplr", "flipud", "matrix_transpose",
    "moveaxis", "ndim", "permute_dims", "ravel", "repeat", "reshape", "resize", "rollaxis", "rot90",
    "shape", "size", "squeeze", "swapaxes", "tile", "transpose", "trim_zeros",
]  # fmt: skip

Shape = tuple[int, ...]


def sizes(value: Any) -> Shape:
    """A shape from an int or a sequence of ints, which must be known while tracing."""
    return tuple(map(subscripts.static, subscripts.parts(value)))


def as_array(value: Any) -> Array:
    """A value as an array, also if it is a scalar."""
    value = as_value(value)
    if isinstance(value, MaskedElements):
        return value.compact()
    return Array.of(value.node) if isinstance(value, Scalar) else value


def shape(a: Any) -> tuple[Any, ...]:
    """The sizes of the axes, as :func:`numpy.shape`."""
    return as_value(a).shape


def ndim(a: Any) -> int:
    """The number of axes, as :func:`numpy.ndim`."""
    return as_value(a).ndim


def size(a: Any, axis: int | tuple[int, ...] | None = None) -> Any:
    """The number of elements, as :func:`numpy.size`."""
    value = as_value(a)
    if axis is None:
        return value.size
    return math.prod([value.shape[one] for one in axis]) if isinstance(axis, tuple) else value.shape[axis]


def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Any:
    """The elements in another shape, as :func:`numpy.reshape`."""
    value = as_array(a)
    wanted = newshape if shape is None else shape
    if isinstance(value, DynamicSlice):
        return compacted_elements.with_shape(value, wanted)
    if order not in ("C", "F", "A"):
        raise NxValueError(f"reshape: order must be one of 'C', 'F', or 'A', got {order!r}")
    new = _resolved(sizes(wanted), value.size)
    if order == "F" or _axes_by(order, value)[:1] not in ((), (0,)):
        result = value.T.with_shape(new[::-1]).T
    else:
        result = value.with_shape(new)
    return result.copy() if copy else result


def _resolved(wanted: Shape, count: int) -> Shape:
    if -1 in wanted:
        known = math.prod(size for size in wanted if size != -1)
        if wanted.count(-1) > 1 or not known or count % known:
            raise NxValueError(f"{count} elements do not fit the shape {wanted}")
        wanted = tuple(count // known if size == -1 else size for size in wanted)
    if math.prod(wanted) != count:
        raise NxValueError(f"{count} elements do not fit the shape {wanted}, which has {math.prod(wanted)}")
    return wanted


def _reshape_method(self: ArrayValue, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    """The elements in another shape, as :meth:`numpy.ndarray.reshape`."""
    return reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def in_one_axis(value: ArrayValue) -> ArrayValue:
    """All elements in C order, for functions that copy them anyway: whether they are a view nobody can tell."""
    if not isinstance(value, Array):
        return value.ravel()
    return value if value.ndim == 1 else Array.of(reshaped(operand(value), (value.size,)))


def along(value: ArrayValue, axis: Any) -> tuple[ArrayValue, int]:
    """What a function works along, and the position of the axis: all elements in C order where `axis` is None.

    An array without axes has the axes 0 and -1 for NumPy.
    """
    if axis is None or (not value.shape and of_scalar(axis) is None):
        return in_one_axis(value), 0
    return value, normalize_axis(axis, value.shape)


def of_scalar(axis: Any) -> Any:
    """`axis=` of an array without axes: None, which is all of it, for 0 and -1, which NumPy takes for that as well."""
    return None if isinstance(axis, int | np.integer) and axis in (0, -1) else axis


def ravel(a: Any, order: str = "C") -> Any:
    """All elements along one axis, as :func:`numpy.ravel`."""
    value = as_array(a)
    if isinstance(value, DynamicSlice):
        value = without_gaps(value)
        result = value if value.ndim == 1 else compacted_elements.with_shape(value, (-1,))
        if isinstance(a, StridedElements) and a.is_view and (integer_bounds.interval(a.spread.count)[0] or 0) < 2:
            result.base.root.doubt = _of_a_single
        return result
    return value.transposed(_axes_by(order, value)).contiguous().with_shape((value.size,))


def without_gaps(part: DynamicSlice) -> DynamicSlice:
    """A part of traced length: itself if NumPy would have its elements contiguous in memory, else a copy."""
    first = next((axis for axis, size in enumerate(part.base.shape) if size != 1), 0)
    base = part.base.contiguous()
    if base is part.base:
        if not any(part.stretches[first + 1 :]):
            return part
        base = Array.of(operand(base))
    base.root.doubt = _of_a_single
    return DynamicSlice(base, part.stretches)


def _of_a_single() -> NxTypeError:
    return NxTypeError(
        message(
            "an array without gaps is assigned into, made of elements that are some places apart: a single one is seen "
            "where it is, several are a copy, and how many there are only the running program knows.",
            "x.flatten() is a copy always; x[...] = values assigns into the array itself.",
        )
    )


def _axes_by(order: str, value: Array) -> Shape:
    """The axes of an array from slowest to fastest varying, by an ``order=``."""
    strides = value.strides_in_memory
    if order in ("A", "K"):
        value.record_order_dependence()
    if order == "K":
        return tuple(sorted(range(value.ndim), key=lambda axis: -abs(strides[axis])))
    return tuple(range(value.ndim))[:: -1 if memory_order.is_fortran(value.shape, order, strides) else 1]


def _flatten(self: ArrayValue, order: str = "C") -> Any:
    """A copy of all elements along one axis, as :meth:`numpy.ndarray.flatten`."""
    return ravel(copy(self), order)


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """The elements in a new array, as :func:`numpy.copy`."""
    value = as_value(a)
    if isinstance(value, Scalar):
        return Array.of(value.node)
    if isinstance(value, DynamicSlice):
        return DynamicSlice(copy(value.base), value.stretches)
    if isinstance(value, MaskedElements):
        return value.copied()
    result, strides = Array.of(operand(value)), memory_order.of_order(value.shape, order, value.strides_in_memory)
    return result.laid_out_as([value] if order in ("A", "K") else [], strides)


def _copy_method(self: ArrayValue, order: str = "C") -> Any:
    """A copy, as :meth:`numpy.ndarray.copy`; scalars are immutable and returned unchanged."""
    return self if isinstance(self, Scalar) else copy(self, order)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """The elements in another type, as :func:`numpy.astype`."""
    return _astype_method(as_value(x), dtype, copy=copy)


def _astype_method(
    self: ArrayValue, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    """The elements in another type, as :meth:`numpy.ndarray.astype`."""
    type_ = type_of(dtype, self.type)
    if not copy and self.type is type_:
        if order == "K" or not isinstance(self, Array) or (order == "A" and self.contiguous("F") is self):
            return self
        return self.contiguous("C" if order == "A" else order)

    def convert_one(one: ArrayValue) -> ArrayValue:
        result = cast(operand(one), type_)
        if one.shape and isinstance(one, Array):
            strides = memory_order.of_order(one.shape, order, one.strides_in_memory)
            return Array.of(result).laid_out_as([one] if order in ("A", "K") else [], strides)
        return Array.of(result) if isinstance(one, Array) else wrap(result)

    return lifted(convert_one, [self])


def transpose(a: Any, axes: Any = None) -> Any:
    """The axes in another order, a view, as :func:`numpy.transpose`."""
    value = as_array(a)
    if axes is None:
        return value.T
    order = tuple(normalize_axis(axis, (0,) * value.ndim) for axis in sizes(axes))
    if sorted(order) != list(range(value.ndim)):
        raise NxValueError(f"axes={axes!r} is no order of {value.ndim} axes")
    if isinstance(value, DynamicSlice):
        return DynamicSlice(value.base.transposed(order), tuple(value.stretches[axis] for axis in order))
    return value.transposed(order)


permute_dims = transpose


def _transpose_method(self: ArrayValue, *axes: Any) -> Any:
    """The axes in another order, a view, as :meth:`numpy.ndarray.transpose`."""
    if not axes or axes == (None,):
        return transpose(self)
    return transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


def matrix_transpose(x: Any, /) -> Any:
    """Transposed matrices, as :func:`numpy.matrix_transpose`."""
    return as_array(x).mT


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes interchanged, a view, as :func:`numpy.swapaxes`."""
    value = as_array(a)
    order = list(range(value.ndim))
    one, two = (normalize_axis(axis, (0,) * value.ndim) for axis in (axis1, axis2))
    order[one], order[two] = order[two], order[one]
    return transpose(value, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved elsewhere, a view, as :func:`numpy.moveaxis`."""
    value = as_array(a)
    like = (0,) * value.ndim
    taken = [normalize_axis(axis, like) for axis in sizes(source)]
    placed = [normalize_axis(axis, like) for axis in sizes(destination)]
    order = [axis for axis in range(value.ndim) if axis not in taken]
    for position, axis in sorted(zip(placed, taken, strict=True)):
        order.insert(position, axis)
    return transpose(value, order)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """An axis moved in front of another, as :func:`numpy.rollaxis`."""
    value = as_array(a)
    axis = normalize_axis(axis, (0,) * value.ndim)
    start = start + value.ndim if start < 0 else start
    return moveaxis(value, axis, start - 1 if axis < start else start)


def squeeze(a: Any, axis: Any = None) -> Any:
    """The array without axes of size 1, a view, as :func:`numpy.squeeze`."""
    value = as_array(a)
    if not value.shape:
        axis = of_scalar(axis)
    if axis is None:
        positions = [position for position in range(value.ndim) if _is_single(value, position)]
    else:
        positions = [normalize_axis(position, (0,) * value.ndim) for position in sizes(axis)]
        for position in positions:
            if not _is_single(value, position):
                raise NxValueError(f"squeeze removes axes of size 1, axis {position} has {value.shape[position]}")
    if not positions:
        return value
    return value[tuple(0 if position in positions else slice(None) for position in range(value.ndim)) + (...,)]


def _is_single(value: Array | DynamicSlice, position: int) -> bool:
    """Whether an axis has one element; a traced length that may be 1, or may not, is asked for."""
    stretch = value.stretches[position] if isinstance(value, DynamicSlice) else None
    if stretch is None:
        return value.shape[position] == 1
    if is_one(stretch.length) or is_several(stretch.length):
        return is_one(stretch.length)
    raise subscripts.needed(
        value.traced_length,
        f"squeeze leaves out axes of one element, and whether axis {position} has one only the running program knows.",
        "np.squeeze(x, axis=k) leaves out axis k, whatever the others are; x[0] has the first element.",
    )


def expand_dims(a: Any, axis: Any) -> Any:
    """New axes of size 1, a view, as :func:`numpy.expand_dims`."""
    value = as_array(a)
    axes = sizes(axis)
    positions = {normalize_axis(position, (0,) * (value.ndim + len(axes))) for position in axes}
    return value[tuple(None if position in positions else slice(None) for position in range(value.ndim + len(axes)))]


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """An array broadcast to a shape, read-only, as :func:`numpy.broadcast_to`."""
    value, wanted = as_array(array), sizes(shape)
    if not spreads(value.shape, wanted):
        raise NxValueError(f"cannot broadcast {text(value.shape) or '()'} to {text(wanted) or '()'}")
    return value.spread_to(wanted)


def broadcast_shapes(*args: Any) -> Shape:
    """The shape that shapes broadcast to, as :func:`numpy.broadcast_shapes`."""
    result: Shape = ()
    for one in args:
        result = shapes_together(result, sizes(one))
    return result


def flip(m: Any, axis: Any = None) -> Any:
    """The order of elements reversed along axes, a view, as :func:`numpy.flip`."""
    value = as_array(m)
    if isinstance(value, DynamicSlice):
        return flipped(value, axis)
    positions = (
        range(value.ndim) if axis is None else [normalize_axis(position, value.shape) for position in sizes(axis)]
    )
    # Of an array without axes that is a copy.
    return value[tuple(slice(None, None, -1) if k in positions else slice(None) for k in range(value.ndim))]


def fliplr(m: Any) -> Any:
    """The order of columns reversed, as :func:`numpy.fliplr`."""
    return flip(m, 1)


def flipud(m: Any) -> Any:
    """The order of rows reversed, as :func:`numpy.flipud`."""
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """The array rotated by multiples of 90 degrees, as :func:`numpy.rot90`."""
    value, k = as_array(m), k % 4
    one, two = (normalize_axis(axis, value.shape) for axis in axes)
    if k == 0:
        return value.view_all()
    if k == 2:
        return flip(value, (one, two))
    return swapaxes(flip(value, two), one, two) if k == 1 else flip(swapaxes(value, one, two), two)


def tile(A: Any, reps: Any) -> Any:  # noqa: N803 - NumPy's name
    """An array repeated as a whole, as :func:`numpy.tile`."""
    value, counts = as_array(A), sizes(reps)
    rank = max(value.ndim, len(counts))
    counts, own = (1,) * (rank - len(counts)) + counts, (1,) * (rank - value.ndim) + value.shape
    if set(counts) <= {1}:
        return copy(value.with_shape(own))
    apart = tuple(n for pair in zip((1,) * rank, own, strict=True) for n in pair)
    spread = tuple(n for pair in zip(counts, own, strict=True) for n in pair)
    data = operand(broadcast_to(wrap(reshaped(operand(value), apart)), spread))
    return wrap(reshaped(data, tuple(m * n for m, n in zip(counts, own, strict=True))))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element repeated, as :func:`numpy.repeat`."""
    value, position = along(as_array(a), axis)
    if isinstance(repeats, ArrayValue | Operand) and not as_value(repeats).ndim:
        repeats = subscripts.static(repeats)
    if isinstance(repeats, ArrayValue | Operand):
        found = subscripts.known_elements(as_value(repeats))
        repeats = repeats if found is None else found
    if isinstance(repeats, ArrayValue | Operand):
        raise NxTypeError(
            message(
                f"repeat takes known numbers of times, got {as_value(repeats).__nx_operand__().spec}: how many "
                "elements it gives only the running program would know.",
                "Make them an option, or known arrays, or take a known number n of elements from where they come:",
                "x[np.searchsorted(np.cumsum(repeats), np.arange(n), side='right')].",
            )
        )
    if isinstance(repeats, int | np.integer):
        before, after = value.shape[: position + 1], value.shape[position + 1 :]
        apart = wrap(reshaped(operand(value), (*before, 1, *after)))
        data = operand(broadcast_to(apart, (*before, int(repeats), *after)))
        return wrap(reshaped(data, (*before[:-1], before[-1] * int(repeats), *after)))
    indices = np.repeat(np.arange(value.shape[position]), repeats)
    return value[(*(slice(None),) * position, indices)]


def resize(a: Any, new_shape: Any) -> Any:
    """The elements in another shape, repeated or cut, as :func:`numpy.resize`."""
    value, wanted = ravel(a), sizes(new_shape)
    count = math.prod(wanted)
    value = tile(value, -(-count // max(value.size, 1)))
    return reshape(value[:count], wanted)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """An array without the zeros at its ends, as :func:`numpy.trim_zeros`; refused while a definition is traced."""
    if tracing.current() is None:
        return of_numpy(np.trim_zeros(np.asarray(operand(as_value(filt))), trim, axis))
    line = as_array(filt)
    if values_of_call.are_told() and line.ndim == 1:
        return _trimmed(line, trim.lower())
    raise NxTypeError(
        message("trim_zeros gives as many elements as only the running program knows.", "Keep the zeros.")
    )


def _trimmed(line: Array, trim: str) -> Any:
    """A vector without the zeros at its ends, of which the trace asks where they end."""
    shape = line.shape
    numbers = apply(p.iota, type=s64, shape=shape, names=unnamed(shape), axis=0)
    places = sized(compacted_elements.compacted(wrap(numbers), operand(line != 0), 0))
    if not isinstance(places.shape[0], int) or not places.shape[0]:
        return line[:0]
    low = values_of_call.number(places[0]) if "f" in trim else 0
    high = values_of_call.number(places[-1]) + 1 if "b" in trim else shape[0]
    return line[low:high]


def element_slice(value: Operand, axis: int, low: int, count: int) -> Operand:
    """`count` elements along an axis, from `low` on."""
    along = [AxisSlice(low, count) if k == axis else AxisSlice(0, n) for k, n in enumerate(value.shape)]
    return Index(value.shape, tuple(along), tuple(range(len(along)))).read(value)
