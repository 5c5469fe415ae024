"""Loops, branches and Numba functions as parts of a program."""
