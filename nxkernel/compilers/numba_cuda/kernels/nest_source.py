"""From a loop nest to the launches of its CUDA kernels, whose source does not depend on sizes."""

from __future__ import annotations

from nxkernel.compilers.numba_cuda.kernels import (
    elementwise_maps,
    group_reductions,
    ordered_scatters,
    register_tiles,
    tiled_transposes,
)
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine
from nxkernel.compilers.schedule.canonical_form import BoundNest


def launches_of(bound: BoundNest, device: Machine) -> list[KernelLaunch]:
    """The launches that compute a nest, in order.

    Parameters
    ----------
    bound : BoundNest
    device : Machine
        How many ``multiprocessors`` and ``threads`` it has, how many bytes of shared memory a block may have
        (``shared_limit``), and whether it is ``simulated``.

    Returns
    -------
    list of KernelLaunch
        None where there is nothing to compute.
    """
    if ordered_scatters.is_contested(bound):
        return ordered_scatters.launches(bound, device)
    if any(nest_pass.reduces for nest_pass in bound.nest.passes):
        tile = register_tiles.chosen(bound, device)
        if tile is not None:
            return register_tiles.Tiling(bound, device, *tile).launches()
        return group_reductions.writer_for(bound, device).launches()
    turned = tiled_transposes.turned(bound)
    if turned is not None:
        return tiled_transposes.Transposing(bound, device, *turned).launches()
    return elementwise_maps.Mapping(bound, device).launches()
