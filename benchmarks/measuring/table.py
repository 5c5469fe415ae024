"""The table of outcomes, as aligned text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.measuring.work import PEERS, SUBJECT, Goal, Outcome


def header(peers: Sequence[str] = PEERS) -> tuple[str, ...]:
    """The names of the columns."""
    return ("work", SUBJECT, *peers, *(f"÷ {peer}" for peer in peers), "goal", "met", "note")


def quantity(value: float | None, unit: str) -> str:
    """A figure with its unit, to three digits."""
    if value is None:
        return "–"
    if unit != "s":
        return f"{value:.0f} {unit}".rstrip()
    for factor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


def goal_text(goal: Goal, unit: str) -> str:
    """What a goal asks for, in a few characters."""
    if goal.against:
        return f"≤ {goal.limit:g} {goal.against}"
    return f"≤ {goal.limit:g} {unit}".rstrip()


def cells(outcome: Outcome, peers: Sequence[str] = PEERS) -> tuple[str, ...]:
    """The texts of one row."""
    ratios = (outcome.ratio(peer) for peer in peers)
    return (
        outcome.work,
        *(quantity(outcome.figures.get(name), outcome.unit) for name in (SUBJECT, *peers)),
        *("–" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
        ", ".join(goal_text(goal, outcome.unit) for goal in outcome.goals),
        {True: "yes", False: "no", None: "–"}[outcome.met()],
        outcome.note,
    )


def as_text(outcomes: Sequence[Outcome], peers: Sequence[str] = PEERS) -> str:
    """The table with aligned columns, for a terminal."""
    rows = [header(peers), *(cells(outcome, peers) for outcome in outcomes)]
    count = len(rows[0])
    widths = [max(len(row[column]) for row in rows) for column in range(count)]
    left = {0, count - 3, count - 2, count - 1}
    lines = [
        "  ".join(
            text.ljust(width) if column in left else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "─" * max(map(len, lines)), *lines[1:]])


def as_markdown(outcomes: Sequence[Outcome], peers: Sequence[str] = PEERS) -> str:
    """The table for a Markdown page."""
    rule = ("---", *("--:" for _ in range(1 + 2 * len(peers))), "---", "---", "---")
    rows = [header(peers), rule, *(cells(outcome, peers) for outcome in outcomes)]
    return "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows)


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many goals are met, in one line."""
    answers = [outcome.met() for outcome in outcomes]
    missing = answers.count(None)
    met = f"{answers.count(True)} of {len(answers)} goals met"
    return f"{met}, {missing} not measured" if missing else met
