"""The fast path of a repeated call: a flat tuple of types and shapes, one lookup, one native call."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from nxkernel.definitions.calls.arguments import CallArguments
from nxkernel.definitions.calls.graph_cache import CachedProgram, CacheEntryGroup
from nxkernel.definitions.captures.snapshot import Snapshot, snapshot_of
from nxkernel.definitions.keys import containers, default_options, source_locations
from nxkernel.definitions.keys.argument_identity import has_identity
from nxkernel.definitions.keys.static_values import constant
from nxkernel.definitions.observe.events import Event, stream
from nxkernel.definitions.outputs import hook_delivery
from nxkernel.definitions.outputs.calling_convention import CallingConvention
from nxkernel.definitions.outputs.value_checks import ValuesChangedError
from nxkernel.tensor.device import DeviceArray, DeviceTensor
from nxkernel.tensor.tensor import Tensor

_empty = np.empty
_wrap = Tensor.wrap
_array = np.array
_share = np.may_share_memory
_context = default_options.CONTEXT.get


def as_array(array: Any, spec: Any) -> Any:
    """What NumPy gives where nxkernel's programs give an array: itself, or a scalar of no axes."""
    array = array.host() if type(array) is DeviceArray else array
    if not array.shape:
        return array[()]
    return array if array.flags.writeable and array.base is None else array.copy()


#: What a fast path gives that does not hold any more.
OUTDATED = object()
#: Functions by the name of the hook whose value they get.
Hooks = Mapping[str, Callable[[Any], Any]]
_NO_HOOKS: Hooks = MappingProxyType({})
#: What has an array that is its own.
_ARRAYS = frozenset({np.ndarray, Tensor, DeviceTensor})


class CallDefaults:
    """What a call took from the function: its code, and the default values of options.

    Parameters
    ----------
    function : callable
    given : collection of str
        The options that the call gave.
    placed : int
        How many arguments it gave by position.
    """

    __slots__ = ("code", "defaults", "function", "held", "items", "keywords")

    def __init__(self, function: Any, placed: int, given: Collection[str]) -> None:
        self.function = function if isinstance(function, types.FunctionType) else _no_function
        self.code = self.function.__code__
        keywords = self.function.__kwdefaults__
        #: The defaults by keyword that count, each with the dict and the name that it is looked up by.
        self.items = tuple([(keywords, name, value) for name, value in (keywords or {}).items() if name not in given])
        #: That dict, and the defaults by position, where one of them counts.
        self.keywords = keywords if self.items else None
        self.defaults = self.function.__defaults__ if placed < self.code.co_argcount else None
        #: What is held by options that are no constants.
        self.held: Snapshot | None = None

    @classmethod
    def of(cls, function: Any, options: Mapping[str, Any], placed: int, given: Collection[str]) -> CallDefaults | None:
        """What a call with these options takes from the function; None if it has to be read anew at each call."""
        left = cls(function, placed, given)
        named = [(f"option {name}", value) for name, value in options.items() if constant(value) is None]
        if named:
            left.held = snapshot_of(named)[0]
            if left.held.anew:
                return None
        return left


def _no_function() -> None:
    """The function of callables that are not Python functions."""


class FastPath:
    """A program with all that a repeated call needs, looked up beforehand; kept in its snapshot."""

    __slots__ = ("_beside", "_different", "_keywords", "_left", "_places", "_seen", "checks_values", "exact")

    def __init__(
        self,
        family: CacheEntryGroup,
        arguments: CallArguments,
        program: CachedProgram,
        left: CallDefaults,
        hooks: Hooks = _NO_HOOKS,
    ) -> None:
        snapshot, convention = arguments.snapshot, program.convention
        # What only has to be looked up is, right in `run`: asking the snapshot costs as much as a few names.
        tells = arguments.identifies or convention.changes_containers
        asked = None if snapshot.is_looked_up else snapshot
        #: How many arrays are to be different ones, where code can tell.
        self._different = len(arguments.values) + snapshot.distinct if tells else 0
        items = (*snapshot.items, *left.items) if snapshot.is_looked_up else left.items
        self._keywords = left.keywords
        self._left = left if left.defaults or left.held else None
        self._places = convention.changes
        #: The arguments that are floats with all of their digits, which keys are made without.
        self.exact = convention.exact
        #: Whether the program was made for numbers that it computes, and tells where they are others.
        self.checks_values = convention.checked_values is not None
        #: What has memory of its own that is none of the program's arrays.
        self._beside = [_array_of(value) for _, value in arguments.beside]
        plain: tuple | None = None
        single = program.executable.single
        if (
            single is not None
            and convention.structure == containers.LEAF
            and not (convention.changes or convention.hooks)
        ):
            plain = (*single, convention.specs[0], program.executable.launch)
        #: Whether there is more to be looked at than what most calls have.
        more = self._keywords is not None or self._left is not None or bool(self._places or self._different)
        # Taken apart at once: to read so many attributes one by one takes longer.
        wrap = as_array if arguments.gives_arrays else DeviceTensor.wrap if program.placed is not None else _wrap
        self._seen = (
            family, family.version, default_options.changes, default_options.CONTEXT.get(), left.function, left.code,
            items, asked, convention.captured, more, program, program.fixed, plain, hooks, wrap,
        )  # fmt: skip

    @staticmethod
    def is_possible(
        arguments: CallArguments, program: CachedProgram, arrays: list[np.ndarray], args: tuple, given: Collection[str]
    ) -> bool:
        """Whether a program and the arguments of a call, by position and those given by name, allow the fast path."""
        convention = program.convention
        if not _is_told_by_arrays(arguments, convention):
            return False
        if len(arrays) != len(arguments.values):
            # Others were given by name or are defaults: a fast path would hand over too few.
            return False
        exact = convention.exact
        if exact and (given or len(args) != len(arrays) or any(type(args[k]) not in (float, complex) for k in exact)):
            # Floats in containers, and by name: the long way knows where they are.
            return False
        if len(arguments.arrays) != len(arguments.snapshot.arrays):
            return False
        if any(type(arguments.values[place]) is not np.ndarray for place in convention.changes):
            return False
        if convention.checked_values is not None and convention.calls_python:
            # For other values another program runs, and what this one has called gives that what it gave.
            return False
        if convention.copied or convention.holds_back or not convention.reshaped.issubset(convention.changes):
            # The long way looks at memory, or at the order of elements, of what does not change; and it may hold back
            # what does.
            return False
        if convention.given_shapes or convention.regions:
            return False
        if arguments.has_device_tensors and (program.placed is None or convention.changes):
            # The long way brings them to the host, and sees which arrays share their memory.
            return False
        named = [array for _, _, array in arguments.arrays if type(array) is not Tensor]
        return all(array.dtype.isnative for array in [*arrays, *named, *program.fixed])

    def take_digits(self, args: tuple, arrays: list[np.ndarray]) -> None:
        """Put the arguments that are floats with all of their digits in the places of rounded ones."""
        for place in self.exact:
            arrays[place] = np.array(args[place])

    def run(self, arrays: list[np.ndarray]) -> Any:
        """Run the program for a call; :data:`OUTDATED` if something it depends on may have changed."""
        (
            family, version, changes, context, function, code, items, snapshot,
            numbers, more, program, fixed, plain, hooks, wrap,
        ) = self._seen  # fmt: skip
        # Counts that went up are other objects: to compare identities is enough, and costs less.
        if (
            version is not family.version
            or changes is not default_options.changes
            or context is not _context()
            or function.__code__ is not code
        ):
            return OUTDATED
        if items:  # A loop over nothing costs more than to ask.
            try:
                for owner, key, expected in items:
                    if owner[key] is not expected:
                        return OUTDATED
            except Exception:
                # A name or an element that is gone.
                return OUTDATED
        captured: Any = ()
        if snapshot is not None:
            captured = snapshot.fetch()
            if captured is None:
                return OUTDATED
            for number in numbers:
                value = captured[number]
                arrays.append(value.data if type(value) is Tensor else value)
        if more and not self._holds(function, arrays, captured):
            return OUTDATED
        program.calls += 1
        if stream.listening and not self.checks_values:
            stream.emit(Event("hit", family.name, where=source_locations.caller(), identity=family.identity))
        if fixed:
            arrays += fixed
        if plain is not None:
            shape, dtype, spec, launch = plain
            made = _empty(shape, dtype)
            if launch(*arrays, made):
                return wrap(made, spec)
        run = program.executable.run if program.placed is None else program.placed.run
        if not self.checks_values:
            return results(program, run(arrays), hooks, wrap)
        try:
            made = run(arrays)
        except Exception:
            # Where the numbers are others it may compute what it must not: the long way knows.
            return self._not_answered(program)
        try:
            result = results(program, made, hooks, wrap)
        except ValuesChangedError:
            return self._not_answered(program)
        if stream.listening:
            stream.emit(Event("hit", family.name, where=source_locations.caller(), identity=family.identity))
        return result

    def _not_answered(self, program: CachedProgram) -> Any:
        program.calls -= 1
        return OUTDATED

    def _holds(self, function: Callable[..., Any], arrays: list[np.ndarray], captured: Iterable[Any]) -> bool:
        """Whether defaults are unchanged, and the same arrays are one object as before."""
        if self._keywords is not None and function.__kwdefaults__ is not self._keywords:
            return False
        left = self._left
        if left is not None:
            if left.defaults is not None and function.__defaults__ is not left.defaults:
                return False
            if left.held is not None and left.held.fetch() is None:
                return False
        if self._different:
            if len({*map(id, arrays), *map(id, map(_array_of, captured))}) != self._different:
                return False
            if self._beside and not set(map(id, arrays)).isdisjoint(map(id, self._beside)):
                return False
        return all(_is_own([*arrays, *self._beside], place) for place in self._places)


def _array_of(value: Any) -> Any:
    """The array of a tensor, or an array itself."""
    kind = type(value)
    return value.data if kind is Tensor else value.array if kind is DeviceTensor else value


def _is_told_by_arrays(arguments: CallArguments, convention: CallingConvention) -> bool:
    """Whether which arguments are one object can be seen from their arrays, as long as these are all different ones."""
    if not (arguments.identifies or convention.changes_containers):
        return True
    if arguments.compares_memory:
        return False
    if arguments.identifies and any(
        has_identity(constant(value), value) for value in (*arguments.options.values(), *arguments.static_values)
    ):
        return False
    for path, value in zip(arguments.paths, arguments.values, strict=True):
        is_number = type(value) not in _ARRAYS
        if is_number and (path not in arguments.names or (arguments.identifies and type(value) not in (int, bool))):
            return False
    return all(map(containers.is_full, arguments.structures))


def _is_own(arrays: list[np.ndarray], place: int) -> bool:
    """Whether a program may write into an array in place; otherwise the slow path copies, or raises an error."""
    array = arrays[place]
    if not array.flags.carray:
        return False
    for other in arrays:
        if other is not array and _share(array, other):
            return False
    return sum(other is array for other in arrays) == 1


def _has_called_none(hook: hook_delivery.Hook) -> bool:
    return False


def results(
    program: CachedProgram,
    made: list[Any],
    hooks: Hooks = _NO_HOOKS,
    wrap: Callable[[Any, Any], Any] = _wrap,
    held: Sequence[Any] = (),
    has_called: Callable[[hook_delivery.Hook], bool] = _has_called_none,
) -> Any:
    """Convert a program's outputs to the function's return value and deliver hooks.

    `wrap` makes tensors of them, or what NumPy has; `held` are the static values in the arguments of the call;
    `has_called` tells of hooks that were called while it ran.
    """
    convention = program.convention
    specs, flags = convention.specs, convention.flags
    calls = bool(convention.hooks) and (
        flags is None or program.placed is not None or any(made[place] for place in flags)
    )
    if not calls and convention.structure == containers.LEAF:
        return wrap(made[0], specs[0])
    if not calls and convention.hooks:
        specs, made = specs[: convention.results], made[: convention.results]
    tensors = iter([wrap(array, spec) for array, spec in zip(made, specs, strict=True)])
    if convention.structure == containers.LEAF:
        result = next(tensors)
    else:
        result = containers.rebuild(convention.structure, tensors, held=held)
    if calls:
        hook_delivery.deliver(convention.hooks, tensors, hooks, program.signature, has_called)
    return result
