"""One side of the inspector: a compilation at one of its stages, with some of its groups folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nxkernel.definitions.observe.compilation_report import CompilationView
from nxkernel_lab.inspector.page_data import geometry
from nxkernel_lab.rendering.node_groups import WAYS
from nxkernel_lab.rendering.scene import readable_folded
from nxkernel_lab.rendering.viewed_nodes import all_nodes

#: The step that is compiled.
FUSED = "fused"


@dataclass
class InspectorSide:
    """One side of the inspector.

    Parameters
    ----------
    view : CompilationView
        What is shown; before the last step without kernels.
    step : str
        Its step.
    way : str
        What stands together.
    folded : frozenset of str
        The groups that are shown as one box.
    changes : mapping
        What the step did to nodes, by id.
    about : str
        A line about the step; empty for the last one.
    """

    view: CompilationView
    step: str
    way: str
    folded: frozenset[str]
    changes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    about: str = ""

    def geometry(self) -> dict[str, Any]:
        """The layout that a page draws."""
        return geometry(self.view, self.folded, self.way)

    def ways(self) -> list[str]:
        """The groupings of nodes that differ from each other."""
        nodes = list(all_nodes(self.view.nodes))
        there = {
            "kernels": bool(self.view.kernels),
            "definitions": len({node.function for node in nodes if node.function}) > 1,
            "modules": any(node.module for node in nodes),
            "nothing": True,
        }
        return [way for way in WAYS if there[way]]


def side_of(view: CompilationView, step: str = FUSED, way: str = "") -> InspectorSide:
    """A side for a compilation at one of its stages.

    Parameters
    ----------
    view : CompilationView
    step : str, optional
        ``"fused"``, or the name of one of its earlier steps.
    way : str, optional
        What is to stand together, where that is possible.

    Returns
    -------
    InspectorSide
    """
    changes: Mapping[str, tuple[str, str]] = {}
    about = ""
    for each in view.steps() if step != FUSED else ():
        if each.name == step:
            view = replace(view, nodes=each.nodes(), kernels=())
            changes, about = each.changes, each.about
    side = InspectorSide(view, step, way, frozenset(), changes, about)
    possible = side.ways()
    side.way = way if way in possible else possible[0]
    side.folded = readable_folded(view, side.way)
    return side


def steps_of(view: CompilationView) -> list[dict[str, Any]]:
    """The stages of a compilation as data for a page, the compiled graph last."""
    steps = [{"name": step.name, "count": step.count, "about": step.about} for step in view.steps()]
    kernels = len(view.kernels)
    about = f"{kernels} kernel{'' if kernels == 1 else 's'}" if kernels else "computed node by node"
    return [*steps, {"name": FUSED, "count": str(kernels), "about": about}]
