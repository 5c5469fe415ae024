"""Graph-to-graph rewrites before scheduling."""
