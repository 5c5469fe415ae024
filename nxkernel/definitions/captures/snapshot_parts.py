"""The parts that a snapshot is made of: checks for each call, parts of the key, arrays, and what cannot be compared."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel.definitions.captures import object_contents
from nxkernel.definitions.captures.captured_array import CapturedArray
from nxkernel.definitions.captures.impure_functions import gives_logger, is_decimal, is_impure, read_from_loggers
from nxkernel.definitions.captures.name_lookup import identity
from nxkernel.definitions.captures.placeholders import replaceable
from nxkernel.definitions.captures.reachable_names import Reach
from nxkernel.definitions.keys.argument_identity import has_identity
from nxkernel.definitions.keys.leaves import spec_of
from nxkernel.messages.grammar import a
from nxkernel.tensor.device import DeviceTensor

#: The names by which a function can read the state of a generator of random numbers.
_OF_STATE = frozenset({"bit_generator", "_bit_generator", "get_state", "getstate"})
#: How deeply nested values are walked at once; deeper ones are walked later.
_DEEPEST = 40


class SnapshotParts:
    """What a walk over captured values has met, and what has to be compared later.

    Attributes
    ----------
    same, equal : list of (callable, object)
        Checks for each call: a function, and the object that it must return, the same or an equal one.
    functions : list of tuple
        Functions that are called, with their code, defaults and attributes.
    methods : list of (object, str, function)
        Methods that are called: the object, the name, and the function that its class has for it.
    arrays : list of CapturedArray
        The arrays that become hidden arguments.
    values : list
        The arrays themselves.
    aliases : list of (int, int)
        Positions of arrays that are the same object as an earlier one, and that one's position.
    beside : list of (str, array)
        Names and arrays that count by their contents.
    states : list
        The parts of the key, in order.
    parts : dict
        The parts of the key by name, for messages.
    leads : dict
        By identity, the values that lead to arrays.
    compared : dict
        By identity, the containers whose contents are compared.
    anew : dict
        Values that cannot be compared, with a description.
    used_up : list of str
        Those of them that a trace uses up.
    generators : list of (generator, object)
        Generators of random numbers, with their states.
    misses : bool
        Whether code may go on if a function has no such default or attribute, so that a new one matters.
    identifies : bool
        Whether code may compare identities.
    compares_memory : bool
        Whether code may ask which arrays share memory.
    identified : list
        Numbers, texts and arrays by content whose identity counts, if `identifies`.
    reach : Reach
        Which values the function can reach, for `anew`.
    """

    def __init__(self) -> None:
        self.same: list[tuple[Callable[[], Any], Any]] = []
        self.equal: list[tuple[Callable[[], Any], Any]] = []
        self.functions: list[tuple] = []
        self.methods: list[tuple[Any, str, types.FunctionType]] = []
        self.arrays: list[CapturedArray] = []
        self.values: list[Any] = []
        self.aliases: list[tuple[int, int]] = []
        self.beside: list[tuple[str, Any]] = []
        self.states: list[Any] = []
        self.parts: dict[str, tuple[Any, str]] = {}
        self.leads: dict[int, Any] = {}
        self.compared: dict[int, Any] = {}
        self.anew: dict[str, str] = {}
        self.used_up: list[str] = []
        self.generators: list[tuple[Any, Any]] = []
        self.misses = False
        self.identifies = False
        self.compares_memory = False
        self.identified: list[Any] = []
        self.reach = Reach()
        #: The path to the value that is being walked, the outermost first.
        self._around: list[Any] = []
        self._seen: dict[Any, int] = {}
        self._met: list[Any] = []
        self._waiting: list[tuple[tuple, Any]] = []
        #: Values to be walked later, with the path to each.
        self._later: collections.deque[tuple] = collections.deque()
        self._deep = 0
        #: Arrays that count by their contents, and are the same objects at each read.
        self._lasting: list[tuple[Callable[[], Any], Any]] = []
        #: By identity, a value on some path, and whether a copy with placeholders can replace it.
        self._replaceable: dict[int, tuple[Any, bool]] = {}
        #: Above 0 while parts are walked that people know by the name of the whole.
        self._hidden = 0
        #: The object of a package whose private attributes are being walked, and its name.
        self._inside: tuple[Any, str] | None = None
        #: Objects whose identities are in keys, kept alive.
        self._kept_alive: list[Any] = []

    def _watch(self, read: Callable[[], Any], value: Any) -> None:
        """Compare, at each call, what `read` gives with this value."""
        kind = type(value)
        if getattr(read, "func", None) is identity:
            return
        if kind is types.MethodType:
            # Looking up a method makes a new object each time, which is equal.
            self.equal.append((read, value))
        else:
            self.same.append((read, value))

    def _add(self, state: Any, name: str, text: str) -> None:
        self.states.append(state)
        if name and not self._hidden:
            self.parts.setdefault(_label(name), (state, text))

    def _note_incomparable(self, value: Any, name: str, what: str) -> None:
        """Note a value that cannot be compared: if the function can reach it, each call is traced anew.

        What is in a private attribute of a package's object is reported as that object.
        """
        if self._inside is not None:
            outer, name = self._inside
            what = f"{a(type(outer).__name__)}, whose contents cannot be compared"
        label = _label(name or type(value).__name__)
        around = self._around
        if gives_logger(value):
            # What logs waits for the run: only other attributes of a logger tell how logging is set up now.
            for attribute in read_from_loggers():
                self.reach.lead(around, read_from_loggers, attribute)
            around = [read_from_loggers]
        self.reach.note(around, (label, what, hasattr(type(value), "__next__")))

    def _generator(self, value: Any, state: Any, name: str) -> None:
        """Add a generator of random numbers: programs draw from it when they run, so its state counts if it is read."""
        self.generators.append((value, state))
        what = (_label(name or type(value).__name__), "the state of a generator of random numbers", False)
        self.reach.note(self._around, what, _OF_STATE)

    def _note_if_impure(self, value: Any, name: str) -> bool:
        """Whether a function, class or module may give other results each time; notes it if so."""
        if is_decimal(value):
            context = object_contents.decimal_context()
            self.states.append(context)
            self.equal.append((object_contents.decimal_context, context))
        impure = is_impure(value)
        if impure:
            what = "" if isinstance(value, types.ModuleType) else "()"
            called = getattr(value, "__name__", type(value).__name__)
            self._note_incomparable(value, name, f"{called}{what}, which looks at more than its arguments")
        return impure

    def _was_met(self, key: Any, value: Any) -> bool:
        """Whether a value was added before; then only its number is added to the key."""
        number = self._seen.setdefault(key, len(self._met))
        if number == len(self._met):
            self._met.append(value)
            return False
        self.states.append(("again", number))
        self._lead_if_it_leads(value)
        return True

    def _lead(self) -> None:
        if self._is_path_replaceable():
            self.leads.update((id(owner), owner) for owner in self._around)

    def _is_path_replaceable(self) -> bool:
        """Whether placeholders can replace everything on the path to the value that is being walked."""
        return all(map(self._is_replaceable, self._around))

    def _is_replaceable(self, value: Any) -> bool:
        known = self._replaceable.get(id(value))
        if known is None:
            known = self._replaceable[id(value)] = value, replaceable(value)
        return known[1]

    def _lead_if_it_leads(self, value: Any) -> None:
        """If this value turns out to lead to an array, so does the path to it: functions call each other."""
        if self._is_path_replaceable():
            self._waiting.append((tuple(self._around), value))

    @property
    def objects(self) -> list[Any]:
        """All values that were met except arrays, in order."""
        return [*self._met, *self.identified]

    @property
    def reached(self) -> list[Any]:
        """All values that were met, and those on the way to them."""
        return [*self._met, *self._kept_alive]

    def _add_identified(self, state: Any, value: Any) -> None:
        """Add a constant whose identity counts."""
        if has_identity(state, value):
            self.identified.append(value)

    def _within(self, owners: tuple, look: Callable[[], None]) -> None:
        """Walk into a value: at once, or later where Python's recursion limit would be near."""
        if self._deep == _DEEPEST:
            self._later.append((look, [*self._around, *owners], self._hidden, self._inside))
            return
        self._around += owners
        self._deep += 1
        look()
        self._deep -= 1
        del self._around[-len(owners) :]

    def settle(self) -> None:
        """Finish the walk: complete what leads to arrays, and add what must be read anew at each call."""
        while self._later:
            look, self._around, self._hidden, self._inside = self._later.popleft()
            look()
        self._around, self._hidden, self._inside = [], 0, None
        known_leads = -1
        while known_leads != len(self.leads):
            known_leads = len(self.leads)
            # What was met last is the deepest, as a rule.
            for around, value in reversed(self._waiting):
                if id(value) in self.leads:
                    self.leads.update((id(owner), owner) for owner in around)
        if self.identifies:
            # Arguments may be these very arrays.
            for read, value in self._lasting:
                self._watch(read, value)
                self.identified.append(value)
            self._lasting.clear()
            first: dict[int, int] = {}
            self.states.append(
                ("one", *[first.setdefault(id(value), position) for position, value in enumerate(self.identified)])
            )
        for label, what, is_used_up in self.reach.reached():
            self.anew[label] = what
            self.parts[label] = (object(), what)
            self.states.append(object())
            self.used_up += [label.partition(" ")[2]] if is_used_up else []

    def _array(self, value: Any, name: str, read: Callable[[], Any]) -> None:
        spec = spec_of(value)
        if read() is not value or not self._is_path_replaceable():
            # A new object at each read, such as the array of a table's column; or placeholders cannot get there.
            state = ("contents", spec, _contents_of(value))
            self.equal.append((lambda: _contents_of(read()), state[2]))
            self._add(state, name, str(spec))
            self._kept_alive.append(value)
            self.beside.append((name, value))
            if read() is value:
                self._lasting.append((read, value))
            return
        self._lead()
        first = next((position for position, known in enumerate(self.values) if known is value), None)
        if first is not None:
            self.aliases.append((len(self.arrays), first))
        on_device = type(value) is DeviceTensor
        dtype = value.dtype if isinstance(value, np.ndarray) else spec.type.dtype
        self.arrays.append(CapturedArray(name.removeprefix("option "), spec, read, on_device, dtype))
        self.values.append(value)
        self._add(("array", spec, first, on_device), name, f"{spec} on a device" if on_device else str(spec))


def _label(name: str) -> str:
    return name if name.startswith("option ") else f"captured {name}"


def _contents_of(value: Any) -> tuple:
    return (spec_of(value), np.asarray(value).tobytes())
