"""Graph to graph: simplification, gradients and vectorization."""
