"""Content identity: definitions that are equal by code and captures share cache entries, such as training steps."""

from __future__ import annotations

from collections.abc import Callable

from nxkernel.definitions.calls import explanations, graph_cache
from nxkernel.definitions.calls.graph_cache import CachedProgram, CacheEntryGroup
from nxkernel.definitions.flow.values import negative_indices
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.observe.compilation_report import CacheInfo, CompilationView
from nxkernel.definitions.observe.events import Event, stream


class HasPrograms:
    """The inspection methods of functions that have compiled programs: cache info, compilations, clearing."""

    __name__: str
    _family: CacheEntryGroup

    def cache_info(self) -> CacheInfo:
        """Hits, misses, and where kernels came from."""
        found = self._family
        return CacheInfo(found.hits, found.misses, found.compiled, found.memory, found.disk, len(found.programs()))

    def clear_cache(self) -> None:
        """Forget its programs; kernels stay in memory and on disk."""
        _drop(self._family)

    def compilations(self) -> list[CompilationView]:
        """Its programs as data for display, oldest first."""
        programs = sorted(self._family.programs(), key=lambda program: program.made)
        return [explanations.view(self.__name__, program) for program in programs]


class KnownFunction(HasPrograms):
    """A function with cached programs, for display only: it cannot be called.

    Parameters
    ----------
    family : Family
        Its programs.
    """

    def __init__(self, family: CacheEntryGroup) -> None:
        self._family = family
        self.__name__ = family.name

    def __repr__(self) -> str:
        return f"<programs of {self.__name__}>"

    def is_of(self, definition: object) -> bool:
        """Whether these are the programs of a definition."""
        return getattr(definition, "_family", None) is self._family


def functions() -> list[KnownFunction]:
    """The functions that have programs, latest definition last.

    Examples
    --------
    >>> import nxkernel as nx
    >>> def eleventh(t):
    ...     return t / 11
    >>> _ = nx.jit(eleventh)(1.0)
    >>> functions()[-1]
    <programs of eleventh>
    """
    return [KnownFunction(family) for family in graph_cache.families()]


def forget(name: str = "") -> tuple[int, Callable[[], int]]:
    """Drop the programs of the functions of a name, or of all of them.

    Parameters
    ----------
    name : str, optional

    Returns
    -------
    int
        How many there were.
    callable
        Puts back those that nothing has replaced by then, and says how many.
    """
    dropped = [(each, _drop(each)) for each in graph_cache.families() if name in ("", each.name)]
    return sum(len(programs) for _, programs in dropped), lambda: sum(
        family.restore(programs) for family, programs in dropped
    )


def _drop(family: CacheEntryGroup) -> list[CachedProgram]:
    dropped = family.clear()
    # What is traced again tells what it told.
    negative_indices.forget()
    if dropped:
        stream.emit(
            Event("clear", family.name, where=source_locations.caller(), calls=len(dropped), identity=family.identity)
        )
    return dropped


def named(name: str) -> KnownFunction | None:
    """The function of that name that was defined last; None where none has programs."""
    return next((known for known in reversed(functions()) if known.__name__ == name), None)
