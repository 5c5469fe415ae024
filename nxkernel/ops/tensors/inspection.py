"""Shapes, names and sizes of tensors, as Python values that are known while tracing, and tensors as Nx shows them."""

from __future__ import annotations

import math
from typing import Any

from nxkernel import shapes
from nxkernel.errors import NxValueError
from nxkernel.graph.expr import TracedValue
from nxkernel.graph.printing import print_graph
from nxkernel.ops.machinery.dispatch import operand
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.tensor import printing

__all__ = [
    "axes", "axis_index", "axis_size", "bit_size", "byte_size", "compatible", "flat_size", "inspect", "names", "rank",
    "shape", "size",
]  # fmt: skip


def _shape(tensor: Any) -> shapes.Shape:
    """The shape of a tensor, or a shape unchanged."""
    return shape_of(tensor) if isinstance(tensor, tuple) else operand(tensor, "tensor").shape


def shape(tensor: Any) -> shapes.Shape:
    """The size of each axis.

    Parameters
    ----------
    tensor : tensor, number or shape

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> nx.shape([[1, 2, 3]])
    (1, 3)
    """
    return _shape(tensor)


def rank(tensor: Any) -> int:
    """The number of axes.

    Parameters
    ----------
    tensor : tensor, number or shape

    Returns
    -------
    int

    Examples
    --------
    >>> nx.rank([[1, 2, 3]])
    2
    """
    return len(_shape(tensor))


def size(tensor: Any) -> int:
    """The number of elements; of one entry where there are vectorized axes.

    Parameters
    ----------
    tensor : tensor, number or shape

    Returns
    -------
    int

    Examples
    --------
    >>> nx.size((2, 3))
    6
    """
    return shapes.size(_shape(tensor))


def flat_size(tensor: Any) -> int:
    """The number of elements including those of vectorized axes.

    Parameters
    ----------
    tensor : tensor, number or shape

    Returns
    -------
    int

    Examples
    --------
    >>> nx.flat_size(nx.vectorize([[1, 2, 3], [4, 5, 6]], "x"))
    6
    """
    if isinstance(tensor, tuple):
        return size(tensor)
    tensor = operand(tensor, "tensor")
    return tensor.size * math.prod([count for _, count in tensor.vectorized_axes])


def axes(tensor: Any) -> list[int]:
    """The indices of all axes, in order.

    Parameters
    ----------
    tensor : tensor, number or shape

    Returns
    -------
    list of int

    Examples
    --------
    >>> nx.axes([[1, 2, 3]])
    [0, 1]
    """
    return list(range(rank(tensor)))


def names(tensor: Any) -> list[str | None]:
    """The name of each axis, None where it has none.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    list of str or None

    Examples
    --------
    >>> nx.names(nx.iota((2, 3), names=["row", None]))
    ['row', None]
    """
    return list(operand(tensor, "tensor").names)


def axis_size(tensor: Any, axis: int | str) -> int:
    """The size of one axis.

    Parameters
    ----------
    tensor : tensor or shape
    axis : int or str

    Returns
    -------
    int

    Examples
    --------
    >>> nx.axis_size(nx.iota((2, 3), names=["row", None]), "row")
    2
    """
    return _shape(tensor)[axis_index(tensor, axis)]


def axis_index(tensor: Any, axis: int | str) -> int:
    """The index of an axis given by name or negative index.

    Parameters
    ----------
    tensor : tensor or shape
    axis : int or str

    Returns
    -------
    int

    Examples
    --------
    >>> nx.axis_index(nx.iota((2, 3), names=["row", None]), -1)
    1
    """
    if isinstance(tensor, tuple):
        return shapes.normalize_axis(axis, shape_of(tensor))
    tensor = operand(tensor, "tensor")
    return shapes.normalize_axis(axis, tensor.shape, tensor.names)


def byte_size(tensor: Any) -> int:
    """The size of the elements in bytes, vectorized axes included.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    int

    Examples
    --------
    >>> nx.byte_size(nx.f32([1, 2]))
    8
    """
    tensor = operand(tensor, "tensor")
    return flat_size(tensor) * tensor.type.size


def bit_size(tensor: Any) -> int:
    """The size of the elements in bits, vectorized axes included.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    int

    Examples
    --------
    >>> nx.bit_size(nx.f32([1, 2]))
    64
    """
    return 8 * byte_size(tensor)


def inspect(tensor: Any, *, limit: int | None = printing.LIMIT) -> printing.Text:
    """A tensor as text in the layout of Nx: its type and shape in a line, below them its elements, a row a line.

    Parameters
    ----------
    tensor : tensor or number
        A value of a function that is traced has no elements yet: it is shown as the graph that computes it.
    limit : int, optional
        How many elements are shown, before ``...``; None shows all.

    Returns
    -------
    str
        A cell shows it as ``print`` does.

    Examples
    --------
    >>> nx.inspect(nx.iota((2, 3), names=["row", None]))
    #Nx.Tensor<
      s64[row: 2][3]
      [
        [0, 1, 2],
        [3, 4, 5]
      ]
    >
    """
    if limit is not None:
        limit = shapes.static_int(limit, "limit")
        if limit < 0:
            raise NxValueError(f"limit is how many elements are shown, from 0 on, or None for all; got {limit}")
    value = operand(tensor, "tensor")
    if isinstance(value, TracedValue):
        return printing.Text(print_graph([value]))
    return printing.Text(printing.text(value, value.data.size if limit is None else limit))


def compatible(left: Any, right: Any) -> bool:
    """Whether two tensors, or containers of tensors, agree in type, shape, names and vectorized axes.

    Parameters
    ----------
    left, right : tensor, template, number, or tuple, list or dict of them

    Returns
    -------
    bool
        An axis without a name goes with any.

    Examples
    --------
    >>> nx.compatible(nx.f32([1, 2]), nx.template((2,), "f32"))
    True
    """
    if isinstance(left, list | tuple | dict) or isinstance(right, list | tuple | dict):
        return _same_container(left, right)
    left, right = operand(left, "left"), operand(right, "right")
    if left.type is not right.type or left.shape != right.shape or left.vectorized_axes != right.vectorized_axes:
        return False
    return all(None in (a, b) or a == b for a, b in zip(left.names, right.names, strict=True))


def _same_container(left: Any, right: Any) -> bool:
    if type(left) is not type(right) or len(left) != len(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(compatible(left[key], right[key]) for key in left)
    return all(compatible(a, b) for a, b in zip(left, right, strict=True))
