"""Slicing, splitting, and the subscripts ``t[...]`` of tensors."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, elementwise, filled, lasting, operand
from nxkernel.ops.shapes import masks
from nxkernel.ops.shapes.gathering import check_not_empty, known, take, whole_indices
from nxkernel.ops.shapes.shaping import rename
from nxkernel.shapes import normalize_axis, static_int, text
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import s64

__all__ = ["put_slice", "slice", "slice_along_axis", "split"]


def slice(
    tensor: Any, start_indices: Sequence[Any], lengths: Sequence[int], *, strides: int | Sequence[int] = 1
) -> Tensor | Expr:
    """Take a slice, given by its start and length along each axis.

    Parameters
    ----------
    tensor : tensor
    start_indices : list of int or scalar tensor
        One for each axis. Tensors are clamped so that the part lies inside.
    lengths : list of int
        The length along each axis.
    strides : int or list of int, optional
        Of these only every so many-th.

    Returns
    -------
    Tensor

    Raises
    ------
    NxIndexError
        When a start that is a number, with its length, leaves the tensor.

    Examples
    --------
    >>> nx.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, 2]).to_list()
    [[2, 3], [5, 6]]
    >>> nx.slice([1, 2, 3], [nx.tensor(9)], [2]).to_list()
    [2, 3]
    """
    tensor = lasting(tensor, "tensor")
    starts = _one_each(start_indices, tensor, "slice: start_indices")
    lengths = _one_each(lengths, tensor, "slice: lengths")
    lengths = tuple(static_int(length, "a length of a slice") for length in lengths)
    if isinstance(strides, int):
        strides = (strides,) * tensor.rank
    strides = tuple(static_int(stride, "a stride") for stride in _one_each(strides, tensor, "slice: strides"))
    for axis, (size, length, stride) in enumerate(zip(tensor.shape, lengths, strides, strict=True)):
        if not 0 <= length <= size:
            raise NxIndexError(f"slice: the length {length} does not fit axis {axis} of {tensor.spec}")
        if stride < 1:
            raise NxValueError(f"slice: a stride is at least 1, got {stride} for axis {axis}; see nx.reverse")
    if any(isinstance(start, Operand) for start in starts):
        clamped = [_dynamic(start, size - n) for start, size, n in zip(starts, tensor.shape, lengths, strict=True)]
        return apply(primitives.dynamic_slice, tensor, *clamped, lengths=lengths, strides=strides)
    starts = [_inside(start, n, axis, tensor) for axis, (start, n) in enumerate(zip(starts, lengths, strict=True))]
    return _sliced(tensor, starts, lengths, strides)


def put_slice(tensor: Any, start_indices: Sequence[Any], slice: Any) -> Tensor | Expr:
    """Replace a slice, given by its start along each axis.

    Parameters
    ----------
    tensor : tensor
    start_indices : list of int or scalar tensor
        One for each axis. Tensors are clamped so that the part lies inside.
    slice : tensor or number
        The part, with as many axes as `tensor`.

    Returns
    -------
    Tensor
        A new tensor; the types of the two merged, and their names.

    Raises
    ------
    NxIndexError
        When a start that is a number, with the part's length, leaves the tensor.
    NxValueError
        When the part has another number of axes, or is longer than the tensor.

    Examples
    --------
    >>> nx.put_slice([0, 1, 2, 3, 4], [2], [5, 6]).to_list()
    [0, 1, 5, 6, 4]
    >>> nx.put_slice([[1, 2, 3], [4, 5, 6]], [0, nx.tensor(9)], [[7], [8]]).to_list()
    [[1, 2, 7], [4, 5, 8]]
    """
    tensor, part = operand(tensor, "tensor"), operand(slice, "slice")
    starts = _one_each(start_indices, tensor, "put_slice: start_indices")
    if part.rank != tensor.rank or any(n > size for n, size in zip(part.shape, tensor.shape, strict=True)):
        raise NxValueError(
            message(
                f"put_slice: the part {part.spec} does not fit into {tensor.spec}.",
                "It has as many axes, and none is longer.",
            )
        )
    names = shapes.merge_names(tensor.names, part.names)
    type_ = types.merge(tensor.type, part.type)
    places = [
        _dynamic(start, size - n)
        if isinstance(start, Operand)
        else filled(_inside(start, n, axis, tensor, "put_slice"), s64, ())
        for axis, (start, size, n) in enumerate(zip(starts, tensor.shape, part.shape, strict=True))
    ]
    tensor = rename(convert(tensor, type_), names)
    return apply(primitives.put_slice, tensor, convert(part, type_), *places)


def _one_each(values: Any, tensor: Operand, what: str) -> Sequence[Any]:
    if isinstance(values, Operand) or not isinstance(values, list | tuple):
        raise NxTypeError(f"{what} is a list with an entry for each axis, got {shapes.describe(values)}")
    if len(values) != tensor.rank:
        raise NxValueError(f"{what} has {len(values)} entries, {tensor.spec} has {tensor.rank} axes")
    return values


def _inside(start: Any, length: int, axis: int, tensor: Operand, function: str = "slice") -> int:
    start, size = static_int(start, "the start of a slice"), tensor.shape[axis]
    if not 0 <= start <= size - length:
        raise NxIndexError(
            message(
                f"{function}: {length} elements from {start} leave axis {axis} of {tensor.spec}.",
                f"The start is from 0 to {size - length}.",
            )
        )
    return start


def _dynamic(start: Any, highest: int) -> Operand:
    """A start index, known or traced, as an s64 scalar."""
    if not isinstance(start, Operand):
        return filled(min(max(static_int(start, "the start of a slice"), 0), highest), s64, ())
    if start.shape or not start.type.is_integer:
        raise NxTypeError(f"an index is a scalar of an integer type, got {start.spec}")
    if start.type is types.u64:
        # The upper half of its numbers would be negative ones of s64.
        start = elementwise(primitives.minimum, start, highest)
    return convert(start, s64)


def _sliced(tensor: Operand, starts: Any, lengths: Any, strides: Any) -> Tensor | Expr:
    if lengths == tensor.shape and set(strides) <= {1}:
        return tensor
    return apply(primitives.slice_, tensor, starts=tuple(starts), lengths=tuple(lengths), strides=tuple(strides))


def slice_along_axis(
    tensor: Any, start_index: Any, length: int, *, axis: int | str = 0, strides: int = 1
) -> Tensor | Expr:
    """Take a slice along one axis, and all of the others.

    Parameters
    ----------
    tensor : tensor
    start_index : int or scalar tensor
        A tensor is clamped so that the part lies inside.
    length : int
    axis : int or str, optional
    strides : int, optional
        Only every so many-th.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.slice_along_axis([[1, 2, 3], [4, 5, 6]], 1, 2, axis=1).to_list()
    [[2, 3], [5, 6]]
    """
    tensor = lasting(tensor, "tensor")
    position = normalize_axis(axis, tensor.shape, tensor.names)
    starts, lengths, steps = [0] * tensor.rank, list(tensor.shape), [1] * tensor.rank
    starts[position], lengths[position], steps[position] = start_index, length, strides
    return slice(tensor, starts, lengths, strides=steps)


def split(tensor: Any, split: int | float, *, axis: int | str = 0) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Cut a tensor in two along an axis.

    Parameters
    ----------
    tensor : tensor
    split : int or float
        The length of the first part; negative counts from the end; a float between 0 and 1 is a share, rounded up.
    axis : int or str, optional

    Returns
    -------
    tuple of two tensors

    Raises
    ------
    NxValueError
        When a part would be empty.

    Examples
    --------
    >>> train, test = nx.split([1, 2, 3, 4], 0.75)
    >>> train.to_list(), test.to_list()
    ([1, 2, 3], [4])
    """
    tensor = lasting(tensor, "tensor")
    position = normalize_axis(axis, tensor.shape, tensor.names)
    size = tensor.shape[position]
    if isinstance(split, float):
        first = math.ceil(size * split) if math.isfinite(split) else 0
    else:
        first = static_int(split, "the place of a split")
        first += size if first < 0 else 0
    if not 0 < first < size:
        raise NxValueError(
            message(
                f"split {split!r} of axis {position} with size {size} leaves a part empty.",
                "A whole number counts elements of the first part, a float between 0 and 1 is its share.",
            )
        )
    head = slice_along_axis(tensor, 0, first, axis=position)
    return head, slice_along_axis(tensor, first, size - first, axis=position)


def index(tensor: Operand, key: Any) -> Tensor | Expr:
    """The result of ``t[key]``: ints drop their axis, slices keep it, None adds one, index tensors are clamped.

    Parameters
    ----------
    tensor : tensor
    key : int, slice, None, Ellipsis, tensor, list of int, a tuple of these, or a dict from axis names to them
        A scalar tensor is an index that only the running program knows. One tensor, array or list with axes takes
        elements, as :func:`take` does; numbers in an array or list are checked, and may count from the end. A mask,
        which is bool, picks from as many axes as it has, where its values are known: not those of a running program.

    Returns
    -------
    Tensor

    Raises
    ------
    NxIndexError
        When a number is outside its axis, there are more indices than axes, or a mask has another shape.

    Examples
    --------
    >>> t = nx.iota((2, 3), names=["row", "column"])
    >>> t[1, ::-1].to_list(), t[{"column": 0}].to_list()
    ([5, 4, 3], [0, 3])
    >>> t[:, [2, 0]].to_list()
    [[2, 0], [5, 3]]
    >>> t[t > 3].to_list()
    [4, 5]
    """
    tensor, key = masks.as_positions(tensor, key)
    entries = _aligned(tensor, key)
    starts, lengths, strides, dynamic = [], [], [], {}
    shape, names, axis, picked = [], [], 0, None
    for entry in entries:
        if entry is None:
            shape.append(1)
            names.append(None)
            continue
        size = tensor.shape[axis]
        if isinstance(entry, builtins.slice):
            start, length, stride = _static_slice(entry, size)
            shape.append(shapes.ceil_div(length, abs(stride)))
            names.append(tensor.names[axis])
        elif isinstance(entry, Operand | np.ndarray) and not entry.ndim:
            indices = _indices(entry, axis, tensor)
            check_not_empty(tensor, [axis], indices, "t[...]")
            dynamic[axis] = _dynamic(indices, size - 1)
            start, length, stride = 0, size, 1
        elif isinstance(entry, Operand | np.ndarray | list):
            if picked is not None:
                raise NxTypeError(
                    message(
                        "an index has at most one tensor or list with axes.",
                        "nx.gather takes elements at coordinates of several axes.",
                    )
                )
            picked = len(shape), _indices(entry, axis, tensor)
            start, length, stride = 0, size, 1
            shape.append(size)
            names.append(tensor.names[axis])
        else:
            start, length, stride = _static_index(entry, axis, tensor), 1, 1
        starts.append(start)
        lengths.append(length)
        strides.append(stride)
        axis += 1
    part = _sliced(tensor, starts, tuple(lengths), strides)
    if dynamic:
        lengths = tuple(1 if axis in dynamic else size for axis, size in enumerate(part.shape))
        places = [dynamic[axis] if axis in dynamic else filled(0, s64, ()) for axis in range(tensor.rank)]
        part = apply(primitives.dynamic_slice, part, *places, lengths=lengths, strides=(1,) * tensor.rank)
    if part.shape != tuple(shape) or part.names != tuple(names):
        part = apply(primitives.reshape, part, shape=tuple(shape), names=tuple(names))
    return part if picked is None else take(part, picked[1], axis=picked[0])


def _aligned(tensor: Operand, key: Any) -> list[Any]:
    """A key as one entry for each axis, and None where an axis is added."""
    if isinstance(key, dict):
        return _by_name(tensor, key)
    entries = list(key) if isinstance(key, tuple) else [key]
    count = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if count > tensor.rank:
        raise NxIndexError(f"{count} indices for {tensor.rank} axes: the tensor is {tensor.spec}")
    gaps = [position for position, entry in enumerate(entries) if entry is Ellipsis]
    if len(gaps) > 1:
        raise NxIndexError("an index has at most one `...`")
    position = gaps[0] if gaps else len(entries)
    entries[position : position + 1] = [builtins.slice(None)] * (tensor.rank - count)
    return entries


def _by_name(tensor: Operand, key: dict) -> list[Any]:
    """A dict key as one entry for each axis; axes that it does not name are taken whole."""
    entries: dict[int, Any] = {}
    for name, entry in key.items():
        axis = normalize_axis(name, tensor.shape, tensor.names)
        if entry is None or entry is Ellipsis:
            shown = "None" if entry is None else "`...`"
            raise NxTypeError(
                message(
                    f"an index of the axis {name!r} is a number, a slice, a tensor or a list, got {shown}.",
                    "Axes that a dict does not name stay; nx.new_axis adds one.",
                )
            )
        if axis in entries:
            raise NxIndexError(f"an index has two entries for axis {axis} of {tensor.spec}, the second at {name!r}")
        entries[axis] = entry
    return [entries.get(axis, builtins.slice(None)) for axis in range(tensor.rank)]


def _static_slice(entry: builtins.slice, size: int) -> tuple[int, int, int]:
    """Start, length and stride of a Python slice, clamped to its axis."""
    bounds = [
        None if bound is None else static_int(bound, "a bound of a slice")
        for bound in (entry.start, entry.stop, entry.step)
    ]
    if bounds[2] == 0:
        raise NxValueError("the step of a slice cannot be 0")
    start, stop, stride = builtins.slice(*bounds).indices(size)
    count = len(range(start, stop, stride))
    if not count:
        return 0, 0, 1
    return start, (count - 1) * abs(stride) + 1, stride


def _indices(entry: Any, axis: int, tensor: Operand) -> Operand:
    """An index tensor, array or list; indices that are known are checked.

    Numbers in arrays and lists may count from the end.
    """
    empty = isinstance(entry, list | np.ndarray) and np.shape(entry) == (0,)
    indices = operand(np.zeros(0, np.int64) if empty else entry, "index")
    if not indices.rank and indices.type.kind in ("f", "bf", "c"):
        raise NxTypeError(f"an index is a scalar of an integer type, got {indices.spec}")
    whole_indices(indices, "t[...]")
    numbers, size = known(entry, indices), tensor.shape[axis]
    if numbers is None:
        # An array that a definition makes is an input of its program: it cannot be checked, only counted.
        return _from_the_end(indices, size) if isinstance(entry, np.ndarray) else indices
    outside = numbers[(numbers < -size) | (numbers >= size)]
    if outside.size:
        _static_index(int(outside[0]), axis, tensor)
    numbers = numbers.astype(np.int64)
    return operand(np.where(numbers < 0, numbers + size, numbers), "index")


def _from_the_end(indices: Operand, size: int) -> Tensor | Expr:
    """Traced indices, with the size of the axis added to negative ones."""
    if indices.type.kind != "s":
        return indices
    indices = convert(indices, s64)
    negative = elementwise(primitives.less, indices, 0)
    return apply(primitives.select, negative, elementwise(primitives.add, indices, size), indices)


def _static_index(entry: Any, axis: int, tensor: Operand) -> int:
    if isinstance(entry, bool) or not hasattr(entry, "__index__") or isinstance(entry, np.ndarray):
        raise NxTypeError(
            message(
                f"an index is a whole number, a slice, None, `...`, a tensor or a list, got {shapes.describe(entry)}.",
                'An axis is named with a dict: t[{"row": 0}].'
                if isinstance(entry, str)
                else "Parts are taken with slices: t[1:3].",
            )
        )
    return shapes.place_in(tensor.shape[axis], entry.__index__(), axis, text(tensor.shape, tensor.names))
