"""Operations that are no loop nest: kernels of our own, and NVIDIA's libraries."""
