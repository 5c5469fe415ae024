"""Operations that are no loop nest: kernels of our own, and NVIDIA's libraries."""

# They register themselves.
from nxkernel.compilers.numba_cuda.routines import cumulative_plan, decompositions, fourier, sort_plan  # noqa: F401
