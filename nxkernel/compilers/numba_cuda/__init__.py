"""The compiler ``numba_cuda``: graphs become Numba CUDA kernels for NVIDIA GPUs, launched from the host."""
