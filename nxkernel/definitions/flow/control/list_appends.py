"""List appends in loops, as in ``xs.append(x)``: stacked into arrays, whose rows the lists get afterwards."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, NamedTuple

from nxkernel import primitives, types
from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.control.unrolling import gathered
from nxkernel.definitions.flow.retracing import LearntError, MustUnrollError
from nxkernel.definitions.flow.values import array_aliases, variable_leaves
from nxkernel.definitions.flow.values.unassigned_variables import pending
from nxkernel.errors import NxError, NxTypeError
from nxkernel.graph import tracing
from nxkernel.numpy.arrays.array import Array
from nxkernel.numpy.arrays.storage import ArrayStorage
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand
from nxkernel.primitives import Spec


class AppendedList(NamedTuple):
    """A list that each iteration of a loop appends one thing to.

    Parameters
    ----------
    place : int
        Among the variables of the loop, of the one that holds what an iteration appends.
    name : str
    items : list
    """

    place: int
    name: str
    items: list[Any]


def without(lists: Sequence[AppendedList], values: tuple) -> tuple:
    """The values of the variables of a loop without what an iteration appends to lists."""
    places = {each.place: pending(each.name) for each in lists}
    return tuple([places.get(place, value) for place, value in enumerate(values)])


@dataclass
class _Shares:
    """What a list shares with the variables of its loop.

    Attributes
    ----------
    arrays : list
        For each leaf of what an iteration appends NumPy's array, or None.
    begun : dict
        For a leaf the variable that has that array when an iteration begins.
    maybe : list of ArrayStorage
        Arrays from before the loop that items may be, as the running program decides.
    doubted : list of int
        The variables that may have an array after the loop that is an item, or several.
    """

    arrays: list[Any] = field(default_factory=list)
    begun: dict[int, int] = field(default_factory=dict)
    maybe: list[ArrayStorage] = field(default_factory=list)
    doubted: list[int] = field(default_factory=list)


@dataclass(eq=False)
class _SameArray:
    """One array, whatever variables have it and whatever items it is.

    Attributes
    ----------
    value : Array, optional
        It, as soon as something outside of the loop is it.
    is_item : bool
    """

    value: Any = None
    is_item: bool = False


class Gathering:
    """The lists of one loop.

    Parameters
    ----------
    lists : sequence of AppendedList
    length : int
        How many turns there are.
    site : Site
        Of the loop.
    """

    def __init__(self, lists: Sequence[AppendedList], length: int, site: Any) -> None:
        self._lists, self._length, self._site = lists, length, site
        #: For each list the specs of the leaves of what an iteration appends, once they are known.
        self._specs: list[list[Spec] | None] = [None] * len(lists)

    def snapshot(self) -> tuple:
        """What is known so far; equal snapshots mean that a retrace would learn nothing."""
        return tuple([None if specs is None else tuple(specs) for specs in self._specs])

    def begin(self) -> None:
        """Make the arrays, in the trace that the loop is in."""
        self._roots = [
            [ArrayStorage(filled(0, spec.type, (self._length, *spec.shape))) for spec in specs or ()]
            for specs in self._specs
        ]
        self._found: list[tuple] = [()] * len(self._lists)
        self._refused: MustUnrollError | None = None
        self._shares = [_Shares() for _ in self._lists]
        #: For a variable the one that had its array when the iteration began, or the list and the leaf that have it.
        self._moves: dict[int, int | tuple[int, int]] = {}

    def turn(self, number: Any, given: Sequence[Any], results: tuple) -> tuple:
        """Keep what an iteration appends; returns the results without it.

        Parameters
        ----------
        number : traced value
            Of the iteration, from 0 on.
        given : sequence
            The values of the variables that the iteration began with.
        results : tuple
            Those that it ended with, what it appends among them.

        Raises
        ------
        LearntError
            The first time, and for a wider type.
        """
        self._refused = None
        try:
            for index, each in enumerate(self._lists):
                self._keep(index, each, number, given, results)
            self._move(given, results)
        except MustUnrollError as error:
            self._refused = error
        return without(self._lists, results)

    def check(self) -> None:
        """Refuse what the iteration appends, when every variable is known to be held as it must be.

        Raises
        ------
        MustUnrollError
            For what cannot be the row of an array, or would not stay as it is when it is appended.
        """
        if self._refused is not None:
            raise self._refused

    def _keep(self, index: int, each: AppendedList, number: Any, given: Sequence[Any], results: tuple) -> None:
        leaves: list[Any] = []
        structure = variable_leaves.take_apart(results[each.place], leaves)
        # A number that is known in a turn of the loop is the same in all of them.
        structure = _with_numbers(structure, iter(leaves))
        leaves = [leaf for leaf in leaves if not is_number(leaf)]
        self._check(each, structure, leaves)
        self._follow(index, each, structure, given, results)
        self._learn(index, each, leaves)
        for root, leaf in zip(self._roots[index], leaves, strict=True):
            row = _reshaped(convert(leaf, root.type), (1, *leaf.shape), (None,) * (1 + len(leaf.shape)))
            starts = [number, *[0] * len(leaf.shape)]
            root.write(apply(primitives.put_slice, root.content(), row, *map(operand, starts)))
        self._found[index] = structure

    def end(self, before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
        """Give the lists what was appended; returns the values of the variables after the loop.

        Parameters
        ----------
        before, after : sequence
            The values of the variables, as the state of the loop has them.
        """
        if not self._lists:
            return list(after)
        states = [_SameArray(value) for value in before]
        arrays = [[Array(root) for root in roots] for roots in self._roots]
        for number in range(self._length):
            made: dict[tuple[int, int], _SameArray] = {}
            for index, each in enumerate(self._lists):
                structure, shares = self._found[index], self._shares[index]
                rows = _rows(structure, self._specs[index], arrays[index], number)
                for leaf, array in enumerate(shares.arrays):
                    if array is None:
                        continue
                    first = self._first(array)
                    same = states[shares.begun[leaf]] if leaf in shares.begun else made.get(first) or _SameArray()
                    if same.value is None:
                        same.value = rows[leaf]
                    made[first], rows[leaf], same.is_item = same, same.value, True
                each.items.append(variable_leaves.rebuild(_new(structure), iter(rows)))
            states = [self._next(k, states, made) for k in range(len(states))]
        values = [same.value if same.is_item else value for same, value in zip(states, after, strict=True)]
        for index, each in enumerate(self._lists):
            shares = self._shares[index]
            ended = [array.root for k in shares.doubted for array in _arrays(values[k])]
            self._tie(each, [*self._roots[index], *ended], shares)
        return values

    def _next(self, variable: int, states: Sequence[_SameArray], made: dict[tuple[int, int], _SameArray]) -> _SameArray:
        source = self._moves.get(variable)
        if source is None:
            return _SameArray()
        return made[source] if isinstance(source, tuple) else states[source]

    def _first(self, array: Any) -> tuple[int, int]:
        """The first list, and the first leaf of what is appended to it, that an array is."""
        return next(
            (index, leaf)
            for index, shares in enumerate(self._shares)
            for leaf, other in enumerate(shares.arrays)
            if other is array
        )

    def _tie(self, each: AppendedList, roots: Sequence[ArrayStorage], shares: _Shares) -> None:
        sources = {root: root.writes for root in shares.maybe}
        refusal = functools.partial(self._refusal, each.name)
        for root in roots:
            if sources:
                array_aliases.tie(root, sources, f"an item of {each.name}", self._site, refusal)
            if shares.doubted:
                root.doubt = refusal

    def _check(self, each: AppendedList, structure: tuple, leaves: Sequence[Any]) -> None:
        if not leaves or any(map(_is_unfit, _parts(structure))):
            raise _unfit(each, "known while it is traced, or has no fixed shape")
        if any(leaf.type.is_integer and not leaf.shape for leaf in leaves):
            raise _unfit(each, "a whole number, which may be needed while it is traced")

    def _follow(
        self, index: int, each: AppendedList, structure: tuple, given: Sequence[Any], results: Sequence[Any]
    ) -> None:
        """Note which variables have an array that is appended, before the iteration or after it."""
        arrays, outside = variable_leaves.arrays_of(structure), tracing.current().previous
        own = {array.root for array in arrays if array is not None}
        begun = {array.root for value in given for array in _arrays(value)}
        ended = self._ended(results)
        kept = [k for k, found in ended.items() if any(array.root in own for array in found)]
        reached = array_aliases.reached(own)
        doubted = [k for k, found in ended.items() if k not in kept and _reached(found).keys() & own]
        written = any(root.writes for root in begun) and (kept or doubted or reached.keys() & begun)
        if written or any(outside.knows(root.cell) for root in own):
            raise _shared(each)
        shares = self._shares[index] = _Shares(arrays)
        for leaf, array in enumerate(arrays):
            if array is not None and array.root in begun:
                shares.begun[leaf] = _place(array, given, each) + 1
        if reached.keys() & (begun - own):
            shares.maybe = [root for root in reached if outside.knows(root.cell)]
            shares.doubted = [*kept, *doubted]
            return
        shares.doubted = doubted
        for place in kept:
            _place(results[place], arrays, each)

    def _ended(self, results: Sequence[Any]) -> dict[int, list[Any]]:
        """The arrays that each variable has after the iteration."""
        places = {each.place for each in self._lists}
        return {k: _arrays(value) for k, value in enumerate(results) if k not in places}

    def _move(self, given: Sequence[Any], results: Sequence[Any]) -> None:
        """Note where the arrays of items, and those that may have been items of earlier iterations, are after the
        iteration.
        """
        items: dict[ArrayStorage, Any] = {}
        for each, shares in zip(self._lists, self._shares, strict=True):
            for array in shares.arrays:
                if array is not None and items.setdefault(array.root, array) is not array:
                    raise _shared(each)
        doubted = {k for shares in self._shares for k in shares.doubted}
        begun = [{array.root for array in _arrays(value)} for value in given]
        ended = self._ended(results)
        roots = {k: {array.root for array in found} for k, found in ended.items() if k not in doubted}
        self._moves = {k: self._first(results[k]) for k, found in roots.items() if found & items.keys()}
        if self._moves or any(shares.begun for shares in self._shares):
            for k, found in roots.items():
                if k not in self._moves and found & set().union(*begun):
                    self._moves[k] = _place(results[k], given, self._lists[0]) + 1
        # What is an item goes from variable to variable in later iterations, some of which the running program decides.
        before = None
        while before != (before := len(doubted)):
            for k, found in ended.items():
                sources = doubted if k in self._moves else {*doubted, *self._moves}
                if k not in doubted and any(_reached(found).keys() & begun[j - 1] for j in sources if j):
                    self._shares[0].doubted.append(k)
                    doubted.add(k)

    def _refusal(self, name: str) -> NxError:
        return source_sites.error(
            NxTypeError,
            f"an array is assigned into that is, or may be, an item of `{name}`: only the running program knows which.",
            *source_sites.shown(self._site),
            f"Append copies, as in {name}.append({_copy('x')}).",
        )

    def _learn(self, index: int, each: AppendedList, leaves: Sequence[Any]) -> None:
        specs, known = [leaf.spec for leaf in leaves], self._specs[index]
        if known is None:
            self._specs[index] = specs
            raise LearntError
        if [spec.shape for spec in specs] != [spec.shape for spec in known]:
            raise _unfit(each, "of another shape in each turn")
        # An iteration is traced until the types of its numbers are found, from narrow ones on.
        wider = [
            Spec(types.merge(one.type, other.type), one.shape, one.names)
            for one, other in zip(known, specs, strict=True)
        ]
        if wider != known:
            self._specs[index] = wider
            raise LearntError


def _reshaped(value: Operand, shape: tuple[int, ...], names: tuple[str | None, ...]) -> Operand:
    return apply(primitives.reshape, value, shape=shape, names=names)


def _unfit(each: AppendedList, what: str) -> MustUnrollError:
    return MustUnrollError(f"what it appends to `{each.name}` is {what}", gathered(each.name, each.items))


def _shared(each: AppendedList) -> MustUnrollError:
    return MustUnrollError(
        f"it appends an array to `{each.name}` that is assigned into, or comes from outside",
        f"Append a copy, as in {each.name}.append({_copy('x')}).",
    )


def _place(array: Any, among: Sequence[Any], each: AppendedList) -> int:
    """Where an array is among others; a view of it is not followed."""
    place = next((k for k, other in enumerate(among) if other is array), None)
    if place is None or not isinstance(array, Array):
        raise _shared(each)
    return place


def _copy(name: str) -> str:
    return f"{name}.copy()" if types.follows_numpy() else f"{name} + 0"


def _parts(structure: tuple) -> Iterable[tuple]:
    yield structure
    for child in structure[2]:
        yield from _parts(child)


def _is_unfit(part: tuple) -> bool:
    kind, detail, _ = part
    return kind in (variable_leaves.NONE, variable_leaves.PART) or (
        kind == variable_leaves.HELD and not (is_number(detail) or isinstance(detail, str | NoneType))
    )


def _with_numbers(structure: tuple, leaves: Iterator[Any]) -> tuple:
    """A structure that holds those of its leaves that are numbers."""
    kind, detail, children = structure
    if kind == variable_leaves.LEAF:
        leaf = next(leaves)
        return (variable_leaves.HELD, leaf, ()) if is_number(leaf) else structure
    return kind, detail, tuple([_with_numbers(child, leaves) for child in children])


def _arrays(value: Any) -> list[Any]:
    structure = variable_leaves.take_apart(value, [])
    return [array for array in variable_leaves.arrays_of(structure) if array is not None]


def _reached(arrays: Sequence[Any]) -> dict[ArrayStorage, int]:
    return array_aliases.reached([array.root for array in arrays])


def _new(structure: tuple) -> tuple:
    kind, detail, children = structure
    return (kind, None if kind == variable_leaves.LEAF else detail, tuple(map(_new, children)))


def _proxies(structure: tuple) -> list[bool]:
    kind, detail, children = structure
    if kind == variable_leaves.LEAF:
        return [detail is not None]
    return [found for child in children for found in _proxies(child)]


def _rows(structure: tuple, specs: Sequence[Spec], arrays: Sequence[Array], number: int) -> list[Any]:
    """What an iteration appended: NumPy's arrays and scalars as such, anything else as traced values."""
    found = []
    for array, spec, proxy in zip(arrays, specs, _proxies(structure), strict=True):
        row = array[number]
        found.append(row if proxy else _reshaped(operand(row), spec.shape, spec.names))
    return found
