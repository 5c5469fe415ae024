"""What the widget's page may ask of Python; anything else that arrives is ignored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Open:
    """A view of the widget has appeared on a page."""

    view: str


@dataclass(frozen=True, slots=True)
class Close:
    """A view has gone."""

    view: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Show another compilation."""

    view: str
    index: int


@dataclass(frozen=True, slots=True)
class Fold:
    """Show these kernels as one box each, and the others open."""

    view: str
    kernels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """Send a kernel's source, LLVM or assembly."""

    view: str
    kernel: int
    form: str


@dataclass(frozen=True, slots=True)
class Export:
    """Send the picture as ``"svg"`` or ``"dot"``."""

    view: str
    format: str


Message = Open | Close | Choose | Fold | Read | Export


def read_message(content: object) -> Message | None:
    """Understand what a page sent.

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
    >>> read_message({"kind": "fold", "view": "v1", "kernels": [0, 2]})
    Fold(view='v1', kernels=(0, 2))
    >>> read_message({"kind": "fold", "view": "v1", "kernels": "all"})
    """
    match content:
        case {"kind": "open", "view": str(view)}:
            return Open(view)
        case {"kind": "close", "view": str(view)}:
            return Close(view)
        case {"kind": "choose", "view": str(view), "index": int(index)}:
            return Choose(view, index)
        case {"kind": "fold", "view": str(view), "kernels": [*kernels]} if all(type(each) is int for each in kernels):
            return Fold(view, tuple(kernels))
        case {"kind": "read", "view": str(view), "kernel": int(kernel), "form": str(form)}:
            return Read(view, kernel, form)
        case {"kind": "export", "view": str(view), "format": "svg" | "dot" as wanted}:
            return Export(view, wanted)
    return None
