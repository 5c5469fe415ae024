"""Expression graphs: their nodes, how they are recorded, printed and walked."""

from nxkernel.graph.expr import Expr, Graph, Source
from nxkernel.graph.traverse import post_order

__all__ = ["Expr", "Graph", "Source", "post_order"]
