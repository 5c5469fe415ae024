"""List comprehensions: those over many rows of arrays are loops of the compiled program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.definitions.flow.control.loop_iterables import Counted, counted
from nxkernel.definitions.flow.control.loops import for_
from nxkernel.definitions.flow.values.unassigned_variables import pending
from nxkernel.definitions.flow.values.variable_leaves import is_traced
from nxkernel.graph.expr import TracedValue
from nxkernel.operand import Proxy

#: Items up to which a comprehension is written out, so that others see each of its items as it is.
SHORT = 32


def listed(iterable: Any, item: Callable[..., Any], parts: int, site: Any) -> list[Any]:
    """A list comprehension.

    Parameters
    ----------
    iterable : object
        Rows of traced arrays, and ``zip`` and ``enumerate`` of them, make a loop of the compiled program where there
        are many and it can be one; anything else is written out.
    item : callable
        Gives an item of the list for one of the iterable.
    parts : int
        How many arguments it takes that an item of the iterable is unpacked into; 0 for the item itself.
    site : Site

    Returns
    -------
    list
    """

    def of(each: Any) -> Any:
        if not parts:
            return item(each)
        unpacked = tuple(each)
        if len(unpacked) != parts:
            asked = "not enough" if len(unpacked) < parts else "too many"
            got = f", got {len(unpacked)}" if len(unpacked) < parts else ""
            raise ValueError(f"{asked} values to unpack (expected {parts}{got})")
        return item(*unpacked)

    if isinstance(iterable, TracedValue | Proxy | Counted):
        sequence = counted(iterable)
        if sequence is not None and not is_traced(sequence.length) and sequence.length > SHORT:
            made: list[Any] = []

            def turn(each: Any, *_: Any) -> tuple[Any, Any]:
                return each, of(each)

            for_(
                iterable, turn, (pending("item"), pending("made")), ("item", "the comprehension"), site,
                gathered=((1, "the comprehension", made),),
            )  # fmt: skip
            return made
    items: Any = iterable
    return [of(each) for each in items]
