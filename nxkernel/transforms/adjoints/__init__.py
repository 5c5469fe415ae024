"""What the gradient of each primitive is: one module a family, one table."""

from nxkernel.transforms.adjoints import (
    contraction,
    control,
    cumulative,
    custom,
    elementwise,
    folding,
    functions,
    indexing,
    libraries,
    reductions,
    shaping,
    whole_numbers,
    windows,
)
from nxkernel.transforms.adjoints.table import CONSTANT, REFUSED, RULES, Site

__all__ = [
    "CONSTANT", "REFUSED", "RULES", "Site", "contraction", "control", "cumulative", "custom", "elementwise", "folding",
    "functions", "indexing", "libraries", "reductions", "shaping", "whole_numbers", "windows",
]  # fmt: skip
