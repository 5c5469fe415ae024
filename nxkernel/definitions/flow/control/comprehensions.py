"""List comprehensions and generator expressions: those over many rows or numbers are loops of the compiled program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from nxkernel.definitions.flow.control.branches import if_, predicate
from nxkernel.definitions.flow.control.logic import not_
from nxkernel.definitions.flow.control.loop_iterables import Counted, counted, parted
from nxkernel.definitions.flow.control.loops import for_
from nxkernel.definitions.flow.values.unassigned_variables import pending
from nxkernel.definitions.flow.values.variable_leaves import has_traced, is_traced, known
from nxkernel.graph.expr import TracedValue
from nxkernel.operand import Proxy

#: Items up to which a comprehension is written out, so that others see each of its items as it is.
SHORT = 32


def listed(iterable: Any, item: Callable[..., Any], parts: int, site: Any) -> list[Any]:
    """A list comprehension.

    Parameters
    ----------
    iterable : object
        Ranges, rows of traced arrays, and ``zip`` and ``enumerate`` of them, make a loop of the compiled program where
        there are many and it can be one; anything else is written out.
    item : callable
        Gives an item of the list for one of the iterable.
    parts : int
        How many arguments it takes that an item of the iterable is unpacked into; 0 for the item itself.
    site : Site

    Returns
    -------
    list
    """
    sequence = _sequence(iterable)
    if sequence is None or is_traced(_length(sequence)):
        items: Any = iterable
        return [_of(item, parts, each) for each in items]
    return _gathered(sequence, lambda each: _of(item, parts, each), site)


class GeneratedItems:
    """A generator expression over many rows or numbers: builtins that take all of its items make a compiled loop.

    Parameters
    ----------
    sequence : range or Counted
    item : callable
        Gives an item for one of the sequence.
    test : callable, optional
        Says for one of the sequence whether it has an item.
    site : Site
    """

    def __init__(self, sequence: Any, item: Callable[[Any], Any], test: Callable[[Any], Any] | None, site: Any) -> None:
        self._sequence, self._item, self._test, self._site = sequence, item, test, site
        self._items: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._items is None:
            self._items = (self._item(each) for each in self._sequence if self._test is None or self._test(each))
        return next(self._items)

    def are_untouched(self) -> bool:
        """Whether no item was taken yet."""
        return self._items is None

    def are_counted(self) -> bool:
        """Whether it is known how many items there are: one for each of the sequence, and at least one."""
        return self._test is None and not is_traced(_length(self._sequence))

    def reduce(self, function: Callable[[Any, Any], Any], start: Any, name: str) -> Any:
        """What a function makes of a value and one item after the other.

        Parameters
        ----------
        function : callable
            Gives the next value for the one before and an item.
        start : object
            The value before the first item.
        name : str
            What it is, for messages.
        """

        def turn(each: Any, value: Any) -> tuple:
            return each, *self._where_tested(each, lambda value: (function(value, self._item(each)),), value, name)

        return self._run(turn, start, name)

    def reduce_from_first(self, function: Callable[[Any, Any], Any], name: str) -> Any:
        """As :meth:`reduce`, beginning with the first item; their number must be known."""
        first, self._sequence = parted(self._sequence)
        return self.reduce(function, self._item(first), name)

    def meet(self, answer: bool, name: str) -> Any:
        """Whether an item has a truth value; those behind the first such item are not asked.

        Parameters
        ----------
        answer : bool
            The truth value.
        name : str
            Of the builtin that asks, for messages.
        """

        def truth(each: Any) -> tuple:
            value = self._item(each)
            is_true = predicate(value, f"an item of {name}", self._site) if is_traced(value) else bool(known(value))
            return (is_true if answer else not_(is_true, self._site),)

        def turn(each: Any, found: Any) -> tuple:
            return each, *self._where_tested(each, lambda _: truth(each), found, name)

        return self._run(turn, False, name, broken=1)

    def list(self) -> list[Any]:
        """All items, as a list; their number must be known."""
        self._items = iter(())
        return _gathered(self._sequence, self._item, self._site)

    def _where_tested(self, each: Any, side: Callable[[Any], tuple], value: Any, name: str) -> tuple:
        """What a side makes of a value for one of the sequence that has an item; the value as it is otherwise."""
        if self._test is None:
            return side(value)
        return if_(self._test(each), side, lambda value: (value,), (value,), (name,), self._site)

    def _run(self, turn: Callable[..., tuple], start: Any, name: str, broken: int | None = None) -> Any:
        sequence, values = self._sequence, (pending("item"), start)
        self._items = iter(())
        # What follows from the numbers of a range alone stays known.
        while isinstance(sequence, range) and sequence and not has_traced(values[1]):
            if broken and known(values[1]):
                return values[1]
            first, sequence = parted(sequence)
            values = turn(first, *values[1:])
        return for_(sequence, turn, values, ("item", name), self._site, broken=broken)[1]


def generated(
    iterable: Any, item: Callable[..., Any], test: Callable[..., Any] | None, parts: int, site: Any
) -> Iterator[Any]:
    """A generator expression.

    Parameters
    ----------
    iterable : object
        Many numbers of a range, and rows of traced arrays, let builtins go over the items in a loop of the program.
    item : callable
        Gives an item for one of the iterable.
    test : callable, optional
        Says for one of the iterable whether it has an item.
    parts : int
        How many arguments these take that an item of the iterable is unpacked into; 0 for the item itself.
    site : Site
    """
    tested = None if test is None else functools.partial(_of, test, parts)
    sequence = _sequence(iterable)
    if sequence is not None:
        return GeneratedItems(sequence, functools.partial(_of, item, parts), tested, site)
    return (_of(item, parts, each) for each in iter(iterable) if tested is None or tested(each))


def _of(function: Callable[..., Any], parts: int, each: Any) -> Any:
    if not parts:
        return function(each)
    unpacked = tuple(each)
    if len(unpacked) != parts:
        asked = "not enough" if len(unpacked) < parts else "too many"
        got = f", got {len(unpacked)}" if len(unpacked) < parts else ""
        raise ValueError(f"{asked} values to unpack (expected {parts}{got})")
    return function(*unpacked)


def _length(sequence: Any) -> Any:
    return len(sequence) if isinstance(sequence, range) else sequence.length


def _sequence(iterable: Any) -> Any:
    """What a loop of the program goes over, where it is long; None for anything else."""
    if not isinstance(iterable, TracedValue | Proxy | Counted | range):
        return None
    sequence = counted(iterable)
    length = _length(sequence)
    return sequence if is_traced(length) or length > SHORT else None


def _gathered(sequence: Any, item: Callable[[Any], Any], site: Any) -> list[Any]:
    """The items for all of a sequence."""
    items: list[Any] = []
    # What follows from the numbers of a range alone stays known.
    while isinstance(sequence, range) and sequence:
        first, sequence = parted(sequence)
        items.append(item(first))
        if has_traced(items[-1]):
            break

    def turn(each: Any, *_: Any) -> tuple[Any, Any]:
        return each, item(each)

    for_(
        sequence, turn, (pending("item"), pending("made")), ("item", "the comprehension"), site,
        gathered=((1, "the comprehension", items),),
    )  # fmt: skip
    return items
