"""Values that a program hands out beside its results: to hooks, and to print."""
