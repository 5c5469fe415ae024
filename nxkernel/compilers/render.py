"""A loop nest as readable Numba source."""

from __future__ import annotations

from nxkernel.compilers.loops import Nest


def render(nest: Nest) -> str:
    """Python source for the nest, as one would write it for ``numba.njit``."""
    return repr(nest)
