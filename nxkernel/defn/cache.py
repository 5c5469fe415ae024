"""The graph cache: programs by function and key, and how two keys differ in the person's own words."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from nxkernel.compilers.interface import Executable
from nxkernel.defn.events import Event, stream

#: Programs kept for one function, and functions kept; the ones unused for longest go first.
PROGRAMS, FUNCTIONS = 256, 4096


@dataclass(frozen=True)
class Key:
    """What a call is looked up by.

    Parameters
    ----------
    ident : tuple
        Hashable; equal for calls that the same program answers.
    parts : dict
        The same for people: ``"argument t"`` to ``"f32[3]"``, ``"option steps"`` to ``"100"``.
    """

    ident: tuple
    parts: dict[str, str] = field(compare=False)

    def __hash__(self) -> int:
        return hash(self.ident)

    def difference(self, other: Key) -> list[tuple[str, str, str]]:
        """(what, there, here) for each part in which another key differs from this one."""
        labels = dict.fromkeys([*other.parts, *self.parts])
        none = "none"
        return [
            (label, other.parts.get(label, none), self.parts.get(label, none))
            for label in labels
            if other.parts.get(label) != self.parts.get(label)
        ]


@dataclass(eq=False)
class Program:
    """A compiled graph in the cache.

    Parameters
    ----------
    key : Key
    executable : Executable
    structure : Any
        Of the result.
    fixed : tuple
        Arrays that the function made or reached in a way that has no name; passed at every call.
    captured : tuple of int
        Which captures of the function are passed, by their number.
    prints : tuple
        Labels of the values that are printed after each run; they are the last outputs.
    reason : tuple of str
    where : str
    signature : str
        The call that it answers, as a person would write it.
    trace_ms : float
    kept : tuple
        Objects whose identity is part of the key.
    """

    key: Key
    executable: Executable
    structure: Any
    fixed: tuple
    captured: tuple[int, ...]
    prints: tuple[str, ...]
    reason: tuple[str, ...]
    where: str
    signature: str
    trace_ms: float
    kept: tuple = ()
    calls: int = 0
    made: float = field(default_factory=time.time)


class Family:
    """The programs of one function, and what its calls met."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.programs: OrderedDict[Key, Program] = OrderedDict()
        self.misses = self.compiled = self.memory = self.disk = 0
        self.forgotten_calls = 0
        #: Goes up when programs are dropped, so that shortcuts to them are not followed.
        self.version = 0

    def find(self, key: Key) -> Program | None:
        """The program for a key."""
        with self.lock:
            program = self.programs.get(key)
            if program is not None:
                self.programs.move_to_end(key)
            return program

    def add(self, program: Program) -> None:
        """Keep a program, and drop the one unused for longest when there are too many."""
        with self.lock:
            self.programs[program.key] = program
            self.misses += 1
            for kernel in program.executable.kernels:
                if kernel.origin == "compiled":
                    self.compiled += 1
                elif kernel.origin == "disk":
                    self.disk += 1
                else:
                    self.memory += 1
            if len(self.programs) > PROGRAMS:
                _, dropped = self.programs.popitem(last=False)
                self.forgotten_calls += dropped.calls
                self.version += 1
                stream.emit(
                    Event("evict", self.name, reason=(f"more than {PROGRAMS} programs are kept for no function",))
                )

    @property
    def calls(self) -> int:
        """Calls that were answered by a program that was there already."""
        return self.forgotten_calls + sum(program.calls for program in self.programs.values())

    def closest(self, key: Key) -> tuple[Program, list[tuple[str, str, str]]] | None:
        """The program whose key differs in the fewest parts, the latest of equals, with the differences."""
        best = None
        with self.lock:
            for program in self.programs.values():
                difference = key.difference(program.key)
                if best is None or (len(difference), -program.made) < (len(best[1]), -best[0].made):
                    best = (program, difference)
        return best

    def clear(self) -> None:
        """Drop every program and start counting anew."""
        with self.lock:
            self.programs.clear()
            self.misses = self.compiled = self.memory = self.disk = self.forgotten_calls = 0
            self.version += 1


_families: OrderedDict[str, Family] = OrderedDict()
_lock = threading.Lock()


def family(fingerprint: str, name: str) -> Family:
    """The programs of the function with that content."""
    key = f"{name} {fingerprint}"
    with _lock:
        found = _families.get(key)
        if found is None:
            found = _families[key] = Family(name)
            if len(_families) > FUNCTIONS:
                _families.popitem(last=False)
        else:
            _families.move_to_end(key)
        return found


def families() -> list[Family]:
    """The functions that have programs, latest use last."""
    with _lock:
        return [found for found in _families.values() if found.programs]


def clear() -> None:
    """Drop every program of every function; native kernels stay in memory and on disk."""
    with _lock:
        for found in _families.values():
            found.clear()
