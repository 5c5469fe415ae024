"""The outcomes as one picture: how much longer each peer takes than the subject, a row for each work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring.work import PEERS, SUBJECT, Outcome

#: How each peer is drawn: the marker of matplotlib, and a colour that colour-blind readers tell from the others.
_MARKS = (("o", "#0072b2"), ("D", "#009e73"), ("s", "#8a8a8a"))
_MISSED, _FASTER = "#b3261e", "#fbe3e0"


def comparable(outcomes: Sequence[Outcome], peers: Sequence[str] = PEERS) -> list[Outcome]:
    """Those that a peer was measured for, too."""
    return [outcome for outcome in outcomes if any(outcome.ratio(peer) for peer in peers)]


def draw(outcomes: Sequence[Outcome], path: Path, peers: Sequence[str] = PEERS) -> None:
    """Write the picture as SVG; on its red side, a peer is ahead, and works in red miss a goal.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Those without a figure of a peer are left out.
    path : Path
        Where to.
    peers : sequence of str
        Whom to draw.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = comparable(outcomes, peers)
    # The same figures give the same file.
    with mpl.rc_context({"svg.hashsalt": SUBJECT, "font.size": 9, "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(10, 1.3 + 0.22 * len(rows)), facecolor="white", layout="constrained")
        axes = figure.add_subplot(xscale="log")
        for peer, (marker, colour) in zip(peers, _MARKS, strict=False):
            found = [(1 / ratio, place) for place, row in enumerate(rows) if (ratio := row.ratio(peer))]
            if found:
                axes.scatter(*zip(*found, strict=True), s=26, marker=marker, color=colour, label=peer, zorder=3)
        least = min(axes.get_xlim()[0], 0.4)
        axes.axvspan(least, 1, color=_FASTER, zorder=0)
        axes.axvline(1, color="black", linewidth=1, zorder=2)
        axes.set_xlim(left=least)
        axes.set_yticks(range(len(rows)), [row.work for row in rows])
        for label, row in zip(axes.get_yticklabels(), rows, strict=True):
            if row.met() is False:
                label.set(color=_MISSED, fontweight="bold")
        axes.set_ylim(len(rows) - 0.3, -0.7)
        axes.grid(True, color="#e4e4e4", linewidth=0.6)
        axes.tick_params(length=0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g} ×")
        axes.xaxis.set_ticks_position("top")
        axes.set_title(f"what a peer takes ÷ what {SUBJECT} takes: time, or memory", fontsize=10)
        axes.spines[:].set_visible(False)
        axes.legend(loc="lower right", framealpha=1, ncols=len(peers))
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
