"""Whether a random program gives compiled what it gives with NumPy: alone, under gradients, and for many entries."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import nxkernel as nx
from native_code.spread_loops import COUNTS, on_threads
from numpy_comparison.source_text import forget, leaves, module_of
from nxkernel import errors
from nxkernel.definitions.flow.values.unassigned_variables import NxUnboundError
from random_numpy_source import inputs
from random_numpy_source.writing import NOT_TAKEN, Program

#: What tells a person what to write instead.
REFUSALS = (errors.NxTypeError, errors.NxValueError, errors.NxIndexError, NxUnboundError)
#: How far results may be apart that are rounded, in parts of the greatest number in sight: by their own types, and,
#: where narrower ones may be on the way, by the types of arguments: those of narrow integers have narrow sines.
OWN = {"f2": 5e-2, "f4": 2e-4, "c8": 2e-4, "f8": 1e-9, "c16": 1e-9}
ROUNDING = {"f4": 2e-4, "c8": 2e-4, "i2": 2e-4, "u2": 2e-4, "f2": 5e-2, "i1": 5e-2, "u1": 5e-2, "?": 5e-2, "b1": 5e-2}


class Difference(AssertionError):
    """A program that differs from NumPy, or fails in another way than by telling what to write instead."""


class Rough(AssertionError):
    """A program with results that are further apart than their own types round, as narrower ones on the way would."""


@dataclass
class Tally:
    """What came of many programs.

    Attributes
    ----------
    programs, agreed, calls : int
        How many there were, how many of them agreed, and with how many arguments.
    refused : Counter
        How many were refused, for each of the reasons.
    rough, failed : list of (seed, text)
        Those that are further apart than their types round, and those that differ by more, or otherwise.
    """

    programs: int = 0
    agreed: int = 0
    calls: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    rough: list[tuple[int, str]] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        counts = f"{self.programs} programs, {self.agreed} agree ({self.calls} calls), {self.refused.total()} refused"
        return f"{counts}, {len(self.rough)} are rough, {len(self.failed)} differ"


def run_with(tally: Tally, check: Callable[[Program], int], program: Program) -> None:
    """Check a program and count what comes of it."""
    tally.programs += 1
    try:
        tally.calls += check(program)
        tally.agreed += 1
    except REFUSALS as error:
        tally.refused[reason(error)] += 1
    except Rough as error:
        tally.rough.append((program.seed, str(error)))
    except Difference as error:
        tally.failed.append((program.seed, str(error)))


def reason(error: Exception) -> str:
    """An error's first line without names, types and numbers."""
    text = str(error).split("\n")[0]
    return re.sub(r"\b[uscbf]\d+\b|\bbool\b|\d+|\b[avk]\d+\b|\[[^]]*\]|'[^']*'", "…", text)[:110]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _by_numpy(function: Callable[..., Any], values: list[Any]) -> Any:
    """What plain Python gives, and None where NumPy refuses these arguments."""
    try:
        return leaves(function(*values))
    except NOT_TAKEN:
        return None


def _compiled(function: Callable[..., Any], values: list[Any]) -> list[np.ndarray]:
    try:
        return leaves(function(*values))
    except REFUSALS:
        raise
    except Exception as error:
        raise Difference(f"{type(error).__name__}: {str(error)[:300]}") from error


def _rounding(program: Program) -> float:
    """How far its results may be apart, in parts of the greatest number in sight."""
    kinds = {given[1] for given in program.arguments if not isinstance(given, int)}
    if "f4" in program.source or "int16" in program.source:
        kinds.add("f4")
    if "bool" in program.source or any(sign in program.source for sign in "<>"):
        kinds.add("?")
    return max(ROUNDING.get(kind, 1e-9) for kind in kinds)


def _compare(found: list[np.ndarray], wanted: list[np.ndarray], what: str, scale: float, part: float) -> list[str]:
    """Raise a Difference; what is returned tells of results that are further apart than their types round."""
    rough = []
    if len(found) != len(wanted):
        raise Difference(f"{what}: {len(found)} results, NumPy {len(wanted)}")
    for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if one.dtype != other.dtype or one.shape != other.shape:
            raise Difference(f"{what} {place}: {one.dtype}{one.shape}, NumPy {other.dtype}{other.shape}")
        own = OWN.get(other.dtype.str[1:], 0)
        if np.allclose(one, other, rtol=own, atol=own * scale, equal_nan=True):
            continue
        said = f"{what} {place}: {one.ravel()[:9]}, NumPy {other.ravel()[:9]}"
        if not own or not np.allclose(one, other, rtol=part, atol=part * scale, equal_nan=True):
            raise Difference(said)
        rough.append(said)
    return rough


def _scale(values: list[Any]) -> float:
    sizes = [np.abs(value[np.isfinite(value)]).max(initial=1) for value in map(np.asarray, values) if value.size]
    return float(max(sizes, default=1))


def plain(program: Program, turns: int = 3, compiler: str | None = None) -> int:
    """Compare a program with NumPy, on several arguments; returns on how many.

    Raises
    ------
    Difference, Rough
    """
    names = module_of(program.source)
    options = {} if compiler is None else {"compiler": compiler}
    definition = nx.defn(names["f"], promotion="numpy", **options)
    compared, part, rough = 0, _rounding(program), []
    with _quiet():
        for turn in range(turns):
            given = program.values(turn)
            theirs = inputs.copied(given)
            wanted = _by_numpy(names["f"], theirs)
            if wanted is None:
                continue
            scale = _scale([*given, *wanted, *theirs])
            if scale > 1e7:
                continue
            for threads in COUNTS if not turn else (COUNTS[turn % 3],):
                ours = inputs.copied(given)
                with on_threads(threads):
                    found = _compiled(definition, ours)
                at = f"on {threads} threads, turn {turn}, result"
                rough += _compare(found, wanted, at, scale, part)
                rough += _compare(leaves(ours), leaves(theirs), at.replace("result", "argument"), scale, part)
            compared += 1
    forget(names)
    if rough:
        raise Rough("\n".join(rough))
    return compared


def gradient(program: Program) -> int:
    """Compare the gradient of a program's total by its arrays with central differences.

    Raises
    ------
    Difference
    """
    names = module_of(program.source)
    places = [place for place, given in enumerate(program.arguments) if not isinstance(given, int)]
    slope = nx.grad(nx.defn(names["f"], promotion="numpy"), argnums=tuple(places))
    with _quiet():
        given = [_off_the_grid(value) for value in program.values(0)]
        total = _by_numpy(names["f"], inputs.copied(given))
        if total is None:
            return 0
        scale = _scale([*given, *total])
        found = _compiled(lambda *values: slope(*values), inputs.copied(given))
        wanted = [_differences(names["f"], given, place) for place in places]
    for one, other in zip(found, wanted, strict=True):
        steep = max(float(np.abs(other).max(initial=1)), 1.0)
        if one.shape == other.shape and np.allclose(one, other, rtol=1e-4, atol=1e-6 * max(scale, steep)):
            continue
        said = f"gradient {one.ravel()[:9]}, differences {other.ravel()[:9]}"
        if one.shape == other.shape and _is_slope(names["f"], given, places, found):
            raise Rough(said)
        raise Difference(said)
    forget(names)
    return 1


def _is_slope(function: Callable[..., Any], given: list[Any], places: list[int], found: list[np.ndarray]) -> bool:
    """Whether gradients are differences in extended precision, of steps so small that no function is steep there."""
    wide = [value.astype(np.longdouble) if isinstance(value, np.ndarray) else value for value in given]
    near = [np.zeros(one.shape, bool) for one in found]
    for step in (1e-9, 1e-12, 1e-14):
        with _quiet():
            wanted = [_differences(function, wide, place, np.longdouble(step)) for place in places]
        near = [
            seen | np.isclose(one, other, rtol=1e-3, atol=1e-6)
            for seen, one, other in zip(near, found, wanted, strict=True)
        ]
    return all(seen.all() for seen in near)


def _off_the_grid(value: Any) -> Any:
    """An array whose elements are no round numbers: at those that a mask compares with, a program may have no slope."""
    if isinstance(value, np.ndarray):
        value += 0.013 * np.sqrt(1.0 + np.arange(value.size).reshape(value.shape))
    return value


def _differences(function: Callable[..., Any], given: list[Any], place: int, step: Any = 1e-5) -> np.ndarray:
    found = np.zeros(given[place].size)
    for number in range(given[place].size):
        sides = []
        for sign in (1, -1):
            values = inputs.copied(given)
            values[place].reshape(-1)[number] += sign * step
            sides.append(function(*values))
        found[number] = float((sides[0] - sides[1]) / (2 * step))
    return found.reshape(given[place].shape)


def mapped(program: Program, entries: int = 3) -> int:
    """Compare ``vmap`` of a program with a loop over the entries.

    Raises
    ------
    Difference, Rough
    """
    source = program.source
    arrays = [name for name in program.parameters if name[0] == "a"]
    head = f"def f({', '.join(program.parameters)}):\n"
    # Entries are values, not places in the caller's memory.
    source = source.replace(head, head + "".join(f"    {name} = np.copy({name})\n" for name in arrays))
    names = module_of(source)
    definition = nx.vmap(nx.defn(names["f"], promotion="numpy"))
    with _quiet():
        rows = [
            # An entry is in C order, and a whole number is one of NumPy's.
            [np.int64(value) if isinstance(value, int) else value.copy() for value in program.values(turn)]
            for turn in range(entries)
        ]
        wanted = [_by_numpy(names["f"], inputs.copied(row)) for row in rows]
        if any(row is None for row in wanted):
            return 0
        columns = [np.stack([np.asarray(row[place]) for row in rows]) for place in range(len(program.arguments))]
        try:
            stacked = [np.stack(column) for column in zip(*wanted, strict=True)]
        except ValueError:
            return 0
        scale = _scale([*columns, *stacked])
        if scale > 1e7:
            return 0
        found = _compiled(definition, columns)
        rough = _compare(found, stacked, "entries, result", scale, _rounding(program))
    forget(names)
    if rough:
        raise Rough("\n".join(rough))
    return entries
