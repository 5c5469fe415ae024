"""SciPy's functions on traced arrays."""
