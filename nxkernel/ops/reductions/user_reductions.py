"""`map`, `reduce` and `window_reduce` with the user's own function of scalars."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.tracing import trace_body
from nxkernel.graph.traverse import post_order
from nxkernel.numba_functions import is_compiled
from nxkernel.operand import Operand
from nxkernel.ops.machinery.axis_alignment import broadcast, union, vectorized, whole
from nxkernel.ops.machinery.dispatch import apply, arithmetic, convert, counted, filled, is_number, is_operand, operand
from nxkernel.ops.programs.numba_functions import njit_map
from nxkernel.ops.tensors.vectorized_axes import vectorize
from nxkernel.primitives import Spec
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = ["map", "reduce"]

Folding = Callable[[Any, Any], Any]

#: How many functions given to :func:`map` are running, one within the other.
_depth: ContextVar[int] = ContextVar("depth", default=0)


def map(tensor: Any, function: Callable[[Any], Any], *, type: Any = None) -> Tensor | Expr:
    """Apply a scalar function to each element.

    Functions of nxkernel work on whole tensors anyway: where `function` is element-wise, ``function(tensor)`` says the
    same.

    Parameters
    ----------
    tensor : tensor or number
    function : callable
        Takes a scalar and gives one. It is called once: the scalar is vectorized over all elements.
    type : type, optional
        Of the result; without it what `function` gives.

    Returns
    -------
    Tensor
        Of the same shape and names.

    Raises
    ------
    NxTypeError
        When `function` gives more than one element.

    Examples
    --------
    >>> nx.map([1, 2, 3], lambda x: x * x + 1).to_list()
    [2, 5, 10]
    """
    tensor = operand(tensor, "tensor")
    if is_compiled(function):
        made = njit_map(function, tensor)
        return made if type is None else convert(made, types.normalize(type))
    _check_takes(function, "map", 1)
    # A function may map others: each has axes of its own.
    depth = _depth.get()
    element = vectorize(tensor, [f"map {depth}, axis {axis}" for axis in range(tensor.rank)])
    token = _depth.set(depth + 1)
    try:
        result = _single(function(element), "map", function)
    finally:
        _depth.reset(token)
    mapped = element.vectorized_axes[len(tensor.vectorized_axes) :]
    around = tuple([axis for axis in union([tensor, result]) if axis[0] not in dict(mapped)])
    made = broadcast(result, around + mapped)
    made = vectorized(whole(made), around, Spec(result.type, tensor.shape, tensor.names))
    return made if type is None else convert(made, types.normalize(type))


def reduce(
    tensor: Any,
    acc: Any,
    function: Folding,
    *,
    axes: int | str | Sequence[int | str] | None = None,
    keep_axes: bool = False,
    type: Any = None,
) -> Tensor | Expr:
    """Reduce axes with a binary function and an initial value.

    Parameters
    ----------
    tensor : tensor or number
    acc : number or scalar tensor
        What folding starts with. A number takes the tensor's type where that holds it.
    function : callable
        ``function(element, accumulated)`` gives the new accumulated value. It is traced once, on scalars, and may use
        element-wise functions and scalars from outside.
    axes : int, str or list of these, optional
        Along these; without it along all.
    keep_axes : bool, optional
        Whether reduced axes stay, with size 1.
    type : type, optional
        Of both arguments of `function` and of the result; without it the types of `tensor` and `acc` merged.

    Returns
    -------
    Tensor
        Elements are folded in C order.

    Raises
    ------
    NxTypeError
        When `acc` is no scalar, or `function` uses or gives something else than scalars.

    Examples
    --------
    >>> nx.reduce([[1, 2], [3, 4]], 0, lambda x, acc: acc * 10 + x, axes=[1]).to_list()
    [12, 34]
    """
    tensor = operand(tensor, "tensor")
    tensor, start = started("reduce", tensor, acc, type)
    positions = tuple(sorted(shapes.normalize_axes(axes, tensor.shape, tensor.names)))
    return fold("reduce", tensor, start, function, positions, bool(keep_axes))


def started(name: str, tensor: Operand, acc: Any, type: Any, argument: str = "acc") -> tuple[Operand, Operand]:
    """The tensor and the initial accumulator, both converted to the accumulator's type."""
    if is_number(acc):
        type_ = arithmetic(types.merge_number(tensor.type, acc)) if type is None else types.normalize(type)
        return convert(tensor, type_), filled(acc, type_, ())
    start = operand(acc, argument)
    if start.shape or start.vectorized_axes:
        raise NxTypeError(f"{name} starts with one number, got {start.spec} for {argument!r}")
    type_ = arithmetic(types.merge(tensor.type, counted(start))) if type is None else types.normalize(type)
    return convert(tensor, type_), convert(start, type_)


def fold(
    name: str, tensor: Operand, start: Operand, function: Folding, axes: tuple[int, ...], keep_axes: bool
) -> Tensor | Expr:
    """A tensor reduced along axes, starting from `start`, which has the tensor's type."""
    _check_takes(function, name, 2)
    body, captured = _traced(name, function, tensor.type)
    return apply(p.reduce, tensor, start, *captured, axes=axes, keep_axes=keep_axes, body=body, type=tensor.type)


def _check_takes(function: Any, name: str, count: int) -> None:
    """Raise an error for a function that cannot be called with `count` arguments."""
    takes = "one element" if count == 1 else "an element and what was accumulated before it"
    if not callable(function):
        example = "lambda x: x + 1" if count == 1 else "lambda x, acc: x + acc"
        raise NxTypeError(
            message(f"{name} takes a function of {takes}, got {shapes.describe(function)}.", f"For instance {example}.")
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # Some functions written in C do not tell.
    try:
        signature.bind(*range(count))
    except TypeError:
        raise NxTypeError(f"the function {_name(function)}{signature} of {name} is called with {takes}") from None


def _traced(name: str, function: Folding, type_: Type) -> tuple[Graph, list[Any]]:
    """The graph of a function of an element and the accumulator, and the scalars that it captures."""
    spec = Spec(type_, (), ())

    def leaves(result: Any) -> list[Operand]:
        return [convert(_single(result, name, function), type_)]

    body, captured = trace_body(_name(function), function, [("element", spec), ("accumulated", spec)], leaves)
    for value in captured:
        if value.shape:
            raise NxTypeError(
                message(
                    f"the function {_name(function)} of {name} uses a tensor from outside of type {value.spec}.",
                    f"It works on one element at a time: take the scalar that it needs out of it before {name}.",
                )
            )
    for node in post_order(body.outputs):
        if node.primitive.family not in ("elementwise", "leaf"):
            raise NxTypeError(
                message(
                    f"the function {_name(function)} of {name} uses {node.primitive}, which is not element-wise.",
                    "It works on one element at a time: do the rest before or after.",
                )
            )
    return body, captured


def _single(result: Any, name: str, function: Callable[..., Any]) -> Operand:
    """The result of a user's function, which must be a scalar."""
    if is_operand(result) and not isinstance(result, list | tuple):
        result = operand(result)
        if not result.shape:
            return result
        described = f"a tensor of type {result.spec}"
    else:
        described = shapes.describe(result)
    raise NxTypeError(
        message(
            f"the function {_name(function)} of {name} gives a scalar for an element, got {described}.",
            "Numbers and tensors without axes are scalars.",
        )
    )


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "fun")
