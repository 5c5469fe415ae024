"""Tracing: running a function once on symbolic values to record its graph, its side effects and hooks."""
