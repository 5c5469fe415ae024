"""`max` and `min`: of two tensors element by element, or of the elements of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.machinery import function_factories
from nxkernel.ops.reductions import reduction
from nxkernel.tensor.tensor import Tensor

__all__ = ["max", "min"]

_EXTREME = """The {extreme} element of each pair; of one tensor the {extreme} of all, or along axes. NaN wins.

Parameters
----------
left : tensor or number
right : tensor or number, optional
    Shapes are broadcast, axes aligned from the last. A number takes the tensor's type where that holds it.
axes : int, str or list of these, optional
    Without `right`: along these, as :func:`reduce_{name}` does; else along all.
keep_axes : bool, optional
    Without `right`: whether reduced axes stay, with size 1.

Returns
-------
Tensor
    The two types merged; the type of one tensor stays.

Raises
------
NxTypeError
    For `right` and axes: elements of pairs have no axis.

Examples
--------
>>> nx.{name}([1, 5], 3).to_list()
{pairs}
>>> nx.{name}([[1, 5], [2, 4]], axes=0).to_list()
{reduced}
"""


def _extreme(name: str, of_pairs: Callable, reduced: Callable, extreme: str, *results: str) -> Any:
    def function(
        left: Any, right: Any = None, *, axes: reduction.Axes = None, keep_axes: bool = False
    ) -> Tensor | Expr:
        if right is None:
            return reduced(left, axes=axes, keep_axes=keep_axes)
        if axes is not None or keep_axes:
            raise NxTypeError(
                message(
                    f"{name} of two tensors is element-wise, so no axis is special.",
                    f"Write nx.{name}(nx.{name}(a, b), axes={axes!r}) for that of the pairs along axes.",
                )
            )
        return of_pairs(left, right)

    doc = _EXTREME.format(name=name, extreme=extreme, pairs=results[0], reduced=results[1])
    return function_factories.documented(function, name, doc)


max = _extreme("max", elementwise.max, reduction.reduce_max, "greatest", "[3, 5]", "[2, 5]")
min = _extreme("min", elementwise.min, reduction.reduce_min, "least", "[1, 3]", "[1, 4]")
