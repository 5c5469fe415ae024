"""``ufunc.at``: a function applied in place at indices, repeatedly for repeated indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nxkernel import primitives as p
from nxkernel.graph import tracing
from nxkernel.numpy.arrays import fancy_indexing, subscripts
from nxkernel.numpy.arrays.array import Array, Scalar, fitted
from nxkernel.numpy.base import integer_bounds
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.ops.programs import control_flow
from nxkernel.ops.shapes.indexing import index as part_of
from nxkernel.types import Type, bool_

#: Of functions whose order does not matter: what scatters do.
_ADDING = {"add": 1, "subtract": -1}


def at(function: Callable[..., Any], name: str, array: Array, indices: Any, values: tuple[Any, ...]) -> None:
    """Apply a function in place, as :meth:`numpy.ufunc.at`.

    Parameters
    ----------
    function : callable
        Of elements, and of as many values.
    name : str
    array : Array
    indices : what stands between the brackets
    values : tuple
        Empty for a function of one array.
    """
    parsed = subscripts.parse(indices, array.shape)
    if not parsed.picks:
        array[indices] = function(array[indices], *values)
        return
    view = array if parsed.basic is None else array.through(parsed.basic)
    shape = fancy_indexing.shape(view.shape, parsed.picks, parsed.front)
    if name in _ADDING and view.type is not bool_:
        updates = fitted(values[0], shape, view.type)
        updates = apply(p.negate, updates) if _ADDING[name] < 0 else updates
        view.assign(fancy_indexing.put(operand(view), parsed.picks, parsed.front, updates, "add"))
        return
    _one_by_one(function, view, parsed.picks, _rows(values, shape, parsed, view.type))


def _rows(values: tuple[Any, ...], shape: tuple[int, ...], parsed: subscripts.ParsedKey, type_: Type) -> list[Any]:
    """The values for each index, broadcast and one after the other."""
    if not values:
        return []
    rows = fitted(values[0], shape, operand(values[0]).type if hasattr(values[0], "type") else type_)
    rank = len(fancy_indexing.together(parsed.picks)[0].shape)
    front = fancy_indexing.in_front(rows, rank, parsed.picks, parsed.front)
    count = math.prod(front.shape[:rank])
    return [apply(p.reshape, front, shape=(count, *front.shape[rank:]), names=(None,) * (1 + front.rank - rank))]


def _one_by_one(function: Callable[..., Any], view: Array, picks: dict[int, Any], rows: list[Any]) -> None:
    together = fancy_indexing.together(picks)
    count = math.prod(together[0].shape)
    places = [apply(p.reshape, place, shape=(count,), names=(None,)) for place in together]

    def turn(place: Any) -> None:
        found = dict(zip(picks, (Scalar(part_of(each, place)) for each in places), strict=True))
        key = tuple([found.get(axis, slice(None)) for axis in range(view.ndim)])
        view[key] = function(view[key], *(part_of(row, place) for row in rows))

    if tracing.current() is None:
        for place in range(count):
            turn(place)
        return

    def body(state: list[Any]) -> list[Any]:
        integer_bounds.assume(state[0], 0, count - 1)
        turn(state[0])
        return [elementwise.add(state[0], 1)]

    control_flow.run_while([0], lambda state: comparison.less(state[0], count), body, ["place"])
