"""The cost of each primitive: about how many simple instructions it takes for one element."""

from __future__ import annotations

from dataclasses import dataclass

from nxkernel.primitives import ELEMENTARY

_OF_FUNCTION = 10
#: Of those that take more than one.
COSTS = {
    **{name: function.cost for name, function in ELEMENTARY.items()},
    **dict.fromkeys(["pow", "atan2", "remainder"], 30),
    **dict.fromkeys(["divide", "quotient"], 5),
    "threefry2x32": 80,
}


@dataclass(frozen=True)
class Keeping:
    """Thresholds of cost from which a value is materialized instead of recomputed.

    Parameters
    ----------
    value : int
        For one that several nests need.
    large : int
        For one that no cache holds, so that writing and reading it takes as long as some of the work.
    row : int
        For a row of one that a later pass of a nest needs.
    """

    value: int
    large: int
    row: int


ON_PROCESSOR = Keeping(value=8, large=32, row=8)
#: Arithmetic is cheaper there beside memory: an f32 written and read takes as long as some 80 simple instructions.
ON_GPU = Keeping(value=24, large=64, row=48)


def cost(name: str) -> int:
    """The cost of one operation, in simple instructions for each element."""
    return COSTS.get(name, 1)


def is_function(name: str) -> bool:
    """Whether an operation costs as much as a transcendental function."""
    return cost(name) >= _OF_FUNCTION
