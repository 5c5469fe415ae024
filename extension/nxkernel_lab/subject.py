"""What is looked at: a compilation, or the latest one of a definition."""

from __future__ import annotations

from typing import Any

from nxkernel.defn.report import CompilationView


def view_of(subject: Any) -> CompilationView:
    """The compilation that a person means by a definition or a compilation.

    Parameters
    ----------
    subject : definition or CompilationView
        What is to be shown.

    Returns
    -------
    CompilationView

    Raises
    ------
    TypeError
        Where it is neither.
    ValueError
        Where the definition has not been compiled yet.
    """
    if isinstance(subject, CompilationView):
        return subject
    if not hasattr(subject, "compilations"):
        raise TypeError(
            f"expected a numerical definition or one of its compilations(), got a {type(subject).__name__}.\n"
            "  Decorate the function with nx.defn, or begin its cell with %%defn."
        )
    views = subject.compilations()
    if not views:
        raise ValueError(f"{subject.__name__} has not been compiled yet.\n  Call it once, then look again.")
    return views[-1]
