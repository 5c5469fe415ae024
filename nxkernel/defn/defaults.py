"""Default options of compilation: for the context at hand, and for the whole process."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from nxkernel.compilers import interface
from nxkernel.errors import NxTypeError, message

_BUILT_IN = {"compiler": "numba_cpu"}
_global: dict[str, Any] = {}
#: The options set in this context; None while none are.
CONTEXT: ContextVar[dict[str, Any] | None] = ContextVar("nxkernel_default_options", default=None)
#: Counts the changes of the process-wide options.
changes = 0


def _merged(before: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in _BUILT_IN:
            raise NxTypeError(message(f"there is no default option {name!r}.", f"There are {', '.join(_BUILT_IN)}."))
    if options.get("compiler") is not None:
        interface.get(options["compiler"])
    return {name: value for name, value in {**before, **options}.items() if value is not None}


def default_options(**options: Any) -> dict[str, Any]:
    """Set default options in this context (a thread, a task, a notebook); without arguments, only tell them.

    Parameters
    ----------
    compiler : str or None
        ``"numba_cpu"`` or ``"evaluator"``; None sets none, so that the one of the whole process counts.

    Returns
    -------
    dict
        The options that were set in this context before.

    Examples
    --------
    >>> default_options(compiler="evaluator")
    {}
    >>> default_options(compiler=None)
    {'compiler': 'evaluator'}
    """
    before = dict(CONTEXT.get() or {})
    if options:
        CONTEXT.set(_merged(before, options) or None)
    return before


def global_default_options(**options: Any) -> dict[str, Any]:
    """Set default options for the whole process, which those of a context go before.

    Parameters and result are those of :func:`default_options`.
    """
    global _global, changes
    before = dict(_global)
    if options:
        _global = _merged(before, options)
        changes += 1
    return before


def reset() -> None:
    """Back to the options that are built in."""
    global _global, changes
    _global = {}
    changes += 1
    CONTEXT.set(None)


def current() -> dict[str, Any]:
    """The options in force."""
    return {**_BUILT_IN, **_global, **(CONTEXT.get() or {})}
