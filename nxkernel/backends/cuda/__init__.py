"""NVIDIA GPUs: detection, memory, and kernel launches.

CuPy is imported when the first device is asked for, and not before.
"""
