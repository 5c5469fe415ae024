"""NumPy's rules of types for calls of this package that run at once, whatever rules are in force.

While a definition is traced its own rules hold, which are NumPy's or Nx's. Outside of one, ``nxkernel.numpy`` is what
its name says: ``nxkernel.numpy.array([1, 2]) / 2`` is f64. NumPy's own functions of a tensor are told to keep the rules
in force, which are Nx's: see :func:`kept`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from nxkernel import types
from nxkernel.graph import tracing
from nxkernel.scoped_settings import ScopedSetting
from nxkernel.scoped_settings import kept as registered


class _State(threading.local):
    #: Whether the rules in force are those of who called.
    kept = False


_state = registered(_State())


def kept() -> AbstractContextManager[None]:
    """A context in which functions of this package follow the rules in force, also where nothing is traced."""
    return ScopedSetting(_state, "kept", True)


def are_kept() -> bool:
    """Whether a call that runs at once comes from one of NumPy's own functions."""
    return _state.kept


def by_numpys_rules(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that follows NumPy's rules of types when it is called while nothing is traced.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        With the name, the module and the signature of the function.

    Examples
    --------
    >>> from nxkernel import types
    >>> by_numpys_rules(types.infer)(1.5), types.infer(1.5)
    ('f64', 'f32')
    """

    @functools.wraps(function)
    def ruled(*args: Any, **options: Any) -> Any:
        if tracing.current() is not None or types.follows_numpy() or _state.kept:
            return function(*args, **options)
        with types.promotion("numpy"):
            return function(*args, **options)

    return ruled


def install(module: Any, names: Any) -> None:
    """Put the functions of a module under NumPy's rules, in place of themselves; two names of one stay one."""
    own = {name: getattr(module, name) for name in names}
    own = {name: one for name, one in own.items() if str(getattr(one, "__module__", "")).startswith("nxkernel.numpy")}
    ruled = {one: by_numpys_rules(one) for one in own.values() if hasattr(one, "__code__")}
    for name, one in own.items():
        setattr(module, name, ruled.get(one, one))
