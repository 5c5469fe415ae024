"""The inspector: a widget that shows the compilations and events of a definition, live."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import anywidget
import traitlets
from IPython.core.getipython import get_ipython

from nxkernel.compilers import registry
from nxkernel.definitions.calls.program_views import compared
from nxkernel.definitions.observe.compilation_report import CompilationView, Measurement
from nxkernel_lab.inspector.compilation_view import FUSED, InspectorSide, side_of, steps_of
from nxkernel_lab.inspector.event_list import EventFeed
from nxkernel_lab.inspector.page_data import graph, sources
from nxkernel_lab.messaging.comm import hear
from nxkernel_lab.messaging.limits import VIEWS
from nxkernel_lab.messaging.page_requests import (
    ChooseCompilation,
    CloseView,
    CompareCompilation,
    ExportPicture,
    FoldGroups,
    GroupNodes,
    MeasureKernels,
    OpenView,
    ReadCode,
    ShowStage,
    read_message,
    unharmed,
)
from nxkernel_lab.messaging.static_twins import Bundle, with_twins
from nxkernel_lab.messaging.widget_replacement import ReplaceableWidget
from nxkernel_lab.rendering.dot import to_dot
from nxkernel_lab.rendering.kernel_speed import machine, whole
from nxkernel_lab.rendering.scene import WHOLE
from nxkernel_lab.rendering.svg import to_svg
from nxkernel_lab.rendering.text import kernel_lines, to_text
from nxkernel_lab.static_files import script, style

#: What an inspector says instead of a graph.
_NEVER = "Not compiled yet: call it once, and its graph appears here."
_FORGOTTEN = "Programs forgotten: the cache was cleared. Call it again, and its graph appears here."


class Inspector(ReplaceableWidget, anywidget.AnyWidget):
    """The graph, the kernels, their code and the events of one definition.

    Parameters
    ----------
    definition : definition
        What to inspect. It may not have been called yet: its compilations appear as they are made.
    measured : CompilationView, optional
        The compilation to show first, with its measurement; by default the latest one.
    again : callable, optional
        Measures that once more on the same inputs; others are measured on made-up ones.
    """

    _esm = script("inspector.js")
    _css = style("palette.css", "inspector.css")

    name = traitlets.Unicode().tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    chosen = traitlets.Int(-1).tag(sync=True)
    #: What the compiled graph was before: name, count, and a line about it.
    steps = traitlets.List(traitlets.Dict()).tag(sync=True)
    step = traitlets.Unicode(FUSED).tag(sync=True)
    way = traitlets.Unicode("kernels").tag(sync=True)
    ways = traitlets.List(traitlets.Unicode()).tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)
    geometry = traitlets.Dict().tag(sync=True)
    sources = traitlets.List(traitlets.Dict()).tag(sync=True)
    #: The compilation that stands beside the first, and how their keys differ.
    beside = traitlets.Dict({"index": -1}).tag(sync=True)
    beside_geometry = traitlets.Dict().tag(sync=True)
    measured = traitlets.Dict().tag(sync=True)
    feed = traitlets.Dict().tag(sync=True)
    empty = traitlets.Unicode(_NEVER).tag(sync=True)

    def __init__(
        self,
        definition: Any,
        measured: CompilationView | None = None,
        again: Callable[[], CompilationView] | None = None,
    ) -> None:
        self._definition = definition
        #: What was measured on a call, and how it is measured on the same call again.
        self._call = (_origin(measured), again) if measured is not None and again is not None else None
        self._compiled: list[CompilationView] = []
        self._sides: list[InspectorSide] = []
        #: What a person wanted to stand together; empty for what suits each step.
        self._wanted = ""
        self._times: dict[tuple, Measurement] = {}
        if measured is not None and measured.measurement is not None:
            self._times[_origin(measured)] = measured.measurement
        self._pages: dict[str, None] = {}
        super().__init__(name=definition.__name__)
        hear(self.comm, self._handle_msg)
        self._feed = EventFeed(definition, self.refresh, get_ipython())
        self.on_msg(self._receive)
        self.refresh()
        for index in [k for k, view in enumerate(self._compiled) if measured and _origin(view) == _origin(measured)]:
            self._show(index)
        self.settle()

    @traitlets.validate("chosen")
    def _one_of_them(self, proposal: dict[str, Any]) -> int:
        """Traitlets validator: an index out of range leaves the shown compilation unchanged."""
        index = proposal["value"]
        return index if -1 <= index < len(self._compiled) else self.chosen

    def refresh(self) -> None:
        """Reread the definition's compilations, events and statistics."""
        shown = self._compiled[self.chosen] if self._compiled else None
        self._compiled = self._definition.compilations()
        same = [k for k, view in enumerate(self._compiled) if shown is not None and _origin(view) == _origin(shown)]
        with self.hold_sync():
            self.choices = [_choice(view) for view in self._compiled]
            if same:
                self.chosen = same[0]
            elif self._compiled:
                self._show(len(self._compiled) - 1)
            else:
                self.empty = _NEVER if shown is None and self.empty == _NEVER else _FORGOTTEN
                self.chosen, self.graph, self.geometry, self._sides = -1, {}, {}, []
                self.steps, self.sources, self.beside, self.measured = [], [], {"index": -1}, {}
            self.feed = {"rows": self._feed.rows(), "counts": self._feed.counts()}

    def close(self) -> None:
        """Remove the widget and stop following events."""
        self._feed.stop()
        super().close()

    def is_shown(self) -> bool:
        """Whether a page shows the widget, as far as pages report it."""
        return bool(self._pages)

    def empty_out(self) -> None:
        """Release the compilations when the widget is closed."""
        self._compiled, self._sides, self.empty, self._call = [], [], _NEVER, None
        self.chosen, self.graph, self.geometry, self.steps, self.sources = -1, {}, {}, [], []
        self.beside, self.beside_geometry = {"index": -1}, {}

    def fill(self) -> None:
        """Reread the definition's compilations."""
        self.refresh()

    def _show(self, index: int, step: str = FUSED) -> None:
        """Show a compilation at one of its stages, on the left side."""
        view = self._compiled[index]
        new = index != self.chosen or not self.geometry
        side = side_of(view, step, self._wanted)
        self._sides = [side, *([] if new else self._sides[1:])]
        with self.hold_sync():
            if new:
                self.steps, self.sources, self.beside, self.beside_geometry = [], [], {"index": -1}, {}
            self.chosen, self.step, self.way, self.ways = index, side.step, side.way, side.ways()
            self._tell_times([view])
            self.graph, self.geometry = self._graph(side), side.geometry()
            if self._pages:
                self._describe()

    def _graph(self, side: InspectorSide) -> dict[str, Any]:
        return graph(side.view, side.changes, self._times.get(_origin(side.view)), side.about)

    def _describe(self) -> None:
        """Compute the slower parts of the description, once a page shows the widget."""
        if self.chosen >= 0 and not self.steps:
            view = self._compiled[self.chosen]
            self.steps, self.sources = steps_of(view), sources(view)

    def _compare(self, index: int) -> None:
        """Show a second compilation on the right side."""
        del self._sides[1:]
        if index < 0 or index == self.chosen:
            self.beside, self.beside_geometry = {"index": -1}, {}
            return
        view = self._compiled[index]
        self._sides.append(side_of(view, FUSED, self.way))
        lines = list(compared(self._compiled[self.chosen], view)) or ["their keys do not differ"]
        with self.hold_sync():
            self.beside = {"index": index, "difference": lines, "graph": self._graph(self._sides[1])}
            self.beside_geometry = self._sides[1].geometry()

    def _measure(self) -> None:
        """Time the kernels of the compilations on both sides."""
        views = [self._compiled[index] for index in (self.chosen, self.beside["index"]) if index >= 0]
        try:
            self._times |= {_origin(view): self._measured(view) for view in views}
        except Exception as error:
            # What cannot be measured is told on the page, as what was measured is.
            self.measured = {"text": str(error), "failed": True}
            return
        with self.hold_sync():
            self._tell_times(views)
            self.graph = self._graph(self._sides[0])
            if len(views) > 1:
                self.beside = {**self.beside, "graph": self._graph(self._sides[1])}

    def _measured(self, view: CompilationView) -> Measurement:
        """The timings of a compilation; for the inspected call, those of its arguments."""
        if self._call is not None and self._call[0] == _origin(view):
            return self._call[1]().measurement
        # What cannot be measured fails, and the page says so.
        return view.measure()  # pyright: ignore[reportOptionalCall]

    def _tell_times(self, views: Sequence[CompilationView]) -> None:
        times = [(view, self._times[_origin(view)]) for view in views if _origin(view) in self._times]
        lines = [whole(each) if len(views) == 1 else f"{_choice(view)}: {whole(each)}" for view, each in times]
        if lines:
            reached = machine(times[0][1])
            lines[-1] += f"; {reached}." if reached else "."
        self.measured = {"text": "\n".join(lines), "failed": False} if lines else {}

    @unharmed
    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        message = read_message(content)
        match message:
            case OpenView(page):
                self._pages[page] = None
                # Pages that were loaded anew have left without a word.
                while len(self._pages) > VIEWS:
                    del self._pages[next(iter(self._pages))]
                self._feed.start()
                self._describe()
            case CloseView(page):
                self._pages.pop(page, None)
                if not self._pages:
                    self._feed.stop()
                self.leave()
        if not 0 <= self.chosen < len(self._compiled):
            return
        match message:
            case ChooseCompilation(_, index) if 0 <= index < len(self._compiled):
                self._show(index)
            case CompareCompilation(_, index) if index < len(self._compiled):
                self._compare(index)
            case ShowStage(_, name) if name in [FUSED, *(step["name"] for step in self.steps)]:
                self._show(self.chosen, name)
            case GroupNodes(_, way) if way in self.ways:
                self._wanted = way
                self._show(self.chosen, self.step)
            case FoldGroups(_, number, groups) if number < len(self._sides):
                self._sides[number].folded = frozenset(groups)
                where = "beside_geometry" if number else "geometry"
                setattr(self, where, self._sides[number].geometry())
            case MeasureKernels(_) if self._compiled[self.chosen].measure is not None:
                self._measure()
            case ReadCode(page, number, kernel, form) if number < len(self._sides):
                text = kernel_text(self._sides[number].view, kernel, form)
                if text is not None:
                    self.send({"kind": "text", "view": page, "kernel": kernel, "form": form, "text": text})
            case ExportPicture(page, wanted):
                side = self._sides[0]
                text = to_svg(side.view, side.folded, side.way) if wanted == "svg" else to_dot(side.view).source
                self.send({"kind": "export", "view": page, "format": wanted, "name": side.view.function, "text": text})

    def _repr_mimebundle_(self, **kwargs: Any) -> Bundle | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if not self._compiled:
            return with_twins(bundle, {"text/plain": f"{self.name}: {self.empty[0].lower()}{self.empty[1:]}"})
        view = self._compiled[self.chosen]
        view = replace(view, measurement=self._times.get(_origin(view)))
        small = len(view.nodes) <= WHOLE
        text = to_text(view, times=False) if small else "\n".join([view.signature, *kernel_lines(view, times=False)])
        return with_twins(bundle, {"text/plain": text, "image/svg+xml": to_svg(view)})


def inspect(definition: Any, *args: Any, **opts: Any) -> Inspector:
    """Show the compilations and events of a definition in a live widget.

    Parameters
    ----------
    definition : definition
        A function of a ``%%defn`` cell or one decorated with ``nx.defn``.
    *args, **opts
        Of a call: the program that answers it is shown, with what its kernels take on these arguments. They do not
        change; the widget keeps them to measure again.

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
    if not args and not opts:
        return Inspector(definition)
    measure = functools.partial(definition.measure, *args, **opts)
    return Inspector(definition, measure(), measure)


def kernel_text(view: CompilationView, kernel: int, form: str) -> str | None:
    """The code of a kernel in one form.

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
    """A key that distinguishes programs, also those whose calls read the same."""
    return view.signature, view.cell, view.trace_ms


def _choice(view: CompilationView) -> str:
    return view.signature + (f" · {view.compiler}" if view.compiler != registry.BUILT_IN else "")
