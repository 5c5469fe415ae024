"""The contents of the caches as JSON data: programs of each function, native code in memory, files on disk."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from nxkernel.compilers import registry
from nxkernel.compilers.cache import disk_cache
from nxkernel.definitions.calls import graph_cache
from nxkernel_lab.records.event_follower import PaceLimit

#: A look at the disk takes this many seconds at the most, twice as many after one that did not see all files; the next
#: one waits this many, and as many times as it took.
LOOK, PAUSE, REST = 0.05, 1.0, 100


class _DiskStatistics:
    """The latest statistics of the disk cache, whose scan takes long if there are many files."""

    def __init__(self) -> None:
        self._kept, self.pace = disk_cache.CacheSummary(complete=False), PaceLimit(PAUSE, REST)
        self._seconds = LOOK

    def look(self) -> disk_cache.CacheSummary:
        """The statistics of the last complete scan, or until there is one of the longest partial scan."""
        if self.pace.ready():
            with self.pace.round():
                summary = disk_cache.summary(self._seconds)
                if summary.complete or not self._kept.complete:
                    self._kept = summary
                self._seconds = LOOK if summary.complete else 2 * self._seconds
        return self._kept

    def reset(self) -> None:
        self.__init__()


_disk = _DiskStatistics()


def look_again() -> None:
    """Have the next query scan the disk again, after files were removed."""
    _disk.reset()


def contents() -> dict[str, Any]:
    """The current contents of the caches.

    Returns
    -------
    dict
        Sizes in bytes, times in seconds since the epoch, 0 where there is nothing.

        * ``functions``: for each that has programs, the one used last at the end: ``name``; ``label``: that, and which
          of several functions of that name it is; ``programs``: how many;
          ``limit``: how many are kept at most; ``hits``; ``bytes`` of the arrays that programs hold; ``oldest`` and
          ``latest``: when programs were made; ``signatures``: the calls that they answer, at most 20, the one used
          last at the end.
        * ``memory``: native code that is loaded: ``kernels``, ``programs`` (which call kernels, or have loops of
          their own), ``bytes``, ``oldest``, ``latest``.
        * ``disk``: ``on``: whether there is such a cache; ``folder``: where; ``kernels``, ``kernel_bytes``;
          ``records`` and ``record_bytes``: of programs; ``others`` and ``other_bytes``: of other versions or
          processors; ``bytes``, in all, and ``limit``; ``whole``: whether all files were looked at, as otherwise there
          are more; ``oldest`` and ``latest``: when a file was used.
        * ``processors``: how many this process may use.
    """
    processors = registry.get(registry.BUILT_IN).processors()
    return {"functions": functions(), "memory": memory(), "disk": disk(), "processors": processors}


def functions() -> list[dict[str, Any]]:
    """The programs of each function; see :func:`contents`."""
    rows, known = [], graph_cache.entry_groups()
    names = Counter(entry_group.name for entry_group in known if not entry_group.replaced)
    for entry_group in known:
        programs = entry_group.programs()
        if not programs:
            continue
        times = [program.made for program in programs]
        rows.append(
            {
                "name": entry_group.name,
                "label": _label(entry_group, programs, names[entry_group.name] > 1),
                "programs": len(programs),
                "limit": graph_cache.PROGRAMS,
                "hits": entry_group.hits,
                "bytes": sum(array.nbytes for program in programs for array in program.fixed),
                "oldest": min(times),
                "latest": max(times),
                "signatures": [program.signature for program in programs[-20:]],
            }
        )
    return rows


def _label(
    entry_group: graph_cache.CacheEntryGroup, programs: list[graph_cache.CachedProgram], has_others: bool
) -> str:
    """The name of a function, and which one it is where others have that name."""
    if entry_group.replaced:
        return f"{entry_group.name} (before its code changed)"
    return f"{entry_group.name} (first called in {programs[0].where})" if has_others else entry_group.name


def memory() -> dict[str, Any]:
    """The loaded native code; see :func:`contents`."""
    codes = [code for compiler in registry.made() for code in compiler.code_in_memory()]
    times, kinds = [code.loaded for code in codes], Counter(code.kind for code in codes)
    return {
        "kernels": kinds["kernel"],
        "programs": kinds["program"],
        "bytes": sum(code.size for code in codes),
        "oldest": min(times, default=0.0),
        "latest": max(times, default=0.0),
    }


def disk() -> dict[str, Any]:
    """The files on disk; see :func:`contents`."""
    folder, kept = disk_cache.directory(), _disk.look()
    return {
        "on": folder is not None,
        "folder": _short(folder.parent) if folder is not None else "",
        "kernels": kept.kernels,
        "kernel_bytes": kept.kernel_bytes,
        "records": kept.records,
        "record_bytes": kept.record_bytes,
        "others": kept.others,
        "other_bytes": kept.other_bytes,
        "bytes": kept.kernel_bytes + kept.record_bytes + kept.other_bytes,
        "limit": disk_cache.LIMIT,
        "whole": kept.complete,
        "oldest": kept.oldest,
        "latest": kept.latest,
    }


def _short(folder: Path) -> str:
    """A folder's path, with ``~`` for the home folder."""
    home = os.path.expanduser("~")
    text = str(folder)
    return "~" + text[len(home) :] if text.startswith(home + os.sep) else text
