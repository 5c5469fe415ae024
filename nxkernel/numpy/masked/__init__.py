"""Masked arrays of NumPy programs, and the functions of ``numpy.ma``."""
