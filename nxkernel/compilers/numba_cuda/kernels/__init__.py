"""Loop nests to the source of CUDA kernels, one module a shape of nest."""
