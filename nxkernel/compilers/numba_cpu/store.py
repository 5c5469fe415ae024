"""Native code by name: in memory, else from disk, else compiled; each name once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from nxkernel.compilers import disk_cache
from nxkernel.compilers.numba_cpu import apart, loader

_addresses: dict[str, int] = {}
#: For code in memory, how many bytes its object code has, and when it was loaded.
_loaded: dict[str, tuple[int, float]] = {}
_lock = threading.Lock()
_building: dict[str, threading.Event] = {}


def native(
    symbol: str, text: Callable[[], str], needs: Callable[[], None] | None = None, *, loops: bool = False
) -> tuple[int, str]:
    """The address of a native function and where its code came from.

    Parameters
    ----------
    symbol : str
        Its name: a hash of what it does, so that equal names are equal code.
    text : callable
        Gives the LLVM IR of a module that defines it; called only when it must be compiled.
    needs : callable, optional
        Called before the code is loaded, to make the symbols known that it refers to.
    loops : bool, optional
        Whether LLVM is to optimize loops in it.

    Returns
    -------
    address : int
    origin : str
        ``"memory"``, ``"disk"`` or ``"compiled"``.
    """
    found = _addresses.get(symbol)
    if found is not None:
        return found, "memory"
    return apart.do(lambda: _once(symbol, text, needs, loops))


def _once(symbol: str, text: Callable[[], str], needs: Callable[[], None] | None, loops: bool) -> tuple[int, str]:
    """The function's address; one thread makes it, others wait."""
    while True:
        with _lock:
            found = _addresses.get(symbol)
            if found is not None:
                return found, "memory"
            building = _building.get(symbol)
            if building is None:
                _building[symbol] = threading.Event()
                break
        building.wait()
    try:
        return _make(symbol, text, needs, loops)
    finally:
        with _lock:
            _building.pop(symbol).set()


class _MissingError(Exception):
    """There is no code of a name, and nothing to compile it from."""


def kept(symbol: str, needs: Callable[[], None] | None = None) -> tuple[int, str] | None:
    """As :func:`native`, for code that is in memory or on disk; None for other code."""

    def missing() -> str:
        raise _MissingError

    try:
        return native(symbol, missing, needs)
    except _MissingError:
        return None


def _make(symbol: str, text: Callable[[], str], needs: Callable[[], None] | None, loops: bool) -> tuple[int, str]:
    if needs is not None:
        needs()
    code, origin = disk_cache.read(symbol), "disk"
    if code is None:
        module = text()
        from nxkernel.compilers.numba_cpu.object_code import compile_object

        code, origin = compile_object(module, loops=loops), "compiled"
        disk_cache.write(symbol, code)
    address = loader.load(code, symbol)
    with _lock:
        _addresses[symbol] = address
        _loaded[symbol] = len(code), time.time()
    return address, origin


def whereabouts(symbol: str) -> str:
    """Where the code of a function would come from: ``"memory"``, ``"disk"`` or ``"compiled"``."""
    if symbol in _addresses:
        return "memory"
    return "disk" if disk_cache.has(symbol) else "compiled"


def loaded() -> dict[str, tuple[int, float]]:
    """The functions in memory: the bytes of the object code, and when it was loaded, in seconds since the epoch."""
    with _lock:
        return {symbol: _loaded[symbol] for symbol in _addresses if symbol in _loaded}


def forget() -> int:
    """Make later lookups start from disk again; code that is in use stays loaded. How many functions were forgotten."""
    with _lock:
        kept = {
            name: address for name, address in _addresses.items() if not name.startswith("nxk_") or "runtime" in name
        }
        forgotten = len(_addresses) - len(kept)
        _addresses.clear()
        _addresses.update(kept)
        return forgotten


def after_fork() -> None:
    """In a child process: no lock is held, nothing is being built."""
    global _lock
    _lock = threading.Lock()
    _building.clear()
