"""Callbacks from native programs into Python, for library routines that have no address.

A native program runs without the interpreter lock; ``nxk_host`` takes it for one call. What goes wrong there is raised
when the program has come back.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Sequence

import numpy as np

from nxkernel.compilers.numba_cpu.runtime import loader
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.primitives import Spec

_numbers = itertools.count(1)
_calls: weakref.WeakValueDictionary[int, HostRequest] = weakref.WeakValueDictionary()


class _Failures(threading.local):
    first: BaseException | None = None


_failures = _Failures()


class HostRequest:
    """A library routine that a program calls back for, with the specs of its operands and results.

    Parameters
    ----------
    function : callable
        ``function(operands, results)`` with arrays over the program's memory; None for a result that is not wanted.
    operands : sequence of Spec
    results : sequence of (Spec or None)

    Attributes
    ----------
    number : int
        How the program names it.
    width : int
        The number of addresses that a call takes.
    """

    def __init__(
        self,
        function: Callable[[list[np.ndarray], list[np.ndarray | None]], None],
        operands: Sequence[Spec],
        results: Sequence[Spec | None],
    ) -> None:
        self.function, self.operands, self.results = function, operands, results
        self._operands = [_Memory(spec) for spec in operands]
        self._results = [None if spec is None else _Memory(spec) for spec in results]
        self.number = next(_numbers)
        self.width = len(self._operands) + sum(memory is not None for memory in self._results)
        _calls[self.number] = self

    def __call__(self, addresses: Sequence[int]) -> None:
        """Run the routine on memory at addresses: of the operands, then of the wanted results."""
        rest = iter(addresses)
        # In this order: `rest` goes on behind the operands.
        operands = [memory.at(address) for memory, address in zip(self._operands, rest, strict=False)]
        results = [None if memory is None else memory.at(next(rest)) for memory in self._results]
        self.function(operands, results)


class _Memory:
    """Views the memory of one value as an array; its address is the same from call to call, as a rule.

    Parameters
    ----------
    spec : Spec
    """

    __slots__ = ("_bytes", "_last", "_shape", "_type")

    def __init__(self, spec: Spec) -> None:
        self._bytes, self._shape, self._type = ctypes.c_char * bytes_of(spec), spec.shape, spec.type.dtype
        self._last: tuple[int, np.ndarray | None] = (0, None)

    def at(self, address: int) -> np.ndarray:
        """The array at an address."""
        known, array = self._last
        if array is None or address != known:
            array = np.ndarray(self._shape, self._type, self._bytes.from_address(address))
            self._last = (address, array)
        return array


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_uint64))
def _answer(number: int, table: ctypes.Array) -> int:
    """Run a callback; 1 if it failed, so that the program returns."""
    try:
        call = _calls[number]
        call(table[: call.width])
    except BaseException as error:
        _failures.first = error
        return 1
    return 0


@functools.cache
def provide() -> None:
    """Define the symbol ``nxk_host`` for code that is loaded from now on."""
    loader.define_symbol("nxk_host", ctypes.cast(_answer, ctypes.c_void_p).value)


def raising(launch: Callable[..., bool]) -> Callable[..., bool]:
    """A program's function, wrapped to raise errors of its callbacks."""

    def run(*arrays: np.ndarray) -> bool:
        outer, _failures.first = _failures.first, None
        try:
            done = launch(*arrays)
            error = _failures.first
        finally:
            _failures.first = outer
        if error is not None:
            raise error
        return done

    return run
