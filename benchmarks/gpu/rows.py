"""The process that measures on a GPU: ``python -m benchmarks.gpu.rows``, started by :mod:`benchmarks.gpu.command`.

It gets as JSON what to do, and prints a line of JSON for each thing that it knows: what the machine is, which work it
begins, which rows came of it. A fault of a kernel is the end of a process on a GPU, so that another one goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import platform
import sys
import warnings
from typing import Any

from benchmarks.gpu.libraries import Library, there
from benchmarks.gpu.timing import copy_bandwidth, failure
from benchmarks.gpu.works import Ground, works
from benchmarks.measuring import machine
from benchmarks.measuring.work import Settings

#: Packages whose versions are told beside those of every table.
PACKAGES = ("jax", "jaxlib", "torch", "triton", "cupy-cuda13x", "cupy-cuda12x", "numba-cuda", "numpy", "numba")

_OUT = sys.stdout


def description(gpu: bool, bandwidth: float | None) -> dict[str, str]:
    """The machine and the versions, as names and values for a reader."""
    from nxkernel.backends.cuda import devices

    device = devices.device(0)
    told = {"GPU": device.description if gpu else "none: Numba's simulator, whose times say nothing"}
    if bandwidth:
        told["copy on the device"] = f"{bandwidth / 1e12:.2f} TB/s read and written"
    told |= {
        "processor": machine.processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    versions = {name: machine.version(name) for name in ("nxkernel", *PACKAGES)}
    return told | {name: version for name, version in versions.items() if version != machine.NOT_INSTALLED}


def tell(**line: Any) -> None:
    """Print a line for the process that waits for it."""
    print(json.dumps(line), file=_OUT, flush=True)


def main(gpu: bool, small: bool, names: list[str], settings: dict[str, Any], first: bool, peers: list[str]) -> int:
    """Measure works one after the other.

    Parameters
    ----------
    gpu, small : bool
        Whether there is a GPU, and whether sizes are those that the simulator does.
    names : list of str
        Of the works.
    settings : dict
        The fields of `Settings`.
    first : bool
        Whether the machine is to be described.
    peers : list of str
        Who may take part beside the subject.

    Returns
    -------
    int
        Another status than 0 where the device cannot be used any more.
    """
    if not gpu:
        from nxkernel.backends.cuda import devices

        devices.use_simulator()
    bandwidth = copy_bandwidth() if gpu else None
    libraries, missing = there(gpu, peers)
    if first:
        tell(machine=description(gpu, bandwidth), missing=missing)
    for work in works(Ground(libraries, bandwidth, small)):
        if work.name not in names:
            continue
        tell(begin=work.name)
        try:
            rows = work.measure(work, Settings(**settings))
        except Exception as error:
            rows = [work.outcome({}, note=failure("all", error))]
        tell(rows=[dataclasses.asdict(row) for row in rows])
        for library in libraries:
            library.free()
        if not _alive(libraries):
            return 3
    return 0


def _alive(libraries: list[Library]) -> bool:
    """Whether the device still computes for everybody."""
    import numpy as np

    try:
        for library in libraries:
            library.wait(library.place(np.zeros(1, np.float32)))
    except Exception:
        return False
    return True


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    # What libraries print is not for the process that reads.
    with contextlib.redirect_stdout(io.StringIO()):
        sys.exit(main(**json.loads(sys.argv[1])))
