"""Which programs of the collection run under nxkernel, and why others do not."""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import re
import time
import traceback

from collection.catalogue import KINDS
from collection.comparing import compare, graph_size


def attempt(kind: str, name: str, compiler: str | None) -> tuple[str, str]:
    """What became of a program, and where it went wrong."""
    program = next(program for program in KINDS[kind].PROGRAMS if program.name == name)
    try:
        sizes = [graph_size(compare(program, size, compiler)) for size in program.sizes]
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        # What numpy.testing says first is empty or the same for all.
        shown = next((line for line in lines if line and not line.startswith("Not equal")), "")
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if f.filename == KINDS[kind].__file__), frames[-1])
        where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
        # Errors that differ in types, shapes and places only have one cause.
        shown = re.sub(r"\b(bf|[fcsu]|bool)\d*(\[\d+\])+|\b[fcsu]\d+\b", "…", re.sub(r"\(\S+, line \d+\)", "", shown))
        return f"{type(error).__name__}: {shown[:150]}", where
    if sizes[0] != sizes[1] and not program.grows:
        return "the graph grows", f"{sizes[0]} → {sizes[1]} nodes"
    return "", f"{sizes[0]} nodes"


def _work(tasks, results) -> None:
    for task in iter(tasks.get, None):
        start = time.perf_counter()
        results.put((task, *attempt(*task), time.perf_counter() - start))


class Worker:
    """A process of its own, replaced when a program hangs or takes the process down."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self.tasks, self.results = self._context.Queue(), self._context.Queue()
        self.process = self._context.Process(target=_work, args=(self.tasks, self.results), daemon=True)
        self.process.start()

    def run(self, task: tuple, limit: float) -> tuple[str, str, float]:
        """What became of a program within a number of seconds."""
        self.tasks.put(task)
        end = time.monotonic() + limit
        while time.monotonic() < end:
            try:
                _, cause, where, seconds = self.results.get(timeout=0.2)
                return cause, where, seconds
            except Exception as error:
                if type(error).__name__ != "Empty":
                    raise
                if not self.process.is_alive():
                    code = self.process.exitcode
                    self._start()
                    return "the process died", f"exit code {code}", 0.0
        self.process.kill()
        self.process.join()
        self._start()
        return f"takes more than {limit:g} s", "", limit

    def close(self) -> None:
        """End the process."""
        self.tasks.put(None)
        self.process.join(5)


def main() -> None:
    """Try all programs and print what fails, by cause."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default=None)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for each program")
    parser.add_argument("--only", default="", help="a part of the kind's or program's name")
    options = parser.parse_args()
    causes: dict[str, list[str]] = collections.defaultdict(list)
    count, worker = 0, Worker()
    try:
        for kind, module in KINDS.items():
            for program in module.PROGRAMS:
                if options.only in f"{kind}.{program.name}":
                    count += 1
                    cause, where, seconds = worker.run((kind, program.name, options.compiler), options.limit)
                    causes[cause].append(f"{kind}.{program.name:<32} {seconds:6.2f} s  {where}")
    finally:
        worker.close()
    passing = causes.pop("", [])
    print(f"{len(passing)} of {count} programs pass")
    for cause, rows in sorted(causes.items(), key=lambda item: -len(item[1])):
        print(f"\n{len(rows):3} × {cause}", *(f"      {row}" for row in rows), sep="\n")
    print(f"\n{len(passing):3} × pass", *(f"      {row}" for row in passing), sep="\n")


if __name__ == "__main__":
    main()
