"""A note after a cell in which a definition was traced repeatedly, with advice."""

from __future__ import annotations

import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterable

from IPython.core.interactiveshell import InteractiveShell

from nxkernel.definitions.observe.events import Event, stream
from nxkernel.definitions.observe.key_changes import Change
from nxkernel_magics.call_parsing import WIDTH

#: So many traces of one definition in one cell are a storm.
STORM = 8
#: How many values are quoted.
_QUOTED = 3


def report(misses: Iterable[Event]) -> list[str]:
    """The note on the cache misses of a cell; empty if there is nothing to say.

    Parameters
    ----------
    misses : iterable of Event
        The misses of the cell, oldest first.

    Returns
    -------
    list of str
        One text for each definition and kind of cause: values that were new at most of many traces, and what the last
        trace advised.

    Examples
    --------
    >>> changes = [Change.of("option", ["lr"], "number", str(k / 10), str((k + 1) / 10)) for k in range(1, 10)]
    >>> print(report(Event("miss", "step", reason=(each,), advice="Declare lr before `*`.") for each in changes)[0])
    step was traced 9 times in this cell, each time for a new value of the option lr
      lr: 0.2, 0.3, 0.4, …
      Declare lr before `*`.
    """
    causes: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = {}
    advice: dict[tuple[str, str], str] = {}
    for event in misses:
        function = event.function, event.identity
        for change in event.reason:
            kind = _kind(change)
            for name in change.names if kind else ():
                causes.setdefault(function, {}).setdefault((kind, name), []).append(change.here)
            if kind:
                advice[function] = event.advice
    texts = []
    for function, values in causes.items():
        kinds: dict[str, dict[str, list[str]]] = {}
        for (kind, name), met in values.items():
            if len(met) >= STORM and (len(set(met)) >= STORM or kind in ("code", "anew")):
                kinds.setdefault(kind, {})[name] = met
        texts += [_text(function[0], kind, named, advice[function]) for kind, named in kinds.items()]
    return texts


def _kind(change: object) -> str:
    """The subject of a reason line, such as an argument's name; empty if it names none."""
    if not isinstance(change, Change) or not change.names:
        return ""
    if change.kind in ("code", "anew", "length", "structure"):
        return change.kind
    if change.kind == "type":
        return "arrays" if change.role == "captured" else "shape"
    return "static" if change.role == "argument" else change.role


#: For each kind of cause what was new each time, and what to do about it where the trace had no advice.
_WORDS = {
    "shape": ("for another type or shape of {names}", "Pad {names} to a few fixed shapes: each is traced once."),
    "length": ("for another length of {names}", "Keep {names} to a few lengths: each is traced once."),
    "structure": ("for {names} built in another way", "Build {names} in one way: each is traced once."),
    "arrays": ("for another type or shape of {names}, which it captures", "Keep {names} to a few fixed shapes."),
    "captured": ("for a new value of {names}, which it captures", "Keep to a few values: each is traced once."),
    "static": ("for a new value of {names}, which is static", "Keep to a few values: each is traced once."),
    "option": ("for a new value of the option {names}", "Keep to a few values: each is traced once."),
    "code": ("for another state of {names}, which it calls", "Define {names} once, outside of the loop."),
    "anew": ("as {names}, which it captures, was made anew", "Make {names} once, outside of the loop."),
}


def _text(function: str, kind: str, named: dict[str, list[str]], advice: str) -> str:
    each, instead = (words.format(names=" and ".join(named)) for words in _WORDS[kind])
    times = max(map(len, named.values()))
    lines = [f"{function} was traced {times} times in this cell, each time {each}"]
    if kind not in ("code", "anew"):
        for name, values in named.items():
            lines.append(f"{name}: {', '.join(dict.fromkeys(values[:_QUOTED]))}, …")
    return "\n  ".join([*lines, *textwrap.wrap(advice or instead, WIDTH)])


class RecompilationWatch:
    """Collects the cache misses of each cell and reports them at its end, each report once."""

    def __init__(self) -> None:
        self.quiet: set[str] = set()
        self._said: set[str] = set()
        self._since = time.time()

    def end_cell(self, _result: object) -> None:
        """Report on the cell that has just ended."""
        begin, self._since = self._since, time.time()
        misses = [event for event in stream.records(kind="miss") if event.time >= begin]
        for text in report(event for event in misses if event.function not in self.quiet):
            subject = re.sub(r"\d+ times", "", text.splitlines()[0])
            if subject not in self._said:
                self._said.add(subject)
                print(text, file=sys.stderr)


def install(shell: InteractiveShell) -> tuple[RecompilationWatch, Callable[[], None]]:
    """Register with a shell; returns the watch and a function that unregisters.

    Parameters
    ----------
    shell : InteractiveShell
        Whose cells are meant.

    Returns
    -------
    RecompilationWatch
        Whose `quiet` holds the names of definitions about which nothing is said.
    callable
    """
    watch = RecompilationWatch()
    shell.events.register("post_run_cell", watch.end_cell)
    return watch, lambda: shell.events.unregister("post_run_cell", watch.end_cell)
