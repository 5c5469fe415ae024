"""NVIDIA GPUs: what there is of them, their memory, and how kernels are launched on them.

CuPy is imported when the first device is asked for, and not before.
"""
