"""Shapes and indexing: reshaping, slicing, gathering, scattering, sorting, padding, diagonals."""
