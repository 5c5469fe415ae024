"""The inspector: a widget that shows what a definition was compiled to, and what happens to it, live."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets
from IPython.core.getipython import get_ipython

from nxkernel.defn.report import CompilationView
from nxkernel_lab.dot import to_dot
from nxkernel_lab.feed import Feed
from nxkernel_lab.launches import joined
from nxkernel_lab.messages import Choose, Close, Export, Fold, Open, Read, read_message
from nxkernel_lab.payload import geometry, graph
from nxkernel_lab.scene import WHOLE, all_kernels, readable_folded
from nxkernel_lab.svg import to_svg
from nxkernel_lab.text import kernel_lines, to_text

_HERE = Path(__file__).parent
#: What an inspector says instead of a graph.
_NEVER = "Not compiled yet: call it once, and its graph appears here."
_FORGOTTEN = "Programs forgotten: the cache was cleared. Call it again, and its graph appears here."


class Inspector(anywidget.AnyWidget):
    """The graph, the kernels, their code and the events of one definition.

    Parameters
    ----------
    definition : definition
        What to inspect. It may not have been called yet: its compilations appear as they are made.
    """

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("canvas.js", "inspector.js"))
    _css = (_HERE / "inspector.css").read_text("utf-8")

    name = traitlets.Unicode().tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    chosen = traitlets.Int(-1).tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)
    geometry = traitlets.Dict().tag(sync=True)
    feed = traitlets.Dict().tag(sync=True)
    empty = traitlets.Unicode(_NEVER).tag(sync=True)

    def __init__(self, definition: Any) -> None:
        self._definition = definition
        self._compiled: list[CompilationView] = []
        self._folded: frozenset[int] = frozenset()
        self._pages: set[str] = set()
        super().__init__(name=definition.__name__)
        self._feed = Feed(definition, self.refresh, get_ipython())
        self.on_msg(self._receive)
        self.refresh()

    def refresh(self) -> None:
        """Read the definition's compilations, events and counts anew."""
        shown = self._compiled[self.chosen] if self._compiled else None
        self._compiled = [joined(view) for view in self._definition.compilations()]
        same = [k for k, view in enumerate(self._compiled) if shown is not None and _origin(view) == _origin(shown)]
        with self.hold_sync():
            self.choices = [_choice(view) for view in self._compiled]
            if same:
                self.chosen = same[0]
            elif self._compiled:
                self._show(len(self._compiled) - 1)
            else:
                self.empty = _NEVER if shown is None and self.empty == _NEVER else _FORGOTTEN
                self.chosen, self.graph, self.geometry = -1, {}, {}
            self.feed = {"rows": self._feed.rows(), "counts": self._feed.counts()}

    def close(self) -> None:
        """Take the widget off the page, and stop following events."""
        self._feed.stop()
        super().close()

    def _show(self, index: int) -> None:
        view = self._compiled[index]
        self._folded = readable_folded(view)
        with self.hold_sync():
            self.chosen, self.graph, self.geometry = index, graph(view), geometry(view, self._folded)

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        message = read_message(content)
        match message:
            case Open(page):
                self._pages.add(page)
                self._feed.start()
            case Close(page):
                self._pages.discard(page)
                if not self._pages:
                    self._feed.stop()
        if not 0 <= self.chosen < len(self._compiled):
            return
        view = self._compiled[self.chosen]
        match message:
            case Choose(_, index) if 0 <= index < len(self._compiled):
                self._show(index)
            case Fold(_, kernels):
                self._folded = all_kernels(view).intersection(kernels)
                self.geometry = geometry(view, self._folded)
            case Read(page, kernel, form):
                text = kernel_text(view, kernel, form)
                if text is not None:
                    self.send({"kind": "text", "view": page, "kernel": kernel, "form": form, "text": text})
            case Export(page, wanted):
                text = to_svg(view, self._folded) if wanted == "svg" else to_dot(view).source
                self.send({"kind": "export", "view": page, "format": wanted, "name": view.function, "text": text})

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        if not self._compiled:
            return {**data, "text/plain": f"{self.name}: {self.empty[0].lower()}{self.empty[1:]}"}, metadata
        view = self._compiled[self.chosen]
        small = len(view.nodes) <= WHOLE
        text = to_text(view, times=False) if small else "\n".join([view.signature, *kernel_lines(view, times=False)])
        return {**data, "text/plain": text, "image/svg+xml": to_svg(view)}, metadata


def inspect(definition: Any) -> Inspector:
    """Show what a definition was compiled to, and what happens to it.

    Parameters
    ----------
    definition : definition
        A function of a ``%%defn`` cell or one decorated with ``nx.defn``.

    Returns
    -------
    Inspector
        A widget; where none can live, its picture and its text are shown instead.

    Raises
    ------
    TypeError
        Where it is not a definition.
    """
    if not hasattr(definition, "compilations"):
        raise TypeError(
            f"expected a numerical definition, got a {type(definition).__name__}.\n"
            "  Decorate the function with nx.defn, or begin its cell with %%defn."
        )
    return Inspector(definition)


def kernel_text(view: CompilationView, kernel: int, form: str) -> str | None:
    """One form of a kernel's code.

    Parameters
    ----------
    view : CompilationView
        The compilation.
    kernel : int
        The kernel's index.
    form : str
        A name among the kernel's texts, such as ``"LLVM"``.

    Returns
    -------
    str or None
        What went wrong, where the text could not be made; None where there is no such kernel or form.
    """
    for each in view.kernels:
        if each.index == kernel and form in each.texts:
            # A text that fails must not take the page with it.
            try:
                return each.texts[form]()
            except Exception as error:
                return f"The {form} of kernel {kernel + 1} could not be made.\n{type(error).__name__}: {error}"
    return None


def _origin(view: CompilationView) -> tuple:
    """What tells a program from others, also from one whose call reads the same."""
    return view.signature, view.cell, view.trace_ms


def _choice(view: CompilationView) -> str:
    return view.signature + (f" · {view.compiler}" if view.compiler != "numba_cpu" else "")
