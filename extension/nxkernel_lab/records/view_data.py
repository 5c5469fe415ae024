"""Events, costs and cache contents as JSON data for the widget and the panel."""

from __future__ import annotations

import secrets
import time
from typing import Any

import nxkernel
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.devices import device_programs
from nxkernel.definitions.observe.events import KEPT, NO_CELL, Event, stream
from nxkernel.definitions.observe.history import Sums, history
from nxkernel.messages.grammar import counted
from nxkernel_lab.records import cache_contents

#: Of what form the data is; another number says that a page of another version cannot read it.
VERSION = 1
#: How many events go into one snapshot.
EVENTS = 500
#: Known to the page as this process: after a restart of the kernel there is another.
SESSION = secrets.token_hex(8)


def snapshot(since: int = 0, limit: int = EVENTS) -> dict[str, Any]:
    """What happened, what it cost, and what the caches hold.

    Parameters
    ----------
    since : int, optional
        Leave out events up to this number: ``last`` of the snapshot before.
    limit : int, optional
        How many events at most: the latest.

    Returns
    -------
    dict
        Only of dicts, lists, texts, numbers and truth values. Times are seconds since the epoch, durations
        milliseconds. Texts are people's own: they are text, not markup.

        * ``version``: 1. ``session``: a text; another one is another process. ``cleared``: a number; when it or the
          session is another than before, forget the events that are shown. ``time``: now.
        * ``since``, ``last``: the numbers before the first and of the last event. ``left_out``: how many events
          between them had no room.
        * ``events``: oldest first, each with

          - ``id``: its number. ``time``.
          - ``kind``: ``"compiled"``, ``"loaded"`` (kernels came from disk), ``"traced"`` (all were in memory),
            ``"hits"``, ``"error"``, ``"evicted"`` or ``"cleared"``. ``again``: whether it is a recompilation.
            ``what``: this in words.
          - ``function``: its name. ``where``: the code that called, ``"cell 7"`` or ``"train.py, line 3"``.
          - ``cell``, ``cell_id``: the cell that was running; both empty where none was.
          - ``reason``: lines that say why. ``advice``: the change that avoids it, or empty. ``notes``: lines.
          - ``ms``: ``{"trace", "lower", "native", "total"}``.
          - ``kernels``: ``{"compiled", "memory", "disk"}``: numbers of kernels by where they came from.
          - ``calls``: for ``"hits"``, how many calls were answered; 0 otherwise.

        * ``functions``: the sums of each function, the busy ones at the end: ``name``, ``last`` (time); the numbers
          ``compiled``, ``loaded``, ``traced``, ``again``, ``hits``, ``errors``, ``evicted``, ``cleared``; ``ms`` and
          ``kernels`` as above; ``programs``: how many are in the cache now.
        * ``cells``: the same for each cell, without ``programs``, with ``cell`` and ``cell_id`` instead of ``name``,
          and with ``again_last``: what compiled again in its last run, a list of ``{"function", "reason", "advice"}``.
        * ``caches``: what :func:`nxkernel_lab.records.cache_contents.contents` gives.
        * ``status``: ``compiler``, ``threads``, ``processors``, ``device`` (texts and numbers), ``compiled``,
          ``loaded``, ``traced``, ``again``, ``hits``, ``errors`` of this session, ``programs`` that are kept, and
          ``line``: all of it in one line. ``compiler`` is the one where none is named; ``device`` says where its
          programs run, and where the others do that are kept.
    """
    history.start()
    if stream.cell == NO_CELL:
        # During a cell this waits for its end, so that its hits make one line.
        graph_cache.report_hits()
    last = stream.kept
    new = [(number, event) for number, event in stream.since(since) if event.kind != "kernel"]
    left_out = max(len(new) - limit, 0)
    functions = history.functions()
    held = cache_contents.contents()
    return {
        "version": VERSION,
        "session": SESSION,
        "cleared": stream.cleared,
        "time": time.time(),
        "since": since,
        "last": last,
        "left_out": left_out,
        "events": [_event(number, event) for number, event in new[left_out:]],
        "functions": _functions(functions, held),
        "cells": _cells(),
        "caches": held,
        "status": _status(functions, held),
    }


def of_function(name: str, limit: int = EVENTS) -> dict[str, Any]:
    """A snapshot limited to one function.

    Parameters
    ----------
    name : str
    limit : int, optional
        How many events at most: the latest.

    Returns
    -------
    dict
        As :func:`snapshot`, but without cells, which are summed up for all functions.
    """
    data = snapshot(limit=KEPT)
    events = [event for event in data["events"] if event["function"] == name]
    functions = [row for row in data["functions"] if row["name"] == name]
    left_out = max(len(events) - limit, 0)
    return {**data, "events": events[left_out:], "functions": functions, "cells": [], "left_out": left_out}


def _event(number: int, event: Event) -> dict[str, Any]:
    return {
        "id": number,
        "time": event.time,
        "kind": kind(event),
        "again": event.again,
        "what": what(event),
        "function": event.function,
        "where": event.where,
        "cell": event.cell.name,
        "cell_id": event.cell.id,
        "reason": list(event.reason),
        "advice": event.advice,
        "notes": list(event.notes),
        "ms": _ms(event),
        "kernels": {"compiled": event.compiled, "memory": event.reused - event.disk, "disk": event.disk},
        "calls": event.calls if event.kind == "hits" else 0,
    }


def kind(event: Event) -> str:
    """The kind of an event; see :func:`snapshot`."""
    if event.kind == "miss":
        return "compiled" if event.compiled else "loaded" if event.disk else "traced"
    return {"evict": "evicted", "clear": "cleared"}.get(event.kind, event.kind)


def what(event: Event) -> str:
    """The event in a word or two."""
    if event.kind == "hits":
        return counted(event.calls, "hit")
    return {"evict": "forgotten", "clear": "cleared", "error": "error"}.get(event.kind, event.verb)


def _ms(sums: Event | Sums) -> dict[str, float]:
    parts = {"trace": sums.trace_ms, "lower": sums.lower_ms, "native": sums.native_ms, "total": sums.total_ms}
    return {name: round(value, 3) for name, value in parts.items()}


def _sums(sums: Sums) -> dict[str, Any]:
    counts = ("compiled", "loaded", "traced", "again", "hits", "errors", "evicted", "cleared")
    return {
        **{name: getattr(sums, name) for name in counts},
        "ms": _ms(sums),
        "kernels": {"compiled": sums.kernels, "memory": sums.from_memory, "disk": sums.from_disk},
        "last": sums.last,
    }


def _functions(functions: dict[str, Sums], held: dict[str, Any]) -> list[dict[str, Any]]:
    kept: dict[str, int] = {}
    for row in held["functions"]:
        kept[row["name"]] = kept.get(row["name"], 0) + row["programs"]
    return [{"name": name, **_sums(sums), "programs": kept.get(name, 0)} for name, sums in functions.items()]


def _cells() -> list[dict[str, Any]]:
    again = {run.cell: run.again for run in history.last_runs()}
    return [
        {
            "cell": cell.name,
            "cell_id": cell.id,
            **_sums(sums),
            "again_last": [
                {"function": name, "reason": list(event.reason), "advice": event.advice}
                for name, event in again.get(cell, {}).items()
            ],
        }
        for cell, sums in history.cells().items()
    ]


def _device(compiler: str) -> str:
    return f"cuda:{compiler.partition(':')[2] or 0}" if device_programs.is_for_devices(compiler) else "CPU"


def _status(functions: dict[str, Sums], held: dict[str, Any]) -> dict[str, Any]:
    names = ("compiled", "loaded", "traced", "again", "hits", "errors")
    totals = {name: sum(getattr(sums, name) for sums in functions.values()) for name in names}
    compiler, threads = device_programs.compiler_of(None, ()), nxkernel.get_threads()
    kept = sum(row["programs"] for row in held["functions"])
    named = [
        compiler,
        *(program.compiler for entry_group in graph_cache.entry_groups() for program in entry_group.programs()),
    ]
    device = ", ".join(dict.fromkeys(map(_device, named)))
    words = [f"{totals['compiled']} compiled", f"{totals['loaded']} from disk", counted(totals["hits"], "hit")]
    words += [counted(threads, "thread"), device]
    return {
        "compiler": compiler,
        "threads": threads,
        "processors": held["processors"],
        "device": device,
        **totals,
        "programs": kept,
        "line": " · ".join(words),
    }
