"""NumPy's products: dot, matmul, tensordot, einsum, outer, inner, kron, cross."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.numpy.arrays import dynamic_slices, memory_order
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, wrap
from nxkernel.numpy.arrays.casting import type_of
from nxkernel.numpy.arrays.masked_elements import MaskedElements
from nxkernel.numpy.arrays.views import reshaped
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.joining import join_new
from nxkernel.numpy.functions.shaping import in_one_axis, moveaxis
from nxkernel.numpy.functions.ufunc import finished, strong
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, merged, operand, spread
from nxkernel.shapes import broadcast_shapes, normalize_axis, text

__all__ = [
    "cross", "diag", "diagflat", "diagonal", "dot", "einsum", "inner", "kron", "linalg_outer", "matmul", "matvec",
    "outer", "tensordot", "trace", "vdot", "vecdot", "vecmat",
]  # fmt: skip

Axes = Sequence[int]


def product(
    left: Operand, right: Operand, over: Axes, other: Axes, batch: Axes = (), other_batch: Axes = ()
) -> Operand:
    """A tensor contraction: the batch axes come first, then the remaining axes of both operands."""
    type_ = merged(left, right)
    computed = types.s64 if type_ is types.bool_ else type_
    left, right = convert(left, computed), convert(right, computed)
    pairs = (tuple(over), tuple(other)), (tuple(batch), tuple(other_batch))
    result = apply(p.dot, left, right, contract=pairs[0], batch=pairs[1])
    if type_ is types.bool_:
        return apply(p.not_equal, result, filled(0, computed, result.shape))
    return result


def _values(*arrays: Any) -> tuple[ArrayValue, ...]:
    """Arguments as arrays; a Python number is one of its own type here, and not of the other array's."""
    return tuple([strong(as_value(array)) for array in arrays])


def _special(left: ArrayValue, right: ArrayValue) -> Any:
    """The product of operands with traced length or masked elements; None for ordinary arrays."""
    if isinstance(left, MaskedElements) or isinstance(right, MaskedElements):
        if left.ndim == right.ndim == 1:
            return _total(e.multiply(left, right))
        left, right = (side.compact() if isinstance(side, MaskedElements) else side for side in (left, right))
    return dynamic_slices.matmul(left, right, product) if dynamic_slices.any_part([left, right]) else None


def _total(products: ArrayValue, axis: int | None = None) -> Any:
    """The sum of products in their own type; NumPy does not widen narrow integers here as it does in sums."""
    return reductions.sum(products, axis=axis, dtype=products.dtype)


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product of vectors or matrices, as :func:`numpy.dot`."""
    left, right = _values(a, b)
    if not left.ndim or not right.ndim:
        return e.multiply(left, right, out=out)
    result = _special(left, right)
    if result is None:
        over = right.ndim - 2 if right.ndim > 1 else 0
        result = wrap(product(operand(left), operand(right), [left.ndim - 1], [over]))
    return finished(result, out, True, "dot")


def matmul(x1: Any, x2: Any, out: Any = None, *, dtype: Any = None) -> Any:
    """The product of matrices in the last two axes, as :func:`numpy.matmul`."""
    left, right = _values(x1, x2)
    if not left.ndim or not right.ndim:
        raise NxTypeError(message("@ multiplies matrices and vectors, not scalars.", "Scalars multiply with *."))
    if dtype is not None:
        left, right = (side.astype(dtype) for side in (left, right))
    result = _special(left, right)
    if result is None:
        result = wrap(_matmul(operand(left), operand(right)))
    return finished(result, out, True, "matmul")


def _matmul(a: Operand, b: Operand) -> Operand:
    ranks = len(a.shape), len(b.shape)
    if ranks[1] == 1:
        return product(a, b, [ranks[0] - 1], [0])
    if ranks[0] == 1:
        return product(a, b, [0], [ranks[1] - 2]) if ranks[1] == 2 else _row(a, b)
    if ranks[1] == 2:
        return product(a, b, [ranks[0] - 1], [0])
    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (spread(side, batch + side.shape[-2:]) for side in (a, b))
    shared, rank = range(len(batch)), len(a.shape)
    return product(a, b, [rank - 1], [rank - 2], shared, shared)


def _row(a: Operand, b: Operand) -> Operand:
    result = _matmul(reshaped(a, (1, *a.shape)), b)
    return reshaped(result, (*result.shape[:-2], result.shape[-1]))


def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: int = -1) -> Any:
    """Dot products of vectors along an axis, as :func:`numpy.vecdot`."""
    values = _values(x1, x2)
    left, right = [side if axis == -1 else moveaxis(side, axis, -1) for side in values]
    sizes = [side.shape[-1] if side.ndim else None for side in (left, right)]
    if None in sizes or (all(isinstance(size, int) for size in sizes) and sizes[0] != sizes[1]):
        raise NxValueError(
            message(
                f"vecdot multiplies vectors of one size, got {' and '.join([text(side.shape) for side in values])} "
                f"along axis {axis}.",
                "np.sum(a * b, axis=-1) takes what broadcasts.",
            )
        )
    return finished(_total(e.multiply(left.conj(), right), -1), out, True, "vecdot")


def matvec(x1: Any, x2: Any, /, out: Any = None) -> Any:
    """Matrix-vector products, as :func:`numpy.matvec`."""
    return finished(matmul(x1, as_value(x2)[..., None])[..., 0], out, True, "matvec")


def vecmat(x1: Any, x2: Any, /, out: Any = None) -> Any:
    """Vector-matrix products, as :func:`numpy.vecmat`."""
    return finished(matmul(as_value(x1).conj()[..., None, :], x2)[..., 0, :], out, True, "vecmat")


def inner(a: Any, b: Any, /) -> Any:
    """Sums of products over the last axes, as :func:`numpy.inner`."""
    left, right = _values(a, b)
    if not left.ndim or not right.ndim:
        return e.multiply(left, right)
    result = _special(left, right.T if right.ndim == 2 else right)
    if result is not None:
        return result
    return wrap(product(operand(left), operand(right), [left.ndim - 1], [right.ndim - 1]))


def vdot(a: Any, b: Any, /) -> Any:
    """The dot product of flattened arrays, the first conjugated, as :func:`numpy.vdot`."""
    left, right = _values(a, b)
    left = e.conjugate(left) if left.type.is_complex else left
    return dot(*(side if side.ndim == 1 else in_one_axis(side) for side in (left, right)))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """The outer product, as :func:`numpy.outer`."""
    left, right = (value if value.ndim == 1 else in_one_axis(value) for value in _values(a, b))
    return e.multiply(left[:, None], right[None, :], out=out)


def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """The outer product of two vectors, as ``numpy.linalg.outer``."""
    return outer(x1, x2)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """A tensor contraction over the given axes, as :func:`numpy.tensordot`."""
    left, right = map(operand, _values(a, b))
    if isinstance(axes, int):
        ours, theirs = list(range(len(left.shape) - axes, len(left.shape))), list(range(axes))
    else:
        ours, theirs = ([side] if isinstance(side, int) else list(side) for side in axes)
    ours = [normalize_axis(axis, left.shape) for axis in ours]
    theirs = [normalize_axis(axis, right.shape) for axis in theirs]
    return wrap(product(left, right, ours, theirs))


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product, as :func:`numpy.kron`."""
    left, right = _values(a, b)
    rank = max(left.ndim, right.ndim)
    sizes = [(1,) * (rank - side.ndim) + side.shape for side in (left, right)]
    apart = [tuple(n for pair in zip(*sizes_, strict=True) for n in pair) for sizes_ in (
        (sizes[0], (1,) * rank), ((1,) * rank, sizes[1]))]  # fmt: skip
    result = e.multiply(
        *[wrap(reshaped(operand(side), shape)) for side, shape in zip((left, right), apart, strict=True)]
    )
    return wrap(reshaped(operand(result), tuple(m * n for m, n in zip(*sizes, strict=True))))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The cross product of vectors, as :func:`numpy.cross`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = moveaxis(as_value(a), axisa, -1), moveaxis(as_value(b), axisb, -1)
    sizes = left.shape[-1], right.shape[-1]
    if not {2, 3}.issuperset(sizes):
        raise NxValueError(
            message(
                f"cross takes vectors of 2 or 3 elements, got {sizes[0]} and {sizes[1]}.",
                "axis= says along which axis the elements of a vector lie; the last one does otherwise.",
            )
        )
    x, y = ([side[..., k] for k in range(side.shape[-1])] for side in (left, right))
    if sizes == (2, 2):
        return e.subtract(e.multiply(x[0], y[1]), e.multiply(x[1], y[0]))
    result = [_of_others(x, y, (k + 1) % 3, (k + 2) % 3) for k in range(3)]
    return moveaxis(wrap(join_new(result, -1)), -1, axisc)


def _of_others(x: list[Any], y: list[Any], one: int, other: int) -> Any:
    """One element of a cross product, of two others; what a vector of two elements lacks makes no product."""
    first = e.multiply(x[one], y[other]) if one < len(x) and other < len(y) else None
    second = e.multiply(x[other], y[one]) if other < len(x) and one < len(y) else None
    if second is None:
        return first
    return e.negative(second) if first is None else e.subtract(first, second)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal as a read-only view, as :func:`numpy.diagonal`."""
    value = as_value(a)
    axes = normalize_axis(axis1, value.shape), normalize_axis(axis2, value.shape)
    return value.diagonal_of(offset, axes)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sum of a diagonal, as :func:`numpy.trace`."""
    return reductions.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def diag(v: Any, k: int = 0) -> Any:
    """A diagonal of a matrix, or a matrix with the given diagonal, as :func:`numpy.diag`."""
    value = as_value(v)
    if value.ndim == 2:
        return diagonal(value, k)
    if value.ndim != 1:
        raise NxValueError(f"diag takes one or two axes, got {value.ndim}")
    size = value.shape[0] + abs(k)
    rows, columns = (
        apply(p.iota, type=types.s64, shape=(size, size), names=(None, None), axis=axis) for axis in (0, 1)
    )
    on_it = apply(p.equal, apply(p.subtract, columns, rows), filled(k, types.s64, (size, size)))
    low = max(-k, 0)
    config = ((max(k, 0), low, 0),)
    padded = apply(p.pad, operand(value), filled(0, value.type, ()), config=config)
    return wrap(apply(p.select, on_it, spread(padded, (size, size)), filled(0, value.type, (size, size))))


def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with the flattened input as a diagonal, as :func:`numpy.diagflat`."""
    return diag(in_one_axis(as_value(v)), k)


def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, order: str = "K", casting: Any = None, optimize: Any = False
) -> Any:
    """The Einstein summation, as :func:`numpy.einsum`."""
    if not isinstance(operands[0], str):
        raise NxTypeError(message("einsum takes its subscripts as text first.", 'Write np.einsum("ij,jk->ik", a, b).'))
    values = [operand(as_value(value)) for value in operands[1:]]
    inputs, result = _subscripts(operands[0], values)
    if (
        len(inputs) == 1
        and set(inputs[0]) == set(result)
        and out is None
        and type_of(dtype, values[0].type) is values[0].type
    ):
        return _rearranged(as_value(operands[1]), inputs[0], result)
    common = functools.reduce(types.merge, [value.type for value in values])
    common = type_of(dtype, common)
    terms = [(labels, convert(value, common)) for labels, value in zip(inputs, values, strict=True)]
    terms = [_without_repeats(*term) for term in terms]
    while len(terms) > 1:
        first, second, *rest = terms
        needed = set(result).union(*(labels for labels, _ in rest))
        terms = [_pair(first, second, needed), *rest]
    labels, value = _summed(*terms[0], set(result))
    found = apply(p.transpose, value, axes=tuple(labels.index(label) for label in result)) if labels else value
    return finished(_ordered(wrap(found), operands, order, optimize), out, True, "einsum")


def _ordered(result: Any, operands: Sequence[Any], order: str, optimize: Any) -> Any:
    """The result of einsum in the memory order that NumPy gives it."""
    arrays = [as_value(value) for value in operands[1:]]
    if not all(isinstance(one, Array) for one in (result, *arrays)):
        return result
    inputs = [(one.shape, one.strides_in_memory) for one in arrays]
    function = functools.partial(np.einsum, operands[0], order=order, optimize=optimize)
    if order in ("A", "K"):
        return result.laid_out_as(arrays, memory_order.of_function(function, result.shape, inputs))
    return result.laid_out_as([], memory_order.of_order(result.shape, order, None))


def _subscripts(text: str, values: Sequence[Operand]) -> tuple[list[str], str]:
    """The labels of each operand and of the result; upper-case Greek letters label the axes of an ellipsis."""
    left, arrow, right = text.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(values):
        raise NxValueError(f"einsum: {len(inputs)} subscripts in {text!r} for {len(values)} arrays")
    greek = "".join(chr(0x391 + k) for k in range(17))
    longest = 0
    for position, (labels, value) in enumerate(zip(inputs, values, strict=True)):
        if "..." in labels:
            count = len(value.shape) - len(labels) + 3
            longest = max(longest, count)
            inputs[position] = labels.replace("...", greek[17 - count :])
        if len(inputs[position]) != len(value.shape):
            raise NxValueError(f"einsum: {labels!r} names {len(labels)} axes of an array with {len(value.shape)}")
    everything = "".join(inputs)
    if not arrow:
        right = "..." * bool(longest) + "".join(
            sorted(label for label in set(everything) if everything.count(label) == 1 and label not in greek)
        )
    return inputs, right.replace("...", greek[17 - longest :] if longest else "")


def _rearranged(value: ArrayValue, labels: str, result: str) -> Any:
    """The view for subscripts that only take diagonals and permute axes."""
    if not value.ndim:
        return value
    labels, view = _diagonals(labels, value)
    return view.transposed(tuple(labels.index(label) for label in result))


def _without_repeats(labels: str, value: Operand) -> tuple[str, Operand]:
    labels, view = _diagonals(labels, Array.of(value))
    return labels, operand(view)


def _diagonals(labels: str, value: Array) -> tuple[str, Array]:
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            one = labels.index(label)
            two = labels.index(label, one + 1)
            if value.shape[one] != value.shape[two]:
                raise NxValueError(
                    f"einsum: {label!r} names axes of {value.shape[one]} and {value.shape[two]} elements"
                )
            value = value.diagonal_of(0, (one, two), writeable=True)
            labels = labels[:one] + labels[one + 1 : two] + labels[two + 1 :] + label
    return labels, value


def _summed(labels: str, value: Operand, needed: set[str]) -> tuple[str, Operand]:
    axes = tuple(axis for axis, label in enumerate(labels) if label not in needed)
    if not axes:
        return labels, value
    return "".join(label for label in labels if label in needed), apply(p.sum_, value, axes=axes, keep_axes=False)


def _pair(one: tuple[str, Operand], two: tuple[str, Operand], needed: set[str]) -> tuple[str, Operand]:
    (left, a), (right, b) = (
        _summed(*one, needed | set(two[0])),
        _summed(*two, needed | set(one[0])),
    )
    both = [label for label in left if label in right]
    stretched = [label for label in both if a.shape[left.index(label)] != b.shape[right.index(label)]]
    for label in stretched:
        size = max(a.shape[left.index(label)], b.shape[right.index(label)])
        a = _widened(a, left.index(label), size)
        b = _widened(b, right.index(label), size)
    over = [label for label in both if label not in needed]
    batch = [label for label in both if label in needed]
    result = product(
        a, b, [left.index(x) for x in over], [right.index(x) for x in over],
        [left.index(x) for x in batch], [right.index(x) for x in batch],
    )  # fmt: skip
    free = [label for label in left if label not in both] + [label for label in right if label not in both]
    return "".join(batch + free), result


def _widened(value: Operand, axis: int, size: int) -> Operand:
    shape = (*value.shape[:axis], size, *value.shape[axis + 1 :])
    return spread(value, shape)
