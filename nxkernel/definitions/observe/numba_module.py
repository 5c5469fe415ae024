"""Programs as modules for Numba, for whoever wants to hand one on."""

from __future__ import annotations

from nxkernel.compilers import registry
from nxkernel.definitions.outputs.calling_convention import CallingConvention
from nxkernel.errors import CompilationError, message
from nxkernel.graph.expr import Graph


def source_of(graph: Graph, convention: CallingConvention) -> str:
    """The source of a program as a module that needs Numba and NumPy alone.

    Parameters
    ----------
    graph : Graph
        Simplified.
    convention : CallingConvention

    Returns
    -------
    str

    Raises
    ------
    CompilationError
        For a program with hooks, and for what cannot be said in Numba; with the user's line.
    """
    if convention.hooks:
        names = sorted({hook.name or "a value that it prints or checks" for hook, _ in convention.hooks})
        what = (
            f"{graph.name} gives values to Python while it runs, which a module for Numba cannot: {', '.join(names)}."
        )
        raise CompilationError(message(what, "Leave out hooks, prints and checks of values in what is handed on."))
    (record,) = registry.get("numba").foresee(graph)
    return record.texts["Numba source"]()
