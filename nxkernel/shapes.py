"""Shape inference: pure rules of shapes, axes and axis names.

Shapes are tuples of ints; names are tuples of the same length with a str or None an axis.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from nxkernel.errors import NxAxisError, NxError, NxIndexError, NxTypeError, NxValueError, message
from nxkernel.messages.grammar import counted

Shape = tuple[int, ...]
Names = tuple[str | None, ...]


def text(shape: Sequence[int], names: Sequence[str | None] | None = None) -> str:
    """A shape as text: ``[2][3]``, ``[rows: 2][3]``, or ``scalar``.

    Examples
    --------
    >>> text((2, 3)), text((2, 3), ("rows", None)), text(())
    ('[2][3]', '[rows: 2][3]', '[] (a scalar)')
    """
    if not shape:
        return "[] (a scalar)"
    names = names or (None,) * len(shape)
    return "".join(f"[{n}]" if name is None else f"[{name}: {n}]" for n, name in zip(shape, names, strict=True))


def size(shape: Sequence[int]) -> int:
    """The number of elements."""
    return math.prod(shape)


def ceil_div(value: int, by: int) -> int:
    """The quotient of integers, rounded up."""
    return -(-value // by)


def spans(counts: Sequence[int], strides: Sequence[int]) -> Shape:
    """The extent from first to last of `counts` elements `strides` apart, per axis."""
    return tuple([(count - 1) * stride + 1 if count else 0 for count, stride in zip(counts, strides, strict=True)])


def unnamed(shape: Sequence[int]) -> Names:
    """Names for the axes of a shape: None for each."""
    return (None,) * len(shape)


def normalize_shape(shape: Any) -> Shape:
    """A shape from an int or a sequence of static ints.

    Raises
    ------
    NxTypeError
        For a traced value or anything else that is no int: shapes are fixed when a graph is built.
    """
    if isinstance(shape, int):
        shape = (shape,)
    if not isinstance(shape, list | tuple):
        raise NxTypeError(
            message(
                f"a shape is a tuple of whole numbers, got {describe(shape)}.",
                "Shapes are static: they are known when the graph is built.",
                "Pass the size as an option, as in `def f(x, *, size)`, or take it from a tensor, as in x.shape[0].",
            )
        )
    sizes = tuple(static_int(n, "a size in a shape") for n in shape)
    if min(sizes, default=0) < 0:
        raise NxValueError(f"the sizes in a shape are at least 0, got {sizes}")
    return sizes


def static_int(value: Any, what: str) -> int:
    """A 64-bit integer that is known while tracing; `what` names it in the error."""
    number = None if isinstance(value, bool) else _index_of(value)
    if number is None:
        raise NxTypeError(
            message(
                f"{what} must be a whole number that is known when the graph is built, got {describe(value)}.",
                "Make it an option: declare it after `*`, as in `def f(x, *, n)`, and call f(x, n=3).",
            )
        )
    if not -(2**63) <= number < 2**63:
        raise NxValueError(f"{what} has 64 bits, {number} does not fit")
    return number


def _index_of(value: Any) -> int | None:
    try:
        return operator.index(value)
    except NxError:
        raise
    except TypeError:
        return None


def describe(value: Any) -> str:
    """A value as text for errors: tensors by type and shape, plain values by repr, others by class."""
    if hasattr(value, "type") and hasattr(value, "shape"):
        return f"a tensor ({value.type}{''.join(f'[{n}]' for n in value.shape)})"
    return f"{value!r}" if isinstance(value, int | float | str | None) else f"a {type(value).__name__}"


def normalize_names(names: Sequence[str | None] | None, shape: Shape) -> Names:
    """A name or None for every axis of a shape, checked for number and duplicates."""
    if names is None:
        return unnamed(shape)
    if isinstance(names, str | bytes) or not isinstance(names, Iterable) or hasattr(names, "type"):
        raise NxTypeError(f"names is a list with a str or None for each axis, got {describe(names)}")
    names = tuple(names)
    if len(names) != len(shape):
        raise NxValueError(
            message(
                f"names has {len(names)} entries, the shape {text(shape)} has {len(shape)} axes.",
                f"Give one name an axis and None for an axis without: {[None] * len(shape)!r}.",
            )
        )
    present = [name for name in names if name is not None]
    for name in present:
        if not isinstance(name, str):
            raise NxTypeError(f"the name of an axis is a str or None, got {name!r} in names={list(names)!r}")
        if present.count(name) > 1:
            raise NxValueError(f"the name {name!r} stands for two axes in names={list(names)!r}; names must differ")
    return names


def merge_names(left: Names, right: Names) -> Names:
    """The merged axis names of two operands of equal rank: None yields to a name, different names are an error."""
    if left == right:
        return left
    merged = []
    for axis, (a, b) in enumerate(zip(left, right, strict=True)):
        if a is not None and b is not None and a != b:
            raise NxValueError(
                message(
                    f"cannot merge the name {a!r} on axis {axis} with the name {b!r} on axis {axis}.",
                    "Rename one tensor: nx.rename(t, [...]); None as a name goes with any other.",
                )
            )
        merged.append(b if a is None else a)
    return tuple(merged)


class UnknownNameError(NxValueError):
    """No axis has the given name.

    Parameters
    ----------
    name : str
        What was given.
    shape, names : tuple
        Of the tensor that was meant.
    """

    def __init__(self, name: str, shape: Shape, names: Names | None) -> None:
        self.name, self._what = name, f"no axis is named {name!r} in {text(shape, names)}."
        super().__init__(message(self._what, f"Its names are {list(names or unnamed(shape))!r}."))

    def vectorized(self) -> NxValueError:
        """The error for the name of a vectorized axis."""
        hint = f"{self.name!r} is a vectorized axis, which no function sees: nx.devectorize(t) makes it an axis first."
        return NxValueError(message(self._what, hint))


def normalize_axis(axis: Any, shape: Shape, names: Names | None = None) -> int:
    """The position of an axis given as an int (negative counts from the end), by name, or as a list of one."""
    if isinstance(axis, list | tuple) and len(axis) == 1:
        (axis,) = axis
    if isinstance(axis, str):
        if names is None or axis not in names:
            raise UnknownNameError(axis, shape, names)
        return names.index(axis)
    return _within(static_int(axis, "an axis"), len(shape), f"the shape {text(shape, names)}")


def _within(position: int, ndim: int, what: str) -> int:
    if not -ndim <= position < ndim:
        raise NxAxisError(
            message(
                f"axis {position} is out of range for {what}.",
                f"It has {counted(ndim, 'axis', 'axes')}, so an axis is from {-ndim} to {ndim - 1}."
                if ndim
                else "A scalar has no axes.",
            )
        )
    return position % ndim


def axes_of(axis: Any, ndim: int) -> Shape:
    """The positions for NumPy's ``axis=``: None, an int or a tuple.

    Parameters
    ----------
    axis : int, tuple of int, or None
        None for all axes; negative numbers count from the last one.
    ndim : int
        The number of axes of the array.

    Returns
    -------
    tuple of int
        In ascending order.

    Examples
    --------
    >>> axes_of(-1, 3), axes_of(None, 2)
    ((2,), (0, 1))
    """
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    positions = tuple(sorted(_within(operator.index(one), ndim, "an array") for one in axes))
    if len(set(positions)) < len(positions):
        raise NxValueError(f"axis={axis!r} names an axis twice")
    return positions


def place_in(size: int, index: int, axis: int, whole: str) -> int:
    """The non-negative form of an index along an axis; `whole` names the array in the error.

    Raises
    ------
    NxIndexError
    """
    if not -size <= index < size:
        raise NxIndexError(
            message(
                f"index {index} is out of bounds for axis {axis} of {whole}.",
                f"It goes from {-size} to {size - 1}." if size else "The axis is empty.",
            )
        )
    return index % size


def normalize_axes(axes: Any, shape: Shape, names: Names | None = None) -> tuple[int, ...]:
    """The positions of several axes, which must differ; None stands for all."""
    if axes is None:
        return tuple(range(len(shape)))
    if isinstance(axes, Integral | str):
        axes = (axes,)
    if not isinstance(axes, Iterable) or hasattr(axes, "type"):
        raise NxTypeError(f"axes is a list of axes, got {describe(axes)}; write axes=[0, 1]")
    positions = tuple(normalize_axis(axis, shape, names) for axis in axes)
    if len(set(positions)) != len(positions):
        raise NxValueError(f"axes must differ, got {list(axes)!r} for the shape {text(shape, names)}")
    return positions


def broadcast_shapes(
    left: Shape, right: Shape, left_names: Names | None = None, right_names: Names | None = None
) -> Shape:
    """The broadcast shape of two operands, aligned at the last axis as in NumPy; names are for the error.

    Raises
    ------
    NxValueError
        Naming both shapes and the axis at which they differ.
    """
    if left == right:
        return left
    rank = max(len(left), len(right))
    a, b = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    for axis, (n, m) in enumerate(zip(a, b, strict=True)):
        if n != m and 1 not in (n, m):
            error = NxValueError(
                message(
                    f"cannot broadcast {text(left, left_names)} with {text(right, right_names)}: "
                    f"axis {axis - rank} has sizes {n} and {m}.",
                    "Axes are aligned from the last one; sizes must be equal, or one of them 1.",
                    *_kept(left, right),
                    "nx.new_axis(t, axis) adds an axis of size 1.",
                )
            )
            error.of_python = True
            raise error
    return tuple(m if n == 1 else n for n, m in zip(a, b, strict=True))


def _kept(left: Shape, right: Shape) -> list[str]:
    """A hint for shapes that would broadcast if a reduction had kept its axis."""
    whole, part = (left, right) if len(left) > len(right) else (right, left)
    for axis in range(len(whole)):
        if whole[:axis] + whole[axis + 1 :] == part:
            kept = (*whole[:axis], 1, *whole[axis + 1 :])
            return [f"A reduction along axis {axis} fits with keep_axes=True, which gives {text(kept)}."]
    return []


def spreads(shape: Shape, target: Shape) -> bool:
    """Whether a shape broadcasts to a target shape, aligned at the last axis.

    Examples
    --------
    >>> spreads((3,), (2, 3)), spreads((2, 1), (2, 3)), spreads((2, 3), (3,))
    (True, True, False)
    """
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(shape[::-1], target[::-1], strict=False))


def reduce(shape: Shape, names: Names, axes: tuple[int, ...], keep_axes: bool) -> tuple[Shape, Names]:
    """Shape and names after reducing `axes`; kept axes have size 1."""
    if keep_axes:
        return tuple(1 if a in axes else n for a, n in enumerate(shape)), names
    kept = [a for a in range(len(shape)) if a not in axes]
    return tuple(shape[a] for a in kept), tuple(names[a] for a in kept)


def resolve_auto(shape: Sequence[Any], total: int) -> Shape:
    """A shape whose entry ``"auto"`` or -1, if any, is computed from the number of elements."""
    sizes = [n if isinstance(n, str) and n == "auto" else static_int(n, "a size in a shape") for n in shape]
    unknown = [i for i, n in enumerate(sizes) if n in ("auto", -1)]
    known = math.prod(n for n in sizes if n not in ("auto", -1))
    if len(unknown) > 1:
        raise NxValueError(f"only one size can be left open, got {tuple(shape)!r}")
    if unknown:
        if known == 0 or total % known:
            raise NxValueError(
                f"cannot reshape {total} elements to {tuple(shape)!r}: {total} is no multiple of {known}"
            )
        sizes[unknown[0]] = total // known
    elif known != total:
        raise NxValueError(
            message(
                f"cannot reshape {total} elements to {text(sizes)}, which has {known}.",
                'One size may be left open as "auto".',
            )
        )
    return tuple(sizes)


def pad(shape: Shape, config: Sequence[tuple[int, int, int]]) -> Shape:
    """The shape after padding each axis by (low, high, interior)."""
    padded = tuple(n + low + high + max(n - 1, 0) * inner for n, (low, high, inner) in zip(shape, config, strict=True))
    if min(padded, default=0) < 0:
        raise NxValueError(f"padding {list(config)!r} crops more of {text(shape)} than there is")
    return padded


def dot(left: Any, right: Any, contract: tuple, batch: tuple) -> tuple[Shape, Names]:
    """Shape and names of a contraction: batch axes, then the free axes of the left side, then of the right."""
    for a, b in zip(*contract, strict=True):
        if left.shape[a] != right.shape[b]:
            raise NxValueError(
                message(
                    f"dot of {left} and {right}: the contracted axis {a} on the left has size {left.shape[a]}, "
                    f"axis {b} on the right has size {right.shape[b]}.",
                    "They must be equal.",
                )
            )
    for a, b in zip(*batch, strict=True):
        if left.shape[a] != right.shape[b]:
            raise NxValueError(
                f"dot of {left} and {right}: the batch axis {a} has size {left.shape[a]} on the left and "
                f"{right.shape[b]} on the right; they must be equal"
            )
    free_left = [a for a in range(len(left.shape)) if a not in contract[0] and a not in batch[0]]
    free_right = [a for a in range(len(right.shape)) if a not in contract[1] and a not in batch[1]]
    shape = tuple(
        [left.shape[a] for a in batch[0]] + [left.shape[a] for a in free_left] + [right.shape[a] for a in free_right]
    )
    shared = [left.names[a] or right.names[b] for a, b in zip(*batch, strict=True)]
    names = tuple(shared + [left.names[a] for a in free_left] + [right.names[a] for a in free_right])
    doubled = sorted({name for name in names if name is not None and names.count(name) > 1})
    if doubled:
        raise NxValueError(
            message(
                f"dot of {left} and {right} would have two axes named {doubled[0]!r}.",
                "Rename one side first: nx.rename(t, [...]).",
            )
        )
    return shape, names


def windows(shape: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Shape:
    """The number of window positions along each axis.

    Raises
    ------
    NxValueError
        Where not even one does.
    """
    counts = []
    for axis, (n, w, stride, dilation) in enumerate(zip(shape, window, strides, dilations, strict=True)):
        reach = (w - 1) * dilation + 1
        # Of an axis without elements there are no windows, which matters where an axis only comes along: a batch.
        if reach > n and (n or w > 1):
            spread = f", spread by {dilation} over {reach} elements," if dilation > 1 else ""
            raise NxValueError(
                message(
                    f"a window of size {w}{spread} does not fit axis {axis} of size {n} (shape {text(shape)}).",
                    'Pad the tensor, for example with padding="same", or take a smaller window.',
                )
            )
        counts.append((n - reach) // stride + 1)
    return tuple(counts)
