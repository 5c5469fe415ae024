"""Loop nests to CUDA kernel source; one module for each form of kernel."""
