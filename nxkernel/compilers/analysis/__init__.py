"""Analyses of a graph before scheduling: index maps, scalars, integer ranges, matrix products, operation costs."""
