"""JAX where it is installed, in the setting that the suite compares in."""

from __future__ import annotations

import functools
from types import ModuleType

_platforms = "cpu"


def on_gpu() -> None:
    """Let JAX have its GPU; must be said before the first use of JAX."""
    global _platforms
    _platforms = ""


@functools.cache
def jax() -> ModuleType | None:
    """JAX with float64 enabled, on the CPU unless `on_gpu` was said before; None where it is not installed."""
    try:
        import jax
    except ImportError:
        return None
    if _platforms:
        jax.config.update("jax_platforms", _platforms)
    jax.config.update("jax_enable_x64", True)
    return jax
