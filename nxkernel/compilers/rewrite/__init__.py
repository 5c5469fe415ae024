"""Graph to graph, for loops: what nests say better with other primitives is rewritten."""
