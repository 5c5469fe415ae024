"""Tensor contractions: `dot` in its three forms, and the outer product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.machinery.dispatch import apply, arithmetic, convert, counted, is_number, of_type, operand
from nxkernel.ops.shapes.shaping import flatten, new_axis, rename
from nxkernel.shapes import normalize_axes
from nxkernel.tensor.tensor import Tensor

__all__ = ["dot", "outer"]

Axes = Sequence[int | str]


@overload
def dot(left: Any, right: Any, /) -> Tensor | Expr: ...
@overload
def dot(left: Any, contract_left: Axes, right: Any, contract_right: Axes, /) -> Tensor | Expr: ...
@overload
def dot(
    left: Any,
    contract_left: Axes,
    batch_left: Axes,
    right: Any,
    contract_right: Axes,
    batch_right: Axes,
    /,
) -> Tensor | Expr: ...
def dot(left: Any, *arguments: Any) -> Tensor | Expr:
    """The product of two tensors, summed over some of their axes.

    There are three forms:

    * ``dot(left, right)``: the last axis of `left` with the last but one of `right` (with its only one if it is a
      vector), as :func:`numpy.dot`; a scalar multiplies.
    * ``dot(left, contract_left, right, contract_right)``: these axes with each other.
    * ``dot(left, contract_left, batch_left, right, contract_right, batch_right)``: for each index of the batch axes,
      which come first on both sides.

    Parameters
    ----------
    left, right : tensor or number
    contract_left, contract_right : list of int or str
        As many on both sides, of equal sizes.
    batch_left, batch_right : list of int
        ``[0]``, ``[0, 1]`` and so on, or ``[]``.

    Returns
    -------
    Tensor
        Its axes are those of the batch, the remaining ones of `left`, the remaining ones of `right`. The two types
        merged; f16 and bf16 are summed in f32.

    Raises
    ------
    NxValueError
        When sizes differ, or two remaining axes have the same name.

    Examples
    --------
    >>> nx.dot([[1, 2], [3, 4]], [10, 1]).to_list()
    [12, 34]
    >>> nx.dot([[1, 2], [3, 4]], [0], [[1, 0], [0, 1]], [0]).to_list()
    [[1, 3], [2, 4]]
    """
    if len(arguments) == 1:
        given = left, arguments[0]
        left, right = operand(left, "left"), operand(arguments[0], "right")
        if not left.rank or not right.rank:
            return elementwise.multiply(*given)
        return _general(left, [left.rank - 1], [], right, [max(right.rank - 2, 0)], [])
    if len(arguments) == 3:
        contract_left, right, contract_right = arguments
        return _general(operand(left, "left"), contract_left, [], operand(right, "right"), contract_right, [])
    if len(arguments) == 5:
        contract_left, batch_left, right, contract_right, batch_right = arguments
        left, right = operand(left, "left"), operand(right, "right")
        return _general(left, contract_left, batch_left, right, contract_right, batch_right)
    raise NxTypeError(
        message(
            f"dot takes 2, 4 or 6 arguments, got {1 + len(arguments)}.",
            "dot(a, b); dot(a, axes_a, b, axes_b); dot(a, axes_a, batch_a, b, axes_b, batch_b).",
        )
    )


def _general(
    left: Operand, contract_left: Axes, batch_left: Axes, right: Operand, contract_right: Axes, batch_right: Axes
) -> Tensor | Expr:
    contract = (_axes(contract_left, left), _axes(contract_right, right))
    batch = (_axes(batch_left, left), _axes(batch_right, right))
    if len(contract[0]) != len(contract[1]):
        raise NxValueError(
            f"dot contracts axes in pairs, got {list(contract_left)!r} on the left and "
            f"{list(contract_right)!r} on the right"
        )
    if len(batch[0]) != len(batch[1]):
        raise NxValueError(
            message(
                f"dot has {len(batch[0])} batch axes on the left and {len(batch[1])} on the right.",
                "Both sides have a batch, or none.",
            )
        )
    for axes, contracted, side in zip(batch, contract, ("left", "right"), strict=True):
        if axes != tuple(range(len(axes))):
            raise NxValueError(
                message(
                    f"the batch axes of dot come first and in order: {list(range(len(axes)))}; "
                    f"got {list(axes)} on the {side}.",
                    "Bring them there with nx.transpose.",
                )
            )
        if shared := [axis for axis in axes if axis in contracted]:
            raise NxValueError(f"dot cannot both contract and batch axis {shared[0]} on the {side}")
    type_ = arithmetic(types.merge(counted(left), counted(right)))
    return apply(primitives.dot, convert(left, type_), convert(right, type_), contract=contract, batch=batch)


def _axes(axes: Axes, side: Operand) -> tuple[int, ...]:
    if axes is None:
        raise NxTypeError("dot takes lists of axes, got None; write [] for no axes")
    return normalize_axes(axes, side.shape, side.names)


def outer(left: Any, right: Any) -> Tensor | Expr:
    """Each element of one tensor times each element of another.

    Parameters
    ----------
    left, right : tensor or number
        Flattened when they have more than one axis.

    Returns
    -------
    Tensor
        A matrix, with the first name of `left` and the last of `right`. A complex `right` is conjugated.

    Examples
    --------
    >>> nx.outer([1, 2], [3, 4]).to_list()
    [[3, 4], [6, 8]]
    """
    sides = (operand(left, "left"), operand(right, "right"))
    type_ = types.merge(*map(counted, sides))
    left, right = [
        of_type(value, side, type_) if is_number(value) or tracing.weak(side) else side
        for value, side in zip((left, right), sides, strict=True)
    ]
    names = ((left.names or (None,))[0], (right.names or (None,))[-1])
    if names[0] is not None and names[0] == names[1]:
        raise NxValueError(f"outer would have two axes named {names[0]!r}; rename one side first: nx.rename(t, [...])")
    column, row = new_axis(flatten(left), -1), new_axis(flatten(right), 0)
    return rename(elementwise.multiply(column, elementwise.conjugate(row) if row.type.is_complex else row), names)
