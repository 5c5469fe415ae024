"""New tensors under NumPy's names; fractions are f32 unless a type is given."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand
from nxkernel.ops.shapes.shaping import broadcast
from nxkernel.ops.tensors.creation import iota, shape_of, tensor
from nxkernel.shapes import normalize_names
from nxkernel.tensor.tensor import StoredTensor, Tensor

__all__ = ["arange", "array", "empty", "full", "ones", "zeros"]

Names = Sequence[str | None] | None


def _constant(value: Any, shape: Any, type_: types.Type, names: Names) -> Tensor | Expr:
    shape = shape_of(shape)
    return filled(value, type_, shape, normalize_names(names, shape))


def _type_beside(function: str, shape: Any, type_: Any) -> types.Type:
    """The type of an array of a shape, whose second size is often written where the type stands."""
    if isinstance(type_, int):
        raise NxTypeError(
            message(
                f"{function} takes a shape and a type, got {type_} for the type.",
                f"A shape of several axes is one tuple: nx.{function}(({shape}, {type_})).",
            )
        )
    return types.normalize(type_)


def zeros(shape: Any, type: Any = "f32", *, names: Names = None) -> Tensor | Expr:
    """A tensor of zeros.

    Parameters
    ----------
    shape : tuple of int, int or tensor
    type : type, optional
        ``dtype=`` is the same; NumPy's float64 is ``"f64"``.
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.zeros((2, 3)).to_list()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    >>> nx.zeros(2, dtype="int64").to_list()
    [0, 0]
    """
    return _constant(0, shape, _type_beside("zeros", shape, type), names)


def ones(shape: Any, type: Any = "f32", *, names: Names = None) -> Tensor | Expr:
    """A tensor of ones.

    Parameters
    ----------
    shape : tuple of int, int or tensor
    type : type, optional
        ``dtype=`` is the same; NumPy's float64 is ``"f64"``.
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.ones((1, 2)).to_list()
    [[1.0, 1.0]]
    """
    return _constant(1, shape, _type_beside("ones", shape, type), names)


def empty(shape: Any, type: Any = "f32", *, names: Names = None) -> Tensor | Expr:
    """A tensor whose elements do not matter: they are zeros, since nobody can write into it.

    Parameters
    ----------
    shape : tuple of int, int or tensor
    type : type, optional
        ``dtype=`` is the same; NumPy's float64 is ``"f64"``.
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, type, names=names)


def full(shape: Any, fill_value: Any, type: Any = None, *, names: Names = None) -> Tensor | Expr:
    """A tensor with one value in every element.

    Parameters
    ----------
    shape : tuple of int, int or tensor
    fill_value : number or tensor
        What broadcasts to the shape.
    type : type, optional
        ``dtype=`` is the same. Without it a whole number is s64, a fraction f32.
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.full((2, 2), 7).to_list()
    [[7, 7], [7, 7]]
    """
    type_ = None if type is None else types.normalize(type)
    if is_number(fill_value):
        return _constant(fill_value, shape, type_ or types.infer(fill_value), names)
    value = operand(fill_value, "fill_value")
    return broadcast(value if type_ is None else convert(value, type_), shape, names=names)


def arange(start: Any, stop: Any = None, step: Any = 1, type: Any = None, *, names: Names = None) -> Tensor | Expr:
    """Evenly spaced numbers from `start` until before `stop`; from 0 if only one number is given.

    Parameters
    ----------
    start, stop, step : number
        Known when the graph is built, as the size of the result is. The step is not 0.
    type : type, optional
        ``dtype=`` is the same. Without it whole numbers are s64, fractions f32.
    names : list of str or None, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.arange(3).to_list(), nx.arange(1, 2, 0.25).to_list()
    ([0, 1, 2], [1.0, 1.25, 1.5, 1.75])
    """
    if stop is None:
        start, stop = 0, start
    first, last, by = (_known(value) for value in (start, stop, step))
    natural = types.infer(builtins.type(first + last + by)())
    for bound in (first, last, by) if natural is types.s64 else ():
        types.refuse_outside(types.s64, bound, "Whole numbers are s64: write floats.")
    type_ = natural if type is None else types.normalize(type)
    if natural.is_complex or not math.isfinite(first + last + by):
        raise NxTypeError(f"arange takes finite real numbers, got {first}, {last} and {by}")
    if not by:
        raise NxValueError("arange takes a step that is not 0")
    count = builtins.max(math.ceil((last - first) / by), 0)
    inner = type_ if type_.is_float and type_.bits >= 32 else types.f32 if natural.is_float else types.s64
    result = iota((count,), type=inner, names=names)
    if by != 1:
        result = apply(primitives.multiply, result, filled(by, inner, (count,)))
    if first:
        result = apply(primitives.add, result, filled(first, inner, (count,)))
    return convert(result, type_)


def _known(value: Any) -> Any:
    """A number that is known while tracing."""
    if isinstance(value, np.generic) or (isinstance(value, StoredTensor) and not value.shape):
        value = value.item()
    if is_number(value):
        return value
    raise NxTypeError(
        message(
            f"arange takes numbers that are known when the graph is built, got {shapes.describe(value)}.",
            "start + step * nx.iota((10,)) takes traced values, of which there are 10.",
        )
    )


def array(value: Any, type: Any = None, *, names: Names = None) -> Tensor | Expr:
    """A tensor of numbers, nested lists, an array or another tensor, converted to a type.

    Parameters
    ----------
    value : number, (nested) list, array or tensor
        As :func:`tensor` takes it, which converts no tensor.
    type : type, optional
        ``dtype=`` is the same. Without it whole numbers are s64, fractions f32; arrays and tensors keep their type.
    names : list of str or None, optional

    Returns
    -------
    Tensor
        `value` itself where that is such a tensor: nobody can write into it.

    Examples
    --------
    >>> nx.array([[1, 2], [3, 4]]).to_list()
    [[1, 2], [3, 4]]
    >>> nx.array(nx.tensor([1.5]), dtype="s64").to_list()
    [1]
    """
    if type is None or not isinstance(value, Operand):
        return tensor(value, type=type, names=names)
    return tensor(convert(value, types.normalize(type)), names=names)
