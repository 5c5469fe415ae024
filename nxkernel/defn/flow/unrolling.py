"""Loops that are written out while they are traced: why, how far, and what is said about it."""

from __future__ import annotations

from typing import Any

from nxkernel.defn.flow import sites
from nxkernel.errors import NxError, NxTypeError, TracedValueError
from nxkernel.graph import tracing

#: The most turns that are written out.
MOST = 10_000
_NOTES = "notes"


class MustUnrollError(Exception):
    """A loop cannot be one of the compiled program; the text says why, after the words "because"."""


def reason(error: Exception) -> str:
    """Why a loop is not one of the compiled program."""
    if isinstance(error, MustUnrollError):
        return str(error)
    what = str(error).partition("\n")[0]
    if isinstance(error, TracedValueError):
        asked, found, _ = what.partition(" asks for the data")
        if found:
            return f"{asked[:1].lower()}{asked[1:]} is needed in it"
    return what.removesuffix(".")


def note(site: Any, turns: int, error: Exception | None) -> None:
    """Have the event of the program that is being traced say that a loop was written out."""
    trace = tracing.current()
    if trace is None or error is None:
        return
    add_note(trace, tuple(site), f"{sites.name(site)}: this loop is written out {turns} times: {reason(error)}")


def add_note(trace: tracing.Trace, key: Any, text: str) -> None:
    """Have the event of a program say something of how it was traced, once for a key."""
    trace.outermost.memory.setdefault(_NOTES, {})[key] = text


def notes(trace: tracing.Trace) -> tuple[str, ...]:
    """What was noted in a trace."""
    return tuple(trace.outermost.memory.get(_NOTES, {}).values())


def told(error: Exception, site: Any) -> Exception:
    """The error for a loop that would have to be written out and cannot be."""
    if not isinstance(error, MustUnrollError):
        return error
    return sites.error(
        NxTypeError,
        f"this loop cannot be compiled: {error}.",
        *sites.shown(site),
        "Keep what it computes in tensors of one type and shape, or give it a number of turns that is known while it "
        "is traced: that of an option or of a shape.",
    )


def too_long(site: Any, error: Exception | None) -> NxError:
    """The error for a loop that would be written out without end."""
    why = "" if error is None else f" because {reason(error)}"
    return sites.error(
        NxTypeError,
        f"this loop is written out while it is traced{why}, and takes more than {MOST} turns.",
        *sites.shown(site),
        "What it changes must be tensors, for it to become a loop of the compiled program.",
    )
