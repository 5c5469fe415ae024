"""Forward-mode differentiation: the table of tangent rules and the walk through a graph."""

from nxkernel.transforms.tangents.rule_table import JOINT, RULES, TangentSite
from nxkernel.transforms.tangents.rules import control_flow, cumulative, custom, elementwise, linear

__all__ = ["JOINT", "RULES", "TangentSite", "control_flow", "cumulative", "custom", "elementwise", "linear"]
