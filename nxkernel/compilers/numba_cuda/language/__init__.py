"""The language of CUDA kernels: elements, operations, intrinsics, and how a source is written and launched."""
