"""A word at the end of a cell in which a definition was traced again and again, with what to do about it."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable

from IPython.core.interactiveshell import InteractiveShell

from nxkernel.defn.events import Event, stream
from nxkernel.defn.explain import CODE_CHANGED, MADE_ANEW, is_type

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
        One text for each definition and kind of cause: values that were new at most of many traces.

    Examples
    --------
    >>> lines = [f"option lr: {0.1 * i:.1f} → {0.1 * (i + 1):.1f}" for i in range(1, 10)]
    >>> print(report(Event("miss", "step", reason=(line,)) for line in lines)[0])
    step was traced 9 times in this cell, each time for a new value of the option lr
      lr: 0.2, 0.3, 0.4, …
      If lr only feeds arithmetic, declare it before `*` and pass it by position: it is traced once.
    """
    causes: dict[str, dict[str, list[str]]] = {}
    for event in misses:
        for line in event.reason:
            cause, value = _cause(line)
            if cause:
                causes.setdefault(event.function, {}).setdefault(cause, []).append(value)
    texts = []
    for function, values in causes.items():
        kinds: dict[str, dict[str, list[str]]] = {}
        for cause, met in values.items():
            if len(met) >= STORM and (len(set(met)) >= STORM or not met[0]):
                kind, _, name = cause.partition(" ")
                kinds.setdefault(kind, {})[name] = met
        texts += [_text(function, kind, named) for kind, named in kinds.items()]
    return texts


def _cause(line: str) -> tuple[str, str]:
    """What a reason is about, its kind first, and the new value; nothing for a reason that is no change."""
    what, colon, change = line.partition(": ")
    kind, _, name = what.partition(" ")
    value = change.rpartition(" → ")[2]
    if line == MADE_ANEW:
        return "anew", ""
    if not colon or not name:
        return "", ""
    if change == CODE_CHANGED:
        return f"code {name}", ""
    if is_type(value):
        return f"{'arrays' if kind == 'captured' else 'shape'} {name}", value
    return f"{'static' if kind == 'argument' else kind} {name}", value


#: For each kind of cause, what was new each time, and what to do about it; for one name and for several.
_WORDS = {
    "shape": (
        "for another type or shape of {names}",
        "Pad {names} to a few fixed shapes, or group the calls by shape: each shape is traced once.",
    ),
    "arrays": (
        "for another type or shape of {names}, which it captures",
        "Keep {names} to one type and a few fixed shapes: values are read at every call without a trace.",
    ),
    "captured": (
        "for a new value of {names}, which it captures",
        "Pass {names} as {arguments}: it is traced once.",
    ),
    "static": (
        "for a new value of {names}, which is static",
        "Its value is part of the program, as a shape, an axis or static_argnames ask for it. Use a few fixed sizes; "
        "where {names} only feeds arithmetic, take it out of static_argnames.",
    ),
    "code": (
        "for another state of {names}, which it calls",
        "Define {names} once, outside of the loop.",
    ),
    "anew": (
        "as something that it captures was made anew",
        "Make the objects and functions that it reads once, outside of the loop.",
    ),
}
_WORDS["option"] = (
    "for a new value of the option {names}",
    "If {names} only feeds arithmetic, declare it before `*` and pass it by position: it is traced once.",
)


def _text(function: str, kind: str, named: dict[str, list[str]]) -> str:
    each, advice = _WORDS[kind]
    names = " and ".join(named)
    words = {"names": names, "arguments": "an argument" if len(named) == 1 else "arguments"}
    times = max(map(len, named.values()))
    lines = [f"{function} was traced {times} times in this cell, each time {each.format(**words)}"]
    for name, values in named.items():
        if values[0]:
            lines.append(f"{name}: {', '.join(dict.fromkeys(values[:_QUOTED]))}, …")
    return "\n  ".join([*lines, advice.format(**words)])


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
