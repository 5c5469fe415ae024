"""Reverse-mode differentiation: the table of gradient rules and the walk back through a graph."""

from nxkernel.transforms.adjoints import integer_paths
from nxkernel.transforms.adjoints.rule_table import CONSTANT, REFUSED, RULES, AdjointSite
from nxkernel.transforms.adjoints.rules import (
    constant_functions,
    contraction,
    control_flow,
    cumulative,
    custom,
    elementwise,
    indexing,
    linear_algebra,
    reductions,
    shaping,
    user_reductions,
    windows,
)

__all__ = [
    "CONSTANT", "REFUSED", "RULES", "AdjointSite", "constant_functions", "contraction", "control_flow", "cumulative",
    "custom", "elementwise", "indexing", "integer_paths", "linear_algebra", "reductions", "shaping", "user_reductions",
    "windows",
]  # fmt: skip
