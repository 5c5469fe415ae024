"""The version of native code in the disk cache: processor, tools, and our own sources."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from nxkernel import compile_thread

_COMPILERS = Path(__file__).parents[2]
#: Sources outside of this compiler's folder that decide what its object code means.
_BESIDE = (
    "analysis/reduction_table.py", "rewrite/complex_functions.py", "rewrite/graph_builder.py", "schedule/loop_nest.py",
)  # fmt: skip


def parts() -> Iterator[bytes]:
    """The processor, tool versions and our own sources, one after the other.

    Between two releases sources change and the version does not: by the version alone old code would be loaded.
    Numba's version is read from its file: importing Numba, or the machinery that knows the versions of distributions,
    would take longer than loading every kernel.
    """
    import llvmlite

    from nxkernel.compilers.numba_cpu.target import target_processor

    yield compile_thread.do(target_processor.processor).encode()
    yield llvmlite.__version__.encode()
    version = Path(importlib.util.find_spec("numba").origin).with_name("_version.py")
    if version.exists():
        yield version.read_bytes()
    own = sorted((_COMPILERS / "numba_cpu").rglob("*.py"))
    yield from (path.read_bytes() for path in [*(_COMPILERS / name for name in _BESIDE), *own])
