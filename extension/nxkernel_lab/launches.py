"""Kernels that compute one node in turn, such as the passes of a sort: as one kernel, for those who look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from nxkernel.defn.report import CompilationView, KernelTime, KernelView, Measurement, NodeView
from nxkernel.wording import shared
from nxkernel_lab.subject import all_nodes


def joined(view: CompilationView) -> CompilationView:
    """A compilation with one kernel in place of all those that compute one node and nothing else.

    Parameters
    ----------
    view : CompilationView
        The compilation.

    Returns
    -------
    CompilationView
        The same one where there are no such kernels. Otherwise its kernels are numbered anew, and the texts of one
        that stands for several are those of each, one below the other, without repetitions.
    """
    computed: dict[int, list[str]] = {kernel.index: [] for kernel in view.kernels}
    for node in all_nodes(view.nodes):
        for index in node.kernels:
            if index in computed:
                computed[index].append(node.id)
    groups = [list(group) for _, group in groupby(view.kernels, key=lambda kernel: _operation(kernel, computed))]
    if len(groups) == len(view.kernels):
        return view
    number = {kernel.index: place for place, group in enumerate(groups) for kernel in group}
    return replace(
        view,
        nodes=_renumbered(view.nodes, number),
        kernels=tuple(_one(place, group) for place, group in enumerate(groups)),
        measure=view.measure and (lambda: _measured(view.measure(), number)),
    )


def _renumbered(nodes: Sequence[NodeView], number: Mapping[int, int]) -> tuple[NodeView, ...]:
    return tuple(
        replace(
            node,
            kernels=tuple(dict.fromkeys(number[index] for index in node.kernels if index in number)),
            parts=tuple(replace(part, nodes=_renumbered(part.nodes, number)) for part in node.parts),
        )
        for node in nodes
    )


def _measured(found: Measurement, number: Mapping[int, int]) -> Measurement:
    """What kernels that are one for those who look took together."""
    together: dict[int, KernelTime] = {}
    for index, each in found.kernels.items():
        if index in number:
            before = together.get(number[index], KernelTime(0.0, each.runs))
            together[number[index]] = KernelTime(before.seconds + each.seconds, before.runs)
    return replace(found, kernels=together)


def _operation(kernel: KernelView, computed: dict[int, list[str]]) -> str | int:
    """What kernels that belong together have in common."""
    nodes = computed[kernel.index]
    return nodes[0] if len(nodes) == 1 else kernel.index


def _one(index: int, group: Sequence[KernelView]) -> KernelView:
    if len(group) == 1:
        return replace(group[0], index=index)
    most = max(group, key=lambda kernel: (kernel.operations, kernel.index))
    title = shared([kernel.title for kernel in group]) or most.title or most.kind
    forms = dict.fromkeys(form for kernel in group for form in kernel.texts)
    origins = {kernel.origin for kernel in group}
    return replace(
        most,
        index=index,
        title=f"{title}, {len(group)} steps",
        origin=next((origin for origin in ("compiled", "disk") if origin in origins), "memory"),
        milliseconds=sum(kernel.milliseconds for kernel in group),
        moved=max(kernel.moved for kernel in group),
        operations=sum(kernel.operations for kernel in group),
        texts={form: _texts([kernel.texts[form] for kernel in group if form in kernel.texts]) for form in forms},
    )


def _texts(parts: Sequence[Callable[[], str]]) -> Callable[[], str]:
    return lambda: "\n\n".join(dict.fromkeys(part().strip("\n") for part in parts))
