"""From a loop nest to launches of kernels whose text knows no sizes."""

from __future__ import annotations

from nxkernel.compilers.canonical import Bound
from nxkernel.compilers.numba_cuda import grouping, mapping, scattering, tiling, transposing
from nxkernel.compilers.numba_cuda.geometry import Machine
from nxkernel.compilers.numba_cuda.launches import KernelLaunch


def launches_of(bound: Bound, device: Machine) -> list[KernelLaunch]:
    """The launches that compute a nest, in their order.

    Parameters
    ----------
    bound : Bound
    device : Machine
        How many ``multiprocessors`` and ``threads`` it has, how many bytes of shared memory a block may have
        (``shared_limit``), and whether it is ``simulated``.

    Returns
    -------
    list of KernelLaunch
        None where there is nothing to compute.
    """
    if scattering.is_contested(bound):
        return scattering.launches(bound, device)
    if any(section.reduces for section in bound.nest.sections):
        tile = tiling.chosen(bound, device)
        if tile is not None:
            return tiling.Tiling(bound, device, *tile).launches()
        return grouping.writer_for(bound, device).launches()
    turned = transposing.turned(bound)
    if turned is not None:
        return transposing.Transposing(bound, device, *turned).launches()
    return mapping.Mapping(bound, device).launches()
