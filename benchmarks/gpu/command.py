"""``python -m benchmarks --gpu``: nxkernel's GPU compiler beside JAX and torch.compile, in one table.

Works run in a process of their own, which another one follows where a work ends it; what takes too long is stopped.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.measuring import table
from benchmarks.measuring.children import ROOT
from benchmarks.measuring.work import GPU_PEERS, Goal, Outcome, Settings, Work

#: Seconds for one work, with what compiling it takes, and for the start of a process.
ONE, START = 100.0, 120.0
#: Processes that may end without a row.
TRIES = 3


@dataclass
class Found:
    """What processes have told so far.

    Parameters
    ----------
    machine : dict
    missing : list of str
        Of contenders that are not there, why.
    outcomes : list of Outcome
    """

    machine: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)


def unavailable() -> str:
    """Why there is no GPU to measure on, in a line; empty where there is one."""
    from nxkernel.backends.cuda import availability
    from nxkernel.errors import CudaUnavailableError

    if availability.simulating():
        return "NUMBA_ENABLE_CUDASIM=1 in the environment asks for the simulator."
    try:
        availability.require()
    except CudaUnavailableError as error:
        return " ".join(str(error).split())
    return ""


def chosen(pattern: str | None, small: bool) -> list[Work]:
    """The works whose names a regular expression finds; all without one. They are here to be named, not to be run."""
    from benchmarks.gpu.works import Ground, works

    return [work for work in works(Ground((), small=small)) if pattern is None or re.search(pattern, work.name)]


def run(
    works: Sequence[Work],
    settings: Settings,
    tell: Callable[[str], None],
    *,
    gpu: bool,
    small: bool,
    seconds: float,
) -> Found:
    """Measure works in processes of their own.

    A work that raises, ends its process or takes too long becomes a row that says so.

    Parameters
    ----------
    works : sequence of Work
    settings : Settings
    tell : callable
        Is told in a line what is being measured, and what came of it.
    gpu, small : bool
        As for :func:`benchmarks.gpu.rows.main`.
    seconds : float
        For all of them; those that have not begun then are left out, and say so.

    Returns
    -------
    Found
    """
    found, end = Found(), time.monotonic() + seconds
    left = list(works)
    failures = 0
    while left and time.monotonic() < end and failures < TRIES:
        before = len(left)
        task = {
            "gpu": gpu,
            "small": small,
            "names": [work.name for work in left],
            "settings": asdict(settings),
            "first": not found.machine,
            # Where no process comes up with all of them, the last one is left out.
            "peers": GPU_PEERS[: len(GPU_PEERS) - failures],
        }
        _follow(_lines(task, end), left, found, tell)
        failures += len(left) == before
    why = "no process comes up to measure it" if failures else f"left out: {seconds / 60:.0f} minutes are over"
    found.outcomes += [work.outcome({}, note=why) for work in left]
    return found


def _follow(lines: Iterator[dict[str, Any]], left: list[Work], found: Found, tell: Callable[[str], None]) -> None:
    """Take what a process tells until it ends; works that it has done, or ended with, are taken out of `left`."""
    current: Work | None = None
    for line in lines:
        if "machine" in line:
            found.machine, found.missing = line["machine"], line["missing"]
        elif "begin" in line:
            current = next(work for work in left if work.name == line["begin"])
            tell(f"measuring {current.name} …")
        elif "rows" in line:
            rows = list(map(_outcome, line["rows"]))
            found.outcomes += rows
            for row in rows:
                # What is stopped from outside has told as much as it knows.
                tell(f"  {line_of(row)}")
            left.remove(current)
            current = None
        elif current is not None:
            found.outcomes.append(current.outcome({}, note=line["end"]))
            left.remove(current)
        elif line["end"]:
            tell(line["end"])


def line_of(row: Outcome) -> str:
    """A row as a line that stands alone.

    Examples
    --------
    >>> line_of(Outcome("w", {"nxkernel": 0.002, "JAX": 0.004}, (), "s", "fast"))
    'nxkernel 2 ms, JAX 4 ms; fast'
    """
    figures = ", ".join(f"{name} {table.quantity(value, row.unit)}" for name, value in row.figures.items())
    return "; ".join(filter(None, [figures, row.note]))


def _outcome(row: dict[str, Any]) -> Outcome:
    goals = tuple(Goal(**goal) for goal in row["goals"])
    return Outcome(row["work"], row["figures"], goals, row["unit"], row["note"])


def _lines(task: dict[str, Any], end: float) -> Iterator[dict[str, Any]]:
    """What a process says; at last an ``"end"`` with the reason, which is empty where it was through."""
    from benchmarks.gpu.libraries import environment

    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.gpu.rows", json.dumps(task)],
        cwd=ROOT,
        env={**os.environ, **environment()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said: queue.Queue[str] = queue.Queue()
    errors: list[str] = []
    # Compilers leave processes behind that hold the pipes, so that their ends are no sign of the end.
    threading.Thread(target=_read, args=(process.stdout, said.put), daemon=True).start()
    threading.Thread(target=_read, args=(process.stderr, errors.append), daemon=True).start()
    last = time.monotonic() + START
    try:
        while True:
            over = process.poll() is not None
            try:
                line = said.get(timeout=0.2)
            except queue.Empty:
                if over:
                    break
                if time.monotonic() > last:
                    yield {"end": "stopped: it took too long"}
                    return
                continue
            if not line.startswith("{"):
                continue
            told = json.loads(line)
            yield told
            now = time.monotonic()
            if "rows" in told and now > end:
                return
            # A work that has begun may be finished some time after the end.
            last = min(now + ONE, end + ONE / 3)
    finally:
        process.kill()
        process.wait()
    status = process.returncode
    reason = next((line.strip() for line in reversed(errors) if line.strip()), "it said nothing")
    yield {"end": f"its process ended with status {status}: {reason[:200]}" if status else ""}


def _read(stream: Any, take: Callable[[str], Any]) -> None:
    with stream:
        for line in stream:
            take(line)
