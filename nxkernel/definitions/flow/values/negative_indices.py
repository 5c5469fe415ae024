"""Negative dynamic indices: whether they count from the end (NumPy) or clamp (Nx), by the definition's source.

A definition whose text names nxkernel has Nx's rule: such an index is clamped to its axis. Any other one has Python's:
it counts from the end, whatever else the definition does.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.flow.values import functional_updates
from nxkernel.definitions.keys import source_locations
from nxkernel.errors import NegativeIndexWarning, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import apply, filled, operand
from nxkernel.scoped_settings import ScopedSetting, kept


class _IndexRules(threading.local):
    silent = False
    guarded = False


_state = kept(_IndexRules())


def by_text(silent: bool) -> AbstractContextManager[None]:
    """A context in which a definition's rule for negative indices holds.

    Parameters
    ----------
    silent : bool
        Whether its code names neither nxkernel nor NumPy.
    """
    return ScopedSetting(_state, "silent", silent)


def behind_a_condition() -> AbstractContextManager[None]:
    """A context for what stands behind ``and`` or ``or``: the condition may keep an index from being negative."""
    return ScopedSetting(_state, "guarded", True)


def counted(value: Operand, key: Any) -> Any:
    """A key in which negative indices count from the end, where that is the rule.

    Warns
    -----
    NegativeIndexWarning
        Where Nx's rule holds and an index certainly is negative in some iteration, as `i - 1` with `i` from 0.
    """
    listed = key if isinstance(key, tuple) else (key,)
    if types.follows_numpy():
        return key
    if not _state.silent:
        if any(_may_be_negative(entry) or _begins_negative(entry) for entry in listed):
            _warn()
        return key
    if not any(map(_may_be_negative, listed)):
        return key
    axis, entries = 0, []
    for entry in functional_updates.expanded(value, key):
        entries.append(_from_the_beginning(operand(entry), value.shape[axis]) if _may_be_negative(entry) else entry)
        axis += entry is not None
    return tuple(entries)


def _may_be_negative(entry: Any) -> bool:
    """Whether an entry of a key is a traced integer that may be negative.

    Where Nx's rule holds: whether it certainly is negative in some iteration.
    """
    if isinstance(entry, Proxy):
        entry = operand(entry)
    if not isinstance(entry, Operand) or entry.shape or not entry.type.is_integer or entry.type.kind == "u":
        return False
    if tracing.current() is None:
        return False
    low, _ = integer_bounds.interval(entry)
    if _state.silent:
        return low is None or low < 0
    is_below = low is not None and low < 0 and integer_bounds.counts(entry)
    return (is_below or _begins_below(entry)) and not _is_chosen()


def _begins_below(entry: Operand) -> bool:
    """Whether an index is negative in the first iteration, as `i - 1` where `i` is 0 before a `while`."""
    high = integer_bounds.in_first_iteration(entry)[1] if type(entry) is Expr else None
    return high is not None and high < 0


def _begins_negative(entry: Any) -> bool:
    """Whether a slice certainly begins at a negative index in some iteration."""
    return isinstance(entry, slice) and _may_be_negative(entry.start)


def _is_chosen() -> bool:
    """Whether the trace is behind a condition, which may keep an index from being negative."""
    if _state.guarded:
        return True
    trace = tracing.current()
    while trace is not None:
        if getattr(trace, "side", False):
            return True
        trace = trace.previous
    return False


def _from_the_beginning(entry: Operand, size: int) -> Operand:
    below = comparison.less(entry, 0)
    return apply(p.select, below, apply(p.add, entry, filled(size, entry.type, ())), entry)


def _warn() -> None:
    source, trace = tracing.user_line(), tracing.current()
    told = trace.outermost.memory.setdefault("negative indices", set())
    if source is None or source in told:
        return
    told.add(source)
    text = message(
        f"{source.function}: an index is below 0 in some turns of this loop, and takes the first element then: where a "
        "definition names nxkernel, an index that only the running program knows is clamped to its axis.",
        "nx.max(i - 1, 0) says so, and (i - 1) % n counts from the end of an axis of n.",
    )
    source_locations.warn(source, text, NegativeIndexWarning)
