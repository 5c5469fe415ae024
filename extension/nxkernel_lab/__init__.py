"""What a numerical definition was compiled to, to look at: a widget, a picture, a Graphviz graph, a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nxkernel_lab.rendering.dot import to_dot
from nxkernel_lab.rendering.svg import to_svg
from nxkernel_lab.rendering.text import to_text

if TYPE_CHECKING:
    from nxkernel_lab.inspector.widget import Inspector, inspect
    from nxkernel_lab.timeline.widget import Timeline

__all__ = ["Inspector", "Timeline", "inspect", "to_dot", "to_svg", "to_text"]


def __getattr__(name: str) -> Any:
    # Widgets take a while to import, and a script that wants the text needs none.
    if name in ("Inspector", "inspect"):
        from nxkernel_lab.inspector import widget

        return getattr(widget, name)
    if name == "Timeline":
        from nxkernel_lab.timeline.widget import Timeline

        return Timeline
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
