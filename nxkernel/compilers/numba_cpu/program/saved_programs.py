"""Programs on disk: what a process needs to run one again without planning, which takes longer than loading.

A record is found by the contents of the graph, as long as nothing of the sources that make plans has changed. It has
the scalar parameters of the program, its arrays, and a line on each kernel; native code has files of its own, see
:mod:`nxkernel.compilers.numba_cpu.runtime.code_store`. Programs that call back into Python have none.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nxkernel import types
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.interface import KernelRecord
from nxkernel.compilers.numba_cpu.program.executable import Layout, NativeProgram
from nxkernel.compilers.numba_cpu.runtime import code_store, library_routines, threading_layer
from nxkernel.compilers.numba_cpu.runtime.loader import LoadedCode
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.graph.content_bytes import contents
from nxkernel.graph.expr import Expr, Graph

#: Nodes of the smallest graph that is worth a file: plans of smaller ones are made in a few milliseconds.
WORTH_A_FILE = 32
#: Whether a kernel has native code of its own; other kernels are parts of the program or of a library.
_OWN_CODE = ("compiled", "memory", "disk")
_SIZE = struct.Struct("<Q")


class SavedKernel:
    """The record of a kernel whose program was loaded from disk, as :class:`KernelRecord`; details are computed on
    demand.

    What only the plan of the program knows is asked for when somebody wants to see it.
    """

    __slots__ = ("_record", "continues", "kind", "milliseconds", "moved", "operations", "origin", "symbol", "title")

    def __init__(self, record: Callable[[], KernelRecord], line: list, origin: str, milliseconds: float) -> None:
        self._record, self.origin, self.milliseconds = record, origin, milliseconds
        self.kind, self.title, self.symbol, self.moved, self.operations, self.continues = line

    @property
    def nodes(self) -> list[Expr]:
        """The nodes that the kernel computes."""
        return self._record().nodes

    @property
    def texts(self) -> dict[str, Callable[[], str]]:
        """By name of a form, a function that gives the kernel's text in it."""
        return self._record().texts


@dataclass(frozen=True)
class SavedProgram:
    """The contents of a program's record on disk.

    Parameters
    ----------
    text : NativeProgram
        Without its text.
    layout : Layout
    lines : list
        Of each kernel its kind, title, symbol, bytes and operations, and whether it continues the one before it.
    origins : list of str
        Where the code of each kernel is, or empty for those that have files of their own.
    """

    text: NativeProgram
    layout: Layout
    lines: list[list]
    origins: list[str]

    def kernels(self, record: Callable[[int], KernelRecord]) -> tuple[list[SavedKernel], dict[str, LoadedCode]] | None:
        """The kernels, and their code by name; None if some of it is no longer there.

        Parameters
        ----------
        record : callable
            Gives by its number what the plan knows of a kernel.
        """
        kernels, codes = [], {}
        for number, (line, origin) in enumerate(zip(self.lines, self.origins, strict=True)):
            begin = time.perf_counter()
            kept = None if origin else code_store.kept(line[2])
            if not origin and kept is None:
                return None
            if kept is not None:
                codes[line[2]] = kept[0]
            spent = 1e3 * (time.perf_counter() - begin)
            kernels.append(
                SavedKernel(functools.partial(record, number), line, origin or kept[1], 0.0 if origin else spent)
            )
        return kernels, codes


def name_of(graph: Graph) -> str | None:
    """The name of a graph's record on disk; None if it is not worth one or cannot be saved."""
    if disk_cache.directory() is None:
        return None
    content = contents(graph)
    if content is None or content[1] < WORTH_A_FILE:
        return None
    return f"nxg_{hashlib.sha256(_sources() + content[0]).hexdigest()[:40]}"


def write(name: str, text: NativeProgram, layout: Layout, kernels: Sequence[KernelRecord]) -> None:
    """Save the record of a program, unless it calls back into Python."""
    if text.calls:
        return
    said = {
        "symbol": text.symbol,
        "loops": text.loops,
        "libraries": sorted(text.libraries),
        "blas": text.blas,
        "control": library_routines.control() if text.blas else None,
        "kernels": list(text.kernels.items()),
        "layout": [layout.arrays, layout.workspace, layout.outputs],
        "lines": [[one.kind, one.title, one.symbol, one.moved, one.operations, one.continues] for one in kernels],
        "places": ["" if one.symbol.startswith("nxk_") and one.origin in _OWN_CODE else one.origin for one in kernels],
    }
    head = json.dumps(said).encode()
    disk_cache.write(name, _SIZE.pack(len(head)) + head + text.params.astype("<i8").tobytes())


def read(name: str) -> SavedProgram | None:
    """The record saved under a name; None if there is none, or it was made for another BLAS."""
    data = disk_cache.read(name)
    if data is None:
        return None
    (size,) = _SIZE.unpack_from(data)
    said = json.loads(data[_SIZE.size : _SIZE.size + size])
    used = frozenset(map(types.normalize, said["libraries"]))
    if said["blas"] and library_routines.control() != said["control"]:
        return None
    scalars = np.frombuffer(data, "<i8", offset=_SIZE.size + size).astype(np.int64)
    scalars[0] = threading_layer.STATE.ctypes.data
    text = NativeProgram(said["symbol"], "", scalars, used, said["blas"], (), said["loops"], dict(said["kernels"]))
    arrays, workspace, outputs = said["layout"]
    layout = Layout(
        [(tuple(shape), type_) for shape, type_ in arrays],
        workspace,
        [Location(MemoryKind(kind), index) for kind, index in outputs],
    )
    return SavedProgram(text, layout, said["lines"], said["places"])


_OTHERS = frozenset({"cuda", "numba_cuda", "numba_cpu", "display", "__pycache__"})


@functools.cache
def _sources() -> bytes:
    """The sources of ours that decide which program a graph becomes."""
    root = os.path.dirname(types.__file__)
    parts = [os.path.join(folder, file) for folder in (root, *_folders(root)) for file in os.listdir(folder)]
    read = [Path(path).read_bytes() for path in sorted(parts) if path.endswith(".py")]
    return hashlib.sha256(b"\n".join([*read, str(library_routines.ENOUGH_TILES).encode()])).digest()


def _folders(root: str) -> Iterator[str]:
    """The folders of those sources.

    Those of GPUs and of what is shown decide nothing here, and those of this compiler name the cache's own folder.
    """
    for name in ("backends", "compilers", "graph"):
        for folder, inside, _ in os.walk(os.path.join(root, name)):
            inside[:] = [each for each in inside if each not in _OTHERS]
            yield folder
