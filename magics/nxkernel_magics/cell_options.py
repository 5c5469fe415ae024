"""Options of ``%%defn`` cells: showing graphs or kernels after compilation, or suppressing reports."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

import nxkernel
import nxkernel_lab
from nxkernel.definitions.observe.compilation_report import CompilationView
from nxkernel_lab.rendering.text import kernel_lines, to_text
from nxkernel_magics.recompilation_warning import RecompilationWatch

#: For each shell, what its cells asked for.
_wishes: weakref.WeakKeyDictionary[InteractiveShell, _CellWishes] = weakref.WeakKeyDictionary()


class _CellWishes:
    """The wishes of one shell's cells: by name of a definition, itself and ``"graph"`` or ``"kernels"``."""

    def __init__(self, watch: RecompilationWatch) -> None:
        self.watch = watch
        self.asked: dict[str, tuple[Any, str]] = {}

    def end_cell(self, _result: object) -> None:
        """Show what has been compiled since."""
        for name, (definition, what) in list(self.asked.items()):
            views = definition.compilations()
            if views:
                del self.asked[name]
                show(views[-1], what)


def define(
    compiler: str | None, what: str, quiet: bool, promotion: str | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """The decorator that a ``%%defn`` cell applies to its functions.

    Parameters
    ----------
    compiler : str or None
        The name of a compiler; None for the default one.
    what : str
        ``"graph"``, ``"kernels"`` or ``"none"``: what to show when it has been compiled for the first time.
    quiet : bool
        Whether to leave out messages about repeated tracing.
    promotion : str, optional
        ``"nx"`` or ``"numpy"``: whose rules of types hold; the code says when it is not given.

    Returns
    -------
    callable
    """

    def decorate(function: Callable[..., Any]) -> Any:
        __tracebackhide__ = True  # a wrong compiler is told at the person's def, not here
        definition = nxkernel.defn(function, compiler=compiler, promotion=promotion)
        wishes = _wishes.get(get_ipython())
        if wishes is not None:
            name = definition.__name__
            wishes.asked.pop(name, None)
            if what != "none":
                wishes.asked[name] = (definition, what)
            (wishes.watch.quiet.add if quiet else wishes.watch.quiet.discard)(name)
        return definition

    return decorate


def install(shell: InteractiveShell, watch: RecompilationWatch) -> Callable[[], None]:
    """Register with a shell; returns a function that unregisters.

    Parameters
    ----------
    shell : InteractiveShell
        Whose cells are meant.
    watch : RecompilationWatch
        Who is told which definitions are quiet.

    Returns
    -------
    callable
    """
    wishes = _wishes[shell] = _CellWishes(watch)
    shell.events.register("post_run_cell", wishes.end_cell)

    def remove() -> None:
        shell.events.unregister("post_run_cell", wishes.end_cell)
        del _wishes[shell]

    return remove


def show(view: CompilationView, what: str) -> None:
    """Display a compilation: a picture in notebooks, text elsewhere.

    Parameters
    ----------
    view : CompilationView
        The compilation.
    what : str
        ``"graph"`` or ``"kernels"``.
    """
    if what == "kernels":
        print("\n".join([view.signature, *kernel_lines(view)]))
    else:
        text = to_text(view, times=False)
        display({"image/svg+xml": nxkernel_lab.to_svg(view), "text/plain": text}, raw=True)
