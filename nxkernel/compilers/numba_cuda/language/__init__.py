"""The language of CUDA kernel source: element types, operations, intrinsics, writer, launches."""
