"""Sorting, tables, checksums, and Python around arrays."""
