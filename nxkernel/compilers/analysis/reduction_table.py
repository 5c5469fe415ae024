"""The table of reductions: identity, joining primitive, and for argmax and argmin the comparison.

Of floats a NaN is best for ``argmax`` and ``argmin``, as it is for ``max`` and ``min``; ties go to the lower index
unless the node wants the higher one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph.expr import Expr
from nxkernel.types import Type


@dataclass(frozen=True)
class Reduction:
    """What a reduction means: a row of the table.

    Parameters
    ----------
    identity : callable
        From the type of the elements what is held before the first one, which changes none.
    join : str
        The element-wise primitive that makes one of two results; of ``argmax`` and ``argmin`` that of their elements.
    sign : str
        For ``argmax`` and ``argmin``, which carry an index, how an element compares with those that it is better than.
    element : str
        For those the reduction that gives the element whose index they find.
    is_logic : bool
        Whether it is about truth values, into which its elements are turned.
    """

    identity: Callable[[Type], float | int]
    join: str
    sign: str = ""
    element: str = ""
    is_logic: bool = False


#: By the name of its primitive. A fold, ``reduce``, has a function of the user's and begins with
#: what is given, so that it has no row.
REDUCTIONS = {
    "sum": Reduction(lambda _: 0, "add"),
    "product": Reduction(lambda _: 1, "multiply"),
    "reduce_max": Reduction(types.least, "max"),
    "reduce_min": Reduction(types.greatest, "min"),
    "argmax": Reduction(types.least, "max", ">", "reduce_max"),
    "argmin": Reduction(types.greatest, "min", "<", "reduce_min"),
    "all": Reduction(lambda _: 1, "logical_and", is_logic=True),
    "any": Reduction(lambda _: 0, "logical_or", is_logic=True),
}
#: Those that find an index.
ARGUMENTS = frozenset(name for name, row in REDUCTIONS.items() if row.sign)
#: Those of truth values.
LOGIC = frozenset(name for name, row in REDUCTIONS.items() if row.is_logic)
#: By the primitive of a cumulative operation, what joins two running results; of truth values sums and products are
#: "any so far" and "all so far".
_RUNNING = {
    p.cumulative_sum: ("add", "max"),
    p.cumulative_product: ("multiply", "min"),
    p.cumulative_max: ("max", "max"),
    p.cumulative_min: ("min", "min"),
}


def running_join(node: Expr) -> str:
    """The element-wise primitive that joins two running results of a cumulative operation.

    Parameters
    ----------
    node : Expr
        A cumulative sum, product, maximum or minimum.

    Returns
    -------
    str
        ``"add"``, ``"multiply"``, ``"max"`` or ``"min"``.
    """
    return _RUNNING[node.primitive][node.type is types.bool_]
