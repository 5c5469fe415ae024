"""Kernels displayed as Python source: loop nests, operations, opaque operations."""
