"""Expression graphs: nodes, tracing, printing, traversal."""

from nxkernel.graph.expr import Expr, Graph, SourceLocation
from nxkernel.graph.traverse import post_order

__all__ = ["Expr", "Graph", "SourceLocation", "post_order"]
