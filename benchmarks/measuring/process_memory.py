"""How much memory this process holds, and held at most, as Linux tells it."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

_MEGABYTE = 1e6


def resident() -> float:
    """Megabytes held now."""
    return _status("VmRSS")


def forget_peak() -> None:
    """Make the peak start anew from what is held now, after what was freed has gone back to the system."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # where the C library is glibc
    if trim is not None:
        trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """The most megabytes held since the start or since it was last forgotten.

    This is not ``ru_maxrss``, which a child process inherits from its parent.
    """
    return _status("VmHWM")


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024 / _MEGABYTE
    raise LookupError(f"/proc/self/status has no {name}")
