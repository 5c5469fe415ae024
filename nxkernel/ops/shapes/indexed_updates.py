"""Scatter: writing elements at indices, and joining others with them; sums and extremes of segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import (
    TypeRule,
    apply,
    arithmetic,
    convert,
    counted,
    filled,
    of_type,
    operand,
    ordered,
    spread,
    unchanged,
)
from nxkernel.ops.machinery.function_factories import documented
from nxkernel.ops.shapes.gathering import (
    check_not_empty,
    coordinates,
    one_coordinate_each,
    split_coordinates,
    whole_indices,
)
from nxkernel.ops.shapes.indexing import slice_along_axis
from nxkernel.ops.shapes.shaping import rename
from nxkernel.tensor.tensor import StoredTensor, Tensor

__all__ = [
    "indexed_add", "indexed_max", "indexed_min", "indexed_multiply", "indexed_put", "segment_max", "segment_min",
    "segment_prod", "segment_sum",
]  # fmt: skip

_UPDATE = """{what}

Parameters
----------
target : tensor
indices : tensor or list of int
    Its last axis holds coordinates, one number for each of `axes`. Those outside of an axis are moved to its
    nearest end; in a list they are an error.
updates : tensor or number
    For each coordinate what to {verb}: its shape is that of `indices` but the last axis, then the sizes of the axes
    of `target` that no coordinate is for. One number stands for all.
axes : int, str or list of these, optional
    In ascending order; without it the first ones of `target`.

Returns
-------
Tensor
    A new tensor like `target`; the types of `target` and `updates` merged.

Raises
------
NxValueError
    When shapes do not fit.

Examples
--------
{examples}
"""


def _update(combine: str, rule: TypeRule, what: str, verb: str, *examples: str) -> Any:
    """A function that joins updates with elements, by a mode of ``scatter``."""

    def function(
        target: Any, indices: Any, updates: Any, *, axes: int | str | Sequence[int | str] | None = None
    ) -> Tensor | Expr:
        return _indexed(target, indices, updates, axes, combine, rule)

    name = f"indexed_{combine}"
    return documented(function, name, _UPDATE.format(what=what, verb=verb, examples="\n".join(examples)))


def _indexed(target: Any, indices: Any, updates: Any, axes: Any, combine: str, rule: TypeRule) -> Tensor | Expr:
    function = f"indexed_{combine}"
    target, chosen = operand(target, "target"), whole_indices(indices, function)
    positions = coordinates(target, indices, chosen, axes, function)
    check_not_empty(target, positions, chosen, function)
    given, updates = updates, operand(updates, "updates")
    rest = [size for axis, size in enumerate(target.shape) if axis not in positions]
    shape = (*chosen.shape[:-1], *rest)
    if updates.shape not in ((), shape):
        raise NxValueError(
            message(
                f"{function}: updates {updates.spec} do not fit indices {chosen.spec} into {target.spec}.",
                f"Their shape is {shapes.text(shape)}, or one number stands for all.",
                *(one_coordinate_each(chosen) if updates.shape[:1] == chosen.shape else ()),
            )
        )
    type_ = rule(types.merge(target.type, counted(updates)))
    updates = rename(spread(of_type(given, updates, type_), shape), [None] * len(shape))
    columns = split_coordinates(chosen)
    return apply(primitives.scatter, convert(target, type_), updates, *columns, axes=positions, combine=combine)


indexed_add = _update(
    "add", arithmetic,
    "Add to elements, or to slices of the remaining axes, at coordinates; repeated coordinates add up.",
    "add",
    ">>> nx.indexed_add([1.0, 2.0], [[0], [0], [1]], [10, 20, 5]).to_list()",
    "[31.0, 7.0]",
    ">>> nx.indexed_add(nx.iota((2, 2)), [1], [10, 20], axes=[1]).to_list()",
    "[[0, 11], [2, 23]]",
)  # fmt: skip
indexed_put = _update(
    "put", unchanged,
    "Replace elements, or slices of the remaining axes, at coordinates; of repeated coordinates the last wins.",
    "put there",
    ">>> nx.indexed_put([0, 0, 0], [[1], [2]], [2, 4]).to_list()",
    "[0, 2, 4]",
    ">>> nx.indexed_put([[1], [2]], [1, 0], 10).to_list()",
    "[[1], [10]]",
)  # fmt: skip
indexed_max = _update(
    "max", ordered("indexed_max"),
    "Replace elements, or slices of the remaining axes, at coordinates by what is greater than they. NaN wins.",
    "compare with",
    ">>> nx.indexed_max([1, 2, 3], [[0], [0], [2]], [5, 4, 0]).to_list()",
    "[5, 2, 3]",
)  # fmt: skip
indexed_min = _update(
    "min", ordered("indexed_min"),
    "Replace elements, or slices of the remaining axes, at coordinates by what is less than they. NaN wins.",
    "compare with",
    ">>> nx.indexed_min([1, 2, 3], [[0], [0], [2]], [5, 4, 0]).to_list()",
    "[1, 2, 0]",
)  # fmt: skip
indexed_multiply = _update(
    "multiply", arithmetic,
    "Multiply elements, or slices of the remaining axes, at coordinates; all factors of one place count.",
    "multiply by",
    ">>> nx.indexed_multiply([1, 2, 3], [[0], [0], [2]], [5, 4, 10]).to_list()",
    "[20, 2, 30]",
)  # fmt: skip

_SEGMENT = """{what} of the rows of each segment.

Parameters
----------
data : tensor
    Its first axes are those of `segment_ids`; what is left over of the others stays.
segment_ids : tensor
    Whole numbers, in any order: which segment each row belongs to. Rows of segments that there are not are left out.
num_segments : int, optional
    How many segments there are. Without it one more than the greatest number, of ids with data.

Returns
-------
Tensor
    One row a segment, in the type of `data`{types}. A segment without rows has {nothing}.

Raises
------
NxTypeError
    Where `num_segments` is missing and only the running program knows the ids{refused}.
NxValueError
    When the shapes do not fit.

Examples
--------
>>> nx.{name}([5, 1, 2, 7], [0, 0, 1, 1], 2).to_list()
{result}
"""


def _segment(
    name: str, combine: str, rule: TypeRule, first: Callable[[types.Type], Any], what: str, nothing: str, result: str
) -> Any:
    """A function that joins the rows of segments, by a mode of ``scatter``."""

    def function(data: Any, segment_ids: Any, num_segments: int | None = None) -> Tensor | Expr:
        data, ids = operand(data, "data"), whole_indices(segment_ids, name)
        if ids.shape != data.shape[: ids.rank] or not ids.rank:
            raise NxValueError(
                message(
                    f"{name}: segment_ids {ids.spec} have no number for each row of data {data.spec}.",
                    "Their shape is that of the first axes of data, at least one.",
                )
            )
        count = _segments(name, ids, num_segments)
        type_ = rule(data.type)
        # What belongs to no segment goes to one more.
        inside = comparison.logical_and(comparison.greater_equal(ids, 0), comparison.less(ids, count))
        ids = comparison.select(inside, convert(ids, types.s64), count)
        start = filled(first(type_), type_, (count + 1, *data.shape[ids.rank :]))
        updates = rename(convert(data, type_), [None] * data.rank)
        joined = apply(primitives.scatter, start, updates, rename(ids, [None] * ids.rank), axes=(0,), combine=combine)
        rest = slice_along_axis(joined, 0, count)
        return rename(rest, [None, *data.names[ids.rank :]])

    of_bool, refused = ("", ", and for complex numbers") if combine in ("max", "min") else ("; bool counts as s64", "")
    doc = _SEGMENT.format(name=name, what=what, nothing=nothing, result=result, types=of_bool, refused=refused)
    return documented(function, name, doc)


def _segments(name: str, ids: Operand, count: int | None) -> int:
    if count is not None:
        count = shapes.static_int(count, "num_segments")
        if count < 0:
            raise NxValueError(f"{name}: num_segments is at least 0, got {count}")
        return count
    if not isinstance(ids, StoredTensor) or ids.vectorized_axes:
        raise NxTypeError(
            message(
                f"{name}: only the running program knows how many segments there are: it knows the ids, {ids.spec}.",
                f"Sizes are fixed when a program is compiled: write nx.{name}(data, ids, n).",
            )
        )
    return int(ids.to_numpy().max(initial=-1)) + 1


segment_sum = _segment("segment_sum", "add", arithmetic, lambda _: 0, "The sum", "0", "[6, 9]")
segment_prod = _segment("segment_prod", "multiply", arithmetic, lambda _: 1, "The product", "1", "[5, 14]")
segment_max = _segment(
    "segment_max", "max", ordered("segment_max"), types.least, "The greatest element",
    "the least number of the type, -inf of floats", "[5, 7]",
)  # fmt: skip
segment_min = _segment(
    "segment_min", "min", ordered("segment_min"), types.greatest, "The least element",
    "the greatest number of the type, inf of floats", "[1, 2]",
)  # fmt: skip
