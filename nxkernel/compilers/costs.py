"""What operations cost: about how many simple instructions each takes for one element, by its name."""

from __future__ import annotations

_FUNCTIONS = "exp expm1 log log1p log2 log10 sigmoid sin cos tanh erf"
_LONGER = "tan asin acos atan sinh cosh asinh acosh atanh"
_LONGEST = "pow atan2 remainder cbrt erfc erf_inv"
#: Of those that take more than one.
COSTS = {
    **dict.fromkeys(_FUNCTIONS.split(" "), 10),
    **dict.fromkeys(_LONGER.split(" "), 20),
    **dict.fromkeys(_LONGEST.split(" "), 30),
    **dict.fromkeys(["divide", "sqrt", "rsqrt", "quotient"], 5),
    "threefry2x32": 80,
}


def cost(name: str) -> int:
    """Of one operation."""
    return COSTS.get(name, 1)
