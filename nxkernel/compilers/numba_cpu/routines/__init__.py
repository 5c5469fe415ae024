"""Routines: operations that are no loop nests, such as sorts and scans, and their kernels."""
