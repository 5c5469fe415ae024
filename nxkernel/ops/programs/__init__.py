"""Loops, branches and Numba functions inside of programs."""
