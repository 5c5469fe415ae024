"""Array aliasing after branches and loops: arrays that equal one of several others without being a view of it.

After ``b = x if k > 0 else y`` only the running program knows which array `b` is. In the graph, `b` is a copy: it has
the contents, but assignments into `b` do not reach `x` or `y`, nor the other way round. That is right as long as the
stale array is not read. Where it is, or where the caller would see the difference, the definition is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.values.mutable_arguments import own_copy
from nxkernel.definitions.keys import source_locations
from nxkernel.errors import NxError, NxTypeError, TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.numpy.arrays.array import Array, order_dependences
from nxkernel.numpy.arrays.storage import ArrayStorage
from nxkernel.numpy.arrays.views import Index

#: The storage of arrays that an array may be, and the number of writes to it when that began.
Sources = Mapping[ArrayStorage, int]
#: Keys of a trace's memory. The stale arrays, each with the one that made it so, in order: see :func:`mark`.
_JOURNAL = "arrays out of date"
#: The arrays that were read and may be others.
_READ = "arrays that may be others and were read"


class Aliases:
    """What is known of an array that may be one of several others.

    Attributes
    ----------
    root : ArrayStorage
    sources : dict
        The storage of arrays that this one may be, and the number of writes to it when that began.
    group : object
        Arrays of one group are certainly different ones, though they may have the same sources.
    trusted : set
        The groups whose writes do not make it stale: its own, and those of its sources.
    home : frozenset
        Sources into which the loop writes back what is written here.
    outdated : list of Aliases
        The arrays that may be this one and were written to: it is stale.
    """

    __slots__ = ("group", "home", "name", "outdated", "root", "site", "sources", "trusted", "whose")

    def __init__(self, root: ArrayStorage) -> None:
        self.root = root
        self.sources: dict[ArrayStorage, int] = {}
        self.group, self.home, self.outdated = object(), frozenset(), []
        self.trusted: set[Any] = {self.group}
        self.name, self.site, self.whose = "", None, None

    def before_read(self) -> None:
        """Refuse to read an array that may be stale: one that it may be was assigned into."""
        if self.sources and tracing.current() is not None:
            _list(_READ).append(self)
        if self.outdated:
            by = self.outdated[0]
            raise by._refusal(f"an array is read that {by.shown} may be, which was assigned into")
        for source, writes in self.sources.items():
            behind = source.aliases is not None and any(by.group not in self.trusted for by in source.aliases.outdated)
            if source.writes != writes or behind:
                raise self._refusal(f"{self.shown} is read, and an array that it may be was assigned into")

    def before_write(self) -> None:
        """Mark the arrays that this one may be as stale; refuse it where the caller would see the difference."""
        self.before_read()
        if self.whose is not None and any(one.cell.shared and one not in self.home for one in self.sources):
            raise self.whose()
        for source in self.sources:
            stale = of(source).outdated
            if self not in stale:
                stale.append(self)
                _journal().append((source, self))

    def before_compared(self, other: ArrayStorage | None = None) -> None:
        """Refuse to compare identities where only the running program knows which array this is.

        Raises
        ------
        TracedValueError
        """
        if other is not None:
            beside = {other} if other.aliases is None else {other, *other.aliases.sources}
            if beside.isdisjoint(self.sources) or (other.aliases is not None and other.aliases.group is self.group):
                return
        if self.sources:
            raise TracedValueError(
                message(
                    f"whether {self.shown} is another array is asked: which array it is, only the running program "
                    "knows.",
                    f"That is decided in {self._decided}",
                    "Keep a number beside it that says which one it is, and ask for that.",
                )
            )

    @property
    def shown(self) -> str:
        """The name of the array for messages."""
        return "what a choice gave" if " " in self.name else f"`{self.name}`"

    @property
    def _decided(self) -> str:
        """The line of the branch or loop that decides which array it is."""
        return f"{source_sites.name(self.site)}:  {source_locations.code_at(self.site[0], self.site[1])}"

    def _refusal(self, what: str) -> NxError:
        own = own_copy("x" if " " in self.name else self.name)
        return NxTypeError(
            message(
                f"{what}: which array {self.shown} is, only the running program knows.",
                f"That is decided in {self._decided}",
                f"Wherever it is assigned, let it be an array of its own: {own}.",
            )
        )


def of(root: ArrayStorage) -> Aliases:
    """The aliasing information of an array's storage, made if there is none yet."""
    if root.aliases is None:
        root.aliases = Aliases(root)
    return root.aliases


def reached(roots: Iterable[ArrayStorage]) -> dict[ArrayStorage, int]:
    """Storage roots and all that they may be instead, each with its number of writes when that began."""
    roots_: dict[ArrayStorage, int] = {}
    for root in roots:
        own = {root: root.writes} if root.aliases is None else {root: root.writes, **root.aliases.sources}
        for source, writes in own.items():
            roots_[source] = min(writes, roots_.get(source, writes))
    return roots_


def tie(
    root: ArrayStorage,
    sources: Sources,
    name: str,
    site: Any,
    whose: Callable[[], NxError],
    group: Any = None,
    home: frozenset[ArrayStorage] = frozenset(),
) -> None:
    """Record which other arrays an array may be.

    Parameters
    ----------
    root : ArrayStorage
        The storage of the array.
    sources : mapping
        The storage of the arrays that it may be.
    name : str
        The variable's name.
    site : Site
        The branch or loop that made it.
    whose : callable
        Makes the error for assignments that the caller would have to see.
    group, home
        As :class:`Aliases` has them.
    """
    aliases = of(root)
    aliases.sources = {source: writes for source, writes in sources.items() if source is not root}
    aliases.name, aliases.site, aliases.whose, aliases.home = name, site, whose, home
    if group is not None:
        aliases.group = group
    inner = [source.aliases.trusted for source in aliases.sources if source.aliases is not None]
    aliases.trusted = {aliases.group}.union(*inner)


def record_part(root: ArrayStorage, origin: ArrayStorage) -> None:
    """Record that `root` is a part of `origin`."""
    aliases = of(root)
    aliases.sources = reached([origin])
    aliases.trusted = {aliases.group} if origin.aliases is None else {aliases.group, *origin.aliases.trusted}


def order_as(array: Any, others: Sequence[Any]) -> None:
    """Give an array the memory order of the arrays that it may be."""
    arrays = [other for other in others if isinstance(other, Array)]
    if isinstance(array, Array):
        array.laid_out_as_one_of(arrays)


def _are_ordered_alike(one: Any, other: Any) -> bool:
    return not (isinstance(one, Array) and isinstance(other, Array)) or one.is_ordered_as(other)


def all_disjoint(arrays: Sequence[Any]) -> bool:
    """Whether no two of these arrays can have elements in common."""
    return all(_are_disjoint(one, other) for one, other in itertools.combinations(arrays, 2))


def _are_disjoint(one: Any, other: Any) -> bool:
    if one.root is other.root:
        return _are_disjoint_views(one.steps, other.steps)
    known = one.root.aliases is not None and other.root.aliases is not None
    if known and one.root.aliases.group is other.root.aliases.group:
        return True
    return reached([one.root]).keys().isdisjoint(reached([other.root]))


def _are_disjoint_views(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two views of one array begin with parts of it that do not overlap."""
    if not (one and other and isinstance(one[0], Index) and isinstance(other[0], Index)):
        return False
    for a, b in zip(one[0].along, other[0].along, strict=True):
        if isinstance(a.start, int) and isinstance(b.start, int) and a.count and b.count:
            (low, high), (low_b, high_b) = (
                sorted((axis.start, axis.start + (axis.count - 1) * axis.step)) for axis in (a, b)
            )
            if high < low_b or high_b < low:
                return True
    return False


def _journal() -> list[tuple[ArrayStorage, Aliases]]:
    return _list(_JOURNAL)


def _list(key: str) -> list[Any]:
    return tracing.current().outermost.memory.setdefault(key, [])


def _count(key: str) -> int:
    return 0 if tracing.current() is None else len(_list(key))


def mark() -> int:
    """The length of the journal of stale arrays, to be passed to :func:`undo`."""
    return _count(_JOURNAL)


def undo(begin: int) -> None:
    """Forget which arrays became stale since a mark, because the loop is traced again."""
    if tracing.current() is None:
        return
    journal = _journal()
    for source, by in journal[begin:]:
        source.aliases.outdated.remove(by)
    del journal[begin:]


def written_back(root: ArrayStorage) -> None:
    """Record that an array is no longer stale: it has got what was written to arrays of its group."""
    if root.aliases is not None:
        journal = _journal()
        journal[:] = [(source, by) for source, by in journal if source is not root]
        root.aliases.outdated.clear()


class LoopAliases:
    """Which arrays the variables of a loop may be, as its iterations rebind them.

    Parameters
    ----------
    site : Site
    """

    def __init__(self, site: Any) -> None:
        self.site = site
        self._disjoint = True
        #: For each variable, other arrays of the outer trace that iterations bind it to.
        self._more: dict[str, dict[ArrayStorage, None]] = {}
        #: A common source of all variables, once two of them may share memory.
        self._common: ArrayStorage | None = None
        #: For each variable, its arrays in an iteration, and those that the iteration bound it to.
        self._now: dict[str, Sequence[Any]] = {}
        self._bound: dict[str, Sequence[Any]] = {}
        self._orders = 0

    def snapshot(self) -> tuple:
        """What is known so far; equal snapshots mean that a retrace would learn nothing."""
        return (self._disjoint, self._orders, tuple([(name, len(roots)) for name, roots in self._more.items()]))

    def begin(self, initial: Mapping[str, Sequence[Array]], home: frozenset[ArrayStorage]) -> None:
        """Start tracing an iteration.

        Parameters
        ----------
        initial : mapping
            The arrays in each variable before the loop.
        home : frozenset of ArrayStorage
            Arrays into which the loop writes back what its iterations assign.
        """
        self._initial, self._home, self._read, self._stale = initial, home, _count(_READ), mark()
        self._orders_asked = order_dependences()
        arrays = [array for arrays_ in initial.values() for array in arrays_]
        self._disjoint = self._disjoint and all_disjoint(arrays)
        group = object()
        self._groups = {name: group if self._disjoint else object() for name in initial}
        if not self._disjoint and self._common is None and arrays:
            self._common = ArrayStorage(arrays[0].root.content())

    def tie(self, name: str, arrays: Sequence[Any]) -> None:
        """Record which arrays a variable may be, in an iteration or after the loop."""
        if not arrays:
            return
        self._now[name] = arrays
        for position, array in enumerate(arrays):
            ways = (self._initial[name], self._bound.get(name, ()))
            order_as(array, [way[position] for way in ways if len(way) == len(arrays)])
        sources = reached([array.root for array in self._initial[name]])
        sources = {**{root: root.writes for root in self._more.get(name, ())}, **sources}
        if self._common is not None:
            sources[self._common] = self._common.writes
        for array in arrays:
            tie(array.root, sources, name, self.site, lambda: self._whose(name), self._groups[name], self._home)

    def after_iteration(self, results: Mapping[str, Sequence[Any]]) -> bool:
        """Learn what an iteration bound the variables to; returns whether it must be traced again."""
        outside, again = tracing.current().previous, False
        for read in dict.fromkeys(_list(_READ)[self._read :]):
            # What an iteration reads, and then makes stale, the next one reads.
            if outside.knows(read.root.cell):
                read.before_read()
        used = tracing.current().entered
        for source, _ in _journal()[self._stale :]:
            # So does it with an array that was no other one when it was read.
            if source.cell in used and source not in self._home and outside.knows(source.cell):
                source.aliases.before_read()
        for name, arrays in results.items():
            own, more = reached([array.root for array in self._initial[name]]), self._more.setdefault(name, {})
            for array in arrays:
                if array.root.aliases is not None:
                    array.root.aliases.before_read()
            for root in reached([array.root for array in arrays]):
                if root not in own and root not in more and outside.knows(root.cell):
                    more[root] = None
                    again = True
        again = self._after_orders(results) or again
        if self._disjoint and not all_disjoint([array for arrays in results.values() for array in arrays]):
            self._disjoint, again = False, True
        return again

    def _after_orders(self, results: Mapping[str, Sequence[Any]]) -> bool:
        """Learn the memory orders of what an iteration bound the variables to, where code asked for them."""
        more = False
        for name, arrays in results.items():
            now = self._now.get(name, ())
            more = more or (
                len(now) == len(arrays)
                and not all(_are_ordered_alike(array, own) for array, own in zip(arrays, now, strict=True))
            )
            self._bound[name] = arrays
        again = more and order_dependences() > self._orders_asked
        self._orders += again
        return again

    def _whose(self, name: str) -> NxError:
        return source_sites.error(
            NxTypeError,
            f"`{name}` is assigned into, and the turns of this loop bind it to other arrays of the caller's or other "
            "parts of them: only the running program knows which of them it is.",
            *source_sites.shown(self.site),
            f"Assign to the elements of the array itself, as in x[i] = ..., or make a copy: {own_copy(name)}.",
        )
