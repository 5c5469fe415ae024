"""The arguments of one call, flattened into leaves, with the cache key that they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.definitions.captures.snapshot import Snapshot
from nxkernel.definitions.captures.snapshot_builder import SnapshotWalk
from nxkernel.definitions.devices import device_programs
from nxkernel.definitions.keys import argument_errors, containers, default_options
from nxkernel.definitions.keys.argument_identity import IdentityTracker, has_identity
from nxkernel.definitions.keys.fast_keys import root_of
from nxkernel.definitions.keys.leaves import Leaf, array_of, kind_of, spec_of
from nxkernel.definitions.keys.static_values import by_contents, constant, describe
from nxkernel.definitions.observe.key_changes import KEYWORDS, Parts
from nxkernel.definitions.outputs import assigned_arrays
from nxkernel.definitions.outputs.calling_convention import CallingConvention
from nxkernel.definitions.outputs.host_results import HostResults
from nxkernel.definitions.tracing import dialects, whose_rules
from nxkernel.definitions.tracing.asked_values import CallValues
from nxkernel.definitions.tracing.trace import CapturedArrays, Traced, trace
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import python_numbers
from nxkernel.graph.expr import node_of
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import is_number
from nxkernel.primitives import parameter
from nxkernel.tensor.device import DeviceTensor
from nxkernel.tensor.tensor import Template


class CallArguments:
    """What a call is answered by: the arguments' types and shapes, the options, and what the function captures.

    Attributes
    ----------
    paths, values, specs : sequences
        Of the leaves: how a person would write each, its value, and what it is.
    given, structures : sequences
        Of each positional argument what it is, and how it is built; `names` has the names of these.
    options : dict
    compiler : str
    checked : bool
        Whether its program looks for what goes wrong in it.
    snapshot : Snapshot
    arrays : list of (str, Spec, array)
        The captured arrays, those of functions among the options included.
    dialect : str
        Whose rules the function follows.
    fixed : set of str
        The paths of Python numbers that are static values.
    assigned : set of str
        The paths of what is known to be assigned into, by the rules of Nx.
    found_assigned : list of (str, bool)
        Those of them that a trace of this call found, and whether as a whole.
    found_fixed : set of str
        The paths of numbers of which a trace of this call found that they have to be static.
    keywords : tuple of str
        The last arguments are passed by these names.
    placed : set of str
        The options that are parameters before the ``*``.
    hooks : frozenset of str
        The names of hooks that functions are given for.
    owner : tuple
        What tells the object that is called from others of the same content; empty where they share programs.
    donated : tuple of int
        The leaves on a device that are given away.
    order : tuple of str
        What the function takes as ``**options``, in the order of the call.
    inputs_now : mapping
        The numbers that were constants of programs before this call, each with what its event says of it.
    host_results : HostResults
        What functions have given to it that it calls.
    held : sequence of (str, Any)
        The static values in containers that somebody can change, or that have to be looked into, by their paths.
    """

    __slots__ = (
        "_option_states",
        "_walk",
        "arrays",
        "assigned",
        "checked",
        "compiler",
        "dialect",
        "donated",
        "fixed",
        "found_assigned",
        "found_fixed",
        "given",
        "held",
        "hooks",
        "host_results",
        "inputs_now",
        "keywords",
        "kinds",
        "names",
        "options",
        "order",
        "owner",
        "paths",
        "placed",
        "snapshot",
        "specs",
        "structures",
        "values",
        "whole",
    )  # fmt: skip

    def __init__(
        self,
        names: Sequence[str],
        args: Sequence[Any],
        structures: Sequence[Any],
        leaves: Sequence[tuple[str, Any]],
        options: dict[str, Any],
        compiler: str | None,
        snapshot: Snapshot,
        captured: Sequence[Any],
        dialect: str = dialects.NX,
        fixed: Collection[str] = (),
        keywords: Sequence[str] = (),
        placed: Collection[str] = (),
        assigned: Mapping[str, bool] = MappingProxyType({}),
        hooks: Collection[str] = (),
        owner: tuple = (),
        donated: Collection[str] = (),
        order: tuple[str, ...] = (),
        inputs_now: Mapping[str, str] = MappingProxyType({}),
        held: Sequence[tuple[str, Any]] = (),
    ) -> None:
        self.names, self.given, self.structures = names, args, tuple(structures)
        self.options, self.snapshot = options, snapshot
        self.paths = tuple([path for path, _ in leaves])
        self.values = [value for _, value in leaves]
        self.specs = tuple([spec_of(value, path) for path, value in leaves])
        self.arrays = [(a.name, a.spec, value) for a, value in zip(snapshot.arrays, captured, strict=True)]
        self._option_states: dict[str, Any] = {}
        self._walk: SnapshotWalk | None = None
        for name, value in options.items():
            state = constant(value)
            self._option_states[name] = self._walked(name, value) if state is None else state
        self.held = held
        for path, value in held:
            state = by_contents(value)
            self._option_states[path] = self._walked(path, value) if state is None else state
        self.compiler = device_programs.compiler_of(compiler, [*self.values, *(value for _, _, value in self.arrays)])
        self.donated: tuple[int, ...] = ()
        if donated and device_programs.is_for_devices(self.compiler):
            self.donated = device_programs.places_of(self.paths, donated, self.values)
        self.dialect, self.keywords, self.placed = dialect, tuple(keywords), placed
        self.checked = default_options.checked()
        self.hooks, self.owner, self.order = frozenset(hooks), owner, order
        self.inputs_now = inputs_now
        self.host_results = HostResults()
        #: What a function sees apart though types and shapes are equal: weak numbers, and, if it is NumPy's, arrays.
        self.kinds = tuple([kind_of(value, dialect == dialects.NUMPY) for value in self.values])
        #: Whether a trace found that Python's floats need all of their digits.
        self.whole = False
        #: The paths of Python numbers that are static values.
        bools = dialect == dialects.NUMPY
        self.fixed = {
            path for path, value in leaves if is_number(value) and (path in fixed or (bools and type(value) is bool))
        }
        self.assigned: set[str] = set()
        self.found_assigned: list[tuple[str, bool]] = []
        self.found_fixed: set[str] = set()
        if dialect == dialects.NX:
            for path, whole in assigned.items():
                self.add_assigned(path, whole)

    @property
    def ident(self) -> tuple:
        """Hashable; equal for calls that the same program answers."""
        return (
            self.dialect,
            self.structures,
            self.specs,
            self.kinds,
            tuple([(path, constant(value)) for path, value in self.fixed_values()]),
            self._assigned_kinds() if self.assigned else (),
            tuple(self._option_states.items()),
            self.keywords,
            self.order,
            self._aliases(),
            self._options_again() if self.identifies else (),
            self.snapshot.ident,
            self.compiler,
            self.hooks,
            self.owner,
            self.donated,
            self.checked,
        )

    @property
    def gives_arrays(self) -> bool:
        """Whether results are NumPy's arrays and scalars: by NumPy's rules, where no tensor comes in."""
        return self.dialect == dialects.NUMPY and not whose_rules.holds_tensors(self.values)

    @property
    def leaves(self) -> list[tuple[str, Any]]:
        """The leaves of the arguments, each with how a person would write it."""
        return [*zip(self.paths, self.values, strict=True)]

    @property
    def anew(self) -> dict[str, str]:
        """What cannot be compared, so that a call is traced whatever was traced before; by name, what it is."""
        return self.snapshot.anew if self._walk is None else self.snapshot.anew | self._walk.anew

    @property
    def used_up(self) -> tuple[str, ...]:
        """Those of them that give each value once."""
        return self.snapshot.used_up if self._walk is None else (*self.snapshot.used_up, *self._walk.used_up)

    @property
    def generators(self) -> list[tuple[Any, Any]]:
        """The generators of random numbers that the function can draw from, with their states before the call."""
        return [*self.snapshot.generators, *(self._walk.generators if self._walk is not None else ())]

    @property
    def identifies(self) -> bool:
        """Whether the answer depends on which values are one object."""
        return self.snapshot.identifies or (self._walk is not None and self._walk.identifies)

    @property
    def compares_memory(self) -> bool:
        """Whether the answer depends on which arrays share memory."""
        return self.snapshot.compares_memory or (self._walk is not None and self._walk.compares_memory)

    @property
    def objects(self) -> list[Any]:
        """The captured objects and those of options, which arguments may be."""
        return [*self.snapshot.objects, *(self._walk.objects if self._walk is not None else ())]

    @property
    def beside(self) -> list[tuple[str, Any]]:
        """The captured arrays that count by their contents and those of options, with their names."""
        return [*self.snapshot.beside, *(self._walk.beside if self._walk is not None else ())]

    def identities(self) -> IdentityTracker:
        """Finds arguments that are the same as others, or as what is captured."""
        return IdentityTracker(self.arrays, self.objects)

    def _options_again(self) -> tuple[int, ...]:
        """Which options, and objects in them, are captured ones or each other."""
        first: dict[int, int] = {}
        static = [*self.options.values(), *(value for _, value in self.held)]
        told = [value for value in static if has_identity(constant(value), value)]
        return tuple([first.setdefault(id(value), place) for place, value in enumerate([*self.objects, *told])])

    def refuse_again(self, function: str) -> None:
        """Refuse containers that are in two places, where the function changes containers.

        Raises
        ------
        NxTypeError
        """
        met = {id(value): "a list, dict or object that it captures" for value in self.snapshot.compared.values()}
        waiting = [*zip(self.names, self.given, strict=True)]
        for path, value in waiting:
            opened = containers.inside(value)
            if opened is None:
                continue
            other = met.setdefault(id(value), path)
            if other is not path and not isinstance(value, tuple):
                raise NxTypeError(
                    message(
                        f"{function} changes what it is given, and {path} is {other}, too: it would see the change "
                        "there.",
                        "Pass a copy, such as copy.copy(...), in one of the places.",
                    )
                )
            waiting += [(path + suffix, part) for suffix, part in opened[2]]

    def refuse_shared(self, function: str) -> None:
        """Refuse arrays that share memory and are not one, where the function asks for that.

        Raises
        ------
        NxTypeError
        """
        captured = [(name, value) for name, _, value in self.arrays]
        assigned_arrays.refuse_shared(function, [*self.leaves, *captured])

    @property
    def is_aliased(self) -> bool:
        """Whether captured arrays are one array that were several when the snapshot was made."""
        arrays = self.arrays[: len(self.snapshot.arrays)]
        return len({id(array) for _, _, array in arrays}) < self.snapshot.distinct

    def look_again(self, snapshot: Snapshot, captured: Sequence[Any]) -> None:
        """Go by another snapshot of the same function."""
        here = [(a.name, a.spec, value) for a, value in zip(snapshot.arrays, captured, strict=True)]
        self.arrays[: len(self.snapshot.arrays)] = here
        self.snapshot = snapshot

    @property
    def has_device_tensors(self) -> bool:
        """Whether an argument or something captured is on a device."""
        return any(type(value) is DeviceTensor for value in [*self.values, *(value for _, _, value in self.arrays)])

    def refuse_changes(self, function: str, convention: CallingConvention) -> None:
        """Refuse a call whose program may not write into the containers or arrays that it changes.

        Raises
        ------
        NxTypeError
        """
        if convention.changes_containers and not self.identifies:
            self.refuse_again(function)
        if convention.changes or convention.copied or convention.reshaped:
            captured = [self.arrays[number] for number in convention.captured]
            others = [*((name, array) for name, _, array in captured), *self.beside]
            assigned_arrays.refuse(function, convention, self.leaves, others)

    def add_assigned(self, path: str, whole: bool) -> None:
        """Know that a leaf is assigned into: by ``x[k] = v``, or as a whole by ``x += v``, which only arrays are."""
        if path in self.paths and (not whole or isinstance(self.values[self.paths.index(path)], np.ndarray)):
            self.assigned.add(path)

    def fixed_values(self) -> list[tuple[str, Any]]:
        """The numbers that are static values, by their paths."""
        return [(path, value) for path, value in self.leaves if path in self.fixed]

    def _assigned_kinds(self) -> tuple:
        """What is assigned into, and whether that is an array, which the caller sees change."""
        return tuple([(path, isinstance(value, np.ndarray)) for path, value in self.leaves if path in self.assigned])

    def fixable(self, error: Exception) -> set[str]:
        """Python numbers that may be made static because tracing stopped with an error: those that it asked for.

        In NumPy programs, without a hint, whole numbers come first, then floats. By the rules of Nx, numbers are
        tensors: those alone become static that a whole number was asked for, such as a shape, and truths that say what
        is traced.
        """
        open_, asked = self._open_numbers(), getattr(error, "value", None)
        if self.dialect == dialects.NX:
            needed = {path: open_[path] for path in _needed(error) & open_.keys()}
            of_numbers = asked is not None and asked.type.is_integer and asked.type is not types.bool_
            return {
                path for path, value in needed.items() if type(value) is bool or (of_numbers and type(value) is int)
            }
        whole = {path for path, value in open_.items() if isinstance(value, int)}
        return _needed(error) & open_.keys() or whole or set(open_)

    def asks_for_number(self, error: Exception) -> bool:
        """Whether tracing stopped for a value that is known when Python numbers of the call are static."""
        needed = _needed(error)
        return bool(needed) and needed <= self._open_numbers().keys()

    def _open_numbers(self) -> dict[str, Any]:
        """The Python numbers of the call that are traced, by their paths."""
        return {path: value for path, value in self.leaves if is_number(value) and path not in self.fixed}

    def options_now(self) -> tuple[bool, Parts]:
        """Whether all options are what they were when the call was bound, and what they are for people."""
        if self._walk is None:
            return True, {}
        walk = SnapshotWalk()
        held = [(path, value) for path, value in self.held if by_contents(value) is None]
        for name, value in [*self.options.items(), *held]:
            if constant(value) is None:
                walk.value(value, f"option {name}", None)
                walk.settle()
        return walk.states == self._walk.states, walk.parts

    def _walked(self, name: str, value: Any) -> tuple:
        """The state of an option that is no constant: a container, a function, an object."""
        walk = self._walk = self._walk or SnapshotWalk()
        states, arrays = len(walk.states), len(walk.arrays)
        walk.value(value, f"option {name}", None)
        walk.settle()
        met = zip(walk.arrays[arrays:], walk.values[arrays:], strict=True)
        self.arrays += [(captured.name, captured.spec, array) for captured, array in met]
        return tuple(walk.states[states:])

    def _aliases(self) -> tuple[int, ...]:
        """Which arrays are one and the same, where options bring in some: a program reads such an array once."""
        if self._walk is None or not self._walk.arrays:
            return ()
        first: dict[int, int] = {}
        return tuple([first.setdefault(id(array), place) for place, (_, _, array) in enumerate(self.arrays)])

    def parts(self) -> Parts:
        """The key for people: ``"argument t"`` to ``f32[3]``, ``"option steps"`` to ``100`` and so on."""
        found: Parts = {}
        for path, structure in zip(self.names, self.structures, strict=True):
            if structure != containers.LEAF:
                found[f"argument {path}"] = (structure, containers.describe(structure))
            if structure not in (containers.LEAF, containers.NOTHING):
                for name, value in containers.static_parts(structure, path):
                    found[f"argument {name}"] = (constant(value) or containers.Static(value), describe(value))
        for path, spec in zip(self.paths, self.specs, strict=True):
            found[f"argument {path}"] = (spec, str(spec))
        for path, spec, value, kind in zip(self.paths, self.specs, self.values, self.kinds, strict=True):
            if kind == "number":
                found[f"argument {path}"] = ((type(value), spec), f"{spec} (a Python {type(value).__name__})")
            elif kind:
                found[f"argument {path}"] = ((np.ndarray, spec), f"{spec} (an array)")
        for path, value in self.fixed_values():
            found[f"argument {path}"] = (constant(value), describe(value))
        for path in self.assigned:
            spec, text = found[f"argument {path}"]
            found[f"argument {path}"] = ((spec, "assigned"), f"{text} (assigned into)")
        for name, value in self.options.items():
            if constant(value) is not None:
                kind = "argument" if name in self.placed else "option"
                found[f"{kind} {name}"] = (self._option_states[name], describe(value))
        for path, value in self.held:
            if by_contents(value) is not None:
                found[f"argument {path}"] = (self._option_states[path], describe(value))
        arguments = {*self.placed, *(self.names if self.held else ())}
        for label, part in self._walk.parts.items() if self._walk is not None else ():
            name = label.removeprefix("option ")
            found[f"argument {name}" if name != label and root_of(name) in arguments else label] = part
        if self.hooks:
            found["hooks"] = (self.hooks, ", ".join(sorted(self.hooks)))
        if len(self.order) > 1:
            found[KEYWORDS] = (self.order, ", ".join(self.order))
        if self.donated:
            given_away = tuple([self.paths[place] for place in self.donated])
            found["donated"] = (given_away, ", ".join(given_away))
        if self.owner:
            found["the function object, to which its hooks belong"] = (self.owner, "this one")
        if self.checked:
            found["checked"] = (True, "on")
        found["rules"] = (self.dialect, whose_rules.NAMES[self.dialect])
        return {**found, **self.snapshot.parts, "compiler": (self.compiler, self.compiler)}

    def trace(
        self,
        name: str,
        function: Callable[..., Any],
        twin: Callable[[Any], Any],
        given: Sequence[int] | None = None,
    ) -> Traced:
        """Trace a function on these arguments.

        Parameters
        ----------
        name : str
        function : callable
        twin : callable
            Gives what is called in its place.
        given : sequence of int, optional
            Where the trace may ask for numbers of the running program, the first answers that are known.
        """
        __tracebackhide__ = True
        leads = dict(self.snapshot.leads)
        if self._walk is not None:
            leads |= self._walk.leads
        leaves = [
            Leaf(
                path,
                spec,
                kind == "number",
                (value,) if path in self.fixed else (),
                isinstance(value, np.ndarray),
                path in self.assigned,
            )
            for path, spec, value, kind in zip(self.paths, self.specs, self.values, self.kinds, strict=True)
        ]
        known = CapturedArrays(self.arrays, leads, self.objects, self.beside)
        return trace(
            name, function, self.structures, leaves, self.options, known, twin, self.dialect, self.names, self.keywords,
            self.hooks, self.order, self.whole, None if given is None else self._asked(given), self.static_values,
            self.checked,
        )  # fmt: skip

    def _asked(self, given: Sequence[int]) -> CallValues:
        return CallValues(self.values, [array for _, _, array in self.arrays], self.host_results, given)

    @property
    def static_values(self) -> list[Any]:
        """The static values in containers, by their numbers in structures."""
        return [value for _, value in self.held]

    @property
    def may_be_asked(self) -> bool:
        """Whether there are values, and not only types, that a trace may ask for, and that are still there later."""
        values = [*self.values, *(array for _, _, array in self.arrays)]
        return (
            self.dialect == dialects.NUMPY
            and not self.donated
            and not any(isinstance(value, Template) for value in values)
        )

    def inputs(self, convention: CallingConvention, fixed: Sequence[np.ndarray]) -> list[Any]:
        """What a program takes: the leaves, the captured arrays that it uses, and those that its trace made.

        What is on a device stays there for programs that run on devices.
        """
        given = [*zip(self.values, self.specs, strict=True)]
        for place in convention.exact:
            value, spec = given[place]
            given[place] = value, spec._replace(type=python_numbers.double(spec.type))
        given += [(array, spec) for _, spec, array in [self.arrays[number] for number in convention.captured]]
        given += [(array, spec_of(array)) for array in fixed]
        if device_programs.is_for_devices(self.compiler):
            return [value.array if type(value) is DeviceTensor else array_of(value, spec) for value, spec in given]
        return [array_of(value, spec) for value, spec in given]

    def signature(self, name: str) -> str:
        """The call as a person would write it, types in place of values; of large containers only how many tensors."""
        of: dict[str, list[str]] = {}
        for path, spec in zip(self.paths, self.specs, strict=True):
            of.setdefault(re.split(r"[.[]", path, maxsplit=1)[0], []).append(f"{path}: {spec}")
        shown: list[str] = []
        for argument, structure in zip(self.names, self.structures, strict=True):
            leaves = of.get(argument, [])
            if structure[0] == "again":
                leaves = [f"{argument}: {containers.describe(structure)}"]
            shown += leaves if len(leaves) <= _MOST_LEAVES else [f"{argument}: {len(leaves)} tensors"]
        shown += [f"{option}={describe(value)}" for option, value in self.options.items()]
        return f"{name}({', '.join(shown)})"


def flattened(
    function: str, names: Sequence[str], args: Sequence[Any], identities: IdentityTracker | None = None
) -> tuple[list[tuple[str, Any]], list[containers.Structure], list[tuple[str, Any]]]:
    """The leaves of a function's arguments, each with its path, and how the arguments are built of them.

    Last, the static values that the structures have the numbers of, with their paths.
    """
    __tracebackhide__ = True

    def refuse(path: str, value: Any) -> Exception:
        return argument_errors.no_data(function, path, value)

    leaves: list[tuple[str, Any]] = []
    held: list[tuple[str, Any]] = []
    structures = []
    for name, value in zip(names, args, strict=True):
        try:
            structures.append(containers.flatten(value, name, leaves, refuse, identities, held=held))
        except RecursionError:
            raise argument_errors.nested(function, name, value) from None
    return leaves, structures, held


#: As many tensors of a container are told one by one, where a call is shown in a line.
_MOST_LEAVES = 4


def _needed(error: Exception) -> set[str]:
    """The paths of the arguments of which the value is made that an error asked for."""
    asked = getattr(error, "value", None)
    if asked is None:
        return set()
    return {node.params["name"] for node in post_order([node_of(asked)]) if node.primitive is parameter}
