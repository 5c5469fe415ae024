"""Graph transforms: simplification, gradients and vectorization."""
