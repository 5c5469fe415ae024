"""Routines: operations that are no loop nests, as kernels of ours or by NVIDIA's libraries."""

# They register themselves.
from nxkernel.compilers.numba_cuda.routines import cumulative_plan, decompositions, fourier, sort_plan  # noqa: F401
