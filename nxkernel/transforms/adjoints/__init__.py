"""Reverse-mode differentiation: the table of gradient rules and the walk back through a graph."""

from nxkernel.transforms.adjoints import integer_paths
from nxkernel.transforms.adjoints.rules import (
    constant_functions,
    contraction,
    control,
    cumulative,
    custom,
    elementwise,
    folding,
    indexing,
    linear_algebra,
    reductions,
    shaping,
    windows,
)
from nxkernel.transforms.adjoints.table import CONSTANT, REFUSED, RULES, AdjointSite

__all__ = [
    "CONSTANT", "REFUSED", "RULES", "AdjointSite", "constant_functions", "contraction", "control", "cumulative",
    "custom", "elementwise", "folding", "indexing", "integer_paths", "linear_algebra", "reductions", "shaping",
    "windows",
]  # fmt: skip
