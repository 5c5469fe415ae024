"""The suite that measures nxkernel, JAX and NumPy side by side: ``python -m benchmarks``."""
