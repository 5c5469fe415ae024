"""Definitions with a state that run in a thread of their own, input by input."""
