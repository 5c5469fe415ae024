"""Building the event of a compilation: trace and compile times, kernels, notes and reasons."""

from __future__ import annotations

from typing import Any

from nxkernel.definitions.calls.graph_cache import CachedProgram
from nxkernel.definitions.observe import launch_groups
from nxkernel.definitions.observe.events import Event, stream


def report_compilation(
    name: str, identity: str, program: CachedProgram, rules: str, advice: str, notes: tuple[str, ...]
) -> None:
    """Emit an event for each kernel of a new program, and one for the call that compiled it."""
    executable, where = program.executable, program.where
    code = launch_groups.code_of(executable)
    for kernel in code:
        stream.emit(
            Event(
                "kernel",
                name,
                where=where,
                origin=kernel.origin,
                kernel=kernel.symbol,
                native_ms=kernel.milliseconds,
                identity=identity,
            )
        )
    origins = launch_groups.origins(code)
    compiled, disk = map(origins.count, ("compiled", "disk"))
    stream.emit(
        Event(
            "miss",
            name,
            where=where,
            reason=program.reason,
            rules=rules,
            advice=advice,
            notes=notes,
            trace_ms=program.trace_ms,
            lower_ms=executable.lower_ms,
            native_ms=executable.native_ms,
            compiled=compiled,
            reused=len(origins) - compiled,
            disk=disk,
            identity=identity,
        )
    )


def report_failure(name: str, identity: Any, error: Exception, where: str) -> None:
    """Tell who watches that a call failed."""
    lines = map(str.strip, f"{type(error).__name__}: {error}".splitlines())
    # A mark such as "^^^^" is below a word of the line before it, and lists show the lines without indents.
    reason = tuple(line for line in lines if set(line) != {"^"})
    stream.emit(Event("error", name, where=where, reason=reason, identity=identity))
