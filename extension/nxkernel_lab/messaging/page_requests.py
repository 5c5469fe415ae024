"""Requests that the widget's page may send to Python; anything else is ignored."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nxkernel_lab.messaging.limits import LONGEST, MOST
from nxkernel_lab.rendering.node_groups import WAYS


@dataclass(frozen=True, slots=True)
class OpenView:
    """A view of the widget was opened on a page."""

    view: str


@dataclass(frozen=True, slots=True)
class CloseView:
    """A view was closed."""

    view: str


@dataclass(frozen=True, slots=True)
class ChooseCompilation:
    """Show another compilation."""

    view: str
    index: int


@dataclass(frozen=True, slots=True)
class CompareCompilation:
    """Show a second compilation beside the first; -1 for none."""

    view: str
    index: int


@dataclass(frozen=True, slots=True)
class ShowStage:
    """Show the graph at another stage of the compilation."""

    view: str
    name: str


@dataclass(frozen=True, slots=True)
class GroupNodes:
    """Group nodes by kernel, definition or module."""

    view: str
    way: str


@dataclass(frozen=True, slots=True)
class FoldGroups:
    """Show these groups folded into boxes and the others open, on the left side (0) or the right one (1)."""

    view: str
    side: int
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasureKernels:
    """Run the program with timing of each kernel."""

    view: str


@dataclass(frozen=True, slots=True)
class ReadCode:
    """Send a kernel's source, LLVM or assembly."""

    view: str
    side: int
    kernel: int
    form: str


@dataclass(frozen=True, slots=True)
class ExportPicture:
    """Send the picture as ``"svg"`` or ``"dot"``."""

    view: str
    format: str


Message = (
    OpenView
    | CloseView
    | ChooseCompilation
    | CompareCompilation
    | ShowStage
    | GroupNodes
    | FoldGroups
    | MeasureKernels
    | ReadCode
    | ExportPicture
)


def read_message(content: object) -> Message | None:
    """Parse a message from a page.

    Parameters
    ----------
    content : object
        What came out of the comm: anything that JSON can say.

    Returns
    -------
    Message or None
        None for what is not understood.

    Examples
    --------
    >>> read_message({"kind": "fold", "view": "v1", "side": 0, "groups": ["kernel 1"]})
    FoldGroups(view='v1', side=0, groups=('kernel 1',))
    >>> read_message({"kind": "fold", "view": "v1", "side": 0, "groups": "all"})
    """
    match content:
        case {"view": str(view)} if len(view) > LONGEST:
            return None
        case {"kind": "open", "view": str(view)}:
            return OpenView(view)
        case {"kind": "close", "view": str(view)}:
            return CloseView(view)
        case {"kind": "choose", "view": str(view), "index": int(index)}:
            return ChooseCompilation(view, index)
        case {"kind": "compare", "view": str(view), "index": int(index)}:
            return CompareCompilation(view, index)
        case {"kind": "step", "view": str(view), "name": str(name)}:
            return ShowStage(view, name)
        case {"kind": "together", "view": str(view), "way": str(way)} if way in WAYS:
            return GroupNodes(view, way)
        case {"kind": "fold", "view": str(view), "side": 0 | 1 as side, "groups": [*groups]} if len(
            groups
        ) <= MOST and all(type(each) is str and len(each) <= LONGEST for each in groups):
            return FoldGroups(view, int(side), tuple(groups))
        case {"kind": "measure", "view": str(view)}:
            return MeasureKernels(view)
        case {"kind": "read", "view": str(view), "side": 0 | 1 as side, "kernel": int(kernel), "form": str(form)}:
            return ReadCode(view, int(side), kernel, form)
        case {"kind": "export", "view": str(view), "format": "svg" | "dot" as wanted}:
            return ExportPicture(view, wanted)
    return None


def unharmed(receive: Callable[..., None]) -> Callable[..., None]:
    """A message handler that logs errors: otherwise widgets would print them into a cell's output.

    Parameters
    ----------
    receive : callable
        What hears a page.

    Returns
    -------
    callable
    """

    @functools.wraps(receive)
    def heard(*args: Any) -> None:
        try:
            receive(*args)
        except Exception:
            logging.getLogger(__name__).warning("what a page of nxkernel asked for was not done", exc_info=True)

    return heard
