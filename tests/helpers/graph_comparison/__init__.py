"""Graphs run by several compilers, or next to another way to say the same, and what both give."""
