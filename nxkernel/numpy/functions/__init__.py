"""NumPy's functions, one module a family."""
