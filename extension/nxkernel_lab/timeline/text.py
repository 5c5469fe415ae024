"""The timeline, costs and caches as text, for terminals, logs and pages without widgets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import ago, amount, duration
from nxkernel_lab.text_escaping import clipped, visible

#: What the columns of costs are called, and where their numbers are.
COSTS = {
    "compiled": "compiled",
    "from disk": "loaded",
    "traced": "traced",
    "again": "again",
    "hits": "hits",
    "errors": "errors",
}


def timeline_text(data: Mapping[str, Any], times: bool = True) -> str:
    """Events, oldest first, and costs by function and by cell.

    Parameters
    ----------
    data : dict
        A :func:`nxkernel_lab.records.view_data.snapshot`.
    times : bool, optional
        Whether to say what may differ from run to run: times, and where native code came from.

    Returns
    -------
    str
        Lines without an end of line after the last.
    """
    events = data["events"]
    if not events:
        return "Nothing has been compiled yet: call a definition once."
    lines = [f"{counted(data['left_out'], 'earlier event')} left out"] if data["left_out"] else []
    for event in events:
        lines += event_lines(event, times)
    if times:
        lines += ["", *_costs("function", [(row["name"], row) for row in data["functions"]])]
        if data["cells"]:
            lines += ["", *_costs("cell", [(row["cell"], row) for row in data["cells"]])]
    return "\n".join(lines)


def event_lines(event: Mapping[str, Any], times: bool = True) -> list[str]:
    """An event: when and where, what, why, and advice.

    Parameters
    ----------
    event : dict
        Of a snapshot.
    times : bool, optional
        As for :func:`timeline_text`.

    Returns
    -------
    list of str
    """
    what = event["what"] if times else event_what(event)
    head = [event["cell"] or event["where"], event["function"], what]
    if times:
        head.insert(0, time.strftime("%H:%M:%S", time.localtime(event["time"])))
        head += [costs] if (costs := spent(event)) else []
    return ["  ".join(map(_read, filter(None, head))), *(f"    {_read(line)}" for line in told(event))]


def event_what(event: Mapping[str, Any]) -> str:
    """What happened, in words that do not depend on where native code came from."""
    if event["kind"] in ("compiled", "loaded", "traced"):
        return "traced again" if event["again"] else "traced"
    return event["what"]


def _read(text: str) -> str:
    return clipped(visible(text))


def told(event: Mapping[str, Any]) -> list[str]:
    """The reason of an event, advice, and notes."""
    advice = [event["advice"]] if event["advice"] else []
    return [*event["reason"], *advice, *event["notes"]]


def spent(event: Mapping[str, Any]) -> str:
    """The cost of an event and the origin of its kernels; empty if it cost nothing."""
    if not event["ms"]["total"]:
        return ""
    parts = {"trace": "trace", "lower": "lowering", "native": "native"}
    costs = ", ".join(f"{name} {duration(event['ms'][key])}" for key, name in parts.items() if event["ms"][key] >= 0.01)
    return " · ".join([f"{duration(event['ms']['total'])}: {costs}", *kernels(event["kernels"])])


def kernels(numbers: Mapping[str, int]) -> list[str]:
    """The origins of kernels in words."""
    words = {"compiled": "compiled", "memory": "from memory", "disk": "from disk"}
    return [f"{counted(numbers[key], 'kernel')} {word}" for key, word in words.items() if numbers[key]]


def programs_text(held: Mapping[str, Any], function: str = "") -> str:
    """The cached programs and their hits, without anything that differs from run to run.

    Parameters
    ----------
    held : dict
        The ``caches`` of a snapshot.
    function : str, optional
        The only function to tell of.

    Returns
    -------
    str
        Lines without an end of line after the last.
    """
    rows = [row for row in held["functions"] if function in ("", row["name"])]
    if not rows:
        return "There are no programs in memory: call a definition once."
    table = [("function", "programs", "calls answered", "arrays held")]
    table += [(row["label"], str(row["programs"]), str(row["hits"]), f"{amount(row['bytes'])}B") for row in rows]
    return "\n".join(columns(table))


def caches_text(held: Mapping[str, Any], now: float) -> str:
    """The memory and disk caches: number, size and age of entries.

    Parameters
    ----------
    held : dict
        The ``caches`` of a snapshot.
    now : float
        Its ``time``.

    Returns
    -------
    str
        Lines without an end of line after the last.
    """
    programs = sum(row["programs"] for row in held["functions"])
    return "\n".join(
        [
            f"programs in memory: {programs} of {counted(len(held['functions']), 'function')}",
            f"native code in memory: {memory_line(held['memory'], now)}",
            f"on disk: {disk_line(held['disk'], now)}",
        ]
    )


def memory_line(memory: Mapping[str, Any], now: float) -> str:
    """The loaded native code in one line."""
    if not memory["kernels"] + memory["programs"]:
        return "none"
    held = f"{counted(memory['kernels'], 'kernel')} and {counted(memory['programs'], 'program')}"
    return f"{held}, {amount(memory['bytes'])}B of code, the first loaded {ago(now - memory['oldest'])}"


def disk_line(disk: Mapping[str, Any], now: float) -> str:
    """The disk cache in one line."""
    if not disk["on"]:
        return "nothing is kept there (NXKERNEL_CACHE_DIR is off, or its folder cannot be used)"
    parts = [f"{counted(disk['kernels'], 'kernel')} {amount(disk['kernel_bytes'])}B"]
    parts += [f"{counted(disk['records'], 'program')} {amount(disk['record_bytes'])}B"] if disk["records"] else []
    if disk["others"]:
        parts.append(f"{counted(disk['others'], 'file')} {amount(disk['other_bytes'])}B of other versions")
    parts += [] if disk["whole"] else ["and more files, which are not counted"]
    parts.append(f"limit {amount(disk['limit'])}B")
    if disk["oldest"]:
        parts.append(f"the oldest was used {ago(now - disk['oldest'])}")
    return f"{', '.join(parts)}, in {disk['folder']}"


def _costs(what: str, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """A table of costs, the most expensive first."""
    ordered = sorted(rows, key=lambda row: -row[1]["ms"]["total"])
    table = [(what, *COSTS, "time", "trace", "lowering", "native")]
    table += [
        (name, *(str(row[key]) for key in COSTS.values()), *(duration(row["ms"][part]) for part in PARTS))
        for name, row in ordered
    ]
    return columns(table)


#: The parts of what an event cost, the sum first.
PARTS = ("total", "trace", "lower", "native")


def columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as text columns, the first left-aligned, the others right-aligned.

    Parameters
    ----------
    rows : iterable of sequence of str

    Returns
    -------
    list of str

    Examples
    --------
    >>> columns([("cell", "hits"), ("cell 12", "3")])
    ['cell     hits', 'cell 12     3']
    """
    rows = [[clipped(visible(text), 80) for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))]
        )
        for first, *others in rows
    ]
