"""A word at the end of a cell in which a definition was traced again and again, with what to do about it."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable

from IPython.core.interactiveshell import InteractiveShell

from nxkernel.defn.events import Event, stream

#: So many traces of one definition in one cell are a storm.
STORM = 8
#: How many values are quoted.
_QUOTED = 3


def report(misses: Iterable[Event]) -> list[str]:
    """What to say about the traces of a cell.

    Parameters
    ----------
    misses : iterable of Event
        The misses of the cell, oldest first.

    Returns
    -------
    list of str
        One text for each definition that was traced often and each time for the same reason.

    Examples
    --------
    >>> lines = [f"option lr: {0.1 * i:.1f} → {0.1 * (i + 1):.1f}" for i in range(1, 10)]
    >>> print(report(Event("miss", "step", reason=(line,)) for line in lines)[0])
    step was traced 9 times in this cell, each time for a new value of the option lr
      lr: 0.2, 0.3, 0.4, …
      If lr only feeds arithmetic, declare it before `*` and pass it by position: it is traced once.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for event in misses:
        if len(event.reason) == 1:
            what, colon, change = event.reason[0].partition(": ")
            if colon:
                found.setdefault((event.function, what), []).append(change.rpartition(" → ")[2])
    return [_text(function, what, values) for (function, what), values in found.items() if len(values) >= STORM]


def _text(function: str, what: str, values: list[str]) -> str:
    kind, _, name = what.partition(" ")
    often = f"{function} was traced {len(values)} times in this cell"
    quoted = f"{name}: {', '.join(dict.fromkeys(values[:_QUOTED]))}, …"
    if kind == "argument":
        each = f"each time for another type or shape of {name}"
        advice = f"Pad {name} to a few fixed shapes, or group the calls by shape: each shape is traced once."
    elif kind == "captured":
        each = f"each time for a new value of {name}, which it captures"
        advice = f"Pass {name} as an argument: it is traced once."
    else:
        each = f"each time for a new value of the {kind} {name}"
        advice = f"If {name} only feeds arithmetic, declare it before `*` and pass it by position: it is traced once."
    return f"{often}, {each}\n  {quoted}\n  {advice}"


class Watch:
    """Looks at the misses of each cell when it ends, and says what there is to say once."""

    def __init__(self) -> None:
        self.quiet: set[str] = set()
        self._said: set[str] = set()
        self._since = time.time()

    def end_cell(self, _result: object) -> None:
        """Speak of the cell that has just ended."""
        begin, self._since = self._since, time.time()
        misses = [event for event in stream.records(kind="miss") if event.time >= begin]
        for text in report(event for event in misses if event.function not in self.quiet):
            subject = re.sub(r"\d+ times", "", text.splitlines()[0])
            if subject not in self._said:
                self._said.add(subject)
                print(text, file=sys.stderr)


def install(shell: InteractiveShell) -> tuple[Watch, Callable[[], None]]:
    """Watch a shell's cells; the function that is returned ends that.

    Parameters
    ----------
    shell : InteractiveShell
        Whose cells are meant.

    Returns
    -------
    Watch
        Whose `quiet` holds the names of definitions about which nothing is said.
    callable
    """
    watch = Watch()
    shell.events.register("post_run_cell", watch.end_cell)
    return watch, lambda: shell.events.unregister("post_run_cell", watch.end_cell)
