"""What a snapshot collects: values to compare at each call, parts of the key, arrays, values to read anew."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel.definitions.captures.captured_array import Captured
from nxkernel.definitions.captures.impure_functions import looks_around
from nxkernel.definitions.captures.name_lookup import itself
from nxkernel.definitions.captures.placeholders import replaceable
from nxkernel.definitions.captures.reachable_names import Reach
from nxkernel.definitions.keys.argument_identity import is_told
from nxkernel.definitions.keys.leaves import spec_of
from nxkernel.messages.grammar import a
from nxkernel.tensor.device import DeviceTensor

#: How deep things are looked into one inside of the other.
_DEEPEST = 40


class Collected:
    """What was met on the way, and what of it counts.

    Attributes
    ----------
    same, equal : list of (callable, object)
        What gives a value at a later call, and the value: the same object, or one that is equal.
    functions : list of tuple
        Functions that are called, with their code, defaults and attributes.
    methods : list of (object, str, function)
        Functions that answer for the attributes of objects.
    arrays : list of Captured
    values : list
        The arrays themselves.
    aliases : list of (int, int)
        Places of arrays that are earlier ones.
    beside : list of (str, array)
        Arrays that count by their contents, and their names.
    states : list
        What identifies all of it, in order.
    parts : dict
        The same for people.
    leads : dict
        By identity, what leads to arrays.
    whole : dict
        By identity, containers whose contents count.
    anew : dict
        What cannot be compared, and what is said of it.
    used_up : list of str
        Those of them that give each value once.
    misses : bool
        Whether something may be done without a default or an attribute that a function does not have.
    identifies : bool
        Whether something may be asked for that depends on which values are one object.
    compares_memory : bool
        Whether something may be asked for that depends on which arrays share memory.
    told : list
        Numbers, texts and arrays that count by their contents, of which it matters then which object they are.
    reach : Reach
    """

    def __init__(self) -> None:
        self.same: list[tuple[Callable[[], Any], Any]] = []
        self.equal: list[tuple[Callable[[], Any], Any]] = []
        self.functions: list[tuple] = []
        self.methods: list[tuple[Any, str, types.FunctionType]] = []
        self.arrays: list[Captured] = []
        self.values: list[Any] = []
        self.aliases: list[tuple[int, int]] = []
        self.beside: list[tuple[str, Any]] = []
        self.states: list[Any] = []
        self.parts: dict[str, tuple[Any, str]] = {}
        self.leads: dict[int, Any] = {}
        self.whole: dict[int, Any] = {}
        self.anew: dict[str, str] = {}
        self.used_up: list[str] = []
        self.misses = False
        self.identifies = False
        self.compares_memory = False
        self.told: list[Any] = []
        self.reach = Reach()
        #: What is looked into at the moment, from the outside in.
        self._around: list[Any] = []
        self._seen: dict[Any, int] = {}
        self._met: list[Any] = []
        self._waiting: list[tuple[tuple, Any]] = []
        #: What is to be looked into later, and what is around it.
        self._later: collections.deque[tuple] = collections.deque()
        self._deep = 0
        #: Arrays that count by their contents, and are the same ones when somebody looks again.
        self._lasting: list[tuple[Callable[[], Any], Any]] = []
        #: By identity, what was around, and whether a copy can stand in for it.
        self._replaceable: dict[int, tuple[Any, bool]] = {}
        #: Whether people know what is looked into by another name.
        self._hidden = 0
        #: The object of a package whose private attributes are looked into, and its name.
        self._inside: tuple[Any, str] | None = None
        #: Objects whose identities stand in keys.
        self._kept: list[Any] = []

    def _watch(self, read: Callable[[], Any], value: Any) -> None:
        """Have it noticed when something else is read than a value."""
        kind = type(value)
        if getattr(read, "func", None) is itself:
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

    def _anew(self, value: Any, name: str, what: str) -> None:
        """Note what cannot be compared: where the function can get at it, there is no equal snapshot.

        What an object of a package keeps in a private attribute is told as that object.
        """
        if self._inside is not None:
            outer, name = self._inside
            what = f"{a(type(outer).__name__)}, whose contents cannot be compared"
        label = _label(name or type(value).__name__)
        self.reach.note(self._around, (label, what, hasattr(type(value), "__next__")))

    def _is_anew(self, value: Any, name: str) -> bool:
        """Whether what a function, class or module gives is none that could be compared, which is noted then."""
        found = looks_around(value)
        if found:
            what = "" if isinstance(value, types.ModuleType) else "()"
            self._anew(value, name, f"{value.__name__}{what}, which looks at more than its arguments")
        return found

    def _met_before(self, key: Any, value: Any) -> bool:
        """Whether something was taken in already; then only that is noted."""
        number = self._seen.setdefault(key, len(self._met))
        if number == len(self._met):
            self._met.append(value)
            return False
        self.states.append(("again", number))
        self._wait_for(value)
        return True

    def _lead(self) -> None:
        if self._is_led_to():
            self.leads.update((id(owner), owner) for owner in self._around)

    def _is_led_to(self) -> bool:
        """Whether copies can stand in for all that is around."""
        return all(map(self._is_replaceable, self._around))

    def _is_replaceable(self, value: Any) -> bool:
        known = self._replaceable.get(id(value))
        if known is None:
            known = self._replaceable[id(value)] = value, replaceable(value)
        return known[1]

    def _wait_for(self, value: Any) -> None:
        """What is around leads to an array if this does, which may be found only later: functions call each other."""
        if self._is_led_to():
            self._waiting.append((tuple(self._around), value))

    @property
    def objects(self) -> list[Any]:
        """All that was met but arrays, in order."""
        return [*self._met, *self.told]

    @property
    def reached(self) -> list[Any]:
        """All that was met, and what led there."""
        return [*self._met, *self._kept]

    def _tell(self, state: Any, value: Any) -> None:
        """Take in a constant that has an identity."""
        if is_told(state, value):
            self.told.append(value)

    def _within(self, owners: tuple, look: Callable[[], None]) -> None:
        """Look into something: at once, or later where so much is around it that Python would not go deeper."""
        if self._deep == _DEEPEST:
            self._later.append((look, [*self._around, *owners], self._hidden, self._inside))
            return
        self._around += owners
        self._deep += 1
        look()
        self._deep -= 1
        del self._around[-len(owners) :]

    def settle(self) -> None:
        """Find what leads to arrays by way of something that had been met before, and what is read anew."""
        while self._later:
            look, self._around, self._hidden, self._inside = self._later.popleft()
            look()
        self._around, self._hidden, self._inside = [], 0, None
        found = -1
        while found != len(self.leads):
            found = len(self.leads)
            # What was met last is the deepest, as a rule.
            for around, value in reversed(self._waiting):
                if id(value) in self.leads:
                    self.leads.update((id(owner), owner) for owner in around)
        if self.identifies:
            # Arguments may be these very arrays.
            for read, value in self._lasting:
                self._watch(read, value)
                self.told.append(value)
            self._lasting.clear()
            first: dict[int, int] = {}
            self.states.append(("one", *[first.setdefault(id(value), place) for place, value in enumerate(self.told)]))
        for label, what, is_used_up in self.reach.reached():
            self.anew[label] = what
            self.parts[label] = (object(), what)
            self.states.append(object())
            self.used_up += [label.partition(" ")[2]] if is_used_up else []

    def _array(self, value: Any, name: str, read: Callable[[], Any]) -> None:
        spec = spec_of(value)
        if read() is not value or not self._is_led_to():
            # Made anew each time that somebody looks, such as the array of a table's column, or out of a trace's reach.
            state = ("contents", spec, _contents_of(value))
            self.equal.append((lambda: _contents_of(read()), state[2]))
            self._add(state, name, str(spec))
            self._kept.append(value)
            self.beside.append((name, value))
            if read() is value:
                self._lasting.append((read, value))
            return
        self._lead()
        first = next((place for place, known in enumerate(self.values) if known is value), None)
        if first is not None:
            self.aliases.append((len(self.arrays), first))
        on_device = type(value) is DeviceTensor
        dtype = value.dtype if isinstance(value, np.ndarray) else spec.type.dtype
        self.arrays.append(Captured(name.removeprefix("option "), spec, read, on_device, dtype))
        self.values.append(value)
        self._add(("array", spec, first, on_device), name, f"{spec} on a device" if on_device else str(spec))


def _label(name: str) -> str:
    return name if name.startswith("option ") else f"captured {name}"


def _contents_of(value: Any) -> tuple:
    return (spec_of(value), np.asarray(value).tobytes())
