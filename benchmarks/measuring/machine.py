"""What the figures were measured on: processor, memory, versions; nothing that tells whose machine it is."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

#: In the place of a version.
NOT_INSTALLED = "not installed"
_PACKAGES = ("nxkernel", "jax", "jaxlib", "numpy", "scipy", "numba", "llvmlite")


def description() -> dict[str, str]:
    """The machine and the versions, as names and values for a reader."""
    return {
        "processor": processor(),
        "cores used": str(len(os.sched_getaffinity(0))),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }


def processor() -> str:
    """The processor's name, and the widest of its vector instructions."""
    info = Path("/proc/cpuinfo").read_text()
    fields = dict(reversed([map(str.strip, line.split(":", 1)) for line in info.splitlines() if ":" in line]))
    vector = next((name for name in ("avx512f", "avx2", "avx") if name in fields.get("flags", "").split()), "")
    return f"{fields.get('model name', platform.machine())}{f' ({vector})' if vector else ''}"


def version(package: str) -> str:
    """The version of a package."""
    if package == "nxkernel":
        import nxkernel

        return nxkernel.__version__
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return NOT_INSTALLED
