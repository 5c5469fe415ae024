"""Fork safety: locks that a fork waits for, and state that a forked child resets.

Of all threads only the one that forks goes on in the child. A lock that another one held would stay locked there for
ever, a queue would have nobody who serves it, and what was half done, in LLVM or in an import, would stay half done. So

* locks are made by :func:`lock` and :func:`rlock`, and are open in the child unless its own thread holds them;
* what stands on threads, processes or pools has a function that :func:`in_child` calls in the child;
* a fork waits until nobody is inside of what cannot be made anew, the locks of :func:`across`, nor importing it.

A wait ends after :data:`PATIENCE` seconds. The child can compile nothing then, and says so (:func:`check`); modules
that were half imported it imports again.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar, overload

from nxkernel.errors import CompilationError, message

Made = TypeVar("Made")
Called = TypeVar("Called", bound=Callable[[], Any])

#: How many seconds a fork waits at the most: for locks, and for imports, which may wait for anything.
PATIENCE, IMPORTS = 60.0, 10.0
#: Packages whose modules are imported when they are needed: a child waits for ever for one that was half imported.
_LATE = frozenset({"cuda", "cupy", "llvmlite", "ml_dtypes", "numba", "numba_cuda", "numpy", "nxkernel", "scipy"})

_OWNED = type(threading.RLock())
_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_children: list[Callable[[], Callable[[], Any] | None]] = []
_across: list[Callable[[], Iterable[Any]]] = []
_searched: set[str] = set()
_properties: list[functools.cached_property[Any]] = []


class _HeldLocks(threading.local):
    """The locks that this thread holds while it forks."""

    def __init__(self) -> None:
        self.locks: list[Any] = []
        self.safe = False


_held = _HeldLocks()
_lost = False


@functools.cache
def watch() -> None:
    """Register the fork handlers, once there is state to protect."""
    # Handlers for the time before a fork run in the reverse order: that of `logging`, which takes a lock that others
    # wait for while they import or compile, must come after this one, and so it must be known before.
    import logging  # noqa: F401

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_parent=_give_back, after_in_child=_after_in_child)


def lock() -> threading.Lock:
    """A lock that is released in a forked child."""
    return _kept(threading.Lock())


def rlock() -> Any:
    """A reentrant lock that is released in a forked child unless the forking thread holds it.

    Where nothing speaks against it, it is the better one: a signal handler may strike inside of the lock and come back.
    """
    return _kept(threading.RLock())


def _kept(made: Made) -> Made:
    _locks.add(made)
    return made


def in_child(function: Called) -> Called:
    """Register a function to call in every forked child, in order; a method is called as long as its object lives.

    Parameters
    ----------
    function : callable
        Without arguments.

    Returns
    -------
    callable
        The same.
    """
    if hasattr(function, "__self__"):
        _children.append(weakref.WeakMethod(function, _forget))
        watch()
    else:
        _children.append(lambda: function)
    return function


def _forget(reference: Any) -> None:
    with contextlib.suppress(ValueError):
        _children.remove(reference)


def across(locks: Callable[[], Iterable[Any]]) -> None:
    """Have forks acquire locks before and release them after.

    Parameters
    ----------
    locks : callable
        Gives them, in the order in which they are taken where one is taken inside of another; each has ``acquire`` and
        ``release`` as those of :mod:`threading`. No thread may wait for anything else than time and the processor while
        it holds one.
    """
    _across.append(locks)
    watch()


def native() -> Iterator[Any]:
    """The locks of Numba and LLVM, as far as imported, in the order in which they nest; held in every fork."""
    compiler, binding = sys.modules.get("numba.core.compiler_lock"), sys.modules.get("llvmlite.binding.ffi")
    for holder in (getattr(compiler, "global_compiler_lock", None), getattr(binding, "lib", None)):
        inner = getattr(holder, "_lock", None)
        inner = getattr(inner, "_lock", inner)
        if isinstance(inner, _OWNED):
            yield inner


def _of_properties() -> Iterator[Any]:
    """The locks of cached properties: of functools until Python 3.11, and of Numba's contexts.

    A fork does not wait for them: who has one may wait for the compiler's lock, and who has that for one of them.
    What was half computed in the parent is kept nowhere, so that a child computes it anew.
    """
    for cached in _properties:
        for inner in (getattr(cached, "lock", None), getattr(cached, "_lock", None)):
            if isinstance(inner, _OWNED):
                yield inner


def _find_properties() -> None:
    """Collect the cached properties of newly imported classes."""
    for name, module in list(sys.modules.items()):
        if name in _searched or name.partition(".")[0] not in _LATE:
            continue
        _searched.add(name)
        for value in list(getattr(module, "__dict__", {}).values()):
            if isinstance(value, type) and value.__module__ == name:
                _properties.extend(each for each in vars(value).values() if isinstance(each, functools.cached_property))


def check() -> None:
    """Raise an error in a process forked at a moment at which its state could not be reset.

    Raises
    ------
    CompilationError
    """
    if _lost:
        raise CompilationError(
            message(
                "nothing can be compiled in this process: it was forked while another thread was compiling, for longer "
                f"than the {PATIENCE:g} s that a fork waits.",
                'Start processes with multiprocessing\'s "spawn" or "forkserver", or fork before.',
            )
        )


class cached_property(Generic[Made]):  # noqa: N801
    """As :func:`functools.cached_property`, without the lock that it has in Python 3.11.

    Parameters
    ----------
    function : callable
        Takes the object. Threads that ask at once may each compute it; one of the results is kept.
    """

    def __init__(self, function: Callable[[Any], Made]) -> None:
        self._function, self._name = function, ""
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Made]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Made: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._function(instance))


def imports() -> bool:
    """Whether this thread may be importing a module that another importing thread waits for.

    A signal handler may be called then, or who looks for modules may call what imports others.

    Examples
    --------
    >>> imports()
    False
    """
    return importlib._bootstrap._imp.lock_held() or threading.get_ident() in dict(_importers()).values()


def _importing() -> list[str]:
    """The relevant modules that other threads are importing."""
    own = threading.get_ident()
    return [name for name, thread in _importers() if thread != own]


def _importers() -> list[tuple[str, int]]:
    """The relevant modules that are being imported, with the importing thread."""
    pairs = [
        (name, reference()) for name, reference in list(_module_locks().items()) if name.partition(".")[0] in _LATE
    ]
    return [(name, each.owner) for name, each in pairs if each is not None and each.owner is not None]


def _module_locks() -> dict[str, Callable[[], Any]]:
    """The import locks of modules in importlib."""
    return getattr(importlib._bootstrap, "_module_locks", {})


def _before() -> None:
    """Acquire the locks before a fork.

    Who imports may need the locks, and who has them may import, so nobody waits for the one with the other.
    """
    begin = time.monotonic()
    while _take(begin + PATIENCE):
        if not _importing() or time.monotonic() >= begin + IMPORTS:
            _find_properties()
            _held.safe = True
            return
        _give_back()
        time.sleep(0.001)


def _take(end: float) -> bool:
    """Acquire all of the locks, or none."""
    for each in _held_across():
        if not each.acquire(timeout=max(end - time.monotonic(), 0.0)):
            _give_back()
            return False
        _held.locks.append(each)
    return True


def _held_across() -> list[Any]:
    # Whoever has one of the native ones waits for none of the others.
    return [*(each for locks in _across for each in locks()), *native()]


def _give_back() -> None:
    _held.safe = False
    while _held.locks:
        _held.locks.pop().release()


def _after_in_child() -> None:
    global _lost
    _lost = _lost or not _held.safe
    # Nobody waits for ever even where the fork did not wait for long enough.
    for each in [*_locks, *_held_across(), *_of_properties()]:
        if not _is_own(each):
            each._at_fork_reinit()
    _begin_imports_anew()
    # Whatever one of them raises, the others are called.
    with contextlib.ExitStack() as stack:
        stack.callback(_give_back)
        for function in reversed(list(_alive())):
            stack.callback(function)


def _begin_imports_anew() -> None:
    """Forget half-imported modules in a forked child, whose importing thread is gone."""
    for name in _importing():
        _module_locks().pop(name, None)
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]


def _is_own(made: Any) -> bool:
    return hasattr(made, "_is_owned") and made._is_owned()


def _alive() -> Iterator[Callable[[], Any]]:
    for reference in _children:
        target = reference()
        if target is not None:
            yield target
