"""Content identity: definitions that are equal by code and captures share cache entries, such as training steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nxkernel import compile_thread
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.calls.graph_cache import CachedProgram, CacheEntryGroup, CacheInfo
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.observe.events import Event, stream

if TYPE_CHECKING:
    from nxkernel.definitions.observe.compilation_report import CompilationView


class HasPrograms:
    """The inspection methods of functions that have compiled programs: cache info, compilations, clearing."""

    __name__: str
    _entry_group: CacheEntryGroup

    def cache_info(self) -> CacheInfo:
        """Counts of hits and misses, and of kernels compiled or found in memory or on disk."""
        group = self._entry_group
        return CacheInfo(group.hits, group.misses, group.compiled, group.memory, group.disk, len(group.programs()))

    def clear_cache(self) -> None:
        """Drop the compiled programs; their kernels stay in memory and on disk."""
        _drop(self._entry_group)

    def compilations(self) -> list[CompilationView]:
        """The compiled programs as data for display, oldest first."""
        programs = sorted(self._entry_group.programs(), key=lambda program: program.made)
        return [self._view(program) for program in programs]

    def _view(self, program: CachedProgram, inputs: Sequence[Any] | None = None) -> CompilationView:
        """A program as data for display, measured on inputs if there are some."""
        compile_thread.load("nxkernel.definitions.calls.program_views")
        from nxkernel.definitions.calls import program_views

        return program_views.view(self.__name__, program, inputs)


class CachedFunction(HasPrograms):
    """A name and its compiled programs, for display only: it cannot be called.

    Parameters
    ----------
    entry_group : CacheEntryGroup
        Its programs.
    """

    def __init__(self, entry_group: CacheEntryGroup) -> None:
        self._entry_group = entry_group
        self.__name__ = entry_group.name

    def __repr__(self) -> str:
        return f"<programs of {self.__name__}>"

    def is_of(self, definition: object) -> bool:
        """Whether a definition has this cache entry group."""
        return getattr(definition, "_entry_group", None) is self._entry_group


def functions() -> list[CachedFunction]:
    """The functions that have compiled programs, latest definition last.

    Examples
    --------
    >>> import nxkernel as nx
    >>> def eleventh(t):
    ...     return t / 11
    >>> _ = nx.jit(eleventh)(1.0)
    >>> functions()[-1]
    <programs of eleventh>
    """
    return [CachedFunction(entry_group) for entry_group in graph_cache.entry_groups()]


def forget(name: str = "") -> tuple[int, Callable[[], int]]:
    """Drop the compiled programs of all functions of a name, or of all functions.

    Parameters
    ----------
    name : str, optional

    Returns
    -------
    int
        The number of dropped programs.
    callable
        Restores those that have not been replaced by then, and returns their number.
    """
    dropped = [(each, _drop(each)) for each in graph_cache.entry_groups() if name in ("", each.name)]
    return sum(len(programs) for _, programs in dropped), lambda: sum(
        entry_group.restore(programs) for entry_group, programs in dropped
    )


def _drop(entry_group: CacheEntryGroup) -> list[CachedProgram]:
    dropped = entry_group.clear()
    # What is traced again warns again.
    source_locations.warn_again()
    if dropped:
        stream.emit(
            Event(
                "clear",
                entry_group.name,
                where=source_locations.caller(),
                calls=len(dropped),
                identity=entry_group.identity,
            )
        )
    return dropped


def named(name: str) -> CachedFunction | None:
    """The cached function of that name that was defined last; None where none has programs."""
    return next((known for known in reversed(functions()) if known.__name__ == name), None)
