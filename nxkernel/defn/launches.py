"""Kernels that compute one node in turn, such as the passes of a sort: one kernel for people, with one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

from nxkernel.compilers.interface import KernelRecord
from nxkernel.defn.report import KernelTime, Measurement
from nxkernel.wording import shared

#: Of several origins, the one that is told: what cost most.
_ORIGINS = ("compiled", "disk", "memory", "program", "library")


def joined(records: Sequence[KernelRecord]) -> tuple[list[KernelRecord], list[int]]:
    """One kernel in place of all those in a row that compute one node and nothing else.

    Parameters
    ----------
    records : sequence of KernelRecord
        Those of a program, in its order.

    Returns
    -------
    list of KernelRecord
        The texts of one that stands for several are those of each, one below the other, without repetitions.
    list of int
        For each of `records` its place among them.
    """
    pairs = groupby(enumerate(records), key=lambda pair: _operation(*pair))
    groups = [[record for _, record in group] for _, group in pairs]
    return [_one(group) for group in groups], [place for place, group in enumerate(groups) for _ in group]


def measured(found: Measurement, places: Sequence[int]) -> Measurement:
    """What kernels that are one for people took together.

    Parameters
    ----------
    found : Measurement
        Of the kernels of a program.
    places : sequence of int
        As of :func:`joined`.

    Returns
    -------
    Measurement
    """
    together: dict[int, KernelTime] = {}
    for index, each in found.kernels.items():
        before = together.get(places[index], KernelTime(0.0, each.runs))
        together[places[index]] = KernelTime(before.seconds + each.seconds, before.runs)
    return replace(found, kernels=together)


def _operation(place: int, record: KernelRecord) -> tuple[str, int]:
    """What kernels that belong together have in common."""
    nodes = record.nodes
    return ("node", id(nodes[0])) if len(nodes) == 1 else ("kernel", place)


def _one(group: Sequence[KernelRecord]) -> KernelRecord:
    if len(group) == 1:
        return group[0]
    most = max(enumerate(group), key=lambda pair: (pair[1].operations, pair[0]))[1]
    title = shared([record.title for record in group]) or most.title or most.kind
    forms = dict.fromkeys(form for record in group for form in record.texts)
    origins = {record.origin for record in group}
    return KernelRecord(
        most.kind,
        f"{title}, {len(group)} steps",
        most.symbol,
        next(origin for origin in _ORIGINS if origin in origins),
        sum(record.milliseconds for record in group),
        most.nodes,
        max(record.moved for record in group),
        sum(record.operations for record in group),
        {form: _texts([record.texts[form] for record in group if form in record.texts]) for form in forms},
    )


def _texts(parts: Sequence[Callable[[], str]]) -> Callable[[], str]:
    return lambda: "\n\n".join(dict.fromkeys(part().strip("\n") for part in parts))
