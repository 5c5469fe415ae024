"""The graph cache: compiled programs by function and key, with eviction, and a record of evicted keys."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nxkernel import fork_safety
from nxkernel.compilers.interface import Executable
from nxkernel.definitions.devices.device_programs import DeviceProgram
from nxkernel.definitions.observe import launch_groups
from nxkernel.definitions.observe.events import Event, stream
from nxkernel.definitions.observe.key_changes import Parts, differing
from nxkernel.definitions.outputs.calling_convention import CallingConvention

#: Programs kept for one function, and functions kept; the ones unused for longest go first.
PROGRAMS, FUNCTIONS = 256, 4096
#: Programs kept for one key that were traced for different numbers which the programs compute.
BY_VALUES = 16
#: Programs of one function that were dropped last: calls in other threads may be about to count themselves there.
_LEAVING = 16
#: So many calls are remembered of each function whose program was dropped.
_REMEMBERED = 1024


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """Cache counts of one definition: hits, misses, kernels compiled, loaded and reused.

    Parameters
    ----------
    hits : int
        Calls answered by the graph cache.
    misses : int
        Calls that were traced.
    compiled, memory, disk : int
        Kernels that were compiled, found in memory (a library's, too), and loaded from disk. All loops and branches of
        a program together are one kernel.
    entries : int
        Programs kept now.
    """

    hits: int
    misses: int
    compiled: int
    memory: int
    disk: int
    entries: int


@dataclass(eq=False)
class CachedProgram:
    """A compiled graph in the cache.

    Parameters
    ----------
    ident : hashable
        What it is found by; equal for calls that it answers.
    parts : dict
        The same for people.
    executable : Executable
    convention : CallingConvention
    fixed : tuple
        Arrays that the function made itself; passed at every call.
    reason : tuple of str
    where : str
    signature : str
        The call that it answers, as a person would write it.
    compiler : str
    trace_ms : float
    rules : str
        Whose rules of types hold, and what says so.
    placed : DeviceProgram or None
        What calls the executable, where it runs on a device.
    calls, new, calls_when_last : int
        How many calls it answered, how many of those it was made for, and `calls` when it was put at the end.
    """

    ident: Hashable
    parts: Parts
    executable: Executable
    convention: CallingConvention
    fixed: tuple
    reason: tuple[str, ...]
    where: str
    signature: str
    compiler: str
    trace_ms: float
    rules: str = ""
    placed: DeviceProgram | None = None
    calls: int = 0
    new: int = 0
    # The call that it is made for is still to come then.
    calls_when_last: int = 1
    made: float = field(default_factory=time.time)
    #: Those for the same key, itself among them, by the numbers that the program computes and was traced for.
    by_values: OrderedDict[tuple[int, ...], CachedProgram] = field(default_factory=OrderedDict)

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Its results, for arrays of the host or of a device."""
        return self.executable.run(arrays) if self.placed is None else self.placed.run(arrays)

    @property
    def hits(self) -> int:
        """How many calls found it there."""
        return self.calls - self.new


class Learned(NamedTuple):
    """What the traces of a function have learned about its arguments, which keys depend on.

    Parameters
    ----------
    fixed : set of str
        Python's numbers, by path, whose values tracing needed.
    static_numbers : set of str
        Those of NumPy programs: all that are fixed, or constants by their defaults.
    assigned : dict
        What is assigned into, and whether as a whole.
    owned : bool
        Whether hooks call functions of the definition's own.
    """

    fixed: Set[str]
    static_numbers: Set[str]
    assigned: Mapping[str, bool]
    owned: bool


class CacheEntryGroup:
    """The cache entries of one function: its programs, its hit and miss counts, and what its traces learned."""

    def __init__(self, name: str, content: str = "", identity: str = "") -> None:
        fork_safety.watch()
        self.name = name
        #: What the function is: its code, how it is traced, by whose rules. An earlier state of it is another content.
        self.content = content
        #: What events are told apart by: of all states of one function, and of no other one that has its name.
        self.identity = identity
        #: Held while a program is made, so that calls of the same kind wait for it; calls of other kinds are answered.
        self.making = fork_safety.rlock()
        #: Whether there may be something to clear.
        self.used = False
        self._lock = fork_safety.rlock()
        self._programs: OrderedDict[Hashable, CachedProgram] = OrderedDict()
        self._leaving: deque[CachedProgram] = deque()
        self.misses = self.compiled = self.memory = self.disk = 0
        self._forgotten_hits = self._reported_hits = 0
        #: Python numbers among the arguments, by path, that tracing needed as static values.
        self.fixed: set[str] = set()
        #: The numbers by default that no call has passed another value for, and those that some call has.
        self.constants: frozenset[str] = frozenset()
        self.inputs: frozenset[str] = frozenset()
        #: The first default value of each.
        self.defaults: dict[str, Any] = {}
        #: The numbers whose values are part of the keys of NumPy programs: all that are fixed or constants.
        self.static_numbers: Set[str] = frozenset()
        #: The arguments that tracing found to be assigned into, and whether as a whole, by ``x += v``, only.
        self.assigned: dict[str, bool] = {}
        #: Whether a function that is traced as it is has to be rewritten: it asks for what only the program knows.
        self.dispatched = False
        #: Whether it is rewritten for its loops since its trace as it is was long, or, False, is long all the same.
        self.long: bool | None = None
        #: Whether hooks call functions of the definition's own: programs belong to one object then, not to a content.
        self.owned = False
        #: Goes up when programs are dropped, so that fast paths to them are not followed.
        self.version = 0
        #: The content of the function of the same name and place before, which the person has edited since.
        self.before = ""
        #: Whether the person has edited it since.
        self.replaced = False
        #: The last program that was of no use for later calls, and what is said of it.
        self.unkept: tuple[CachedProgram, str] | None = None
        self._dropped: OrderedDict[int, None] = OrderedDict()

    @property
    def learned(self) -> Learned:
        """What traces have learned until now."""
        return Learned(self.fixed, self.static_numbers, self.assigned, self.owned)

    def known(self, ident: Hashable) -> CachedProgram | None:
        """The program for a key, or None, without counting as a use of it."""
        with self._lock:
            return self._programs.get(ident)

    def was_dropped(self, ident: Hashable) -> bool:
        """Whether a program for this key was evicted."""
        with self._lock:
            return hash(ident) in self._dropped

    def find(self, ident: Hashable) -> CachedProgram | None:
        """The program that answers a call."""
        with self._lock:
            program = self._programs.get(ident)
            if program is not None:
                program.calls_when_last = program.calls
                self._programs.move_to_end(ident)
            return program

    def learn(self, assigned: Iterable[tuple[str, bool]], fixed: Set[str], owned: bool) -> None:
        """Record what a trace learned about the function; later calls include it in their keys.

        Parameters
        ----------
        assigned : iterable of (str, bool)
            Arguments that it assigned into: in parts, or as a whole, by ``x += v``, only.
        fixed : set of str
            Numbers that it needed as static values.
        owned : bool
            Whether hooks call functions of the definition's own.
        """
        with self._lock:
            before = self.assigned, self.fixed, self.owned
            for path, whole in assigned:
                self.assigned = {**self.assigned, path: whole and self.assigned.get(path, True)}
            self.fixed, self.owned = self.fixed | fixed, self.owned or owned
            self.static_numbers = self.fixed | self.constants
            if (self.assigned, self.fixed, self.owned) != before:
                self.version += 1

    def add_constant(self, name: str) -> None:
        """Have a number that is left to its default be a constant of NumPy programs."""
        if name not in self.constants:
            with self._lock:
                self.constants |= {name}
                self.static_numbers = self.fixed | self.constants
                self.version += 1

    def add_input(self, name: str) -> None:
        """Have a number that has a default be an input from now on: calls pass other values."""
        with self._lock:
            self.inputs |= {name}
            self.constants -= {name}
            self.static_numbers = self.fixed | self.constants
            self.version += 1

    def count(self, program: CachedProgram) -> None:
        """Count a call that was new."""
        with self._lock:
            self.used = True
            self.misses += 1
            found = launch_groups.origins(launch_groups.code_of(program.executable))
            self.compiled += found.count("compiled")
            self.disk += found.count("disk")
            self.memory += len(found) - found.count("compiled") - found.count("disk")

    def add(self, program: CachedProgram) -> None:
        """Keep a program, and drop the one unused for longest when there are too many."""
        dropped = None
        with self._lock:
            self.used = True
            if len(self._programs) >= PROGRAMS:
                dropped = self._unused_for_longest()
                del self._programs[dropped.ident]
                # Not the key itself, which would keep alive what it holds.
                self._dropped[hash(dropped.ident)] = None
                if len(self._dropped) > _REMEMBERED:
                    self._dropped.popitem(last=False)
                self._leaving.append(dropped)
                if len(self._leaving) > _LEAVING:
                    self._forgotten_hits += self._leaving.popleft().hits
                self.version += 1
            self._keep_others(program)
            self._programs[program.ident] = program
            self._dropped.pop(hash(program.ident), None)
            self.unkept = None
        if dropped is not None:
            why = (f"more than {PROGRAMS} programs; the one for {dropped.signature} was unused for longest",)
            stream.emit(Event("evict", self.name, reason=why, identity=self.identity))

    def _keep_others(self, program: CachedProgram) -> None:
        """Keep the programs for the same key that were traced for other numbers, beside a new one."""
        check, before = program.convention.checked_values, self._programs.get(program.ident)
        if check is None:
            return
        if before is not None:
            program.by_values = before.by_values
        program.by_values[check.values] = program
        if len(program.by_values) > BY_VALUES:
            self._forgotten_hits += program.by_values.popitem(last=False)[1].hits

    def find_for(self, program: CachedProgram, values: Sequence[int]) -> CachedProgram | None:
        """The program for the same key that was traced for these numbers, where there is one: it answers from now on.

        Parameters
        ----------
        program : CachedProgram
        values : sequence of int
            The first numbers that it has found for a call.
        """
        with self._lock:
            for numbers, other in reversed(program.by_values.items()):
                if numbers[: len(values)] == tuple(values):
                    program.by_values.move_to_end(numbers)
                    if program.ident in self._programs:
                        self._programs[program.ident] = other
                    return other
        return None

    def _unused_for_longest(self) -> CachedProgram:
        """The first program that answered no call since it was put at the end, where fast paths do not put any."""
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
            kept = [*self._programs.values(), *self._leaving]
            known = [each for program in kept for each in (program.by_values.values() or [program])]
            return self._forgotten_hits + sum(program.hits for program in known)

    def programs(self) -> list[CachedProgram]:
        """The programs, the one used last at the end."""
        with self._lock:
            return list(self._programs.values())

    def closest(self, parts: Parts) -> CachedProgram | None:
        """The program whose key differs in the fewest parts, the latest of equals; one that was not kept as well."""
        programs = [*self.programs(), *([self.unkept[0]] if self.unkept else [])]
        closest, fewest = None, 0
        for program in sorted(programs, key=lambda program: -program.made):
            count = len(differing(program.parts, parts))
            if closest is None or count < fewest:
                closest, fewest = program, count
            if count == 1 and not self.unkept:
                # No other one is closer: one that differs in nothing would have answered the call.
                break
        return closest

    def new_hits(self) -> int:
        """Hits since this was asked last."""
        with self._lock:
            hits = self.hits
            new, self._reported_hits = hits - self._reported_hits, hits
            return new

    def clear(self) -> list[CachedProgram]:
        """Drop every program and start counting anew; the programs, for :meth:`restore`."""
        with self._lock:
            dropped = list(self._programs.values())
            self._programs.clear()
            self._leaving.clear()
            self._dropped.clear()
            self.unkept = None
            self.used = False
            self.misses = self.compiled = self.memory = self.disk = self._forgotten_hits = self._reported_hits = 0
            self.version += 1
            return dropped

    def restore(self, programs: Iterable[CachedProgram]) -> int:
        """Put back programs that were dropped, but for calls that have others by now; how many came back."""
        back = 0
        with self._lock:
            self.used = True
            for program in programs:
                if program.ident not in self._programs and len(self._programs) < PROGRAMS:
                    self._programs[program.ident] = program
                    # Their hits were reported before they were dropped.
                    self._reported_hits += program.hits
                    back += 1
            self.version += 1
        return back


_entry_groups: OrderedDict[str, CacheEntryGroup] = OrderedDict()
_latest: dict[str, CacheEntryGroup] = {}
_lock = fork_safety.rlock()


def entry_group(name: str, fingerprint: str, place: str = "") -> CacheEntryGroup:
    """The cache entries of the function with this name and content, made if there are none.

    Parameters
    ----------
    name, fingerprint : str
    place : str, optional
        Its module and qualified name, where these say that a function of other content is an earlier state of this one.
    """
    key = f"{name} {fingerprint}"
    with _lock:
        found = _entry_groups.get(key)
        if found is None:
            found = _entry_groups[key] = CacheEntryGroup(name, fingerprint, place or key)
            if len(_entry_groups) > FUNCTIONS:
                dropped = _entry_groups.popitem(last=False)[1]
                for each in [each for each, latest in _latest.items() if latest is dropped]:
                    del _latest[each]
        else:
            _entry_groups.move_to_end(key)
        if place:
            before = _latest.get(place)
            if before not in (None, found):
                before.replaced = True
                if before.programs():
                    found.before = before.content
            found.replaced = False
            _latest[place] = found
        return found


def entry_groups() -> list[CacheEntryGroup]:
    """The functions that have programs, latest use last."""
    with _lock:
        known = list(_entry_groups.values())
    return [found for found in known if found.programs()]


def report_hits(where: str = "") -> None:
    """Emit a record for each function that has answered calls since the last time; the calls themselves made none."""
    with _lock:
        known = list(_entry_groups.values())
    for found in known:
        new = found.new_hits()
        if new > 0:
            stream.emit(Event("hits", found.name, where=where, calls=new, identity=found.identity))


def clear() -> None:
    """Drop every program of every function; native kernels stay in memory and on disk."""
    with _lock:
        # A session has seen thousands of functions, and has programs of a few.
        used = [found for found in _entry_groups.values() if found.used]
    for found in used:
        found.clear()
