"""The arguments of one call, taken apart, with the key that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nxkernel.defn import containers
from nxkernel.defn.captures import Survey, Walk
from nxkernel.defn.leaves import array_of, spec_of
from nxkernel.defn.states import constant, describe
from nxkernel.defn.trace import Known, Traced, trace

#: A name for people, to what it stands for and how that is written.
Parts = dict[str, tuple[Any, str]]


class Arguments:
    """What a call is answered by: the arguments' types and shapes, the options, and what the function captures.

    Attributes
    ----------
    paths, values, specs : sequences
        Of the leaves: how a person would write each, its value, and what it is.
    structures : tuple
        Of each positional argument; `names` has the names of these.
    options : dict
    compiler : str
    survey : Survey
    arrays : list of (str, Spec, array)
        The captured arrays, those of functions among the options included.
    ident : tuple
        Hashable; equal for calls that the same program answers.
    """

    __slots__ = (
        "_option_states", "_walk", "arrays", "compiler", "ident", "names", "options", "paths", "specs", "structures",
        "survey", "values",
    )  # fmt: skip

    def __init__(
        self,
        names: Sequence[str],
        structures: Sequence[Any],
        leaves: Sequence[tuple[str, Any]],
        options: dict[str, Any],
        compiler: str,
        survey: Survey,
        captured: Sequence[Any],
    ) -> None:
        self.names, self.structures = names, tuple(structures)
        self.options, self.compiler, self.survey = options, compiler, survey
        self.paths = tuple([path for path, _ in leaves])
        self.values = [value for _, value in leaves]
        self.specs = tuple([spec_of(value, path) for path, value in leaves])
        self.arrays = [(a.name, a.spec, value) for a, value in zip(survey.arrays, captured, strict=True)]
        self._option_states: dict[str, Any] = {}
        self._walk: Walk | None = None
        for name, value in options.items():
            state = constant(value)
            self._option_states[name] = self._walked(name, value) if state is None else state
        self.ident = (
            self.structures,
            self.specs,
            tuple(self._option_states.items()),
            self._aliases(),
            survey.ident,
            compiler,
        )

    def _walked(self, name: str, value: Any) -> tuple:
        """The state of an option that is no constant: a container, a function, an object."""
        walk = self._walk = self._walk or Walk()
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
        for path, spec in zip(self.paths, self.specs, strict=True):
            found[f"argument {path}"] = (spec, str(spec))
        for name, value in self.options.items():
            if constant(value) is not None:
                found[f"option {name}"] = (self._option_states[name], describe(value))
        if self._walk is not None:
            found |= self._walk.parts
        return {**found, **self.survey.parts, "compiler": (self.compiler, self.compiler)}

    def trace(self, name: str, function: Callable[..., Any], twin: Callable[[Any], Any]) -> Traced:
        """Trace a function on these arguments; `twin` gives what is called in its place."""
        leads = dict(self.survey.leads)
        if self._walk is not None:
            leads |= self._walk.leads
        leaves = list(zip(self.paths, self.specs, strict=True))
        return trace(name, function, self.structures, leaves, self.options, Known(self.arrays, leads), twin)

    def inputs(self, captured: Sequence[int], fixed: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What a program takes: the leaves, the captured arrays that it uses, and those that its trace made."""
        given = [*zip(self.values, self.specs, strict=True)]
        given += [(array, spec) for _, spec, array in [self.arrays[number] for number in captured]]
        given += [(array, spec_of(array)) for array in fixed]
        return [array_of(value, spec) for value, spec in given]

    def signature(self, name: str) -> str:
        """The call as a person would write it, types in place of values."""
        shown = [f"{path}: {spec}" for path, spec in zip(self.paths, self.specs, strict=True)]
        shown += [f"{option}={describe(value)}" for option, value in self.options.items()]
        return f"{name}({', '.join(shown)})"
