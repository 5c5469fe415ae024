"""Default options of compilation: for the context at hand, for the whole process, and by environment variables.

``NXKERNEL_COMPILER``, ``NXKERNEL_PROMOTION`` and ``NXKERNEL_CHECKED`` are for a whole machine or project; they are read
once, when an option is first asked for.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from nxkernel.compilers import registry
from nxkernel.errors import NxError, NxTypeError, NxValueError, message

#: The compiler that is ``numba_cuda`` where there is a GPU, and else the one that is built in.
AUTO = "auto"
_BUILT_IN = {"compiler": registry.BUILT_IN, "promotion": None, "checked": False}
#: Whose rules of types may hold.
_RULES = ("nx", "numpy")
_global: dict[str, Any] = {}
#: The options set in this context; None while none are.
CONTEXT: ContextVar[dict[str, Any] | None] = ContextVar("nxkernel_default_options", default=None)
#: Counts the changes of the process-wide options.
changes = 0


def _merged(before: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in _BUILT_IN:
            raise NxTypeError(message(f"there is no default option {name!r}.", f"There are {', '.join(_BUILT_IN)}."))
    for name, value in options.items():
        if value is not None:
            _CHECKS[name](value)
    return {name: value for name, value in {**before, **options}.items() if value is not None}


def check(compiler: str) -> None:
    """Raise an error if there is no compiler of this name."""
    if compiler != AUTO:
        registry.get(compiler)


def check_promotion(promotion: str | None) -> None:
    """Raise an error for anything but the names of rules, and None."""
    if promotion is not None and promotion not in _RULES:
        raise NxValueError(
            message(
                f"promotion is 'nx' or 'numpy', got {promotion!r}.",
                "It says whose rules of types hold; when it is not given, the code of the function says it.",
            )
        )


def _check_truth(value: Any) -> None:
    if not isinstance(value, bool):
        raise NxTypeError(message(f"checked is True or False, got {value!r}.", "See nx.checked()."))


#: What raises an error for a wrong value, by option.
_CHECKS: dict[str, Callable[[Any], None]] = {
    "compiler": check,
    "promotion": check_promotion,
    "checked": _check_truth,
}
#: How people write truths in environment variables.
_TRUTHS = {"1": True, "true": True, "0": False, "false": False}


def variable(name: str) -> str:
    """The environment variable for an option.

    Examples
    --------
    >>> variable("compiler")
    'NXKERNEL_COMPILER'
    """
    return f"NXKERNEL_{name.upper()}"


@functools.cache
def _from_environment() -> dict[str, Any]:
    """The options that environment variables set; those which are empty set none."""
    found: dict[str, Any] = {}
    for name, check_value in _CHECKS.items():
        value = os.environ.get(variable(name), "").strip()
        if value:
            if name == "checked":
                value = _TRUTHS.get(value.lower(), value)
            try:
                check_value(value)
            except NxError as error:
                text = f"the environment variable {variable(name)} is {value!r}: {error}"
                raise NxValueError(message(text, f"Set it otherwise, or unset it: unset {variable(name)}.")) from None
            found[name] = value
    return found


class PreviousOptions(dict):
    """The options that were set before; as a context manager, it restores them at its end."""

    def __init__(self, options: Mapping[str, Any] | None, restore: Callable[[], Any]) -> None:
        super().__init__(options or {})
        self._restore = restore

    def __enter__(self) -> PreviousOptions:
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()


def default_options(**options: Any) -> PreviousOptions:
    """Set default options in this context (a thread, a task, a notebook); without arguments, only return them.

    As ``with default_options(...):`` they hold until the end of the block.

    Parameters
    ----------
    compiler : str or None
        ``"numba_cpu"``, ``"numba_cuda"``, ``"auto"`` or ``"evaluator"``; None sets none, so that the one of the whole
        process counts. ``"auto"`` is ``"numba_cuda"`` where there is a GPU, and else ``"numba_cpu"``. While none is
        set, it is ``"numba_cuda"`` for calls with tensors on a device, and ``"numba_cpu"`` for all others.
    promotion : {"nx", "numpy"} or None
        Whose rules of types hold in functions that do not say it by ``promotion=``; while none is set, their text and
        arguments do, as :func:`nxkernel.defn` tells.
    checked : bool or None
        Whether programs look for what goes wrong in them, as :func:`nxkernel.checked` tells.

    Returns
    -------
    dict
        The options that were set in this context before.

    Raises
    ------
    NxTypeError, NxValueError
        For an option or a value that there is not.

    Notes
    -----
    The environment variables ``NXKERNEL_COMPILER``, ``NXKERNEL_PROMOTION`` and ``NXKERNEL_CHECKED`` (``1`` or ``0``)
    say what holds while nothing is set here, nor by :func:`global_default_options`. In a notebook ``%nx options`` shows
    where each value comes from.

    Examples
    --------
    >>> default_options(compiler="evaluator")
    {}
    >>> default_options(compiler=None)
    {'compiler': 'evaluator'}
    >>> with default_options(compiler="evaluator"):
    ...     default_options()
    {'compiler': 'evaluator'}
    >>> default_options()
    {}
    """
    before = CONTEXT.get()
    if options:
        CONTEXT.set(_merged(before or {}, options) or None)
    # The same object as before: calls compare it by identity.
    return PreviousOptions(before, lambda: CONTEXT.set(before))


def global_default_options(**options: Any) -> PreviousOptions:
    """Set default options for the whole process, which those of a context go before.

    Parameters and result are those of :func:`default_options`, and so is ``with``.
    """
    before = _global
    if options:
        _set_global(_merged(before, options))
    return PreviousOptions(before, lambda: _set_global(before))


def _set_global(options: dict[str, Any]) -> None:
    global _global, changes
    _global = options
    changes += 1


def touch() -> None:
    """Make every call look up its program anew."""
    global changes
    changes += 1


def reset() -> None:
    """Restore the built-in options, and those of the environment as it is now."""
    _from_environment.cache_clear()
    _set_global({})
    CONTEXT.set(None)


def compiler() -> str | None:
    """The compiler that somebody has set; None where nobody has."""
    return _chosen().get("compiler")


def promotion() -> str | None:
    """The rules that somebody has set; None where nobody has."""
    return _chosen().get("promotion")


def checked() -> bool:
    """Whether programs look for what goes wrong in them."""
    return _chosen().get("checked", False)


def current() -> dict[str, Any]:
    """The options in force."""
    return {**_BUILT_IN, **_chosen()}


def source(name: str) -> str:
    """What has set an option: ``"this context"``, ``"this process"``, an environment variable, or ``"built in"``."""
    if name in (CONTEXT.get() or {}):
        return "this context"
    if name in _global:
        return "this process"
    return variable(name) if name in _from_environment() else "built in"


def _chosen() -> dict[str, Any]:
    """The options that somebody has set; a context goes before the process, and both before the environment."""
    return {**_from_environment(), **_global, **(CONTEXT.get() or {})}
