"""Output while a program runs: what loops and mapped functions print and hand to hooks, in order, at once.

A program notes it by calls of functions in the interpreter (`Said.note`), which a token orders. They find the run that
they belong to here; where there is none, as when a program is only measured, nothing is said.
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.definitions.keys import containers
from nxkernel.definitions.outputs.hook_delivery import Hook
from nxkernel.errors import OmittedOutputWarning, message

#: So many outputs of a region, and so many bytes of values, are kept where they have to wait for the end of the run.
MOST, MOST_BYTES = 100_000, 1 << 28


class Region:
    """A loop, or a function that is mapped, that says something and that no other one encloses.

    Attributes
    ----------
    is_owned : bool
        Whether a hook in it has a function of the definition's own.
    """

    def __init__(self) -> None:
        self.is_owned = False

    def __call__(self, _: Any) -> None:
        """Nothing: the run says what it has kept, see :meth:`RunOutput.has_called`."""


@dataclass(frozen=True, eq=False)
class Said:
    """One place in a region where something is said, each time that the program comes by.

    Parameters
    ----------
    region : Region
    hook : Hook
    structure : containers.Structure
        Of the value that it gets.
    specs : tuple of Spec or VectorizedSpec
        Of the leaves.
    """

    region: Region
    hook: Hook
    structure: containers.Structure
    specs: tuple[Any, ...]

    def note(self, speaks: np.ndarray, token: np.ndarray, *values: np.ndarray) -> list[Any]:
        """Called by the program: says something for each entry that speaks, and gives the next token."""
        output = _running.output
        if output is not None and self.region in output.regions:
            if not speaks.shape:
                if speaks:
                    output.say(self, (), int(token), values)
            else:
                for index in zip(*map(np.ndarray.tolist, np.nonzero(speaks)), strict=True):
                    output.say(self, index, int(token[index]), [value[index] for value in values])
        return [np.asarray(token + 1)]


@dataclass(frozen=True, eq=False)
class SaidBefore:
    """What is said before a region: it is called before the program goes on.

    Parameters
    ----------
    region : Region
    hooks : tuple of (Hook, structure, specs)
    """

    region: Region
    hooks: tuple[tuple[Hook, containers.Structure, tuple[Any, ...]], ...]

    def note(self, speaks: np.ndarray, token: np.ndarray, *values: np.ndarray) -> list[Any]:
        """Called by the program: makes the calls, as long as none of them raises an error of the program."""
        output = _running.output
        if output is not None and self.region in output.regions and output.at_once:
            supply = iter(values)
            for hook, structure, specs in self.hooks:
                output.call_once(hook, structure, specs, [np.array(next(supply)) for _ in specs])
        return [np.asarray(token + 1)]


class RunOutput:
    """What is said in one run of a program, which is a block with this as its context.

    Parameters
    ----------
    regions : collection of Region
        Those of the program.
    functions : mapping
        The caller's ``hooks=``.
    signature : str
        The call, for errors.
    wrap : callable
        What hooks get for an array and its spec.
    at_once : bool
        Whether it is said while the program runs. Where it may turn out not to be the one for the call, it is kept.
    """

    def __init__(
        self,
        regions: Sequence[Region],
        functions: Mapping[str, Callable[[Any], Any]],
        signature: str,
        wrap: Callable[[Any, Any], Any],
        at_once: bool,
    ) -> None:
        self.regions, self.at_once = frozenset(regions), at_once
        self._functions, self._signature, self._wrap = functions, signature, wrap
        self._called: set[Hashable] = set()
        self._kept: dict[Region, deque[tuple[Said, list[np.ndarray]]]] = {region: deque() for region in regions}
        self._omitted = dict.fromkeys(regions, 0)
        #: By region and entry, the next token: gradients run loops again, whose tokens have been there.
        self._next: dict[tuple[Region, tuple[int, ...]], int] = {}
        self._bytes = 0
        #: Whether an error of the program comes next, which is raised when it has run.
        self._fails = False

    def __enter__(self) -> RunOutput:
        self._before, _running.output = _running.output, self
        return self

    def __exit__(self, *_: object) -> None:
        _running.output = self._before

    def say(self, said: Said, entry: tuple[int, ...], token: int, values: Sequence[np.ndarray]) -> None:
        """Say something, or keep it for the end.

        Parameters
        ----------
        said : Said
        entry : tuple of int
            Which one, of a function that is mapped.
        token : int
        values : sequence of numpy.ndarray
        """
        key = said.region, entry
        if self._fails or token < self._next.get(key, 0):
            return
        self._next[key] = token + 1
        # The program goes on with its memory.
        arrays = [np.array(value) for value in values]
        if self.at_once:
            self._call(said.hook, said.structure, said.specs, arrays)
            return
        kept = self._kept[said.region]
        kept.append((said, arrays))
        self._bytes += _bytes(arrays)
        while len(kept) > MOST or (self._bytes > MOST_BYTES and len(kept) > 1):
            self._bytes -= _bytes(kept.popleft()[1])
            self._omitted[said.region] += 1

    def call_once(
        self, hook: Hook, structure: containers.Structure, specs: Sequence[Any], arrays: Sequence[np.ndarray]
    ) -> None:
        """Make a call that the end of the run leaves out then; one that raises an error of the program is for that."""
        if self._fails or hook.entry in self._called:
            return
        raises = getattr(hook.function, "raises", False)
        try:
            self._call(hook, structure, specs, arrays)
        except Exception:
            if not raises:
                raise
            self._fails = True
        if not raises:
            self._called.add(hook.entry)

    def has_called(self, hook: Hook) -> bool:
        """At the end of the run, whether nothing is left to be done for a hook; for a region, it says what was kept."""
        if not isinstance(hook.function, Region):
            return hook.entry is not None and hook.entry in self._called
        omitted = self._omitted[hook.function]
        if omitted:
            warnings.warn(
                message(
                    f"{self._signature}: a loop said {omitted + len(self._kept[hook.function]):,} things, and the "
                    f"first {omitted:,} are left out.",
                    "What it says is kept until it has ended, as its program was traced for numbers of the call.",
                ),
                OmittedOutputWarning,
                stacklevel=2,
            )
        for said, arrays in self._kept[hook.function]:
            self._call(said.hook, said.structure, said.specs, arrays)
        return True

    def _call(self, hook: Hook, structure: Any, specs: Sequence[Any], arrays: Sequence[np.ndarray]) -> None:
        value = containers.rebuild(structure, map(self._wrap, arrays, specs))
        hook.call(value, self._functions, self._signature)


class _Running(threading.local):
    output: RunOutput | None = None


_running = _Running()


def _bytes(arrays: Sequence[np.ndarray]) -> int:
    return sum(array.nbytes for array in arrays)
