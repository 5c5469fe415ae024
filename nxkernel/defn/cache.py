"""The graph cache: programs by function and key, and how two keys differ in the person's own words."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nxkernel.compilers.interface import Executable
from nxkernel.defn import launches
from nxkernel.defn.arguments import Parts
from nxkernel.defn.delivery import Hook
from nxkernel.defn.devices import OnDevice
from nxkernel.defn.events import Event, stream
from nxkernel.defn.states import is_code
from nxkernel.graph.expr import Source

#: Programs kept for one function, and functions kept; the ones unused for longest go first.
PROGRAMS, FUNCTIONS = 256, 4096
#: Programs of one function that were dropped last: calls in other threads may be about to count themselves there.
_LEAVING = 16

#: What differs, what it was there, and what it is here.
Difference = list[tuple[str, str, str]]


def difference(there: Parts, here: Parts) -> Difference:
    """Each part in which two keys differ, in the order of the call.

    Functions, classes and modules that only one of them has are left out beside others: the code that names them came
    or went with them, and is what differs.
    """
    none = (None, "none")
    found, named = [], []
    for label in dict.fromkeys([*here, *there]):
        (state, text), (other, other_text) = here.get(label, none), there.get(label, none)
        if state != other:
            one_sided = label.startswith("captured ") and (label not in here or label not in there)
            told = named if one_sided and is_code(state or other) else found
            told.append((label, other_text, f"another {text}" if text == other_text else text))
    return found or named


@dataclass(eq=False)
class Program:
    """A compiled graph in the cache.

    Parameters
    ----------
    ident : hashable
        What it is found by; equal for calls that it answers.
    parts : dict
        The same for people.
    executable : Executable
    structure : Any
        Of the result.
    captured : tuple of int
        Which captured arrays of the call are passed, by their number.
    fixed : tuple
        Arrays that the function made itself; passed at every call.
    hooks : tuple of (Hook, structure)
        Who gets a value after each run, and the structure of it; their leaves come after those of the result.
    specs : tuple of Spec or VectorizedSpec
        Of the results, then of what hooks get.
    changes : tuple of int
        The leaves of the arguments that are assigned into; what is in them at the end are the last outputs.
    returned : frozenset of int
        Those of them whose last value the function returns.
    assigned_at : tuple of (Source or None)
        For each of them the line that assigned into it last.
    reshaped : frozenset of int
        The leaves of which there are views in another shape.
    reason : tuple of str
    where : str
    signature : str
        The call that it answers, as a person would write it.
    compiler : str
    trace_ms : float
    placed : OnDevice or None
        What calls the executable, where it runs on a device.
    calls, new, calls_when_last : int
        How many calls it answered, how many of those it was made for, and `calls` when it was put at the end.
    """

    ident: Hashable
    parts: Parts
    executable: Executable
    structure: Any
    captured: tuple[int, ...]
    fixed: tuple
    hooks: tuple[tuple[Hook, Any], ...]
    specs: tuple
    changes: tuple[int, ...]
    returned: frozenset[int]
    assigned_at: tuple[Source | None, ...]
    reshaped: frozenset[int]
    reason: tuple[str, ...]
    where: str
    signature: str
    compiler: str
    trace_ms: float
    placed: OnDevice | None = None
    calls: int = 0
    new: int = 0
    # The call that it is made for is still to come then.
    calls_when_last: int = 1
    made: float = field(default_factory=time.time)

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Its results, for arrays of the host or of a device."""
        return self.executable.run(arrays) if self.placed is None else self.placed.run(arrays)

    @property
    def hits(self) -> int:
        """How many calls found it there."""
        return self.calls - self.new


class Family:
    """The programs of one function, and what its calls met."""

    def __init__(self, name: str) -> None:
        self.name = name
        #: Held while a program is made, so that calls of the same kind wait for it; calls of other kinds are answered.
        self.making = threading.RLock()
        self._lock = threading.RLock()
        self._programs: OrderedDict[Hashable, Program] = OrderedDict()
        self._leaving: deque[Program] = deque()
        self.misses = self.compiled = self.memory = self.disk = 0
        self._forgotten_hits = self._told_hits = 0
        #: Python numbers among the arguments, by path, that tracing needed as static values.
        self.fixed: set[str] = set()
        #: The arguments that tracing found to be assigned into, and whether as a whole, by ``x += v``, only.
        self.assigned: dict[str, bool] = {}
        #: Whether hooks call functions of the definition's own: programs belong to one object then, not to a content.
        self.owned = False
        #: Goes up when programs are dropped, so that shortcuts to them are not followed.
        self.version = 0
        #: Whether another function of the same name and place was there before, which the person has edited since.
        self.edited = False

    def find(self, ident: Hashable) -> Program | None:
        """The program that answers a call."""
        with self._lock:
            program = self._programs.get(ident)
            if program is not None:
                program.calls_when_last = program.calls
                self._programs.move_to_end(ident)
            return program

    def add_assigned(self, path: str, whole: bool) -> None:
        """Know that an argument is assigned into: in parts, or as a whole, by ``x += v``, only."""
        with self._lock:
            self.assigned = {**self.assigned, path: whole and self.assigned.get(path, True)}
            self.version += 1

    def count(self, program: Program) -> None:
        """Count a call that was new."""
        with self._lock:
            self.misses += 1
            found = launches.origins(program.executable.kernels)
            self.compiled += found.count("compiled")
            self.disk += found.count("disk")
            self.memory += len(found) - found.count("compiled") - found.count("disk")

    def add(self, program: Program) -> None:
        """Keep a program, and drop the one unused for longest when there are too many."""
        dropped = None
        with self._lock:
            if len(self._programs) >= PROGRAMS:
                dropped = self._unused_for_longest()
                del self._programs[dropped.ident]
                self._leaving.append(dropped)
                if len(self._leaving) > _LEAVING:
                    self._forgotten_hits += self._leaving.popleft().hits
                self.version += 1
            self._programs[program.ident] = program
        if dropped is not None:
            why = (f"more than {PROGRAMS} programs; the one for {dropped.signature} was unused for longest",)
            stream.emit(Event("evict", self.name, reason=why))

    def _unused_for_longest(self) -> Program:
        """The first program that answered no call since it was put at the end, where shortcuts do not put any."""
        while True:
            program = next(iter(self._programs.values()))
            if program.calls <= program.calls_when_last:
                return program
            program.calls_when_last = program.calls
            self._programs.move_to_end(program.ident)

    @property
    def hits(self) -> int:
        """Calls that were answered by a program that was there already."""
        with self._lock:
            known = [*self._programs.values(), *self._leaving]
            return self._forgotten_hits + sum(program.hits for program in known)

    def programs(self) -> list[Program]:
        """The programs, the one used last at the end."""
        with self._lock:
            return list(self._programs.values())

    def closest(self, parts: Parts) -> tuple[Program, Difference] | None:
        """The program whose key differs in the fewest parts, the latest of equals, with the differences."""
        pairs = [(program, difference(program.parts, parts)) for program in self.programs()]
        return min(pairs, key=lambda pair: (len(pair[1]), -pair[0].made), default=None)

    def new_hits(self) -> int:
        """Hits since this was asked last."""
        with self._lock:
            hits = self.hits
            new, self._told_hits = hits - self._told_hits, hits
            return new

    def clear(self) -> list[Program]:
        """Drop every program and start counting anew; the programs, for :meth:`restore`."""
        with self._lock:
            dropped = list(self._programs.values())
            self._programs.clear()
            self._leaving.clear()
            self.misses = self.compiled = self.memory = self.disk = self._forgotten_hits = self._told_hits = 0
            self.version += 1
            return dropped

    def restore(self, programs: Iterable[Program]) -> int:
        """Put back programs that were dropped, but for calls that have others by now; how many came back."""
        back = 0
        with self._lock:
            for program in programs:
                if program.ident not in self._programs and len(self._programs) < PROGRAMS:
                    self._programs[program.ident] = program
                    # Their hits were told before they were dropped.
                    self._told_hits += program.hits
                    back += 1
            self.version += 1
        return back


_families: OrderedDict[str, Family] = OrderedDict()
_latest: dict[str, Family] = {}
_lock = threading.Lock()


def family(name: str, fingerprint: str, place: str = "") -> Family:
    """The programs of the function with that name and content.

    Parameters
    ----------
    name, fingerprint : str
    place : str, optional
        Its module and qualified name, where these say that a function of other content is an earlier state of this one.
    """
    key = f"{name} {fingerprint}"
    with _lock:
        found = _families.get(key)
        if found is None:
            found = _families[key] = Family(name)
            if len(_families) > FUNCTIONS:
                _families.popitem(last=False)
        else:
            _families.move_to_end(key)
        if place:
            before = _latest.get(place)
            found.edited = found.edited or (before not in (None, found) and bool(before.programs()))
            _latest[place] = found
        return found


def families() -> list[Family]:
    """The functions that have programs, latest use last."""
    with _lock:
        known = list(_families.values())
    return [found for found in known if found.programs()]


def tell_hits(where: str = "") -> None:
    """Emit a record for each function that has answered calls since the last time; the calls themselves made none."""
    with _lock:
        known = list(_families.values())
    for found in known:
        new = found.new_hits()
        if new > 0:
            stream.emit(Event("hits", found.name, where=where, calls=new))


def clear() -> None:
    """Drop every program of every function; native kernels stay in memory and on disk."""
    with _lock:
        known = list(_families.values())
    for found in known:
        found.clear()
