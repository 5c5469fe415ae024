"""Which axis of each value in a region is the column axis: propagation rules by primitive.

A region works on columns side by side. Each of its values has a *form*: for each axis None, or which of the indices of
a column runs along it and where the first column is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nxkernel import primitives as p
from nxkernel.compilers.analysis import index_maps, scalars
from nxkernel.graph.expr import Expr

#: Which of a column's indices an axis has, and at which place the first column is.
Entry = tuple[int, int] | None
Form = tuple[Entry, ...]


class RefusedError(Exception):
    """An operation mixes columns, so that they are not independent."""


def uniform(node: Expr) -> Form:
    """The form of a value that is the same for all columns."""
    return (None,) * len(node.shape)


def is_uniform(form: Form) -> bool:
    """Whether a value of some form is the same for all columns."""
    return not any(form)


def check(form: Form, shape: Sequence[int], extents: Sequence[int]) -> None:
    """Raise an error for a form that a value of this shape cannot have."""
    entries = [(entry, n) for entry, n in zip(form, shape, strict=True) if entry is not None]
    if len({index for (index, _), _ in entries}) < len(entries):
        raise RefusedError("two axes run along the same index")
    if any(first < 0 or first + extents[index] > n for (index, first), n in entries):
        raise RefusedError("columns beyond the end of an axis")


def has_all_columns(form: Form, shape: Sequence[int], extents: Sequence[int]) -> bool:
    """Whether a value has exactly the columns of the region, from the first to the last."""
    held = {entry[0] for entry in form if entry is not None}
    exact = all(
        entry is None or (entry[1] == 0 and extents[entry[0]] == n) for entry, n in zip(form, shape, strict=True)
    )
    return exact and len(held) == len(extents)


def left(form: Form, values: Sequence) -> tuple:
    """The entries of a sequence with one for each axis that are not of column axes."""
    return tuple(value for entry, value in zip(form, values, strict=True) if entry is None)


# From a result to its operands -----------------------------------------------------------------------------------


def of_operands(node: Expr, form: Form, extents: Sequence[int]) -> list[Form | None]:
    """The forms of a node's operands, given its own; None where it says nothing.

    Raises
    ------
    RefusedError
        When no forms of the operands give this one.
    """
    if node.primitive.family == "elementwise":
        return [form] * len(node.operands)
    rule = _BACKWARD.get(node.primitive)
    if rule is not None:
        return rule(node, form, extents)
    if node.primitive.family == "reduction" and "axes" in node.params and len(node.operands) == 1:
        return [_unreduced(node, form)]
    if not is_uniform(form) or not scalars.is_single(node):
        raise RefusedError(f"{node.primitive.name} works on more than a column")
    return [uniform(operand) for operand in node.operands]


def _reshaped(shape: Sequence[int], form: Form, target: Sequence[int]) -> Form:
    entries = iter([entry for entry, n in zip(form, shape, strict=True) if n != 1])
    return tuple(None if n == 1 else next(entries) for n in target)


def _reshape(node: Expr, form: Form, extents: Sequence[int]) -> list[Form | None]:
    operand = node.operands[0]
    if index_maps.keeps_axes(node):
        return [_reshaped(node.shape, form, operand.shape)]
    if not is_uniform(form):
        raise RefusedError("a reshape mixes columns")
    return [uniform(operand)]


def _broadcast(node: Expr, form: Form, extents: Sequence[int]) -> list[Form | None]:
    (operand,), axes = node.operands, node.params["axes"]
    return [tuple(form[a] if n == node.shape[a] else None for n, a in zip(operand.shape, axes, strict=True))]


def _transpose(node: Expr, form: Form, extents: Sequence[int]) -> list[Form | None]:
    result: list[Entry] = [None] * len(form)
    for entry, axis in zip(form, node.params["axes"], strict=True):
        result[axis] = entry
    return [tuple(result)]


def starts_of(node: Expr) -> list[int | None]:
    """The start of a slice along each axis; None for one that is only known at run time."""
    if node.primitive is p.slice_:
        return list(node.params["starts"])
    base = node.operands[0]
    lengths = node.params["lengths"] if node.primitive is p.dynamic_slice else node.operands[1].shape
    starts = node.operands[1:] if node.primitive is p.dynamic_slice else node.operands[2:]
    return [
        0 if n == length else min(max(int(start.params["value"]), 0), n - length) if _is_constant(start) else None
        for start, n, length in zip(starts, base.shape, lengths, strict=True)
    ]


def _is_constant(start: Expr) -> bool:
    return start.primitive is p.constant


def _moved(form: Form, starts: Sequence[int | None], by: int, node: Expr) -> Form:
    """The form of a slice, from that of the whole array, or the other way round."""
    strides = node.params.get("strides", (1,) * len(form))
    moved: list[Entry] = []
    for entry, start, stride in zip(form, starts, strides, strict=True):
        if entry is not None and (start is None or stride != 1):
            raise RefusedError("columns at places that only the running program knows")
        moved.append(entry if entry is None else (entry[0], entry[1] + by * start))
    return tuple(moved)


def _slice(node: Expr, form: Form, extents: Sequence[int]) -> list[Form | None]:
    return [_moved(form, starts_of(node), 1, node), *(uniform(start) for start in node.operands[1:])]


def _put_slice(node: Expr, form: Form, extents: Sequence[int]) -> list[Form | None]:
    part = _moved(form, starts_of(node), -1, node)
    for entry, n in zip(part, node.operands[1].shape, strict=True):
        if entry is not None and (entry[1] != 0 or n != extents[entry[0]]):
            raise RefusedError("an update of other columns")
    return [form, part, *(uniform(start) for start in node.operands[2:])]


def _along(node: Expr, form: Form, extents: Sequence[int]) -> list[Form | None]:
    axes = node.params.get("axes", (node.params.get("axis"),))
    if any(form[axis] is not None for axis in axes):
        raise RefusedError(f"{node.primitive.name} changes the order of columns")
    return [form] * len(node.operands)


def _pad(node: Expr, form: Form, extents: Sequence[int]) -> list[Form | None]:
    if any(entry is not None and any(config) for entry, config in zip(form, node.params["config"], strict=True)):
        raise RefusedError("columns are added")
    return [form, uniform(node.operands[1])]


def _unreduced(node: Expr, form: Form) -> Form:
    axes, rank = node.params["axes"], len(node.operands[0].shape)
    entries = iter(form)
    if node.params["keep_axes"]:
        return form
    return tuple(None if axis in axes else next(entries) for axis in range(rank))


_Backward = Callable[[Expr, Form, Sequence[int]], list[Form | None]]
_BACKWARD: dict[p.Primitive, _Backward] = {
    p.iota: lambda node, form, extents: [],
    p.reshape: _reshape,
    p.broadcast: _broadcast,
    p.transpose: _transpose,
    p.slice_: _slice,
    p.dynamic_slice: _slice,
    p.put_slice: _put_slice,
    p.reverse: _along,
    p.concatenate: _along,
    p.pad: _pad,
}


# From an operand to the result -----------------------------------------------------------------------------------


def of_result(node: Expr, position: int, form: Form) -> Form | None:
    """The form of a node's result, given that of one operand; None where it does not determine it.

    Raises
    ------
    RefusedError
        When no form of the result goes with this one.
    """
    primitive, operand = node.primitive, node.operands[position]
    if primitive.family == "elementwise" or primitive in (p.reverse, p.concatenate):
        return form
    if primitive is p.reshape:
        return _reshaped(operand.shape, form, node.shape) if index_maps.keeps_axes(node) else None
    if primitive is p.transpose:
        return tuple(form[axis] for axis in node.params["axes"])
    if primitive is p.broadcast:
        return spread(node, form) if node.shape == operand.shape else None
    if position == 0 and primitive in (p.slice_, p.dynamic_slice):
        return _moved(form, starts_of(node), -1, node)
    if primitive is p.put_slice:
        return form if position == 0 else _moved(form, starts_of(node), 1, node) if position == 1 else None
    if primitive is p.pad:
        return form if position == 0 else None
    if primitive.family == "reduction" and "axes" in node.params and len(node.operands) == 1:
        axes = node.params["axes"]
        if any(form[axis] is not None for axis in axes):
            raise RefusedError(f"{primitive.name} over columns")
        return form if node.params["keep_axes"] else tuple(e for axis, e in enumerate(form) if axis not in axes)
    return None


def spread(node: Expr, form: Form) -> Form:
    """The form of a broadcast whose new axes are no column axes, given that of its operand."""
    result: list[Entry] = [None] * len(node.shape)
    for entry, axis in zip(form, node.params["axes"], strict=True):
        result[axis] = entry
    return tuple(result)


# Where columns are to be seen ------------------------------------------------------------------------------------


def walks(node: Expr) -> tuple[int, ...] | None:
    """The axes along which a slice takes the full length, so that the loop walks along the others.

    None for anything else.
    """
    if node.primitive is p.dynamic_slice:
        shape, starts = node.params["lengths"], starts_of(node)
    elif node.primitive is p.put_slice:
        shape, starts = node.operands[1].shape, starts_of(node)
    else:
        return None
    moves = [axis for axis, start in enumerate(starts) if start is None and node.operands[0].shape[axis] > 1]
    axes = tuple(axis for axis, n in enumerate(shape) if n > 1)
    return axes if moves and axes and not set(moves) & set(axes) else None


def is_column_wise(node: Expr, axes: Sequence[int]) -> bool:
    """Whether a loop over an array's slices is closer in memory step by step than column by column."""
    shape = node.operands[0].shape
    return max(axis for axis, n in enumerate(shape) if n > 1) not in axes


def parts(node: Expr) -> Iterator[tuple[str, object]]:
    """The graphs of a loop or branch, by name."""
    return ((name, node.params[name]) for name in ("condition", "body", "then", "otherwise") if name in node.params)
