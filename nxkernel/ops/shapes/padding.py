"""Padding of tensors with a constant or with their own elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.machinery.dispatch import lasting
from nxkernel.ops.shapes.gathering import take
from nxkernel.ops.shapes.shaping import pad
from nxkernel.ops.tensors.creation import iota
from nxkernel.shapes import static_int
from nxkernel.tensor.tensor import Tensor

__all__ = ["pad_outer", "reflect"]


def pad_outer(tensor: Any, pad_value_or_type: Any, padding_config: Sequence[Sequence[int]]) -> Tensor | Expr:
    """Pad a tensor at its edges.

    Parameters
    ----------
    tensor : tensor
    pad_value_or_type : number, scalar tensor or str
        What the border is made of: a value, or the tensor's own elements. For elements ``0 1 2`` and three before
        them, ``"cyclic"`` goes on with the other end (``0 1 2 | 0 1 2``), ``"replicate"`` repeats the last
        (``0 0 0 | 0 1 2``), ``"mirror"`` turns around after it (``2 1 0 | 0 1 2``) and ``"reflect"`` turns around at
        it (``1 2 1 | 0 1 2``).
    padding_config : list of (low, high)
        For each axis how many go before and after its elements; negative ones remove elements.

    Returns
    -------
    Tensor
        With the same names.

    Raises
    ------
    NxValueError
        For another mode, or a configuration of another length than the rank.

    Examples
    --------
    >>> nx.pad_outer([1, 2, 3], "reflect", [(2, 1)]).to_list()
    [3, 2, 1, 2, 3, 2]
    >>> nx.pad_outer([1, 2], 0, [(1, 0)]).to_list()
    [0, 1, 2]
    """
    tensor = lasting(tensor, "tensor")
    config = _checked(padding_config, tensor, "pad_outer")
    if not isinstance(pad_value_or_type, str):
        return pad(tensor, pad_value_or_type, [(low, high, 0) for low, high in config])
    if pad_value_or_type not in _MODES:
        raise NxValueError(
            message(
                f"pad_outer pads with a number or a mode, got {pad_value_or_type!r}.",
                f"The modes are {', '.join(map(repr, _MODES))}.",
            )
        )
    return _bordered(tensor, _MODES[pad_value_or_type], config, "pad_outer")


def reflect(tensor: Any, *, padding_config: Sequence[Sequence[int]]) -> Tensor | Expr:
    """Pad a tensor by reflecting it at its outermost elements.

    Parameters
    ----------
    tensor : tensor
    padding_config : list of (low, high)
        For each axis how many go before and after its elements.

    Returns
    -------
    Tensor
        With the same names: what ``nx.pad_outer(tensor, "reflect", padding_config)`` gives.

    Examples
    --------
    >>> nx.reflect([0, 1, 2], padding_config=[(3, 1)]).to_list()
    [1, 2, 1, 0, 1, 2, 1]
    """
    tensor = lasting(tensor, "tensor")
    return _bordered(tensor, _reflected, _checked(padding_config, tensor, "reflect"), "reflect")


def _checked(padding_config: Any, tensor: Operand, function: str) -> list[tuple[int, int]]:
    entries: Sequence[Any] = padding_config if isinstance(padding_config, list | tuple) else [None]
    if len(entries) != tensor.rank or any(not isinstance(entry, list | tuple) or len(entry) != 2 for entry in entries):
        raise NxValueError(
            message(
                f"{function} needs one (low, high) for each of the {tensor.rank} axes of {tensor.spec}, "
                f"got {padding_config!r}.",
                f"To leave all as they are, write {[(0, 0)] * tensor.rank!r}.",
            )
        )
    config = [tuple(static_int(number, "padding") for number in entry) for entry in entries]
    for size, (low, high) in zip(tensor.shape, config, strict=True):
        if size + low + high < 0:
            raise NxValueError(f"{function}: {(low, high)!r} removes more than the {size} elements of an axis")
    return config


def _bordered(
    tensor: Operand, source: Callable[[int, int, int], Operand], config: list[tuple[int, int]], function: str
) -> Tensor | Expr:
    for axis, (low, high) in enumerate(config):
        size = tensor.shape[axis]
        if (low or high) and not size:
            raise NxValueError(f"{function}: axis {axis} of {tensor.spec} has no elements to make a border of")
        if low or high:
            tensor = take(tensor, source(size, low, size + low + high), axis=axis)
    return tensor


def _counted(low: int, length: int, period: int) -> Operand:
    """For each position of the result its index within a periodic pattern of length `period`."""
    return elementwise.remainder(elementwise.add(iota((length,)), -low % period), period)


def _cyclic(size: int, low: int, length: int) -> Operand:
    return _counted(low, length, size)


def _replicated(size: int, low: int, length: int) -> Operand:
    """Indices beyond the ends of an axis, which `take` clamps to its ends."""
    return elementwise.subtract(iota((length,)), low)


def _mirrored(size: int, low: int, length: int) -> Operand:
    index = _counted(low, length, 2 * size)
    return elementwise.min(index, elementwise.subtract(2 * size - 1, index))


def _reflected(size: int, low: int, length: int) -> Operand:
    period = max(2 * (size - 1), 1)
    index = _counted(low, length, period)
    return elementwise.min(index, elementwise.subtract(period, index))


_MODES = {"cyclic": _cyclic, "replicate": _replicated, "mirror": _mirrored, "reflect": _reflected}
