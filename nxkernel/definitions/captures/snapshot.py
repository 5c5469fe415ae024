"""The snapshot of a function's captures: what it reads besides its arguments, as part of the cache key.

Captured arrays and tensors become hidden arguments, whose values are read at each call. Numbers, text, containers,
objects, and the user's functions and modules are compared by their contents at each call. If the function reads
something that cannot be compared, it is traced at each call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import getitem
from typing import Any

import numpy as np

from nxkernel.definitions.captures.captured_array import ON_DEVICE
from nxkernel.definitions.captures.snapshot_builder import SnapshotWalk
from nxkernel.errors import NxError
from nxkernel.tensor.device import DeviceTensor
from nxkernel.tensor.tensor import Tensor

#: How often a snapshot begins anew.
_ATTEMPTS = 100
_ARRAY = np.ndarray


class Snapshot:
    """Everything that a function reads besides its arguments, as a part of its cache key that can be checked.

    Attributes
    ----------
    ident : tuple
        Hashable part of the cache key. Snapshots with equal ones can share programs: only values of arrays may differ.
    arrays : tuple of CapturedArray
        The arrays that become hidden arguments.
    beside : tuple of (str, array)
        Other arrays, which count by their contents.
    items : tuple of (object, object, object)
        The checks that are lookups: a mapping, a key, and the object that must be there.
    parts : dict
        `ident` by name, for messages: ``"captured lr"`` to the part of the key and its text.
    leads : dict
        By identity, the functions, containers and objects that lead to arrays.
    anew : dict
        Values that cannot be compared, with a description; if there are any, each call is traced.
    used_up : tuple of str
        Those of them that a trace uses up, such as iterators.
    generators : tuple of (generator, object)
        The generators of random numbers that it can draw from, with their states.
    identifies, compares_memory : bool
        Whether results may depend on which values are the same object, or share memory.
    objects : tuple
        If `identifies`, all captured values that are no arrays.
    compared : dict
        By identity, the containers whose contents are compared.
    fast_paths : dict
        The definition's fast paths, which hold as long as the snapshot does.
    """

    __slots__ = (
        "_aliases",
        "_arrays",
        "_codes",
        "_equal",
        "_functions",
        "_merges",
        "_methods",
        "_more",
        "_same",
        "anew",
        "arrays",
        "beside",
        "compared",
        "compares_memory",
        "fast_paths",
        "generators",
        "ident",
        "identifies",
        "items",
        "leads",
        "objects",
        "parts",
        "used_up",
    )  # fmt: skip

    def __init__(self, walk: SnapshotWalk) -> None:
        # Names, attributes and elements are looked up right here, which costs a third of a call.
        self.items = tuple([(*read.args, value) for read, value in walk.same if _is_item(read)])
        self._same = tuple([(read, value) for read, value in walk.same if not _is_item(read)])
        self._equal, self._methods = tuple(walk.equal), tuple(walk.methods)
        # A default or an attribute that a function is given changes nothing, where nobody did without it before.
        plain = [function for function in walk.functions if not (walk.misses or any(function[2:]))]
        self._codes = tuple([(function, code) for function, code, *_ in plain])
        self._functions = tuple([function for function in walk.functions if function not in plain])
        self._more = bool(self._same or self._equal or self._functions or self._methods)
        self._aliases = tuple(walk.aliases)
        self.arrays, self.leads, self.beside = tuple(walk.arrays), walk.leads, tuple(walk.beside)
        self.identifies, self.compares_memory = walk.identifies, walk.compares_memory
        self.objects = tuple(walk.objects) if walk.identifies else ()
        self._merges = self.identifies and self.distinct > 1
        self.ident, self.parts = tuple(walk.states), walk.parts
        self.anew, self.used_up, self.compared = walk.anew, tuple(walk.used_up), walk.compared
        self.generators = tuple(walk.generators)
        self.fast_paths: dict[tuple, Any] = {}
        self._arrays = [
            (*((None, *a.read.args) if _is_item(a.read) else (a.read, None, None)), *a.expected) for a in self.arrays
        ]

    @property
    def distinct(self) -> int:
        """How many different array objects are captured."""
        return len(self.arrays) - len(self._aliases)

    @property
    def is_looked_up(self) -> bool:
        """Whether looking up `items` is all that has to be checked."""
        return not (self._codes or self._more or self._arrays or self.anew)

    def fetch(self) -> list[Any] | None:
        """The captured arrays as they are now; None when anything but their values has changed."""
        arrays = []
        try:
            for owner, key, expected in self.items:
                if owner[key] is not expected:
                    return None
            for function, code in self._codes:
                if function.__code__ is not code:
                    return None
            if self._more:
                for function, code, defaults, keywords, attributes in self._functions:
                    if (
                        function.__code__ is not code
                        or function.__defaults__ is not defaults
                        or function.__kwdefaults__ is not keywords
                        or function.__dict__ != attributes
                    ):
                        return None
                if self._methods:
                    for owner, name, function in self._methods:
                        method = getattr(owner, name)
                        if method.__func__ is not function or method.__self__ is not owner:
                            return None
                if self._same:
                    for read, expected in self._same:
                        if read() is not expected:
                            return None
                for read, expected in self._equal:
                    if read() != expected:
                        return None
            for read, owner, key, spec, shape, dtype in self._arrays:
                value = owner[key] if read is None else read()
                kind = type(value)
                if kind is Tensor:
                    if value.spec is not spec and value.spec != spec:
                        return None
                elif kind is _ARRAY or kind is np.memmap:
                    if value.shape != shape or (value.dtype is not dtype and value.dtype != dtype):
                        return None
                elif kind is not DeviceTensor or (ON_DEVICE, value.spec) != spec:
                    return None
                arrays.append(value)
        except Exception:
            # What is gone now, such as an attribute or an element of a list, is a change like any other.
            return None
        if self._aliases:
            for position, first in self._aliases:
                if arrays[position] is not arrays[first]:
                    return None
        if self._merges and len(set(map(id, arrays))) < self.distinct:
            # What were two arrays is one.
            return None
        return arrays


def _is_item(read: Callable[[], Any]) -> bool:
    return type(read) is functools.partial and read.func is getitem


def take_snapshot(value: Any) -> tuple[Snapshot, list[Any]]:
    """Take a snapshot of a function that is called directly: its default arguments belong to the call.

    Returns
    -------
    Snapshot
    list
        The arrays that it captures.
    """
    return snapshot_of([("", value)])


def snapshot_of(values: list[tuple[str, Any]]) -> tuple[Snapshot, list[Any]]:
    """Take one snapshot of several values, each with a name for messages."""
    walk = _walk(values)
    return Snapshot(walk), walk.values


def reached(values: list[tuple[str, Any]]) -> list[Any]:
    """All functions, objects and containers reachable from some values, without arrays."""
    return _walk(values).reached


def _walk(values: list[tuple[str, Any]]) -> SnapshotWalk:
    for attempt in reversed(range(_ATTEMPTS)):
        walk = SnapshotWalk()
        try:
            for name, value in values:
                walk.value(value, name, None)
            walk.settle()
            break
        except (LookupError, RuntimeError) as error:
            # Most likely another thread has changed a container while it was walked.
            if isinstance(error, NxError | RecursionError) or attempt == 0:
                raise
    return walk
