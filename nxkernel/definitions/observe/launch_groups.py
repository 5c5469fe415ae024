"""Groups of launches that compute one node together, such as the passes of a sort, numbered as one kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nxkernel.compilers.interface import Executable, KernelRecord
from nxkernel.messages.grammar import shared

#: Of several origins, the one that is reported: the first of these, which cost most.
_ORIGINS = ("compiled", "disk", "memory", "program", "library")


def joined(records: Sequence[KernelRecord]) -> tuple[list[KernelRecord], list[int]]:
    """Merge each kernel with those that continue it.

    Parameters
    ----------
    records : sequence of KernelRecord
        The kernels of a program, in order.

    Returns
    -------
    list of KernelRecord
        The merged kernels; the texts of one are those of its parts, one below the other, without repetitions.
    list of int
        For each of `records`, the position of its merged kernel.
    """
    groups = _groups(records)
    return [_one(group) for group in groups], [number for number, group in enumerate(groups) for _ in group]


def code_of(executable: Executable) -> list[KernelRecord]:
    """The kernels of a program, and one more entry for its loops and branches if it has some."""
    return [*executable.kernels, *filter(None, [executable.own])]


def origins(records: Sequence[KernelRecord]) -> list[str]:
    """The origins of the kernels after merging: compiled, memory or disk."""
    return [origin for group in _groups(records) if (origin := _origin(group)) != "program"]


def _groups(records: Sequence[KernelRecord]) -> list[list[KernelRecord]]:
    """Each kernel with those that continue it."""
    groups: list[list[KernelRecord]] = []
    for record in records:
        if record.continues:
            groups[-1].append(record)
        else:
            groups.append([record])
    return groups


def _origin(group: Sequence[KernelRecord]) -> str:
    origins_ = {record.origin for record in group}
    return next(origin for origin in _ORIGINS if origin in origins_)


def _one(group: Sequence[KernelRecord]) -> KernelRecord:
    if len(group) == 1:
        return group[0]
    most = max(enumerate(group), key=lambda pair: (pair[1].operations, pair[0]))[1]
    title = shared([record.title for record in group]) or most.title or most.kind
    forms = dict.fromkeys(form for record in group for form in record.texts)
    return KernelRecord(
        most.kind,
        f"{title}, {len(group)} steps",
        most.symbol,
        _origin(group),
        sum(record.milliseconds for record in group),
        most.nodes,
        max(record.moved for record in group),
        sum(record.operations for record in group),
        {form: _texts([record.texts[form] for record in group if form in record.texts]) for form in forms},
    )


def _texts(parts: Sequence[Callable[[], str]]) -> Callable[[], str]:
    return lambda: "\n\n".join(dict.fromkeys(part().strip("\n") for part in parts))
