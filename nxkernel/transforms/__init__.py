"""Graph to graph: simplification, and later gradients and vectorization."""
