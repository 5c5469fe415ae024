"""``debug_nans``: an error for a NaN in a compiled definition's result, naming the line that made it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.compilers.nan_origin import Origin, has_nan, origin
from nxkernel.definitions.calls.graph_cache import CachedProgram
from nxkernel.definitions.devices import device_programs
from nxkernel.definitions.keys import containers, default_options, source_locations
from nxkernel.errors import NanError, NxTypeError, message
from nxkernel.graph.expr import Expr
from nxkernel.messages.grammar import counted
from nxkernel.shapes import describe
from nxkernel.types import BY_DTYPE

_watching = False


class NanDebugging:
    """The result of :func:`debug_nans`: a context manager that restores the setting at its end."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __repr__(self) -> str:
        return f"<debug_nans is {'on; nx.debug_nans(False) ends it' if watching() else 'off'}>"

    def __enter__(self) -> NanDebugging:
        return self

    def __exit__(self, *_: object) -> None:
        _set(self._before)


def debug_nans(on: bool = True) -> NanDebugging:
    """Raise an error for a NaN in the result of a compiled definition, naming the operation and line that made it.

    It holds for the whole process: until the end of the block as ``with nx.debug_nans():``, else until
    ``nx.debug_nans(False)``. Programs stay as they are; one that gives a NaN is run again node by node, and in loops
    iteration by iteration. What is computed outside of definitions is not looked at, nor are NaNs that never reach a
    result.

    Parameters
    ----------
    on : bool, optional

    Returns
    -------
    context manager

    Raises
    ------
    NanError
        From the call whose result has a NaN.

    Examples
    --------
    >>> from nxkernel.errors import NanError
    >>> entropy = nx.jit(lambda x: -nx.sum(x * nx.log(x)))
    >>> with nx.debug_nans():
    ...     try:
    ...         entropy(nx.tensor([0.5, 0.0]))
    ...     except NanError as error:
    ...         print(str(error).replace("<lambda>", "entropy").split(".")[0])
    entropy gave NaN in its result
    """
    if not isinstance(on, bool):
        raise NxTypeError(
            message(f"debug_nans takes True or False, got {describe(on)}.", "Write `with nx.debug_nans():`.")
        )
    before = _watching
    _set(on)
    return NanDebugging(before)


def _set(on: bool) -> None:
    global _watching
    _watching = on
    # Calls that were answered by a fast path take the slow one, which looks.
    default_options.touch()


def watching() -> bool:
    """Whether results are looked at."""
    return _watching


def run(name: str, program: CachedProgram, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Run a program, and raise an error if its result has a NaN."""
    given = arrays if program.placed is None else device_programs.on_host(arrays)
    if program.changes:
        given = [array.copy() for array in given]
    made = program.run(arrays)
    found = device_programs.on_host(made)
    for number, value in enumerate(found):
        if has_nan(value):
            raise NanError(message(f"{name} gave NaN in {_place(program, found, number)}.", *_told(program, given)))
    return made


def _place(program: CachedProgram, made: Sequence[np.ndarray], number: int) -> str:
    """How a person would write the leaf of the result."""
    leaves: list[tuple[str, Any]] = []
    supply = iter(made)
    containers.flatten(
        containers.rebuild(program.structure, supply), "its result", leaves, containers.no_tensor("the function")
    )
    if number < len(leaves):
        return leaves[number][0]
    return "a value that it prints, gives to a hook or assigns"


def _told(program: CachedProgram, arrays: Sequence[np.ndarray]) -> list[str]:
    """The operation that made the NaN, as lines of text."""
    found = origin(program.executable.graph, arrays)
    if found is None:
        return ["Run node by node the graph gives none: rounding in the compiled program made the difference."]
    if found.node.primitive is p.parameter:
        what = (
            f"the captured {_name(found.node)}"
            if found.node.params["captured"]
            else f"the argument {_name(found.node)}"
        )
        return [f"It came in with {what}: {_range(found.values[0])}."]
    if found.node.primitive is p.constant:
        return ["It is a constant of the program.", *source_locations.line_of(found.node.source)]
    lines = [f"{found.node.primitive} made it{_within(found)}.", *source_locations.line_of(found.node.source)]
    for operand, value in zip(found.node.operands, found.values, strict=True):
        lines.append(f"{_name(operand)}: {_range(value)}")
    return lines


def _within(found: Origin) -> str:
    """The loops and branches around an operation."""
    words = []
    for node, turn in reversed(found.around):
        source = node.source
        where = f" at {source_locations.name_of(source.file)}, line {source.line}" if source else ""
        words.append(
            f"in turn {turn + 1} of the loop{where}" if node.primitive is p.while_ else f"in the choice{where}"
        )
    return f" {', '.join(words)}" if words else ""


def _name(node: Expr) -> str:
    if node.primitive is p.parameter:
        name = str(node.params["name"])
        return {"outside": "a value from outside of it", "state": "what changes from turn to turn"}.get(name, name)
    return f"the {node.primitive} in it" if node.primitive is not p.constant else "a constant"


def _range(value: Any) -> str:
    """The range of an array's values in a line, and its counts of NaN and infinity."""
    if isinstance(value, tuple | list):
        return f"{counted(len(value), 'value')}"
    value = np.asarray(value)
    shape = "".join(f"[{size}]" for size in value.shape)
    numbers = value.astype(np.float32) if value.dtype.kind == "V" else value
    if numbers.dtype.kind == "c":
        numbers = np.abs(numbers)
    nans = int(np.isnan(numbers).sum()) if numbers.dtype.kind == "f" else 0
    infinities = int(np.isinf(numbers).sum()) if numbers.dtype.kind == "f" else 0
    finite = numbers[np.isfinite(numbers)] if numbers.dtype.kind == "f" else numbers
    words = [f"{BY_DTYPE[value.dtype]}{shape}"]
    if finite.size:
        low, high = finite.min(), finite.max()
        words.append(f"{low:.6g}" if low == high else f"from {low:.6g} to {high:.6g}")
    if infinities:
        words.append("1 infinity" if infinities == 1 else f"{infinities} infinities")
    if nans:
        words.append(f"{nans} NaN")
    return ", ".join(words)
