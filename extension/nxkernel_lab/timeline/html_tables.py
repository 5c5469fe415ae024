"""The timeline and the caches as static HTML tables, for pages without widgets; all text is escaped.

A page that does not trust a notebook shows tables and text, no SVG. What may differ from run to run is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import amount
from nxkernel_lab.text_escaping import clipped, visible
from nxkernel_lab.timeline.text import event_what, told


def timeline_table(data: Mapping[str, Any]) -> str:
    """Events, oldest first, and counts by function.

    Parameters
    ----------
    data : dict
        A :func:`nxkernel_lab.records.view_data.snapshot` with events.

    Returns
    -------
    str
        One or two ``<table>`` elements; empty where nothing happened.
    """
    if not data["events"]:
        return ""
    rows = [
        (event["cell"] or event["where"], event["function"], event_what(event), "\n".join(told(event)))
        for event in data["events"]
    ]
    earlier = f"; {counted(data['left_out'], 'earlier event')} left out" if data["left_out"] else ""
    caption = f"What was traced, and why{earlier}"
    sums = [
        (
            row["name"],
            *map(str, (row["compiled"] + row["loaded"] + row["traced"], row["again"], row["hits"], row["errors"])),
        )
        for row in data["functions"]
    ]
    calls = table("Calls by function", ("function", "traced", "again", "answered from the cache", "errors"), sums)
    return table(caption, ("cell", "function", "what", "why, and what avoids it"), rows) + (calls if sums else "")


def caches_table(held: Mapping[str, Any], function: str = "") -> str:
    """The cached programs and their hits.

    Parameters
    ----------
    held : dict
        What :func:`nxkernel_lab.records.cache_contents.contents` gives.
    function : str, optional
        The only function to tell of.

    Returns
    -------
    str
        A ``<table>`` element; empty where there are no programs.
    """
    rows = [
        (
            row["label"],
            f"{row['programs']} of {row['limit']}",
            str(row["hits"]),
            f"{amount(row['bytes'])}B",
            "\n".join(row["signatures"]),
        )
        for row in held["functions"]
        if function in ("", row["name"])
    ]
    heads = ("function", "programs", "calls answered", "arrays held", "calls that they answer")
    return table("Programs in memory", heads, rows) if rows else ""


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table of texts.

    Parameters
    ----------
    caption : str
    heads : sequence of str
        What the columns are called.
    rows : iterable of sequence of str
        The first cell of each is its row's name; an end of line begins a new one.

    Returns
    -------
    str

    Examples
    --------
    >>> table("Sums", (), [("<b>",)]).partition("<tbody>")[2]
    '<tr><th style="text-align:left" scope="row">&lt;b&gt;</th></tr></tbody></table>'
    """
    head = "".join(f'<th style="text-align:left" scope="col">{_cell(each)}</th>' for each in heads)
    body = "".join(
        f'<tr><th style="text-align:left" scope="row">{_cell(name)}</th>'
        + "".join(f'<td style="text-align:left">{_cell(text)}</td>' for text in others)
        + "</tr>"
        for name, *others in rows
    )
    return f"<table><caption>{_cell(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    return "<br>".join(escape(clipped(line)) for line in visible(text).split("\n"))
