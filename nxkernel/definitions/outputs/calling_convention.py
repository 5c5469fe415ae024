"""The calling convention of a program: what it takes and assigns into, and what its outputs mean."""

from __future__ import annotations

from dataclasses import dataclass

from nxkernel.definitions.keys import containers
from nxkernel.definitions.outputs.hook_delivery import Hook
from nxkernel.definitions.outputs.running_output import Region
from nxkernel.definitions.outputs.value_checks import ValueCheck
from nxkernel.fork_safety import cached_property
from nxkernel.graph.expr import SourceLocation
from nxkernel.operand import VectorizedSpec
from nxkernel.primitives import Spec


@dataclass(frozen=True)
class CallingConvention:
    """What a graph takes besides arguments, what it assigns into, and what its outputs are.

    Parameters
    ----------
    structure : containers.Structure
        The structure of the function's result.
    captured : tuple of int
        The numbers of the captured arrays that it takes.
    hooks : tuple of (Hook, structure)
        The hooks, and the structures of their values, whose leaves are outputs after those of the result.
    specs : tuple of Spec or VectorizedSpec
        For each output, the spec that it has for the function: its first axes may be vectorized.
    changes : tuple of int
        The argument leaves that are assigned into; their final contents are the last outputs.
    returned : frozenset of int
        Those of them whose final contents the function also returns.
    assigned_at : tuple of (SourceLocation or None)
        For each of them, the line that assigned into it last.
    copied : tuple of (int, SourceLocation or None)
        The arguments of which a copy was assigned into, by `grad`, `vmap` and the like, and where.
    reshaped : frozenset of int
        The argument leaves that must be in C order, as the trace took a reshaped view of them to be one.
    changes_containers : bool
        Whether the function changes containers among its arguments.
    exact : tuple of int
        The argument leaves that are Python's floats and are taken with all of their digits, by Nx's rules, too.
    given_shapes : tuple of (int, tuple of int)
        The argument leaves that get another shape, as by ``x.shape = 3, 2``, when the program has run.
    calls_python : bool
        Whether the program calls functions of the user's.
    """

    structure: containers.Structure
    captured: tuple[int, ...] = ()
    hooks: tuple[tuple[Hook, containers.Structure], ...] = ()
    specs: tuple[Spec | VectorizedSpec, ...] = ()
    changes: tuple[int, ...] = ()
    returned: frozenset[int] = frozenset()
    assigned_at: tuple[SourceLocation | None, ...] = ()
    copied: tuple[tuple[int, SourceLocation | None], ...] = ()
    reshaped: frozenset[int] = frozenset()
    changes_containers: bool = False
    exact: tuple[int, ...] = ()
    given_shapes: tuple[tuple[int, tuple[int, ...]], ...] = ()
    calls_python: bool = False

    @property
    def checked_values(self) -> ValueCheck | None:
        """What compares the numbers that the program was traced for, where it was for some."""
        first = self.hooks[0][0].function if self.hooks else None
        return first if isinstance(first, ValueCheck) else None

    @property
    def holds_back(self) -> bool:
        """Whether the caller's arrays get their contents when all hooks have been called: one of them may raise."""
        return bool(self.changes) and any(getattr(hook.function, "raises", False) for hook, _ in self.hooks)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The loops and mapped functions that say something while the program runs."""
        return tuple([hook.function for hook, _ in self.hooks if isinstance(hook.function, Region)])

    @cached_property
    def flags(self) -> tuple[int, ...] | None:
        """The numbers of the outputs that tell whether a hook has to be called; None where some are called always."""
        if not all(getattr(hook.function, "has_flag", False) for hook, _ in self.hooks):
            return None
        places, place = [], self.results
        for _, structure in self.hooks:
            places.append(place)
            place += containers.count(structure)
        return tuple(places)

    @cached_property
    def results(self) -> int:
        """How many outputs are those of the function's result."""
        return containers.count(self.structure)
