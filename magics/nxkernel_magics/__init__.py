"""The IPython commands of nxkernel, ``%%defn``, ``%jit``, ``%%jit`` and ``%nx``: they call the library."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from nxkernel_lab.messaging import comm
from nxkernel_magics import (
    autoreload,
    cell_options,
    cells,
    compiled_cells,
    completion,
    definition_help,
    definition_lookup,
    recompilation_warning,
    running_cell,
    tracebacks,
)
from nxkernel_magics.commands import NxMagics

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load", "unload"]

#: For each shell that has the commands, what takes them out again.
_loaded: WeakKeyDictionary[InteractiveShell, ExitStack] = WeakKeyDictionary()


def load(shell: InteractiveShell) -> None:
    """Register the magics with a shell; prints nothing, and loading again has no effect.

    Parameters
    ----------
    shell : InteractiveShell
        The shell of a notebook's kernel or of a terminal.
    """
    if shell in _loaded:
        return
    with ExitStack() as stack:
        stack.callback(definition_lookup.name_cells(shell))
        stack.callback(running_cell.install(shell))
        stack.callback(cells.install(shell))
        stack.callback(compiled_cells.install(shell))
        watch, stop_watching = recompilation_warning.install(shell)
        stack.callback(stop_watching)
        stack.callback(cell_options.install(shell, watch))
        stack.callback(completion.install(shell))
        stack.callback(definition_help.install(shell))
        stack.callback(tracebacks.install(shell))
        stack.callback(autoreload.install(shell))
        stack.callback(comm.install(shell))
        shell.register_magics(NxMagics)
        stack.callback(_forget_magics, shell, NxMagics.magics)
        _loaded[shell] = stack.pop_all()


def unload(shell: InteractiveShell) -> None:
    """Remove the magics from a shell.

    Parameters
    ----------
    shell : InteractiveShell
        The shell that was given to `load`.
    """
    stack = _loaded.pop(shell, None)
    if stack is not None:
        stack.close()


def _forget_magics(shell: InteractiveShell, magics: dict[str, dict[str, str]]) -> None:
    for kind, functions in magics.items():
        for name in functions:
            shell.magics_manager.magics[kind].pop(name, None)
