"""Default options of compilation: for the context at hand, and for the whole process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from nxkernel.compilers import registry
from nxkernel.errors import NxTypeError, NxValueError, message

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
    if options.get("compiler") is not None:
        check(options["compiler"])
    check_promotion(options.get("promotion"))
    if not isinstance(options.get("checked", False), bool | None):
        raise NxTypeError(message(f"checked is True or False, got {options['checked']!r}.", "See nx.checked()."))
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
    """Restore the built-in options."""
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


def _chosen() -> dict[str, Any]:
    """The options that somebody has set; those of the context go before those of the process."""
    return {**_global, **(CONTEXT.get() or {})}
