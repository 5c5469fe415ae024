"""Compilation guards: `no_compile` and `assert_compiles`, which limit compilations in a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from nxkernel.errors import CompilationError, message
from nxkernel.messages.grammar import counted

_allowed: ContextVar[bool] = ContextVar("nxkernel_may_compile", default=True)
_counters: ContextVar[tuple[list[str], ...]] = ContextVar("nxkernel_counters", default=())


@contextmanager
def no_compile() -> Iterator[None]:
    """Raise an error for any call in the block that the graph cache has no program for, with the reason.

    Raises
    ------
    CompilationError
        From the call that would have traced and compiled.

    Examples
    --------
    >>> double = nx.jit(lambda t: t * 2)
    >>> _ = double(1.0)
    >>> with no_compile():
    ...     print(float(double(3.0)))
    6.0
    """
    token = _allowed.set(False)
    try:
        yield
    finally:
        _allowed.reset(token)


@contextmanager
def assert_compiles(count: int) -> Iterator[None]:
    """Check that exactly `count` calls in the block are new to the graph cache.

    Parameters
    ----------
    count : int

    Returns
    -------
    context manager

    Raises
    ------
    AssertionError
        At the end of the block, with the reason of each.

    Examples
    --------
    >>> double = nx.jit(lambda t: t * 4)
    >>> with assert_compiles(2):
    ...     _ = double(1.0), double(2.0), double(nx.iota((3,)))
    """
    met: list[str] = []
    token = _counters.set((*_counters.get(), met))
    try:
        yield
    finally:
        _counters.reset(token)
    if len(met) != count:
        raise AssertionError(message(f"{counted(len(met), 'compilation')} in this block, {count} expected.", *met))


def report(function: str, reason: tuple[str, ...]) -> None:
    """Called when a call misses the graph cache, before anything is traced: raises in a ``no_compile`` block."""
    text = f"{function}: {'; '.join(reason)}"
    for met in _counters.get():
        met.append(text)
    if not _allowed.get():
        raise CompilationError(
            message(
                f"{function} would be traced here, inside nx.no_compile().",
                *reason,
                "Call it once with such arguments before the block.",
            )
        )
