"""JAX where it is installed, in the setting that the suite compares in."""

from __future__ import annotations

import functools
from types import ModuleType


@functools.cache
def jax() -> ModuleType | None:
    """JAX on the CPU with float64 enabled; None where it is not installed."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    return jax
