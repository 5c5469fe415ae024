"""A program that ``numba.njit`` compiled from its source."""

from __future__ import annotations

import hashlib
import linecache
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from nxkernel import compile_thread
from nxkernel.compilers.interface import Executable, KernelRecord
from nxkernel.compilers.numba_njit.module_source import ModuleSource
from nxkernel.errors import VerificationError
from nxkernel.fork_safety import lock
from nxkernel.graph.expr import Graph


@dataclass(frozen=True, eq=False)
class CompiledSource:
    """A module's function with its native code.

    Parameters
    ----------
    source : ModuleSource
    function : object
        Numba's dispatcher.
    loaded : float
        When it was compiled, in seconds since the epoch.
    milliseconds : float
        What that took.
    """

    source: ModuleSource
    function: Any
    loaded: float
    milliseconds: float

    @property
    def size(self) -> int:
        """Bytes of object code."""
        return sum(len(overload.library._get_compiled_object()) for overload in self.function.overloads.values())


#: By a hash of the text; Numba's compiler runs once for each.
_compiled: dict[str, CompiledSource] = {}


def symbol_of(source: ModuleSource) -> str:
    """A name for the code of a source: a hash of its text."""
    return "nxn_" + hashlib.sha256(source.text.encode()).hexdigest()[:40]


def known() -> dict[str, CompiledSource]:
    """What has been compiled in this process, by name."""
    return _compiled


def compiled(source: ModuleSource, graph: Graph) -> CompiledSource:
    """The function of a source, compiled for the types of a graph's parameters.

    Parameters
    ----------
    source : ModuleSource
    graph : Graph

    Returns
    -------
    CompiledSource
        From memory where the same source has been compiled before.
    """
    symbol = symbol_of(source)
    found = _compiled.get(symbol)
    if found is None:
        found = _compiled[symbol] = compile_thread.do(lambda: _new(source, graph, symbol))
    return found


def _new(source: ModuleSource, graph: Graph, symbol: str) -> CompiledSource:
    begin = time.perf_counter()
    file = f"<{symbol}>"
    linecache.cache[file] = (len(source.text), None, source.text.splitlines(keepends=True), file)
    # Parts that run in the interpreter look for their names in the module, which they know by its name.
    module = sys.modules[symbol] = ModuleType(symbol)
    exec(compile(source.text, file, "exec"), module.__dict__)
    function = getattr(module, source.name)
    function.compile(tuple(_types(source, graph)))
    return CompiledSource(source, function, time.time(), 1e3 * (time.perf_counter() - begin))


def _types(source: ModuleSource, graph: Graph):
    """The types of the arguments as Numba knows them; what is not assigned into may be read-only."""
    from numba.core.types import Array
    from numba.np.numpy_support import from_dtype

    changed = {position for position, _ in graph.updates}
    for position, (parameter, is_number) in enumerate(zip(graph.parameters, source.numbers, strict=True)):
        element = from_dtype(parameter.type.dtype)
        if is_number:
            yield element
        else:
            yield Array(element, len(parameter.shape), "C", readonly=position not in changed)


def verify_compiled(compiled: CompiledSource, after: str) -> None:
    """Check that a function has been compiled, once.

    Raises
    ------
    VerificationError
    """
    count = len(compiled.function.overloads)
    if count != 1:
        raise VerificationError(after, compiled.source.name, "one compiled function", f"{count}")


def record_of(source: ModuleSource, graph: Graph, compiled: CompiledSource | None, origin: str) -> KernelRecord:
    """What is told of a program."""
    texts: dict[str, Callable[[], str]] = {"Numba source": lambda: source.text}
    if compiled is not None:
        function = compiled.function
        texts["LLVM"] = lambda: next(iter(function.inspect_llvm().values()))
        texts["assembly"] = lambda: next(iter(function.inspect_asm().values()))
    loops = source.text.count("numba.prange(")
    shared = f", {loops} loops on threads" if loops > 1 else ", a loop on threads" if loops else ""
    title = f"the whole program by numba.njit{shared}"
    spent = 0.0 if compiled is None or origin != "compiled" else compiled.milliseconds
    return KernelRecord("program", title, symbol_of(source), origin, spent, list(graph.outputs), texts=texts)


class NumbaExecutable(Executable):
    """A program that Numba compiled, which is called on arrays.

    Parameters
    ----------
    graph : Graph
    compiled : CompiledSource
    origin : str
        ``"compiled"`` or ``"memory"``.
    lower_ms, native_ms : float
    """

    #: Numba's threads take one program at a time.
    _one_at_a_time = lock()

    def __init__(self, graph: Graph, compiled: CompiledSource, origin: str, lower_ms: float, native_ms: float) -> None:
        self.graph, self._compiled = graph, compiled
        self.kernels = [record_of(compiled.source, graph, compiled, origin)]
        self.lower_ms, self.native_ms = lower_ms, native_ms
        self._changed = {number: position for position, number in graph.updates}

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for one array a parameter; an updated parameter's output is that array itself."""
        numbers = self._compiled.source.numbers
        ready = [
            array[()] if is_number else np.require(array, requirements=["C", "A"])
            for array, is_number in zip(arrays, numbers, strict=True)
        ]
        with self._one_at_a_time:
            returned = self._compiled.function(*ready)
        for position in self._changed.values():
            if ready[position] is not arrays[position]:
                np.copyto(arrays[position], ready[position])
        count = len(self.graph.outputs) - len(self._changed)
        results = iter([returned] if count == 1 else returned or ())
        return [
            arrays[self._changed[number]] if number in self._changed else np.asarray(next(results), output.type.dtype)
            for number, output in enumerate(self.graph.outputs)
        ]
