"""Kernels as people read them: loop nests as source, operations as text, opaque operations in NumPy's words."""
