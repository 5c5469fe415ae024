"""Expressions of NumPy, of numbers of all sorts and arrays in all layouts."""
