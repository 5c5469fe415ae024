"""`with` in definitions: what only sets something is entered and left while they are traced; the rest is refused."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import types as python
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.flow.operators.call_dispatch import fn, is_users
from nxkernel.definitions.keys.static_values import installed_file
from nxkernel.definitions.outputs import output_settings
from nxkernel.errors import NxTypeError
from nxkernel.graph import tracing
from nxkernel.messages.grammar import a

#: Context managers of Python's own library that only set something.
_SETTING = (warnings.catch_warnings, contextlib.nullcontext)
_STANDARD = os.path.dirname(os.__file__) + os.sep


class Context:
    """A context manager that is entered while a definition is traced.

    Parameters
    ----------
    manager : context manager
    enter, leave : callable
        Its methods, as the definition calls them.
    """

    def __init__(self, manager: Any, enter: Callable[..., Any], leave: Callable[..., Any]) -> None:
        self._manager, self._enter, self._leave = manager, enter, leave

    def __enter__(self) -> Any:
        result = self._enter(self._manager)
        output_settings.enter(1)
        return result

    def __exit__(self, kind: Any, error: Any, trail: Any) -> bool:
        output_settings.enter(-1)
        hides = self._leave(self._manager, kind, error, trail)
        # What is raised to trace again is not the manager's.
        return bool(hides) and (error is None or checks.is_pythons(error))


class RecordingContext(Context):
    """A context in which warnings are recorded: nobody sees them unless the definition asks for the record.

    Parameters
    ----------
    manager, enter, leave
        As a :class:`Context` takes them.
    site : Site
    """

    def __init__(self, manager: Any, enter: Callable[..., Any], leave: Callable[..., Any], site: Any) -> None:
        super().__init__(manager, enter, leave)
        self._site = site

    def __enter__(self) -> Any:
        super().__enter__()
        output_settings.silence(1)
        return _Record(self._site)

    def __exit__(self, kind: Any, error: Any, trail: Any) -> bool:
        output_settings.silence(-1)
        return super().__exit__(kind, error, trail)


class _Record:
    """What stands for the warnings that a `with` records, which are known when the program has run."""

    def __init__(self, site: Any) -> None:
        self._site = site

    def _refuse(self, *_: Any) -> Any:
        raise source_sites.error(
            NxTypeError,
            "what this `with` records is warned of when the program has run, and asked for while it is traced.",
            *source_sites.shown(self._site),
            "Write `with` around the call of the definition, or around plain Python in a function of its own, marked "
            "with nx.deftransform.",
        )

    __len__ = __bool__ = __iter__ = __getitem__ = __contains__ = _refuse

    def __getattr__(self, name: str) -> Any:
        return self._refuse()


def context(manager: Any, site: Any) -> Any:
    """What a `with` of a definition enters in place of a context manager.

    Raises
    ------
    NxTypeError
        For one that does more than to set something.
    """
    kind = type(manager)
    enter, leave = getattr(kind, "__enter__", None), getattr(kind, "__exit__", None)
    if enter is None or leave is None or tracing.current() is None:
        return manager
    why = _reason(manager)
    if why:
        raise source_sites.error(
            NxTypeError,
            f"this `with` is entered while the definition is traced, and {why}.",
            *source_sites.shown(site),
            "Write `with` around the call of the definition, or around plain Python in a function of its own, marked "
            "with nx.deftransform.",
        )
    if isinstance(enter, python.FunctionType) and is_users(enter):
        enter, leave = fn(enter), fn(leave)
    if getattr(manager, "_record", False):
        return RecordingContext(manager, enter, leave, site)
    return Context(manager, enter, leave)


def _reason(manager: Any) -> str:
    """Why a context manager is none that only sets something; empty for one that does."""
    kind = type(manager)
    if isinstance(manager, np.errstate):
        asked = [mode for mode in _modes(manager) if mode in ("raise", "call", "print", "log")]
        return f"the compiled program tells of no floating-point errors, as {asked[0]!r} asks for" if asked else ""
    if isinstance(manager, _SETTING) or _is_of_decimals(manager):
        return ""
    if isinstance(manager, io.IOBase) and not manager.writable():
        # What reads a file is traced at each call.
        return ""
    generator = getattr(manager, "gen", None)
    if isinstance(generator, python.GeneratorType):
        file, name = generator.gi_code.co_filename, generator.gi_code.co_name
        is_librarys = installed_file(file) and not file.startswith(_STANDARD)
        if is_librarys or file.startswith(os.path.dirname(np.__file__)):
            return ""
        return f"{name} does what stands before and after its `yield` only then"
    module = kind.__module__.partition(".")[0]
    is_resource = any(hasattr(manager, name) for name in ("read", "write", "acquire"))
    if is_resource or (module in sys.stdlib_module_names and module != "__main__"):
        return f"{a(kind.__qualname__)} does more than to set something"
    return ""


def _modes(manager: np.errstate) -> list[Any]:
    return [getattr(manager, f"_{name}", None) for name in ("all", "divide", "over", "under", "invalid")]


def _is_of_decimals(manager: Any) -> bool:
    decimal = sys.modules.get("decimal")
    return decimal is not None and isinstance(manager, type(decimal.localcontext()))
