"""Fourier transforms by cuFFT."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives as p
from nxkernel.compilers.numba_cuda.routines.routine_table import by_library


@by_library(p.fft, "cuFFT")
def _fft(x: Any, *, axes: tuple[int, ...], inverse: bool) -> Any:
    import cupy

    return (cupy.fft.ifftn if inverse else cupy.fft.fftn)(x, axes=axes)
