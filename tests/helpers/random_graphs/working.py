"""Ranges of seeds shared among processes, each of which ends after some, so that no code piles up in memory."""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

#: Seeds of a process, seconds after which a graph is taken to hang, and graphs after which something is told.
MOST, PATIENCE, OFTEN = 4000, 600, 1000


class Run:
    """The graphs of many seeds.

    Parameters
    ----------
    first, count : int
    workers : int
        Processes at a time.
    say : callable
        Takes lines that tell of progress and of failures.
    guarded : bool
        Whether they run in guarded memory, where a read or write outside of a buffer ends the process.

    Attributes
    ----------
    failures : list of str
    done : int
        Graphs that were checked.
    steps : int
        Kernels and other steps that ran in guarded memory.
    """

    def __init__(self, first, count, workers, say, guarded=False):
        self.first, self.count, self.workers, self.say = first, count, workers, say
        self._how = ["guarded"] if guarded else []
        self.failures, self.done, self.steps = [], 0, 0
        self._lock, self._begin = threading.Lock(), time.monotonic()
        size = min(MOST, -(-count // workers))
        self._ranges = [(start, min(size, first + count - start)) for start in range(first, first + count, size)]

    def finish(self):
        """Check them all; give the seconds that it took."""
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            for _ in pool.map(lambda part: self._work(*part), self._ranges):
                pass
        return time.monotonic() - self._begin

    def _work(self, start, count):
        """One process after another, until all of some seeds are done: one that dies costs one seed."""
        end = start + count
        while start < end:
            start = self._process(start, end)
        with self._lock:
            self._ranges.remove((end - count, count))
            rest = min([place for place, _ in self._ranges], default=self.first + self.count)
            self.say(f"all seeds before {rest} are done")

    def _process(self, start, end):
        command = [sys.executable, "-W", "error", "-m", "random_graphs", str(start), str(end - start), *self._how]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NXKERNEL_CACHE_DIR": "off"}
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
        ):
            hurry = _hurry(process)
            for line in process.stdout:
                hurry.cancel()
                told = json.loads(line)
                start = told["seed"] + 1
                self._note(told["failure"], told["steps"])
                hurry = _hurry(process)
            hurry.cancel()
            process.wait()
            if start < end:
                errors.seek(0)
                self._note(f"seed {start}\nits process ended with {process.returncode}\n{errors.read()[-3000:]}")
                start += 1
            return start

    def _note(self, failure, steps=0):
        with self._lock:
            self.done += 1
            self.steps += steps
            if self.done % OFTEN == 0 or self.done == self.count:
                spent = time.monotonic() - self._begin
                self.say(f"{self.done:,} of {self.count:,} graphs in {spent:.0f} s, {len(self.failures)} failures")
            if failure is not None:
                self.failures.append(failure)
                self.say(failure)


def _hurry(process):
    """Kills a process whose next graph does not come."""
    timer = threading.Timer(PATIENCE, process.kill)
    timer.daemon = True
    timer.start()
    return timer
