"""Views of compiled definitions: an inspector and a timeline widget, SVG, Graphviz and text."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nxkernel_lab.inspector.widget import Inspector, inspect
    from nxkernel_lab.rendering.dot import to_dot
    from nxkernel_lab.rendering.svg import to_svg
    from nxkernel_lab.rendering.text import to_text
    from nxkernel_lab.timeline.widget import Timeline

__all__ = ["Inspector", "Timeline", "inspect", "to_dot", "to_svg", "to_text"]

#: Where names are that are imported when they are first asked for: `%load_ext nxkernel` waits for no widget or layout.
_LAZY = {
    "Inspector": "inspector.widget",
    "Timeline": "timeline.widget",
    "inspect": "inspector.widget",
    "to_dot": "rendering.dot",
    "to_svg": "rendering.svg",
    "to_text": "rendering.text",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
