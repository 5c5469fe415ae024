"""Running a function once on symbolic values: the graph, the rules of types that hold, and side effects."""
