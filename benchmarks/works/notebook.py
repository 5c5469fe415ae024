"""Running an unchanged cell again and calling again: what is traced and compiled, in a real IPython shell."""

from __future__ import annotations

from benchmarks.measuring import children
from benchmarks.measuring.work import Goal, Outcome, Settings, Work

_CELL = "def softmax(t):\n    e = nx.exp(t - nx.reduce_max(t))\n    return e / nx.sum(e)\n"


def run_twice() -> dict[str, int]:
    """Run a cell and a call twice; gives the traces and the compilations of each time."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    import nxkernel as nx

    settings = Config()
    settings.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=settings)
    shell.run_line_magic("load_ext", "nxkernel")
    shell.run_cell("import numpy as np, nxkernel as nx; x = np.arange(10.0)").raise_error()
    counts = {}
    for time in ("first", "second"):
        before = len(nx.events(kind="miss")), _compiled(nx)
        shell.run_cell(f"%%defn\n{_CELL}", store_history=True).raise_error()
        shell.run_cell("y = softmax(x)", store_history=True).raise_error()
        counts[f"{time} traces"] = len(nx.events(kind="miss")) - before[0]
        counts[f"{time} compilations"] = _compiled(nx) - before[1]
    return counts


def _compiled(nx) -> int:
    return sum(event.origin == "compiled" for event in nx.events(kind="kernel"))


def _measure(work: Work, settings: Settings) -> list[Outcome]:
    counts = children.call(__name__, "run_twice", environment={"NXKERNEL_CACHE_DIR": "off"})
    if counts["first traces"] != 1 or not counts["first compilations"]:
        raise AssertionError(f"the first run of the cell should trace once and compile, got {counts}")
    return [
        Outcome(f"{work.name}: {what}", {"nxkernel": counts[f"second {what}"]}, work.goals, "")
        for what in ("traces", "compilations")
    ]


WORKS = [Work("an unchanged %%defn cell run and called again", (Goal(0.0, ""),), _measure)]
