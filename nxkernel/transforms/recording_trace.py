"""The trace in which graph transforms record new nodes, separate from the trace of the user's function."""

from __future__ import annotations

from nxkernel.graph.tracing import Trace


class RecordingTrace(Trace):
    """A trace that accepts any node; the caller builds the graph from what is recorded."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(lambda value: value)
