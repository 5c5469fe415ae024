"""What the gradient of each primitive is: one module a family, one table."""

from nxkernel.transforms.adjoints import (
    contraction,
    control,
    elementwise,
    indexing,
    reductions,
    shaping,
)
from nxkernel.transforms.adjoints.table import CONSTANT, RULES, Site

__all__ = ["CONSTANT", "RULES", "Site", "contraction", "control", "elementwise", "indexing", "reductions", "shaping"]
