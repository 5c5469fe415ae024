"""The trace in which graph transforms record new nodes, apart from the trace of the user's function."""

from __future__ import annotations

from nxkernel.graph.tracing import Trace


class Recorder(Trace):
    """Takes any node as it is: what is recorded is put into a graph by the one who records."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(lambda value: value)
