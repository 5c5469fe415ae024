"""Array aliasing after branches and loops: arrays that equal one of several others without being a view of it.

Which array ``b`` is after ``b = x if k > 0 else y`` only the running program knows. It has its contents; but what is
assigned into `b` does not arrive in `x` or `y`, nor what is assigned into those in `b`. While nobody looks, that is the
same. Where somebody would see the difference, the definition is refused.
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
from nxkernel.numpy.arrays.array import Array, orders_told
from nxkernel.numpy.arrays.storage import Root
from nxkernel.numpy.arrays.views import Index

#: Places in memory, and how often something had been written there when an array was made of what is in them.
Sources = Mapping[Root, int]
#: Under which key a trace remembers which arrays are out of date, in the order in which they became so.
_JOURNAL = "arrays out of date"
#: And which arrays were read that may be others.
_READ = "arrays that may be others and were read"


class Aliases:
    """The aliasing information of storage cells.

    Attributes
    ----------
    root : Root
    sources : dict
        Where the array may be instead, and how often something had been written there.
    group : object
        Arrays of one group are certainly apart from each other, though they may be the same sources.
    trusted : set
        The groups of which it has what they wrote, or is apart from: its own, and those of its sources.
    home : frozenset
        Sources that get back what is written here.
    outdated : list of Aliases
        The arrays that were written to since and may be this one.
    """

    __slots__ = ("group", "home", "name", "outdated", "root", "site", "sources", "trusted", "whose")

    def __init__(self, root: Root) -> None:
        self.root = root
        self.sources: dict[Root, int] = {}
        self.group, self.home, self.outdated = object(), frozenset(), []
        self.trusted: set[Any] = {self.group}
        self.name, self.site, self.whose = "", None, None

    def before_read(self) -> None:
        """Refuse to read what may be out of date."""
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
        """Note that the arrays that this one may be are out of date; refuse it where the caller sees them."""
        self.before_read()
        if any(source.cell.shared and source not in self.home for source in self.sources):
            raise self.whose()
        for source in self.sources:
            found = of(source).outdated
            if self not in found:
                found.append(self)
                _journal().append((source, self))

    def before_compared(self, other: Root | None = None) -> None:
        """Refuse to tell whether an array is the one in another place, or which object it is, where it may be several.

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
        """Its name for people."""
        return "what a choice gave" if " " in self.name else f"`{self.name}`"

    @property
    def _decided(self) -> str:
        """The line of the branch or loop that made it."""
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


def of(root: Root) -> Aliases:
    """The aliasing information of a storage cell."""
    if root.aliases is None:
        root.aliases = Aliases(root)
    return root.aliases


def reached(roots: Iterable[Root]) -> dict[Root, int]:
    """Places in memory and all that they may be instead."""
    found: dict[Root, int] = {}
    for root in roots:
        own = {root: root.writes} if root.aliases is None else {root: root.writes, **root.aliases.sources}
        for source, writes in own.items():
            found[source] = min(writes, found.get(source, writes))
    return found


def tie(
    root: Root,
    sources: Sources,
    name: str,
    site: Any,
    whose: Callable[[], NxError],
    group: Any = None,
    home: frozenset[Root] = frozenset(),
) -> None:
    """Remember which arrays an array may be.

    Parameters
    ----------
    root : Root
        Where it is.
    sources : mapping
    name : str
        Of the variable.
    site : Site
        The branch or loop that made it.
    whose : callable
        Makes the error for assignments that the caller would have to see.
    group, home
        As :class:`Aliases` has them.
    """
    found = of(root)
    found.sources = {source: writes for source, writes in sources.items() if source is not root}
    found.name, found.site, found.whose, found.home = name, site, whose, home
    if group is not None:
        found.group = group
    inner = [source.aliases.trusted for source in found.sources if source.aliases is not None]
    found.trusted = {found.group}.union(*inner)


def taken(root: Root, origin: Root) -> None:
    """Remember that what is in a place was taken from another one, of which it is a part."""
    found = of(root)
    found.sources = reached([origin])
    found.trusted = {found.group} if origin.aliases is None else {found.group, *origin.aliases.trusted}


def lie_as(made: Any, others: Sequence[Any]) -> None:
    """Have an array of a NumPy program the order of elements of those of which it is one."""
    arrays = [other for other in others if isinstance(other, Array)]
    if isinstance(made, Array):
        made.laid_out_as_one_of(arrays)


def _are_ordered_alike(one: Any, other: Any) -> bool:
    return not (isinstance(one, Array) and isinstance(other, Array)) or one.is_ordered_as(other)


def all_apart(arrays: Sequence[Any]) -> bool:
    """Whether no two arrays can have elements in common."""
    return all(_apart(one, other) for one, other in itertools.combinations(arrays, 2))


def _apart(one: Any, other: Any) -> bool:
    if one.root is other.root:
        return _shown_apart(one.steps, other.steps)
    known = one.root.aliases is not None and other.root.aliases is not None
    if known and one.root.aliases.group is other.root.aliases.group:
        return True
    return reached([one.root]).keys().isdisjoint(reached([other.root]))


def _shown_apart(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two views of an array begin with parts of it that do not overlap."""
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


def _journal() -> list[tuple[Root, Aliases]]:
    return _list(_JOURNAL)


def _list(key: str) -> list[Any]:
    return tracing.current().outermost.memory.setdefault(key, [])


def _count(key: str) -> int:
    return 0 if tracing.current() is None else len(_list(key))


def mark() -> int:
    """How much has become out of date until now."""
    return _count(_JOURNAL)


def undo(begin: int) -> None:
    """Forget what has become out of date since a mark: a loop is traced anew."""
    if tracing.current() is None:
        return
    journal = _journal()
    for source, by in journal[begin:]:
        source.aliases.outdated.remove(by)
    del journal[begin:]


def brought_home(root: Root) -> None:
    """An array has what was written to those of its group."""
    if root.aliases is not None:
        journal = _journal()
        journal[:] = [(source, by) for source, by in journal if source is not root]
        root.aliases.outdated.clear()


class LoopAliases:
    """The arrays in the variables of a loop, which its iterations bind to others.

    Parameters
    ----------
    site : Site
    """

    def __init__(self, site: Any) -> None:
        self.site = site
        self._apart = True
        #: For each variable the arrays from outside of the loop that an iteration binds it to.
        self._more: dict[str, dict[Root, None]] = {}
        #: Stands for the arrays that several variables are bound to, when they are.
        self._common: Root | None = None
        #: For each variable the arrays that it has in an iteration, and those that iterations bound it to.
        self._now: dict[str, Sequence[Any]] = {}
        self._bound: dict[str, Sequence[Any]] = {}
        self._orders = 0

    def snapshot(self) -> tuple:
        """Compares equal when nothing new was found."""
        return (self._apart, self._orders, tuple([(name, len(found)) for name, found in self._more.items()]))

    def begin(self, initial: Mapping[str, Sequence[Array]], home: frozenset[Root]) -> None:
        """Begin to trace an iteration.

        Parameters
        ----------
        initial : mapping
            The arrays in each variable before the loop.
        home : frozenset of Root
            Those that get back what the iterations write.
        """
        self._initial, self._home, self._read = initial, home, _count(_READ)
        self._told = orders_told()
        arrays = [array for found in initial.values() for array in found]
        self._apart = self._apart and all_apart(arrays)
        group = object()
        self._groups = {name: group if self._apart else object() for name in initial}
        if not self._apart and self._common is None and arrays:
            self._common = Root(arrays[0].root.content())

    def tie(self, name: str, arrays: Sequence[Any]) -> None:
        """Remember which arrays a variable may be, in an iteration or after the loop."""
        if not arrays:
            return
        self._now[name] = arrays
        for place, array in enumerate(arrays):
            ways = (self._initial[name], self._bound.get(name, ()))
            lie_as(array, [way[place] for way in ways if len(way) == len(arrays)])
        sources = reached([array.root for array in self._initial[name]])
        sources = {**{root: root.writes for root in self._more.get(name, ())}, **sources}
        if self._common is not None:
            sources[self._common] = self._common.writes
        for array in arrays:
            tie(array.root, sources, name, self.site, lambda: self._whose(name), self._groups[name], self._home)

    def after_turn(self, results: Mapping[str, Sequence[Any]]) -> bool:
        """Look at what an iteration bound the variables to; returns whether the iteration is to be traced again."""
        outside, again = tracing.current().previous, False
        for read in dict.fromkeys(_list(_READ)[self._read :]):
            # What an iteration reads, and then makes out of date, the next one reads.
            if outside.knows(read.root.cell):
                read.before_read()
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
        if self._apart and not all_apart([array for arrays in results.values() for array in arrays]):
            self._apart, again = False, True
        return again

    def _after_orders(self, results: Mapping[str, Sequence[Any]]) -> bool:
        """Look at the order of elements of what an iteration bound the variables to, if it asked for that of any
        array.
        """
        more = False
        for name, arrays in results.items():
            now = self._now.get(name, ())
            more = more or (
                len(now) == len(arrays)
                and not all(_are_ordered_alike(array, own) for array, own in zip(arrays, now, strict=True))
            )
            self._bound[name] = arrays
        again = more and orders_told() > self._told
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
