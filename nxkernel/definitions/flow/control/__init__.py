"""Branches and loops: compiled into the program, or unrolled while they are traced."""
