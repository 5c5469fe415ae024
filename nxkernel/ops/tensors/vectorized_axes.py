"""Vectorized axes: functions apply to each entry along them as if it were the whole tensor (vmap by annotation)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nxkernel import primitives, shapes
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.operand import Operand, VectorizedAxes, entry_spec
from nxkernel.ops.machinery import axis_alignment
from nxkernel.ops.machinery.container_functions import each
from nxkernel.ops.machinery.dispatch import apply, is_number, lasting
from nxkernel.primitives import Spec

__all__ = ["broadcast_vectors", "devectorize", "reshape_vectors", "revectorize", "vectorize"]

Axes = str | Sequence[str | tuple[str, int]] | Mapping[str, int]


def vectorize(tensor: Any, name_or_axes: Axes) -> Any:
    """Turn leading axes into vectorized axes, which functions no longer see.

    Each function then works on every entry along them, and tensors with different vectorized axes are combined entry
    with entry: all of one with all of another.

    Parameters
    ----------
    tensor : tensor or container of tensors
    name_or_axes : str, list of str or (str, int), or dict of str to int
        The names of the new vectorized axes, which come behind those that the tensor has; sizes are checked.

    Returns
    -------
    Tensor, or the container with such tensors

    Raises
    ------
    NxValueError
        When there are not as many axes, a size differs, or a name is taken.

    Examples
    --------
    >>> rows = nx.vectorize(nx.tensor([[1, 2, 3], [4, 5, 6]]), "row")
    >>> nx.sum(rows)
    Tensor([ 6, 15], vectorized[row: 2] s64)
    """
    wanted = axis_alignment.names_and_sizes(name_or_axes)
    return _each(tensor, lambda value: _vectorized(lasting(value, "tensor"), wanted))


def _vectorized(tensor: Operand, wanted: Sequence[tuple[str, int | None]]) -> Operand:
    if len(wanted) > tensor.rank:
        raise NxValueError(
            message(
                f"vectorize needs an axis for each of {[name for name, _ in wanted]!r}, {tensor.spec} has "
                f"{tensor.rank}.",
                "Its first axes become vectorized axes; nx.new_axis adds one.",
            )
        )
    axes = list(tensor.vectorized_axes)
    for (name, size), actual in zip(wanted, tensor.shape, strict=False):
        if size not in (None, actual):
            raise NxValueError(f"the axis {name!r} is to have size {size}, in {tensor.spec} it has size {actual}")
        if name in dict(axes):
            raise NxValueError(
                message(f"{tensor.spec} has a vectorized axis {name!r} already.", "Choose another name for this one.")
            )
        axes.append((name, actual))
    spec, count = tensor.spec, len(wanted)
    entry = Spec(spec.type, spec.shape[count:], spec.names[count:])
    return axis_alignment.vectorized(axis_alignment.whole(tensor), tuple(axes), entry)


def devectorize(tensor: Any, *, keep_names: bool = True) -> Any:
    """Turn all vectorized axes back into plain leading axes.

    Parameters
    ----------
    tensor : tensor or container of tensors
    keep_names : bool, optional
        Whether the axes keep their names.

    Returns
    -------
    Tensor, or the container with such tensors

    Examples
    --------
    >>> rows = nx.vectorize(nx.tensor([[1, 2, 3], [4, 5, 6]]), "row")
    >>> nx.devectorize(nx.sum(rows))
    Tensor([ 6, 15], s64[row: 2])
    """

    def plain(value: Any) -> Operand:
        value = _with_all_axes(value)
        axes = value.vectorized_axes
        if not axes:
            return value
        front = tuple([name if keep_names else None for name, _ in axes])
        result, names = axis_alignment.whole(value), front + value.names
        return result if result.names == names else apply(primitives.reshape, result, shape=result.shape, names=names)

    return _each(tensor, plain)


def revectorize(
    tensor: Any,
    target_axes: Axes,
    *,
    target_shape: Sequence[int | str] | None = None,
    target_names: Sequence[str | None] | None = None,
) -> Any:
    """Rearrange the vectorized axes and elements, in C order.

    Parameters
    ----------
    tensor : tensor or container of tensors
    target_axes : list of (str, int), or dict of str to int
        Name and size of each vectorized axis of the result; in place of one size, here or in `target_shape`, may stand
        ``"auto"``.
    target_shape : tuple of int, optional
        The shape of the result; that of the tensor when not given.
    target_names : list of str or None, optional
        The names of its axes. Without `target_shape` those of the tensor stay.

    Returns
    -------
    Tensor, or the container with such tensors

    Raises
    ------
    NxValueError
        When the numbers of elements differ, or a name is taken.

    Examples
    --------
    >>> t = nx.vectorize(nx.iota((2, 3, 2)), {"x": 2, "y": 3})
    >>> nx.revectorize(t, {"both": "auto"}).vectorized_axes
    (('both', 6),)
    """
    wanted = axis_alignment.sized(target_axes, auto=True)
    if not isinstance(target_shape, list | tuple | None):
        raise NxTypeError(f"target_shape is a list of sizes, got {shapes.describe(target_shape)}")

    def arranged(value: Any) -> Operand:
        value = _with_all_axes(value)
        shape = value.shape if target_shape is None else tuple(target_shape)
        names = value.names if target_shape is None and target_names is None else target_names
        result = axis_alignment.whole(value)
        sizes = shapes.resolve_auto([size for _, size in wanted] + list(shape), shapes.size(result.shape))
        axes = tuple([(name, size) for (name, _), size in zip(wanted, sizes, strict=False)])
        inner = sizes[len(axes) :]
        entry = Spec(value.type, inner, shapes.normalize_names(names, inner))
        if result.shape != sizes:
            result = apply(primitives.reshape, result, shape=sizes, names=shapes.unnamed(sizes))
        return axis_alignment.vectorized(result, axes, entry)

    return _each(tensor, arranged)


def reshape_vectors(tensors: Sequence[Any], *, align_ranks: bool = False) -> list[Any]:
    """Give tensors the same vectorized axes; those that one did not have get size 1.

    Parameters
    ----------
    tensors : list of tensors or containers
    align_ranks : bool, optional
        Whether tensors with fewer axes get more of size 1, in front.

    Returns
    -------
    list
        The vectorized axes are in the order in which they are first met.

    Examples
    --------
    >>> a, b = nx.vectorize([1, 2], "x"), nx.vectorize([3, 4, 5], "y")
    >>> [t.vectorized_axes for t in nx.reshape_vectors([a, b])]
    [(('x', 2), ('y', 1)), (('x', 1), ('y', 3))]
    """
    return _together(tensors, align_ranks, "reshape_vectors", False)


def broadcast_vectors(tensors: Sequence[Any], *, align_ranks: bool = False) -> list[Any]:
    """Give tensors the same vectorized axes, repeated along those that one did not have.

    Parameters
    ----------
    tensors : list of tensors or containers
    align_ranks : bool, optional
        Whether tensors with fewer axes get more of size 1, in front.

    Returns
    -------
    list
        The vectorized axes are in the order in which they are first met.

    Raises
    ------
    NxValueError
        When an axis has two sizes of which none is 1.

    Examples
    --------
    >>> a, b = nx.vectorize([1, 2], "x"), nx.vectorize([3, 4, 5], "y")
    >>> [t.to_list() for t in nx.broadcast_vectors([a, b])]
    [[[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]]]
    """
    return _together(tensors, align_ranks, "broadcast_vectors", True)


def _together(tensors: Any, align_ranks: bool, function: str, repeat: bool) -> Any:
    if not isinstance(tensors, list | tuple):
        raise NxTypeError(f"{function} takes a list of tensors, got {shapes.describe(tensors)}")
    leaves: list[Operand] = []

    def collect(value: Any) -> Any:
        leaves.append(lasting(value, "tensors"))
        return value

    for tensor in tensors:
        _each(tensor, collect)
    axes = axis_alignment.union(leaves)
    if align_ranks:
        rank = max([leaf.rank for leaf in leaves], default=0)
        leaves = [_ranked(leaf, rank) for leaf in leaves]
    result = iter([axis_alignment.broadcast(leaf, axes if repeat else _own_sizes(leaf, axes)) for leaf in leaves])
    return type(tensors)([_each(tensor, lambda _: next(result)) for tensor in tensors])


def _own_sizes(tensor: Operand, axes: VectorizedAxes) -> VectorizedAxes:
    own = dict(tensor.vectorized_axes)
    return tuple([(name, own.get(name, 1)) for name, _ in axes])


def _ranked(tensor: Operand, rank: int) -> Operand:
    entry, more = entry_spec(tensor.spec), rank - tensor.rank
    if not more:
        return tensor
    return apply(primitives.reshape, tensor, shape=(1,) * more + entry.shape, names=(None,) * more + entry.names)


def _with_all_axes(tensor: Any) -> Operand:
    """A tensor that includes the vectorized axes that are hidden inside a primitive's body."""
    return tensor if isinstance(tensor, Operand) else lasting(tensor, "tensor")


def _each(value: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to each leaf of a container; lists of numbers are leaves."""
    return each(value, function, _is_tensor)


def _is_tensor(value: list) -> bool:
    return all(_is_tensor(item) if isinstance(item, list) else is_number(item) for item in value)
