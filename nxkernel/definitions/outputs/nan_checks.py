"""``debug_nans``: an error for a NaN in a compiled definition's result, naming the line that made it."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.compilers.nan_origin import Origin, has_nan, origin
from nxkernel.definitions.devices import device_programs
from nxkernel.definitions.keys import containers, default_options, source_locations
from nxkernel.element_types import BY_DTYPE
from nxkernel.errors import NanError, NxTypeError, message
from nxkernel.graph.expr import Expr
from nxkernel.messages.grammar import counted
from nxkernel.shapes import describe

if TYPE_CHECKING:
    from nxkernel.definitions.calls.graph_cache import CachedProgram

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
    ``nx.debug_nans(False)``. Programs are not compiled again; one whose result has a NaN is interpreted node by node,
    and in loops iteration by iteration. Values outside of definitions are not checked, nor are NaNs that reach no
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
    # Calls that had a fast path take the slow one, which checks.
    default_options.touch()


def watching() -> bool:
    """Whether results are checked for NaN."""
    return _watching


#: For programs that assign into arguments, memory for copies of these, which the search for a NaN begins with.
_copies: weakref.WeakKeyDictionary[CachedProgram, list[np.ndarray]] = weakref.WeakKeyDictionary()


def run(name: str, program: CachedProgram, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Run a program and check its results for NaN."""
    inputs = list(arrays if program.placed is None else device_programs.on_host(arrays))
    changes, copies = program.convention.changes, []
    if changes:
        # New memory for each call would take longer than the copies.
        given = [inputs[place] for place in changes]
        copies = _copies.pop(program, None) or [np.empty_like(array) for array in given]
        for place, copy, array in zip(changes, copies, given, strict=True):
            np.copyto(copy, array)
            inputs[place] = copy
    results = program.run(arrays)
    on_host = device_programs.on_host(results)
    for number, value in enumerate(on_host):
        if has_nan(value):
            raise NanError(message(f"{name} gave NaN in {_place(program, number)}.", *_origin_lines(program, inputs)))
    if changes:
        _copies[program] = copies
    return results


def _place(program: CachedProgram, number: int) -> str:
    """How a person would write the result leaf that has the NaN."""
    paths = list(containers.leaf_paths(program.convention.structure, "its result"))
    if number < len(paths):
        return paths[number]
    return "a value that it prints, gives to a hook or assigns"


def _origin_lines(program: CachedProgram, arrays: Sequence[np.ndarray]) -> list[str]:
    """The operation that made the first NaN, as lines of text."""
    source = origin(program.executable.graph, arrays)
    if source is None:
        return ["Run node by node the graph gives none: rounding in the compiled program made the difference."]
    if source.node.primitive is p.parameter:
        what = (
            f"the captured {_name(source.node)}"
            if source.node.params["captured"]
            else f"the argument {_name(source.node)}"
        )
        return [f"It came in with {what}: {_range(source.values[0])}."]
    if source.node.primitive is p.constant:
        return ["It is a constant of the program.", *source_locations.line_of(source.node.source)]
    lines = [f"{source.node.primitive} made it{_within(source)}.", *source_locations.line_of(source.node.source)]
    for operand, value in zip(source.node.operands, source.values, strict=True):
        lines.append(f"{_name(operand)}: {_range(value)}")
    return lines


def _within(nan_source: Origin) -> str:
    """The loops and branches around the operation, as text."""
    words = []
    for node, iteration in reversed(nan_source.around):
        source = node.source
        where = f" at {source_locations.name_of(source.file)}, line {source.line}" if source else ""
        words.append(
            f"in turn {iteration + 1} of the loop{where}" if node.primitive is p.while_ else f"in the choice{where}"
        )
    return f" {', '.join(words)}" if words else ""


def _name(node: Expr) -> str:
    if node.primitive is p.parameter:
        name = str(node.params["name"])
        return {"outside": "a value from outside of it", "state": "what changes from turn to turn"}.get(name, name)
    return f"the {node.primitive} in it" if node.primitive is not p.constant else "a constant"


def _range(value: Any) -> str:
    """The range of an array's finite values, and its counts of NaN and infinity, as one line."""
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
