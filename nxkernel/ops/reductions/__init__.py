"""Reductions, windows, matrix products, convolutions, cumulative operations, Fourier transforms, statistics."""
