"""The store of native code by name: from memory, else from disk, else compiled; each name once.

Code belongs to those who use it: the functions that call programs, and the programs that call kernels. When the last of
them goes, it goes, unless it is among what was asked for last.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from nxkernel import compile_thread, fork_safety
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cpu.runtime import loader
from nxkernel.compilers.numba_cpu.runtime.loader import LoadedCode

#: Bytes of object code that are kept although nobody uses them, for programs that are made again.
KEPT = 8 << 20

_codes: weakref.WeakValueDictionary[str, LoadedCode] = weakref.WeakValueDictionary()
_recent: OrderedDict[str, LoadedCode] = OrderedDict()
_recent_size = 0
_lock = fork_safety.rlock()
_building: dict[str, threading.Event] = {}


def native(
    symbol: str,
    text: Callable[[], str],
    needs: Callable[[], None] | None = None,
    *,
    loops: bool = False,
    uses: Mapping[str, LoadedCode] | None = None,
    also: Sequence[str] = (),
) -> tuple[LoadedCode, str]:
    """The code of a native function, and where it came from.

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
    uses : mapping of str to LoadedCode, optional
        Other code that it calls.
    also : sequence of str, optional
        Other functions in it that are asked for.

    Returns
    -------
    code : LoadedCode
        It stays as long as somebody holds this.
    origin : str
        ``"memory"``, ``"disk"`` or ``"compiled"``.
    """
    code = _codes.get(symbol)
    if code is not None:
        with contextlib.suppress(KeyError):
            _recent.move_to_end(symbol)
        return code, "memory"
    return compile_thread.do(lambda: _once(symbol, lambda: _make(symbol, text, needs, loops, uses, also)))


def _keep(symbol: str, code: LoadedCode) -> None:
    """Mark code as recently used, and drop the least recently used from memory."""
    global _recent_size
    _codes[symbol] = _recent[symbol] = code
    _recent_size += code.size
    while _recent_size > KEPT and len(_recent) > 1:
        _recent_size -= _recent.popitem(last=False)[1].size


def _once(symbol: str, make: Callable[[], tuple[LoadedCode, str]]) -> tuple[LoadedCode, str]:
    """The code of a function; one thread makes it while others wait."""
    while True:
        with _lock:
            code = _codes.get(symbol)
            if code is not None:
                return code, "memory"
            building = _building.get(symbol)
            if building is None:
                _building[symbol] = threading.Event()
                break
        building.wait()
    try:
        return make()
    finally:
        with _lock:
            event = _building.pop(symbol, None)
        if event is not None:
            # None in a child that was forked in the middle of this, where nobody waits.
            event.set()


class _MissingError(Exception):
    """There is no code under a name, and nothing to compile it from."""


def kept(
    symbol: str, needs: Callable[[], None] | None = None, uses: Mapping[str, LoadedCode] | None = None
) -> tuple[LoadedCode, str] | None:
    """As :func:`native`, for code that is in memory or on disk; None for other code."""

    def missing() -> str:
        raise _MissingError

    try:
        return native(symbol, missing, needs, uses=uses)
    except _MissingError:
        return None


def _make(
    symbol: str,
    text: Callable[[], str],
    needs: Callable[[], None] | None,
    loops: bool,
    uses: Mapping[str, LoadedCode] | None,
    also: Sequence[str],
) -> tuple[LoadedCode, str]:
    if needs is not None:
        needs()
    data, origin = disk_cache.read(symbol), "disk"
    if data is None:
        module = text()
        loader.check_memory()
        from nxkernel.compilers.numba_cpu.codegen.object_code import compile_object

        data, origin = compile_object(module, loops=loops), "compiled"
        disk_cache.write(symbol, data)
    code = loader.load(data, symbol, uses, also)
    with _lock:
        _keep(symbol, code)
    return code, origin


def whereabouts(symbol: str) -> str:
    """Where the code of a function would come from: ``"memory"``, ``"disk"`` or ``"compiled"``."""
    if symbol in _codes:
        return "memory"
    return "disk" if disk_cache.has(symbol) else "compiled"


def loaded() -> dict[str, tuple[int, float]]:
    """The functions in memory: by name the size of the object code, and when it was loaded."""
    with _lock:
        return {symbol: (code.size, code.loaded) for symbol, code in _codes.items()}


def forget() -> int:
    """Drop functions from memory so that they are looked up on disk again; code in use stays. The number dropped."""
    global _recent_size
    with _lock:
        forgotten = [name for name, code in _codes.items() if not loader.lasts(code)]
        for name in forgotten:
            # Its last user may have gone meanwhile.
            _codes.pop(name, None)
        _recent.clear()
        _recent_size = 0
    loader.give_back()
    return len(forgotten)


@fork_safety.in_child
def _abandon() -> None:
    """After a fork, drop compilations that other threads of the parent had begun."""
    _building.clear()
